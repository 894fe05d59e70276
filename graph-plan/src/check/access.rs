//! What one node may be given: the kind of memory, and no memory twice.

use crate::{Access, Code, Diagnostic, Draft, NodeKind, Space, Subject};

/// Host memory as a kernel argument or under a memset.
pub(super) fn wrong_memory(draft: &Draft, errors: &mut Vec<Diagnostic>) {
    for (index, access) in draft.accesses.iter().enumerate() {
        let (node, resource) = (&draft.nodes[access.node], &draft.resources[access.resource]);
        let user = match node.kind {
            NodeKind::Kernel => "kernel",
            NodeKind::Memset => "memset",
            NodeKind::If => "if",
            NodeKind::While => "while",
            NodeKind::Switch => "switch",
            _ => continue,
        };
        if resource.space == Space::Host {
            let (name, node) = (&resource.name, &node.name);
            let message = format!("`{name}` is host memory, but {user} node `{node}` needs device memory");
            let help = if access.mode.writes() {
                format!(
                    "declare a `device` resource of the same shape, use it here, and copy back: `memcpy download = ... -> {name} after {node}`"
                )
            } else {
                format!(
                    "declare a `device` resource of the same shape, use it here, and copy first: `memcpy upload = {name} -> ...`"
                )
            };
            errors.push(Diagnostic::new(Code::WrongMemory, Subject::Access(index), message).help(help));
        }
    }
}

/// One node gets overlapping memory twice, once for writing.
pub(super) fn aliased_arguments(draft: &Draft, errors: &mut Vec<Diagnostic>) {
    for range in draft.access_ranges() {
        let accesses = &draft.accesses[range.clone()];
        for (index, second) in accesses.iter().enumerate() {
            let alias = accesses[..index].iter().find(|first| {
                first.resource == second.resource
                    && (first.mode.writes() || second.mode.writes())
                    && first.region.overlaps(&second.region)
            });
            if let Some(first) = alias {
                errors.push(aliased(draft, first, second, range.start + index));
            }
        }
    }
}

fn aliased(draft: &Draft, first: &Access, second: &Access, index: usize) -> Diagnostic {
    let (node, name) = (&draft.nodes[second.node], &draft.resources[second.resource].name);
    let (message, help) = if node.kind == NodeKind::Memcpy {
        let message = format!("node `{}` copies `{name}` onto itself", node.name);
        (
            message,
            "copy between two resources, or between parts that do not overlap",
        )
    } else {
        let how = |access: &Access| if access.mode.writes() { "`&mut`" } else { "`&`" };
        let again = if first.mode == second.mode {
            format!("as {} twice", how(first))
        } else {
            format!("as {} and again as {}", how(first), how(second))
        };
        let message = format!("node `{}` gets `{name}` {again}", node.name);
        (
            message,
            "pass another resource, or parts that do not overlap such as `x[..MID]` and `x[MID..]`",
        )
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
