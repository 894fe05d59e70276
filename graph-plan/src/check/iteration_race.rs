//! Races between iterations of an `each`.

use super::advice::{COMPARED, iteration, name_in_after, on_line};
use super::iteration_cycle::is_cyclic;
use crate::parallel::{Crossing, Parallel};
use crate::region::Met;
use crate::{Code, Diagnostic, Draft, Nest, Region, Subject};
use std::borrow::Cow;

/// One of the two sides of a race.
#[derive(Clone, Copy)]
pub(super) struct Side {
    /// The access.
    pub(super) access: usize,
    /// The node that is unordered with the other side: the node of the access, or one that it is in a body of.
    pub(super) node: usize,
}

/// Reports accesses of one body's nodes that meet in different iterations. `sides` are these accesses, and `told` are
/// races within one iteration that were reported.
pub(super) fn of_body(
    draft: &Draft,
    order: &Nest,
    parallel: &Parallel<'_>,
    sides: impl Iterator<Item = Side>,
    told: &[(Side, Side)],
) -> Vec<Diagnostic> {
    let mut by_resource = vec![Vec::new(); draft.resources.len()];
    for side in sides {
        by_resource[draft.accesses[side.access].resource].push((side.access, side.node));
    }
    let crossings = parallel.crossings(&by_resource);
    let is_new = |crossing: &Crossing| {
        let resource = |access: usize| draft.accesses[access].resource;
        let own = crossing.sides.map(|(_, node)| node);
        !told.iter().any(|(first, second)| {
            resource(first.access) == resource(crossing.sides[0].0)
                && (own.contains(&first.node) || own.contains(&second.node))
        })
    };
    let mut mended = Cow::Borrowed(draft);
    crossings
        .iter()
        .filter(|crossing| is_new(crossing))
        .map(|crossing| racing(draft, order, &by_resource, crossing, &mut mended))
        .collect()
}

/// The edges, as the steps of a [`Shift`](crate::Shift), that may end all races of two nodes like one that was found,
/// the likeliest first. `found` are the steps between the iterations that were found to race.
fn candidates(found: &[(usize, i64)]) -> Vec<Vec<i64>> {
    let steps = |step: &dyn Fn(usize, i64) -> i64| -> Vec<i64> {
        let numbered = found.iter().enumerate();
        numbered.map(|(place, &(_, of_found))| step(place, of_found)).collect()
    };
    let common = |divisor, &(_, step): &(usize, i64)| gcd(divisor, step.unsigned_abs());
    let divisor = i64::try_from(found.iter().fold(0, common).max(1)).unwrap_or(1);
    let mut all = vec![steps(&|_, step| step), steps(&|_, step| step / divisor)];
    let moved = (0..found.len()).filter(|&place| found[place].1 != 0);
    all.extend(moved.map(|single| steps(&|place, _| if place == single { -1 } else { 0 })));
    all
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The outermost loop in whose iterations a crossing differs; `None` if that is not known.
fn outermost(crossing: &Crossing) -> Option<usize> {
    let met = crossing.met.as_ref()?;
    let differs = |around: &usize| met.value(0, *around) != met.value(1, *around);
    crossing.loops.iter().copied().find(differs)
}

/// Adds to `mended` the edge between iterations of `from` and `to` that ends all races like `crossing`, and returns its
/// steps. If no single edge does that, it is one that makes no cycle.
fn add_mending_shift(
    order: &Nest,
    accesses: &[Vec<(usize, usize)>],
    crossing: &Crossing,
    [from, to]: [usize; 2],
    found: &[(usize, i64)],
    mended: &mut Cow<'_, Draft>,
) -> Vec<i64> {
    let body = mended.nodes[from].body;
    let resource = mended.accesses[crossing.sides[0].0].resource;
    let mut of_nodes = vec![Vec::new(); accesses.len()];
    let is_of_one = |&&(_, node): &&(usize, usize)| node == from || node == to;
    of_nodes[resource] = accesses[resource].iter().filter(is_of_one).copied().collect();
    let candidates = candidates(found);
    let with = |steps: &Vec<i64>| {
        let mut draft = (**mended).clone();
        draft.shift(from, to, steps.clone());
        draft
    };
    let is_allowed = |steps: &&Vec<i64>| !is_cyclic(&with(steps), order, body);
    let ends_all = |steps: &&Vec<i64>| {
        let draft = with(steps);
        let is_left = |other: &Crossing| outermost(other).is_none_or(|around| outermost(crossing) == Some(around));
        let left = Parallel::of(&draft, order, body).map(|parallel| parallel.crossings(&of_nodes));
        is_allowed(steps) && left.is_some_and(|left| !left.iter().any(is_left))
    };
    let best = candidates.iter().find(ends_all);
    let best = best.or_else(|| candidates.iter().find(is_allowed));
    let steps = best.unwrap_or(&candidates[0]).clone();
    mended.to_mut().shift(from, to, steps.clone());
    steps
}

fn racing(
    draft: &Draft,
    order_of_nodes: &Nest,
    of_resources: &[Vec<(usize, usize)>],
    crossing: &Crossing,
    mended: &mut Cow<'_, Draft>,
) -> Diagnostic {
    let mut sides = crossing.sides.map(|(access, node)| Side { access, node });
    let resource = &draft.resources[draft.accesses[sides[0].access].resource].name;
    let names = |sides: [Side; 2]| sides.map(|side| &draft.nodes[side.node].name);
    let parts = |sides: [Side; 2]| sides.map(|side| format!("{resource}{}", draft.accesses[side.access].region));
    let Some(met) = &crossing.met else {
        let [first, second] = names(sides);
        let [part, other] = parts(sides);
        let message =
            format!("iterations of `{first}` and `{second}` can run at the same time and may both access `{resource}`");
        return Diagnostic::new(Code::Race, Subject::Access(sides[1].access), message)
            .note(format!(
                "`{first}` uses `{part}`, `{second}` uses `{other}`: too many iterations had to be compared"
            ))
            .help("write simpler indices, or order the iterations by `after`");
    };
    let numbers = |side: usize| -> Vec<i128> {
        let number = |&around: &usize| met.value(side, around).unwrap_or_default();
        crossing.loops.iter().map(number).collect()
    };
    let mut order = [0, 1];
    if numbers(1) < numbers(0) {
        order.reverse();
        sides.reverse();
    }
    let spelled = order.map(|side| match &numbers(side)[..] {
        [number] => number.to_string(),
        all => {
            let all: Vec<String> = all.iter().map(ToString::to_string).collect();
            format!("({})", all.join(", "))
        }
    });
    let [first, second] = names(sides);
    let [one, other] = spelled;
    let access = format!("both access `{resource}` and can run at the same time");
    let message = match sides[0].node == sides[1].node {
        true => format!("iterations {one} and {other} of `{first}` {access}"),
        false => format!("iteration {one} of `{first}` and iteration {other} of `{second}` {access}"),
    };
    let [first, second] = sides;
    let [a, b] = sides.map(|side| &draft.accesses[side.access]);
    let mut diagnostic = Diagnostic::new(Code::Race, Subject::Access(second.access), message);
    let [part, _] = parts(sides);
    diagnostic = diagnostic.note(match a.region == b.region && a.mode == b.mode {
        true => format!("{} in each iteration", touch(draft, &first, &format!("`{part}`"))),
        false => touches(draft, [&first, &second]),
    });
    if a.region.is_affine() || b.region.is_affine() {
        let [one, other] = [(a, order[0]), (b, order[1])].map(|(access, side)| {
            let region = access.region.evaluated(&|around| met.value(side, around));
            format!("`{resource}{region}`")
        });
        diagnostic = diagnostic.note(match one == other {
            true => format!("that is {one} in both"),
            false => format!("that is {one} in the first, and {other} in the second"),
        });
    } else if a.region != Region::Whole && b.region != Region::Whole {
        diagnostic = diagnostic.note(COMPARED);
    }
    let [from, to] = order.map(numbers);
    let steps = from
        .iter()
        .zip(&to)
        .map(|(from, to)| i64::try_from(from - to).unwrap_or_default());
    let owner = draft.bodies[draft.nodes[first.node].body].node;
    let outside = draft.loops_from_outermost(owner.and_then(|owner| draft.loop_around(owner)));
    let outside = outside.into_iter().map(|around| (around, 0));
    let all: Vec<(usize, i64)> = outside.chain(crossing.loops.iter().copied().zip(steps)).collect();
    let ends = [first.node, second.node];
    let steps = add_mending_shift(order_of_nodes, of_resources, crossing, ends, &all, mended);
    let around = all.iter().map(|&(around, _)| around);
    let after = name_in_after(draft, &iteration(draft, first.node, around.zip(steps)), second.node);
    diagnostic.help(format!("{after}, or make the parts of different iterations disjoint"))
}

/// The ways in which the two sides of a race touch memory, in words: `` `k` writes `x[i]` (line 3), `l` reads it``.
pub(super) fn touches(draft: &Draft, sides: [&Side; 2]) -> String {
    let [a, b] = sides.map(|side| draft.seen(side.access));
    let [part, other] = [a, b].map(|(name, region)| format!("`{name}{region}`"));
    let again = if a == b { "it" } else { &other };
    format!("{}, {}", touch(draft, sides[0], &part), touch(draft, sides[1], again))
}

/// The way in which a side touches memory, in words: `` `k` writes `x[i]` (line 3)``.
fn touch(draft: &Draft, side: &Side, what: &str) -> String {
    let access = &draft.accesses[side.access];
    let owner = &draft.nodes[side.node];
    let place = match access.node == side.node {
        true => String::new(),
        false if owner.kind.is_conditional() => format!(", in the body of `{}`,", owner.name),
        false => format!(", in the graph of `{}`,", owner.name),
    };
    let (node, verb, line) = (&draft.nodes[access.node].name, access.mode.verb(), on_line(access.line));
    format!("`{node}`{place} {verb} {what}{line}")
}

/// The iterations in which two regions meet: "`i` is 0 and `j` is 2".
pub(super) fn iterations(met: &Met) -> String {
    let values = met.sides.iter().flatten();
    let values: Vec<String> = values
        .map(|(variable, value)| format!("`{}` is {value}", variable.name))
        .collect();
    values.join(" and ")
}

/// The name of a variable that two different `for`s have.
pub(super) fn two_loops<'a>(draft: &Draft, met: &'a Met) -> Option<&'a str> {
    let variables: Vec<_> = met.sides.iter().flatten().map(|(variable, _)| variable).collect();
    let again = variables.iter().enumerate().find(|(index, variable)| {
        let mut earlier = variables[..*index].iter();
        earlier.any(|other| other.name == variable.name && !draft.loops[other.number].parallel)
    });
    again.map(|(_, variable)| &*variable.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_draft::draft_of;
    use crate::{Variable, check};
    use std::sync::Arc;

    #[test]
    fn candidates_are_the_steps_found_then_smaller_ones() {
        let expected = [vec![2, -4], vec![1, -2], vec![-1, 0], vec![0, -1]];
        assert_eq!(candidates(&[(0, 2), (1, -4)]), expected);
        assert_eq!(candidates(&[(0, 0), (1, 3)]), [vec![0, 3], vec![0, 1], vec![0, -1]]);
        assert_eq!(candidates(&[(0, 0)]), [vec![0], vec![0]]);
    }

    #[test]
    fn the_outermost_loop_is_the_first_whose_numbers_differ() {
        let crossing = |numbers: Option<[[i128; 2]; 2]>| {
            let variables = ["i", "j"].into_iter().enumerate();
            let variables: Vec<Arc<Variable>> = variables
                .map(|(number, name)| Arc::new(Variable::new(number, name)))
                .collect();
            let side = |numbers: [i128; 2]| variables.iter().cloned().zip(numbers).collect();
            let met = numbers.map(|numbers| Met {
                sides: numbers.map(side),
            });
            outermost(&Crossing {
                sides: [(0, 0); 2],
                loops: vec![0, 1],
                met,
            })
        };
        assert_eq!(crossing(Some([[0, 3], [1, 3]])), Some(0));
        assert_eq!(crossing(Some([[2, 3], [2, 4]])), Some(1));
        assert_eq!(crossing(Some([[2, 3], [2, 3]])), None);
        assert_eq!(crossing(None), None);
    }

    #[test]
    fn parts_are_told_where_a_loop_moves_one_of_them() {
        let notes = |first: &str, second: &str| {
            let draft = draft_of(&format!(
                "device x; each i {{ kernel a: {first}=; then kernel b: {second}; }}"
            ));
            check(&draft)
                .errors
                .iter()
                .map(|error| error.notes[1..].join(";"))
                .collect::<Vec<_>>()
        };
        let expected = ["that is `x[0]` in the first, and `x` in the second"];
        assert_eq!(notes("x[i]", "x"), expected);
        let of_itself = notes("x[I]", "x[0..0]");
        assert_eq!(of_itself, [COMPARED]);
        assert_eq!(notes("x", "x[0..0]"), [""]);
        let of_whole = draft_of("device x; each i { kernel a: x= after a(-1); then kernel b: x[0..4]; }");
        assert_eq!(
            check(&of_whole).errors[0].notes,
            ["`b` reads `x[0..4]`, `a` writes `x`"],
            "nothing has to be compared"
        );
    }

    #[test]
    fn the_place_of_an_inner_node_is_told() {
        for (kind, place) in [("graph", "in the graph of `outer`"), ("if", "in the body of `outer`")] {
            let draft = draft_of(&format!(
                "device x; {kind} outer {{ kernel inner: x=; }} kernel other: x=;"
            ));
            let notes = check(&draft).errors.remove(0).notes;
            assert_eq!(notes, [format!("`inner`, {place}, writes `x`, `other` writes it")]);
        }
    }

    #[test]
    fn loops_are_two_if_they_have_one_name_and_are_in_order() {
        let found = |names: [&'static str; 2], parallel: bool| {
            let mut draft = Draft::new("Test");
            let side = |name: &'static str| {
                let around = if parallel {
                    draft.each(name, None)
                } else {
                    draft.for_loop(name, None)
                };
                vec![(Arc::clone(&draft.loops[around].variable), 0)]
            };
            let met = Met { sides: names.map(side) };
            two_loops(&draft, &met).map(str::to_owned)
        };
        assert_eq!(found(["i", "i"], false).as_deref(), Some("i"));
        assert_eq!(found(["i", "j"], false), None);
        assert_eq!(
            found(["i", "i"], true),
            None,
            "it is one `each`, and two of its iterations"
        );
    }

    #[test]
    fn a_race_in_one_iteration_hides_those_over_the_same_memory_alone() {
        let draft = draft_of("device x, y; each i { kernel a: x=; kernel b: x=, y=; }");
        let messages: Vec<String> = check(&draft).errors.into_iter().map(|error| error.message).collect();
        let expected = "nodes `a` and `b` can run at the same time and both access `x`\n\
                        iterations 0 and 1 of `b` both access `y` and can run at the same time";
        assert_eq!(messages.join("\n"), expected);
    }
}
