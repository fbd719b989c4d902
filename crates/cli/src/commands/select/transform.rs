//! Options of selectors that weigh columns by a criterion, put into them.

use super::refuse;
use crate::args::{ApproximationArg, EstimatorArg, FormArg, SelectArgs, TargetKernelArg, TransformOptions};
use crate::failure::Failure;
use clap::ValueEnum;
use kernsift::dependence::{Estimator, TargetKernel};
use kernsift::kernel::Gamma;
use kernsift::select::{
    Approximation, Bahsic, Elimination, Fohsic, Hsfs, HsfsForm, HsicLasso, Ldfs, LdfsForm, Pfs,
    SelectorMethod, Step,
};

/// Puts the options into a selector, and refuses those that it does not have. `name` is what the user typed for it.
pub fn configure(selector: &mut SelectorMethod, args: &SelectArgs, name: &str) -> Result<(), Failure> {
    let options = &args.transform;
    let own = own_options(selector);
    let others: Vec<(&str, bool)> =
        given(args).into_iter().map(|(option, given)| (option, given && !own.contains(&option))).collect();
    refuse(name, &others)?;
    match selector {
        SelectorMethod::Hsfs(method) => hsfs_options(method, options, name),
        SelectorMethod::Ldfs(method) => ldfs_options(method, options, name),
        SelectorMethod::Pfs(method) => {
            pfs_options(method, args);
            Ok(())
        }
        SelectorMethod::Fohsic(method) => fohsic_options(method, args, name),
        SelectorMethod::Bahsic(method) => bahsic_options(method, args, name),
        SelectorMethod::HsicLasso(method) => lasso_options(method, options, name),
        _ => Ok(()),
    }
}

/// All options of this family, and whether they were given.
fn given(args: &SelectArgs) -> [(&'static str, bool); 20] {
    let options = &args.transform;
    [
        ("--form", options.form.is_some()),
        ("--target-kernel", options.target_kernel.is_some()),
        ("--directions", options.directions.is_some()),
        ("--diagonal", options.diagonal),
        ("--width", options.width.is_some()),
        ("--radius", options.radius.is_some()),
        ("--penalty", options.penalty.is_some()),
        ("--penalties", options.penalties.is_some()),
        ("--penalty-ratio", options.penalty_ratio.is_some()),
        ("--ridge", options.ridge.is_some()),
        ("--unweighted-scatter", options.unweighted_scatter),
        ("--random-starts", options.random_starts.is_some()),
        ("--approximation", options.approximation.is_some()),
        ("--features", options.features.is_some()),
        ("--estimator", options.estimator.is_some()),
        ("--block-size", options.block_size.is_some()),
        ("--permutations", options.permutations.is_some()),
        ("--tolerance", options.tolerance.is_some()),
        ("--max-iter", options.max_iter.is_some()),
        ("--path", args.path.is_some()),
    ]
}

/// Those of them that a selector has.
fn own_options(selector: &SelectorMethod) -> &'static [&'static str] {
    match selector {
        SelectorMethod::Hsfs(_) => &[
            "--form",
            "--target-kernel",
            "--directions",
            "--diagonal",
            "--width",
            "--radius",
            "--penalty",
            "--random-starts",
            "--approximation",
            "--features",
            "--tolerance",
            "--max-iter",
            "--path",
        ],
        SelectorMethod::Ldfs(_) => &[
            "--form",
            "--penalty",
            "--penalties",
            "--penalty-ratio",
            "--ridge",
            "--unweighted-scatter",
            "--tolerance",
            "--max-iter",
            "--path",
        ],
        SelectorMethod::Pfs(_) => {
            &["--penalty", "--penalties", "--penalty-ratio", "--tolerance", "--max-iter", "--path"]
        }
        SelectorMethod::Fohsic(_) => &["--target-kernel", "--estimator", "--path"],
        SelectorMethod::Bahsic(_) => &["--form", "--target-kernel", "--estimator", "--path"],
        SelectorMethod::HsicLasso(_) => &["--target-kernel", "--block-size", "--permutations", "--path"],
        _ => &[],
    }
}

/// The form that was asked for, one of those that the method has.
fn form<T: Copy>(asked: Option<FormArg>, usual: T, forms: &[(FormArg, T)], name: &str) -> Result<T, Failure> {
    let Some(asked) = asked else { return Ok(usual) };
    if let Some((_, form)) = forms.iter().find(|(arg, _)| *arg == asked) {
        return Ok(*form);
    }
    let names: Vec<String> = forms.iter().map(|(arg, _)| typed(*arg)).collect();
    Err(Failure::Input(format!(
        "{name} has no --form {}; it has {} and {}",
        typed(asked),
        names[..names.len() - 1].join(", "),
        names[names.len() - 1]
    )))
}

/// A form as it is typed.
fn typed(form: FormArg) -> String {
    form.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
}

fn target_kernel(asked: Option<TargetKernelArg>, usual: TargetKernel) -> TargetKernel {
    match asked {
        None => usual,
        Some(TargetKernelArg::Auto) => TargetKernel::Auto,
        Some(TargetKernelArg::ClassBalanced) => TargetKernel::ClassBalanced,
        Some(TargetKernelArg::Delta) => TargetKernel::Delta,
        Some(TargetKernelArg::Linear) => TargetKernel::Linear,
        Some(TargetKernelArg::Gaussian) => TargetKernel::Gaussian,
    }
}

fn hsfs_options(method: &mut Hsfs, options: &TransformOptions, name: &str) -> Result<(), Failure> {
    let forms = [(FormArg::Constrained, HsfsForm::Constrained), (FormArg::Penalized, HsfsForm::Penalized)];
    method.form = form(options.form, method.form, &forms, name)?;
    if method.form == HsfsForm::Constrained {
        let constrained = format!("the constrained form of {name}");
        refuse(&constrained, &[("--penalty", options.penalty.is_some())])?;
    } else {
        refuse("--form penalized", &[("--radius", options.radius.is_some())])?;
    }
    let approximate =
        matches!(options.approximation, Some(ApproximationArg::Fourier | ApproximationArg::Nystrom));
    if options.diagonal {
        refuse(
            "--diagonal",
            &[
                ("--directions", options.directions.is_some()),
                ("--approximation fourier", options.approximation == Some(ApproximationArg::Fourier)),
                ("--approximation nystrom", options.approximation == Some(ApproximationArg::Nystrom)),
                ("--features", options.features.is_some()),
            ],
        )?;
    }
    if options.features.is_some() && !approximate {
        return Err(Failure::Input(
            "--features belongs to an approximation; add --approximation fourier or nystrom".into(),
        ));
    }
    if let Some(approximation) = options.approximation {
        method.approximation = match approximation {
            ApproximationArg::Auto => Approximation::Auto,
            ApproximationArg::Exact => Approximation::Exact,
            ApproximationArg::Fourier => Approximation::Fourier,
            ApproximationArg::Nystrom => Approximation::Nystrom,
        };
    }
    method.target_kernel = target_kernel(options.target_kernel, method.target_kernel);
    method.directions = options.directions.or(method.directions);
    method.diagonal = options.diagonal.then_some(true);
    method.width = options.width.or(method.width);
    method.radius = options.radius.or(method.radius);
    method.penalty = options.penalty.or(method.penalty);
    method.random_starts = options.random_starts.unwrap_or(method.random_starts);
    method.features = options.features.unwrap_or(method.features);
    method.tol = options.tolerance.unwrap_or(method.tol);
    method.max_iter = options.max_iter.unwrap_or(method.max_iter);
    Ok(())
}

fn ldfs_options(method: &mut Ldfs, options: &TransformOptions, name: &str) -> Result<(), Failure> {
    let forms = [
        (FormArg::LeastSquares, LdfsForm::LeastSquares),
        (FormArg::Normalized, LdfsForm::Normalized),
        (FormArg::Constrained, LdfsForm::Constrained),
    ];
    method.form = form(options.form, method.form, &forms, name)?;
    if method.form == LdfsForm::LeastSquares {
        refuse(
            &format!("the least-squares form of {name}"),
            &[("--ridge", options.ridge.is_some()), ("--unweighted-scatter", options.unweighted_scatter)],
        )?;
    }
    method.penalty = options.penalty.or(method.penalty);
    method.n_penalties = options.penalties.unwrap_or(method.n_penalties);
    method.penalty_ratio = options.penalty_ratio.unwrap_or(method.penalty_ratio);
    method.ridge = options.ridge.unwrap_or(method.ridge);
    method.weighted_scatter = !options.unweighted_scatter;
    method.tol = options.tolerance.unwrap_or(method.tol);
    method.max_iter = options.max_iter.unwrap_or(method.max_iter);
    Ok(())
}

fn pfs_options(method: &mut Pfs, args: &SelectArgs) {
    let options = &args.transform;
    method.n_components = args.components.or(method.n_components);
    method.penalty = options.penalty.or(method.penalty);
    method.n_penalties = options.penalties.unwrap_or(method.n_penalties);
    method.penalty_ratio = options.penalty_ratio.unwrap_or(method.penalty_ratio);
    method.tol = options.tolerance.unwrap_or(method.tol);
    method.max_iter = options.max_iter.unwrap_or(method.max_iter);
}

fn estimator(asked: Option<EstimatorArg>, usual: Estimator) -> Estimator {
    match asked {
        None => usual,
        Some(EstimatorArg::Biased) => Estimator::Biased,
        Some(EstimatorArg::Unbiased) => Estimator::Unbiased,
    }
}

/// A width for sets of any size: rules that look at all columns would not fit the small ones.
fn gamma(args: &SelectArgs, name: &str) -> Result<Option<f64>, Failure> {
    match args.kernel.gamma {
        None => Ok(None),
        Some(Gamma::Value(gamma)) => Ok(Some(gamma)),
        Some(Gamma::Median | Gamma::Scale) => {
            Err(Failure::Input(format!("--gamma must be a number with {name}")))
        }
    }
}

fn fohsic_options(method: &mut Fohsic, args: &SelectArgs, name: &str) -> Result<(), Failure> {
    method.gamma = gamma(args, name)?.or(method.gamma);
    method.target_kernel = target_kernel(args.transform.target_kernel, method.target_kernel);
    method.estimator = estimator(args.transform.estimator, method.estimator);
    Ok(())
}

fn bahsic_options(method: &mut Bahsic, args: &SelectArgs, name: &str) -> Result<(), Failure> {
    let forms = [(FormArg::Exact, Elimination::Exact), (FormArg::Fast, Elimination::Fast)];
    method.form = form(args.transform.form, method.form, &forms, name)?;
    method.step = match args.step {
        None => method.step,
        Some(Step::Fraction(share)) => share,
        Some(Step::Count(count)) => {
            return Err(Failure::Input(format!(
                "--step must be a share above 0 and below 1 with {name}, got {count}"
            )));
        }
    };
    method.gamma = gamma(args, name)?.or(method.gamma);
    method.target_kernel = target_kernel(args.transform.target_kernel, method.target_kernel);
    method.estimator = estimator(args.transform.estimator, method.estimator);
    Ok(())
}

fn lasso_options(method: &mut HsicLasso, options: &TransformOptions, name: &str) -> Result<(), Failure> {
    if options.block_size.is_none() && options.permutations.is_some() {
        return Err(Failure::Input(format!(
            "--permutations of {name} are those of rows into blocks; add --block-size"
        )));
    }
    method.block_size = options.block_size.or(method.block_size);
    method.permutations = options.permutations.unwrap_or(method.permutations);
    method.target_kernel = target_kernel(options.target_kernel, method.target_kernel);
    Ok(())
}
