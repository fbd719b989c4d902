//! SVM decision values compared with LIBSVM (its port to Rust).

use kernsift::Context;
use kernsift::classify::{ClassWeight, Svm};
use kernsift::data::{BuiltIn, Dataset, Standardizer};
use kernsift::kernel::Kernel;
use libsvm_rs::predict::predict_values;
use libsvm_rs::train::svm_train;
use libsvm_rs::{KernelType, SvmNode, SvmParameter, SvmProblem};

fn standard(name: &str) -> Dataset {
    let data = BuiltIn::by_name(name).unwrap().data().unwrap();
    data.with_x(Standardizer::fit(data.x()).apply(data.x()).unwrap()).unwrap()
}

/// Decision values of LIBSVM for all rows and pairs of classes; positive for the first class of a pair.
fn libsvm_values(data: &Dataset, param: &SvmParameter) -> Vec<Vec<f64>> {
    let nodes = |row: ndarray::ArrayView1<f64>| -> Vec<SvmNode> {
        row.iter().enumerate().map(|(j, &value)| SvmNode { index: j as i32 + 1, value }).collect()
    };
    let instances: Vec<Vec<SvmNode>> = data.x().to_dense().rows().into_iter().map(nodes).collect();
    let labels = data.classes("t").unwrap().codes.iter().map(|&c| c as f64).collect();
    let model = svm_train(&SvmProblem { labels, instances: instances.clone() }, param);
    let classes = model.nr_class;
    let values = |x: &Vec<SvmNode>| {
        let mut raw = vec![0.0; classes * (classes - 1) / 2];
        predict_values(&model, x, &mut raw);
        // LIBSVM numbers classes by first appearance; reorder the pairs by class code.
        let mut out = vec![0.0; raw.len()];
        let place = |a: usize, b: usize| a * classes - a * (a + 1) / 2 + b - a - 1;
        let mut at = 0;
        for i in 0..classes {
            for j in i + 1..classes {
                let (a, b) = (model.label[i] as usize, model.label[j] as usize);
                let (to, sign) = if a < b { (place(a, b), 1.0) } else { (place(b, a), -1.0) };
                out[to] = sign * raw[at];
                at += 1;
            }
        }
        out
    };
    instances.iter().map(values).collect()
}

#[test]
fn decision_values_agree_with_libsvm() {
    let ctx = Context::default();
    for (name, gamma, c) in
        [("wine", 0.05, 1.0), ("wine", 0.5, 100.0), ("sonar", 0.02, 10.0), ("heart", 0.1, 0.3)]
    {
        let data = standard(name);
        for (kernel, kernel_type) in
            [(Kernel::Rbf { gamma }, KernelType::Rbf), (Kernel::Linear, KernelType::Linear)]
        {
            for factor in [1.0, 3.0] {
                let n_classes = data.classes("t").unwrap().names.len();
                let mut factors = vec![1.0; n_classes];
                factors[1] = factor;
                let class_weight = ClassWeight::Given(factors);
                let svm = Svm { kernel: kernel.clone().into(), c, tol: 1e-6, class_weight, ..Svm::default() };
                let ours = svm.fit(&data, &ctx).unwrap().decision_values(data.x(), &ctx).unwrap();
                let weight = vec![(1, factor)];
                let param =
                    SvmParameter { kernel_type, gamma, c, eps: 1e-6, weight, ..SvmParameter::default() };
                let theirs = libsvm_values(&data, &param);
                for (i, theirs) in theirs.iter().enumerate() {
                    for (p, value) in theirs.iter().enumerate() {
                        // LIBSVM stores the matrix in single precision: errors of about 1e-6 of the sum of
                        // coefficients; both stop within 1e-6.
                        let difference = (ours[[i, p]] - value).abs();
                        assert!(difference < 1e-3, "{name}, C = {c}, {}: {difference}", kernel.describe());
                    }
                }
            }
        }
    }
}
