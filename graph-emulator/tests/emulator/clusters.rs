//! Clusters of several blocks: addresses in other blocks, and what goes wrong with them.

use crate::common::Argument::Write;
use crate::common::{Gpu, download};
use graph_emulator::{FaultKind, Options};

/// A kernel whose threads execute `code`, with its rank and the number of blocks of the cluster in registers, shared
/// memory at `word`, and `out` as the address of memory. Each thread stores `d` at its index in the launch.
fn gpu(directives: &str, code: &str) -> Gpu {
    Gpu::new(&format!(
        ".version 8.4
        .target sm_90
        .address_size 64
        .visible .entry k(.param .u64 out_param) {directives} {{
            .shared .align 8 .b8 word[64];
            .reg .b32 d, rank, blocks, t, i, at, there, next; .reg .b64 out, wide, element, generic; .reg .pred p;
            ld.param.u64 out, [out_param];
            mov.u32 rank, %cluster_ctarank;
            mov.u32 blocks, %cluster_nctarank;
            mov.u32 t, %tid.x;
            mov.u32 at, word;
            mov.u32 d, 0;
            {code}
            mov.u32 i, %ctaid.x;
            mad.lo.u32 i, i, 32, t;
            mul.wide.u32 wide, i, 4;
            add.u64 element, out, wide;
            st.global.u32 [element], d;
            ret;
        }}"
    ))
}

/// The numbers that 32 threads in each of four blocks store, in clusters of `cluster` blocks.
fn run(gpu: &Gpu, options: &Options) -> Result<Vec<u32>, String> {
    let out = gpu.upload("out", &[0_u32; 128]);
    let launched = gpu.launch_with("k", [4, 1, 1], [32, 1, 1], 0, &[Write(&out)], options);
    launched.map_err(|fault| fault.to_string())?;
    Ok(download(&out))
}

fn pairs() -> Options {
    Options {
        cluster: Some([2, 1, 1]),
        ..Options::default()
    }
}

const SYNC: &str = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;";
/// The rank of the other block of a pair, and the address of its `word`.
const OTHER: &str = "xor.b32 next, rank, 1; mapa.shared::cluster.u32 there, at, next;";

#[test]
fn addresses_lead_to_the_block_that_they_name() {
    let by_spaces = format!(
        "{OTHER} st.shared.u32 [word], rank; {SYNC}
        ld.shared::cluster.u32 d, [there];
        getctarank.shared::cluster.u32 i, there;
        mad.lo.u32 d, i, 10, d;
        mov.u64 generic, word; cvta.shared.u64 generic, generic;
        mapa.u64 wide, generic, next;
        ld.u32 i, [wide];
        mad.lo.u32 d, i, 100, d;
        getctarank.u64 i, wide;
        mad.lo.u32 d, i, 1000, d;
        mapa.shared::cluster.u32 there, there, rank;
        ld.shared.u32 i, [there];
        mad.lo.u32 d, i, 10000, d;
        {SYNC}"
    );
    let found = run(&gpu("", &by_spaces), &pairs()).unwrap();
    let expected = (0..128).map(|thread| if thread / 32 % 2 == 0 { 1111 } else { 10000 });
    assert_eq!(found, expected.collect::<Vec<u32>>());
}

#[test]
fn lanes_may_name_different_blocks() {
    let code = format!(
        "mad.lo.u32 i, t, 0, rank; st.shared.u32 [word], i; {SYNC}
        rem.u32 next, t, blocks;
        mapa.shared::cluster.u32 there, at, next;
        atom.shared::cluster.add.u32 d, [there + 4], 1;
        {SYNC}
        ld.shared.u32 d, [word + 4];"
    );
    let four = Options {
        cluster: Some([4, 1, 1]),
        ..Options::default()
    };
    // 8 lanes of each of 4 blocks, 16 of each of 2, and all lanes of the block.
    for options in [four, pairs(), Options::default()] {
        assert_eq!(run(&gpu("", &code), &options).unwrap(), [32; 128]);
    }
}

#[test]
fn a_kernel_may_ask_for_its_cluster() {
    let code = "mov.pred p, %is_explicit_cluster; selp.u32 d, 10, 20, p; add.u32 d, d, blocks;";
    let asks = gpu(".explicitcluster .reqnctapercluster 4", code);
    assert_eq!(run(&asks, &Options::default()).unwrap(), [14; 128]);
    let alone = gpu("", code);
    assert_eq!(run(&alone, &pairs()).unwrap(), [12; 128]);
    assert_eq!(run(&alone, &Options::default()).unwrap(), [21; 128]);
}

#[test]
fn blocks_wait_for_each_other() {
    // Block 0 waits until block 1 has stored, in a loop of loads, before any barrier.
    let code = format!(
        "st.shared.u32 [word], 0; {SYNC} {OTHER}
        setp.eq.u32 p, rank, 0;
        @p bra wait;
        st.relaxed.cluster.shared::cluster.u32 [there], 7;
        bra done;
        wait: ld.relaxed.cluster.shared::cta.u32 d, [word];
        setp.ne.u32 p, d, 7;
        @p bra wait;
        done: {SYNC}"
    );
    for cooperative in [false, true] {
        let options = Options { cooperative, ..pairs() };
        let found = run(&gpu("", &code), &options).unwrap();
        let expected = (0..128).map(|thread| if thread / 32 % 2 == 0 { 7 } else { 0 });
        assert_eq!(found, expected.collect::<Vec<u32>>());
    }
}

#[test]
fn a_barrier_that_a_block_does_not_come_to_is_a_deadlock() {
    let code = "setp.eq.u32 p, rank, 0; @p barrier.cluster.arrive; @p barrier.cluster.wait; @!p bar.sync 1, 64;";
    let fault = run(&gpu("", code), &pairs()).unwrap_err();
    let part = "32 threads wait at the barrier of the cluster, where 32 have arrived";
    assert!(fault.contains(part), "{fault}");
    // Threads that have exited are not waited for.
    let code = "setp.eq.u32 p, rank, 1; @p exit; barrier.cluster.arrive; barrier.cluster.wait; mov.u32 d, 5;";
    let found = run(&gpu("", code), &pairs()).unwrap();
    let expected = (0..128).map(|thread| if thread / 32 % 2 == 0 { 5 } else { 0 });
    assert_eq!(found, expected.collect::<Vec<u32>>());
}

#[test]
fn stores_tell_barriers_of_other_blocks() {
    // Lane 5 of each block sends four words to the other one, which waits for them.
    let code = format!(
        "setp.eq.u32 p, t, 0; add.u32 i, at, 16;
        @p mbarrier.init.shared.b64 [i], 1;
        @p mbarrier.arrive.expect_tx.shared.b64 _, [i], 24;
        {SYNC} {OTHER}
        add.u32 i, there, 16; setp.eq.u32 p, t, 5;
        @p st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [there], {{t, t, rank, 7}}, [i];
        @p st.async.shared::cluster.mbarrier::complete_tx::bytes.u64 [there + 24], 90, [i];
        add.u32 i, at, 16;
        wait: mbarrier.try_wait.parity.shared::cta.b64 p, [i], 0;
        @!p bra wait;
        ld.shared.u32 d, [word + 8]; ld.shared.u32 i, [word + 12]; mad.lo.u32 d, d, 10, i;
        ld.shared.u32 i, [word]; mad.lo.u32 d, i, 100, d; ld.shared.u64 wide, [word + 24]; cvt.u32.u64 i, wide;
        add.u32 d, d, i; {SYNC}"
    );
    let found = run(&gpu("", &code), &pairs()).unwrap();
    let expected = (0..128).map(|thread| if thread / 32 % 2 == 0 { 607 } else { 597 });
    assert_eq!(found, expected.collect::<Vec<u32>>());
    let elsewhere = format!(
        "{OTHER} {SYNC} setp.eq.u32 p, t, 0;
        @p st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [there], 1, [there + 8]; {SYNC}"
    );
    let fault = run(&gpu("", &elsewhere), &pairs()).unwrap_err();
    assert!(fault.contains("it was not initialised"), "{fault}");
}

#[test]
fn memory_that_is_not_there_is_named() {
    for (code, options, expected) in [
        (
            format!("{OTHER} ld.shared::cluster.u32 d, [there + 64]; {SYNC}"),
            pairs(),
            "load of 4 bytes at offset 64 of shared memory of another block of the cluster",
        ),
        (
            "mapa.shared::cluster.u32 there, at, 2; st.shared::cluster.u32 [there], 1;".to_owned(),
            pairs(),
            "store of 4 bytes at offset 0 of shared memory of a block that the cluster does not have",
        ),
        (
            "mapa.shared::cluster.u32 there, at, 4294967295; st.shared::cluster.u32 [there], 1;".to_owned(),
            pairs(),
            "of shared memory",
        ),
        (
            "mapa.shared::cluster.u32 there, at, 1; red.shared::cluster.add.u32 [there], 1;".to_owned(),
            Options::default(),
            "shared memory of a block that the cluster does not have",
        ),
        (
            format!("{OTHER} {SYNC} setp.eq.u32 p, rank, 0; @p exit; ld.shared::cluster.u32 d, [there];"),
            pairs(),
            "shared memory of a block of the cluster that has come to its end",
        ),
    ] {
        let fault = run(&gpu("", &code), &options).unwrap_err();
        assert!(fault.contains(expected), "{code}: {fault}");
    }
}

#[test]
fn races_and_uninitialised_reads_between_blocks_are_found() {
    let race = Options {
        check_shared_races: true,
        ..pairs()
    };
    let wrong = format!(
        "{OTHER} {SYNC} @p bra done; st.shared::cluster.u32 [there], rank; ld.shared.u32 d, [word]; done: {SYNC}"
    );
    let gpu_of = |code: &str| gpu("", &code.replace("@p bra done;", "setp.ne.u32 p, t, 0; @p bra done;"));
    let out = gpu_of(&wrong);
    let memory = out.upload("out", &[0_u32; 128]);
    let fault = out
        .launch_with("k", [4, 1, 1], [32, 1, 1], 0, &[Write(&memory)], &race)
        .unwrap_err();
    let FaultKind::Race { other_block, .. } = fault.kind else {
        panic!("{fault}")
    };
    assert!(other_block.is_some(), "{fault}");
    let right =
        format!("{OTHER} {SYNC} @p bra done; st.shared::cluster.u32 [there], 3; done: {SYNC} ld.shared.u32 d, [word];");
    assert_eq!(run(&gpu_of(&right), &race).unwrap(), [3; 128]);

    let check = Options {
        check_uninitialized: true,
        ..pairs()
    };
    assert_eq!(run(&gpu_of(&right), &check).unwrap(), [3; 128]);
    let fault = run(
        &gpu("", &format!("{OTHER} {SYNC} ld.shared::cluster.u32 d, [there]; {SYNC}")),
        &check,
    )
    .unwrap_err();
    assert!(fault.contains("which nothing has written"), "{fault}");
}
