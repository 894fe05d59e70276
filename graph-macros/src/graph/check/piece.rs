//! Memory that must be in one piece: the memory of all nodes but copies and memsets.

use crate::graph::ast::{Action, Node, Part};
use crate::report::{Report, error};
use graph_plan::Code;

/// Reports columns of several rows in other nodes.
pub(super) fn pieces(node: &Node, report: &mut Report) {
    if matches!(node.action, Action::Memcpy { .. } | Action::Memset { .. }) {
        return;
    }
    let places = node.action.places();
    for place in places.into_iter().filter(|place| place.is_rectangle()) {
        let (name, keyword) = (&place.name, node.kind.keyword());
        let columns = place.parts.get(1).map_or_else(String::new, Part::to_string);
        let message = format!(
            "{keyword} node `{}` gets columns of several rows of `{name}`, which lie apart",
            node.name
        );
        let diagnostic = error(Code::ShapeMismatch, message)
            .note("only copies and memsets take memory that is not in one piece")
            .help(format!(
                "take those of one row, `{name}[i]{columns}`, or copy them to memory of their own first"
            ));
        report.push_between(name.span(), place.end, &diagnostic);
    }
}
