//! Mutated macro calls must expand, and never panic or hang.
//!
//! The calls are all of `cuda_graph!` and `#[cuda_kernels]` in the workspace's Rust files and Markdown pages. Tokens
//! and groups of them are deleted, repeated, exchanged and taken from other calls. `MACRO_MUTATIONS` sets the number
//! of mutations to try, `MUTATION_SECONDS` the time to try them for instead, `MUTATION_START` the first of them.

mod corpus;
mod tree;

use crate::{graph, kernels};
use corpus::Call;
use proc_macro2::TokenStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};
use tree::{Random, mutate, smaller, tokens};

/// The longest that one expansion may take. An expansion takes milliseconds; the rest is for slow machines.
const MAX_TIME: Duration = Duration::from_secs(20);

/// The size of the stack on which rustc expands macros.
const STACK: usize = 8 << 20;

/// A number from the environment.
fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Expands a call as rustc would.
fn expand(call: &Call) -> TokenStream {
    match call {
        Call::Graph(input) => graph::expand(tokens(input)),
        Call::Kernels { attribute, item } => kernels::expand(tokens(attribute), tokens(item)),
    }
}

fn panics(call: &Call) -> bool {
    catch_unwind(AssertUnwindSafe(|| expand(call))).is_err()
}

/// Expands mutations until there is one that panics, which is returned with its number.
fn first_panic(calls: &[Call], numbers: impl Iterator<Item = u64>, begins: impl Fn(u64, &Call)) -> Option<(u64, Call)> {
    for number in numbers {
        let mut random = Random::new(number);
        let mut call = calls[random.below(calls.len())].clone();
        let donor = &calls[random.below(calls.len())];
        mutate(&mut call, donor, &mut random);
        begins(number, &call);
        if panics(&call) {
            return Some((number, call));
        }
    }
    None
}

/// The call with parts left out, as long as it panics.
fn minimal(mut call: Call) -> Call {
    loop {
        let next = smaller(&call).find(panics);
        match next {
            Some(next) => call = next,
            None => return call,
        }
    }
}

#[test]
fn mutated_calls_never_panic() {
    let seconds = setting("MUTATION_SECONDS").map(Duration::from_secs);
    let count = setting("MACRO_MUTATIONS").unwrap_or(if seconds.is_some() { u64::MAX } else { 300 });
    let first = setting("MUTATION_START").unwrap_or(0);
    let start = Instant::now();
    let (sender, receiver) = mpsc::channel();
    let work = move || {
        let calls = corpus::calls();
        assert!(calls.len() > 300, "only {} calls were found", calls.len());
        let goes_on = |_: &u64| seconds.is_none_or(|seconds| start.elapsed() < seconds);
        let numbers = (first..first.saturating_add(count)).take_while(goes_on);
        let found = first_panic(&calls, numbers, |number, call| {
            // Only the text of a call can be sent: tokens belong to one thread.
            let _ = sender.send((number, call.to_string()));
        });
        found.map(|(number, call)| (number, minimal(call).to_string()))
    };
    let worker = std::thread::Builder::new()
        .stack_size(STACK)
        .spawn(work)
        .expect("a thread");
    let (mut tried, mut last) = (0_u64, None);
    loop {
        match receiver.recv_timeout(MAX_TIME) {
            Ok(next) => {
                tried += 1;
                last = Some(next);
            }
            Err(RecvTimeoutError::Timeout) if worker.is_finished() || last.is_none() => {}
            Err(RecvTimeoutError::Timeout) => {
                let (number, call) = last.unwrap_or_default();
                panic!("mutation {number} takes longer than {MAX_TIME:?}: {call}");
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    if let Some((number, call)) = worker.join().expect("the worker does not panic itself") {
        panic!("mutation {number} panics; the smallest call that does: {call}");
    }
    println!("{tried} mutations in {:?}", start.elapsed());
    assert!(tried > 0);
}
