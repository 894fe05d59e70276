//! Children: what they are bound to.

use super::Graph;
use super::access::argument_access;
use crate::graph::ast::Child;
use crate::report::{Report, error};
use graph_plan::Code;

/// The accesses of a child's node. What its nodes do besides, only the child knows.
pub(super) fn accesses<'a>(graph: &mut Graph<'a>, node: usize, child: &'a Child, report: &mut Report) {
    graph.draft.nodes[node].opaque = true;
    for (index, binding) in child.bindings.iter().enumerate() {
        let name = &binding.name;
        if child.bindings[..index].iter().any(|other| other.name == *name) {
            let message = format!("node `{}` binds `{name}` twice", graph.nodes[node].name);
            report.push(
                name.span(),
                &error(Code::Signature, message).help("remove one of the two"),
            );
        }
        argument_access(graph, node, &binding.argument, report);
    }
}
