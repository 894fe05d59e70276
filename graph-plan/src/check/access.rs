//! The memory that one node may be given: memory of the right kind, and none twice.

use super::advice::name_in_after;
use crate::{Access, Code, Diagnostic, Draft, Mode, NodeKind, Space, Subject};

/// Reports memory of a kind that a node cannot have: host memory as a kernel argument, under a memset or as a
/// condition, and device memory for a host function.
pub(super) fn wrong_memory(draft: &Draft, errors: &mut Vec<Diagnostic>) {
    for (index, access) in draft.accesses.iter().enumerate() {
        let (node, resource) = (&draft.nodes[access.node], &draft.resources[access.resource]);
        let needed = match node.kind {
            NodeKind::Kernel | NodeKind::Memset | NodeKind::If | NodeKind::While | NodeKind::Switch => Space::Device,
            NodeKind::Call => Space::Host,
            NodeKind::Memcpy
            | NodeKind::Graph
            | NodeKind::Capture
            | NodeKind::Raw
            | NodeKind::Join
            | NodeKind::Record
            | NodeKind::Wait => continue,
        };
        if resource.space != needed {
            let help = match needed {
                Space::Device => use_device_memory(draft, access),
                Space::Host => use_host_memory(draft, access),
            };
            let (name, user, node) = (&resource.name, node.kind.keyword(), &node.name);
            let (is, needed) = (memory(resource.space), memory(needed));
            let message = format!("`{name}` is {is} memory, but {user} node `{node}` needs {needed} memory");
            errors.push(Diagnostic::new(Code::WrongMemory, Subject::Access(index), message).help(help));
        }
    }
}

fn memory(space: Space) -> &'static str {
    match space {
        Space::Host => "host",
        Space::Device => "device",
    }
}

fn use_device_memory(draft: &Draft, access: &Access) -> String {
    let (name, node) = (&draft.resources[access.resource].name, &draft.nodes[access.node].name);
    let copy = if access.mode.writes() {
        format!("copy back: `memcpy download = ... -> {name} after {node};`")
    } else {
        let order = name_in_after(draft, "upload", access.node);
        format!("copy first: `memcpy upload = {name} -> ...;`, then {order}")
    };
    format!("declare a `device` resource of the same shape, use it here, and {copy}")
}

fn use_host_memory(draft: &Draft, access: &Access) -> String {
    let (name, node) = (&draft.resources[access.resource].name, &draft.nodes[access.node].name);
    let mut help = format!(
        "declare a `host` resource of the same shape, borrow it here, and copy first: `memcpy download = {name} -> \
         ...;`, then {}",
        name_in_after(draft, "download", access.node)
    );
    if access.mode.writes() {
        help.push_str(&format!(
            ", and copy back: `memcpy upload = ... -> {name} after {node};`"
        ));
    }
    help
}

/// Reports nodes that get overlapping memory twice, at least once for writing.
pub(super) fn aliased_arguments(draft: &Draft, errors: &mut Vec<Diagnostic>) {
    for range in draft.access_ranges() {
        let accesses = &draft.accesses[range.clone()];
        for (index, second) in accesses.iter().enumerate() {
            let alias = accesses[..index].iter().find(|first| first.aliases(second));
            if let Some(first) = alias {
                errors.push(aliased(draft, first, second, range.start + index));
            }
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
    if first.region == second.region {
        return diagnostic;
    }
    diagnostic.note(format!(
        "`{name}{}` and `{name}{}` overlap",
        first.region, second.region
    ))
}
