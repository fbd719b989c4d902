//! The parameters of NCA selection.

use crate::method::{Info, Needs};

pub(super) const NAME: &str = "NCA";

crate::choices! {
    /// How features are searched.
    pub enum NcaSearch {
        /// One by one.
        Forward = "forward",
        /// By weights of all features, which also finds features that matter only jointly.
        Gradient = "gradient",
    }
}

crate::parameters! {
    /// NCA selection: forward selection by the leave-one-out loss of a kernel classifier or regressor.
    ///
    /// Neighborhood components analysis predicts a row from all others, weighted by a kernel. For a set $S$ of $k$
    /// features
    ///
    /// $$ W_{ij} = \exp\Bigl( -\frac{1}{h k} \sum_{f \in S} \lVert x_{if} - x_{jf} \rVert^2 \Bigr), \qquad W_{ii} = 0. $$
    ///
    /// In classification all classes have the same weight: with $P_{ic} = \sum_{j: y_j = c} W_{ij} / n_c$ the
    /// probability of the right class is $p_i = (P_{i y_i} + e/n) / (\sum_c P_{ic} + C e/n)$, $e = 10^{-3}$, and the
    /// loss is the mean over classes of the mean of $-\log p_i$ over the rows of the class. In regression the
    /// prediction is $\hat y_i = (\sum_j W_{ij} y_j + e \bar y) / (\sum_j W_{ij} + e)$, and the loss is the mean of
    /// $(y_i - \hat y_i)^2$ divided by the variance: the prior lets a row without neighbors be predicted by the mean.
    /// The loss counts errors that remain, so a feature that repeats what others say gains nothing.
    ///
    /// Each step adds the feature with the least loss; then $h$ becomes the best of 1/4, 1/2, 1 and 2 for the set. Candidates
    /// are evaluated in single precision with a bound on the error, and in double precision if they may be the best.
    /// If several candidates separate the classes, the loss at the largest $h$ decides; ties are broken by column
    /// order. A feature of several columns, such as a category, counts as one. A step may instead add the features of a
    /// significant pair or set of three ([`crate::interactions`]) together, if that decreases the loss more per feature. On request (`swaps`) selected features are then
    /// exchanged for others while that decreases the loss. A smaller loss is not always a smaller error: on small noisy
    /// data sets swaps fit the noise.
    ///
    /// With few rows the search depends on single rows. It is then repeated on subsamples of four fifths of the rows
    /// (`n_subsamples`), and a feature scores the mean of one over the root of its place, 0 where it is not selected.
    ///
    /// By default (`auto`) the search ends when two steps do not decrease the loss by more than the best of as many
    /// irrelevant features would by chance: the standard error of the mean decrease over rows times
    /// $\sqrt{2 \log d}$. The score of a feature is the decrease of the loss when it was added, or the increase without it,
    /// whichever is larger. The path contains the loss after each step. The remaining features are ranked by the loss with
    /// each of them added in the last step.
    ///
    /// The gradient form minimizes the same loss over a weight $w_f \ge 0$ of each feature in place of $1 / (h k)$, with
    /// $\sum_f w_f \le 1/h$ for each $h$, from equal weights of all features and of those that the forward search
    /// found. Of the sets of features with the largest weights it selects that with the least loss without weights.
    /// The automatic count is the number of features with at least a tenth of the largest weight.
    ///
    /// A row of an integer weight $w$ stands for $w$ copies, each of which is predicted from all rows including its $w - 1$ copies:
    /// sums and losses are weighted, and $W_{ii} = (w_i - 1) / w_i$. If a weight is not an integer, rows have no copies, $W_{ii} = 0$,
    /// and only the ratio of weights matters.
    ///
    /// Beyond 4000 rows the sums are over 2000 landmarks, evenly spaced in every class by weight, and the loss is that of at most 20,000
    /// rows. Beyond 2000 features the candidates are the union of the best 500 by the dependence of the target on each feature,
    /// HSIC Lasso, Relief and L1-SVM.
    ///
    /// Cost: $n^2 / 2$ exponentials per candidate and step; memory for $n^2 / 2$ kernel values in single precision and
    /// two copies of the features.
    ///
    /// References: Goldberger, Roweis, Hinton and Salakhutdinov, *Neighbourhood components analysis*, 2004; Yang, Wang and
    /// Zuo, *Neighborhood component feature selection for high-dimensional data*, 2012, who minimize such a loss over weights.
    #[derive(PartialEq)]
    pub struct Nca as "NCA" {
        /// How features are searched.
        pub search: NcaSearch = NcaSearch::Forward;
        /// Whether to exchange selected features for others after the last step.
        pub swaps: bool = false;
        /// Number of subsamples over which the search is averaged, 0 for none; none averages over 20 if there are fewer than 100
        /// rows or if searches on subsamples disagree.
        pub n_subsamples: Option<usize> = None, between(0, 1000);
        /// Whether each row is compared with all others, however many there are. Otherwise 2000 landmarks represent more than 4000
        /// rows, and the loss of more than 20,000 rows is that of so many.
        pub exact: bool = false;
    }
}

impl Nca {
    /// What to know before using it.
    pub const INFO: Info = Info {
        name: "nca",
        title: "NCA",
        summary: "Features with which a kernel classifier or regressor predicts each row best from the others",
        needs: Needs::Target,
        cost: "O(n² d) time per step, O(n² + n d) memory; beyond 4000 samples O(n m d) and O(n m + n d)",
        reference: "Goldberger et al., 2004; Yang et al., 2012",
    };
}
