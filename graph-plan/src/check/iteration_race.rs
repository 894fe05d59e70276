//! Races between iterations of an `each`.

use super::advice::{COMPARED, iteration, name_in_after, on_line};
use super::iteration_cycle::is_cyclic;
use crate::parallel::{Crossing, Parallel};
use crate::region::Met;
use crate::{Access, Code, Diagnostic, Draft, Nest, Subject};
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
    let best = best
        .or_else(|| candidates.iter().find(is_allowed))
        .unwrap_or(&candidates[0]);
    let steps = best.clone();
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
    let accesses = |sides: &[Side; 2]| sides.map(|side| &draft.accesses[side.access]);
    let resource = &draft.resources[draft.accesses[sides[0].access].resource].name;
    let name = |side: Side| &draft.nodes[side.node].name;
    let Some(met) = &crossing.met else {
        let [first, second] = sides;
        let message = format!(
            "iterations of `{}` and `{}` can run at the same time and may both access `{resource}`",
            name(first),
            name(second)
        );
        let [a, b] = accesses(&sides);
        return Diagnostic::new(Code::Race, Subject::Access(second.access), message)
            .note(format!(
                "`{}` uses `{resource}{}`, `{}` uses `{resource}{}`: too many iterations had to be compared",
                name(first),
                a.region,
                name(second),
                b.region
            ))
            .help("write simpler indices, or order the iterations by `after`");
    };
    let numbers = |side: usize| -> Vec<i128> {
        let loops = crossing.loops.iter();
        loops
            .map(|&around| met.value(side, around).unwrap_or_default())
            .collect()
    };
    let mut order = [0, 1];
    if numbers(1) < numbers(0) {
        order.reverse();
        sides.reverse();
    }
    let spelled = |side: usize| match &numbers(order[side])[..] {
        [number] => number.to_string(),
        all => format!(
            "({})",
            all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        ),
    };
    let [first, second] = sides;
    let message = match first.node == second.node {
        true => format!(
            "iterations {} and {} of `{}` both access `{resource}` and can run at the same time",
            spelled(0),
            spelled(1),
            name(first)
        ),
        false => format!(
            "iteration {} of `{}` and iteration {} of `{}` both access `{resource}` and can run at the same time",
            spelled(0),
            name(first),
            spelled(1),
            name(second)
        ),
    };
    let [a, b] = accesses(&sides);
    let part = |access: &Access, side: usize| {
        let region = access.region.evaluated(&|around| met.value(order[side], around));
        format!("`{resource}{region}`")
    };
    let written = |access: &Access| format!("`{resource}{}`", access.region);
    let mut diagnostic = Diagnostic::new(Code::Race, Subject::Access(second.access), message);
    let both = match a.region == b.region && a.mode == b.mode {
        true => format!("{} in each iteration", touch(draft, &first, a, &written(a))),
        false => {
            let again = if a.region == b.region {
                "it".to_owned()
            } else {
                written(b)
            };
            format!(
                "{}, {}",
                touch(draft, &first, a, &written(a)),
                touch(draft, &second, b, &again)
            )
        }
    };
    diagnostic = diagnostic.note(both);
    if a.region.is_affine() || b.region.is_affine() {
        let (one, other) = (part(a, 0), part(b, 1));
        diagnostic = diagnostic.note(match one == other {
            true => format!("that is {one} in both"),
            false => format!("that is {one} in the first, and {other} in the second"),
        });
    } else if a.region != crate::Region::Whole && b.region != crate::Region::Whole {
        diagnostic = diagnostic.note(COMPARED);
    }
    let (from, to) = (numbers(order[0]), numbers(order[1]));
    let steps = crossing.loops.iter().zip(from.iter().zip(&to));
    let steps = steps.map(|(&around, (from, to))| (around, i64::try_from(from - to).unwrap_or_default()));
    let outside = draft.bodies[draft.nodes[first.node].body]
        .node
        .and_then(|owner| draft.loop_around(owner));
    let mut around: Vec<usize> = draft.loops_around(outside).collect();
    around.reverse();
    let all: Vec<(usize, i64)> = around.into_iter().map(|around| (around, 0)).chain(steps).collect();
    let ends = [first.node, second.node];
    let steps = add_mending_shift(order_of_nodes, of_resources, crossing, ends, &all, mended);
    let around = all.iter().map(|&(around, _)| around);
    let earlier = iteration(draft, first.node, around.zip(steps));
    diagnostic.help(format!(
        "{}, or make the parts of different iterations disjoint",
        name_in_after(draft, &earlier, second.node)
    ))
}

/// The way in which a side touches memory, in words: `` `k` writes `x[i]` (line 3)``.
pub(super) fn touch(draft: &Draft, side: &Side, access: &Access, what: &str) -> String {
    let name = |node: usize| &draft.nodes[node].name;
    let place = if access.node == side.node {
        String::new()
    } else if draft.nodes[side.node].kind.is_conditional() {
        format!(", in the body of `{}`,", name(side.node))
    } else {
        format!(", in the graph of `{}`,", name(side.node))
    };
    let line = on_line(access.line);
    format!("`{}`{place} {} {what}{line}", name(access.node), access.mode.verb())
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
        variables[..*index]
            .iter()
            .any(|other| other.name == variable.name && !draft.loops[other.number].parallel)
    });
    again.map(|(_, variable)| &*variable.name)
}
