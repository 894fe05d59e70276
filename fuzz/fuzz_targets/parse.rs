//! Any text is parsed or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    // Refusing is as good as parsing.
    let _ = graph_ptx::parse(text);
});
