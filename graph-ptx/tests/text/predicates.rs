//! Predicated copies of kernels as text.

use graph_ptx::{GuardForm, can_wait, parse, predicated, predicated_name};

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
    let form = |tests, [ticket, keeps, loads_first]: [bool; 3]| GuardForm {
        ticket,
        keeps,
        loads_first,
        ..GuardForm::tests(tests)
    };
    let forms = [
        (form(1, [false; 3]), 16),
        (form(2, [false; 3]), 32),
        (form(1, [true, false, false]), 32),
        (form(1, [false, true, false]), 32),
        (form(3, [true, true, false]), 80),
        (form(2, [false, false, true]), 32),
    ];
    let text = format!("{HEADER}.visible .entry k(.param .u64 a) {{ .reg .b64 %word; ret; }}");
    let copied = predicated(&text, &forms.map(|(form, _)| ("k", form))).unwrap();
    let module = parse(&copied).unwrap_or_else(|error| panic!("{error}\n{copied}"));
    for (form, bytes) in forms {
        let name = predicated_name("k", form);
        let copy = module.functions.iter().find(|function| function.name == name).unwrap();
        assert_eq!((copy.params[1].size as usize, form.bytes()), (bytes, bytes), "{name}");
    }
}

/// A copy that waits needs an instruction of `sm_90`, and lets nothing of the kernel run before it.
#[test]
fn copies_that_wait_do_that_first() {
    let form = GuardForm {
        waits: true,
        loads_first: true,
        ..GuardForm::tests(1)
    };
    let body = ".visible .entry k(.param .u64 a) { .reg .b64 %rd<2>; ld.param.u64 %rd1, [a]; ret; }";
    for (header, newer) in [
        (
            ".version 6.0 // .target sm_70\n.target sm_70\n",
            ".version 7.8 // .target sm_70\n.target sm_90\n",
        ),
        (
            ".version 8.4\n.target sm_80, debug\n",
            ".version 8.4\n.target sm_90, debug\n",
        ),
        (".version 8.4\n.target sm_90a\n", ".version 8.4\n.target sm_90a\n"),
        (".version 9.0\n.target sm_100\n", ".version 9.0\n.target sm_100\n"),
    ] {
        let text = format!("{header}.address_size 64\n{body}");
        assert!(can_wait(&text), "{header}");
        let copied = predicated(&text, &[("k", form)]).unwrap();
        parse(&copied).unwrap_or_else(|error| panic!("{error}\n{copied}"));
        assert!(
            copied.starts_with(&format!("{newer}.address_size 64\n{body}")),
            "{copied}"
        );
        let (_, copy) = copied.split_once("k_graph_runtime_if1_loads_waits(").unwrap();
        let (wait, load) = (copy.find("griddepcontrol.wait;"), copy.find("ld."));
        assert!(wait.is_some() && wait < load, "{copy}");
        assert!(
            !predicated(&text, &[("k", GuardForm::tests(1))])
                .unwrap()
                .contains("griddepcontrol")
        );
    }
    for header in [
        ".version 5.0\n.target sm_80\n",
        ".version 8.4\n.target sm_60\n",
        ".version 8.4\n.target sm_80f\n",
        ".target sm_90\n",
    ] {
        assert!(!can_wait(&format!("{header}.address_size 64\n{body}")), "{header}");
    }
}

/// The text before the test in a copy that loads first, and the kernel's first instruction after the test.
fn beginning(body: &str) -> (String, String) {
    let text = format!("{HEADER}.visible .entry k(.param .u64 a, .param .u32 n)\n{{{body}}}");
    let form = GuardForm {
        loads_first: true,
        ..GuardForm::tests(1)
    };
    let copied = predicated(&text, &[("k", form)]).unwrap_or_else(|error| panic!("{error}"));
    parse(&copied).unwrap_or_else(|error| panic!("{error}\n{copied}"));
    let copy = &copied[copied.find("_if1_loads(").unwrap()..];
    let (before, rest) = copy.split_once("\t.reg .pred %holds, %fails;").unwrap();
    let before = before
        .split_once("ld.global.u32 %graph_runtime_value0, [%graph_runtime_word];")
        .unwrap()
        .1;
    let after = rest.split_once("@%fails bra $graph_runtime_rests;\n}\n").unwrap().1;
    let before = before.strip_suffix("{\n").unwrap().trim().to_owned();
    (before, after.trim().lines().next().unwrap().to_owned())
}

const REGISTERS: &str = ".reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p<9>;";
const ADDRESS: &str =
    "ld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;";

#[test]
fn copies_load_what_depends_on_arguments_and_places_before_they_test() {
    let bound = "ld.param.u32 %r2, [n]; setp.ge.u32 %p1, %r1, %r2; @%p1 bra $end;";
    let first =
        format!("{REGISTERS} .shared .u32 s; {ADDRESS} {bound} ld.global.u32 %r3, [%rd3]; add.u32 %r4, %r3, 1;");
    let (before, after) = beginning(&format!("{first}\nst.global.u32 [%rd3], %r4;\n$end: ret;"));
    assert_eq!((before, after.as_str()), (first, "st.global.u32 [%rd3], %r4;"));
}

#[test]
fn nothing_that_memory_decides_comes_before_the_test() {
    let loaded =
        format!("{REGISTERS} {ADDRESS} ld.global.u32 %r3, [%rd3]; setp.eq.u32 %p1, %r3, 0; cvt.u64.u32 %rd4, %r3;");
    for stop in [
        "ld.global.u32 %r4, [%rd4];",      // an address from memory
        "@%p1 bra $end;",                  // a branch
        "@!%p2 bra $end;",                 // one to where more than the end is
        "@%p2 ld.global.u32 %r4, [%rd3];", // what runs in some threads
        "bra $end;",
        "$loop: ld.global.u32 %r4, [%rd3];",
        "{ .reg .b32 %r1; mov.u32 %r1, 0; }",
        "st.global.u32 [%rd3], 1;",
        "atom.global.add.u32 %r4, [%rd3], 1;",
        "ld.volatile.global.u32 %r4, [%rd3];",
        "ld.relaxed.gpu.global.u32 %r4, [%rd3];",
        "ld.u32 %r4, [%rd3];",
        "ld.shared.u32 %r4, [%rd3];",
        "mov.u32 %r4, %smid;",
        "add.cc.u32 %r4, %r3, 1;",
        "bar.sync 0;",
        "griddepcontrol.wait;",
        "ret;",
    ] {
        let (before, after) = beginning(&format!(
            "{loaded}\n{stop}\nst.global.u32 [%rd3], 2;\n$end: st.global.u32 [%rd3], 3; ret;"
        ));
        assert_eq!((before.as_str(), after.as_str()), (loaded.as_str(), stop));
    }
}

/// A register that is set anew no longer comes from memory.
#[test]
fn values_from_memory_are_followed() {
    let first = format!(
        "{REGISTERS} {ADDRESS} ld.global.v2.u32 {{%r3, %r4}}, [%rd3]; mov.u32 %r3, 4; cvt.u64.u32 %rd4, %r3; \
         ld.global.nc.u32 %r5, [%rd4]; mov.b64 %rd5, {{%r4, %r1}};"
    );
    let stop = "ld.global.u32 %r6, [%rd5+4];";
    let (before, after) = beginning(&format!("{first}\n{stop} ret;"));
    assert_eq!((before, after), (first, format!("{stop} ret;")));
}

#[test]
fn names_of_registers_of_guards_are_refused() {
    let message = refused(".entry k() { .reg .b32 %graph_runtime_value0; ret; }");
    assert_eq!(message, "line 1: the name `%graph_runtime_value0` is taken");
}
