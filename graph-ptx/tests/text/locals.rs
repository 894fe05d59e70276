//! Local memory: pointers that code without optimisation keeps in variables of its frame.

use graph_ptx::{KernelSummary, kernel_summaries, parse, summarize};

/// The summary of a kernel with two pointers, `p` and `q` in `%rd1` and `%rd2`, and a number in `%rd3`.
fn kernel(body: &str) -> KernelSummary {
    let text = format!(
        ".version 8.4\n.target sm_70\n.address_size 64\n\
         .func set(.param .b64 to, .param .b64 value) {{ .reg .b64 %a, %b; ld.param.u64 %a, [to]; \
         ld.param.u64 %b, [value]; st.u64 [%a+8], %b; ret; }}\n\
         .visible .entry k(.param .u64 p, .param .u64 q, .param .u64 n)\n{{\n\
         .local .align 8 .b8 frame[64];\n.local .align 8 .b8 other[8];\n\
         .reg .b64 %SP, %SPL, %rd<20>;\n.reg .b32 %r<9>;\n.reg .pred %p1;\n\
         ld.param.u64 %rd1, [p];\nld.param.u64 %rd2, [q];\nld.param.u64 %rd3, [n];\n\
         mov.u64 %SPL, frame;\ncvta.local.u64 %SP, %SPL;\n{body}\nret;\n}}\n"
    );
    let module = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    summarize(&module, "k", &[true, true, false]).unwrap()
}

/// Whether `p`, `q` and unknown memory are stored to.
fn stored(body: &str) -> [bool; 3] {
    let summary = kernel(body);
    let param = |index: usize| summary.params[index].access.stored.is_some();
    [param(0), param(1), summary.unknown_store.is_some()]
}

#[test]
fn variables_of_the_frame_are_apart() {
    let keep = "st.u64 [%SP], %rd1; st.u64 [%SP+8], %rd2; st.u64 [%SP+16], %rd3; st.u32 [%SP+24], 5;";
    let store = |load: &str| stored(&format!("{keep} {load} st.u32 [%rd9], 1;"));
    assert_eq!(store("ld.u64 %rd9, [%SP];"), [true, false, false]);
    assert_eq!(store("ld.u64 %rd9, [%SP+8];"), [false, true, false]);
    assert_eq!(store("ld.local.u64 %rd9, [frame+8];"), [false, true, false]);
    let expected = [false, true, false];
    assert_eq!(store("add.u64 %rd4, %SP, 8; ld.u64 %rd9, [%rd4];"), expected);
    let expected = [false, true, false];
    assert_eq!(store("sub.u64 %rd4, %SP, -16; ld.u64 %rd9, [%rd4+-8];"), expected);
    assert_eq!(
        store("ld.u64 %rd4, [%SP+8]; mul.lo.u64 %rd5, %rd3, 4; add.u64 %rd9, %rd4, %rd5;"),
        [false, true, false]
    );
    // Halves of a pointer make none.
    assert_eq!(store("ld.u64 %rd9, [%SP+4];"), [true, true, true]);
    assert_eq!(store("ld.v2.u64 {%rd8, %rd9}, [%SP];"), [true, true, false]);
    // A number is no pointer; nothing was ever stored at the last one.
    assert!(store("ld.u64 %rd9, [%SP+24];")[2]);
    assert!(store("ld.u64 %rd9, [%SP+56];")[2]);
}

#[test]
fn stores_to_unknown_places_are_found_everywhere() {
    let both = "st.u64 [%SP], %rd1;";
    let load = "ld.u64 %rd9, [%SP]; st.u32 [%rd9], 1;";
    for store in [
        // An index that is not known, a place beyond the variable, and one of two places.
        "add.u64 %rd4, %SP, %rd3; st.u64 [%rd4], %rd2;",
        "st.local.u64 [%rd3], %rd2;",
        "st.u64 [%SP+-8], %rd2;",
        "st.local.u64 [frame+64], %rd2;",
        "st.local.u64 [frame+60], %rd2;",
        "selp.u64 %rd4, %SP, %rd2, %p1; st.u64 [%rd4], %rd2;",
        "selp.u64 %rd4, %SP, 0, %p1; st.u64 [%rd4], %rd2;",
        "add.u64 %rd4, %SP, 8; selp.u64 %rd5, %SP, %rd4, %p1; st.u64 [%rd5], %rd2;",
        // The address of the frame as bits: it may be put together again.
        "xor.b64 %rd4, %SP, %rd3; xor.b64 %rd5, %rd4, %rd3; st.u64 [%rd5], %rd2;",
        "st.u64 [%rd1], %SP; ld.u64 %rd4, [%rd1]; st.u64 [%rd4], %rd2;",
        // An address that is never given a value.
        "ld.local.u64 %rd4, [other]; st.local.u64 [%rd4], %rd2;",
        "frobnicate.b64 [%SP], %rd2;",
    ] {
        assert!(stored(&format!("{both} {store} {load}"))[1], "{store}");
        assert!(stored(&format!("{load} {both} {store}"))[1], "{store}");
    }
    let expected = [true, false, false];
    assert_eq!(stored(&format!("{both} st.u64 [%SP+8], %rd2; {load}")), expected);
    let expected = [true, false, false];
    assert_eq!(stored(&format!("{both} st.local.u64 [other], %rd2; {load}")), expected);
}

#[test]
fn places_go_through_loops_and_calls() {
    // The pointer to the frame moves on in a loop, so it may be anywhere in it.
    let walk = "mov.u64 %rd4, %SP; L: st.u64 [%rd4], %rd2; add.u64 %rd4, %rd4, 8; @%p1 bra L;";
    let load = "ld.u64 %rd9, [%SP+32]; st.u32 [%rd9], 1;";
    let expected = [true, true, false];
    assert_eq!(stored(&format!("st.u64 [%SP+32], %rd1; {walk} {load}")), expected);
    let call = ".param .b64 a; .param .b64 b; add.u64 %rd4, %SP, 24; st.param.b64 [a], %rd4; st.param.b64 [b], %rd2; \
                call set, (a, b);";
    let expected = [false, true, false];
    assert_eq!(stored(&format!("st.u64 [%SP+24], %rd1; {call} {load}")), expected);
}

#[test]
fn vectors_are_followed_part_by_part() {
    let text = ".version 8.4\n.target sm_70\n.address_size 64\n\
        .func (.reg .b64 r) second(.reg .v2 .b64 v) { mov.b64 r, v.y; ret; }\n\
        .visible .entry k(.param .u64 p, .param .u64 q)\n{ .reg .b64 a, b, c; .reg .v2 .b64 v;\n\
        ld.param.u64 a, [p]; ld.param.u64 b, [q]; mov.v2.b64 v, {a, b}; call (c), second, (v);\n\
        st.global.u32 [c], 1; ret; }";
    let module = parse(text).unwrap();
    let summary = &kernel_summaries(&module)[0];
    // A vector is any of its parts.
    assert!(summary.params[1].access.stored.is_some() && summary.unknown_store.is_none());
}

/// An unknown instruction may do anything with its operands, also with those that are not in brackets.
#[test]
fn instructions_that_are_not_known_do_everything() {
    for instruction in [
        "frobnicate.u64 %rd4, %rd2;",
        "frobnicate.u64 %rd4, {%rd2, %rd3};",
        "vfrobnicate.u32 %rd4, %rd2;",
        "frobnicate.u64 %rd4, [%rd2];",
    ] {
        let summary = kernel(instruction);
        let access = summary.params[1].access;
        assert!(access.stored.is_some() && access.loaded.is_some(), "{instruction}");
        assert!(summary.params[0].access.stored.is_none(), "{instruction}");
    }
    assert_eq!(
        stored("mov.u64 %rd5, 7; frobnicate.u64 %rd4, %rd5; st.u32 [%rd1], 1;"),
        [true, false, false]
    );
}

/// NVRTC's code with `-G`: only these kernels may store to memory that nobody passed.
#[test]
fn code_of_compilers_without_optimisation() {
    let features = include_str!("../data/features_debug.sm_70.ptx");
    // `graph-runtime/tests/kernels/grid.cu`, compiled with `-G` by NVRTC 12.4.127; without its debug sections, and so
    // without the `debug` of its `.target`: `ptxas` refuses the word alone.
    let grid = include_str!("../data/grid_debug.sm_70.ptx");
    for (text, least) in [(features, 6), (grid, 3)] {
        let module = parse(text).unwrap();
        let summaries = kernel_summaries(&module);
        let unknown = summaries.iter().filter(|summary| summary.unknown_store.is_some());
        let unknown: Vec<&str> = unknown.map(|summary| summary.name.as_str()).collect();
        assert!(summaries.len() >= least, "{unknown:?} of {}", summaries.len());
        assert!(unknown.is_empty(), "{unknown:?} of {}", summaries.len());
    }
}

#[test]
fn a_load_after_a_store_to_its_place_finds_that_value_alone() {
    // The parts of a union: a number of four bytes, then a pointer.
    let number = "ld.u32 %r1, [%SP]; or.b32 %r1, %r1, 6; st.u32 [%SP], %r1; mov.u64 %rd4, %SP;";
    let store = |between: &str| stored(&format!("{number} {between} st.u32 [%rd9], 1;"));
    for known in [
        "st.u64 [%SP], %rd1; ld.u64 %rd9, [%SP];",
        "st.u64 [%rd4], %rd1; L: add.u32 %r2, %r1, 1; ld.u32 %r3, [%SP+8]; ld.u64 %rd9, [%SP];",
        "st.local.u64 [frame], %rd1; @%p1 ld.b64 %rd9, [%rd4];",
        "st.u64 [%SP], %rd1; ld.u64 %rd5, [%SP]; st.u64 [%SP+8], %rd5; st.u64 [%SP+16], %rd2; ld.u64 %rd9, [%SP+8];",
    ] {
        assert_eq!(store(known), [true, false, false], "{known}");
    }
    for unknown in [
        "st.u64 [%SP], %rd1; L: ld.u64 %rd9, [%SP]; @%p1 bra L;",
        "st.u64 [%SP], %rd1; @%p1 bra L; L: ld.u64 %rd9, [%SP];",
        "@%p1 st.u64 [%SP], %rd1; ld.u64 %rd9, [%SP];",
        "st.u64 [%SP], %rd1; st.u32 [%SP], %r1; ld.u64 %rd9, [%SP];",
        "st.u64 [%SP], %rd1; atom.add.u32 %r2, [%SP], 1; ld.u64 %rd9, [%SP];",
        "st.v2.u64 [%SP], {%rd1, %rd1}; ld.u64 %rd9, [%SP];",
        "st.u64 [%SP+8], %rd1; ld.u64 %rd9, [%SP];",
        "selp.u64 %rd5, %SP, %rd4, %p1; add.u64 %rd5, %rd5, %rd3; st.u64 [%rd5], %rd1; ld.u64 %rd9, [%SP];",
        "st.u64 [%SP], %rd1; .param .b64 a; .param .b64 b; st.param.b64 [a], %rd4; st.param.b64 [b], %rd2; \
         call set, (a, b); ld.u64 %rd9, [%SP];",
        "frobnicate.b64 [%SP], %rd2; ld.u64 %rd9, [%SP];",
    ] {
        assert!(store(unknown)[2], "{unknown}");
    }
}

/// The variable of a recursive function is several: a pointer may be to that of an earlier call.
#[test]
fn variables_of_recursive_functions_are_several() {
    let stored = |outer: &str, call: &str| {
        let text = format!(
            ".version 8.4\n.target sm_70\n.address_size 64\n\
             .func f(.param .b64 outer, .param .b64 value) {{ .local .align 8 .b8 x[8]; .reg .b64 a, b, c, d; \
             .param .b64 to; .param .b64 with; ld.param.u64 a, [outer]; ld.param.u64 b, [value]; \
             cvta.local.u64 d, x; st.param.b64 [to], d; st.param.b64 [with], b; {call} \
             st.u64 [d], 7; st.u64 [{outer}], b; ld.u64 c, [x]; st.u32 [c], 1; ret; }}\n\
             .visible .entry k(.param .u64 p) {{ .reg .b64 a; .param .b64 to; .param .b64 with; \
             ld.param.u64 a, [p]; st.param.b64 [with], a; call f, (to, with); ret; }}\n"
        );
        let module = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let summary = summarize(&module, "k", &[true]).unwrap();
        (
            summary.params[0].access.stored.is_some(),
            summary.unknown_store.is_some(),
        )
    };
    // `a` is only ever the address of an `x`, but of that of the caller; in the own one is 7.
    assert_eq!(stored("a", "call f, (to, with);"), (true, true));
    assert_eq!(stored("d", "call f, (to, with);"), (true, true), "nor is this known");
    assert_eq!(stored("d", ""), (true, false));
}
