//! What a GPU computed, and warnings if it failed.

use kernsift::Context;
use kernsift::device::Task;
use serde_json::{Value, json};

/// Shows warnings about the GPU, and a note of what it computed.
pub fn report(ctx: &Context) {
    let Some(device) = ctx.device else { return };
    device.take_warnings().iter().for_each(|text| ctx.warn(text));
    let used = device.used();
    if !used.is_empty() && ctx.observer.shows_notes() {
        let tasks: Vec<&str> = used.into_iter().map(Task::describe).collect();
        ctx.note(format!("on {}: {}", device.name().unwrap_or_default(), tasks.join(", ")));
    }
}

/// The device of a record: none if the processor computed everything.
pub fn record(ctx: &Context) -> Value {
    match ctx.device.map(|device| (device, device.used())) {
        Some((device, used)) if !used.is_empty() => json!({"name": device.name(), "tasks": used}),
        _ => Value::Null,
    }
}
