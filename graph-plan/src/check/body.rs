//! What conditional bodies may hold, and whether a `while` can end.

use crate::{Code, Diagnostic, Draft, NodeKind, Role, Subject};

/// Nodes that CUDA allows in no conditional body, however deep.
pub(super) fn forbidden_nodes(draft: &Draft, errors: &mut Vec<Diagnostic>) {
    for (index, node) in draft.nodes.iter().enumerate() {
        let forbidden = matches!(
            node.kind,
            NodeKind::Call | NodeKind::Capture | NodeKind::Raw | NodeKind::Record | NodeKind::Wait
        );
        let conditional = |&body: &usize| draft.bodies[body].role.is_conditional();
        let Some(body) = forbidden
            .then(|| draft.bodies_around(index).find(conditional))
            .flatten()
        else {
            continue;
        };
        let owner = draft.bodies[body].node.map_or("", |owner| &draft.nodes[owner].name);
        let (keyword, name) = (node.kind.keyword(), &node.name);
        let message = format!("{keyword} node `{name}` cannot be in the body of `{owner}`");
        errors.push(
            Diagnostic::new(Code::ConditionalBody, Subject::Node(index), message)
                .note("CUDA runs kernels, copies, memsets, joins, child graphs and conditionals in conditional bodies, and nothing else")
                .help(format!("move `{name}` out of the body, before or after `{owner}`")),
        );
    }
}

/// `while`s whose condition nothing in their body writes.
pub(super) fn endless_whiles(draft: &Draft, errors: &mut Vec<Diagnostic>) {
    for (body, declared) in draft.bodies.iter().enumerate() {
        let (Role::While, Some(node)) = (declared.role, declared.node) else {
            continue;
        };
        let Some(condition) = draft.accesses.iter().find(|access| access.node == node) else {
            continue; // its name is wrong, which is told elsewhere
        };
        let inside = |inner: usize| inner != node && draft.bodies_around(inner).any(|around| around == body);
        let doubtful = draft
            .nodes
            .iter()
            .enumerate()
            .any(|(inner, node)| node.broken && inside(inner));
        let written = draft.accesses.iter().any(|access| {
            access.resource == condition.resource
                && access.mode.writes()
                && access.region.overlaps(&condition.region)
                && inside(access.node)
        });
        if written || doubtful {
            continue;
        }
        let (name, flag) = (&draft.nodes[node].name, &draft.resources[condition.resource].name);
        let message = format!("no node in the body of `{name}` writes its condition `{flag}`");
        errors.push(
            Diagnostic::new(Code::EndlessWhile, Subject::Node(node), message)
                .note("once it has begun, it would never end")
                .help(format!(
                    "let a kernel or a copy of the body write `{flag}`: 0 ends the loop"
                )),
        );
    }
}
