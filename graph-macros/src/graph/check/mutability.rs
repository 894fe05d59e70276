//! Memory arguments: nodes write the arguments that are `mut`, and no others.

use crate::graph::ast::{Resource, ResourceKind};
use crate::graph::resolve::Graph;
use crate::report::{Report, error};
use crate::span::on_line;
use graph_plan::{Code, Diagnostic, Mode, Space};

/// Reports writes through arguments without `mut`, and `mut` that nothing needs.
pub(super) fn arguments(graph: &Graph<'_>, report: &mut Report) {
    for (index, resource) in graph.resources.iter().enumerate() {
        let ResourceKind::Shared { mutable, .. } = resource.kind else {
            continue;
        };
        let mut accesses = graph.draft.accesses.iter();
        match accesses.position(|access| access.resource == index && access.mode.writes()) {
            // One mistake, however many nodes write it.
            Some(access) if !mutable => {
                let (place, start) = graph.accesses[access];
                let mode = graph.draft.accesses[access].mode;
                report.push_between(start, place.end, &written(graph, resource, access, mode));
            }
            // Nodes that may update it atomically may need it.
            // Another graph may write the field of a group.
            None if resource.is_field() => {}
            None if graph.needless_updates(index).is_some_and(|updates| updates.is_empty()) => {
                report.push(resource.keyword, &needless(resource));
            }
            _ => {}
        }
    }
}

/// The mistake of a write, of this mode, through an argument without `mut`.
pub(in crate::graph) fn written(graph: &Graph<'_>, resource: &Resource, access: usize, mode: Mode) -> Diagnostic {
    let name = &resource.name;
    let node = &graph.draft.nodes[graph.draft.accesses[access].node].name;
    let space = match resource.space() {
        Space::Host => "host",
        Space::Device => "device",
    };
    let verb = mode.verb();
    let message = format!("node `{node}` {verb} `{name}`, which is shared without `mut`");
    // A field is declared in its group.
    let (declared, short) = match resource.is_field() {
        true => (resource.keyword, name.short()),
        false => (name.span(), &**name),
    };
    error(Code::Access, message)
        .note(format!("`{name}` is declared {}", on_line(declared)))
        .help(format!("declare it `{short}: mut {space} ..`"))
}

/// The warning about an argument that is `mut` although nothing writes it.
pub(in crate::graph) fn needless(resource: &Resource) -> Diagnostic {
    let message = format!("`{}` is shared as `mut`, but no node writes it", resource.name);
    error(Code::NeedlessMut, message).help("remove `mut`")
}
