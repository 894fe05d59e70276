//! The shapes of collectives, as far as the text tells: the whole has one row for each rank, and each row is a part.

use super::copy::{Selected, selected};
use crate::graph::ast::Collective;
use crate::graph::constant::is_number;
use crate::graph::resolve::Graph;
use crate::graph::sum::Sum;
use crate::report::{Report, error};
use crate::text::plain;
use graph_plan::{Code, NodeKind};

/// The element types that reductions take.
const REDUCED: [&str; 10] = ["f16", "bf16", "f32", "f64", "i8", "u8", "i32", "u32", "i64", "u64"];

/// Reports parts and wholes that certainly do not fit, and numbers that no reduction takes.
pub(super) fn shapes(graph: &Graph<'_>, kind: NodeKind, collective: &Collective, report: &mut Report) {
    let reduces = matches!(kind, NodeKind::AllReduce | NodeKind::ReduceScatter);
    let first = &collective.moves[0].place;
    let Some(one) = selected(graph, first) else { return };
    let element = plain(one.element);
    if reduces && is_number(one.element) && !REDUCED.contains(&&*element) {
        let message = format!("`{}` has `{element}` elements, which no reduction takes", first.name);
        let diagnostic = error(Code::ShapeMismatch, message)
            .note("reductions take f16, bf16, f32, f64, i8, u8, i32, u32, i64 and u64, as NCCL does")
            .help("convert them in a kernel before");
        return report.push_between(first.name.span(), first.end, &diagnostic);
    }
    let (NodeKind::AllGather | NodeKind::ReduceScatter) = kind else {
        return;
    };
    let second = &collective.moves[1].place;
    let Some(other) = selected(graph, second) else { return };
    let ((part, part_name), (whole, whole_name)) = match kind {
        NodeKind::AllGather => ((&one, &first.name), (&other, &second.name)),
        _ => ((&other, &second.name), (&one, &first.name)),
    };
    if fits(part, whole) {
        return;
    }
    let inner = &part.text;
    let message = format!("each rank has `{inner}` of `{part_name}`, but a row of `{whole_name}` is another");
    let diagnostic = error(Code::ShapeMismatch, message)
        .note(format!(
            "`{part_name}` is `{inner}`, `{whole_name}` is `{}`",
            whole.text
        ))
        .help(format!(
            "declare `{whole_name}` with one such row for each rank: `[{inner}; ranks]`"
        ));
    report.push_between(first.name.span(), second.end, &diagnostic);
}

/// Whether the whole may have rows of the part's shape.
fn fits(part: &Selected<'_>, whole: &Selected<'_>) -> bool {
    let numbers = is_number(part.element) && is_number(whole.element);
    if plain(part.element) != plain(whole.element) {
        return !numbers; // rustc knows more of other types
    }
    let differ = |a: &Sum, b: &Sum| a.exceeds(b).is_some_and(|number| number != 0);
    let Some((_, row)) = whole.lengths.split_first() else {
        return false;
    };
    let mut lengths = part.lengths.iter().zip(row);
    part.lengths.len() == row.len() && !lengths.any(|(a, b)| matches!((a, b), (Some(a), Some(b)) if differ(a, b)))
}
