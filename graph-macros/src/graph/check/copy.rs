//! The two sides of a copy, which must have one shape, as far as the text tells.

use super::bounds::outside;
use crate::graph::ast::{Part, Place, Shape};
use crate::graph::constant::is_number;
use crate::graph::resolve::Graph;
use crate::graph::sum::Sum;
use crate::report::{Report, error};
use crate::text::plain;
use graph_plan::Code;
use syn::Type;

/// Reports a copy between shapes that certainly differ: in rank, in lengths that are literals or sums of one name and a
/// literal, or in numbers of different types.
pub(super) fn shapes(graph: &Graph<'_>, from: &Place, to: &Place, report: &mut Report) {
    let (Some(source), Some(destination)) = (selected(graph, from), selected(graph, to)) else {
        return;
    };
    let element = |selected: &Selected<'_>| plain(selected.element);
    let (one, other) = (element(&source), element(&destination));
    if one != other {
        if is_number(source.element) && is_number(destination.element) {
            let message = format!(
                "a memcpy from `{}` to `{}` copies `{one}` elements into `{other}` memory",
                from.name, to.name
            );
            let diagnostic = error(Code::ShapeMismatch, message)
                .note(format!(
                    "`{}` is `{}`, `{}` is `{}`",
                    from.name, source.text, to.name, destination.text
                ))
                .help("a copy converts nothing: declare both with one element type, or convert them in a kernel");
            report.push_between(from.name.span(), to.end, &diagnostic);
        }
        return;
    }
    let ranks_differ = source.lengths.len() != destination.lengths.len();
    let mut lengths = source.lengths.iter().zip(&destination.lengths);
    let differ = |a: &Sum, b: &Sum| a.exceeds(b).is_some_and(|number| number != 0);
    let lengths_differ = lengths.any(|(a, b)| matches!((a, b), (Some(a), Some(b)) if differ(a, b)));
    if !(ranks_differ || lengths_differ) {
        return;
    }
    if [from, to].into_iter().any(|place| outside(graph, place, &[]).is_some()) {
        return; // which is reported
    }
    let message = format!(
        "a memcpy from `{}` to `{}` changes the shape",
        source.text, destination.text
    );
    let diagnostic = error(Code::ShapeMismatch, message)
        .note(format!(
            "`{}` is `{}`, `{}` is `{}`",
            from.name,
            written(graph, from),
            to.name,
            written(graph, to)
        ))
        .help(match of_shorter(graph, from, to, &source, &destination) {
            Some(part) => {
                format!("copy a part of the longer one, for example `{part}`, or declare both with one shape")
            }
            None => "copy between resources of one shape, or between ranges of one length".to_owned(),
        });
    report.push_between(from.name.span(), to.end, &diagnostic);
}

/// The copy of as much as the shorter of two resources has; `None` if they differ in more than their outermost length.
fn of_shorter(
    graph: &Graph<'_>,
    from: &Place,
    to: &Place,
    source: &Selected<'_>,
    destination: &Selected<'_>,
) -> Option<String> {
    let length = |place: &Place| Some(plain(graph.resources[graph.resource(place)?].shape.lengths.first()?));
    let (first, inner) = source.lengths.split_first()?;
    let (other, other_inner) = destination.lengths.split_first()?;
    let alike = |(a, b): (&Option<Sum>, &Option<Sum>)| {
        let pair = a.as_ref().zip(b.as_ref());
        pair.is_some_and(|(a, b)| a.exceeds(b) == Some(0))
    };
    let are_whole = from.parts.is_empty() && to.parts.is_empty();
    if !are_whole || inner.len() != other_inner.len() || !inner.iter().zip(other_inner).all(alike) {
        return None;
    }
    let (from_name, to_name) = (&from.name, &to.name);
    Some(if first.as_ref()?.exceeds(other.as_ref()?)? > 0 {
        format!("{from_name}[..{}] -> {to_name}", length(to)?)
    } else {
        format!("{from_name} -> {to_name}[..{}]", length(from)?)
    })
}

/// The shape of a place, as far as the text tells.
pub(super) struct Selected<'a> {
    pub(super) element: &'a Type,
    /// The lengths; `None` for a length that is no sum.
    pub(super) lengths: Vec<Option<Sum>>,
    pub(super) text: String,
}

/// The shape of a place; `None` if the place is not in known memory, or selects more dimensions than the text tells.
pub(super) fn selected<'a>(graph: &Graph<'a>, place: &Place) -> Option<Selected<'a>> {
    let shape: &Shape = &graph.resources[graph.resource(place)?].shape;
    let lengths = shape.lengths.iter();
    let mut lengths: Vec<(Option<Sum>, String)> = lengths
        .map(|length| (graph.sum_of_length(length), plain(length)))
        .collect();
    let mut dimension = 0;
    for part in &place.parts {
        let (whole, _) = lengths.get(dimension)?;
        match part {
            Part::Index(_) => drop(lengths.remove(dimension)),
            Part::Range(range) if range.is_full() => dimension += 1,
            Part::Range(range) => {
                let (start, end) = range.sums(whole.as_ref(), |expr| graph.sum(expr));
                let length = start.zip(end).and_then(|(start, end)| end.minus(&start));
                let text = length.as_ref().map_or_else(|| "_".to_owned(), Sum::to_string);
                lengths[dimension] = (length, text);
                dimension += 1;
            }
        }
    }
    let (lengths, texts): (_, Vec<String>) = lengths.into_iter().unzip();
    Some(Selected {
        element: &shape.element,
        lengths,
        text: array(&shape.element, texts),
    })
}

fn written(graph: &Graph<'_>, place: &Place) -> String {
    let shape = graph.resource_of(&place.name).map(|resource| &resource.shape);
    shape.map_or_else(String::new, |shape| {
        array(&shape.element, shape.lengths.iter().map(plain).collect())
    })
}

/// The type of arrays in arrays, with these lengths from the outermost.
fn array(element: &Type, lengths: Vec<String>) -> String {
    let inner = plain(element);
    lengths
        .iter()
        .rev()
        .fold(inner, |inner, length| format!("[{inner}; {length}]"))
}
