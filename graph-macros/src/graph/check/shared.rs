//! Memory arguments: nodes write the arguments that are `mut`, and no others.

use crate::graph::ast::{Resource, ResourceKind};
use crate::graph::resolve::Graph;
use crate::report::{Report, error};
use crate::span::on_line;
use graph_plan::{Code, Space};

/// Reports writes through arguments without `mut`, and `mut` that nothing needs.
pub(super) fn shared(graph: &Graph<'_>, report: &mut Report) {
    for (index, resource) in graph.resources.iter().enumerate() {
        let ResourceKind::Shared { mutable, .. } = resource.kind else {
            continue;
        };
        let mut accesses = graph.draft.accesses.iter();
        match accesses.position(|access| access.resource == index && access.mode.writes()) {
            Some(access) if !mutable => written(graph, resource, access, report),
            None if mutable && !graph.item.attributes.allow(Code::NeedlessMut) => needless(resource, report),
            _ => {}
        }
    }
}

/// Reports a write through an argument without `mut`: one mistake, however many nodes write it.
fn written(graph: &Graph<'_>, resource: &Resource, access: usize, report: &mut Report) {
    let name = &resource.name;
    let node = &graph.draft.nodes[graph.draft.accesses[access].node].name;
    let space = match resource.space() {
        Space::Host => "host",
        Space::Device => "device",
    };
    let message = format!("node `{node}` writes `{name}`, which is shared without `mut`");
    let diagnostic = error(Code::Access, message)
        .note(format!("`{name}` is declared {}", on_line(name.span())))
        .help(format!("declare it `{name}: mut {space} ..`"));
    let (place, start) = graph.accesses[access];
    report.push_between(start, place.end, &diagnostic);
}

fn needless(resource: &Resource, report: &mut Report) {
    let message = format!("`{}` is shared as `mut`, but no node writes it", resource.name);
    report.push(
        resource.keyword,
        &error(Code::NeedlessMut, message).help("remove `mut`"),
    );
}
