//! Stores through the workspace of a cooperative launch, whose address is in `%envreg1` and `%envreg2`.

use graph_ptx::{KernelSummary, kernel_summaries, parse};

/// The summary of a kernel that has the halves of the address in `lo` and `hi`, and as 64 bits in `l` and `h`.
fn summary(code: &str) -> KernelSummary {
    let text = format!(
        ".version 8.0
        .target sm_80
        .address_size 64
        .entry k(.param .u64 out) {{
            .reg .b32 lo, hi, n, r; .reg .b64 l, h, a, b, p; .reg .pred q;
            ld.param.u64 p, [out];
            mov.u32 lo, %envreg2;
            mov.u32 hi, %envreg1;
            mov.u32 n, %tid.x;
            cvt.u64.u32 l, lo;
            cvt.u64.u32 h, hi;
            {code}
            atom.add.release.gpu.u32 r, [a + 4], 1;
            ld.acquire.gpu.u32 r, [a + 4];
            st.u32 [p], r;
            ret;
        }}"
    );
    let module = parse(&text).unwrap_or_else(|error| panic!("{code}: {error}"));
    kernel_summaries(&module).remove(0)
}

#[test]
fn the_workspace_is_no_memory_of_a_graph() {
    for code in [
        "bfi.b64 a, h, l, 32, 32;",
        "shl.b64 b, h, 32; or.b64 a, b, l;",
        "shl.b64 b, h, 32; add.s64 a, l, b;",
        "mov.b64 a, {lo, hi};",
        "mov.b32 r, lo; cvt.u64.u32 l, r; bfi.b64 b, h, l, 32, 32; setp.eq.s64 q, b, 0; @q trap; add.s64 a, b, 4;",
        "bfi.b64 b, h, l, 32, 32; cvta.to.global.u64 a, b;",
        "bfi.b64 b, h, l, 32, 32; selp.b64 a, b, 0, q;",
    ] {
        let summary = summary(code);
        assert_eq!((summary.unknown_load, summary.unknown_store), (None, None), "{code}");
        assert!(
            summary.stores.iter().all(|store| store.params == [0] && !store.unknown),
            "{code}"
        );
    }
    // In the global space, too.
    let summary = summary("bfi.b64 a, h, l, 32, 32; st.global.u32 [a], 1;");
    assert_eq!(summary.unknown_store, None);
}

#[test]
fn other_uses_of_its_halves_are_numbers() {
    for code in [
        "bfi.b64 a, l, h, 32, 32;",
        "bfi.b64 a, h, l, 32, 31;",
        "shl.b64 b, h, 31; or.b64 a, b, l;",
        "shl.b64 b, h, 32; mov.b64 a, b;",
        "shl.b64 b, h, 32; sub.s64 a, b, l;",
        "mov.b64 a, {hi, lo};",
        "mov.b64 a, {lo, lo};",
        "mov.b64 a, {lo, n};",
        "mov.b64 a, l;",
        "add.s64 l, l, 8; bfi.b64 a, h, l, 32, 32;",
        "xor.b32 lo, lo, n; mov.b64 a, {lo, hi};",
        "add.s64 a, p, l;",
        "bfi.b64 b, h, l, 32, 32; sub.s64 b, p, b; add.s64 a, p, b;",
    ] {
        assert!(summary(code).unknown_store.is_some(), "{code}");
    }
}

#[test]
fn what_is_stored_there_may_be_loaded_anywhere() {
    let summary = summary("bfi.b64 a, h, l, 32, 32; st.u64 [a], p; ld.u64 b, [a]; st.u32 [b], 1;");
    assert!(summary.unknown_store.is_some());
}
