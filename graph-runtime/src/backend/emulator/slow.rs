//! The warning that kernels run slowly because the emulator is not optimised in this build.

use graph_emulator::IS_UNOPTIMIZED;
use std::sync::Once;

const WARNING: &str = "kernels run on the CPU dozens of times slower than they could, since this build does not optimise \
                       the emulator: add the lines `[profile.dev.package.graph-emulator]` and `opt-level = 2` to the \
                       Cargo.toml of your workspace (CUDA_GRAPH_QUIET=1 silences this)";

/// Warns once in a process, at the first launch on the emulator: through `tracing` if a subscriber takes warnings, else
/// on standard error.
pub(super) fn warn() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let Some(warning) = warning(IS_UNOPTIMIZED, std::env::var_os("CUDA_GRAPH_QUIET").is_some()) else {
            return;
        };
        if tracing::enabled!(target: "graph_runtime", tracing::Level::WARN) {
            tracing::warn!(target: "graph_runtime", "{warning}");
        } else {
            eprintln!("graph-runtime: {warning}");
        }
    });
}

fn warning(unoptimized: bool, quiet: bool) -> Option<&'static str> {
    (unoptimized && !quiet).then_some(WARNING)
}

#[cfg(test)]
mod tests {
    use super::{IS_UNOPTIMIZED, warning};

    #[test]
    fn builds_without_optimisation_are_told_what_to_write() {
        let lines = ["[profile.dev.package.graph-emulator]", "opt-level = 2"];
        let warning = |unoptimized, quiet| warning(unoptimized, quiet).unwrap_or_default();
        assert!(lines.iter().all(|line| warning(true, false).contains(line)));
        assert!(!warning(true, false).contains('\n'));
        assert_eq!((warning(true, true), warning(false, false)), ("", ""));
        const { assert!(!IS_UNOPTIMIZED) };
    }
}
