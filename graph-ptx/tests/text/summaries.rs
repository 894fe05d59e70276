//! The summaries of kernels compiled by NVRTC 12.4 (`sm_70`) and 13.5 (`sm_90`) from `data/*.cu`
//! with `-default-device --std=c++17`; `features_debug` with `-G`, `hopper` with 12.4.

use graph_ptx::ast::Type;
use graph_ptx::{KernelSummary, kernel_summaries, parse, summarize};

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

#[test]
fn every_access_is_put_down_to_its_parameter() {
    for text in POINTERS {
        check(text, "scale", "*..", "rw - -");
        check(text, "add", "***.", "r r w -");
        check(text, "mark", "*.", "w -");
        check(text, "select", "***", "w w r");
        check(text, "join", "***.", "rw rw r -");
        check(text, "calls", "**.", "w r -");
        check(text, "picks", "**.", "w w -");
        check(text, "recursive", "***", "w r w");
        check(text, "atomics", "***", "wa r wa");
        check(text, "_Z4fillIfLi4EEvPT_S0_", "*.", "w -");
        check(text, "_Z4fillIdLi2EEvPT_S0_", "*.", "w -");
    }
}

#[test]
fn pointers_are_followed_through_memory_of_the_block_and_of_the_thread() {
    for text in POINTERS {
        check(text, "spill", "***", "w w r");
        let summary = check(text, "share", "***", "w w r");
        assert_eq!(summary.static_shared, 16);
    }
}

#[test]
fn loaded_pointers_are_unknown() {
    for text in POINTERS {
        check(text, "gather", "**", "r w ?r");
        check(text, "scatter", "**", "r r ?w");
        check(text, "globals", "*", "w ?r");
    }
}

#[test]
fn by_value_parameters_are_addresses_only_where_they_point() {
    for text in POINTERS {
        check(text, "by_value", "..", "@ -");
        check(text, "plain_struct", ".*", "- w");
        check(text, "dynamic_struct", ".**", "- r w");
        check(text, "address", "..", "@ -");
        // Said to be no pointer, so it is an index.
        check(text, "mark", "*.", "w -");
        check(text, "mark", ".*", "- w");
    }
}

#[test]
fn arithmetic_on_pointers_loses_none() {
    for text in POINTERS {
        check(text, "rebuild", "**", "w r");
        check(text, "distance", "***", "w w w ?w");
    }
}

#[test]
fn idioms_of_ordinary_kernels_are_precise() {
    for text in POINTERS {
        check(text, "multi", ".", "@");
        check(text, "aligned", "**.", "w r -");
        check(text, "reversed", "**.", "w r -");
        check(text, "nullable", "***", "r r w");
        check(text, "histogram", "**.", "r w -");
        // The middle of two pointers cannot be told from an address elsewhere.
        check(text, "search", "***.", "r r w - ?r");
        check(text, "heap", "*", "w ?w");
    }
}

#[test]
fn a_store_through_one_parameter_alone_is_told_from_one_through_either() {
    for text in POINTERS {
        let sets = |name: &str, pointers: &[bool]| {
            let summary = summarize(&parse(text).unwrap(), name, pointers).unwrap();
            summary
                .stores
                .into_iter()
                .map(|store| (store.params, store.unknown))
                .collect::<Vec<_>>()
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
        let variables: Vec<_> = summary
            .variables
            .iter()
            .map(|variable| {
                (
                    variable.name.as_str(),
                    variable.access.loaded.or(variable.access.atomic).is_some(),
                    variable.access.stored.is_some(),
                )
            })
            .collect();
        assert_eq!(
            variables,
            [
                ("gain", true, false),
                ("visits", true, true),
                ("table_end", true, false)
            ]
        );
        let summary = check(text, "indirect", "**.", "r w -");
        assert_eq!(summary.variables[0].name, "ops");
    }
}

#[test]
fn the_declaration_is_recorded() {
    for (text, target) in POINTERS.into_iter().zip(["sm_70", "sm_90"]) {
        let summary = check(text, "reduce", "**.", "r w -");
        assert_eq!(summary.max_block, Some([256, 1, 1]));
        assert_eq!(summary.required_block, None);
        assert_eq!(summary.static_shared, 1024);
        assert_eq!(summary.target, target);
        let summary = check(text, "by_value", "..", "@ -");
        let view = &summary.params[0];
        assert_eq!((view.ty, view.size, view.align, view.array), (Type::B8, 16, 8, true));
        assert_eq!(
            (summary.params[1].ty, summary.params[1].size, summary.params[1].array),
            (Type::F32, 4, false)
        );
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
        let of = |name: &str| {
            summaries
                .iter()
                .find(|summary| summary.name == name)
                .map(accesses)
                .unwrap()
        };
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
    assert_eq!(
        constants("mov.u64 %rd2, table; add.s64 %rd3, %rd2, 8; ld.const.f32 %f1, [%rd3];"),
        ["table"]
    );
    assert_eq!(
        constants("mov.u64 %rd2, table; cvta.const.u64 %rd3, %rd2; ld.f32 %f1, [%rd3+4];"),
        ["table"]
    );
    let call = "{ .param .f32 x; call (x), get; ld.param.f32 %f1, [x]; }";
    assert_eq!(constants(call), ["gain"], "a function that it calls reads it");
}

#[test]
fn addresses_from_elsewhere_may_be_of_any_constant() {
    let all = ["table", "gain"];
    assert_eq!(
        constants("ld.global.u64 %rd2, [place]; ld.f32 %f1, [%rd2];"),
        all,
        "an address in an initialiser"
    );
    assert_eq!(
        constants("ld.global.u64 %rd2, [%rd1]; ld.const.f32 %f1, [%rd2];"),
        all,
        "an address in memory"
    );
    assert_eq!(
        constants("ld.global.u64 %rd2, [%rd1]; cvta.const.u64 %rd3, %rd2; ld.f32 %f1, [%rd3];"),
        all
    );
    assert_eq!(constants("ld.const.f32 %f1, [16];"), all);
}
