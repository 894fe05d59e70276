//! Memory that holds nothing when a launch begins: proved kernels write it before they read it, and refuted ones do
//! not.

use crate::judge::{fault, is_small, run};
use crate::refuted::{Contract, planted};
use graph_emulator::FaultKind;
use graph_ptx::ast::Module;
use graph_ptx::proof::{Effort, Gap, Kernel, Verdict, prove, samples, words};

/// The verdict that a planted kernel has.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Expected {
    Proved,
    Refuted,
    Unknown,
}
use Expected::{Proved, Refuted, Unknown};

const GUARD: &str = "setp.ge.u32 %p1, %r4, %r5; @%p1 bra END;";
const AT: &str = "mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2;";
/// The contract lets each block have 64 threads, and each thread an element; `%rd4` is that of the block's element 0.
const TILE: &str = "shl.b32 %r6, %r1, 6; mul.wide.u32 %rd2, %r6, 4; add.s64 %rd4, %rd1, %rd2; \
                    mul.wide.u32 %rd2, %r3, 4; add.s64 %rd3, %rd4, %rd2;";

/// Kernels that load what they may not have written; their contract is `n <= data.len()`, but for those with a `TILE`.
const PLANTED: &[(&str, &str, Expected)] = &[
    (
        "a store, then a load",
        "GUARD AT st.global.u32 [%rd3], %r5; ld.global.u32 %r7, [%rd3];",
        Proved,
    ),
    ("only a load", "GUARD AT ld.global.u32 %r7, [%rd3];", Refuted),
    (
        "a load, then a store",
        "GUARD AT ld.global.u32 %r7, [%rd3]; st.global.u32 [%rd3], %r7;",
        Refuted,
    ),
    (
        "a sum",
        "GUARD AT ld.global.u32 %r7, [%rd3]; add.u32 %r7, %r7, 1; st.global.u32 [%rd3], %r7;",
        Refuted,
    ),
    (
        "the same by another register",
        "GUARD AT st.global.u32 [%rd3], %r5; add.s64 %rd4, %rd2, %rd1; ld.global.u32 %r7, [%rd4];",
        Proved,
    ),
    (
        "the next word",
        "GUARD AT st.global.u32 [%rd3], %r5; add.u32 %r6, %r4, 1; setp.ge.u32 %p2, %r6, %r5; @%p2 bra END; ld.global.u32 %r7, [%rd3+4];",
        Refuted,
    ),
    (
        "the first word of all",
        "GUARD AT setp.eq.u32 %p2, %r4, 0; @%p2 bra END; st.global.u32 [%rd3], %r5; ld.global.u32 %r7, [%rd1];",
        Refuted,
    ),
    (
        "a part of the word",
        "GUARD AT st.global.u32 [%rd3], %r5; ld.global.u8 %r7, [%rd3+2];",
        Proved,
    ),
    (
        "more than the word",
        "GUARD AT st.global.u8 [%rd3], %r5; ld.global.u32 %r7, [%rd3];",
        Refuted,
    ),
    (
        "four parts",
        "GUARD AT st.global.u8 [%rd3+1], %r5; st.global.u8 [%rd3], %r5; st.global.u16 [%rd3+2], %r5; ld.global.u32 %r7, [%rd3];",
        Proved,
    ),
    (
        "three of four parts",
        "GUARD AT st.global.u8 [%rd3], %r5; st.global.u16 [%rd3+2], %r5; ld.global.u32 %r7, [%rd3];",
        Refuted,
    ),
    (
        "a guard that is the same",
        "setp.lt.u32 %p1, %r4, %r5; @!%p1 bra END; AT setp.lt.u32 %p2, %r3, 7; @%p2 st.global.u32 [%rd3], %r5; @%p2 ld.global.u32 %r7, [%rd3];",
        Proved,
    ),
    (
        "a guard that is stronger",
        "GUARD AT setp.lt.u32 %p2, %r3, 7; @%p2 st.global.u32 [%rd3], %r5; setp.lt.u32 %p2, %r3, 6; @%p2 ld.global.u32 %r7, [%rd3];",
        Proved,
    ),
    (
        "a guard that is weaker",
        "GUARD AT setp.lt.u32 %p2, %r3, 1; @%p2 st.global.u32 [%rd3], %r5; setp.lt.u32 %p2, %r3, 9; @%p2 ld.global.u32 %r7, [%rd3];",
        Refuted,
    ),
    (
        "a guard that is turned",
        "GUARD AT setp.lt.u32 %p2, %r3, 1; @%p2 st.global.u32 [%rd3], %r5; @!%p2 ld.global.u32 %r7, [%rd3];",
        Refuted,
    ),
    (
        "one of two branches",
        "GUARD AT setp.lt.u32 %p2, %r3, 1; @%p2 bra OVER; st.global.u32 [%rd3], %r5; OVER: ld.global.u32 %r7, [%rd3];",
        Refuted,
    ),
    (
        "both branches",
        "GUARD AT setp.lt.u32 %p2, %r3, 1; @%p2 bra OVER; st.global.u32 [%rd3], %r5; bra JOIN; OVER: st.global.u32 [%rd3], %r3; JOIN: ld.global.u32 %r7, [%rd3];",
        Unknown,
    ),
    (
        "a branch that is taken twice",
        "GUARD AT setp.lt.u32 %p2, %r3, 1; @%p2 bra OVER; st.global.u32 [%rd3], %r5; OVER: setp.lt.u32 %p2, %r3, 2; @%p2 bra END; ld.global.u32 %r7, [%rd3];",
        Proved,
    ),
    (
        "after two branches that meet",
        "GUARD AT setp.lt.u32 %p2, %r3, 1; @%p2 bra OVER; mov.u32 %r7, 1; OVER: st.global.u32 [%rd3], %r5; setp.lt.u32 %p2, %r3, 2; @%p2 bra DONE; mov.u32 %r7, 1; DONE: ld.global.u32 %r7, [%rd3];",
        Proved,
    ),
    ("an atomic update", "GUARD AT red.global.add.u32 [%rd3], 1;", Refuted),
    (
        "an atomic update of what was written",
        "GUARD AT st.global.u32 [%rd3], 0; atom.global.add.u32 %r7, [%rd3], 1;",
        Proved,
    ),
    (
        "a load in a loop",
        "GUARD AT st.global.u32 [%rd3], %r5; mov.u32 %r6, 0; LOOP: ld.global.u32 %r7, [%rd3]; add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, 5; @%p2 bra LOOP;",
        Proved,
    ),
    (
        "a store in the loop, after the load",
        "GUARD AT mov.u32 %r6, 0; LOOP: ld.global.u32 %r7, [%rd3]; st.global.u32 [%rd3], %r6; add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, 5; @%p2 bra LOOP;",
        Refuted,
    ),
    (
        "each iteration writes what it reads",
        "mov.u32 %r4, 0; setp.eq.u32 %p1, %r5, 0; @%p1 bra END; LOOP: AT st.global.u32 [%rd3], %r5; ld.global.u32 %r7, [%rd3]; add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, %r5; @%p2 bra LOOP;",
        Proved,
    ),
    (
        "each iteration reads what the next one writes",
        "mov.u32 %r4, 0; sub.u32 %r6, %r5, 1; LOOP: setp.ge.u32 %p1, %r4, %r5; @%p1 bra END; setp.eq.u32 %p1, %r4, %r6; @%p1 bra END; AT st.global.u32 [%rd3], %r5; ld.global.u32 %r7, [%rd3+4]; add.u32 %r4, %r4, 1; bra LOOP;",
        Refuted,
    ),
    (
        "each iteration reads what the one before has written",
        "mov.u32 %r4, 0; LOOP: setp.ge.u32 %p1, %r4, %r5; @%p1 bra END; AT st.global.u32 [%rd3], %r5; setp.eq.u32 %p1, %r4, 0; @%p1 bra NEXT; ld.global.u32 %r7, [%rd3+-4]; NEXT: add.u32 %r4, %r4, 1; bra LOOP;",
        Unknown,
    ),
    (
        "after a loop that may not run",
        "mov.u32 %r4, 0; setp.eq.u32 %p1, %r5, 0; @%p1 bra END; sub.u32 %r6, %r5, 1; LOOP: setp.ge.u32 %p2, %r4, %r6; @%p2 bra OUT; AT st.global.u32 [%rd3], %r5; add.u32 %r4, %r4, 1; bra LOOP; OUT: ld.global.u32 %r7, [%rd1];",
        Unknown,
    ),
    (
        "the neighbour, after a barrier",
        "TILE st.global.u32 [%rd3], %r5; bar.sync 0; ld.global.u32 %r7, [%rd4]; ld.global.u32 %r7, [%rd4+252];",
        Proved,
    ),
    (
        "all of the block, after a barrier",
        "TILE st.global.u32 [%rd3], %r5; bar.sync 0; mov.u32 %r6, 0; LOOP: mul.wide.u32 %rd2, %r6, 4; add.s64 %rd3, %rd4, %rd2; ld.global.u32 %r7, [%rd3]; add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, 64; @%p2 bra LOOP;",
        Proved,
    ),
    (
        "the mirrored place, after a barrier",
        "TILE st.global.u32 [%rd3], %r5; bar.sync 0; sub.u32 %r6, 63, %r3; mul.wide.u32 %rd2, %r6, 4; add.s64 %rd3, %rd4, %rd2; ld.global.u32 %r7, [%rd3];",
        Proved,
    ),
    (
        "the neighbour without a barrier",
        "TILE st.global.u32 [%rd3], %r5; ld.global.u32 %r7, [%rd4];",
        Unknown,
    ),
    (
        "the neighbour before the barrier",
        "TILE ld.global.u32 %r7, [%rd4]; bar.sync 0; st.global.u32 [%rd3], %r5;",
        Refuted,
    ),
    (
        "the neighbour, after a barrier of a warp",
        "TILE st.global.u32 [%rd3], %r5; bar.warp.sync -1; ld.global.u32 %r7, [%rd4];",
        Unknown,
    ),
    (
        "the neighbour, after a barrier of some",
        "TILE st.global.u32 [%rd3], %r5; bar.sync 0, 64; ld.global.u32 %r7, [%rd4];",
        Unknown,
    ),
    (
        "the neighbour, of which half has written",
        "TILE setp.lt.u32 %p1, %r3, 32; @%p1 st.global.u32 [%rd3], %r5; bar.sync 0; ld.global.u32 %r7, [%rd4+252];",
        Refuted,
    ),
    (
        "the neighbour, of the half that has written",
        "TILE setp.lt.u32 %p1, %r3, 32; @%p1 st.global.u32 [%rd3], %r5; bar.sync 0; ld.global.u32 %r7, [%rd4+124];",
        Proved,
    ),
    (
        "of another block, after a barrier",
        "TILE st.global.u32 [%rd3], %r5; bar.sync 0; ld.global.u32 %r7, [%rd1];",
        Unknown,
    ),
    (
        "a barrier that some threads leave before",
        "TILE setp.eq.u32 %p1, %r3, 5; @%p1 bra END; st.global.u32 [%rd3], %r5; bar.sync 0; ld.global.u32 %r7, [%rd4+20];",
        Refuted,
    ),
    (
        "a barrier in a loop, with the store after it",
        "TILE mov.u32 %r6, 0; LOOP: bar.sync 0; setp.eq.u32 %p1, %r6, 0; @%p1 bra OVER; ld.global.u32 %r7, [%rd4]; OVER: st.global.u32 [%rd3], %r5; add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, 3; @%p2 bra LOOP;",
        Unknown,
    ),
    (
        "two halves of a block",
        "TILE xor.b32 %r6, %r3, 32; and.b32 %r6, %r6, 63; st.global.u32 [%rd3], %r5; bar.sync 0; mul.wide.u32 %rd2, %r6, 4; add.s64 %rd3, %rd4, %rd2; ld.global.u32 %r7, [%rd3];",
        Proved,
    ),
];

fn kernel(name: &str, code: &str) -> (String, Module, Kernel) {
    use graph_ptx::proof::{Binary, Term};
    let full = code
        .replace("TILE", TILE)
        .replace("GUARD", GUARD)
        .replace("AT ", &format!("{AT} "));
    let (text, mut kernel) = planted(&(name, &full, Contract::Values));
    kernel.unwritten = vec![0];
    if code.contains("TILE") {
        let is = |op, left: Term, right: Term| Term::Binary(op, Box::new(left), Box::new(right));
        kernel.requires = vec![
            is(Binary::Eq, Term::Block(0), Term::Int(64)),
            is(Binary::Eq, Term::Block(3), Term::Block(0)),
            is(Binary::Eq, Term::Grid(3), Term::Grid(0)),
            is(Binary::Le, Term::Threads, Term::Len(0)),
        ];
    }
    let module = graph_ptx::parse(&text).unwrap_or_else(|fault| panic!("{name}: {fault}\n{text}"));
    (text, module, kernel)
}

/// The verdict on a kernel, which the emulator has confirmed; `None` if it is not what it should be.
fn judged(text: &str, module: &Module, kernel: &Kernel, name: &str, seed: u64) -> Expected {
    match prove(module, kernel, &Effort::FULL) {
        Verdict::Proved => {
            for launch in samples(module, kernel, seed, 12) {
                if is_small(&launch, 4096) {
                    let fault = fault(text, module, kernel, &launch, None);
                    assert_eq!(fault, None, "{name}: {launch:?}");
                }
            }
            Proved
        }
        Verdict::Refuted(witness) => {
            let fault = run(text, module, kernel, &witness.launch, Some(witness.fill), false).map(|fault| fault.kind);
            let is_confirmed = matches!(fault, Some(FaultKind::Uninitialized(_)));
            assert!(witness.is_unwritten && is_confirmed, "{name}: {witness:?}: {fault:?}");
            Refuted
        }
        Verdict::Unknown(reasons) => {
            let is_read = |gap: &Gap| matches!(gap, Gap::Unwritten { .. });
            assert!(reasons.iter().all(|reason| is_read(&reason.gap)), "{name}: {reasons:?}");
            Unknown
        }
    }
}

#[test]
fn planted_loads_have_their_verdicts() {
    let mut wrong = Vec::new();
    for (name, code, expected) in PLANTED {
        let (text, module, kernel) = kernel(name, code);
        let found = judged(&text, &module, &kernel, name, 3);
        if found != *expected {
            wrong.push(format!(
                "{name}: {found:?}, not {expected:?}: {:?}",
                prove(&module, &kernel, &Effort::FULL)
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Loads of memory that holds something need no store before them.
#[test]
fn loads_of_other_memory_are_as_before() {
    for (name, code, _) in PLANTED {
        let (_, module, mut kernel) = kernel(name, code);
        kernel.unwritten.clear();
        assert_eq!(prove(&module, &kernel, &Effort::FULL), Verdict::Proved, "{name}");
    }
}

/// The message names the memory, the load, and the store before it, or the launch that shows the mistake.
#[test]
fn messages_say_what_is_read() {
    let words = |name: &str| {
        let (_, code, _) = PLANTED.iter().find(|(known, ..)| *known == name).unwrap();
        let (_, module, kernel) = kernel(name, code);
        let verdict = prove(&module, &kernel, &Effort::FULL);
        words(&verdict, "k", &kernel, &module, "k.ptx", &Effort::FULL).unwrap()
    };
    let unknown = words("the neighbour without a barrier");
    assert_eq!(
        unknown.message,
        "the kernel `k` is not proved to write `data` before it reads it"
    );
    let note = "line 23 of `k.ptx`: what it reads of `data` may not be written before: the store on line 22 is not shown \
                to be made, and to these bytes";
    assert_eq!(unknown.notes, [note]);
    let refuted = words("only a load");
    assert_eq!(
        refuted.message,
        "the kernel `k` reads what nothing has written of `data`"
    );
    let notes = [
        "thread 0 of block 0 does, with a grid of 1, blocks of 2, `data.len()` = 3, `n` = 3",
        "it reads 4 bytes from byte 0 on, of 12, on line 21 of `k.ptx`",
    ];
    assert_eq!(refuted.notes, notes);
}

/// The planted kernels that are proved.
pub(super) fn planted_and_proved() -> impl Iterator<Item = (String, Kernel)> {
    let proved = PLANTED.iter().filter(|(.., expected)| *expected == Proved);
    proved.map(|(name, code, _)| {
        let (text, _, kernel) = kernel(name, code);
        (text, kernel)
    })
}
