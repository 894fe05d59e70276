//! The instructions that can come before `griddepcontrol.wait`, in random code: compared with a machine that tries
//! every path, and with dominators.

use std::collections::HashSet;
use std::fmt::Write;

use graph_ptx::{KernelSummary, parse, summarize};
use petgraph::algo::dominators::simple_fast;
use petgraph::graph::{DiGraph, NodeIndex};
use proptest::prelude::*;
use proptest::sample::Index;

/// One instruction. Every load is of a variable of its own.
#[derive(Clone, Debug)]
enum Step {
    Load,
    Wait,
    /// To an instruction of the function, or its end.
    Branch(Index),
    /// To one of two.
    Switch(Index, Index),
    /// Calls a later function.
    Call(Index),
    Return,
    Exit,
    Trap,
}

/// An instruction, and whether it is guarded.
type Line = (Step, bool);

fn line(calls: bool, waits: u32) -> impl Strategy<Value = Line> {
    let place = any::<Index>;
    let step = prop_oneof![
        4 => Just(Step::Load),
        waits => Just(Step::Wait),
        3 => place().prop_map(Step::Branch),
        1 => (place(), place()).prop_map(|(a, b)| Step::Switch(a, b)),
        if calls { 3 } else { 0 } => place().prop_map(Step::Call),
        1 => Just(Step::Return),
        1 => Just(Step::Exit),
        1 => Just(Step::Trap),
    ];
    (step, any::<bool>())
}

fn program(functions: usize, waits: u32) -> impl Strategy<Value = Vec<Vec<Line>>> {
    let function = prop::collection::vec(line(functions > 1, waits), 0..10);
    prop::collection::vec(function, 1..=functions)
}

/// The position that an index among the instructions of a function means: one of them, or its end.
fn place(index: &Index, code: &[Line]) -> usize {
    index.index(code.len() + 1)
}

/// The function that a call in `function` reaches, if there is a later one.
fn callee(index: &Index, function: usize, program: &[Vec<Line>]) -> Option<usize> {
    let later = program.len() - function - 1;
    (later > 0).then(|| function + 1 + index.index(later))
}

/// The program as PTX, its first function as the kernel `k`.
fn text(program: &[Vec<Line>]) -> String {
    let mut text = String::from(".version 8.4\n.target sm_90\n.address_size 64\n");
    for (function, code) in program.iter().enumerate() {
        for (at, _) in code.iter().enumerate() {
            let _ = writeln!(text, ".global .u32 v{function}_{at};");
        }
    }
    for (function, code) in program.iter().enumerate().rev() {
        let _ = match function {
            0 => writeln!(text, ".entry k() {{"),
            _ => writeln!(text, ".func f{function}() {{"),
        };
        let _ = writeln!(text, ".reg .pred p; .reg .u32 r;");
        let mut lists = String::new();
        for (at, (step, guarded)) in code.iter().enumerate() {
            let _ = write!(text, "L{at}: {}", if *guarded { "@p " } else { "" });
            let _ = match step {
                Step::Load => writeln!(text, "ld.global.u32 r, [v{function}_{at}];"),
                Step::Wait => writeln!(text, "griddepcontrol.wait;"),
                Step::Branch(to) => writeln!(text, "bra L{};", place(to, code)),
                Step::Switch(a, b) => {
                    let _ = writeln!(lists, "T{at}: .branchtargets L{}, L{};", place(a, code), place(b, code));
                    writeln!(text, "brx.idx r, T{at};")
                }
                Step::Call(index) => match callee(index, function, program) {
                    Some(callee) => writeln!(text, "call f{callee};"),
                    None => writeln!(text, "membar.gl;"),
                },
                Step::Return => writeln!(text, "ret;"),
                Step::Exit => writeln!(text, "exit;"),
                Step::Trap => writeln!(text, "trap;"),
            };
        }
        let _ = writeln!(text, "{lists}L{}:\n}}", code.len());
    }
    text
}

/// The next step of a thread that has not waited yet.
type State = (usize, usize, Vec<(usize, usize)>);

/// Runs every path of threads that have not waited: the loads that they execute, and whether one of them ends.
fn run(program: &[Vec<Line>]) -> (HashSet<(usize, usize)>, bool) {
    let (mut loads, mut ends) = (HashSet::new(), false);
    let mut seen: HashSet<State> = HashSet::new();
    let mut pending: Vec<State> = vec![(0, 0, Vec::new())];
    while let Some(state) = pending.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        let (function, at, stack) = state;
        let code = &program[function];
        let next = (function, at + 1, stack.clone());
        let mut go_back = || match stack.split_last() {
            Some((&(caller, to), rest)) => pending.push((caller, to, rest.to_vec())),
            None => ends = true,
        };
        let Some((step, guarded)) = code.get(at) else {
            go_back();
            continue;
        };
        match step {
            Step::Load => {
                loads.insert((function, at));
                pending.push(next.clone());
            }
            Step::Return => go_back(),
            Step::Exit => ends = true,
            Step::Wait | Step::Trap => {}
            Step::Branch(to) => pending.push((function, place(to, code), stack)),
            Step::Switch(a, b) => {
                pending.push((function, place(a, code), stack.clone()));
                pending.push((function, place(b, code), stack));
            }
            Step::Call(index) => match callee(index, function, program) {
                Some(callee) => pending.push((callee, 0, [&stack[..], &[(function, at + 1)]].concat())),
                None => pending.push(next.clone()),
            },
        }
        if *guarded {
            pending.push(next);
        }
    }
    (loads, ends)
}

fn summary(text: &str) -> KernelSummary {
    summarize(&parse(text).unwrap(), "k", &[]).unwrap()
}

/// The loads that the summary calls early.
fn early(summary: &KernelSummary) -> HashSet<(usize, usize)> {
    let early = summary
        .variables
        .iter()
        .filter(|variable| variable.access.early.is_some());
    let name = |name: &str| {
        let (function, at) = name[1..].split_once('_').unwrap();
        (function.parse().unwrap(), at.parse().unwrap())
    };
    early.map(|variable| name(&variable.name)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn an_access_is_early_if_some_thread_comes_to_it_without_waiting(program in program(4, 3)) {
        let text = text(&program);
        let summary = summary(&text);
        let (loads, ends) = run(&program);
        prop_assert_eq!(early(&summary), loads, "{}", text);
        prop_assert_eq!(summary.early_exit.is_some(), ends, "{}", text);
    }

    /// With one wait and no calls: everything that control reaches and the wait does not dominate.
    #[test]
    fn a_single_wait_counts_for_what_it_dominates(code in prop::collection::vec(line(false, 0), 1..24), wait in any::<Index>()) {
        let mut code = code;
        let wait = wait.index(code.len());
        code[wait] = (Step::Wait, false);
        let program = [code];
        let code = &program[0];
        let mut graph = DiGraph::<(), ()>::new();
        let nodes: Vec<NodeIndex> = (0..=code.len()).map(|_| graph.add_node(())).collect();
        for (at, (step, guarded)) in code.iter().enumerate() {
            let next = |to: usize| (nodes[at], nodes[to]);
            let to = match step {
                Step::Branch(to) => vec![place(to, code)],
                Step::Switch(a, b) => vec![place(a, code), place(b, code)],
                Step::Return | Step::Exit | Step::Trap => vec![],
                _ => vec![at + 1],
            };
            graph.extend_with_edges(to.into_iter().chain(guarded.then_some(at + 1)).map(next));
        }
        let dominators = simple_fast(&graph, nodes[0]);
        let is_early = |at: usize| {
            dominators.dominators(nodes[at]).is_some_and(|mut above| !above.any(|node| node == nodes[wait]))
        };
        let is_load = |at: &usize| matches!(code[*at].0, Step::Load);
        let expected: HashSet<_> = (0..code.len()).filter(is_load).filter(|&at| is_early(at)).map(|at| (0, at)).collect();
        let text = text(&program);
        let summary = summary(&text);
        prop_assert_eq!(early(&summary), expected, "{}", text);
        let is_end = |at: &usize| code.get(*at).is_none_or(|(step, _)| matches!(step, Step::Return | Step::Exit));
        let ends = (0..=code.len()).filter(is_end).any(is_early);
        prop_assert_eq!(summary.early_exit.is_some(), ends, "{}", text);
    }
}
