//! The messages about races: the two accesses, why they meet, and the edge that is missing.

use super::advice::run_after;
use super::iteration_race::{self, Side};
use crate::region::Overlap;
use crate::variable_race::VARIABLE;
use crate::{Access, Code, Diagnostic, Draft, Memory, Mode, Nest, NodeKind, Region, Subject};

/// Two nodes, the one that was declared first first.
type Pair = (usize, usize);

/// The most races that a note lists.
const MAX_LISTED: usize = 8;

/// An edge that is missing, and the sides of the races that it would end.
pub(super) struct Missing {
    /// The node that the edge would begin at.
    pub(super) from: usize,
    /// The node that would run after it.
    pub(super) to: usize,
    /// The race that is told in full.
    pub(super) race: (Side, Side),
    /// The races that are only named.
    pub(super) others: Vec<(Side, Side)>,
}

/// The races that one missing edge causes, as one mistake.
pub(super) fn missing_edge(draft: &Draft, order: &Nest, missing: &Missing) -> Diagnostic {
    let Missing { from, to, race, others } = missing;
    let (first, second) = race;
    if others.is_empty() {
        return racing(draft, order, first, second);
    }
    let name = |node: usize| &draft.nodes[node].name;
    let pairs: Vec<(usize, usize)> = [race]
        .into_iter()
        .chain(others)
        .map(|(a, b)| (a.node, b.node))
        .collect();
    let (one_first, one_second) = (
        pairs.iter().all(|pair| pair.0 == first.node),
        pairs.iter().all(|pair| pair.1 == second.node),
    );
    let (diagnostic, _) = described(draft, order, first, second);
    let mut help = run_after(draft, order, *from, *to);
    let note = match (one_first, one_second) {
        (true, true) => format!("they race over {} too", over(draft, others)),
        (true, false) => {
            if *to != second.node && *from == first.node {
                help = format!("{help}, or let each of them run after `{}`", name(*from));
            }
            let named = named(draft, race, others, |(_, second)| format!("`{}`", name(second)));
            format!("`{}` races with {named} too", name(first.node))
        }
        (false, true) => {
            if *from != first.node && *to == second.node {
                help = format!("{help}, or let `{}` run after each of them", name(*to));
            }
            let named = named(draft, race, others, |(first, _)| format!("`{}`", name(first)));
            format!("`{}` races with {named} too", name(second.node))
        }
        (false, false) => {
            let pair = |(first, second)| format!("`{}` and `{}`", name(first), name(second));
            format!("{} race too", named(draft, race, others, pair))
        }
    };
    let diagnostic = diagnostic.note(note);
    let why = match (*from == first.node, *to == second.node) {
        (true, true) => None,
        (true, false) if one_first => Some(format!("all of them run after `{}`", name(*to))),
        (false, true) if one_second => Some(format!("`{}` runs after all of them", name(*from))),
        (_, _) => Some(format!(
            "an edge from `{}` to `{}` orders all of them",
            name(*from),
            name(*to)
        )),
    };
    let diagnostic = why.into_iter().fold(diagnostic, Diagnostic::note);
    diagnostic.help(help)
}

/// The names of races, each pair of nodes once. `spelled` gives the words for a pair. Memory is named where it is not
/// that of `told` alone.
fn named(draft: &Draft, told: &(Side, Side), others: &[(Side, Side)], spelled: impl Fn(Pair) -> String) -> String {
    let pair = |race: &(Side, Side)| (race.0.node, race.1.node);
    let resource = |race: &(Side, Side)| draft.accesses[race.0.access].resource;
    let mut pairs: Vec<(Pair, Vec<(Side, Side)>)> = Vec::new();
    for race in others {
        match pairs.iter_mut().find(|(known, _)| *known == pair(race)) {
            Some((_, races)) => races.push(*race),
            None => pairs.push((pair(race), vec![*race])),
        }
    }
    let spelled = |(pair, races): &(Pair, Vec<(Side, Side)>)| {
        let spelled = spelled(*pair);
        match races.iter().all(|race| resource(race) == resource(told)) {
            true => spelled,
            false => format!("{spelled} (over {})", over(draft, races)),
        }
    };
    list(pairs.iter().map(spelled).collect())
}

/// The names of the memory that races are over.
fn over(draft: &Draft, races: &[(Side, Side)]) -> String {
    let memory = |race: &(Side, Side)| &draft.resources[draft.accesses[race.0.access].resource].name;
    list(races.iter().map(|race| format!("`{}`", memory(race))).collect())
}

/// Words in a list, of which only the first are told: `a, b and c`.
fn list(mut words: Vec<String>) -> String {
    if words.len() > MAX_LISTED {
        let more = words.split_off(MAX_LISTED - 1).len();
        words.push(format!("{more} more"));
    }
    match words.pop() {
        Some(last) if !words.is_empty() => format!("{} and {last}", words.join(", ")),
        last => last.unwrap_or_default(),
    }
}

/// The race of two sides that are unordered in one iteration.
pub(super) fn racing(draft: &Draft, order: &Nest, first: &Side, second: &Side) -> Diagnostic {
    let name = |node: usize| &draft.nodes[node].name;
    let (mut diagnostic, helps) = described(draft, order, first, second);
    if let Some(join) = useless_join(draft, first.node, second.node) {
        debug_assert!(!order.before(first.node, join), "the two nodes would be ordered");
        diagnostic = diagnostic.note(format!(
            "`{}` runs after `{}`, but `{}` does not run after `{}`",
            name(second.node),
            name(join),
            name(join),
            name(first.node)
        ));
    }
    diagnostic.help(helps.join(", or "))
}

/// The message and the facts about a race, and the ways to mend it.
fn described(draft: &Draft, order: &Nest, first: &Side, second: &Side) -> (Diagnostic, Vec<String>) {
    let name = |node: usize| &draft.nodes[node].name;
    let (a, b) = (&draft.accesses[first.access], &draft.accesses[second.access]);
    let resource = &draft.resources[a.resource];
    let overlap = Overlap::of(&a.region, &b.region);
    let iterations = iterations_of_one(draft, first.node, second.node);
    let message = match &iterations {
        Some([name, a, b]) => format!(
            "iterations {a} and {b} of `{name}` both access `{}` and can run at the same time",
            resource.name
        ),
        None => format!(
            "nodes `{}` and `{}` can run at the same time and both access `{}`",
            name(first.node),
            name(second.node),
            resource.name
        ),
    };
    let touch = |side: &Side, access: &Access, what: &str| iteration_race::touch(draft, side, access, what);
    let what = format!("`{}{}`", resource.name, a.region);
    let again = match a.region == b.region {
        true => "it".to_owned(),
        false => format!("`{}{}`", resource.name, b.region),
    };
    let mut diagnostic = Diagnostic::new(Code::Race, Subject::Access(second.access), message).note(format!(
        "{}, {}",
        touch(first, a, &what),
        touch(second, b, &again)
    ));
    for access in [a, b].into_iter().filter(|access| draft.nodes[access.node].partial) {
        let chooses = if draft.is_text {
            "a `param` chooses"
        } else {
            "updates choose"
        };
        diagnostic = diagnostic.note(format!(
            "{chooses} which part of `{}` `{}` touches, so any part counts",
            resource.name,
            name(access.node)
        ));
    }
    let mut helps = vec![match &iterations {
        Some(_) => "order one iteration after the other with `after_iteration`".to_owned(),
        None => run_after(draft, order, first.node, second.node),
    }];
    if resource.memory == Memory::Variable {
        diagnostic = diagnostic.note(format!("`{}` {VARIABLE}", resource.name));
    } else {
        match &overlap {
            Overlap::Same => {
                let mutable = |mode| matches!(mode, Mode::Write | Mode::ReadWrite);
                let kernels = [a, b]
                    .iter()
                    .all(|access| draft.nodes[access.node].kind == NodeKind::Kernel && mutable(access.mode));
                if iterations.is_some() {
                    helps.push("give each iteration memory of its own".to_owned());
                } else if kernels {
                    helps.push("give one of them a buffer of its own".to_owned());
                }
            }
            Overlap::Part if iterations.is_none() => helps.push(run_after(draft, order, second.node, first.node)),
            Overlap::Part => helps.push("make the parts disjoint".to_owned()),
            Overlap::Known(shared) => {
                diagnostic = diagnostic.note(format!("both have `{}{shared}`", resource.name));
                helps.push("make the parts disjoint".to_owned());
            }
            Overlap::In(met) => {
                let helped = match iteration_race::two_loops(draft, met) {
                    Some(variable) => {
                        let note = format!("the two `{variable}` belong to different `for`s, so the parts may overlap");
                        diagnostic = diagnostic.note(note);
                        "split both at the same constant"
                    }
                    None => {
                        diagnostic =
                            diagnostic.note(format!("the parts overlap where {}", iteration_race::iterations(met)));
                        "make the parts disjoint"
                    }
                };
                helps.push(helped.to_owned());
            }
            Overlap::Uncompared(Some((end, start))) => {
                diagnostic = diagnostic.note(match end == start {
                    true => format!("the two `{end}` belong to different `for`s, so the parts may overlap"),
                    false => format!("`{end}` and `{start}` are not compared here, so the parts may overlap"),
                });
                if ![a, b].iter().any(|access| matches!(access.region, Region::Index(_))) {
                    helps.push("split both at the same constant".to_owned());
                }
            }
            Overlap::Uncompared(None) => {}
        }
    }
    (diagnostic, helps)
}

/// For two iterations of one node in a graph whose loops are unrolled: the node's name, and the numbers of both: `2`,
/// or `(1, 0)` in two loops.
fn iterations_of_one(draft: &Draft, first: usize, second: usize) -> Option<[String; 3]> {
    let [(name, a), (other, b)] = [first, second].map(|node| draft.name_and_numbers(node));
    let told = |numbers: &str| {
        let numbers = numbers.trim_start_matches('[').trim_end_matches(']');
        match numbers.contains("][") {
            true => format!("({})", numbers.replace("][", ", ")),
            false => numbers.to_owned(),
        }
    };
    (name == other && !a.is_empty() && !b.is_empty()).then(|| [name.to_owned(), told(a), told(b)])
}

/// A join that the later node runs after. Its author may think that it waits for the earlier one too.
fn useless_join(draft: &Draft, earlier: usize, later: usize) -> Option<usize> {
    let before = draft.edges.iter().filter(|edge| edge.to == later).map(|edge| edge.from);
    let mut joins = before.filter(|&node| draft.nodes[node].kind == NodeKind::Join && node != earlier);
    joins.next()
}
