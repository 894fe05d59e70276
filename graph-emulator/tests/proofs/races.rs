//! Races within kernels are those that the emulator finds.

use crate::judge::{EFFORT, FILES, is_small, proved, run, text};
use crate::refuted::{Contract, planted};
use graph_emulator::FaultKind;
use graph_ptx::ast;
use graph_ptx::proof::{self, Effort, Kernel, Races, races, samples};

/// A race of a launch, if there is one.
fn race(text: &str, module: &ast::Module, kernel: &Kernel, launch: &proof::Launch, fill: Option<u8>) -> Option<String> {
    let fault = run(text, module, kernel, launch, fill, true)?;
    matches!(fault.kind, FaultKind::Race { .. }).then(|| fault.to_string())
}

/// Whether a launch has several threads or blocks only along axes that the kernel asks for.
fn is_along_axes(module: &ast::Module, kernel: &Kernel, launch: &proof::Launch) -> bool {
    let named = |function: &&ast::Function| function.entry && function.name == kernel.entry;
    let code = module.functions.iter().find(named).and_then(ast::Function::code);
    let code = format!("{:?}", code.map(|body| &body.instructions));
    let sides = [("tid", launch.block), ("ctaid", launch.grid)];
    sides.into_iter().all(|(group, sides)| {
        let mut axes = sides.into_iter().zip(["x", "y", "z"]);
        axes.all(|(side, axis)| side == 1 || code.contains(&format!("%{group}.{axis}")))
    })
}

/// Whether kernels have races: of those that have none, no launch has one; those that are found are there.
fn judge_races(text: &str, module: &ast::Module, kernel: &Kernel, seed: u64) -> Races {
    let found = races(module, kernel, &Effort::FULL);
    match &found {
        Races::Free => {
            for launch in samples(module, kernel, seed, 12) {
                if is_small(&launch, 1024) && is_along_axes(module, kernel, &launch) {
                    let race = race(text, module, kernel, &launch, None);
                    assert_eq!(race, None, "{}: {launch:?}", kernel.entry);
                }
            }
        }
        // The emulator looks for races of one block.
        Races::Found(witness) if witness.accesses[0].block == witness.accesses[1].block => {
            let race = race(text, module, kernel, &witness.launch, Some(0));
            assert!(race.is_some(), "{}: {witness:?}", kernel.entry);
        }
        Races::Found(_) | Races::Unknown(_) => {}
    }
    found
}

#[test]
fn races_are_those_of_the_emulator() {
    let (mut free, mut all) = (0, 0);
    for file in FILES {
        let text = text(file);
        let module = graph_ptx::parse(&text).unwrap();
        for kernel in proved(&module, &EFFORT) {
            all += 1;
            match judge_races(&text, &module, &kernel, all) {
                Races::Free => free += 1,
                Races::Found(race) => println!("{file}: {}: {race:?}", kernel.entry),
                Races::Unknown(line) => println!("{file}: {}: line {line}", kernel.entry),
            }
        }
    }
    println!("{free} of {all} kernels have no races");
    assert!(free * 2 >= all, "{free} of {all}");
}

/// Kernels in which threads race, or not.
const RACING: &[(&str, &str, bool)] = &[
    ("one element of all threads", "st.global.u32 [%rd1], %r4;", true),
    (
        "the next element",
        "add.u32 %r6, %r4, 1; setp.ge.u32 %p1, %r6, %r5; @%p1 bra END; mul.wide.u32 %rd2, %r4, 4; \
         add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r7, [%rd3+4]; st.global.u32 [%rd3], %r7;",
        true,
    ),
    (
        "half of the elements twice",
        "setp.ge.u32 %p1, %r4, %r5; @%p1 bra END; shr.u32 %r4, %r4, 1; mul.wide.u32 %rd2, %r4, 4; \
         add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r3;",
        true,
    ),
    (
        "no barrier",
        "and.b32 %r6, %r3, 15; shl.b32 %r6, %r6, 2; mov.u32 %r7, tile; add.u32 %r6, %r7, %r6; \
         st.shared.u32 [%r6], %r3; ld.shared.u32 %r5, [tile]; st.global.u32 [%rd1], 7;",
        true,
    ),
    (
        "a shared array by its generic address",
        "setp.gt.u32 %p1, %r2, 16; @%p1 bra END; shl.b32 %r6, %r3, 2; mov.u32 %r7, tile; add.u32 %r6, %r7, %r6; \
         st.shared.u32 [%r6], %r3; mov.u64 %rd2, tile; cvta.shared.u64 %rd3, %rd2; ld.u32 %r7, [%rd3]; \
         mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r7;",
        true,
    ),
    (
        "two names of dynamic shared memory",
        "mov.u32 %r6, %dynamic_smem_size; shr.u32 %r6, %r6, 2; setp.ge.u32 %p1, %r3, %r6; @%p1 bra END; \
         shl.b32 %r6, %r3, 2; mov.u32 %r7, first; add.u32 %r6, %r7, %r6; st.shared.u32 [%r6], %r3; \
         ld.shared.u32 %r7, [second]; mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r7;",
        true,
    ),
    (
        "an element a thread",
        "setp.ge.u32 %p1, %r4, %r5; @%p1 bra END; STORE",
        false,
    ),
    (
        "two elements a thread",
        "setp.ge.u32 %p1, %r4, %r5; @%p1 bra END; mul.wide.u32 %rd2, %r4, 8; add.s64 %rd3, %rd1, %rd2; \
         st.global.u32 [%rd3], %r4; st.global.u32 [%rd3+4], %r3;",
        false,
    ),
    (
        "the first thread",
        "setp.ne.u32 %p1, %r4, 0; @%p1 bra END; STORE",
        false,
    ),
    (
        "an element a block, by its first thread",
        "setp.ne.u32 %p1, %r3, 0; @%p1 bra END; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; \
         st.global.u32 [%rd3], %r1;",
        false,
    ),
    ("an atomic update", "red.global.add.u32 [%rd1], %r4;", false),
    (
        "a barrier between",
        "setp.gt.u32 %p1, %r2, 16; @%p1 bra END; shl.b32 %r6, %r3, 2; mov.u32 %r7, tile; add.u32 %r6, %r7, %r6; \
         st.shared.u32 [%r6], %r3; bar.sync 0; ld.shared.u32 %r5, [tile]; mul.wide.u32 %rd2, %r4, 4; \
         add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r5;",
        false,
    ),
];

/// A kernel of [`RACING`], with its PTX.
fn racing(name: &str, code: &str) -> (String, ast::Module, Kernel) {
    let (text, mut kernel) = planted(&(name, code, Contract::Threads));
    let module = graph_ptx::parse(&text).unwrap_or_else(|fault| panic!("{name}: {fault}\n{text}"));
    // The threads, and two elements for each.
    kernel.requires.push(proof::Term::Binary(
        proof::Binary::Le,
        Box::new(proof::Term::Binary(
            proof::Binary::Mul,
            Box::new(proof::Term::Int(2)),
            Box::new(proof::Term::Value(1)),
        )),
        Box::new(proof::Term::Len(0)),
    ));
    (text, module, kernel)
}

#[test]
fn barriers_of_some_threads_order_not_all() {
    let (_, code, _) = RACING.iter().find(|(name, ..)| *name == "a barrier between").unwrap();
    for (barrier, is_free) in [
        ("bar.sync 0;", true),
        ("bar.red.popc.u32 %r5, 0, %p1;", true),
        ("bar.sync 0, 64;", false),
        ("bar.red.popc.u32 %r5, 0, 64, %p1;", false),
        ("bar.arrive 0, 64;", false),
    ] {
        let (_, module, kernel) = racing(barrier, &code.replace("bar.sync 0;", barrier));
        let found = races(&module, &kernel, &Effort::FULL);
        assert_eq!(found == Races::Free, is_free, "{barrier}: {found:?}");
    }
}

#[test]
fn a_barrier_orders_no_copy_that_the_thread_has_not_waited_for() {
    let copies = "setp.gt.u32 %p1, %r2, 16; @%p1 bra END; shl.b32 %r6, %r3, 2; mov.u32 %r7, tile; \
                  add.u32 %r6, %r7, %r6; mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2; \
                  cp.async.ca.shared.global [%r6], [%rd3], 4; bar.sync 0; ld.shared.u32 %r5, [tile];";
    let (_, module, kernel) = racing("a copy", copies);
    let found = races(&module, &kernel, &Effort::FULL);
    assert!(matches!(found, Races::Unknown(_)), "{found:?}");
}

#[test]
fn planted_races_are_found() {
    for (name, code, races) in RACING {
        let (text, module, kernel) = racing(name, code);
        let found = judge_races(&text, &module, &kernel, 1);
        let expected = matches!((&found, races), (Races::Found(_), true) | (Races::Free, false));
        assert!(expected, "{name}: {found:?}");
    }
}
