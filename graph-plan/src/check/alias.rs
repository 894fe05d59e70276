//! Memory that one node gets twice.

use super::advice::COMPARED;
use crate::region::Overlap;
use crate::{Access, Code, Diagnostic, Draft, Mode, NodeKind, Subject};

/// Reports nodes that get overlapping memory twice, at least once for writing.
pub(super) fn aliased_arguments(draft: &Draft, errors: &mut Vec<Diagnostic>) {
    let accesses = &draft.accesses;
    let mut start = 0; // of the accesses of this node
    for (index, second) in accesses.iter().enumerate() {
        if accesses[start].node != second.node {
            start = index;
        }
        let alias = accesses[start..index].iter().find(|first| first.aliases(second));
        if let Some(first) = alias {
            errors.push(aliased(draft, first, second, index));
        }
    }
}

/// The mistake of a node that gets overlapping memory as `first` and again as `second`, the access of this index.
pub(super) fn aliased(draft: &Draft, first: &Access, second: &Access, index: usize) -> Diagnostic {
    let (node, name) = (&draft.nodes[second.node], &draft.resources[second.resource].name);
    let (message, help) = if node.kind == NodeKind::Memcpy {
        let message = format!("node `{}` copies `{name}` onto itself", node.name);
        (
            message,
            "copy between two resources, or between parts that do not overlap",
        )
    } else {
        let how = |access: &Access| match access.mode {
            Mode::Read => "`&`",
            Mode::Write | Mode::ReadWrite => "`&mut`",
            Mode::Atomic => "`&` of atomics",
            Mode::Mapped => "`&` of mapped memory",
        };
        const APART: &str = "pass another resource, or parts that do not overlap such as `x[..MID]` and `x[MID..]`";
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
