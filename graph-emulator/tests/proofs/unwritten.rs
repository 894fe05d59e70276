//! Memory that holds nothing when a launch begins: proved kernels write it before they read it, and refuted ones do
//! not.

use crate::judge::{fault, is_small, run};
use crate::refuted::{Contract, planted, rows};
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

/// Kernels that load what they may not have written, each with its name, its code and its verdict.
fn loads() -> impl Iterator<Item = (&'static str, &'static str, Expected)> {
    rows(include_str!("unwritten.txt")).map(|[verdict, name, code]| {
        let known = [Proved, Refuted, Unknown].into_iter();
        let mut expected = known.filter(|known| format!("{known:?}").eq_ignore_ascii_case(verdict));
        (name, code, expected.next().expect("a verdict"))
    })
}

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
    for (name, code, expected) in loads() {
        let (text, module, kernel) = kernel(name, code);
        let found = judged(&text, &module, &kernel, name, 3);
        if found != expected {
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
    for (name, code, _) in loads() {
        let (_, module, mut kernel) = kernel(name, code);
        kernel.unwritten.clear();
        assert_eq!(prove(&module, &kernel, &Effort::FULL), Verdict::Proved, "{name}");
    }
}

/// The message names the memory, the load, and the store before it, or the launch that shows the mistake.
#[test]
fn messages_say_what_is_read() {
    let words = |name: &str| {
        let (_, code, _) = loads().find(|(known, ..)| *known == name).unwrap();
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
    let proved = loads().filter(|(.., expected)| *expected == Proved);
    proved.map(|(name, code, _)| {
        let (text, _, kernel) = kernel(name, code);
        (text, kernel)
    })
}
