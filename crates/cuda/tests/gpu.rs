//! With a GPU: its results equal those of the processor. Without one these tests do nothing.

use crate::problems::{assert_same_selection, coarse, hsfs, leak, relief, reliefs, screened, table};
use kernsift::device::{Device, Task};
use kernsift_cuda::Cuda;

fn gpu() -> Option<&'static Device> {
    let cuda = Cuda::for_any_size(0, &[]);
    cuda.start().is_ok().then(|| leak(cuda))
}

#[test]
fn results_are_those_of_the_processor() {
    let Some(device) = gpu() else { return };
    for seed in 0..20 {
        let data = match seed % 3 {
            0 => coarse(150 + 7 * seed as usize, 300, seed),
            1 => table(130 + 9 * seed as usize, 700, true, seed),
            _ => table(400, 250, false, seed),
        };
        assert_eq!(screened(&data, Some(device)), screened(&data, None), "{seed}");
        for method in reliefs() {
            assert_eq!(relief(&data, &method, Some(device)), relief(&data, &method, None), "{seed}");
        }
    }
    assert_eq!((device.used(), device.take_warnings()), (vec![Task::Pairs, Task::Neighbors], vec![]));
    for seed in 0..3 {
        let data = table(300, 8, seed == 1, seed);
        assert_same_selection(&hsfs(&data, Some(device)), &hsfs(&data, None));
    }
    assert_eq!((device.used(), device.take_warnings()), (Task::ALL.into(), vec![]));
}
