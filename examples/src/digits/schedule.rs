//! The schedule of the learning rate, in plain Rust.

use crate::compare::near;

/// Compares the number of a step of Adam that was `counted`, and its rates, with the schedule: the learning rate, which
/// rises to `peak` for `warm_up` steps and then falls as a cosine until `total`, and the factors of the mean and of the
/// root of the mean of squares. Returns the learning rate.
///
/// # Errors
/// If they differ: the message has all.
pub fn check_rates(
    found: [f32; 3],
    counted: u32,
    step: u32,
    peak: f32,
    warm_up: u32,
    total: u32,
) -> Result<f64, String> {
    let found = found.map(f64::from);
    let expected = scheduled(step, peak, warm_up, total);
    if counted != step {
        return Err(format!("step {counted} was counted, expected {step}"));
    }
    near(&format!("rates of step {step}"), &found, &expected, |rate| {
        1e-4 * rate + 1e-7
    })?;
    Ok(found[0])
}

fn scheduled(step: u32, peak: f32, warm_up: u32, total: u32) -> [f64; 3] {
    let [step, peak, warm_up, total] = [f64::from(step), f64::from(peak), f64::from(warm_up), f64::from(total)];
    let part = if step <= warm_up {
        step / warm_up
    } else if step < total {
        0.5 + 0.5 * ((step - warm_up) / (total - warm_up) * std::f64::consts::PI).cos()
    } else {
        0.0
    };
    let (first, second) = (1.0 - 0.9_f64.powf(step), 1.0 - 0.999_f64.powf(step));
    [peak * part, 1.0 / first, 1.0 / second.sqrt()]
}
