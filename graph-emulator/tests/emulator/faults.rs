//! Kernels that do what they must not, and the messages of their faults.

use crate::common::Argument::{Bytes, Read, Write};
use crate::common::{Gpu, download, ends, launch, value};
use graph_emulator::{Access, Buffer, FaultKind, Memory, Module, Options};
use std::time::{Duration, Instant};

const ONE: [u32; 3] = [1, 1, 1];
const WARP: [u32; 3] = [32, 1, 1];

fn gpu() -> Gpu {
    Gpu::new(include_str!("../kernels/faults.ptx"))
}

#[test]
fn out_of_bounds_names_everything() {
    let gpu = gpu();
    let (input, out) = (gpu.upload("in", &[0f32; 32]), gpu.upload("out", &[0f32; 72]));
    let fault = gpu.fault("out_of_bounds", [4, 1, 1], [32, 1, 1], &[Read(&input), Write(&out)]);
    assert_eq!((fault.block, fault.thread), ([2, 0, 0], [8, 0, 0]));
    let (line, source) = (fault.line, fault.source.clone().unwrap());
    assert!(source.0.ends_with("faults.cu") && source.1 == 3);
    let expected = format!(
        "kernel `out_of_bounds`, block (2, 0, 0), thread (8, 0, 0), PTX line {line} ({}:3): store of 4 bytes at \
             offset 288 of `argument 1`, which has 288 bytes: 4 bytes past its end",
        source.0
    );
    assert_eq!(fault.to_string(), expected);
    let fault = gpu.fault("before_start", ONE, WARP, &[Write(&out)]);
    ends(
        &fault,
        "offset -8 of `argument 0`, which has 288 bytes: 8 bytes before its start",
    );
}

#[test]
fn misaligned_and_null() {
    let gpu = gpu();
    let out = gpu.upload("out", &[0u8; 128]);
    let fault = gpu.fault("misaligned", ONE, WARP, &[Write(&out)]);
    assert_eq!(fault.thread, [3, 0, 0]);
    let expected = format!("store of 4 bytes at the misaligned address {:#x}", out.address() + 13);
    ends(&fault, &expected);
    let fault = gpu.fault("null_pointer", ONE, WARP, &[value(0u64)]);
    ends(&fault, "store of 4 bytes through a null pointer");
}

/// Generic addresses are taken, but of shared memory alone.
#[test]
fn matrices_have_their_rows_in_shared_memory() {
    let kernel = |code: &str| {
        format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n.reg .b32 %r<2>;\n\
             .reg .b64 %rd<2>;\nld.param.u64 %rd1, [p];\n{code}\nret;\n}}\n"
        )
    };
    for (code, operation) in [
        ("ldmatrix.sync.aligned.m8n8.x1.b16 {%r1}, [%rd1];", "load"),
        ("stmatrix.sync.aligned.m8n8.x1.b16 [%rd1], {%r1};", "store"),
    ] {
        let gpu = Gpu::new(&kernel(code));
        let out = gpu.upload("out", &[0u8; 128]);
        let fault = gpu.fault("k", ONE, WARP, &[Write(&out)]);
        let address = out.address();
        ends(
            &fault,
            &format!("{operation} of 16 bytes at address {address:#x}, which is not in shared memory"),
        );
    }
}

#[test]
fn read_only_not_passed_and_freed() {
    let gpu = gpu();
    let (input, out) = (gpu.upload("in", &[0u32; 32]), gpu.upload("out", &[0u32; 32]));
    let fault = gpu.fault("load", ONE, WARP, &[Read(&input), Read(&out)]);
    ends(&fault, "offset 0 of `argument 1`, which was passed for reading only");
    let secret = Bytes(input.address().to_le_bytes().to_vec());
    let fault = gpu.fault("load", ONE, WARP, &[secret, Write(&out)]);
    ends(
        &fault,
        "load of 4 bytes at offset 0 of `in`, which was not passed to the kernel",
    );
    let dangling = Bytes(input.address().to_le_bytes().to_vec());
    drop(input);
    let fault = gpu.fault("load", ONE, WARP, &[dangling, Write(&out)]);
    ends(&fault, "load of 4 bytes at offset 0 of `in`, which was freed");
}

#[test]
fn ranges_of_one_allocation_have_their_own_access() {
    let gpu = gpu();
    let all = gpu.upload("all", &[7u32; 64]);
    let launch = |input: u64, out: u64| {
        let half = |name, start, access| Buffer {
            name,
            address: all.address() + start,
            len: 128,
            access,
        };
        let buffers = [half("low", 0, Access::Read), half("high", 128, Access::ReadWrite)];
        let arguments = [
            &(all.address() + input).to_le_bytes()[..],
            &(all.address() + out).to_le_bytes()[..],
        ];
        let options = Options::default();
        let launch = launch(ONE, WARP, &arguments, &buffers, &options);
        gpu.module.launch("load", &launch)
    };
    // Loads may span both ranges; stores may not leave the writable one.
    launch(64, 128).unwrap();
    let fault = launch(0, 64).unwrap_err();
    let part = "offset 64 of `low`, which was passed for reading only";
    assert!(fault.to_string().contains(part), "{fault}");
    let fault = launch(0, 192).unwrap_err();
    let part = "offset 128 of `high`, which has 128 bytes: 4 bytes past";
    assert!(fault.to_string().contains(part), "{fault}");
    assert_eq!(fault.thread, [16, 0, 0]);
}

#[test]
fn shared_memory_has_bounds() {
    let gpu = gpu();
    let out = gpu.upload("out", &[0u32; 32]);
    let fault = gpu.fault("shared_overrun", ONE, WARP, &[Write(&out), value(4i32)]);
    assert_eq!(fault.thread, [28, 0, 0]);
    let part = "offset 128 of shared memory, which has 128 bytes: 4 bytes past its end";
    assert!(fault.to_string().contains(part));
}

#[test]
fn deadlocks_end() {
    let gpu = gpu();
    let out = gpu.upload("out", &[0u32; 64]);
    let fault = gpu.fault("warp_deadlock", ONE, WARP, &[Write(&out)]);
    let text = fault.to_string();
    let part = "deadlock: barrier 0 waits for 32 threads, and 24 have arrived; 8 threads wait for others";
    assert!(text.contains(part), "{text}");
    let fault = gpu.fault("deadlock", ONE, [64, 1, 1], &[Write(&out)]);
    let text = fault.to_string();
    let part = "barrier 0 waits for 64 threads, and 32 have arrived; barrier 1 waits for 64";
    assert!(text.contains(part), "{text}");
    let options = Options {
        step_limit: Some(10_000),
        ..Options::default()
    };
    let fault = gpu
        .launch_with("forever", ONE, WARP, 0, &[Write(&out)], &options)
        .unwrap_err();
    assert_eq!(fault.kind, FaultKind::StepLimit(10_000));
}

#[test]
fn launches_end_at_their_deadline() {
    let gpu = gpu();
    let soon = |millis| Some(Instant::now() + Duration::from_millis(millis));
    let began = Instant::now();
    // In lockstep, warps by themselves, blocks that take turns; and more blocks than would end in a day.
    let launches = [
        (0, [1, 1, 1], [32, 1, 1], false),
        (0, [1, 1, 1], [33, 1, 1], false),
        (0, [2, 1, 1], [32, 1, 1], true),
        (1, [i32::MAX as u32, 65535, 1], [32, 1, 1], false),
    ];
    for (end, grid, block, cooperative) in launches {
        let out = gpu.upload("out", &[end]);
        let options = Options {
            deadline: soon(50),
            cooperative,
            ..Options::default()
        };
        let launched = gpu.launch_with("forever", grid, block, 0, &[Write(&out)], &options);
        let fault = launched.unwrap_err();
        assert_eq!((&fault.kind, fault.line != 0), (&FaultKind::Late, true), "{fault}");
    }
    assert!(began.elapsed() < Duration::from_secs(600), "{:?}", began.elapsed());
    let options = Options {
        deadline: soon(600_000),
        ..Options::default()
    };
    let out = gpu.upload("out", &[1]);
    gpu.launch_with("forever", [9, 1, 1], WARP, 0, &[Write(&out)], &options)
        .unwrap();
}

#[test]
fn traps_and_deep_recursion() {
    let gpu = gpu();
    let out = gpu.upload("out", &[0u32; 64]);
    let fault = gpu.fault("trap", [2, 1, 1], [32, 1, 1], &[Write(&out)]);
    let wanted = (FaultKind::Trap, [0, 0, 0], [5, 0, 0]);
    assert_eq!((fault.kind, fault.block, fault.thread), wanted);
    gpu.run("overflow", 1, 1, &[Write(&out), value(500i32)]);
    let expected = (1..=500u32).fold(1, |deep: u32, n| n ^ deep.wrapping_mul(3));
    assert_eq!(download::<u32>(&out)[0], expected);
    let fault = gpu.fault("overflow", ONE, ONE, &[Write(&out), value(1_000_000i32)]);
    assert_eq!(fault.kind, FaultKind::StackOverflow);
}

#[test]
fn invalid_launches() {
    let gpu = gpu();
    let out = gpu.upload("out", &[0u32; 64]);
    let message = |kernel, grid, block, arguments: &[_]| gpu.fault(kernel, grid, block, arguments).to_string();
    let expected = "kernel `nothing` cannot be launched: the module has no such kernel";
    assert_eq!(message("nothing", ONE, ONE, &[]), expected);
    assert!(message("trap", ONE, ONE, &[]).ends_with("it takes 1 arguments, not 0"));
    assert!(message("trap", ONE, ONE, &[value(1u32)]).ends_with("argument 0 has 8 bytes, not 4"));
    assert!(message("trap", [0, 1, 1], [1, 1, 1], &[Write(&out)]).contains("must not be empty"));
    assert!(message("trap", ONE, [u32::MAX, u32::MAX, 2], &[Write(&out)]).contains("beyond 1024 threads"));
    assert!(message("trap", ONE, [1025, 1, 1], &[Write(&out)]).contains("beyond 1024 threads"));
}

#[test]
fn wrong_clusters_are_refused() {
    let load = |directives: &str| {
        let text = format!(".version 8.4\n.target sm_90\n.entry k() {directives} {{ ret; }}");
        Module::load(&Memory::new(), &text).unwrap()
    };
    let message = |directives: &str, grid: [u32; 3], cluster: Option<[u32; 3]>| {
        let options = Options {
            cluster,
            ..Options::default()
        };
        let launched = load(directives).launch("k", &launch(grid, WARP, &[], &[], &options));
        launched.map_or_else(|fault| fault.to_string(), |()| String::new())
    };
    let required = ".explicitcluster .reqnctapercluster 2, 1, 1";
    for (directives, grid, cluster, expected) in [
        (required, [2, 1, 1], None, ""),
        (required, [4, 3, 1], Some([2, 1, 1]), ""),
        (
            required,
            [3, 1, 1],
            None,
            "the grid [3, 1, 1] is not made of whole clusters [2, 1, 1]",
        ),
        (
            required,
            [4, 1, 1],
            Some([4, 1, 1]),
            "the cluster is [4, 1, 1], but `.reqnctapercluster` [2, 1, 1]",
        ),
        ("", [32, 1, 1], Some([16, 1, 1]), ""),
        (
            "",
            [32, 1, 1],
            Some([32, 1, 1]),
            "the cluster [32, 1, 1] has not 1 to 16 blocks",
        ),
        (
            "",
            [32, 1, 1],
            Some([1, 0, 1]),
            "the cluster [1, 0, 1] has not 1 to 16 blocks",
        ),
        (
            ".reqnctapercluster 2 .blocksareclusters",
            [2, 1, 1],
            None,
            "its grid counts clusters",
        ),
    ] {
        let found = message(directives, grid, cluster);
        assert!(found.contains(expected), "{found}");
        assert!(found.is_empty() == expected.is_empty(), "{found}");
    }
}

#[test]
fn unknown_instructions_are_named() {
    let text = include_str!("../kernels/faults.ptx").replacen("trap;", "wgmma.fence.sync.aligned;", 1);
    let module = Module::load(&Memory::new(), &text).unwrap();
    let error = module.kernel("trap").unwrap().refused().unwrap();
    assert_eq!(error.function.as_deref(), Some("trap"));
    let expected = format!(
        "unknown instruction: `wgmma.fence.sync.aligned` in `trap`, line {} of the PTX",
        error.line
    );
    assert_eq!(error.to_string(), expected);
    assert!(Module::load(&Memory::new(), "nonsense").is_err());
}

/// A module with a kernel of its own body after the header, and a kernel `fine` that stores 7.
fn with_fine(body: &str) -> Gpu {
    Gpu::new(&format!(
        ".version 8.4\n.target sm_90\n.address_size 64\n\
         .extern .global .u32 elsewhere;\n\
         .global .u32 here = 1;\n\
         .global .u64 pointer = elsewhere;\n\
         .global .u64 pointer_of_pointer = pointer;\n\
         .func unknown() {{\nfrobnicate.b32 1;\nret;\n}}\n\
         .func calls_unknown() {{\ncall unknown;\nret;\n}}\n\
         .global .u64 table[1] = {{calls_unknown}};\n\
         .entry broken(.param .u64 out) {{\n.reg .u64 p;\n.reg .u32 a;\n{body}\nret;\n}}\n\
         .entry fine(.param .u64 out) {{ .reg .u64 p; ld.param.u64 p, [out]; st.global.u32 [p], 7; ret; }}"
    ))
}

#[test]
fn a_kernel_is_refused_and_its_module_is_not() {
    // A body, and the reason.
    let cases = "\
wgmma.fence.sync.aligned; => unknown instruction: `wgmma.fence.sync.aligned` in `broken`, line 20
add.frob.u32 a, a, a; => unknown modifier `.frob`: `add.frob.u32` in `broken`, line 20
ld.global.u32 a, [elsewhere]; => `elsewhere` is external: linking is not supported: `ld.global.u32` in `broken`
ld.global.u64 p, [pointer_of_pointer]; => `pointer_of_pointer` holds the address of `pointer`, which is not known
call nowhere; => call of the unknown function `nowhere`: `call` in `broken`, line 20
call calls_unknown; => unknown instruction: `frobnicate.b32` in `unknown`, line 9
mov.u64 p, unknown; => unknown instruction: `frobnicate.b32` in `unknown`, line 9
ld.global.u64 p, [table]; => unknown instruction: `frobnicate.b32` in `unknown`, line 9
.shared .b8 big[999999999]; => `big` is too large in `broken`";
    for (body, expected) in cases.lines().map(|case| case.split_once(" => ").expect("a reason")) {
        let gpu = with_fine(body);
        let out = gpu.upload("out", &[0_u32]);
        gpu.run("fine", 1, 1, &[Write(&out)]);
        assert_eq!(download::<u32>(&out), [7]);
        assert!(gpu.module.kernel("fine").unwrap().refused().is_none());
        let refused = gpu.module.kernel("broken").unwrap().refused().unwrap();
        assert!(refused.to_string().starts_with(expected), "{refused}");
        let fault = gpu.fault("broken", [1; 3], [1; 3], &[Write(&out)]);
        assert!(matches!(fault.kind, FaultKind::Unsupported(_)));
        let expected = format!("kernel `broken` cannot run on the emulator: {refused}");
        assert_eq!(fault.to_string(), expected);
    }
    let gpu = with_fine("ld.global.u32 a, [here];");
    assert!(gpu.module.kernel("broken").unwrap().refused().is_none());
}

/// The address of a refused function may come through memory, so that no load-time check sees the call.
#[test]
fn a_refused_function_is_not_called_through_a_register() {
    let gpu = with_fine(
        ".reg .u64 f; ld.param.u64 f, [out];\n\
         pr: .callprototype _ ();\n\
         call f, pr;",
    );
    assert!(gpu.module.kernel("broken").unwrap().refused().is_none());
    // The first function of a module has this address.
    let fault = gpu.fault("broken", [1; 3], [1; 3], &[value(0x10_0000_u64)]);
    let FaultKind::Unsupported(error) = &fault.kind else {
        panic!("{fault}");
    };
    assert_eq!((error.function.as_deref(), error.line), (Some("unknown"), 9));
}
