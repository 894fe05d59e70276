//! Wrong uses of barriers in shared memory and of the barrier of a cluster, in words; and threads that are apart.

use crate::common::{Gpu, ends};
use graph_emulator::{Fault, FaultKind, Options};

/// The fault of one warp that executes `code`, where `word` is shared memory and `at` its address.
fn fault(code: &str) -> String {
    let gpu = Gpu::new(&format!(
        ".version 8.0
        .target sm_90
        .address_size 64
        .visible .entry k() {{
            .shared .align 16 .b8 word[32];
            .reg .b64 state, local; .reg .b32 at, lane; .reg .pred p;
            mov.u32 at, word;
            mov.u32 lane, %tid.x;
            setp.eq.u32 p, lane, 0;
            @p mbarrier.init.shared.b64 [word], 2;
            bar.sync 0;
            {code}
            ret;
        }}"
    ));
    let fault = gpu.fault("k", [1; 3], [32, 1, 1], &[]);
    if matches!(fault.kind, FaultKind::InvalidBarrier(_)) {
        fault.kind.to_string()
    } else {
        panic!("{fault}")
    }
}

#[test]
fn wrong_uses_of_mbarriers_are_faults() {
    let says = |code: &str, text: &str| {
        let fault = fault(code);
        assert!(fault.contains(text), "{code}: {fault}");
    };
    says(
        "mbarrier.arrive.shared.b64 state, [word + 8];",
        "the mbarrier at 0x8 of shared memory: it was not initialised",
    );
    says(
        "@p mbarrier.init.shared.b64 [word], 0;",
        "its count is 0, not 1 to 1048575",
    );
    says(
        "@p mbarrier.arrive.shared.b64 state, [word], 3;",
        "3 arrive, and it waits for 2",
    );
    says(
        "@p mbarrier.arrive.noComplete.shared.b64 state, [word], 2;",
        "an arrival that is `.noComplete` ends its phase",
    );
    says(
        "@p mbarrier.expect_tx.relaxed.cta.shared.b64 [word], 1048576;",
        "it waits for 1048576 bytes, more than 1048575",
    );
    says(
        "@p mbarrier.inval.shared.b64 [word]; mbarrier.test_wait.parity.shared.b64 p, [word], 0;",
        "it was not initialised",
    );
    says(
        "mov.u64 local, 0x700000000000; mbarrier.arrive.b64 state, [local];",
        "the mbarrier at 0x700000000000: it is not in shared memory",
    );
    says(
        "@p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [at], [0x700000000000], 0, [at + 16];",
        "the mbarrier at 0x10 of shared memory: it was not initialised",
    );
}

#[test]
fn wrong_uses_of_the_barrier_of_a_cluster_are_faults() {
    let expected = "wrong use of a barrier: at the barrier of the cluster, a thread waits that has not arrived";
    assert_eq!(fault("barrier.cluster.wait;"), expected);
    assert_eq!(
        fault("barrier.cluster.arrive; barrier.cluster.arrive;"),
        "wrong use of a barrier: at the barrier of the cluster, a thread arrives that has not waited since it arrived"
    );
}

#[test]
fn threads_that_wait_for_one_that_never_comes_are_a_deadlock() {
    let gpu = Gpu::new(
        ".version 8.0
        .target sm_90
        .address_size 64
        .visible .entry k() {
            .reg .b32 lane; .reg .pred p;
            mov.u32 lane, %tid.x;
            setp.eq.u32 p, lane, 0;
            @p bra OTHER;
            barrier.cluster.arrive.release;
            barrier.cluster.wait.acquire;
            ret;
        OTHER:
            bar.sync 0;
            ret;
        }",
    );
    let fault = gpu.fault("k", [1; 3], [64, 1, 1], &[]).to_string();
    let part = "63 threads wait at the barrier of the cluster, where 63 have arrived";
    assert!(fault.contains(part), "{fault}");
}

/// Runs code of two warps, whose thread is `t`, with the check of divergence or without it.
fn run(code: &str, check_divergence: bool) -> Result<(), Fault> {
    let gpu = Gpu::new(&format!(
        ".version 8.0
        .target sm_80
        .address_size 64
        .visible .entry k() {{
            .reg .pred p; .reg .b32 t, v;
            mov.u32 t, %tid.x;
            {code}
            ret;
        }}"
    ));
    let options = Options {
        check_divergence,
        ..Options::default()
    };
    gpu.launch_with("k", [1; 3], [64, 1, 1], 0, &[], &options)
}

#[test]
fn divergence_is_found_where_asked() {
    let half = "setp.ge.u32 p, t, 16; @p bra OUT;";
    let shuffle = "which takes no part in the shuffle";
    for (code, found) in [
        // The upper lanes of what remains have no partner.
        (
            format!("{half} shfl.sync.down.b32 v, t, 8, 31, 0xffff; OUT:"),
            format!("divergent barrier: lane 8 reads the value of lane 16, {shuffle}: what it gets is undefined"),
        ),
        // The partners have exited.
        (
            "setp.ge.u32 p, t, 16; @p exit; shfl.sync.bfly.b32 v, t, 16, 31, -1;".to_owned(),
            format!("divergent barrier: lane 0 reads the value of lane 16, {shuffle}: what it gets is undefined"),
        ),
        // Two warps, each at its own `__syncthreads()`.
        (
            "setp.ge.u32 p, t, 32; @p bra B;\nbar.sync 0; bra OUT;\nB: bar.sync 0;\nOUT:".to_owned(),
            "divergent barrier: at barrier 0, threads of the block wait at different instructions, here and in PTX line 8"
                .to_owned(),
        ),
    ] {
        run(&code, false).unwrap();
        ends(&run(&code, true).unwrap_err(), &found);
    }
    for code in [
        "shfl.sync.down.b32 v, t, 8, 31, -1; bar.sync 0;",
        // In groups of 16 lanes, the upper ones keep their values.
        "setp.ge.u32 p, t, 16; @p bra OUT; shfl.sync.down.b32 v, t, 8, 0x101f, 0xffff; OUT:",
        // Threads that have exited count as arrived.
        "setp.ge.u32 p, t, 32; @p exit; bar.sync 0;",
        "setp.ge.u32 p, t, 8; @p exit; bar.sync 0;",
        // One warp hands over to another.
        "setp.ge.u32 p, t, 32; @p bra B; bar.arrive 1, 64; bra OUT; B: bar.sync 1, 64; OUT:",
    ] {
        run(code, true).unwrap_or_else(|fault| panic!("{code}: {fault}"));
    }
}
