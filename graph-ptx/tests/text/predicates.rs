//! Predicated copies of kernels as text.

use graph_ptx::{GuardForm, parse, predicated, predicated_name};

const HEADER: &str = ".version 7.8\n.target sm_90\n.address_size 64\n";

/// The text with a copy of `k` that has one test.
fn copied(text: &str) -> String {
    let text = format!("{HEADER}{text}");
    let copied = predicated(&text, &[("k", GuardForm::tests(1))]).unwrap_or_else(|error| panic!("{error}"));
    parse(&copied).unwrap_or_else(|error| panic!("{error}\n{copied}"));
    copied
}

/// The message about a text whose kernel `k` cannot be copied.
fn refused(text: &str) -> String {
    let refused = predicated(&format!("{HEADER}{text}"), &[("k", GuardForm::tests(1))]);
    refused.expect_err(text).to_string()
}

#[test]
fn all_other_text_stays() {
    let before = "// a { comment\n.global .u32 counter;\n.visible .entry k(.param .u64 a)\n.maxntid 32, 1, 1\n{ ret; }";
    let after = "\n.visible .entry other() { ret; } /* { */\n// the end }\n";
    let text = copied(&format!("{before}{after}"));
    let rest = text.strip_prefix(&format!("{HEADER}{before}")).unwrap();
    let copy = rest.strip_suffix(after).unwrap();
    assert!(
        copy.starts_with("\n.visible .entry k_graph_runtime_if1(.param .u64 a"),
        "{copy}"
    );
    let module = parse(&text).unwrap();
    let names: Vec<&str> = module.functions.iter().map(|function| function.name.as_str()).collect();
    assert_eq!(names, ["k", "k_graph_runtime_if1", "other"]);
}

#[test]
fn copies_keep_what_their_kernels_demand() {
    let text = ".visible .entry k(.param .u64 a, .param .align 8 .b8 b[24] // the last\n)\n.maxntid 256, 1, 1\n.minnctapersm 2\n\
                .pragma \"nounroll\";\n.explicitcluster\n.reqnctapercluster 4, 1, 1\n{ .reg .b64 %rd<2>; ld.param.u64 %rd1, [a]; ret; }";
    let module = parse(&copied(text)).unwrap();
    let [kernel, copy] = &module.functions[..] else {
        panic!("{module:?}")
    };
    let params = |function: &graph_ptx::ast::Function| {
        let params = function.params.iter();
        params
            .map(|param| (param.name.clone(), param.size, param.align))
            .collect::<Vec<_>>()
    };
    assert_eq!(params(copy)[..2], params(kernel));
    assert_eq!((copy.params[2].size, copy.params[2].align), (16, 8));
    let demands = |function: &graph_ptx::ast::Function| (function.max_block, function.required_block, function.cluster);
    assert_eq!(demands(copy), demands(kernel));
    assert!(kernel.max_block.is_some() && kernel.cluster.required.is_some());
}

/// A copy would count in a variable of its own.
#[test]
fn variables_of_the_module_in_a_body_are_refused() {
    for body in [
        ".global .u32 n;",
        "$L: .const .u32 n = 1;",
        "{ } .global .align 4 .u32 n;",
    ] {
        let message = refused(&format!(".visible .entry k() {{ {body} ret; }}"));
        assert!(message.contains("`k` declares variables of its module"), "{message}");
    }
    copied(".visible .entry k() { .shared .u32 n; .reg .b32 %r; ld.global.u32 %r, [8]; ld.const.u32 %r, [8]; ret; }");
}

#[test]
fn kernels_of_every_form_are_copied() {
    for text in [
        ".entry k { ret; }",
        ".entry k() { ret; }",
        ".entry k( // none\n) { ret; }",
        ".visible .entry k(.param .u64 a); .visible .entry k(.param .u64 a) { ret; }",
        ".weak .entry k(.param .u64 a) { { .reg .b32 %r<4>; mov.b64 {%r1, %r2}, 0; } ret; }",
        ".entry k(.param .u64 a) { .reg .pred %holds; .reg .b32 %value0; ret; }",
    ] {
        let module = parse(&copied(text)).unwrap();
        let copy = module
            .functions
            .iter()
            .find(|function| function.name == predicated_name("k", GuardForm::tests(1)));
        assert!(copy.unwrap().code().is_some(), "{text}");
    }
}

/// Nodes after a kernel rely on the kernels before it, too, which the kernel has waited for.
#[test]
fn kernels_of_programmatic_edges_wait_before_they_return() {
    let waits = |text: &str| {
        let text = copied(text);
        let entry = text.find("_if1(").unwrap();
        text[entry..].contains("$graph_runtime_rests:\n\tgriddepcontrol.wait;\n\tret;")
    };
    assert!(waits(".entry k() { griddepcontrol.wait; ret; }"));
    assert!(waits(
        ".func f() { griddepcontrol.wait; ret; } .entry k() { call f; ret; }"
    ));
    assert!(!waits(".entry k() { ret; }"));
}

#[test]
fn what_cannot_be_copied_is_refused() {
    assert_eq!(refused(".entry other() { ret; }"), "line 1: there is no kernel `k`");
    assert_eq!(refused(".entry k();"), "line 1: there is no kernel `k`");
    let taken = ".entry k() { ret; } .entry k_graph_runtime_if1() { ret; }";
    assert_eq!(refused(taken), "line 1: the name `k_graph_runtime_if1` is taken");
    let debug = ".entry k() { ret; }\n.section .debug_info { .b32 1 }";
    assert_eq!(
        refused(debug),
        "line 5: a kernel with debug information cannot be copied"
    );
}

#[test]
fn guards_have_forms_and_names_of_their_own() {
    let forms = [
        (1, false, false),
        (2, false, false),
        (1, true, false),
        (1, false, true),
        (3, true, true),
    ];
    let forms = forms.map(|(tests, ticket, keeps)| GuardForm { tests, ticket, keeps });
    let text = format!("{HEADER}.visible .entry k(.param .u64 a) {{ .reg .b64 %word; ret; }}");
    let copied = predicated(&text, &forms.map(|form| ("k", form))).unwrap();
    let module = parse(&copied).unwrap_or_else(|error| panic!("{error}\n{copied}"));
    let sizes: Vec<(&str, u64)> = module
        .functions
        .iter()
        .skip(1)
        .map(|function| (function.name.as_str(), function.params[1].size as u64))
        .collect();
    let mut expected = forms.map(|form| (predicated_name("k", form), form.bytes() as u64));
    expected.sort();
    assert_eq!(
        expected.iter().map(|(_, bytes)| *bytes).collect::<Vec<u64>>(),
        [16, 32, 32, 32, 80]
    );
    for (name, bytes) in &expected {
        assert!(sizes.contains(&(name.as_str(), *bytes)), "{name}: {sizes:?}");
    }
}
