//! Without a device, or with one that fails, the processor computes.

use crate::problems::{context, hsfs, leak, relief, reliefs, screened, table};
use crate::twin::{Behavior, Twin};
use kernsift::Observer;
use kernsift::device::{Device, Refusal, Task};
use kernsift::interactions::InteractionScreen;
use kernsift_cuda::{Choice, Cuda, device};
use std::sync::atomic::{AtomicUsize, Ordering};

fn failing(refusal: fn() -> Refusal, after: usize) -> &'static Device {
    leak(Twin { behavior: Behavior::Fails(refusal, after), ..Twin::new() })
}

#[test]
fn names_of_devices() {
    let parse = |text: &str| text.parse::<Choice>();
    assert_eq!(
        ["auto", "cpu", "cuda", "cuda:12"].map(|text| parse(text).unwrap()),
        [Choice::Auto, Choice::Cpu, Choice::Cuda(0), Choice::Cuda(12)]
    );
    assert_eq!(
        ["auto", "cpu", "cuda:12"],
        ["auto", "cpu", "cuda:12"].map(|text| parse(text).unwrap().to_string())
    );
    for text in ["", "gpu", "cuda:", "cuda:x", "cuda:+1", "CUDA"] {
        let message = parse(text).unwrap_err();
        assert_eq!(message, format!("the device must be auto, cpu, cuda or cuda:N, got '{text}'"));
    }
}

#[test]
fn tasks_name_methods_of_the_catalog() {
    for task in Task::ALL {
        assert!(task.methods().iter().all(|name| kernsift::catalog::info(name).is_ok()), "{task:?}");
    }
}

#[test]
fn a_device_that_fails_gives_the_results_of_the_processor() {
    let data = table(120, 30, false, 1);
    let small = table(100, 5, false, 1);
    for after in [0, 1, 2] {
        let device = failing(|| Refusal::Failed("broken".into()), after);
        assert_eq!(screened(&data, Some(device)), screened(&data, None));
        // Preparation and a tile for each of the one range.
        let expected = "screening of pairs on the processor: the GPU failed (broken)";
        assert_eq!(device.take_warnings(), if after < 2 { vec![expected] } else { vec![] });
        let device = failing(|| Refusal::OutOfMemory, after);
        for method in reliefs() {
            assert_eq!(relief(&data, &method, Some(device)), relief(&data, &method, None));
        }
        // Two methods search twice each, for hits and misses.
        assert_eq!(
            device.take_warnings(),
            ["nearest neighbors on the processor: the GPU failed (its memory does not suffice)"]
        );
        let device = failing(|| Refusal::Declined, after);
        assert_eq!(hsfs(&small, Some(device)).order, hsfs(&small, None).order);
        assert!(device.take_warnings().is_empty());
    }
}

#[test]
fn a_failed_device_is_asked_again_after_its_warning() {
    let data = table(100, 20, false, 2);
    let device = failing(|| Refusal::OutOfMemory, 0);
    screened(&data, Some(device));
    screened(&data, Some(device));
    assert_eq!(device.take_warnings().len(), 1);
    screened(&data, Some(device));
    assert_eq!(device.take_warnings().len(), 1);
    assert!(device.used().is_empty());
}

#[test]
fn an_interrupt_stops_work_on_a_device() {
    struct Stop(AtomicUsize);
    impl Observer for Stop {
        fn progress(&self, stage: &str, _done: usize, _total: usize) {
            // At the first tile.
            self.0.fetch_add(usize::from(stage == "pairs"), Ordering::SeqCst);
        }
        fn interrupted(&self) -> bool {
            self.0.load(Ordering::SeqCst) > 0
        }
    }
    let observer = Stop(AtomicUsize::new(0));
    let device = leak(Twin::new());
    let ctx = kernsift::Context { observer: &observer, ..context(Some(device)) };
    let error = InteractionScreen::default().run(&table(100, 20, false, 2), &ctx).unwrap_err();
    assert!(error.is_interrupted() && device.take_warnings().is_empty());
}

/// On a computer without a driver, `auto` computes on the processor without a word, and `cuda` is an error.
#[test]
fn without_a_driver() {
    let cuda = Cuda::for_any_size(0, &[]);
    let Err(why) = cuda.start() else { return };
    let data = table(100, 20, false, 3);
    let auto = leak(cuda);
    assert_eq!(screened(&data, Some(auto)), screened(&data, None));
    assert!(auto.used().is_empty());
    if why == "no NVIDIA driver was found" {
        assert!(auto.take_warnings().is_empty() && auto.name().is_none());
        let error = device(Choice::Cuda(1), &[]).unwrap_err();
        assert_eq!(error, "device cuda:1: no NVIDIA driver was found");
    }
    assert!(device(Choice::Cpu, &[]).unwrap().is_none() && device(Choice::Auto, &[]).unwrap().is_some());
}
