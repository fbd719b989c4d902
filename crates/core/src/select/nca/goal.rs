//! The leave-one-out loss of a row, from weighted sums over its kernel values.

use super::rows::WeightedRows;
use crate::data::{Dataset, Target};
use crate::error::{Error, Result};
use std::ops::Range;

/// Weight of the prior, in rows: $e$.
pub(in crate::select) const PRIOR: f64 = 1e-3;
/// Kernel values are wrong by at most $2^{-47}$ beside their relative error: values below $2^{-49}$ have none, and the
/// smallest factors are raised to $2^{-60}$.
const ABSOLUTE_ERROR: f64 = 1.0 / (1_u64 << 47) as f64;
/// Second-order terms of error bounds, for relative errors below 1 %.
const SECOND_ORDER: f64 = 1.05;

/// What is predicted.
enum Kind {
    /// Classes: the range of landmarks of each query row's class; number of classes; $e/n$.
    Classes { own: Vec<Range<usize>>, n_classes: f64, prior: f64 },
    /// Numbers of the query rows scaled to the range from 0 to 1; their mean and variance.
    Numbers { y: Vec<f64>, mean: f64, variance: f64 },
}

/// The target of query rows and landmarks.
///
/// The loss of a row depends on two sums over landmarks: in classification of its own class (slot 0) and of the others
/// (slot 1), weighted by one over the size of the class; in regression with the target as factor (slot 0) and without
/// (slot 1). Landmarks have their weights besides.
pub(super) struct Goal {
    kind: Kind,
    /// The weights of the landmarks in each slot.
    weights: [Vec<f64>; 2],
    rough_weights: [Vec<f32>; 2],
    /// The weight of each query row in the loss.
    shares: Vec<f64>,
    /// The sum of the weights of the landmarks.
    total: f64,
    /// How many equal rows each query row stands for.
    copies: Vec<f64>,
    /// What each landmark adds to its own sums, by its weight: the fraction of its copies that are not itself.
    own_kernel: Vec<f64>,
}

/// Landmarks that add to a slot.
pub(super) struct Segment {
    pub at: Range<usize>,
    pub slot: usize,
}

impl Goal {
    /// The rows are sorted by class, and `landmarks` are positions among them in ascending order.
    pub fn new(data: &Dataset, used: &WeightedRows, landmarks: &WeightedRows) -> Self {
        match data.target() {
            Target::Classes(classes) => {
                let codes: Vec<usize> = used.rows.iter().map(|&i| classes.codes[i]).collect();
                Self::classes(&codes, used, landmarks)
            }
            Target::Continuous(y) => {
                Self::numbers(&used.rows.iter().map(|&i| y[i]).collect::<Vec<_>>(), used, landmarks)
            }
            Target::None | Target::Outputs(_) => unreachable!("the target is checked"),
        }
    }

    fn classes(codes: &[usize], used: &WeightedRows, landmarks: &WeightedRows) -> Self {
        let start = |code: usize| landmarks.rows.partition_point(|&at| codes[at] < code);
        let own: Vec<Range<usize>> = codes.iter().map(|&code| start(code)..start(code + 1)).collect();
        let codes_end = codes.last().copied().unwrap_or(0);
        let sums = |codes: &mut dyn Iterator<Item = usize>, weights: &[f64]| {
            let mut sums = vec![0.0; 1 + codes_end];
            codes.zip(weights).for_each(|(code, weight)| sums[code] += weight);
            sums
        };
        let of_class = sums(&mut codes.iter().copied(), &used.weights);
        let of_landmarks = sums(&mut landmarks.rows.iter().map(|&at| codes[at]), &landmarks.weights);
        let n_classes = (1 + codes.windows(2).filter(|pair| pair[0] != pair[1]).count()) as f64;
        let landmark = |(&at, weight): (&usize, &f64)| weight / of_landmarks[codes[at]];
        let weights: Vec<f64> = landmarks.rows.iter().zip(&landmarks.weights).map(landmark).collect();
        let share = |(&code, weight): (&usize, &f64)| weight / (n_classes * of_class[code]);
        let shares = codes.iter().zip(&used.weights).map(share).collect();
        let kind = Kind::Classes { own, n_classes, prior: PRIOR / landmarks.n_copies() };
        Self::with_weights(kind, [weights.clone(), weights], shares, [used, landmarks])
    }

    fn numbers(y: &[f64], used: &WeightedRows, landmarks: &WeightedRows) -> Self {
        let low = y.iter().copied().fold(f64::INFINITY, f64::min);
        let high = y.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // Halves, because the range of finite numbers may overflow. A subsample may have equal numbers.
        let half_range = (high / 2.0 - low / 2.0).max(f64::MIN_POSITIVE);
        let y: Vec<f64> = y.iter().map(|v| (v / 2.0 - low / 2.0) / half_range).collect();
        let total: f64 = used.weights.iter().sum();
        let mean = y.iter().zip(&used.weights).map(|(v, weight)| weight * v).sum::<f64>() / total;
        let square = |(v, weight): (&f64, &f64)| weight * (v - mean).powi(2);
        let variance = y.iter().zip(&used.weights).map(square).sum::<f64>() / total;
        let variance = variance.max(f64::MIN_POSITIVE);
        let targets = landmarks.rows.iter().zip(&landmarks.weights).map(|(&at, weight)| weight * y[at]);
        let weights = [targets.collect(), landmarks.weights.clone()];
        let shares = used.weights.iter().map(|weight| weight / total).collect();
        Self::with_weights(Kind::Numbers { y, mean, variance }, weights, shares, [used, landmarks])
    }

    fn with_weights(
        kind: Kind,
        weights: [Vec<f64>; 2],
        shares: Vec<f64>,
        [used, landmarks]: [&WeightedRows; 2],
    ) -> Self {
        let rough = |slot: usize| weights[slot].iter().map(|&w| w as f32).collect();
        let rough_weights = [rough(0), rough(1)];
        let copies = (0..used.len()).map(|at| used.copies(at)).collect();
        let own_kernel = (0..landmarks.len()).map(|at| 1.0 - 1.0 / landmarks.copies(at)).collect();
        let total = landmarks.weights.iter().sum();
        Self { kind, weights, rough_weights, shares, total, copies, own_kernel }
    }

    /// Returns an error for a target that cannot be predicted.
    pub fn check(data: &Dataset, method: &'static str) -> Result<()> {
        match data.target() {
            Target::None | Target::Outputs(_) => Err(Error::NeedsTarget { method }),
            Target::Classes(_) => data.classes(method)?.need_pair(method),
            Target::Continuous(y) if y.iter().all(|v| *v == y[0]) => {
                Err(Error::ConstantTarget { method, value: y.first().copied().unwrap_or(0.0) })
            }
            Target::Continuous(_) => Ok(()),
        }
    }

    /// The loss without features.
    pub fn empty_loss(&self) -> f64 {
        match self.kind {
            Kind::Classes { n_classes, .. } => n_classes.ln(),
            Kind::Numbers { .. } => 1.0,
        }
    }

    /// Losses below this are equal: the classes are separated, and what remains is the prior.
    pub fn separated(&self) -> f64 {
        match self.kind {
            Kind::Classes { .. } => PRIOR,
            Kind::Numbers { .. } => 0.0,
        }
    }

    pub fn weights(&self, slot: usize) -> &[f64] {
        &self.weights[slot]
    }

    pub fn rough_weights(&self, slot: usize) -> &[f32] {
        &self.rough_weights[slot]
    }

    pub fn shares(&self) -> &[f64] {
        &self.shares
    }

    pub fn copies(&self) -> &[f64] {
        &self.copies
    }

    /// The kernel value of a landmark and itself in its own sums: only its copies add to them.
    pub fn own_kernel(&self, landmark: usize) -> f64 {
        self.own_kernel[landmark]
    }

    /// What query row `i`, which is this landmark, adds to its own sums.
    pub fn own_sums(&self, i: usize, landmark: usize) -> [f64; 2] {
        let mut sums = [0.0; 2];
        for segment in self.segments(i, self.own_kernel.len()).iter().filter(|s| s.at.contains(&landmark)) {
            sums[segment.slot] += self.weights[segment.slot][landmark] * self.own_kernel[landmark];
        }
        sums
    }

    /// How the first `len` landmarks add to the slots of query row `i`.
    pub fn segments(&self, i: usize, len: usize) -> [Segment; 3] {
        match &self.kind {
            Kind::Classes { own, .. } => {
                let (start, end) = (own[i].start.min(len), own[i].end.min(len));
                [
                    Segment { at: 0..start, slot: 1 },
                    Segment { at: start..end, slot: 0 },
                    Segment { at: end..len, slot: 1 },
                ]
            }
            Kind::Numbers { .. } => [
                Segment { at: 0..len, slot: 0 },
                Segment { at: 0..len, slot: 1 },
                Segment { at: 0..0, slot: 1 },
            ],
        }
    }

    /// Whether a landmark adds to one slot only.
    pub fn has_separate_slots(&self) -> bool {
        matches!(self.kind, Kind::Classes { .. })
    }

    /// The loss of query row `i` from its sums.
    pub fn loss(&self, i: usize, sums: [f64; 2]) -> f64 {
        match &self.kind {
            Kind::Classes { n_classes, prior, .. } => {
                -((sums[0] + prior) / (sums[0] + sums[1] + n_classes * prior)).ln()
            }
            Kind::Numbers { y, mean, variance } => (predicted(sums, *mean) - y[i]).powi(2) / variance,
        }
    }

    /// Bound on the error of the loss of query row `i`, if kernel values and sums have this relative error.
    pub fn error(&self, i: usize, sums: [f64; 2], relative: f64) -> f64 {
        match &self.kind {
            // Both numerator and denominator are wrong.
            Kind::Classes { prior, .. } => 2.0 * SECOND_ORDER * (relative + ABSOLUTE_ERROR / prior),
            Kind::Numbers { y, mean, variance } => {
                let value = predicted(sums, *mean);
                let absolute = ABSOLUTE_ERROR * self.total / PRIOR;
                let error = 2.0 * SECOND_ORDER * (relative * value + absolute);
                (2.0 * (value - y[i]).abs() + error) * error / variance
            }
        }
    }

    /// The derivatives of the loss of query row `i` with respect to its sums.
    pub fn derivatives(&self, i: usize, sums: [f64; 2]) -> [f64; 2] {
        match &self.kind {
            Kind::Classes { n_classes, prior, .. } => {
                let all = 1.0 / (sums[0] + sums[1] + n_classes * prior);
                [all - 1.0 / (sums[0] + prior), all]
            }
            Kind::Numbers { y, mean, variance } => {
                let value = predicted(sums, *mean);
                let outer = 2.0 * (value - y[i]) / (variance * (sums[1] + PRIOR));
                [outer, -outer * value]
            }
        }
    }
}

/// The mean of the target weighted by kernel values; the prior is the mean of all rows.
pub(in crate::select) fn predicted(sums: [f64; 2], mean: f64) -> f64 {
    (sums[0] + PRIOR * mean) / (sums[1] + PRIOR)
}
