//! Every kernel of a module that loads runs or faults, with and without checks.
#![no_main]

use graph_emulator::{Access, Buffer, Launch, Memory, Module, Options};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let memory = Memory::new();
    let Ok(module) = Module::load(&memory, text) else {
        return;
    };
    let Ok(data) = memory.allocate("data", 4096) else {
        return;
    };
    let parsed = graph_ptx::parse(text).expect("what was loaded was parsed");
    let checks = text.len().is_multiple_of(2);
    let options = Options {
        step_limit: Some(10_000),
        threads: Some(1),
        check_uninitialized: checks,
        check_shared_races: checks,
        record_footprint: checks,
        ..Options::default()
    };
    for function in &parsed.functions {
        let Some(kernel) = module.kernel(&function.name) else {
            continue;
        };
        let arguments: Vec<Vec<u8>> = kernel
            .parameters()
            .iter()
            .map(|parameter| {
                let mut bytes = data.address().to_le_bytes().to_vec();
                bytes.resize(parameter.size.min(1 << 16), 0);
                bytes
            })
            .collect();
        let arguments: Vec<&[u8]> = arguments.iter().map(Vec::as_slice).collect();
        let buffers = [Buffer {
            name: "data",
            address: data.address(),
            len: data.len(),
            access: Access::ReadWrite,
        }];
        let launch = Launch {
            grid: [2, 1, 1],
            block: [40, 1, 1],
            shared_bytes: 64,
            arguments: &arguments,
            buffers: &buffers,
            options: &options,
        };
        if let Err(fault) = module.launch(&function.name, &launch) {
            assert!(!fault.to_string().is_empty());
        }
    }
});
