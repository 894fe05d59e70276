//! Kernels that leave their memory in ways that are easy to overlook: none of them is proved.

use graph_ptx::proof::{Binary, Effort, Kernel, Kind, Param, Term, Unary, Verdict, prove, weakest};

/// A kernel with a slice of `u32` and the integers `n` (32 bits) and `m` (64 bits).
fn kernel(requires: Vec<Term>) -> Kernel {
    let param = |name: &str, kind| Param {
        name: name.to_owned(),
        kind,
    };
    let integer = |bits| Kind::Integer { bits, signed: false };
    Kernel {
        entry: "k".to_owned(),
        params: vec![
            param(
                "data",
                Kind::Memory {
                    unit: Some(4),
                    len: None,
                },
            ),
            param("n", integer(32)),
            param("m", integer(64)),
        ],
        requires,
        unwritten: Vec::new(),
    }
}

/// The address of `data` is in `%rd1`, `n` in `%r1`, `m` in `%rd2`; `store` writes element `%r9`.
fn text(code: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 p, .param .u32 q, .param .u64 w)\n{{\n\
         .reg .pred %p<9>; .reg .b32 %r<20>; .reg .b16 %rs<9>; .reg .b64 %rd<20>; .shared .align 4 .b8 tile[64];\n\
         ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [q]; ld.param.u64 %rd2, [w];\n\
         mov.u32 %r2, %tid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %ctaid.x; mad.lo.s32 %r5, %r4, %r3, %r2;\n\
         {}\nEND: ret;\n}}\n",
        code.replace(
            "store;",
            "mul.wide.u32 %rd9, %r9, 4; add.s64 %rd10, %rd1, %rd9; st.global.u32 [%rd10], %r9;"
        )
    )
}

fn module(code: &str) -> graph_ptx::ast::Module {
    let text = text(code);
    graph_ptx::parse(&text).unwrap_or_else(|fault| panic!("{fault}\n{text}"))
}

fn binary(op: Binary, a: Term, b: Term) -> Term {
    Term::Binary(op, Box::new(a), Box::new(b))
}

fn at_least(len: i128) -> Vec<Term> {
    vec![binary(Binary::Le, Term::Int(len), Term::Len(0))]
}

fn n_fits() -> Vec<Term> {
    vec![binary(Binary::Le, Term::Value(1), Term::Len(0))]
}

fn m_fits() -> Vec<Term> {
    vec![binary(Binary::Le, Term::Value(2), Term::Len(0))]
}

#[track_caller]
fn is_open(code: &str, requires: Vec<Term>) {
    let verdict = prove(&module(code), &kernel(requires), &Effort::FULL);
    assert!(!matches!(verdict, Verdict::Proved), "{code}");
}

#[track_caller]
fn is_proved(code: &str, requires: Vec<Term>) {
    let verdict = prove(&module(code), &kernel(requires), &Effort::FULL);
    assert_eq!(verdict, Verdict::Proved, "{code}");
}

#[test]
fn clamped_results_are_not_those_of_the_plain_instruction() {
    // Of -5 and any number, plain `min` is at most -5; clamped, it is 0.
    let code = "min.relu.s32 %r6, %r5, -5; add.s32 %r9, %r6, 5; setp.ge.s32 %p1, %r9, 1; @%p1 bra END; \
                setp.lt.s32 %p2, %r9, 0; @%p2 bra END; store;";
    is_open("min.relu.s32 %r6, -5, -5; add.s32 %r9, %r6, 5; store;", at_least(1));
    is_open(&code.replace("setp.ge.s32 %p1, %r9, 1; @%p1 bra END;", ""), at_least(1));
}

#[test]
fn half_of_a_pointer_is_no_pointer() {
    is_open("ld.param.u32 %rd1, [p]; mov.u32 %r9, 0; store;", at_least(1));
    is_open("ld.param.u32 %rd1, [p+4]; mov.u32 %r9, 0; store;", at_least(1));
}

#[test]
fn addresses_change_where_their_space_does() {
    is_open("cvta.shared.u64 %rd1, %rd1; mov.u32 %r9, 0; store;", at_least(1));
    is_open("cvta.to.shared.u64 %rd1, %rd1; mov.u32 %r9, 0; store;", at_least(1));
    is_open(
        "mov.u64 %rd3, tile; cvta.local.u64 %rd3, %rd3; st.u32 [%rd3], 1;",
        at_least(1),
    );
    is_proved(
        "mov.u64 %rd3, tile; cvta.shared.u64 %rd3, %rd3; st.u32 [%rd3], 1;",
        at_least(1),
    );
    is_open(
        "mov.u64 %rd3, 0; cvta.shared.u64 %rd3, %rd3; cvt.u32.u64 %r9, %rd3; store;",
        at_least(1),
    );
}

#[test]
fn the_number_of_a_warp_is_any() {
    is_open("mov.u32 %r9, %warpid; store;", at_least(32));
    is_proved("mov.u32 %r9, %laneid; store;", at_least(32));
}

#[test]
fn indexed_branches_lead_to_a_target() {
    let branch = "TS: .branchtargets A, END; brx.idx %r1, TS; A: ret;";
    is_open(branch, at_least(0));
    is_proved(&format!("setp.gt.u32 %p1, %r1, 1; @%p1 bra END; {branch}"), at_least(0));
    // As `ptxas` reads it: the list is the one that was declared before, and the label is that of the scope.
    let lists = "TS: .branchtargets A, END; mov.u32 %r6, 0; mov.u32 %r9, 1; \
                 { brx.idx %r6, TS; TS: .branchtargets END, END; } A: ";
    is_open(&format!("{lists} store;"), at_least(0));
    is_proved(&format!("{lists} ret;"), at_least(0));
}

#[test]
fn comparisons_of_other_types_bound_nothing() {
    let guarded = |compare: &str| format!("mov.u32 %r9, %r5; {compare} @%p1 bra END; store;");
    is_proved(&guarded("setp.ge.u32 %p1, %r5, %r1;"), n_fits());
    is_open(&guarded("setp.ge.s32 %p1, %r5, %r1;"), n_fits());
    is_open(&guarded("setp.gt.u32 %p1, %r5, %r1;"), n_fits());
    is_open(&guarded("setp.ge.u16 %p1, %r5, %r1;"), n_fits());
    is_open(&guarded("setp.geu.f32 %p1, %r5, %r1;"), n_fits());
    is_open(
        &guarded("setp.ge.u32 %p1, %r5, %r1; setp.eq.u32 %p1, %r2, 3;"),
        n_fits(),
    );
    is_open(
        &guarded("setp.ge.u32 %p2, %r5, %r1; setp.ge.and.u32 %p1, %r5, %r1, %p2; not.pred %p1, %p1;"),
        n_fits(),
    );
    is_open(&guarded("setp.ge.and.u32 %p1, %r5, %r1, %p3;"), n_fits());
    is_open(
        &guarded("setp.ge.u32 %p1, %r5, %r1; @%p3 setp.ne.u32 %p1, %r5, %r5;"),
        n_fits(),
    );
    is_open(&guarded("setp.ge.u32 %p1, %r5, %r1; @%p3 mov.u32 %r9, %r1;"), n_fits());
}

#[test]
fn lengths_that_are_cut_bound_nothing() {
    let last = "cvt.u32.u64 %r6, %rd2; sub.u32 %r9, %r6, 1; store;";
    is_open(last, m_fits());
    let nonzero = "setp.eq.u64 %p1, %rd2, 0; @%p1 bra END; cvt.u32.u64 %r6, %rd2; sub.u32 %r9, %r6, 1; store;";
    // The low half of `m - 1` is at most `m - 1`.
    is_proved(nonzero, m_fits());
    let cut = Term::Unary(
        Unary::Cast {
            bits: 32,
            signed: false,
        },
        Box::new(Term::Value(2)),
    );
    let code = "cvt.u64.u32 %rd4, %r5; setp.ge.u64 %p1, %rd4, %rd2; @%p1 bra END; mov.u32 %r9, %r5; store;";
    is_proved(code, m_fits());
    is_open(code, vec![binary(Binary::Le, cut, Term::Len(0))]);
    is_open(
        "cvt.s32.u64 %r6, %rd2; setp.ge.s32 %p1, %r5, %r6; @%p1 bra END; cvt.s64.s32 %rd4, %r5; shl.b64 %rd5, %rd4, 2; \
         add.s64 %rd6, %rd1, %rd5; st.global.u32 [%rd6], 0;",
        m_fits(),
    );
}

#[test]
fn products_that_wrap_around_are_not_those_of_integers() {
    let product = "mul.lo.u32 %r9, %r1, %r1;";
    let square = vec![binary(
        Binary::Lt,
        binary(Binary::Mul, Term::Value(1), Term::Value(1)),
        Term::Len(0),
    )];
    is_proved(&format!("{product} store;"), square.clone());
    let half = "mul.lo.u32 %r6, %r1, 4; cvt.u64.u32 %rd4, %r6; add.s64 %rd5, %rd1, %rd4; st.global.u32 [%rd5], 1;";
    is_proved(half, vec![binary(Binary::Lt, Term::Value(1), Term::Len(0))]);
    is_open(
        "mul.wide.s32 %rd4, %r1, 4; add.s64 %rd5, %rd1, %rd4; st.global.u32 [%rd5], 1;",
        vec![binary(Binary::Lt, Term::Value(1), Term::Len(0))],
    );
    is_open(
        "setp.eq.u32 %p1, %r1, 0; @%p1 bra END; sub.u32 %r9, %r1, 2; store;",
        n_fits(),
    );
    is_open(
        "add.u32 %r6, %r5, 4; setp.ge.u32 %p1, %r6, %r1; @%p1 bra END; mov.u32 %r9, %r5; store;",
        n_fits(),
    );
    is_open(
        "mul.lo.u32 %r6, %r5, 2; setp.ge.u32 %p1, %r6, %r1; @%p1 bra END; mov.u32 %r9, %r5; store;",
        n_fits(),
    );
}

#[test]
fn quotients_need_a_divisor() {
    is_open(
        "div.u32 %r9, %r5, %r1; setp.ge.u32 %p1, %r5, %r3; @%p1 bra END; store;",
        at_least(1024),
    );
    is_open("rem.u32 %r9, %r5, %r1; store;", n_fits());
    is_open("rem.s32 %r9, %r5, 16; store;", at_least(16));
    is_proved("rem.u32 %r9, %r5, 16; store;", at_least(16));
    is_open("and.b32 %r9, %r5, -16; store;", at_least(16));
    is_open("shr.s32 %r9, %r5, 28; store;", at_least(16));
    is_proved("shr.u32 %r9, %r5, 28; store;", at_least(16));
    is_open("bfe.s32 %r9, %r5, 0, 4; store;", at_least(16));
    is_open("and.b32 %r6, %r1, 7; shr.u32 %r9, %r5, %r6; store;", at_least(16));
}

#[test]
fn loops_count_as_far_as_they_do() {
    let counted =
        |step: &str, compare: &str| format!("mov.u32 %r9, %r2; L: {compare} @%p1 bra END; store; {step} bra L;");
    let bound = "setp.ge.u32 %p1, %r9, %r1;";
    is_proved(&counted("add.u32 %r9, %r9, %r3;", bound), n_fits());
    is_open(
        &counted("add.u32 %r9, %r9, %r3;", "setp.eq.u32 %p1, %r9, %r1;"),
        n_fits(),
    );
    is_open(
        &counted("sub.u32 %r9, %r9, 1;", "setp.lt.s32 %p1, %r9, 0;"),
        at_least(1),
    );
    is_open(
        &counted("sub.u32 %r9, %r9, %r1;", "setp.ge.s32 %p1, %r9, %r1;"),
        n_fits(),
    );
    is_open(&counted("add.u32 %r9, %r9, 1; add.u32 %r1, %r1, 2;", bound), n_fits());
    is_open(
        &counted("@%p3 add.u32 %r9, %r9, 1; @%p4 mov.u32 %r1, %r3;", bound),
        n_fits(),
    );
    is_open(
        "mov.u32 %r9, 0; L: store; add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, %r1; @%p1 bra L;",
        n_fits(),
    );
    is_open(
        "mov.u32 %r9, 0; mov.u32 %r7, 0; L: setp.ge.u32 %p1, %r7, %r1; @%p1 bra END; store; \
         add.u32 %r7, %r7, 1; add.u32 %r9, %r9, 2; bra L;",
        n_fits(),
    );
    is_open(
        "mov.u32 %r9, %r1; L: sub.u32 %r9, %r9, 1; store; setp.ne.u32 %p1, %r9, 0; @%p1 bra L;",
        n_fits(),
    );
    is_open(
        "mov.u32 %r9, 0; mov.u32 %r6, 0; L: setp.ge.u32 %p1, %r6, %r1; @%p1 bra END; store; mov.u32 %r9, %r7; \
         mov.u32 %r7, %r5; add.u32 %r6, %r6, 1; bra L;",
        n_fits(),
    );
    is_open(
        "bra M; L: mov.u32 %r9, %r5; store; M: setp.lt.u32 %p1, %r2, %r1; @%p1 bra L;",
        n_fits(),
    );
}

#[test]
fn wide_accesses_are_whole() {
    let wide = "mul.wide.u32 %rd9, %r5, 16; add.s64 %rd10, %rd1, %rd9; setp.ge.u32 %p1, %r5, %r1; @%p1 bra END; \
                ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd10];";
    is_open(wide, n_fits());
    is_open(&wide.replace("%rd10]", "%rd10+4]"), n_fits());
    let four = binary(Binary::Mul, Term::Int(4), Term::Value(1));
    is_proved(wide, vec![binary(Binary::Le, four, Term::Len(0))]);
    is_open("st.shared.u32 [tile+61], 1;", at_least(0));
    is_open("st.shared.u32 [tile+64], 1;", at_least(0));
    is_open("st.shared.u32 [tile+-4], 1;", at_least(0));
    is_open("st.global.u64 [%rd1], %rd2;", at_least(1));
    is_open(
        "{ .shared .align 4 .b8 tile[1024]; st.shared.u32 [tile+512], 1; } st.shared.u32 [tile+512], 1;",
        at_least(0),
    );
    is_open(
        "mov.u64 %rd3, %rd1; ld.global.u64 %rd3, [%rd1]; st.global.u32 [%rd3], 1;",
        at_least(2),
    );
    is_open("selp.b64 %rd3, %rd1, %rd2, %p3; st.global.u32 [%rd3], 1;", at_least(2));
}

#[test]
fn contracts_that_are_told_admit_a_launch() {
    let text = "mov.u32 %r9, %r2; store;";
    let mut kernel = kernel(Vec::new());
    kernel.params[0].kind = Kind::Memory {
        unit: Some(4),
        len: Some(1),
    };
    for text in [text.to_owned(), text.replace("%r2;", "%r2; add.u32 %r9, %r9, 1;")] {
        let told = weakest(&module(&text), &kernel, &Effort::FULL);
        let texts = told.iter().flatten().map(|condition| condition.text.as_str());
        let texts: Vec<&str> = texts.collect();
        assert!(texts.is_empty() || texts == ["block.x <= 1"], "{texts:?}");
    }
}

/// The kernel compares with its sign, so many threads would have negative numbers.
#[test]
fn contracts_ask_for_single_threads_last() {
    let code = "setp.ge.s32 %p1, %r5, %r1; @%p1 bra END; mul.wide.s32 %rd9, %r5, 4; add.s64 %rd10, %rd1, %rd9; \
                st.global.u32 [%rd10], 1;";
    let told = weakest(&module(code), &kernel(Vec::new()), &Effort::FULL);
    let texts: Vec<String> = told.into_iter().flatten().map(|condition| condition.text).collect();
    assert_eq!(texts, ["grid.x <= 2097152", "threads <= data.len()"]);
}

/// Variables of shared memory lie side by side, and the emulator finds no fault between them.
#[test]
fn accesses_of_another_variable_refute_nothing() {
    let verdict = |other: &str, offset: i32| {
        let code = format!("{other} mov.u64 %rd9, tile; st.shared.u32 [%rd9+{offset}], 1;");
        prove(&module(&code), &kernel(Vec::new()), &Effort::FULL)
    };
    for offset in [-4, 64] {
        let alone = verdict("", offset);
        assert!(matches!(alone, Verdict::Refuted(_)), "{alone:?}");
        let beside = verdict(".shared .align 4 .b8 other[64];", offset);
        assert!(matches!(beside, Verdict::Unknown(_)), "{beside:?}");
    }
    let far = verdict(".shared .align 4 .b8 other[64];", 256);
    assert!(matches!(far, Verdict::Refuted(_)), "{far:?}");
}

#[test]
fn launches_of_parts_of_clusters_refute_nothing() {
    let text = |cluster: &str| {
        format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n\
             .visible .entry k(.param .u64 p, .param .u32 q, .param .u64 w) {cluster}\n{{\n\
             .reg .pred %p<2>; .reg .b32 %r<2>; .reg .b64 %rd<2>;\n\
             ld.param.u64 %rd1, [p]; mov.u32 %r1, %nctaid.x; setp.gt.u32 %p1, %r1, 1; @%p1 bra END;\n\
             st.global.u32 [%rd1], %r1;\nEND: ret;\n}}\n"
        )
    };
    let verdict = |cluster: &str| {
        let module = graph_ptx::parse(&text(cluster)).unwrap();
        prove(&module, &kernel(Vec::new()), &Effort::FULL)
    };
    assert!(matches!(verdict(""), Verdict::Refuted(_)));
    // Its grids are multiples of 8, so none is of one block.
    assert!(!matches!(verdict(".reqnctapercluster 8"), Verdict::Refuted(_)));
}

/// Facts about a number where it is the least are no facts about it elsewhere.
#[test]
fn the_least_of_two_numbers_says_nothing_of_other_places() {
    let below = || vec![binary(Binary::Lt, Term::Value(1), Term::Len(0))];
    for number in ["mov.u32 %r9, %r5;", "mov.u32 %r9, %r2;", "ld.shared.u32 %r9, [tile];"] {
        let guarded = format!("{number} setp.ge.u32 %p1, %r9, %r1;");
        is_open(
            &format!("{guarded} @%p1 bra L; min.u32 %r6, %r9, %r1; st.shared.u32 [tile], %r6; L: store;"),
            below(),
        );
        is_open(
            &format!("{guarded} @%p1 bra L; max.u32 %r6, %r9, %r1; st.shared.u32 [tile], %r6; L: store;"),
            below(),
        );
        is_open(&format!("{guarded} @!%p1 min.u32 %r9, %r9, %r1; store;"), below());
        is_proved(&format!("{number} min.u32 %r9, %r9, %r1; store;"), below());
    }
}

#[test]
fn matrices_have_several_elements_in_a_register() {
    let rows = ".shared .align 16 .b8 rows[64]; mov.u32 %r6, rows;";
    let load = format!("{rows} ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%r9}}, [%r6];");
    is_open(&format!("{load} store;"), at_least(65536));
    is_proved(&format!("{load} and.b32 %r9, %r9, 65535; store;"), at_least(65536));
}

#[test]
fn rows_of_matrices_begin_at_multiples_of_16() {
    let load = "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r6,%r7,%r8,%r9,%r10,%r11,%r12,%r13}, [%rd1],";
    is_proved(&format!("{load} 24;"), at_least(1000));
    is_open(&format!("{load} 17;"), at_least(1000));
}

#[test]
fn constants_are_not_stored_to() {
    let address = ".const .align 4 .b8 c[16]; mov.u64 %rd3, c; cvta.const.u64 %rd3, %rd3;";
    is_proved(&format!("{address} ld.u32 %r9, [%rd3];"), at_least(0));
    is_open(&format!("{address} st.u32 [%rd3], 1;"), at_least(0));
    is_open(&format!("{address} atom.add.u32 %r9, [%rd3], 1;"), at_least(0));
}

/// By a generic address, they could be given any memory.
#[test]
fn some_instructions_access_memory_of_one_space() {
    for code in [
        "ldmatrix.sync.aligned.m8n8.x1.b16 {%r9}, [at];",
        "stmatrix.sync.aligned.m8n8.x1.b16 [at], {%r9};",
        "mbarrier.init.b64 [at], 1;",
        "mbarrier.arrive.b64 %rd4, [at];",
        "cp.async.mbarrier.arrive.b64 [at];",
    ] {
        let shared = ".shared .align 16 .b8 rows[64]; mov.u64 %rd3, rows; cvta.shared.u64 %rd3, %rd3;";
        is_proved(&format!("{shared} {}", code.replace("[at]", "[%rd3]")), at_least(0));
        is_open(&code.replace("[at]", "[%rd1]"), at_least(16));
    }
    let local = ".local .align 16 .b8 own[64]; mov.u64 %rd3, own; cvta.local.u64 %rd3, %rd3;";
    is_proved(&format!("{local} ld.u32 %r9, [%rd3]; st.u32 [%rd3], 1;"), at_least(0));
    is_open(&format!("{local} atom.add.u32 %r9, [%rd3], 1;"), at_least(0));
    is_open(&format!("{local} red.add.u32 [%rd3], 1;"), at_least(0));
    is_open(&format!("{local} ldu.u32 %r9, [%rd3];"), at_least(0));
}

/// Buffers begin at multiples of 16, not of 32.
#[test]
fn vectors_of_32_bytes_may_not_be_aligned() {
    let vector = "{%r10,%r11,%r12,%r13,%r14,%r15,%r16,%r17}";
    is_open(&format!("ld.global.v8.u32 {vector}, [%rd1];"), at_least(8));
    let address = ".shared .align 32 .b8 rows[64]; mov.u32 %r6, rows;";
    is_proved(&format!("{address} ld.shared.v8.u32 {vector}, [%r6+32];"), at_least(0));
}

#[test]
fn names_of_inner_scopes_hide_those_of_the_module() {
    let verdict = |outer: &str, code: &str| {
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n{outer}\n\
             .visible .entry k(.param .u64 p, .param .u32 q, .param .u64 w)\n{{\n\
             .reg .b32 %r<9>; .reg .b64 %rd<9>;\n{code}\nret; }}"
        );
        prove(&graph_ptx::parse(&text).unwrap(), &kernel(Vec::new()), &Effort::FULL)
    };
    let tile = |outer: u32, inner: u32, at: u32| {
        verdict(
            &format!(".shared .align 4 .b8 tile[{outer}];"),
            &format!(
                "{{ .shared .align 4 .b8 tile[{inner}]; st.shared.u32 [tile], 1; }} st.shared.u32 [tile+{at}], 1;"
            ),
        )
    };
    assert_ne!(tile(16, 1024, 512), Verdict::Proved);
    assert_eq!(tile(1024, 16, 512), Verdict::Proved);
    let of_param = "mov.u64 %rd3, p; st.global.u32 [%rd3], 1;";
    assert_ne!(verdict(".global .align 4 .b8 p[16];", of_param), Verdict::Proved);
}

#[test]
fn contracts_of_sides_that_no_launch_has_are_taken() {
    let side = |axis, side| binary(Binary::Eq, Term::Grid(axis), Term::Int(side));
    let most = i128::from(u32::MAX);
    is_proved("ret;", vec![side(0, most), side(1, most), side(2, most), side(3, 7)]);
}

/// A part of a vector that is dropped has its place all the same.
#[test]
fn dropped_parts_of_vectors_have_places() {
    let high = "cvt.u64.u32 %rd4, %r5; mov.b64 {_, %r9}, %rd4;";
    is_proved(&format!("{high} store;"), at_least(1));
    is_open("mov.b64 {_, %r9}, %rd2; store;", m_fits());
    // The first half of `m` says nothing of the second.
    let halves = "ld.param.v2.u32 {_, %r9}, [w]; ld.param.u32 %r6, [w]; setp.gt.u32 %p1, %r6, 7; @%p1 bra END;";
    is_open(&format!("{halves} store;"), at_least(8));
    is_proved(
        &format!("{} store;", halves.replace("{_, %r9}", "{%r9, _}")),
        at_least(8),
    );
}

#[test]
fn a_vector_of_special_registers_has_a_number_in_each_part() {
    is_open("mov.v4.u32 {%r6, %r9, %r7, %r8}, %tid; store;", at_least(1));
    is_open("mov.v4.u32 {%r9, _, _, _}, %ctaid; store;", at_least(1));
}

/// A thread does not come back from CUDA's `__assertfail`.
#[test]
fn a_module_may_define_what_others_take_from_cuda() {
    let call = "call __assertfail; mov.u32 %r9, 0; store;";
    is_proved(call, at_least(1));
    let evil = ".func other() { .reg .b64 %rd<2>; mov.u64 %rd1, 64; st.global.u32 [%rd1], 1; ret; }\n";
    for define in [
        evil.replace("other", "__assertfail"),
        format!("{evil}.func __assertfail();\n.alias __assertfail, other;\n"),
    ] {
        let text = text(call).replace(".visible .entry", &format!("{define}.visible .entry"));
        let module = graph_ptx::parse(&text).expect("it is PTX");
        let verdict = prove(&module, &kernel(at_least(1)), &Effort::FULL);
        assert!(!matches!(verdict, Verdict::Proved), "{text}");
    }
}

#[test]
fn addresses_in_vectors_are_addresses() {
    is_open(
        "cp.async.bulk.prefetch.tensor.1d.L2.global.tile [%rd2, {%r1}];",
        at_least(1),
    );
    // Outside of global memory, it may do anything.
    is_open("applypriority.global.L2::evict_normal [%rd2], 128;", at_least(1));
    is_proved("prefetch.global.L1 [%rd2];", at_least(1));
    is_open("prefetch.tensormap [%rd2];", at_least(1));
    is_open("fence.proxy.tensormap::generic.acquire.gpu [%rd2], 128;", at_least(1));
}
