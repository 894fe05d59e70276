//! Any text is loaded by the emulator or refused, with a message.
#![no_main]

use graph_emulator::{Memory, Module};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Err(error) = Module::load(&Memory::new(), text) {
        assert!(!error.to_string().is_empty());
    }
});
