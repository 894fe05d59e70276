//! The beginning of each program, and random numbers for it.

use crate::help;
use graph_runtime::{Device, EmulatorOptions, Plan, Result};
use indicatif::{ProgressBar, ProgressStyle, style::TemplateError};

/// Begins a program: prints its device, the first CUDA device or the CPU emulator if there is none, and returns it.
/// With `--plan`, or `--plan svg`, the program prints its graphs as drawings instead, and ends; with `--help`, what it
/// does.
/// `RUST_LOG=graph_runtime=trace` shows the driver calls of building on stderr.
///
/// # Errors
/// If there is a GPU that CUDA cannot use.
pub fn start(plans: &[Plan]) -> Result<Device> {
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .with_writer(std::io::stderr)
        .init();
    if has_argument("--help") {
        println!("{}", help::text());
        std::process::exit(0);
    }
    if is_drawing() {
        let draw = match argument("--plan").as_deref() {
            Some("svg") => Plan::to_svg,
            _ => Plan::to_mermaid,
        };
        plans.iter().for_each(|plan| print!("{}", draw(plan)));
        std::process::exit(0);
    }
    let device = match Device::any()? {
        found if found.is_emulator() => emulator(),
        found => found,
    };
    println!("device:  {}", device.name());
    Ok(device)
}

/// Returns an emulator that ends no `while` by the clock, since the machine may be busy; it counts iterations.
pub fn emulator() -> Device {
    Device::emulator_with(EmulatorOptions {
        time_limit: None,
        ..Default::default()
    })
}

/// Whether [`start`] prints drawings, and ends the program: graphs that are declared call by call are needed then.
pub fn is_drawing() -> bool {
    has_argument("--plan")
}

/// Whether the program has little time: on the emulator, and with `--small`.
pub fn is_small(device: &Device) -> bool {
    device.is_emulator() || has_argument("--small")
}

/// Chooses between a size for little time and one for a GPU.
pub fn sized<T>(device: &Device, small: T, gpu: T) -> T {
    if is_small(device) { small } else { gpu }
}

/// The names of all examples, each with the first sentences about it.
pub fn programs() -> impl Iterator<Item = (&'static str, String)> {
    help::all()
}

/// Whether the program has this argument.
pub fn has_argument(name: &str) -> bool {
    std::env::args().any(|argument| argument == name)
}

/// Returns the argument of the program that comes after the argument `name`.
pub fn argument(name: &str) -> Option<String> {
    std::env::args().skip_while(|argument| argument != name).nth(1)
}

/// Returns the number after the argument `name` of the program, or `default` if there is none.
///
/// # Errors
/// If that is not a number from 1 on.
pub fn number(name: &str, default: usize) -> Result<usize, String> {
    let Some(text) = argument(name) else {
        return Ok(default);
    };
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("`{name} {text}`: not a number from 1 on"))
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
