//! Every kernel of a module that loads runs or faults, with and without checks.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../graph-emulator/tests/common/rubbish.rs"]
mod rubbish;

fuzz_target!(|text: &str| {
    let Ok(parsed) = graph_ptx::parse(text) else {
        return;
    };
    let names = parsed.functions.iter().map(|function| function.name.as_str());
    rubbish::launch_all(text, names, 10_000);
});
