//! Stability selection, knockoffs and p-values around a method.

use crate::args::SelectArgs;
use crate::commands::options::refuse;
use crate::failure::Failure;
use crate::input::Loaded;
use crate::output::{number, percent};
use kernsift::parameters::apply;
use kernsift::select::SelectorMethod;
use kernsift::significance::{FeatureTest, Frequencies, KnockoffResult, Knockoffs, Stability};
use kernsift::{Context, Selection, Selector};
use serde_json::{Map, Value, json};

/// What repeated fits found.
pub enum Resampled {
    /// How often each feature was selected.
    Stability(Frequencies),
    /// The features that stand out from their copies, and the settings.
    Knockoffs(Knockoffs, KnockoffResult),
}

/// What is computed around the method, if the user asked for it.
pub struct Resampling {
    /// `--stability`.
    stability: Option<Stability>,
    /// `--fdr`.
    knockoffs: Option<Knockoffs>,
    /// `--pvalues`.
    pub test: Option<FeatureTest>,
}

impl Resampling {
    /// From the options, and from the settings whose names start with `stability.`, `knockoffs.` or `test.`, which are taken out of
    /// `settings`.
    pub fn take(settings: &mut Vec<(&str, &str)>, args: &SelectArgs) -> Result<Self, Failure> {
        let mut of = |name: &str, option: &str, given: bool| -> Result<_, Failure> {
            let taken =
                settings.extract_if(.., |(key, _)| key.split_once('.').is_some_and(|(of, _)| of == name));
            let taken: Vec<(&str, &str)> =
                taken.map(|(key, value)| (&key[name.len() + 1..], value)).collect();
            match taken.first() {
                Some((key, _)) if !given => {
                    Err(Failure::Input(format!("--set {name}.{key} has no effect without {option}")))
                }
                _ => Ok(given.then_some(taken)),
            }
        };
        let stability = of("stability", "--stability", args.stability)?;
        let knockoffs = of("knockoffs", "--fdr Q", args.fdr.is_some())?;
        let test = of("test", "--pvalues", args.pvalues)?;
        let stability =
            stability.map(|set| apply(Stability::default(), "stability selection", &set)).transpose();
        let knockoffs = knockoffs.map(|set| apply(Knockoffs::default(), "knockoffs", &set)).transpose();
        let test = test.map(|set| apply(FeatureTest::default(), "feature test", &set)).transpose();
        Ok(Self {
            stability: stability.map_err(typed)?,
            knockoffs: knockoffs
                .map_err(typed)?
                .map(|found| Knockoffs { q: args.fdr.unwrap_or(found.q), ..found }),
            test: test.map_err(typed)?,
        })
    }

    /// Repeated fits, if the user asked for them.
    pub fn fit(
        &self,
        method: &SelectorMethod,
        args: &SelectArgs,
        loaded: &Loaded,
        is_scaled: bool,
        ctx: &Context,
    ) -> kernsift::Result<Option<Resampled>> {
        let (data, count) = (&loaded.prepared.data, args.k.unwrap_or_default());
        if let Some(knockoffs) = &self.knockoffs {
            let found = knockoffs.run(method, data, count, ctx)?;
            return Ok(Some(Resampled::Knockoffs(knockoffs.clone(), found)));
        }
        if let Some(stability) = &self.stability {
            let found = stability.run(method, data, count, loaded.encoding(is_scaled), ctx)?;
            return Ok(Some(Resampled::Stability(found)));
        }
        Ok(None)
    }
}

/// A failure with parameters named by the options that set them.
pub fn typed(error: kernsift::Error) -> Failure {
    Failure::typed(
        error,
        &[
            ("knockoffs", "q", "--fdr"),
            ("knockoffs", "n_copies", "--set knockoffs.n_copies"),
            ("knockoffs", "normal_scores", "--set knockoffs.normal_scores"),
            ("stability selection", "n_pairs", "--set stability.n_pairs"),
            ("stability selection", "threshold", "--set stability.threshold"),
            ("", "number of features", "-k"),
            ("", "fraction of features", "-k"),
        ],
    )
}

/// Returns an error for options that have no effect with repeated fits.
pub fn check_options(args: &SelectArgs) -> Result<(), Failure> {
    let given = [("--path", args.path.is_some()), ("--folds", args.folds.is_some())];
    match (args.stability, args.fdr.is_some()) {
        (true, _) => refuse("--stability", &given),
        (_, true) => refuse("--fdr", &given),
        _ => Ok(()),
    }
}

impl Resampled {
    /// The selected features.
    pub fn selection(&self) -> Selection {
        match self {
            Self::Stability(found) => found.selection(),
            Self::Knockoffs(_, found) => found.selection(),
        }
    }

    /// What the scores of the selection are.
    pub fn score_name(&self) -> &'static str {
        match self {
            Self::Stability(_) => "frequency",
            Self::Knockoffs(..) => "score - copy",
        }
    }

    /// The name and the value of a field of the JSON record.
    pub fn record(&self, names: &[String]) -> (&'static str, Value) {
        let named = |values: &[f64]| -> Map<String, Value> {
            names.iter().cloned().zip(values.iter().map(|&v| json!(v))).collect()
        };
        match self {
            Self::Stability(found) => (
                "stability",
                json!({
                    "frequencies": named(&found.frequencies),
                    "threshold": found.threshold,
                    "n_fits": found.n_fits,
                    "mean_selected": found.mean_selected,
                    "expected_false": found.expected_false,
                }),
            ),
            Self::Knockoffs(knockoffs, found) => (
                "knockoffs",
                json!({
                    "q": knockoffs.q,
                    "n_copies": knockoffs.n_copies,
                    "normal_scores": knockoffs.normal_scores,
                    "statistics": named(&found.statistics),
                    "e_values": named(&found.e_values),
                    "fewest": found.fewest,
                }),
            ),
        }
    }

    /// The result in sentences.
    pub fn summary(&self, method: &SelectorMethod) -> String {
        let (title, n_selected) = (method.info().title, self.selection().n_selected);
        match self {
            Self::Stability(found) => format!(
                "stability selection with {title}: at least {} of {} fits to halves of the rows select each of {n_selected} \
                 of {} features\nexpected number of false selections: at most {} (a fit selects {} features on average)",
                percent(found.threshold),
                found.n_fits,
                found.frequencies.len(),
                number(found.expected_false),
                number(found.mean_selected),
            ),
            Self::Knockoffs(knockoffs, found) => format!(
                "knockoffs with {title}: {n_selected} of {} features add something to the others, with an expected fraction of \
                 false positives of at most {}",
                found.statistics.len(),
                percent(knockoffs.q),
            ),
        }
    }
}
