//! Constant expressions, sums and literals as `ptxas` reads them: `kernels/ptxas.txt`, which it confirms where it was
//! fetched.

use std::path::Path;
use std::process::Command;

use graph_emulator::{Memory, Module};

use crate::common::Argument::Write;
use crate::common::{Gpu, download, ptxas, value};

const TABLE: &str = include_str!("../kernels/ptxas.txt");

/// A line of the table.
#[derive(Debug)]
enum Line {
    Same(&'static str, &'static str),
    Taken(&'static str),
    Refused(&'static str),
}

fn table() -> Vec<Line> {
    let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
    let line = |line: &'static str| match (line.split_once(" === "), line.split_once(' ').unwrap()) {
        (Some((code, plain)), _) => Line::Same(code, plain),
        (None, ("yes", code)) => Line::Taken(code),
        (None, (_, code)) => Line::Refused(code),
    };
    lines.map(line).collect()
}

/// A kernel that runs the code on registers with some values, and stores the registers that it may write.
fn module(code: &str) -> String {
    format!(
        ".version 8.4
         .target sm_90
         .address_size 64
         .visible .entry k(.param .u64 param_0, .param .u64 param_1, .param .u32 param_2) {{
             .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .f64 %d<9>; .reg .b64 %rd<9>;
             .shared .align 8 .b8 sm[256];
             ld.param.u64 %rd8, [param_0];
             add.u64 %rd7, %rd8, 64;
             ld.u64 %rd1, [%rd8+32]; ld.u64 %rd3, [%rd8+40]; ld.u32 %r3, [%rd8+48];
             ld.f32 %f2, [%rd8+52]; ld.f32 %f3, [%rd8+56]; cvt.f64.f32 %d2, %f2; mov.b16 %h2, 0; setp.eq.u32 %p1, %r3, 7;
             mov.u64 %rd2, 0; mov.u32 %r1, 0; mov.f32 %f1, 0.0; mov.f64 %d1, 0.0;
             {code}
             st.u64 [%rd8], %rd2; st.u32 [%rd8+8], %r1; st.f32 [%rd8+16], %f1; st.f64 [%rd8+24], %d1;
             ret;
         }}
         .visible .entry other() {{ ret; }}\n"
    )
}

/// The memory after a run of the code.
fn result(code: &str) -> Vec<u32> {
    let gpu = Gpu::new(&module(code));
    let words: Vec<u32> = (0..24).map(|index| 0x4000_0003 + 5 * index).collect();
    let data = gpu.upload("data", &words);
    let arguments = [Write(&data), value(0x0123_4567_89AB_CDEF_u64), value(77_u32)];
    let launched = gpu.launch("k", [1, 1, 1], [1, 1, 1], &arguments);
    launched.unwrap_or_else(|fault| panic!("{code}: {fault}"));
    download(&data)
}

#[test]
fn code_means_what_ptxas_takes_it_for() {
    for line in table() {
        match line {
            Line::Same(code, plain) => assert_eq!(result(code), result(plain), "{code}"),
            Line::Taken(code) => drop(result(code)),
            Line::Refused(code) => {
                let module = Module::load(&Memory::new(), &module(code)).unwrap();
                let refused = module.kernel("k").unwrap().refused();
                assert_eq!(refused.map(|error| error.line), Some(12), "{code}: {refused:?}");
                assert!(module.kernel("other").unwrap().refused().is_none());
            }
        }
    }
}

#[test]
fn reasons_are_told() {
    let reason = |code: &str, target: &str| {
        let module = Module::load(&Memory::new(), &module(code).replace("sm_90", target)).unwrap();
        module.kernel("k").unwrap().refused().unwrap().message.clone()
    };
    let expected = "an integer literal is no floating-point operand: write `1.0` for `1`";
    assert_eq!(reason("add.f32 %f1, %f2, 1;", "sm_90"), expected);
    let expected = "`elect.sync` needs `.target sm_90` or higher, and this module is for `sm_80`";
    assert_eq!(reason("elect.sync %r1|%p1, -1;", "sm_80"), expected);
    assert_eq!(reason("mov.u32 %r1, 7/0;", "sm_90"), "a division by zero");
}

/// The machine code, if `ptxas` takes the code.
fn assembled(ptxas: &Path, code: &str) -> Option<Vec<u8>> {
    let folder = std::env::temp_dir().join(format!("graph-emulator-ptxas-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("k.ptx"), module(code)).unwrap();
    let mut command = Command::new(ptxas);
    command.args(["--compile-only", "--gpu-name=sm_90", "--output-file=k.cubin", "k.ptx"]);
    let output = command.current_dir(&folder).output().unwrap();
    let binary = output
        .status
        .success()
        .then(|| std::fs::read(folder.join("k.cubin")).unwrap());
    std::fs::remove_dir_all(&folder).unwrap();
    binary
}

#[test]
fn ptxas_confirms_the_table() {
    let Some(ptxas) = ptxas() else {
        return eprintln!("ptxas was not fetched: `cargo xtask ptxas` does");
    };
    for line in table() {
        match line {
            Line::Same(code, plain) => {
                let machine_code = assembled(&ptxas, code);
                assert!(machine_code.is_some(), "{code}");
                assert!(machine_code == assembled(&ptxas, plain), "{code}");
            }
            Line::Taken(code) => assert!(assembled(&ptxas, code).is_some(), "{code}"),
            Line::Refused(code) => assert!(assembled(&ptxas, code).is_none(), "{code}"),
        }
    }
}
