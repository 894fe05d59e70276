//! The content of a graph file is read or refused, and what was read is written as the same file.
#![no_main]

use graph_plan::GraphFile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|content: &[u8]| match GraphFile::decode(&GraphFile::seal(content)) {
    Ok(file) => assert_eq!(GraphFile::decode(&file.encode()), Ok(file)),
    Err(error) => assert!(!error.to_string().is_empty()),
});
