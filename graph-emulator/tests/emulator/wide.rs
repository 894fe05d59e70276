//! Registers of 128 bits, and accesses to 16 bytes in one.

use crate::common::Argument::Write;
use crate::common::{Gpu, download};
use graph_emulator::{Memory, Module};

fn module(kernels: &str) -> String {
    format!(".version 8.4\n.target sm_90\n.address_size 64\n{kernels}")
}

/// Each thread swaps the halves of 16 bytes in global memory, which go through shared and local memory.
const SWAP: &str = "
.visible .entry swap(.param .u64 data) {
    .reg .b32 %r<2>;
    .reg .b64 %rd<4>, %x, %y;
    .reg .b128 %v, %w;
    .shared .align 16 .b8 between[512];
    .local .align 16 .b8 own[16];
    mov.u32 %r0, %tid.x;
    shl.b32 %r0, %r0, 4;
    cvt.u64.u32 %rd0, %r0;
    ld.param.u64 %rd1, [data];
    add.u64 %rd1, %rd1, %rd0;
    mov.u64 %rd2, between;
    add.u64 %rd2, %rd2, %rd0;
    ld.global.b128 %v, [%rd1];
    st.shared.b128 [%rd2], %v;
    ld.volatile.shared.b128 %w, [%rd2];
    st.local.b128 [own], %w;
    ld.local.b128 %v, [own];
    mov.b128 %w, %v;
    mov.b128 {%x, %y}, %w;
    mov.b128 %v, {%y, %x};
    st.relaxed.gpu.global.b128 [%rd1], %v;
    ret;
}";

#[test]
fn registers_of_128_bits_are_moved_loaded_and_stored() {
    let gpu = Gpu::new(&module(SWAP));
    let numbers: Vec<u64> = (0..64).map(|number| number << 40 | number).collect();
    let data = gpu.upload("data", &numbers);
    gpu.run("swap", 1, 32, &[Write(&data)]);
    let swapped: Vec<u64> = numbers.chunks(2).flat_map(|pair| [pair[1], pair[0]]).collect();
    assert_eq!(download::<u64>(&data), swapped);
    let fault = gpu.fault("swap", [1; 3], [33, 1, 1], &[Write(&data)]);
    assert!(fault.to_string().contains("load of 16 bytes at offset 512"), "{fault}");
    let text = module(SWAP).replace("add.u64 %rd1, %rd1, %rd0;", "add.u64 %rd1, %rd1, 8;");
    let gpu = Gpu::new(&text);
    let data = gpu.upload("data", &numbers);
    let fault = gpu.fault("swap", [1; 3], [1; 3], &[Write(&data)]);
    assert!(fault.to_string().contains("aligned"), "{fault}");
}

/// Two blocks store 16 bytes with equal halves to one place, and count the loads whose halves differ.
const TORN: &str = "
.visible .entry torn(.param .u64 place, .param .u64 torn) {
    .reg .pred %p;
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>, %x, %y;
    .reg .b128 %v;
    ld.param.u64 %rd0, [place];
    ld.param.u64 %rd1, [torn];
    mov.u32 %r0, %ctaid.x;
    mov.u32 %r1, 0;
again:
    cvt.u64.u32 %x, %r1;
    mov.b128 %v, {%x, %x};
    st.relaxed.gpu.global.b128 [%rd0], %v;
    ld.relaxed.gpu.global.b128 %v, [%rd0];
    mov.b128 {%x, %y}, %v;
    setp.ne.u64 %p, %x, %y;
    @%p red.global.add.u32 [%rd1], 1;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p, %r1, 3000;
    @%p bra again;
    ret;
}";

#[test]
fn strong_accesses_to_128_bits_are_indivisible() {
    let gpu = Gpu::new(&module(TORN));
    let (place, torn) = (gpu.upload("place", &[0_u64; 2]), gpu.upload("torn", &[0_u32]));
    gpu.run("torn", 2, 1, &[Write(&place), Write(&torn)]);
    assert_eq!(download::<u32>(&torn), [0]);
}

#[test]
fn other_instructions_refuse_registers_of_128_bits() {
    let refused = |code: &str| {
        let text = module(&format!(
            ".visible .entry k() {{ .reg .b64 %x<2>, %y; .reg .b32 %r; .reg .b128 %v, %w; {code} ret; }}"
        ));
        let memory = Memory::new();
        let module = Module::load(&memory, &text).unwrap();
        let kernel = module.kernel("k").unwrap();
        kernel.refused().map(ToString::to_string).unwrap_or_default()
    };
    assert_eq!(refused("mov.b128 %v, %w; mov.b128 {%y, _}, %w;"), "");
    for (code, why) in [
        (
            "add.u64 %y, %v, %v;",
            "a register of 128 bits is no operand of this instruction",
        ),
        (
            "mov.b64 %v, %y;",
            "a register of 128 bits is no operand of this instruction",
        ),
        ("mov.b128 %v, %y;", "a register of 128 bits is expected"),
        (
            "mov.b128 %v, {%r, %r};",
            "a register has not the width of the instruction's type",
        ),
        ("ld.global.b128 %y, [%y];", "a register of 128 bits is expected"),
        (
            "ld.global.b64 %v, [%y];",
            "a register of 128 bits is no operand of this instruction",
        ),
        (
            "ld.global.b128 %v, [%w];",
            "a register of 128 bits is no operand of this instruction",
        ),
    ] {
        let message = refused(code);
        assert!(message.contains(why), "{code} {message}");
    }
}
