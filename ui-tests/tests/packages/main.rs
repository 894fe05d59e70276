//! Packages that are made in the target folder and given to cargo.

mod cases;
mod generic;
mod once;
mod pasted;
mod paths;
mod messages;
#[path = "../package/mod.rs"]
mod package;
#[path = "../package/rustc.rs"]
mod rustc;

/// The programs of `src/bin/right/` compile without a message, and run.
#[test]
fn right_programs_run() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_right")).output();
    let output = output.expect("the program runs");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.lines().count() <= 1, "{text}");
}
