//! Memory that one node gets twice.

use super::advice::{COMPARED, bytes_of_both};
use crate::region::Overlap;
use crate::{Access, Code, Diagnostic, Draft, Mode, NodeKind, Subject};

const APART: &str = "pass another resource, or parts that do not overlap such as `x[..MID]` and `x[MID..]`";

/// The way in which an argument is passed, in words.
fn how(access: &Access) -> &'static str {
    match access.mode {
        Mode::Read => "`&`",
        Mode::Write | Mode::ReadWrite => "`&mut`",
        Mode::Atomic => "`&` of atomics",
        Mode::Mapped => "`&` of mapped memory",
    }
}

/// The mistake of a node that gets two views of one memory, which overlap.
fn aliased_views(draft: &Draft, views: [(&str, &Access); 2], index: usize) -> Diagnostic {
    let [(name, first), (other, second)] = views;
    let node = &draft.nodes[second.node];
    let message = if node.kind == NodeKind::Memcpy {
        let [from, to] = if first.mode.writes() {
            [other, name]
        } else {
            [name, other]
        };
        format!(
            "node `{}` copies `{from}` to `{to}`, which are shared memory that overlaps",
            node.name
        )
    } else {
        let (one, again) = (how(first), how(second));
        format!(
            "node `{}` gets `{name}` as {one} and `{other}` as {again}, which are shared memory that overlaps",
            node.name
        )
    };
    Diagnostic::new(Code::AliasedArgument, Subject::Access(index), message)
        .note(bytes_of_both(&first.region, &second.region))
        .help("share memory that does not overlap, or pass parts that do not")
}

/// Reports nodes that get overlapping memory twice, at least once for writing.
pub(super) fn aliased_arguments(draft: &Draft, errors: &mut Vec<Diagnostic>) {
    let accesses = &draft.accesses;
    let mut start = 0; // of the accesses of this node
    for (index, second) in accesses.iter().enumerate() {
        if accesses[start].node != second.node {
            start = index;
        }
        let alias = (start..index).find(|&first| accesses[first].aliases(second));
        if let Some(first) = alias {
            errors.push(aliased(draft, first, index));
        }
    }
}

/// The mistake of a node that gets overlapping memory by two accesses, of these indices.
pub(super) fn aliased(draft: &Draft, first: usize, index: usize) -> Diagnostic {
    let [(view, _), (name, _)] = [first, index].map(|access| draft.seen(access));
    let [first, second] = [first, index].map(|access| &draft.accesses[access]);
    if view != name {
        return aliased_views(draft, [(view, first), (name, second)], index);
    }
    let node = &draft.nodes[second.node];
    let (message, help) = if node.kind == NodeKind::Memcpy {
        let message = format!("node `{}` copies `{name}` onto itself", node.name);
        (
            message,
            "copy between two resources, or between parts that do not overlap",
        )
    } else {
        const IN_PLACE: &str = "pass it once, as `&mut`, if it may be read and written in place; or pass another \
            resource, or parts that do not overlap such as `x[..MID]` and `x[MID..]`";
        let (one, other) = (how(first), how(second));
        let again = match one == other {
            true => format!("as {one} twice"),
            false => format!("as {one} and again as {other}"),
        };
        let message = format!("node `{}` gets `{name}` {again}", node.name);
        let atomic = [first, second].iter().any(|access| access.mode == Mode::Atomic);
        (message, if one == other || atomic { APART } else { IN_PLACE })
    };
    let diagnostic = Diagnostic::new(Code::AliasedArgument, Subject::Access(index), message).help(help);
    let (one, other) = (&first.region, &second.region);
    if one == other {
        return diagnostic;
    }
    let both = format!("`{name}{one}` and `{name}{other}`");
    if Overlap::of(one, other).is_certain() {
        return diagnostic.note(format!("{both} overlap"));
    }
    let diagnostic = diagnostic.note(format!("{both} are not compared, so they may overlap"));
    match one.is_known() && other.is_known() {
        true => diagnostic.note(COMPARED),
        false => diagnostic,
    }
}
