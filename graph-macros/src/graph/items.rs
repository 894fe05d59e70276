//! Rules about the graphs of one macro call: each has a name of its own, and none contains itself.

use super::ast::{Item, Statement};
use crate::report::{Report, error};
use crate::span::on_line;
use graph_plan::Code;
use proc_macro2::Span;
use std::collections::VecDeque;
use syn::Path;

/// Reports graphs whose name an earlier one has, and leaves them out.
pub(super) fn distinct(items: Vec<Item>, report: &mut Report) -> Vec<Item> {
    let mut kept: Vec<Item> = Vec::new();
    for item in items {
        match kept.iter().find(|earlier| earlier.name == item.name) {
            Some(Item { name: first, .. }) => {
                let message = format!("the graph `{}` is declared twice", item.name);
                let note = format!("`{first}` is declared {}", on_line(first.span()));
                let diagnostic = error(Code::DuplicateName, message).note(note);
                report.push(item.name.span(), &diagnostic.help("choose another name"));
            }
            None => kept.push(item),
        }
    }
    kept
}

/// Reports graphs that contain themselves, directly or through other graphs: building them would never end.
pub(super) fn endless(items: &[Item], report: &mut Report) {
    let children: Vec<Vec<(usize, Span)>> = items.iter().map(|item| children(item, items)).collect();
    let mut told = vec![false; items.len()];
    for start in 0..items.len() {
        let Some(around) = circle(&children, start).filter(|_| !told[start]) else {
            continue;
        };
        let names = around
            .iter()
            .chain([&start])
            .map(|&item| format!("`{}`", items[item].name));
        let message = match around.len() {
            1 => format!("graph `{}` is a node of itself", items[start].name),
            _ => format!(
                "graphs are nodes of each other: {}",
                names.collect::<Vec<_>>().join(" -> ")
            ),
        };
        let diagnostic =
            error(Code::Cycle, message).note("a child graph is built with each graph that it is a node of");
        let next = *around.get(1).unwrap_or(&start);
        let span = children[start].iter().find(|(child, _)| *child == next);
        let span = span.map_or_else(|| items[start].name.span(), |(_, span)| *span);
        report.push(
            span,
            &diagnostic.help("remove one of these nodes, or repeat its nodes with `for` or `while`"),
        );
        around.iter().for_each(|&item| told[item] = true);
    }
}

/// The graphs on the shortest way from `start` back to itself, beginning with `start`.
fn circle(children: &[Vec<(usize, Span)>], start: usize) -> Option<Vec<usize>> {
    let mut parents: Vec<Option<usize>> = vec![None; children.len()];
    let mut queue = VecDeque::from([start]);
    while let Some(item) = queue.pop_front() {
        for &(child, _) in &children[item] {
            if child == start {
                let mut way: Vec<usize> = std::iter::successors(Some(item), |&item| parents[item]).collect();
                way.reverse();
                return Some(way);
            }
            if parents[child].is_none() {
                parents[child] = Some(item);
                queue.push_back(child);
            }
        }
    }
    None
}

/// The graphs that a graph has as nodes, each with its place.
fn children(item: &Item, items: &[Item]) -> Vec<(usize, Span)> {
    let mut paths = Vec::new();
    Statement::visit(&item.statements, &mut |statement| {
        if let Statement::Node(node) = statement {
            paths.extend(node.action.child().map(|child| &child.path));
        }
    });
    let known = |path: &Path| {
        let [segment] = path.segments.iter().collect::<Vec<_>>()[..] else {
            return None;
        };
        let index = items.iter().position(|other| other.name == segment.ident)?;
        Some((index, segment.ident.span()))
    };
    paths.into_iter().filter_map(known).collect()
}
