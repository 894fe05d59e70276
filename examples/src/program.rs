//! The beginning of each program, random numbers for it, and the comparison of its results.

use graph_runtime::{Device, Plan, Result};
use indicatif::{ProgressBar, ProgressStyle, style::TemplateError};

/// Begins a program: prints its device, the first CUDA device or the CPU emulator if there is none, and returns it.
/// With `--plan`, the program prints its graphs as drawings instead, and ends. `RUST_LOG=graph_runtime=trace` shows the
/// driver calls of building on stderr.
///
/// # Errors
/// If there is a GPU that CUDA cannot use.
pub fn start(plans: &[Plan]) -> Result<Device> {
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .with_writer(std::io::stderr)
        .init();
    if has_argument("--plan") {
        plans.iter().for_each(|plan| print!("{}", plan.to_mermaid()));
        std::process::exit(0);
    }
    let device = Device::any()?;
    println!("device:  {}", device.name());
    Ok(device)
}

/// Chooses between a size for the emulator and one for a GPU.
pub fn sized<T>(device: &Device, emulator: T, gpu: T) -> T {
    if device.is_emulator() { emulator } else { gpu }
}

/// Whether the program has this argument.
pub fn has_argument(name: &str) -> bool {
    std::env::args().any(|argument| argument == name)
}

/// Returns the argument of the program that comes after the argument `name`.
pub fn argument(name: &str) -> Option<String> {
    std::env::args().skip_while(|argument| argument != name).nth(1)
}

/// Returns the first argument of the program that is no option.
pub fn file_argument() -> Option<String> {
    std::env::args().skip(1).find(|argument| !argument.starts_with('-'))
}

/// Returns a progress bar of this length. It draws nothing if there is no terminal.
///
/// # Errors
/// None: the template is right.
pub fn progress(length: u32) -> Result<ProgressBar, TemplateError> {
    let style = ProgressStyle::with_template("{bar:40} {pos} of {len}, {msg}")?;
    Ok(ProgressBar::new(length.into()).with_style(style))
}

/// Numbers from -1 to 1, without 1; the same in every run.
pub fn random(seed: u32) -> impl FnMut() -> f32 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    }
}

/// The largest absolute value.
pub fn largest(numbers: &[f32]) -> f32 {
    numbers.iter().fold(0.0, |largest, number| largest.max(number.abs()))
}

/// Compares results with the expected ones, and returns the largest difference.
///
/// # Errors
/// If there are more or fewer, or if a difference is larger than `tolerance` or no number. The message begins with
/// `name`, and has the first such result.
pub fn close(name: &str, results: &[f32], expected: &[f32], tolerance: f32) -> Result<f32, String> {
    if results.len() != expected.len() {
        return Err(format!(
            "{name}: {} results, expected {}",
            results.len(),
            expected.len()
        ));
    }
    let mut worst = 0.0_f32;
    for (index, (result, expected)) in results.iter().zip(expected).enumerate() {
        let difference = (result - expected).abs();
        if difference > tolerance || difference.is_nan() {
            return Err(format!("{name}: result {index} is {result}, expected {expected}"));
        }
        worst = worst.max(difference);
    }
    Ok(worst)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_result_is_named() {
        let wrong = |results: &[f32]| close("x", results, &[1.0, 3.0], 0.5).unwrap_err();
        assert_eq!(wrong(&[1.0, 2.0]), "x: result 1 is 2, expected 3");
        assert_eq!(wrong(&[f32::NAN, 3.0]), "x: result 0 is NaN, expected 1");
        assert_eq!(wrong(&[1.0]), "x: 1 results, expected 2");
        assert_eq!(close("x", &[1.25, 3.5], &[1.0, 3.0], 0.5), Ok(0.5));
    }
}
