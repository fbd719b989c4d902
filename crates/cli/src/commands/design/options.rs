//! Options of kernel learners, put into them. What would do nothing is refused.

use crate::args::{BaseArg, DesignArgs, GroupArg, PsdArg};
use crate::commands::options::{no_such_method, refuse};
use crate::failure::Failure;
use clap::ValueEnum;
use kernsift::Error;
use kernsift::kernel::{Gamma, KernelChoice};
use kernsift::learn::design::{Bases, Choice, Form, GammaGrid, Grouping, Penalties, Psd};
use kernsift::learn::{KernelDesign, LEARNERS, LearnerMethod};

/// Learners that are compared with the one that was asked for, unless the user says otherwise.
const BESIDE: [&str; 4] = ["gaussian", "linear", "polynomial", "average"];

/// The learner with its options; those that it does not have are refused.
pub fn method(args: &DesignArgs) -> Result<LearnerMethod, Failure> {
    let method = LearnerMethod::by_name(&args.method).map_err(no_such_method)?;
    let own = own_options(&method, &args.method);
    let others: Vec<(&str, bool)> =
        given(args).into_iter().map(|(option, given)| (option, given && !own.contains(&option))).collect();
    refuse(&format!("-m {}", args.method), &others)?;
    if args.method == "gaussian" && args.gammas.as_ref().is_some_and(|gammas| gammas.len() > 1) {
        return Err(Failure::Input("-m gaussian takes one width with --gammas, not several".into()));
    }
    let method = with_options(method, args)?;
    if let LearnerMethod::Design(design) = &method {
        design.validate().map_err(typed)?;
    }
    Ok(method)
}

/// The learners to compare with it, with the options that they share.
pub fn baselines(args: &DesignArgs, method: &str) -> Result<Vec<LearnerMethod>, Failure> {
    let asked: Vec<&str> = match &args.baselines {
        None => BESIDE.to_vec(),
        Some(names) => names.iter().map(|name| name.trim()).collect(),
    };
    if asked == ["none"] {
        return Ok(vec![]);
    }
    let mut names: Vec<&str> = vec![];
    for name in asked {
        match name {
            "all" => names.extend(LEARNERS.map(|info| info.name)),
            "none" => return Err(Failure::Input("--baselines none stands alone".into())),
            name => names.push(name),
        }
    }
    let mut learners: Vec<(&str, LearnerMethod)> = vec![];
    for name in names {
        let learner = LearnerMethod::by_name(name)?;
        if name != method && learners.iter().all(|(known, _)| *known != name) {
            learners.push((name, with_options(learner, args)?));
        }
    }
    Ok(learners.into_iter().map(|(_, learner)| learner).collect())
}

/// All options of learners, and whether they were given.
fn given(args: &DesignArgs) -> [(&'static str, bool); 17] {
    [
        ("--kernels", args.kernels.is_some()),
        ("--weak", args.weak),
        ("--full", args.full),
        ("--quantiles", args.quantiles.is_some()),
        ("--gammas", args.gammas.is_some()),
        ("--degree", args.degree.is_some()),
        ("--coef0", args.coef0.is_some()),
        ("--psd", args.psd.is_some()),
        ("--group", args.group.is_some()),
        ("--gamma1", args.gamma1.is_some()),
        ("--gamma2", args.gamma2.is_some()),
        ("--repeats", args.repeats.is_some()),
        ("--threshold", args.threshold.is_some()),
        ("--tolerance", args.tolerance.is_some()),
        ("--max-rounds", args.max_rounds.is_some()),
        ("--max-iter", args.max_iter.is_some()),
        ("--ridge", args.ridge.is_some()),
    ]
}

/// Those of them that a learner has.
fn own_options(method: &LearnerMethod, name: &str) -> &'static [&'static str] {
    match (method, name) {
        (LearnerMethod::Design(_), _) => &[
            "--kernels",
            "--weak",
            "--full",
            "--quantiles",
            "--gammas",
            "--degree",
            "--coef0",
            "--psd",
            "--group",
            "--gamma1",
            "--gamma2",
            "--repeats",
            "--threshold",
            "--tolerance",
            "--max-rounds",
        ],
        (LearnerMethod::Average(_), _) => {
            &["--kernels", "--weak", "--full", "--quantiles", "--gammas", "--degree", "--coef0"]
        }
        (LearnerMethod::Xing(_), _) => &["--tolerance", "--max-iter", "--ridge"],
        (LearnerMethod::Single(_), "gaussian") => &["--gammas"],
        (LearnerMethod::Single(_), "polynomial") => &["--degree", "--coef0"],
        (LearnerMethod::Single(_), _) => &[],
    }
}

/// Puts in those options that a learner has.
fn with_options(mut method: LearnerMethod, args: &DesignArgs) -> Result<LearnerMethod, Failure> {
    // Another learner was asked for, and this one is compared with it: what was typed is not meant for its
    // kernel.
    let is_asked_for = LearnerMethod::by_name(&args.method).is_ok_and(|asked| asked == method);
    match &mut method {
        LearnerMethod::Design(design) if is_asked_for => {
            design.bases = bases(args)?;
            design_options(design, args)?;
        }
        LearnerMethod::Average(average) if ["design", "average"].contains(&args.method.as_str()) => {
            average.bases = bases(args)?;
        }
        LearnerMethod::Xing(xing) if is_asked_for => {
            xing.tolerance = args.tolerance.unwrap_or(xing.tolerance);
            xing.max_iter = args.max_iter.unwrap_or(xing.max_iter);
            xing.ridge = args.ridge.or(xing.ridge);
        }
        LearnerMethod::Single(single) => {
            if let KernelChoice::Named { gamma, degree, coef0, .. } = &mut single.kernel {
                *degree = args.degree.unwrap_or(*degree);
                *coef0 = args.coef0.unwrap_or(*coef0);
                if let (true, Some([width])) = (is_asked_for, args.gammas.as_deref()) {
                    *gamma = Gamma::Value(*width);
                }
            }
        }
        _ => {}
    }
    Ok(method)
}

/// The kernels that are mixed or averaged.
fn bases(args: &DesignArgs) -> Result<Bases, Failure> {
    let kernels = args.kernels.clone().unwrap_or_else(|| vec![BaseArg::Gaussian, BaseArg::Linear]);
    let word =
        |kernel: &BaseArg| kernel.to_possible_value().map_or(String::new(), |v| v.get_name().to_owned());
    if let Some((_, twice)) = kernels.iter().enumerate().find(|(at, kernel)| kernels[..*at].contains(kernel))
    {
        return Err(Failure::Input(format!("--kernels names {} twice", word(twice))));
    }
    let needs = |option: &str, given: bool, kinds: &[BaseArg], words: &str| {
        if given && !kinds.iter().any(|kind| kernels.contains(kind)) {
            let first = word(&kinds[0]);
            return Err(Failure::Input(format!(
                "{option} is for {words} kernels, of which there are none; add {first} to --kernels, or leave it out"
            )));
        }
        Ok(())
    };
    let radial = [BaseArg::Gaussian, BaseArg::Laplacian];
    needs("--quantiles", args.quantiles.is_some(), &radial, "gaussian and laplacian")?;
    needs("--gammas", args.gammas.is_some(), &radial, "gaussian and laplacian")?;
    needs("--degree", args.degree.is_some(), &[BaseArg::Polynomial], "polynomial")?;
    needs("--coef0", args.coef0.is_some(), &[BaseArg::Polynomial], "polynomial")?;
    let widths = match (&args.quantiles, &args.gammas) {
        (Some(quantiles), _) => GammaGrid::Quantiles(quantiles.clone()),
        (None, Some(gammas)) => GammaGrid::Values(gammas.clone()),
        (None, None) => GammaGrid::default(),
    };
    let form = |kernel: &BaseArg| match kernel {
        BaseArg::Gaussian => Form::Gaussian(widths.clone()),
        BaseArg::Laplacian => Form::Laplacian(widths.clone()),
        BaseArg::Linear => Form::Linear,
        BaseArg::Polynomial => {
            Form::Polynomial { degree: args.degree.unwrap_or(2), coef0: args.coef0.unwrap_or(1.0) }
        }
    };
    let forms = kernels.iter().map(form).collect();
    Ok(if args.full { Bases::Full(forms) } else { Bases::Weak(forms) })
}

fn design_options(design: &mut KernelDesign, args: &DesignArgs) -> Result<(), Failure> {
    if let Some(psd) = args.psd {
        design.psd = match psd {
            PsdArg::Auto => Psd::Auto,
            PsdArg::Nonnegative => Psd::NonNegative,
            PsdArg::DominanceWithNoise => Psd::DominanceWithNoise,
            PsdArg::EigenCuts => Psd::EigenCuts,
            PsdArg::StrictDominance => Psd::StrictDominance,
        };
    }
    if let Some(group) = args.group {
        refuse("--full", &[("--group", args.full)])?;
        design.grouping = match group {
            GroupArg::Column => Grouping::Column,
            GroupArg::Kernel => Grouping::Kernel,
        };
    }
    design.penalties = match (args.gamma1.as_deref(), args.gamma2.as_deref()) {
        (Some(&[kernels]), Some(&[diagonal])) => {
            refuse("one --gamma1 and one --gamma2", &[("--repeats", args.repeats.is_some())])?;
            Choice::Given(Penalties { kernels, diagonal })
        }
        _ => Choice::Halves {
            kernels: args.gamma1.clone(),
            diagonal: args.gamma2.clone(),
            repeats: args.repeats.unwrap_or(1),
        },
    };
    refuse("--full", &[("--threshold", args.full && args.threshold.is_some())])?;
    design.threshold = args.threshold.unwrap_or(design.threshold);
    design.tolerance = args.tolerance.unwrap_or(design.tolerance);
    design.max_rounds = args.max_rounds.unwrap_or(design.max_rounds);
    Ok(())
}

/// A failure with parameters named as the user typed them.
pub fn typed(error: Error) -> Failure {
    let options = [
        ("", "threshold", "--threshold"),
        ("", "tolerance", "--tolerance"),
        ("", "max_rounds", "--max-rounds"),
        ("", "max_iter", "--max-iter"),
        ("", "ridge", "--ridge"),
        ("", "gamma1", "--gamma1"),
        ("", "gamma2", "--gamma2"),
        ("design", "repeats", "--repeats"),
        ("", "psd", "--psd"),
        ("", "quantiles", "--quantiles"),
        ("", "gammas", "--gammas"),
        ("drawing triplets", "n", "--n-triplets"),
        ("", "test_size", "--hold-out"),
        ("kernel", "degree", "--degree"),
        ("kernel", "coef0", "--coef0"),
    ];
    Failure::typed(error, &options)
}
