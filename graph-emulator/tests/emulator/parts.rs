//! Modules that are loaded for some of their kernels, of PTX that is parsed once.

use crate::common::modules::many_kernels;
use crate::common::{buffer, download, launch};
use graph_emulator::{Access, Memory, Module, Options, Parsed};
use std::time::{Duration, Instant};

const HEAD: &str = ".version 8.4\n.target sm_70\n.address_size 64\n";

/// A kernel that calls a function, a kernel that counts in a variable, and one that the emulator does not have.
const SOURCE: &str = "
.visible .global .align 4 .u32 counter = 5;
.func (.reg .u32 %out) twice(.reg .u32 %in) {
    add.u32 %out, %in, %in;
    ret;
}
.visible .entry doubled(.param .u64 data) {
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [data];
    ld.global.u32 %r1, [%rd1];
    call (%r2), twice, (%r1);
    st.global.u32 [%rd1], %r2;
    ret;
}
.visible .entry counted(.param .u64 data) {
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [data];
    ld.global.u32 %r1, [counter];
    add.u32 %r1, %r1, 1;
    st.global.u32 [counter], %r1;
    st.global.u32 [%rd1], %r1;
    ret;
}
.visible .entry strange() {
    unheard.of.u32;
    ret;
}
";

/// Launches a kernel with one thread and four bytes of memory that hold 21. Returns what they hold then.
fn run(memory: &Memory, module: &Module, kernel: &str) -> u32 {
    let data = memory.allocate("data", 4).unwrap();
    data.write(0, &21_u32.to_le_bytes()).unwrap();
    let (address, options) = (data.address().to_le_bytes(), Options::default());
    let (arguments, buffers) = ([&address[..]], [buffer("data", &data, Access::ReadWrite)]);
    let launch = launch([1; 3], [1; 3], &arguments, &buffers, &options);
    module.launch(kernel, &launch).unwrap();
    download::<u32>(&data)[0]
}

#[test]
fn kernels_that_were_not_asked_for_are_refused() {
    let parsed = Parsed::new(&format!("{HEAD}{SOURCE}")).unwrap();
    let memory = Memory::new();
    let module = Module::of(&memory, &parsed, Some(&["doubled", "nobody"])).unwrap();
    assert_eq!(run(&memory, &module, "doubled"), 42, "what it calls is there");
    for other in ["counted", "strange"] {
        let refused = module.kernel(other).unwrap().refused().unwrap().to_string();
        assert!(refused.contains("was not asked for"), "{refused}");
    }
    assert!(module.kernel("nobody").is_none());
    let all = Module::of(&memory, &parsed, None).unwrap();
    assert!(all.kernel("counted").unwrap().refused().is_none());
    let refused = all.kernel("strange").unwrap().refused().unwrap().to_string();
    assert!(refused.contains("unknown instruction"), "{refused}");
}

#[test]
fn modules_of_one_source_have_variables_of_their_own() {
    let parsed = Parsed::new(&format!("{HEAD}{SOURCE}")).unwrap();
    let memory = Memory::new();
    let [first, second] = [(); 2].map(|()| Module::of(&memory, &parsed, Some(&["counted"])).unwrap());
    assert_eq!(run(&memory, &first, "counted"), 6);
    assert_eq!(run(&memory, &first, "counted"), 7);
    assert_eq!(run(&memory, &second, "counted"), 6);
}

/// PTX of 1.8 MB, of 600 kernels, takes long to parse. To load one kernel of it again takes 2 ms at most.
#[test]
fn a_kernel_of_a_large_source_is_loaded_in_two_milliseconds() {
    const MOST: Duration = Duration::from_millis(2);
    let text = many_kernels(600, 1_800_000);
    let parsed = Parsed::new(&text).unwrap();
    let memory = Memory::new();
    let load = || {
        let start = Instant::now();
        let module = Module::of(&memory, &parsed, Some(&["kernel_300"])).unwrap();
        let time = start.elapsed();
        assert!(module.kernel("kernel_300").unwrap().refused().is_none());
        time
    };
    load(); // finds out who calls whom
    let least = (0..35).map(|_| load()).min().unwrap();
    println!("{} bytes: {least:?}", text.len());
    assert!(graph_emulator::IS_UNOPTIMIZED || least <= MOST, "{least:?}");
}
