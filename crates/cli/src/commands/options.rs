//! Options that several commands share, put into methods. What would do nothing is refused.

use crate::args::{BasisOptions, FirstPivotArg, KernelArg, KernelArgs, PivotingArg, ScaleArg};
use crate::console::Console;
use crate::failure::Failure;
use crate::input::standardize;
use kernsift::basis::{BASES, BasisMethod, FirstPivot, Pivoting};
use kernsift::data::{Dataset, Standardizer};
use kernsift::kernel::{Family, Gamma, KernelChoice};
use kernsift::learn::LEARNERS;
use kernsift::method::Info;
use kernsift::select::SELECTORS;
use kernsift::space::SPACES;

/// An option that would do nothing is a mistake worth telling.
pub fn refuse(with: &str, options: &[(&str, bool)]) -> Result<(), Failure> {
    match options.iter().find(|(_, given)| *given) {
        Some((option, _)) => {
            Err(Failure::Input(format!("{option} has no effect with {with}; leave one of them out")))
        }
        None => Ok(()),
    }
}

/// The error that there is no such method, unless another command has it.
pub fn no_such_method(name: &str, error: kernsift::Error) -> Failure {
    let has = |infos: &[Info]| infos.iter().any(|info| info.name == name);
    let (what, command) = match () {
        () if has(&SELECTORS) || has(&SPACES) => ("selects features", "select"),
        () if has(&BASES) => ("is a basis and selects nothing", "basis"),
        () if has(&LEARNERS) => ("learns a kernel", "design"),
        () => return error.into(),
    };
    Failure::Input(format!("{name} {what}; use `kernsift {command} -m {name}`"))
}

/// The options of a kernel, and whether they were given.
pub fn kernel_options(args: &KernelArgs) -> [(&'static str, bool); 4] {
    [
        ("--kernel", args.kernel.is_some()),
        ("--gamma", args.gamma.is_some()),
        ("--degree", args.degree.is_some()),
        ("--coef0", args.coef0.is_some()),
    ]
}

/// The options that only KOBL has, and whether they were given.
pub fn kobl_options(options: &BasisOptions) -> [(&'static str, bool); 5] {
    [
        ("--gamma-for-n-components", options.gamma_for_n_components.is_some()),
        ("--threshold", options.threshold.is_some()),
        ("--pivoting", options.pivoting.is_some()),
        ("--first-pivot", options.first_pivot.is_some()),
        ("--tol", options.tol.is_some()),
    ]
}

/// The kernel as it would be typed.
pub fn kernel_name(args: &KernelArgs) -> &'static str {
    match args.kernel.unwrap_or_default() {
        KernelArg::Rbf => "--kernel rbf",
        KernelArg::Linear => "--kernel linear",
        KernelArg::Poly => "--kernel poly",
        KernelArg::Laplacian => "--kernel laplacian",
    }
}

/// Puts kernel and number of components into a basis, and what it has of the other options. `method` is
/// what the user typed for it.
pub fn configure_basis(
    basis: &mut BasisMethod,
    kernel: &KernelArgs,
    components: Option<usize>,
    options: &BasisOptions,
    method: &str,
) -> Result<(), Failure> {
    *basis.kernel_mut() = choice(kernel)?;
    *basis.n_components_mut() = components;
    if !matches!(basis, BasisMethod::Kobl(_)) {
        refuse(method, &kobl_options(options))?;
    }
    if !matches!(basis, BasisMethod::Kpca(_)) {
        refuse(method, &[("--no-center", options.no_center)])?;
    }
    let not_rbf = kernel.kernel.unwrap_or_default() != KernelArg::Rbf;
    refuse(
        kernel_name(kernel),
        &[("--gamma-for-n-components", options.gamma_for_n_components.is_some() && not_rbf)],
    )?;
    match basis {
        BasisMethod::Kobl(kobl) => {
            if let Some(threshold) = &options.threshold {
                kobl.threshold = threshold.clone();
            }
            if let Some(pivoting) = options.pivoting {
                kobl.pivoting = match pivoting {
                    PivotingArg::Greedy => Pivoting::Greedy,
                    PivotingArg::Random => Pivoting::Random,
                    PivotingArg::Gain => Pivoting::Gain,
                };
            }
            if let Some(first) = options.first_pivot {
                kobl.first_pivot = match first {
                    FirstPivotArg::First => FirstPivot::First,
                    FirstPivotArg::Medoid => FirstPivot::Medoid,
                };
            }
            kobl.tol = options.tol.unwrap_or(kobl.tol);
        }
        BasisMethod::Kpca(kpca) => kpca.center = !options.no_center,
        BasisMethod::Kgs(_) | BasisMethod::Discriminant(_) => {}
    }
    Ok(())
}

/// The kernel that was asked for.
pub fn choice(args: &KernelArgs) -> Result<KernelChoice, Failure> {
    let family = args.kernel.unwrap_or_default().family();
    let [_, (_, gamma), degree, coef0] = kernel_options(args);
    refuse(kernel_name(args), &[("--gamma", gamma && family == Family::Linear)])?;
    if family != Family::Poly {
        refuse(kernel_name(args), &[degree, coef0])?;
    }
    Ok(KernelChoice::Named {
        family,
        gamma: args.gamma.unwrap_or(Gamma::Median),
        degree: args.degree.unwrap_or(3),
        coef0: args.coef0.unwrap_or(1.0),
    })
}

/// The data on the scale that was asked for.
pub fn scaled(
    data: &Dataset,
    scale: ScaleArg,
    console: &Console,
) -> kernsift::Result<(Dataset, Option<Standardizer>)> {
    match scale {
        ScaleArg::None => Ok((data.clone(), None)),
        ScaleArg::Standard => standardize(data, console).map(|(data, scaler)| (data, Some(scaler))),
    }
}
