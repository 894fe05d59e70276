//! The checks that a launch may ask for and their messages, and the state that blocks leave to each other.

use crate::common::Argument::{Read, Write};
use crate::common::{Gpu, beside, buffer, download, ends, launch, value};
use graph_emulator::{Access, Conditional, Fault, FaultKind, Footprint, Memory, Module, Options};

const ONE: [u32; 3] = [1, 1, 1];

fn gpu() -> Gpu {
    Gpu::new(include_str!("../kernels/checks.ptx"))
}

fn all_checks() -> Options {
    Options {
        check_uninitialized: true,
        check_shared_races: true,
        step_limit: Some(1_000_000),
        ..Options::default()
    }
}

/// The part of the message after the PTX line.
fn ending(fault: &Fault) -> String {
    let text = fault.to_string();
    text.split_once("): ")
        .map_or(text.clone(), |(_, ending)| ending.to_owned())
}

#[test]
fn divergent_barriers_are_named() {
    let gpu = gpu();
    let out = gpu.upload("out", &[0u32; 32]);
    let fault = gpu.fault("divergent", ONE, [32, 1, 1], &[Write(&out)]);
    assert!(matches!(fault.kind, FaultKind::DivergentBarrier(_)));
    assert_eq!(fault.source, Some(("checks.cu".into(), 9)));
    let expected = format!(
        "kernel `divergent`, block (0, 0, 0), thread (0, 0, 0), PTX line {} (checks.cu:9): divergent barrier: at barrier \
             0, threads of one warp wait at different instructions",
        fault.line
    );
    assert_eq!(fault.to_string(), expected);
}

#[test]
fn unwritten_shared_memory_is_found_where_asked() {
    let gpu = gpu();
    let out = gpu.upload("out", &[7u32; 64]);
    let launch = |options: &Options| gpu.launch_with("unwritten_shared", ONE, [64, 1, 1], 0, &[Write(&out)], options);
    launch(&Options::default()).unwrap();
    assert_eq!(download::<u32>(&out)[4..7], [4, 0, 6]);
    let fault = launch(&all_checks()).unwrap_err();
    let expected = ([5, 0, 0], Some(21));
    assert_eq!((fault.thread, fault.source.as_ref().map(|source| source.1)), expected);
    let expected = "load of 4 bytes at offset 20 of shared memory, which nothing has written";
    assert_eq!(ending(&fault), expected);
}

#[test]
fn forgotten_memory_must_be_written_before_it_is_read() {
    let gpu = gpu();
    let (input, out) = (gpu.upload("in", &[1u32; 64]), gpu.upload("out", &[0u32; 64]));
    let launch = |from, to, threads, options: &Options| {
        gpu.launch_with("copy", ONE, [threads, 1, 1], 0, &[Read(from), Write(to)], options)
    };
    launch(&input, &out, 64, &all_checks()).unwrap();
    input.forget_contents().unwrap();
    out.forget_contents().unwrap();
    let fault = launch(&input, &out, 64, &all_checks()).unwrap_err();
    let expected = "load of 4 bytes at offset 0 of `argument 0`, which nothing has written";
    assert_eq!(ending(&fault), expected);
    // The host writes some of it, a kernel copies that, and a copy of unwritten bytes is unwritten too.
    input.write(0, &[1; 40]).unwrap();
    launch(&input, &out, 10, &all_checks()).unwrap();
    assert_eq!(launch(&input, &out, 11, &all_checks()).unwrap_err().thread, [10, 0, 0]);
    let other = gpu.upload("other", &[0u32; 64]);
    launch(&out, &other, 10, &all_checks()).unwrap();
    other.forget_contents().unwrap();
    other.copy_from(0, &out, 20, 100).unwrap();
    launch(&other, &input, 5, &all_checks()).unwrap();
    assert_eq!(launch(&other, &input, 6, &all_checks()).unwrap_err().thread, [5, 0, 0]);
    // This launch checked nothing, so all of it may have been written.
    launch(&input, &out, 1, &Options::default()).unwrap();
    launch(&out, &other, 64, &all_checks()).unwrap();
}

#[test]
fn allocations_within_another_share_bytes_and_nothing_else() {
    let gpu = gpu();
    let whole = gpu.upload("whole", &[7u32; 64]);
    let within = |name: &str, offset| gpu.memory.allocate_within(name, &whole, offset, 64).unwrap();
    let (a, b, next) = (within("a", 64), within("b", 64), within("next", 128));
    let input = gpu.upload("in", &[1u32; 64]);
    let launch = |from, to, threads, options: &Options| {
        gpu.launch_with("copy", ONE, [threads, 1, 1], 0, &[Read(from), Write(to)], options)
    };
    // The next one begins right after it, in the same bytes, and is passed too. Still this one keeps its end.
    let fault = launch(&next, &a, 17, &Options::default()).unwrap_err();
    assert!(ending(&fault).contains("`argument 0`, which has 64 bytes"), "{fault}");
    launch(&input, &a, 16, &Options::default()).unwrap();
    assert_eq!(download::<u32>(&b), [1; 16]);
    assert_eq!(download::<u32>(&whole)[15..33], [&[7][..], &[1; 16], &[7]].concat());

    // Each remembers for itself which bytes were written.
    a.forget_contents().unwrap();
    b.forget_contents().unwrap();
    launch(&input, &a, 16, &all_checks()).unwrap();
    launch(&a, &next, 16, &all_checks()).unwrap();
    let fault = launch(&b, &next, 16, &all_checks()).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::Uninitialized(_)), "{fault}");

    // A launch that touches the same bytes is found, whatever the address.
    let mut footprint = Footprint::new();
    footprint.read(b.home() + 60, 4);
    let options = beside(footprint);
    assert!(matches!(
        launch(&input, &a, 16, &options).unwrap_err().kind,
        FaultKind::Unordered { .. }
    ));
    launch(&input, &next, 16, &options).unwrap();

    assert!(gpu.memory.allocate_within("c", &whole, 200, 64).is_err());
    assert!(gpu.memory.allocate_within("c", &whole, 6, 8).is_err());
    drop(whole);
    launch(&a, &input, 16, &Options::default()).unwrap();
}

#[test]
fn races_on_shared_memory_name_both_threads() {
    let gpu = gpu();
    let out = gpu.upload("out", &[0u32; 64]);
    let neighbour = |ordered: u32, threads| {
        let arguments = [Write(&out), value(ordered)];
        gpu.launch_with("neighbour", ONE, [threads, 1, 1], 0, &arguments, &all_checks())
    };
    let fault = neighbour(0, 64).unwrap_err();
    let FaultKind::Race { other_line, .. } = fault.kind else {
        panic!("{fault}")
    };
    let wanted = ([0, 0, 0], Some(45));
    assert_eq!((fault.thread, fault.source.as_ref().map(|source| source.1)), wanted);
    let wanted = format!(
        "load of 4 bytes at offset 4 of shared memory races with a store by thread (1, 0, 0), PTX line {other_line}: no \
             barrier is between them"
    );
    assert_eq!(ending(&fault), wanted);
    neighbour(1, 64).unwrap();
    neighbour(2, 64).unwrap();
    let expected: Vec<u32> = (0..64).map(|thread| thread ^ 1).collect();
    assert_eq!(download::<u32>(&out), expected);
}

/// Runs code of two warps on `[data]` and the address of the thread's word there, with the check of device memory.
fn run_on_device_memory(code: &str) -> Result<(), Fault> {
    let text = format!(
        ".version 8.0
         .target sm_80
         .address_size 64
         .visible .entry k(.param .u64 out) {{
             .reg .pred p; .reg .b32 t, v; .reg .b64 data, own;
             ld.param.u64 data, [out];
             mov.u32 t, %tid.x;
             mad.wide.u32 own, t, 4, data;
             setp.eq.u32 p, t, 0;
             {code}
             ret;
         }}"
    );
    let gpu = Gpu::new(&text);
    let out = gpu.upload("out", &[0u32; 80]);
    let options = Options {
        check_device_races: true,
        ..Options::default()
    };
    gpu.launch_with("k", ONE, [64, 1, 1], 0, &[Write(&out)], &options)
}

#[test]
fn races_on_device_memory_name_both_threads() {
    let fault = run_on_device_memory("st.global.u32 [own], t;\nld.global.u32 v, [own+4];").unwrap_err();
    assert_eq!(fault.thread, [0, 0, 0]);
    let message = "load of 4 bytes at offset 4 of `argument 0` races with a store by thread (1, 0, 0), PTX line 10: no \
                   barrier is between them";
    ends(&fault, message);
    for right in [
        "st.global.u32 [own], t; bar.sync 0; ld.global.u32 v, [own+4];",
        "red.global.add.u32 [data], 1;",
        "st.global.u32 [data], 7;",
        "@!p bra WAIT; st.global.u32 [data+4], 5; st.volatile.global.u32 [data], 1; bra DONE;
         WAIT: ld.volatile.global.u32 v, [data]; setp.eq.u32 p, v, 0; @p bra WAIT; ld.global.u32 v, [data+4]; DONE:",
    ] {
        run_on_device_memory(right).unwrap_or_else(|fault| panic!("{right}: {fault}"));
    }
}

#[test]
fn a_thread_is_among_the_members_that_it_names() {
    let fault = run_on_device_memory("shfl.sync.idx.b32 v, t, 0, 31, 0xFF;").unwrap_err();
    let message = "divergent barrier: lane 8 takes part in an operation of the warp whose mask 0xff leaves it out";
    ends(&fault, message);
    run_on_device_memory("setp.ge.u32 p, t, 8; @p bra OUT; shfl.sync.idx.b32 v, t, 0, 31, 0xFF; OUT:").unwrap();
}

#[test]
fn one_barrier_a_round_is_too_few() {
    let gpu = gpu();
    let out = gpu.upload("out", &[0u32; 128]);
    for threads in [64, 96, 128] {
        let rounds = |both: u32| {
            let arguments = [Write(&out), value(both)];
            gpu.launch_with("rounds", ONE, [threads, 1, 1], 0, &arguments, &all_checks())
        };
        rounds(1).unwrap();
        let fault = rounds(0).unwrap_err();
        assert!(matches!(fault.kind, FaultKind::Race { .. }), "{fault}");
    }
}

#[test]
fn atomics_and_locks_do_not_race() {
    let gpu = gpu();
    let out = gpu.upload("out", &[0u32; 1]);
    for threads in [32, 64, 100] {
        let counter = |how: u32| {
            let arguments = [Write(&out), value(how)];
            gpu.launch_with("counter", ONE, [threads, 1, 1], 0, &arguments, &all_checks())
        };
        assert!(matches!(counter(0).unwrap_err().kind, FaultKind::Race { .. }));
        for how in [1, 2, 3] {
            counter(how).unwrap();
            assert_eq!(download::<u32>(&out), [threads]);
        }
    }
}

#[test]
fn stores_of_one_value_do_not_race() {
    let gpu = gpu();
    let out = gpu.upload("out", &[0u32; 1]);
    let launch = |own: u32| {
        let arguments = [Write(&out), value(own)];
        gpu.launch_with("same_place", ONE, [64, 1, 1], 0, &arguments, &all_checks())
    };
    launch(0).unwrap();
    let fault = launch(1).unwrap_err();
    assert_eq!(fault.thread, [1, 0, 0]);
    let part = "races with a store by thread (0, 0, 0)";
    assert!(fault.to_string().contains(part), "{fault}");
}

#[test]
fn footprints_are_exact_and_keep_others_out() {
    let gpu = gpu();
    // Footprints name the bytes as their owner does.
    let whole = gpu.upload("whole", &[0u32; 96]);
    let out = gpu.memory.allocate_within("out", &whole, 64, 256).unwrap();
    let input = gpu.upload("in", &[1u32; 64]);
    let buffers = [
        buffer("input", &input, Access::Read),
        buffer("output", &out, Access::ReadWrite),
    ];
    let run = |kernel_out: u64, options: &Options| {
        let arguments = [&input.address().to_le_bytes()[..], &kernel_out.to_le_bytes()];
        let launch = launch(ONE, [10, 1, 1], &arguments, &buffers, options);
        gpu.module.run("copy", &launch)
    };
    let record = Options {
        record_footprint: true,
        ..Options::default()
    };
    let first = run(out.address() + 8, &record).unwrap().footprint;
    let (from, to) = (input.address(), whole.address() + 64);
    assert_eq!(first.reads(), std::slice::from_ref(&(from..from + 40)));
    assert_eq!(first.writes(), std::slice::from_ref(&(to + 8..to + 48)));
    let against = |footprint: Footprint| beside(footprint);
    run(out.address() + 48, &against(first.clone())).unwrap();
    let fault = run(out.address() + 40, &against(first)).unwrap_err();
    assert_eq!(
        ending(&fault),
        "store of 4 bytes at offset 40 of `output`, which node `b` writes, and neither comes before the other"
    );
    let mut reader = Footprint::new();
    reader.read(out.home(), 4);
    let fault = run(out.address(), &against(reader)).unwrap_err();
    let expected = ([0, 0, 0], Some(31));
    assert_eq!((fault.thread, fault.source.map(|source| source.1)), expected);
    let mut writer = Footprint::new();
    writer.write(input.address() + 13, 1);
    let fault = run(out.address(), &against(writer)).unwrap_err();
    let part = "load of 4 bytes at offset 12 of `input`, which node `b` writes";
    assert!(fault.to_string().contains(part));
}

#[test]
fn waiting_for_a_block_that_never_starts_ends() {
    let gpu = gpu();
    let out = gpu.upload("out", &[0u32; 1]);
    let options = Options {
        threads: Some(1),
        step_limit: Some(100_000),
        ..Options::default()
    };
    let fault = gpu
        .launch_with("wait_for_later", [2, 1, 1], ONE, 0, &[Write(&out)], &options)
        .unwrap_err();
    assert_eq!((&fault.kind, fault.block), (&FaultKind::StepLimit(100_000), [0, 0, 0]));
    let limit = "more than 100000 warp instructions, its limit: does a loop never end, or wait for a block that has not \
                 started?";
    ends(&fault, limit);
}

#[test]
fn blocks_leave_nothing_to_each_other() {
    let gpu = gpu();
    for threads in [1, 2] {
        let out = gpu.upload("out", &[9u32; 40 * 64]);
        let options = Options {
            threads: Some(threads),
            ..Options::default()
        };
        gpu.launch_with("leaks", [40, 1, 1], [64, 1, 1], 0, &[Write(&out)], &options)
            .unwrap();
        let results = download::<u32>(&out);
        let first: Vec<u32> = (0..64).map(|thread| 3 * (thread + 1000) + 1).collect();
        assert_eq!(results[..64], first);
        assert!(results[64..].iter().all(|&result| result == 0));
    }
}

#[test]
fn functions_take_and_return_registers() {
    let gpu = gpu();
    let out = gpu.upload("out", &[0u32; 120]);
    gpu.run("registers", 1, 40, &[Write(&out)]);
    let results = download::<u32>(&out);
    for thread in 0..40u32 {
        let index = thread as usize;
        let factorial = (1..=thread % 8).product::<u32>();
        let expected = [6 * thread + 7, 10 * thread, factorial];
        assert_eq!([results[index], results[40 + index], results[80 + index]], expected);
    }
}

#[test]
fn kernels_allocate_and_free() {
    let gpu = gpu();
    let out = gpu.upload("out", &[9u32; 64]);
    for _ in 0..3 {
        gpu.run("heap", 8, 64, &[Write(&out), value(0u32)]);
        assert_eq!(download::<u32>(&out), (0..64).collect::<Vec<_>>());
    }
    // Several launches may get the same block of the heap, so footprints leave the heap out.
    let arguments = [&out.address().to_le_bytes()[..], &0u32.to_le_bytes()];
    let buffers = [buffer("out", &out, Access::ReadWrite)];
    let options = Options {
        record_footprint: true,
        ..Options::default()
    };
    let launch = launch(ONE, [64, 1, 1], &arguments, &buffers, &options);
    let footprint = gpu.module.run("heap", &launch).unwrap().footprint;
    let written = out.address()..out.address() + 256;
    assert_eq!(footprint.writes(), std::slice::from_ref(&written));
    assert!(footprint.reads().is_empty());
    let fault = gpu.fault("heap", ONE, ONE, &[Write(&out), value(1u32)]);
    assert!(matches!(fault.kind, FaultKind::InvalidFree(_)));
    ends(&fault, "which `malloc` did not return");
}

#[test]
fn conditionals_are_reported_in_the_order_of_blocks() {
    let memory = Memory::new();
    let module = Module::load(&memory, include_str!("../kernels/conditional.ptx")).unwrap();
    let (arguments, options) = ([&40u64.to_le_bytes()[..]], Options::default());
    let launch = launch([3, 1, 1], ONE, &arguments, &[], &options);
    let expected = [0, 1, 2].map(|block| Conditional {
        handle: 40 + block,
        value: 100 + block as u32,
    });
    assert_eq!(module.run("set", &launch).unwrap().conditionals, expected);
}
