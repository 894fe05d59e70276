//! The `after` lists of nodes: the edges of the draft.

use super::{Entity, Graph};
use crate::graph::ast::{Dependency, Iteration, Node};
use crate::report::{Report, error};
use crate::span::line;
use crate::text::plain;
use graph_plan::{Affine, Code, Diagnostic, Subject, nearest, other_body, siblings};
use proc_macro2::{Ident, Span};
use syn::Expr;

/// Enters the edges of a node into the draft.
pub(super) fn after<'a>(graph: &mut Graph<'a>, index: usize, node: &'a Node, report: &mut Report) {
    for dependency in &node.after {
        let name = &dependency.name;
        match graph.entity_after(name) {
            entity if name == AUTO && !matches!(entity, Some(Entity::Node(_) | Entity::Broken)) => {
                if auto(graph, index, node, dependency, report) {
                    continue;
                }
            }
            Some(Entity::Node(before)) if graph.draft.nodes[before].body == graph.draft.nodes[index].body => {
                if edge(graph, before, index, dependency, report) {
                    continue;
                }
            }
            Some(Entity::Node(before)) => {
                let subject = Subject::Node(index);
                report.push(name.span(), &other_body(&graph.draft, before, index, subject));
                if let Some((_, later)) = siblings(&graph.draft, before, index) {
                    graph.draft.nodes[later].broken = true; // its order is wrong too
                }
            }
            Some(Entity::Broken) => {}
            Some(Entity::Resource(_) | Entity::Param(_) | Entity::Value(_) | Entity::Group(_) | Entity::Variable) => {
                let message = format!("`{name}` is no node, so `{}` cannot run after it", node.name);
                report.push(
                    name.span(),
                    &error(Code::UnknownNode, message).help("name the node that uses it"),
                );
            }
            None if is_around_a_node(graph, dependency) => {
                let message = format!("`{name}(..)` is no edge: there is `programmatic(..)`");
                report.push(name.span(), &error(Code::Syntax, message));
            }
            None => {
                let diagnostic = error(Code::UnknownNode, format!("no node is named `{name}`"));
                let iteration = dependency.iteration.as_ref();
                let numbers = iteration.map(|iteration| format!("({})", plain_list(&iteration.numbers)));
                // A node may run after an earlier iteration of itself.
                let may_be_own = numbers.is_some() && !graph.loops_around(index).is_empty();
                let others = graph.nodes.iter().filter(|other| may_be_own || other.name != node.name);
                let nodes: Vec<String> = others.map(|other| other.name.to_string()).collect();
                let known = suggest(diagnostic, name, &nodes);
                let numbers = numbers.unwrap_or_default();
                let remove = match node.after.len() {
                    1 => format!("remove `after {name}{numbers}`"),
                    _ => format!("remove `{name}{numbers}` from the `after` list"),
                };
                let near = nearest(&name.to_string(), nodes.iter().map(String::as_str));
                let help = match near {
                    Some(near) => format!("did you mean `{near}{numbers}`?"),
                    None if nodes.is_empty() => format!("{remove}: there is no other node"),
                    None => format!("name one of these, or {remove}"),
                };
                report.push(name.span(), &known.help(help));
            }
        }
        graph.draft.nodes[index].broken = true;
    }
}

/// The word in an `after` list for the edges that accesses imply. A node may have this name, too.
const AUTO: &str = "auto";

/// Marks a node whose `after` list has `auto`. Returns false if it cannot have it, which is reported.
fn auto(graph: &mut Graph<'_>, index: usize, node: &Node, written: &Dependency, report: &mut Report) -> bool {
    let others = node.after.iter().filter(|other| other.name != AUTO).count();
    let (diagnostic, end) = if let Some(word) = &written.programmatic {
        let message = format!("`auto` stands for plain edges, not for `{word}` ones");
        let help = "name the node in `programmatic(..)`, beside `auto`";
        (error(Code::Syntax, message).help(help), written.name.span())
    } else if let Some(iteration) = &written.iteration {
        let message = "`auto` orders nodes within one iteration, never between two";
        let help = "write `auto` alone, and name the nodes of other iterations beside it";
        (error(Code::Syntax, message).help(help), iteration.end)
    } else if std::mem::replace(&mut graph.draft.nodes[index].auto, true) {
        let message = format!("node `{}` has `auto` twice in its `after` list", node.name);
        let diagnostic = error(Code::DuplicateDependency, message).help("remove the second `auto`");
        (diagnostic, written.name.span())
    } else if node.action.places().is_empty() && others == 0 {
        (graph_plan::nothing_to_infer(&graph.draft, index), written.name.span())
    } else {
        return true;
    };
    report.push_between(written.name.span(), end, &diagnostic);
    false
}

/// Whether the name is followed by the name of a node in parentheses, as `programmatic` is.
fn is_around_a_node(graph: &Graph<'_>, dependency: &Dependency) -> bool {
    let iteration = dependency.iteration.as_ref();
    iteration.is_some_and(|iteration| {
        let mut names = iteration.numbers.iter().filter_map(|number| match number {
            Expr::Path(path) => path.path.get_ident(),
            _ => None, // a number, or one that is calculated
        });
        names.any(|name| matches!(graph.entity_after(name), Some(Entity::Node(_))))
    })
}

/// Enters the edge from `before`, which is in the node's body. Returns false if the named iteration is wrong, which is
/// reported.
fn edge<'a>(
    graph: &mut Graph<'a>,
    before: usize,
    node: usize,
    dependency: &'a Dependency,
    report: &mut Report,
) -> bool {
    let (name, programmatic) = (&dependency.name, dependency.programmatic.is_some());
    let steps = match &dependency.iteration {
        None => Vec::new(),
        Some(iteration) => match steps(graph, before, node, name, iteration) {
            Ok(steps) => steps,
            Err((span, diagnostic)) => {
                report.push_between(span, iteration.end, &diagnostic);
                return false;
            }
        },
    };
    let line = line(name.span()).and_then(|line| u32::try_from(line).ok());
    if steps.iter().all(|&step| step == 0) {
        match programmatic {
            true => graph.draft.programmatic_edge(before, node),
            false => graph.draft.edge(before, node),
        };
        graph.draft.edge_lines.push(line);
        graph.edges.push(name);
        return true;
    }
    match programmatic {
        true => graph.draft.programmatic_shift(before, node, steps),
        false => graph.draft.shift(before, node, steps),
    };
    graph.draft.shift_lines.push(line);
    graph.shifts.push(dependency);
    true
}

/// The numbers that are added to those of a node's iteration to get the iteration of `before` that it names. The error
/// is a mistake and the span where it begins.
fn steps(
    graph: &Graph<'_>,
    before: usize,
    node: usize,
    name: &Ident,
    iteration: &Iteration,
) -> Result<Vec<i64>, (Span, Diagnostic)> {
    let both = graph.loops_around(before).into_iter().zip(graph.loops_around(node));
    let loops: Vec<usize> = both.take_while(|(a, b)| a == b).map(|(around, _)| around).collect();
    let variables: Vec<String> = loops
        .iter()
        .map(|&around| graph.loops[around].variable().to_string())
        .collect();
    let later = &graph.nodes[node].name;
    if loops.is_empty() {
        let meant = match &iteration.numbers[..] {
            [Expr::Path(path)]
                if path
                    .path
                    .get_ident()
                    .is_some_and(|inner| matches!(graph.entity_after(inner), Some(Entity::Node(_)))) =>
            {
                format!("write `programmatic({})` if an early start was meant", plain(path))
            }
            _ => format!("write `after {name}`: it runs after all iterations of `{name}`, if there are several"),
        };
        let message =
            format!("`{name}` and `{later}` are not in one loop, so `{later}` cannot name an iteration of `{name}`");
        return Err((name.span(), error(Code::UnknownNode, message).help(meant)));
    }
    let own = graph.draft.bodies[graph.draft.nodes[node].body]
        .node
        .and_then(|owner| graph.draft.loop_around(owner));
    let outside = graph.loops_up_to(own);
    let previous = |step: &str| {
        let mut numbers = variables.clone();
        if let Some(last) = numbers
            .iter_mut()
            .zip(&loops)
            .rfind(|(_, around)| !outside.contains(around))
        {
            last.0.push_str(step);
        }
        format!("{name}({})", numbers.join(", "))
    };
    if iteration.numbers.len() != loops.len() {
        let number = |count: usize| match count {
            1 => "1 number".to_owned(),
            count => format!("{count} numbers"),
        };
        let around: Vec<String> = variables.iter().map(|variable| format!("`{variable}`")).collect();
        let message = format!(
            "`{name}(..)` has {}, but `{name}` and `{later}` are both in {} {}",
            number(iteration.numbers.len()),
            match loops.len() {
                1 => "the loop".to_owned(),
                count => format!("{count} loops:"),
            },
            around.join(", ")
        );
        let help = format!(
            "write a number for each of these loops, for example `{}`",
            previous(" - 1")
        );
        return Err((name.span(), error(Code::Syntax, message).help(help)));
    }
    let mut steps = Vec::new();
    for ((expr, &around), variable) in iteration.numbers.iter().zip(&loops).zip(&variables) {
        let own = Affine::variable(&graph.draft.loops[around].variable).times(-1);
        let step = graph
            .form(Some(around), expr)
            .zip(own)
            .and_then(|(form, own)| form.plus(&own)?.value());
        let Some(step) = step else {
            let message = format!("`{}` is not `{variable}`, plus or minus a literal", plain(expr));
            let help = format!(
                "name an iteration that is a fixed number of steps away, such as `{}`; outside of the loop, `after \
                 {name}` is after all of its iterations",
                previous(" - 1")
            );
            return Err((name.span(), error(Code::Syntax, message).help(help)));
        };
        if step != 0 && outside.contains(&around) {
            let message = format!(
                "`{later}` cannot run after `{name}({})`, which is in another body",
                plain_list(&iteration.numbers)
            );
            let note =
                format!("each iteration of `{variable}` has a body of its own, and `after` orders nodes of one body");
            let owner = graph.draft.bodies[graph.draft.nodes[node].body]
                .node
                .map(|owner| &graph.nodes[owner].name);
            let help = match owner {
                Some(owner) => format!("order the iterations of `{owner}`, in whose body they are"),
                None => format!("write `{variable}`"),
            };
            return Err((name.span(), error(Code::UnknownNode, message).note(note).help(help)));
        }
        steps.push(step);
    }
    Ok(steps)
}

/// Expressions as they are written, with commas between.
fn plain_list(all: &[Expr]) -> String {
    all.iter().map(plain).collect::<Vec<_>>().join(", ")
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
