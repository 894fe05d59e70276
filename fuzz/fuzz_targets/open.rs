//! A graph file is refused or opened, whatever it says. `graph-runtime/tests/statements/files_mutated.rs` also asserts
//! that what is opened is sound.
#![no_main]

use graph_plan::GraphFile;
use graph_runtime::{Device, Loaded};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|content: &[u8]| {
    if let Err(error) = Loaded::from_bytes(&Device::emulator(), "fuzzed", &GraphFile::seal(content)) {
        assert!(!error.to_string().is_empty());
    }
});
