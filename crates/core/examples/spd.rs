use kernsift::{basis::*, data::*, kernel::*, random::Rng, Context};
fn main() {
    let a: Vec<usize> = std::env::args().skip(1).map(|s| s.parse().unwrap()).collect();
    let (n, d, m) = (a[0], a[1], a[2]);
    let mut rng = Rng::new(1);
    let x = ndarray::Array2::from_shape_simple_fn((n, d), || rng.normal());
    let data = Dataset::unlabelled(x).unwrap();
    for p in [Pivoting::Greedy, Pivoting::Random] {
        for _ in 0..3 {
            let t = std::time::Instant::now();
            let k = Kobl { kernel: Kernel::Rbf { gamma: 1.0 / d as f64 }.into(), threshold: Threshold::None, n_components: Some(m), pivoting: p, ..Default::default() };
            let f = k.fit(&data, &Context::default()).unwrap();
            println!("{p:?} {:?} m={} E={}", t.elapsed(), f.map.n_components(), f.map.summary().reconstruction_cost);
        }
    }
}
