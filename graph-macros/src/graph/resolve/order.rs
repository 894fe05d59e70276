//! The `after` lists of nodes: the edges of the draft.

use super::{Entity, Graph};
use crate::graph::ast::{Dependency, Node};
use crate::report::{Report, error};
use crate::span::line;
use graph_plan::{Code, Diagnostic, Subject, nearest, other_body, siblings};
use proc_macro2::Ident;

/// Enters the edges of a node into the draft.
pub(super) fn after<'a>(graph: &mut Graph<'a>, index: usize, node: &'a Node, report: &mut Report) {
    for Dependency { name, programmatic } in &node.after {
        match graph.entity(name) {
            Some(Entity::Node(before)) if graph.draft.nodes[before].body == graph.draft.nodes[index].body => {
                match programmatic {
                    Some(_) => graph.draft.programmatic_edge(before, index),
                    None => graph.draft.edge(before, index),
                };
                let line = line(name.span()).and_then(|line| u32::try_from(line).ok());
                graph.draft.edge_lines.push(line);
                graph.edges.push(name);
                continue;
            }
            Some(Entity::Node(before)) => {
                let subject = Subject::Node(index);
                report.push(name.span(), &other_body(&graph.draft, before, index, subject));
                if let Some((_, later)) = siblings(&graph.draft, before, index) {
                    graph.draft.nodes[later].broken = true; // its order is wrong too
                }
            }
            Some(Entity::Broken) => {}
            Some(Entity::Resource(_) | Entity::Param(_) | Entity::Value(_) | Entity::Variable) => {
                let message = format!("`{name}` is no node, so `{}` cannot run after it", node.name);
                report.push(
                    name.span(),
                    &error(Code::UnknownNode, message).help("name the node that uses it"),
                );
            }
            None => {
                let diagnostic = error(Code::UnknownNode, format!("no node is named `{name}`"));
                let others = graph.nodes.iter().filter(|other| other.name != node.name);
                let nodes: Vec<String> = others.map(|other| other.name.to_string()).collect();
                let known = suggest(diagnostic, name, &nodes);
                let remove = match node.after.len() {
                    1 => format!("remove `after {name}`"),
                    _ => format!("remove `{name}` from the `after` list"),
                };
                let help = match known.help.as_deref() {
                    Some(near) => near.to_owned(),
                    None if nodes.is_empty() => format!("{remove}: there is no other node"),
                    None => format!("name one of these, or {remove}"),
                };
                report.push(name.span(), &known.help(help));
            }
        }
        graph.draft.nodes[index].broken = true;
    }
}

/// Adds a help with the name that may have been meant, or a note with the names that there are.
pub(super) fn suggest(diagnostic: Diagnostic, name: &Ident, candidates: &[String]) -> Diagnostic {
    match nearest(&name.to_string(), candidates.iter().map(String::as_str)) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None if candidates.is_empty() && diagnostic.code == Code::UnknownResource => {
            diagnostic.help(format!("declare it: `device {name}: [f32; 1024];`"))
        }
        None if candidates.is_empty() => diagnostic,
        None => {
            let listed: Vec<String> = candidates.iter().take(8).map(|name| format!("`{name}`")).collect();
            let more = if candidates.len() > listed.len() { ", ..." } else { "" };
            diagnostic.note(format!("declared are {}{more}", listed.join(", ")))
        }
    }
}
