//! The messages about races: the two accesses, why they meet, and the edge that is missing.

use super::advice::{and_list, bytes_of_both, run_after, run_after_or_auto};
use super::iteration_race::{self, Side};
use crate::region::Overlap;
use crate::variable_race::VARIABLE;
use crate::{Access, Code, Diagnostic, Draft, Memory, Mode, Nest, NodeKind, Region, Subject};

/// Two nodes, in the order of their declaration.
type Pair = (usize, usize);

const DISJOINT: &str = "make the parts disjoint";
const SPLIT: &str = "split both at the same constant";

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
    let name = |node: usize| format!("`{}`", draft.nodes[node].name);
    let one_first = others.iter().all(|(other, _)| other.node == first.node);
    let one_second = others.iter().all(|(_, other)| other.node == second.node);
    let [begins, ends] = [*from == first.node, *to == second.node];
    let (diagnostic, _) = described(draft, order, first, second);
    let mut help = match begins && ends {
        true => order_by_edge(draft, order, first, second),
        false => run_after(draft, order, *from, *to),
    };
    let [from, to] = [*from, *to].map(name);
    let note = match (one_first, one_second) {
        (true, true) => format!("they race over {} too", over(draft, others)),
        (true, false) => {
            if begins && !ends {
                help = format!("{help}, or let each of them run after {from}");
            }
            let named = named(draft, race, others, |(_, second)| name(second));
            format!("{} races with {named} too", name(first.node))
        }
        (false, true) => {
            if ends && !begins {
                help = format!("{help}, or let {to} run after each of them");
            }
            let named = named(draft, race, others, |(first, _)| name(first));
            format!("{} races with {named} too", name(second.node))
        }
        (false, false) => {
            let pair = |(first, second)| format!("{} and {}", name(first), name(second));
            format!("{} race too", named(draft, race, others, pair))
        }
    };
    let diagnostic = diagnostic.note(note).help(help);
    match (begins, ends) {
        (true, true) => diagnostic,
        (true, false) if one_first => diagnostic.note(format!("all of them run after {to}")),
        (false, true) if one_second => diagnostic.note(format!("{from} runs after all of them")),
        (_, _) => diagnostic.note(format!("an edge from {from} to {to} orders all of them")),
    }
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
    let memory = |race: &(Side, Side)| draft.seen(race.0.access).0;
    list(races.iter().map(|race| format!("`{}`", memory(race))).collect())
}

/// Words in a list, of which only the first are told: `a, b and c`.
fn list(mut words: Vec<String>) -> String {
    if words.len() > MAX_LISTED {
        let more = words.split_off(MAX_LISTED - 1).len();
        words.push(format!("{more} more"));
    }
    and_list(words)
}

/// The race of two sides that are unordered in one iteration.
pub(super) fn racing(draft: &Draft, order: &Nest, first: &Side, second: &Side) -> Diagnostic {
    let (mut diagnostic, helps) = described(draft, order, first, second);
    if let Some(join) = useless_join(draft, first.node, second.node) {
        debug_assert!(!order.before(first.node, join), "the two nodes would be ordered");
        let [first, join, second] = [first.node, join, second.node].map(|node| &draft.nodes[node].name);
        let note = format!("`{second}` runs after `{join}`, but `{join}` does not run after `{first}`");
        diagnostic = diagnostic.note(note);
    }
    diagnostic.help(helps.join(", or "))
}

/// The message and the facts about a race, and the ways to mend it.
fn described(draft: &Draft, order: &Nest, first: &Side, second: &Side) -> (Diagnostic, Vec<String>) {
    let (a, b) = (&draft.accesses[first.access], &draft.accesses[second.access]);
    let memory = draft.resources[a.resource].memory;
    let [(name, _), (other, _)] = [first, second].map(|side| draft.seen(side.access));
    let overlap = Overlap::of(&a.region, &b.region);
    let iterations = iterations_of_one(draft, first.node, second.node);
    let access = match name == other {
        true => format!("both access `{name}`"),
        false => format!("access {}", overlapping(name, other)),
    };
    let message = match &iterations {
        Some([node, a, b]) => match name == other {
            true => format!("iterations {a} and {b} of `{node}` {access} and can run at the same time"),
            false => format!("iterations {a} and {b} of `{node}` can run at the same time and {access}"),
        },
        None => {
            let [first, second] = [first, second].map(|side| &draft.nodes[side.node].name);
            format!("nodes `{first}` and `{second}` can run at the same time and {access}")
        }
    };
    let mut diagnostic = Diagnostic::new(Code::Race, Subject::Access(second.access), message)
        .note(iteration_race::touches(draft, [first, second]));
    if name != other {
        diagnostic = diagnostic.note(format!(
            "{}: memory under two names is one memory [aliased-argument]",
            bytes_of_both(&a.region, &b.region)
        ));
    }
    let partial = |side: &&&Side| draft.nodes[draft.accesses[side.access].node].partial;
    for side in [first, second].iter().filter(partial) {
        let chooses = ["updates choose", "a `param` chooses"][usize::from(draft.is_text)];
        let (node, (name, _)) = (draft.accesses[side.access].node, draft.seen(side.access));
        let node = &draft.nodes[node].name;
        diagnostic = diagnostic.note(format!(
            "{chooses} which part of `{name}` `{node}` touches, so any part counts"
        ));
    }
    let mut helps = vec![match &iterations {
        Some(_) => "order one iteration after the other with `after_iteration`".to_owned(),
        None => order_by_edge(draft, order, first, second),
    }];
    if memory == Memory::Variable {
        return (diagnostic.note(format!("`{name}` {VARIABLE}")), helps);
    }
    let two_loops = |name: &str| format!("the two `{name}` belong to different `for`s, so the parts may overlap");
    let help = match &overlap {
        Overlap::Same => {
            let mutable = |mode| matches!(mode, Mode::Write | Mode::ReadWrite);
            let kernels = [a, b]
                .iter()
                .all(|access| draft.nodes[access.node].kind == NodeKind::Kernel && mutable(access.mode));
            match iterations {
                Some(_) => Some("give each iteration memory of its own"),
                None => kernels.then_some("give one of them a buffer of its own"),
            }
        }
        Overlap::Part if iterations.is_none() => {
            helps.push(run_after(draft, order, second.node, first.node));
            None
        }
        Overlap::Part => Some(DISJOINT),
        Overlap::Known(_) if name != other => Some(DISJOINT),
        Overlap::Known(shared) => {
            diagnostic = diagnostic.note(format!("both have `{name}{shared}`"));
            Some(DISJOINT)
        }
        Overlap::In(met) => match iteration_race::two_loops(draft, met) {
            Some(variable) => {
                diagnostic = diagnostic.note(two_loops(variable));
                Some(SPLIT)
            }
            None => {
                diagnostic = diagnostic.note(format!("the parts overlap where {}", iteration_race::iterations(met)));
                Some(DISJOINT)
            }
        },
        Overlap::Uncompared(Some((end, start))) => {
            diagnostic = diagnostic.note(match end == start {
                true => two_loops(end),
                false => format!("`{end}` and `{start}` are not compared here, so the parts may overlap"),
            });
            let is_index = |access: &Access| matches!(access.region, Region::Index(_));
            (!is_index(a) && !is_index(b)).then_some(SPLIT)
        }
        Overlap::Uncompared(None) => None,
    };
    helps.extend(help.map(str::to_owned));
    (diagnostic, helps)
}

/// Two views of one memory, in words.
fn overlapping(name: &str, other: &str) -> String {
    format!("`{name}` and `{other}`, which are shared memory that overlaps")
}

/// The help to order the nodes of two sides by an edge. The text of a macro does not tell which accesses are atomic, so
/// `after auto` gives no edge for these.
fn order_by_edge(draft: &Draft, order: &Nest, first: &Side, second: &Side) -> String {
    let is_atomic = |side: &Side| draft.accesses[side.access].mode == Mode::Atomic;
    match is_atomic(first) || is_atomic(second) {
        true => run_after(draft, order, first.node, second.node),
        false => run_after_or_auto(draft, order, first.node, second.node),
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_draft::draft_of;
    use crate::{Bound, check};

    #[test]
    fn a_list_names_eight_at_most() {
        let names = |count: usize| list((0..count).map(|name| name.to_string()).collect());
        assert_eq!(names(0), "");
        assert_eq!(names(1), "0");
        assert_eq!(names(2), "0 and 1");
        assert_eq!(names(8), "0, 1, 2, 3, 4, 5, 6 and 7");
        assert_eq!(names(9), "0, 1, 2, 3, 4, 5, 6 and 2 more");
    }

    /// The help of the race of two kernels that write these parts.
    fn help(names: [&'static str; 2], regions: [Region; 2]) -> (String, String) {
        let mut draft = Draft::new("Test");
        draft.resource("x", Memory::Device);
        for (name, region) in names.into_iter().zip(regions) {
            let node = draft.node(name, NodeKind::Kernel);
            draft.set_numbers(node, name.matches('[').count());
            draft.access(node, 0, region, Mode::Write);
        }
        let error = check(&draft).errors.remove(0);
        (error.message, error.help.unwrap_or_default())
    }

    fn helps(text: &str) -> Vec<String> {
        let errors = check(&draft_of(text)).errors;
        errors.into_iter().filter_map(|error| error.help).collect()
    }

    #[test]
    fn an_edge_between_the_racing_nodes_themselves_has_no_other_way() {
        let end = ["add `c` to the `after` list of `d`"];
        assert_eq!(
            helps("device x; kernel a: x=; then kernel b: x=; then kernel c: x=; kernel d: x=;"),
            end,
            "`a` and `b` race with `d` too"
        );
        let beginning = ["add `b` to the `after` list of `c`"];
        assert_eq!(
            helps("device x; kernel a; then kernel b: x=; kernel c: x=; then kernel d: x=;"),
            beginning,
            "`b` races with `d` too"
        );
    }

    #[test]
    fn an_edge_that_begins_at_one_race_may_order_another() {
        let last_note = |text: &str| {
            let mut errors = check(&draft_of(text)).errors;
            assert_eq!(errors.len(), 1, "{errors:?}");
            errors.remove(0).notes.pop()
        };
        let begins = last_note(
            "device p, q; kernel b: q=; then kernel a: p=; kernel fork; kernel x: p= after fork; kernel y: q= after fork;",
        );
        assert_eq!(begins.as_deref(), Some("an edge from `a` to `fork` orders all of them"));
        let ends = last_note(
            "device p, q; kernel a: p=; kernel b: q=; kernel join after a, b; kernel x: p=; then kernel y: q=;",
        );
        assert_eq!(ends.as_deref(), Some("an edge from `join` to `x` orders all of them"));
    }

    #[test]
    fn iterations_of_one_node_are_told_by_their_numbers() {
        let whole = || [Region::Whole, Region::Whole];
        let order = "order one iteration after the other with `after_iteration`";
        let told = |message: &str, help: String| (message.to_owned(), help);
        assert_eq!(
            help(["k[0]", "k[2]"], whole()),
            told(
                "iterations 0 and 2 of `k` both access `x` and can run at the same time",
                format!("{order}, or give each iteration memory of its own")
            )
        );
        assert_eq!(
            help(["k[0][1]", "k[2][3]"], [Region::span(0, 4), Region::Whole]),
            told(
                "iterations (0, 1) and (2, 3) of `k` both access `x` and can run at the same time",
                format!("{order}, or make the parts disjoint")
            )
        );
        let after = |first: &str, second: &str| {
            told(
                &format!("nodes `{first}` and `{second}` can run at the same time and both access `x`"),
                format!("add `{first}` to the `after` list of `{second}`, or give one of them a buffer of its own"),
            )
        };
        for (first, second) in [("k[0]", "l[0]"), ("k[0]", "k"), ("k", "k[0]")] {
            assert_eq!(help([first, second], whole()), after(first, second));
        }
    }

    #[test]
    fn ranges_are_split_and_indices_are_not() {
        let symbol = |name: &str| Bound::Symbol(name.to_owned());
        let range = |name: &str| Region::Range(Bound::Known(0), symbol(name));
        let index = |name: &str| Region::Index(symbol(name));
        let split = |regions: [Region; 2]| help(["a", "b"], regions).1.ends_with(SPLIT);
        assert!(split([range("M"), Region::Range(symbol("K"), Bound::End)]));
        for regions in [
            [index("i"), index("j")],
            [range("M"), index("j")],
            [index("i"), range("M")],
        ] {
            assert!(!split(regions));
        }
    }

    #[test]
    fn a_join_that_is_one_of_the_two_is_not_told() {
        let draft = draft_of("join j; kernel k; kernel l after j, k;");
        assert_eq!(useless_join(&draft, 1, 2), Some(0));
        assert_eq!(useless_join(&draft, 0, 2), None);
        assert_eq!(useless_join(&draft, 2, 1), None);
    }
}
