//! The version of rustc.

use std::env;
use std::process::Command;

/// The rustc whose own words are in the `.stderr` files that have any.
const BLESSED: &str = "rustc 1.95.";

/// Whether messages can be compared that have words of rustc: every version words them anew.
pub(crate) fn is_blessed() -> bool {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output().expect("rustc runs");
    output.stdout.starts_with(BLESSED.as_bytes())
}
