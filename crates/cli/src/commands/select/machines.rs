//! Options of selectors by support vector machines, put into them.

use super::refuse;
use crate::args::SelectArgs;
use crate::commands::options::{choice, kernel_options};
use crate::failure::Failure;
use kernsift::select::SelectorMethod;

/// Puts the options into a selector, and refuses those that it does not have. `name` is what the user typed for it.
pub fn configure(selector: &mut SelectorMethod, args: &SelectArgs, name: &str) -> Result<(), Failure> {
    if !matches!(selector, SelectorMethod::SvmRfe(_) | SelectorMethod::L1Svm(_)) {
        refuse(name, &[("--svm-c", args.svm_c.is_some())])?;
    }
    // Elimination by dependence takes the same.
    if !matches!(selector, SelectorMethod::SvmRfe(_) | SelectorMethod::Bahsic(_)) {
        refuse(name, &[("--step", args.step.is_some())])?;
    }
    match selector {
        SelectorMethod::SvmRfe(rfe) => {
            rfe.c = args.svm_c.unwrap_or(rfe.c);
            rfe.step = args.step.unwrap_or(rfe.step);
            match args.kernel.kernel {
                None => refuse("the linear kernel of -m svm-rfe", &kernel_options(&args.kernel))?,
                Some(_) => rfe.kernel = choice(&args.kernel)?,
            }
        }
        SelectorMethod::L1Svm(l1) => l1.c = args.svm_c.or(l1.c),
        _ => {}
    }
    Ok(())
}
