//! The summaries of kernels compiled by NVRTC 12.4 (`sm_70`) and 13.5 (`sm_90`) from `data/*.cu`
//! with `-default-device --std=c++17`; `features_debug` with `-G`, `hopper` with 12.4.

use graph_ptx::ast::Type;
use graph_ptx::{KernelSummary, VariableAccess, kernel_summaries, parse, summarize};

const POINTERS: [&str; 2] = [
    include_str!("../data/pointers.sm_70.ptx"),
    include_str!("../data/pointers.sm_90.ptx"),
];
const FEATURES: [&str; 2] = [
    include_str!("../data/features.sm_70.ptx"),
    include_str!("../data/features_debug.sm_70.ptx"),
];
const HOPPER: &str = include_str!("../data/hopper.sm_90.ptx");

/// The accesses through each parameter: `r`ead, `w`ritten, `a`tomic, `@` for a by-value one used as an address, `-` for
/// none.
fn accesses(summary: &KernelSummary) -> String {
    let mut text = Vec::new();
    for param in &summary.params {
        let mut word = String::new();
        let access = param.access;
        let letters = [(access.loaded, 'r'), (access.stored, 'w'), (access.atomic, 'a')];
        word.extend(
            letters
                .iter()
                .filter(|(line, _)| line.is_some())
                .map(|(_, letter)| letter),
        );
        if word.is_empty() {
            word.push(if param.address.is_some() { '@' } else { '-' });
        }
        text.push(word);
    }
    text.join(" ")
}

/// [`accesses`], then `?r` and `?w` for unknown ones, for a kernel whose pointers are those marked `*`.
fn check(text: &str, name: &str, pointers: &str, expected: &str) -> KernelSummary {
    let module = parse(text).unwrap();
    let pointers: Vec<bool> = pointers.chars().map(|mark| mark == '*').collect();
    let summary = summarize(&module, name, &pointers).unwrap();
    assert_eq!(summary.params.len(), pointers.len(), "{name}");
    let mut found = accesses(&summary);
    found.push_str(if summary.unknown_load.is_some() { " ?r" } else { "" });
    found.push_str(if summary.unknown_store.is_some() { " ?w" } else { "" });
    assert_eq!(found, expected, "{name}");
    summary
}

/// Triton writes this where a branch chooses between two pointers.
#[test]
fn a_branch_may_choose_the_parameter() {
    let text = ".version 8.4 .target sm_90 .address_size 64
        .visible .entry k(.param .u64 a, .param .u64 b, .param .u64 out, .param .u32 flag) {
            .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<3>;
            ld.param.u32 %r1, [flag];
            setp.eq.s32 %p1, %r1, 0;
            mov.b32 %r3, a;
            @%p1 bra L;
            mov.b32 %r3, b;
        L:  ld.param.u64 %rd1, [%r3];
            ld.global.u32 %r4, [%rd1];
            ld.param.u64 %rd2, [out];
            st.global.u32 [%rd2], %r4;
            ret;
        }";
    check(text, "k", "***.", "r r w -");
}

/// Checks a kernel with this body, which stores through `%rd4`. Its parameters `a` and `b` are pointers and `n` is an
/// index: `%rd1`, `%rd2` and `%rd3` have their values.
fn check_store(body: &str, expected: &str) {
    let text = format!(
        ".version 8.4 .target sm_90 .address_size 64
        .func (.reg .u64 out) chosen(.reg .u64 x, .reg .u64 y) {{
            .reg .pred %p<2>; mov.u64 out, x; @%p1 bra L; mov.u64 out, y; L: ret;
        }}
        .visible .entry k(.param .u64 a, .param .u64 b, .param .u64 n) {{
            .reg .pred %p<2>; .reg .b32 %r<2>; .reg .b64 %rd<6>;
            ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [n];
            {body}
            st.global.u32 [%rd4], %r1;
            ret;
        }}"
    );
    check(&text, "k", "**.", expected);
}

#[test]
fn indices_are_absorbed_and_alternatives_are_not() {
    check_store("add.u64 %rd4, %rd1, %rd3;", "w - -");
    check_store("ld.global.u64 %rd5, [%rd2]; add.u64 %rd4, %rd1, %rd5;", "w r -");
    check_store(
        "ld.global.u64 %rd5, [%rd2]; selp.b64 %rd4, %rd1, %rd5, %p1;",
        "w r - ?w",
    );
    check_store("add.u64 %rd4, %rd3, 8;", "- - @");
    check_store("ld.global.u64 %rd5, [%rd2]; add.u64 %rd4, %rd3, %rd5;", "- r @ ?w");
    check_store("and.b64 %rd4, %rd1, -8;", "w - -");
}

#[test]
fn differences_cannot_hide_a_pointer() {
    check_store("sub.u64 %rd5, %rd2, %rd1; add.u64 %rd4, %rd1, %rd5;", "w w - ?w");
    check_store(
        "ld.global.u64 %rd5, [%rd2]; sub.u64 %rd5, %rd5, %rd1; add.u64 %rd4, %rd1, %rd5;",
        "w r - ?w",
    );
}

#[test]
fn values_that_a_register_has_in_turn_are_told_apart() {
    check_store(
        "mov.u64 %rd4, %rd2; ld.global.u32 %r1, [%rd4]; mov.u64 %rd4, %rd1;",
        "w r -",
    );
    let over_a_loop = "mov.u64 %rd4, %rd2;
        L: ld.global.u32 %r1, [%rd4]; add.u64 %rd4, %rd4, 8; @%p1 bra L;
        mov.u64 %rd4, %rd1;";
    check_store(over_a_loop, "w r -");
    // Either write reaches the store: of two, the second may not be done.
    check_store("mov.u64 %rd4, %rd1; @%p1 mov.u64 %rd4, %rd2;", "w w -");
    check_store("call (%rd4), chosen, (%rd1, %rd2);", "w w -");
}

/// Hostile text cannot ask for quadratic memory.
#[test]
fn a_pointer_that_may_be_of_very_many_parameters_may_be_of_any() {
    let written = |chosen: usize| {
        let params = (0..100)
            .map(|param| format!(".param .u64 p{param}"))
            .collect::<Vec<_>>()
            .join(", ");
        let choices =
            (0..chosen).map(|param| format!("ld.param.u64 %rd2, [p{param}]; selp.b64 %rd1, %rd1, %rd2, %p1;\n"));
        let text = format!(
            ".version 8.4 .target sm_90 .address_size 64
            .visible .entry k({params}) {{
                .reg .pred %p<2>; .reg .b64 %rd<3>;
                ld.param.u64 %rd1, [p0];
                {}
                st.global.u64 [%rd1], 0;
                ret;
            }}",
            choices.collect::<String>()
        );
        let summary = summarize(&parse(&text).unwrap(), "k", &[true; 100]).unwrap();
        let written = summary.params.iter().filter(|param| param.access.stored.is_some());
        written.count()
    };
    assert_eq!((written(60), written(70)), (60, 100));
}

/// Kernels of `pointers.cu`, their pointers, and the accesses through their parameters.
const ACCESSES: [(&str, &str, &str); 32] = [
    // Every access is put down to its parameter.
    ("scale", "*..", "rw - -"),
    ("add", "***.", "r r w -"),
    ("mark", "*.", "w -"),
    ("select", "***", "w w r"),
    ("join", "***.", "rw rw r -"),
    ("calls", "**.", "w r -"),
    ("picks", "**.", "w w -"),
    ("recursive", "***", "w r w"),
    ("atomics", "***", "wa r wa"),
    ("_Z4fillIfLi4EEvPT_S0_", "*.", "w -"),
    ("_Z4fillIdLi2EEvPT_S0_", "*.", "w -"),
    // Pointers are followed through memory of the block and of the thread.
    ("spill", "***", "w w r"),
    ("share", "***", "w w r"),
    // Loaded pointers are unknown.
    ("gather", "**", "r w ?r"),
    ("scatter", "**", "r r ?w"),
    ("globals", "*", "w ?r"),
    ("indirect", "**.", "r w -"),
    // By-value parameters are addresses only where they point.
    ("by_value", "..", "@ -"),
    ("plain_struct", ".*", "- w"),
    ("dynamic_struct", ".**", "- r w"),
    ("address", "..", "@ -"),
    // Said to be no pointer, so it is an index.
    ("mark", ".*", "- w"),
    // Arithmetic on pointers loses none.
    ("rebuild", "**", "w r"),
    ("distance", "***", "w w w ?w"),
    // Idioms of ordinary kernels are precise.
    ("multi", ".", "@"),
    ("aligned", "**.", "w r -"),
    ("reversed", "**.", "w r -"),
    ("nullable", "***", "r r w"),
    ("histogram", "**.", "r w -"),
    // The middle of two pointers cannot be told from an address elsewhere.
    ("search", "***.", "r r w - ?r"),
    ("heap", "*", "w ?w"),
    ("reduce", "**.", "r w -"),
];

#[test]
fn accesses_are_those_of_the_source() {
    for (text, (name, pointers, expected)) in POINTERS.into_iter().flat_map(|text| ACCESSES.map(|row| (text, row))) {
        check(text, name, pointers, expected);
    }
}

#[test]
fn a_store_through_one_parameter_alone_is_told_from_one_through_either() {
    for text in POINTERS {
        let sets = |name: &str, pointers: &[bool]| {
            let summary = summarize(&parse(text).unwrap(), name, pointers).unwrap();
            let stores = summary.stores.into_iter();
            stores.map(|store| (store.params, store.unknown)).collect::<Vec<_>>()
        };
        assert_eq!(sets("select", &[true; 3]), [(vec![0, 1], false)]);
        assert_eq!(sets("recursive", &[true; 3]), [(vec![0], false), (vec![2], false)]);
        assert_eq!(sets("scatter", &[true; 2]), [(vec![], true)]);
    }
}

#[test]
fn module_variables_are_resources() {
    for text in POINTERS {
        let summary = check(text, "globals", "*", "w ?r");
        let of = |variable: &VariableAccess| {
            let access = variable.access;
            let is_loaded = access.loaded.or(access.atomic).is_some();
            (variable.name.clone(), is_loaded, access.stored.is_some())
        };
        let variables: Vec<_> = summary.variables.iter().map(of).collect();
        let expected = [
            ("gain", true, false),
            ("visits", true, true),
            ("table_end", true, false),
        ];
        assert_eq!(
            variables,
            expected.map(|(name, loaded, stored)| (name.to_owned(), loaded, stored))
        );
        let summary = check(text, "indirect", "**.", "r w -");
        assert_eq!(summary.variables[0].name, "ops");
    }
}

#[test]
fn the_declaration_is_recorded() {
    for (text, target) in POINTERS.into_iter().zip(["sm_70", "sm_90"]) {
        assert_eq!(check(text, "share", "***", "w w r").static_shared, 16);
        let summary = check(text, "reduce", "**.", "r w -");
        assert_eq!(summary.max_block, Some([256, 1, 1]));
        assert_eq!(summary.required_block, None);
        assert_eq!(summary.static_shared, 1024);
        assert_eq!(summary.target, target);
        let summary = check(text, "by_value", "..", "@ -");
        let view = &summary.params[0];
        assert_eq!((view.ty, view.size, view.align, view.array), (Type::B8, 16, 8, true));
        let number = &summary.params[1];
        assert_eq!((number.ty, number.size, number.array), (Type::F32, 4, false));
        assert!(summarize(&parse(text).unwrap(), "nobody", &[]).is_none());
    }
}

#[test]
fn features_of_ordinary_code() {
    for text in FEATURES {
        check(text, "prints", "*", "r");
        check(text, "switches", "*.", "rw -");
        check(text, "inlined", "**", "w r");
        check(text, "trigonometry", "**", "w r");
        check(text, "warps", "*", "rw");
        check(text, "doubles", "**", "rw rw");
        check(text, "structs", "*.", "w -");
        check(text, "virtuals", "*.", "w -");
        let summary = check(text, "counting", "", "");
        assert_eq!(summary.variables[0].name, "managed_count");
    }
    check(FEATURES[0], "halves", "***", "w r rw");
}

#[test]
fn hopper_instructions() {
    let summary = check(HOPPER, "chained", "**", "r rw");
    assert!(summary.dependency_wait < summary.launch_dependents && summary.dependency_wait.is_some());
    check(HOPPER, "clustered", "*", "w");
    check(HOPPER, "bulk", "**", "r w");
    check(HOPPER, "tensor", "...", "@ @ -");
    check(HOPPER, "staged", "**", "r w");
    check(HOPPER, "matrix", "**", "r w");
}

#[test]
fn without_a_declaration_pointers_are_inferred() {
    for text in POINTERS {
        let module = parse(text).unwrap();
        let summaries = kernel_summaries(&module);
        let of = |name: &str| accesses(summaries.iter().find(|summary| summary.name == name).unwrap());
        assert_eq!(of("scale"), "rw - -");
        assert_eq!(of("add"), "r r w -");
        assert_eq!(of("calls"), "w r -");
        assert_eq!(of("by_value"), "@ -");
        let entries = module.functions.iter().filter(|function| function.entry);
        assert_eq!(summaries.len(), entries.count());
    }
}

/// The `.const` variables that a kernel with this body may read. Its parameter is a pointer.
fn constants(body: &str) -> Vec<String> {
    let text = format!(
        ".version 8.4\n.target sm_70\n.address_size 64\n.const .align 4 .b8 table[16];\n.const .align 4 .f32 gain;\n\
         .global .align 8 .u64 place = generic(gain);\n\
         .func (.param .f32 r) get() {{ .reg .f32 %f<2>; ld.const.f32 %f1, [gain]; st.param.f32 [r], %f1; ret; }}\n\
         .visible .entry k(.param .u64 p0) {{\n.reg .b64 %rd<6>;\n.reg .f32 %f<4>;\nld.param.u64 %rd1, [p0];\n{body}\nret;\n}}"
    );
    summarize(&parse(&text).unwrap(), "k", &[true]).unwrap().constants
}

#[test]
fn constants_are_those_that_the_code_mentions() {
    assert_eq!(constants("ld.global.f32 %f1, [%rd1];"), [""; 0]);
    assert_eq!(constants("ld.const.f32 %f1, [gain];"), ["gain"]);
    let offset = "mov.u64 %rd2, table; add.s64 %rd3, %rd2, 8; ld.const.f32 %f1, [%rd3];";
    assert_eq!(constants(offset), ["table"]);
    let generic = "mov.u64 %rd2, table; cvta.const.u64 %rd3, %rd2; ld.f32 %f1, [%rd3+4];";
    assert_eq!(constants(generic), ["table"]);
    let call = "{ .param .f32 x; call (x), get; ld.param.f32 %f1, [x]; }";
    assert_eq!(constants(call), ["gain"], "a function that it calls reads it");
}

#[test]
fn addresses_from_elsewhere_may_be_of_any_constant() {
    for code in [
        "ld.global.u64 %rd2, [place]; ld.f32 %f1, [%rd2];", // an address in an initialiser
        "ld.global.u64 %rd2, [%rd1]; ld.const.f32 %f1, [%rd2];", // an address in memory
        "ld.global.u64 %rd2, [%rd1]; cvta.const.u64 %rd3, %rd2; ld.f32 %f1, [%rd3];",
        "ld.const.f32 %f1, [16];",
    ] {
        assert_eq!(constants(code), ["table", "gain"], "{code}");
    }
}
