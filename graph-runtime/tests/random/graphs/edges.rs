//! Graphs with an edge less, an edge of another kind, or without a write.

use super::author;
use super::build::{Built, Options};
use super::memory::Shared;
use super::model::{is_somewhat_initialised, is_wholly_initialised};
use super::order::{all_ordered, conflicts};
use super::program::{Action, Body, Edge, MEMORIES, Program, Space};
use super::{are_usual, seeds};
use crate::common::random::Random;
use crate::common::*;

/// Builds the first graph of a pair alone.
fn build(device: &Device, program: &Program, options: Options) -> Result<Built> {
    Built::new(device, program, &Shared::new(device)?, options)
}

fn bodies(program: &Program) -> Vec<Body> {
    let mut bodies = Vec::new();
    program.body.each(&mut |body| bodies.push(body.clone()));
    bodies
}

/// Some of the edges of a program: the number of their body, and their index there.
fn some_edges(random: &mut Random, bodies: &[Body], most: usize) -> Vec<(usize, usize)> {
    let of_body = |(number, body): (usize, &Body)| (0..body.edges.len()).map(move |edge| (number, edge)).collect();
    let mut all: Vec<(usize, usize)> = bodies.iter().enumerate().flat_map(of_body as fn(_) -> Vec<_>).collect();
    while all.len() > most {
        all.swap_remove(random.below(all.len()));
    }
    all
}

#[test]
fn an_edge_is_missed_where_it_is_needed() {
    let device = Device::emulator();
    let (mut needed, mut needless) = (0, 0);
    for seed in seeds(0..60) {
        let program = author::program(seed);
        let bodies = bodies(&program);
        for (body, edge) in some_edges(&mut Random(seed), &bodies, 12) {
            let of_body = &bodies[body];
            let mut left = of_body.edges.clone();
            let removed = left.remove(edge);
            let options = Options {
                without: Some((of_body.id, edge)),
                ..Options::default()
            };
            let what = format!("seed {seed}, without {removed:?} of body {}", of_body.id);
            let built = build(&device, &program, options);
            if all_ordered(of_body, &left, &conflicts(of_body)) {
                built.unwrap_or_else(|error| panic!("{what}: {error}"));
                needless += 1;
                continue;
            }
            let Err(Error::Invalid { diagnostics, .. }) = built else {
                panic!("{what}: nobody noticed");
            };
            let fits = |found: &Diagnostic| matches!(found.code, Code::Race | Code::Uninitialized);
            assert!(diagnostics.iter().all(fits), "{what}: {diagnostics:?}");
            needed += 1;
        }
    }
    let are_enough = needed > 100 && needless > 20;
    assert!(are_enough || !are_usual(), "{needed} needed edges, {needless} others");
}

#[test]
fn a_programmatic_edge_leads_to_kernels_that_wait() {
    let device = Device::emulator();
    let mut refused = 0;
    for seed in seeds(0..60) {
        let program = author::program(seed);
        for body in bodies(&program) {
            let early = |edge: &Edge| {
                let [from, to] = [edge.from, edge.to].map(|node| &body.nodes[node].action);
                from.is_kernel()
                    && matches!(
                        to,
                        Action::Mix { .. } | Action::Draw { .. } | Action::Count { .. } | Action::Remainder { .. }
                    )
            };
            let Some(edge) = body.edges.iter().position(early) else {
                continue;
            };
            let options = Options {
                early: Some((body.id, edge)),
                ..Options::default()
            };
            let Err(Error::Invalid { diagnostics, .. }) = build(&device, &program, options) else {
                panic!("seed {seed}, edge {edge} of body {}: nobody noticed", body.id);
            };
            assert_eq!(diagnostics.len(), 1, "seed {seed}: {diagnostics:?}");
            assert_eq!(diagnostics[0].code, Code::ProgrammaticEdge, "seed {seed}");
            refused += 1;
        }
    }
    assert!(refused > 50 || !are_usual(), "{refused} edges");
}

#[test]
fn a_write_is_missed_where_something_reads_it() {
    let device = Device::emulator();
    let (mut refused, mut built) = (0, 0);
    for seed in seeds(0..40) {
        let mut random = Random(seed);
        for _ in 0..4 {
            let mut program = author::program(seed);
            let mut writers = Vec::new();
            program.body.each_node_mut(&mut |node| {
                let writes = node.action.areas().1;
                let scratch = writes.is_some_and(|area| MEMORIES[area.memory].space == Space::Scratch);
                if scratch && node.enabled && node.action.can_be_disabled() {
                    writers.push(node.id);
                }
            });
            if writers.is_empty() {
                continue;
            }
            let disabled = random.of(&writers);
            program
                .body
                .each_node_mut(&mut |node| node.enabled &= node.id != disabled);
            let what = format!("seed {seed}, without node {disabled}");
            match build(&device, &program, Options::default()) {
                Ok(_) => {
                    assert!(is_somewhat_initialised(&program), "{what}: nobody noticed");
                    built += 1;
                }
                // A part that nothing writes is refused where the checks can tell it.
                Err(Error::Invalid { diagnostics, .. }) if !is_wholly_initialised(&program) => {
                    let fits = |found: &Diagnostic| found.code == Code::Uninitialized;
                    assert!(diagnostics.iter().all(fits), "{what}: {diagnostics:?}");
                    refused += 1;
                }
                Err(error) => panic!("{what}: {error}"),
            }
        }
    }
    assert!(
        refused > 50 && built > 50 || !are_usual(),
        "{refused} refused, {built} built"
    );
}
