//! Refuted kernels leave their memory on the emulator, as their witnesses say.

use crate::judge::{EFFORT, FILES, declared, fault, is_small, text};
use graph_ptx::proof::{Binary, Effort, Kernel, Kind, Param, Term, Verdict, prove, samples, weakest};

/// A kernel that is refuted faults in the launch of its witness.
#[test]
fn refuted_kernels_fault_as_the_witness_says() {
    let mut faulty = 0;
    for file in FILES.iter().chain(&["examples/kernels/train_linear.sm_90.ptx"]) {
        let text = text(file);
        let module = graph_ptx::parse(&text).unwrap();
        let entries = module.functions.iter().filter(|function| function.entry);
        for kernel in entries.filter_map(|function| declared(&module, &function.name)) {
            let Verdict::Refuted(witness) = prove(&module, &kernel, &EFFORT) else {
                continue;
            };
            if is_small(&witness.launch, 4096) {
                let fault = fault(&text, &module, &kernel, &witness.launch, Some(witness.fill));
                assert!(fault.is_some(), "{file}: {}: {witness:?}", kernel.entry);
                faulty += 1;
            }
        }
    }
    println!("{faulty} refuted kernels fault");
    assert!(faulty > 30, "{faulty}");
}

/// A kernel of a planted mistake: its name, the code that is given the index `%r4` of a thread, `n` in `%r5` and the
/// address of `data` in `%rd1`, and the contract.
pub(super) type Planted<'a> = (&'a str, &'a str, Contract);

/// A contract that the author of a planted kernel took to be enough.
#[derive(Clone, Copy)]
pub(super) enum Contract {
    None,
    /// `n <= data.len()`
    Values,
    /// `threads <= data.len()`
    Threads,
    /// `n <= data.len() + 1`
    OneMore,
}

const STORE: &str = "mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r5;";

const PLANTED: &[Planted<'_>] = &[
    (
        "off by one",
        "setp.ge.u32 %p1, %r4, %r5; @%p1 bra END; add.u32 %r4, %r4, 1; STORE",
        Contract::Values,
    ),
    (
        "one word on",
        "mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3+4], %r5;",
        Contract::Threads,
    ),
    (
        "at most n",
        "setp.gt.u32 %p1, %r4, %r5; @%p1 bra END; STORE",
        Contract::Values,
    ),
    ("no guard", "STORE", Contract::Values),
    ("no contract", "STORE", Contract::None),
    (
        "a guard without a contract",
        "setp.ge.u32 %p1, %r4, %r5; @%p1 bra END; STORE",
        Contract::None,
    ),
    (
        "a contract of one more",
        "setp.ge.u32 %p1, %r4, %r5; @%p1 bra END; STORE",
        Contract::OneMore,
    ),
    ("stride of two", "shl.b32 %r4, %r4, 1; STORE", Contract::Threads),
    ("stride of three", "mul.lo.u32 %r4, %r4, 3; STORE", Contract::Threads),
    (
        "eight bytes",
        "mul.wide.u32 %rd2, %r4, 8; add.s64 %rd3, %rd1, %rd2; st.global.u64 [%rd3], %rd2;",
        Contract::Threads,
    ),
    (
        "eight bytes at four",
        "mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2; st.global.v2.u32 [%rd3], {%r5, %r5};",
        Contract::Threads,
    ),
    (
        "sixteen bytes",
        "mul.wide.u32 %rd2, %r4, 16; add.s64 %rd3, %rd1, %rd2; st.global.v4.u32 [%rd3], {%r5, %r5, %r5, %r5};",
        Contract::Threads,
    ),
    ("before the beginning", "add.s32 %r4, %r4, -1; STORE", Contract::Threads),
    (
        "a word before",
        "mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3+-4], %r5;",
        Contract::Threads,
    ),
    (
        "negative",
        "sub.s32 %r4, %r4, %r5; mul.wide.s32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r5;",
        Contract::Threads,
    ),
    (
        "counted from the end",
        "setp.ge.u32 %p1, %r4, %r5; @%p1 bra END; sub.u32 %r4, %r5, %r4; STORE",
        Contract::Values,
    ),
    (
        "overflow of int",
        "mul.wide.s32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r5;",
        Contract::Threads,
    ),
    (
        "a signed guard",
        "setp.ge.s32 %p1, %r4, %r5; @%p1 bra END; mul.wide.s32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r5;",
        Contract::Values,
    ),
    (
        "a tail of blocks of 64",
        "mad.lo.u32 %r4, %r1, 64, %r3; STORE",
        Contract::Threads,
    ),
    (
        "the size of the grid for that of a block",
        "mov.u32 %r6, %nctaid.x; mad.lo.u32 %r4, %r1, %r6, %r3; STORE",
        Contract::Threads,
    ),
    (
        "the next block",
        "add.u32 %r6, %r1, 1; mad.lo.u32 %r4, %r6, %r2, %r3; STORE",
        Contract::Threads,
    ),
    (
        "the guard is about the thread",
        "setp.ge.u32 %p1, %r3, %r5; @%p1 bra END; STORE",
        Contract::Values,
    ),
    (
        "the guard is about the block",
        "setp.ge.u32 %p1, %r1, %r5; @%p1 bra END; STORE",
        Contract::Values,
    ),
    (
        "the guard is turned",
        "setp.lt.u32 %p1, %r4, %r5; @%p1 bra END; STORE",
        Contract::Values,
    ),
    (
        "a loop that ends late",
        "mov.u32 %r4, 0; LOOP: STORE add.u32 %r4, %r4, 1; setp.le.u32 %p1, %r4, %r5; @%p1 bra LOOP;",
        Contract::Values,
    ),
    (
        "a loop of at least one",
        "mov.u32 %r4, 0; LOOP: STORE add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, %r5; @%p1 bra LOOP;",
        Contract::Values,
    ),
    ("a constant", "st.global.u32 [%rd1+40], %r5;", Contract::Threads),
    (
        "a mask that is too wide",
        "and.b32 %r4, %r4, 15; STORE",
        Contract::Values,
    ),
    ("the greater of two", "max.u32 %r4, %r4, %r5; STORE", Contract::Threads),
    (
        "half, and one",
        "shr.u32 %r4, %r4, 1; add.u32 %r4, %r4, %r5; STORE",
        Contract::Threads,
    ),
    (
        "a choice",
        "setp.eq.u32 %p1, %r4, 0; selp.b32 %r4, %r5, %r4, %p1; STORE",
        Contract::Threads,
    ),
    (
        "the remainder by one more",
        "add.u32 %r6, %r5, 1; rem.u32 %r4, %r4, %r6; STORE",
        Contract::Values,
    ),
    (
        "shared memory",
        "mov.u32 %r6, tile; shl.b32 %r4, %r3, 2; add.u32 %r6, %r6, %r4; st.shared.u32 [%r6], %r5;",
        Contract::Threads,
    ),
];

/// The kernel of a planted mistake, and its PTX.
pub(super) fn planted((_, code, contract): &Planted<'_>) -> (String, Kernel) {
    let text = format!(
        ".version 7.0\n.target sm_80\n.address_size 64\n\
         .extern .shared .align 4 .b8 first[];\n.extern .shared .align 4 .b8 second[];\n\
         .visible .entry k(.param .u64 data, .param .u32 n) {{\n.reg .pred %p<3>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<5>;\n\
         .shared .align 4 .b8 tile[64];\n\
         ld.param.u64 %rd1, [data];\nld.param.u32 %r5, [n];\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\n\
         mov.u32 %r3, %tid.x;\nmad.lo.u32 %r4, %r1, %r2, %r3;\n{}\nEND: ret;\n}}\n",
        code.replace("STORE", STORE).replace(';', ";\n")
    );
    let len = || Box::new(Term::Len(0));
    let below = |least: Term, most: Box<Term>| vec![Term::Binary(Binary::Le, Box::new(least), most)];
    let requires = match contract {
        Contract::None => Vec::new(),
        Contract::Values => below(Term::Value(1), len()),
        Contract::Threads => below(Term::Threads, len()),
        Contract::OneMore => {
            let more = Term::Binary(Binary::Add, len(), Box::new(Term::Int(1)));
            below(Term::Value(1), Box::new(more))
        }
    };
    let param = |name: &str, kind: Kind| Param {
        name: name.to_owned(),
        kind,
    };
    let params = vec![
        param(
            "data",
            Kind::Memory {
                unit: Some(4),
                len: None,
            },
        ),
        param(
            "n",
            Kind::Integer {
                bits: 32,
                signed: false,
            },
        ),
    ];
    let entry = "k".to_owned();
    (
        text,
        Kernel {
            entry,
            params,
            requires,
            unwritten: Vec::new(),
        },
    )
}

/// An index that is one of the two halves of an argument, which a vector load takes apart.
#[test]
fn halves_of_an_argument_are_followed() {
    let kernel = ("halves", "ld.param.v2.u32 {%r4, %r5}, [n]; STORE", Contract::None);
    let (text, mut kernel) = planted(&kernel);
    let text = text
        .replace(".param .u32 n", ".param .u64 n")
        .replace("ld.param.u32 %r5, [n];\n", "");
    kernel.params[1].kind = Kind::Integer {
        bits: 64,
        signed: false,
    };
    let module = graph_ptx::parse(&text).unwrap();
    let Verdict::Refuted(witness) = prove(&module, &kernel, &Effort::FULL) else {
        panic!("{:?}", prove(&module, &kernel, &Effort::FULL));
    };
    let fault = fault(&text, &module, &kernel, &witness.launch, Some(witness.fill));
    assert!(fault.is_some(), "{witness:?}");
}

#[test]
fn planted_mistakes_are_refuted_and_fault() {
    let (mut faulty, mut contracts) = (0, 0);
    for kernel in PLANTED {
        let name = kernel.0;
        let (text, kernel) = planted(kernel);
        let module = graph_ptx::parse(&text).unwrap_or_else(|fault| panic!("{name}: {fault}\n{text}"));
        let Verdict::Refuted(witness) = prove(&module, &kernel, &Effort::FULL) else {
            panic!("{name}: {:?}", prove(&module, &kernel, &Effort::FULL));
        };
        if is_small(&witness.launch, 4096) {
            let fault = fault(&text, &module, &kernel, &witness.launch, Some(witness.fill));
            assert!(fault.is_some(), "{name}: {witness:?}");
            faulty += 1;
        }
        let Some(conditions) = weakest(&module, &kernel, &Effort::FULL) else {
            continue;
        };
        contracts += 1;
        // With the contract that the help offers, it is proved, and runs.
        let mut mended = kernel.clone();
        mended
            .requires
            .extend(conditions.into_iter().map(|condition| condition.term));
        assert_eq!(prove(&module, &mended, &Effort::FULL), Verdict::Proved, "{name}");
        for launch in samples(&module, &mended, 5, 8) {
            if is_small(&launch, 4096) {
                assert_eq!(
                    crate::judge::fault(&text, &module, &mended, &launch, None),
                    None,
                    "{name}: {launch:?}"
                );
            }
        }
    }
    println!(
        "{} planted, {faulty} of them faults of the emulator, {contracts} with a contract",
        PLANTED.len()
    );
    assert!(
        PLANTED.len() >= 30 && faulty >= 28 && contracts >= 12,
        "{faulty} faults, {contracts} contracts"
    );
}
