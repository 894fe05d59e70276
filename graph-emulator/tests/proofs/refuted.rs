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

/// The kernels with a planted mistake.
fn mistakes() -> impl Iterator<Item = Planted<'static>> {
    rows(include_str!("refuted.txt")).map(|[contract, name, code]| {
        let contract = match contract {
            "none" => Contract::None,
            "values" => Contract::Values,
            "threads" => Contract::Threads,
            "one more" => Contract::OneMore,
            other => panic!("`{other}` is no contract"),
        };
        (name, code, contract)
    })
}

/// The lines of a table, each of three cells.
pub(super) fn rows(table: &'static str) -> impl Iterator<Item = [&'static str; 3]> {
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| {
        let cells: Vec<&str> = line.splitn(3, " | ").collect();
        cells.try_into().expect("three cells")
    })
}

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
    let count = mistakes().count();
    for kernel in mistakes() {
        let name = kernel.0;
        let (text, kernel) = planted(&kernel);
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
    println!("{count} planted, {faulty} of them faults of the emulator, {contracts} with a contract");
    assert!(
        count >= 30 && faulty >= 28 && contracts >= 12,
        "{faulty} faults, {contracts} contracts"
    );
}
