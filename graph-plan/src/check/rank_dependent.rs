//! Collectives in bodies whose condition may differ between ranks: those that run them wait for the others for ever.

use super::advice::on_line;
use crate::same_on_ranks::{Reason, SameOnRanks, Source, guarded as guarded_collectives};
use crate::{Code, Diagnostic, Draft, Memory, Nest, Origin, Subject};
use std::collections::BTreeMap;

/// The most steps from a condition to the reason why it may differ that a message tells.
const MAX_STEPS: usize = 6;

/// Reports collectives in bodies that some ranks may run and others not.
pub(super) fn guarded(draft: &Draft, order: &Nest, broken: &[bool], errors: &mut Vec<Diagnostic>) {
    let mut analyses: BTreeMap<usize, SameOnRanks<'_>> = BTreeMap::new();
    for (collective, guards) in guarded_collectives(draft) {
        if broken.contains(&true) {
            return; // what nodes write, and in which order, is not what the author meant
        }
        let same = analyses
            .entry(collective.communicator)
            .or_insert_with(|| SameOnRanks::of(draft, order, collective.communicator));
        // The outermost: conditions inside may differ because of it.
        let outermost = guards.into_iter().rev().find(|&guard| same.condition(guard).is_some());
        if let Some(guard) = outermost {
            errors.push(mistake(draft, same, (collective.node, collective.communicator), guard));
        }
    }
}

fn mistake(draft: &Draft, same: &SameOnRanks<'_>, (node, over): (usize, usize), guard: usize) -> Diagnostic {
    let (name, owner, communicator) = (
        &draft.nodes[node].name,
        &draft.nodes[guard].name,
        &draft.communicators[over],
    );
    let part = |access: usize| {
        let access = &draft.accesses[access];
        format!("`{}{}`", draft.resources[access.resource].name, access.region)
    };
    let condition = same
        .condition(guard)
        .map_or_else(String::new, |(access, _)| part(access));
    let message = format!(
        "collective `{name}` is in the body of `{owner}`, whose condition {condition} may differ between ranks"
    );
    let mut error = Diagnostic::new(Code::RankDependent, Subject::Node(node), message);
    let mut told = Vec::new();
    let mut next = same.condition(guard);
    while let Some((access, source)) = next.take() {
        if told.len() == MAX_STEPS || told.contains(&(access, source)) {
            break;
        }
        told.push((access, source));
        let memory = part(access);
        let Source::Writer(writer) = source else {
            error = error.note(format!("{memory} {}", beginning(draft, access)));
            break;
        };
        let line = on_line(line_of(draft, writer, access));
        let writer_name = &draft.nodes[writer].name;
        let why = match same.reason(writer) {
            Some(Reason::Reads(read)) => {
                next = same.source(read).map(|source| (read, source));
                match draft.accesses[read].resource == draft.accesses[access].resource {
                    true => "from what it held before".to_owned(),
                    false => format!("from {}", part(read)),
                }
            }
            Some(Reason::Inside(owner)) => {
                next = same.condition(owner);
                format!(
                    "in the body of `{}`, which not all ranks may run",
                    draft.nodes[owner].name
                )
            }
            Some(Reason::Values) => "from values that may differ between ranks".to_owned(),
            Some(Reason::Uncertain) => "but may be disabled, or write a part that updates choose".to_owned(),
            Some(Reason::Atomic) => "by accesses whose order is open: sums of floating-point numbers differ".to_owned(),
            Some(Reason::Foreign) => "by code that may do something else on each rank".to_owned(),
            Some(Reason::Own) => "with each rank's own part".to_owned(),
            Some(Reason::OtherRanks) => "over another communicator, whose ranks may be others".to_owned(),
            None => String::new(),
        };
        error = error.note(format!("`{writer_name}` writes {memory}{line} {why}"));
    }
    error
        .note("the ranks that run it would wait for the others for ever")
        .help(format!(
            "let the last node that writes {condition} before `{owner}` be an `all_reduce`, an `all_gather` or a \
             `broadcast` over `{communicator}`, for example `all_reduce agree = max({}) over {communicator};`; or, if it \
             comes from memory that is the same on all ranks, promise that there: `host x: .., uniform;`",
            condition.trim_matches('`')
        ))
}

/// The words for memory whose contents come from outside the graph.
fn beginning(draft: &Draft, access: usize) -> &'static str {
    let resource = &draft.resources[draft.accesses[access].resource];
    match (resource.origin, resource.memory) {
        (_, Memory::Host) => "is host memory, which each rank fills for itself",
        (_, Memory::Mapped) => "is mapped memory, which each rank fills for itself",
        (Origin::Outside, _) => "comes from outside the graph, and each rank has its own",
        (_, _) => "may differ when the launch begins",
    }
}

/// The line on which a node writes the memory of an access.
fn line_of(draft: &Draft, writer: usize, access: usize) -> Option<u32> {
    let resource = draft.accesses[access].resource;
    let mut accesses = draft.accesses.iter();
    accesses
        .find(|access| access.node == writer && access.resource == resource && access.mode.writes())
        .and_then(|access| access.line)
}
