//! Indices and ranges of literals that leave their memory.

use crate::graph::ast::{Part, Place, Shape};
use crate::graph::constant::{is_number, mentions, value_with};
use crate::graph::resolve::{Graph, Loop};
use crate::graph::sum::Sum;
use crate::report::{Report, error};
use crate::text::plain;
use graph_plan::{Code, Diagnostic};
use proc_macro2::Ident;
use quote::ToTokens;
use syn::{Expr, RangeLimits};

/// The most iterations that are looked at one by one.
const MAX_ITERATIONS: usize = 1 << 12;

/// Reports every place that leaves its memory.
pub(super) fn bounds(graph: &Graph<'_>, report: &mut Report) {
    for (index, (place, start)) in graph.accesses.iter().enumerate() {
        let loops = mentioned(graph, graph.draft.accesses[index].node, place);
        let mut left = MAX_ITERATIONS;
        let found = outside(graph, place, &[]).or_else(|| search(graph, place, &loops, &mut Vec::new(), &mut left));
        if let Some(diagnostic) = found {
            report.push_between(*start, place.end, &diagnostic);
        }
    }
}

/// The `for`s whose variable a node's place mentions, and those that say how often these run, from the outermost.
fn mentioned(graph: &Graph<'_>, node: usize, place: &Place) -> Vec<usize> {
    let mut tokens: Vec<_> = place.bounds().map(ToTokens::to_token_stream).collect();
    let mut found = Vec::new();
    for for_loop in graph.loops_around(node).into_iter().rev() {
        let variable = [graph.loops[for_loop].variable().to_string()];
        if tokens.iter().any(|tokens| mentions(tokens.clone(), &variable)) {
            tokens.push(graph.loops[for_loop].statement.range.to_token_stream());
            found.push(for_loop);
        }
    }
    found.reverse();
    found
}

/// The first iteration of the loops in which the place leaves its memory. `known` has the variables of the loops
/// around them, with their values.
fn search<'a>(
    graph: &Graph<'a>,
    place: &Place,
    loops: &[usize],
    known: &mut Vec<(&'a Ident, i128)>,
    left: &mut usize,
) -> Option<Diagnostic> {
    let Some((&outermost, inner)) = loops.split_first() else {
        let found = outside(graph, place, known)?;
        return Some(known.iter().fold(found, |found, (variable, value)| {
            let of = graph
                .loops
                .iter()
                .find(|for_loop| std::ptr::eq(for_loop.variable(), *variable));
            let keyword = of.map_or("for", Loop::keyword);
            found.note(format!("`{variable}` is {value} in an iteration of the `{keyword}`"))
        }));
    };
    let Expr::Range(range) = &graph.loops[outermost].statement.range else {
        return None;
    };
    let end = |expr: &Option<Box<Expr>>| in_iteration(expr.as_ref()?, known);
    let (start, end) = (end(&range.start)?, end(&range.end)?);
    let last = match range.limits {
        RangeLimits::HalfOpen(_) => end.checked_sub(1)?,
        RangeLimits::Closed(_) => end,
    };
    for value in start..=last {
        *left = left.checked_sub(1)?;
        known.push((graph.loops[outermost].variable(), value));
        let found = search(graph, place, inner, known, left);
        known.pop();
        if found.is_some() {
            return found;
        }
    }
    None
}

fn in_iteration(expr: &Expr, known: &[(&Ident, i128)]) -> Option<i128> {
    value_with(expr, &|name| {
        known
            .iter()
            .find(|(variable, _)| *variable == name)
            .map(|(_, value)| *value)
    })
}

/// The mistake about the first index or range that certainly exceeds its length: literals, or sums of one name and a
/// literal.
pub(super) fn outside(graph: &Graph<'_>, place: &Place, known: &[(&Ident, i128)]) -> Option<Diagnostic> {
    let resource = graph.resources[graph.resource(place)?];
    let mut name = place.name.to_string();
    for (dimension, part) in place.parts.iter().enumerate() {
        let Some(length) = resource.shape.lengths.get(dimension) else {
            return is_number(&resource.shape.element).then(|| selected_from_scalar(&name, &resource.shape, dimension));
        };
        let found = outside_dimension(graph, &name, part, length, known);
        if found.is_some() {
            return found;
        }
        let text = match part {
            Part::Index(_) => part.to_string(),
            Part::Range(_) => "[_]".to_owned(),
        };
        name = match dimension {
            0 => place.name.with_part(&text),
            _ => name + &text,
        };
    }
    None
}

fn outside_dimension(
    graph: &Graph<'_>,
    name: &str,
    part: &Part,
    length: &Expr,
    known: &[(&Ident, i128)],
) -> Option<Diagnostic> {
    let value = |expr: &Expr| in_iteration(expr, known);
    let sum = |expr: &Expr| value(expr).map(Sum::number).or_else(|| graph.sum(expr));
    let length = graph.sum_of_length(length);
    let exceeds = |sum: &Sum| length.as_ref().and_then(|length| sum.exceeds(length));
    let negative = |sum: &Sum| sum.known().is_some_and(|number| number < 0);
    let mut within = false;
    let fault = match part {
        Part::Index(index) => {
            let index = sum(index)?;
            (negative(&index) || exceeds(&index).is_some_and(|number| number >= 0)).then(|| format!("index {index}"))
        }
        Part::Range(range) => {
            let (first, past_last) = range.sums(length.as_ref(), sum);
            let reversed = (first.as_ref().zip(past_last.as_ref()))
                .and_then(|(start, end)| start.exceeds(end))
                .is_some_and(|number| number > 0);
            let past = |bound: &Option<Sum>| {
                bound
                    .as_ref()
                    .is_some_and(|bound| negative(bound) || exceeds(bound).is_some_and(|number| number > 0))
            };
            let text = |bound: &Expr| match value(bound).filter(|_| !known.is_empty()) {
                Some(value) => value.to_string(),
                None => plain(bound),
            };
            let leaves = past(&first) || past(&past_last);
            within = !leaves;
            (reversed || leaves).then(|| format!("range {}", range.text(text)))
        }
    }?;
    // A range that is only reversed is wrong whatever the name's value is.
    let length = length.filter(|length| !within || length.known().is_some());
    let message = match &length {
        Some(length) => {
            let plural = if length.known() == Some(1) { "" } else { "s" };
            format!("{fault} is out of bounds of `{name}`, which has {length} element{plural}")
        }
        None => format!("{fault} is invalid for `{name}`"),
    };
    let diagnostic = error(Code::OutOfBounds, message);
    Some(match length {
        Some(length) if matches!(part, Part::Index(_)) && length.known() != Some(0) => {
            let last = length.minus(&Sum::number(1)).unwrap_or(length);
            diagnostic.help(format!("use an index from 0 to {last}"))
        }
        Some(length) => diagnostic.help(format!("use a range within 0..{length}")),
        None => diagnostic.help("use a range whose start is not after its end"),
    })
}

fn selected_from_scalar(name: &str, shape: &Shape, dimension: usize) -> Diagnostic {
    let element = plain(&shape.element);
    let array = match dimension {
        0 => format!("[{element}; 1024]"),
        _ => format!("[[{element}; 1024]; 64]"),
    };
    error(
        Code::OutOfBounds,
        format!("`{name}` is a single `{element}`, which has no elements to select"),
    )
    .help(format!("use `{name}`, or declare it as an array such as `{array}`"))
}
