//! The analysis compared with running random graphs on two and three ranks.

use crate::{Bound, Code, Draft, Memory, Mode, NodeKind, Origin, Region, Role, check};
use proptest::prelude::*;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The number of device resources; one host resource follows.
const RESOURCES: usize = 4;
const CELLS: usize = 2;

/// A resource, and one of its cells or, if 0, all of them.
type Place = (usize, usize);

#[derive(Clone, Debug)]
enum Step {
    /// Reads places, and writes one: all of it (`true`), or what it held matters as well.
    Kernel(Vec<Place>, Place, bool, bool),
    Set(Place),
    Copy(Place, Place),
    Load(Place),
    AllReduce(Place),
    Broadcast(Place),
    ReduceScatter(Place, Place),
    If(usize, Vec<Step>, Vec<Step>),
    While(usize, Vec<Step>),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let place = || (0..RESOURCES, 0..=CELLS);
    let kernel = (prop::collection::vec(place(), 0..2), place(), any::<bool>(), 0..4);
    let plain = prop_oneof![
        5 => kernel.prop_map(|(reads, to, all, ranked)| Step::Kernel(reads, to, all, ranked == 0)),
        2 => place().prop_map(Step::Set),
        2 => (place(), place()).prop_map(|(from, to)| Step::Copy(from, to)),
        1 => place().prop_map(Step::Load),
        4 => place().prop_map(Step::AllReduce),
        1 => place().prop_map(Step::Broadcast),
        1 => (place(), place()).prop_map(|(from, to)| Step::ReduceScatter(from, to)),
    ];
    let step = plain.prop_recursive(2, 24, 4, |inner| {
        let body = || prop::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            3 => inner.clone(),
            2 => (0..RESOURCES, body(), body()).prop_map(|(flag, then, other)| Step::If(flag, then, other)),
            2 => (0..RESOURCES, body()).prop_map(|(flag, body)| Step::While(flag, body)),
        ]
    });
    prop::collection::vec(step, 1..8)
}

fn region(place: Place) -> Region {
    match place.1 {
        0 => Region::Whole,
        cell => Region::Index(Bound::Known(cell as u64 - 1)),
    }
}

/// The steps as a draft. All nodes of a body run one after the other.
fn draft(steps: &[Step]) -> Draft {
    let mut draft = Draft::new("Test");
    for number in 0..RESOURCES {
        let resource = draft.resource(format!("x{number}"), Memory::Device);
        draft.resources[resource].extent = Some(CELLS as u64);
    }
    draft.resource("input", Memory::Host);
    draft.communicator("world");
    add(&mut draft, 0, steps);
    draft
}

fn add(draft: &mut Draft, body: usize, steps: &[Step]) {
    let mut before = None;
    for step in steps {
        let kind = match step {
            Step::Kernel(..) => NodeKind::Kernel,
            Step::Set(_) => NodeKind::Memset,
            Step::Copy(..) | Step::Load(_) => NodeKind::Memcpy,
            Step::AllReduce(_) => NodeKind::AllReduce,
            Step::Broadcast(_) => NodeKind::Broadcast,
            Step::ReduceScatter(..) => NodeKind::ReduceScatter,
            Step::If(..) => NodeKind::If,
            Step::While(..) => NodeKind::While,
        };
        let node = draft.node_in(body, format!("n{}", draft.nodes.len()), kind);
        if let Some(before) = before.replace(node) {
            draft.edge(before, node);
        }
        let mut access = |place: Place, mode| {
            draft.access(node, place.0, region(place), mode);
        };
        match step {
            Step::Kernel(reads, to, all, ranked) => {
                reads.iter().for_each(|&place| access(place, Mode::Read));
                access(*to, if *all { Mode::Write } else { Mode::ReadWrite });
                draft.nodes[node].rank_dependent = *ranked;
            }
            Step::Set(to) => access(*to, Mode::Write),
            Step::Copy(from, to) | Step::ReduceScatter(from, to) => {
                access(*from, Mode::Read);
                access(*to, Mode::Write);
            }
            Step::Load(to) => {
                access((RESOURCES, 0), Mode::Read);
                access(*to, Mode::Write);
            }
            Step::AllReduce(place) | Step::Broadcast(place) => access(*place, Mode::ReadWrite),
            Step::If(flag, ..) | Step::While(flag, _) => access((*flag, 1), Mode::Read),
        }
        if kind.is_collective() {
            draft.collective(node, 0);
        }
        match step {
            Step::If(_, then, other) => {
                for (role, steps) in [(Role::Then, then), (Role::Else, other)] {
                    let body = draft.body(node, role);
                    add(draft, body, steps);
                }
            }
            Step::While(_, steps) => {
                let body = draft.body(node, Role::While);
                add(draft, body, steps);
            }
            _ => {}
        }
    }
}

/// The memory of some ranks while they run.
struct Ranks {
    memory: Vec<[[u64; CELLS]; RESOURCES]>,
}

/// Some ranks run a collective, and others do not.
struct Apart;

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn cells(place: Place) -> std::ops::Range<usize> {
    match place.1 {
        0 => 0..CELLS,
        cell => cell - 1..cell,
    }
}

impl Ranks {
    fn read(&self, rank: usize, place: Place) -> Vec<u64> {
        self.memory[rank][place.0][cells(place)].to_vec()
    }

    fn write(&mut self, rank: usize, place: Place, value: impl Fn(usize) -> u64) {
        for cell in cells(place) {
            self.memory[rank][place.0][cell] = value(cell);
        }
    }

    /// Runs the steps on these ranks. `path` tells the step.
    fn run(&mut self, steps: &[Step], active: &[usize], path: u64) -> Result<(), Apart> {
        for (number, step) in steps.iter().enumerate() {
            let id = hash((path, number));
            self.step(step, active, id)?;
        }
        Ok(())
    }

    fn step(&mut self, step: &Step, active: &[usize], id: u64) -> Result<(), Apart> {
        let count = self.memory.len();
        let is_collective = matches!(step, Step::AllReduce(_) | Step::Broadcast(_) | Step::ReduceScatter(..));
        if is_collective && !active.is_empty() && active.len() < count {
            return Err(Apart);
        }
        match step {
            Step::Kernel(reads, to, all, ranked) => {
                for &rank in active {
                    let seen: Vec<Vec<u64>> = reads.iter().map(|&place| self.read(rank, place)).collect();
                    let value = hash((id, seen, ranked.then_some(rank)));
                    if *all {
                        self.write(rank, *to, |cell| hash((value, cell)));
                        continue;
                    }
                    // It writes a part of what it may write, and what that held matters.
                    let before = self.read(rank, *to);
                    let only = hash(id) as usize % (CELLS + 1);
                    let kept = self.memory[rank][to.0];
                    self.write(rank, *to, |cell| match cell == only {
                        true => kept[cell],
                        false => hash((value, &before, cell)),
                    });
                }
            }
            Step::Set(to) => active.iter().for_each(|&rank| self.write(rank, *to, |_| id)),
            Step::Copy(from, to) => {
                for &rank in active {
                    let value = hash(self.read(rank, *from));
                    self.write(rank, *to, |cell| hash((value, cell)));
                }
            }
            Step::Load(to) => active.iter().for_each(|&rank| self.write(rank, *to, |_| hash(rank))),
            Step::AllReduce(place) => {
                let all: Vec<Vec<u64>> = active.iter().map(|&rank| self.read(rank, *place)).collect();
                let value = hash(all);
                active
                    .iter()
                    .for_each(|&rank| self.write(rank, *place, |cell| hash((value, cell))));
            }
            Step::Broadcast(place) => {
                let from = self.memory[0][place.0];
                active
                    .iter()
                    .for_each(|&rank| self.write(rank, *place, |cell| from[cell]));
            }
            Step::ReduceScatter(from, to) => {
                let all: Vec<Vec<u64>> = active.iter().map(|&rank| self.read(rank, *from)).collect();
                let value = hash(all);
                active
                    .iter()
                    .for_each(|&rank| self.write(rank, *to, |cell| hash((value, cell, rank))));
            }
            Step::If(flag, then, other) => {
                let (yes, no): (Vec<usize>, Vec<usize>) =
                    active.iter().partition(|&&rank| self.memory[rank][*flag][0] % 2 == 1);
                self.run(then, &yes, hash((id, 1)))?;
                self.run(other, &no, hash((id, 2)))?;
            }
            Step::While(flag, body) => {
                let mut left = active.to_vec();
                for _ in 0..3 {
                    left.retain(|&rank| !self.memory[rank][*flag][0].is_multiple_of(3));
                    self.run(body, &left, hash((id, 3)))?;
                }
            }
        }
        Ok(())
    }
}

/// Whether ranks that run the steps in two launches ever part.
fn part(steps: &[Step], ranks: usize) -> bool {
    let all: Vec<usize> = (0..ranks).collect();
    let mut state = Ranks {
        memory: vec![[[0; CELLS]; RESOURCES]; ranks],
    };
    (0..2).any(|_| state.run(steps, &all, 0).is_err())
}

fn is_refused(draft: &Draft) -> bool {
    let errors = check(draft).errors;
    errors.iter().any(|error| error.code == Code::RankDependent)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]
    #[test]
    fn ranks_of_accepted_graphs_run_the_same_collectives(steps in steps()) {
        if !is_refused(&draft(&steps)) {
            prop_assert!(!part(&steps, 2) && !part(&steps, 3));
        }
    }
}

const FLAG: Place = (0, 1);

fn refused(steps: &[Step]) -> bool {
    is_refused(&draft(steps))
}

fn guarded() -> Step {
    Step::If(0, vec![Step::AllReduce((3, 0))], Vec::new())
}

#[test]
fn conditions_that_are_reduced_or_set_are_the_same() {
    assert!(!refused(&[Step::Load(FLAG), Step::AllReduce(FLAG), guarded()]));
    assert!(!refused(&[Step::Load((0, 0)), Step::Broadcast((0, 0)), guarded()]));
    assert!(!refused(&[Step::Set(FLAG), guarded()]));
    let computed = Step::Kernel(vec![(1, 0)], FLAG, false, false);
    assert!(!refused(&[Step::AllReduce((1, 0)), computed, guarded()]));
    assert!(!refused(&[guarded()]), "zeroed when the graph is built");
    let counted = Step::Kernel(Vec::new(), FLAG, false, false);
    assert!(!refused(&[guarded(), counted]), "what launches count");
    let converges = vec![Step::Kernel(vec![(1, 0)], FLAG, true, false), Step::AllReduce(FLAG)];
    assert!(!refused(&[
        Step::Load((1, 0)),
        Step::Set(FLAG),
        Step::While(0, converges)
    ]));
}

#[test]
fn conditions_of_one_rank_are_refused() {
    assert!(refused(&[Step::Load(FLAG), guarded()]));
    assert!(refused(&[Step::Kernel(Vec::new(), FLAG, true, true), guarded()]));
    assert!(refused(&[
        Step::AllReduce(FLAG),
        Step::ReduceScatter((1, 0), FLAG),
        guarded()
    ]));
    assert!(
        refused(&[Step::AllReduce((0, 2)), Step::Load(FLAG), guarded()]),
        "another cell"
    );
    let local = vec![Step::AllReduce((2, 0)), Step::Kernel(vec![(1, 0)], FLAG, true, false)];
    assert!(
        refused(&[Step::Load((1, 0)), Step::Set(FLAG), Step::While(0, local)]),
        "converges by itself"
    );
    let inside = Step::If(1, vec![Step::Set(FLAG)], Vec::new());
    assert!(refused(&[Step::Load((1, 1)), inside, guarded()]), "set on some ranks");
    assert!(refused(&[guarded(), Step::Load(FLAG)]), "left by the launch before");
}

#[test]
fn a_promise_counts() {
    let mut draft = draft(&[Step::Load(FLAG), guarded()]);
    assert!(is_refused(&draft));
    draft.resources[RESOURCES].origin = Origin::Uniform;
    assert!(!is_refused(&draft));
    draft.resources[0].origin = Origin::Outside;
    assert!(!is_refused(&draft), "it is loaded before");
    let mut shared = self::draft(&[guarded()]);
    assert!(!is_refused(&shared));
    shared.resources[0].origin = Origin::Outside;
    assert!(is_refused(&shared));
}

#[test]
fn messages_tell_the_way_to_the_difference() {
    let mut draft = draft(&[
        Step::Load((1, 0)),
        Step::Kernel(vec![(1, 0)], FLAG, true, false),
        guarded(),
    ]);
    for (node, name) in ["load", "decide", "choose", "sum"].into_iter().enumerate() {
        draft.nodes[node].name = name.into();
    }
    let error = check(&draft).errors.remove(0);
    assert_eq!(
        error.to_string(),
        "collective `sum` is in the body of `choose`, whose condition `x0[0]` may differ between ranks \
         [rank-dependent]\n\
         note: `decide` writes `x0[0]` from `x1`\n\
         note: `load` writes `x1` from `input`\n\
         note: `input` is host memory, which each rank fills for itself\n\
         note: the ranks that run it would wait for the others for ever\n\
         help: let the last node that writes `x0[0]` before `choose` be an `all_reduce`, an `all_gather` or a \
         `broadcast` over `world`, for example `all_reduce agree = max(x0[0]) over world;`; or, if it comes from memory \
         that is the same on all ranks, promise that there: `host x: .., uniform;`"
    );
}

#[test]
fn another_communicator_says_nothing() {
    let mut draft = draft(&[Step::Load(FLAG), Step::AllReduce(FLAG), guarded()]);
    assert!(!is_refused(&draft));
    let other = draft.communicator("row");
    draft.collectives[0].communicator = other;
    assert!(is_refused(&draft));
}
