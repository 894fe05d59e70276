//! Drawings of a [`Plan`] as text that other programs lay out.

#[cfg(test)]
mod tests;

use crate::{NodeKind, Plan, PlanNode, Role};
use std::fmt::{self, Write as _};

impl Plan {
    /// The graph in Graphviz's language: one box a node, one arrow an edge, one cluster a body or `for`. Dashed arrows
    /// lead from a node into its bodies; those with a label are programmatic edges.
    pub fn to_dot(&self) -> String {
        let draw = |out: &mut String| -> fmt::Result {
            writeln!(out, "digraph \"{}\" {{", escape(&self.name))?;
            writeln!(out, "    node [fontname=\"sans-serif\"];")?;
            if let Some(arena) = self.arena_title() {
                writeln!(out, "    label=\"{arena}\";")?;
            }
            self.dot_nodes(out, &self.body(0), 1)?;
            for (index, node) in self.nodes.iter().enumerate() {
                for from in node.after.iter() {
                    let style = match node.programmatic.contains(from) {
                        true => " [style=dashed, label=\"programmatic\"]",
                        false => "",
                    };
                    writeln!(out, "    n{from} -> n{index}{style};")?;
                }
                if let (Some(owner), true) = (self.bodies[node.body].node, node.after.is_empty()) {
                    writeln!(out, "    n{owner} -> n{index} [style=dashed];")?;
                }
            }
            writeln!(out, "}}")
        };
        written(draw)
    }

    /// The graph in Mermaid's language, which GitHub draws: one subgraph a body or `for`.
    pub fn to_mermaid(&self) -> String {
        let draw = |out: &mut String| -> fmt::Result {
            writeln!(out, "flowchart TD")?;
            self.mermaid_nodes(out, &self.body(0), 1)?;
            for (index, node) in self.nodes.iter().enumerate() {
                for from in node.after.iter() {
                    let arrow = match node.programmatic.contains(from) {
                        true => "-. programmatic .->",
                        false => "-->",
                    };
                    writeln!(out, "    n{from} {arrow} n{index}")?;
                }
                for body in self.bodies_of(index) {
                    writeln!(out, "    n{index} -.-> b{body}")?;
                }
            }
            match self.arena_title() {
                Some(arena) => writeln!(out, "    arena[(\"{arena}\")]"),
                None => Ok(()),
            }
        };
        written(draw)
    }

    /// Nodes, each followed by its own bodies, and `for`s.
    fn dot_nodes(&self, out: &mut String, nodes: &Nodes, depth: usize) -> fmt::Result {
        let indent = "    ".repeat(depth);
        let cluster = |out: &mut String, name: &str, label: &str, nodes: &Nodes| {
            writeln!(out, "{indent}subgraph cluster_{name} {{")?;
            writeln!(out, "{indent}    label=\"{}\";", escape(label))?;
            self.dot_nodes(out, nodes, depth + 1)?;
            writeln!(out, "{indent}}}")
        };
        for item in self.items(nodes) {
            let index = match item {
                Item::Node(index) => index,
                Item::For(repeated, inner) => {
                    let label = format!("for {}", self.loops[repeated].variable);
                    cluster(out, &format!("for_{repeated}"), &label, &inner)?;
                    continue;
                }
            };
            let node = &self.nodes[index];
            let shape = match node.kind {
                NodeKind::Kernel => "box",
                kind if kind.is_conditional() => "diamond",
                _ => "ellipse",
            };
            let label = escape(&self.label(node)).replace('\n', "\\n");
            writeln!(out, "{indent}n{index} [shape={shape}, label=\"{label}\"];")?;
            for inner in self.bodies_of(index) {
                cluster(out, &inner.to_string(), &self.title(inner), &self.body(inner))?;
            }
        }
        Ok(())
    }

    /// Nodes, each followed by its own bodies, and `for`s.
    fn mermaid_nodes(&self, out: &mut String, nodes: &Nodes, depth: usize) -> fmt::Result {
        let indent = "    ".repeat(depth);
        let cluster = |out: &mut String, name: &str, label: &str, nodes: &Nodes| {
            writeln!(out, "{indent}subgraph {name} [\"{label}\"]")?;
            self.mermaid_nodes(out, nodes, depth + 1)?;
            writeln!(out, "{indent}end")
        };
        for item in self.items(nodes) {
            let index = match item {
                Item::Node(index) => index,
                Item::For(repeated, inner) => {
                    let label = format!("for {}", self.loops[repeated].variable);
                    cluster(out, &format!("for{repeated}"), &label, &inner)?;
                    continue;
                }
            };
            let node = &self.nodes[index];
            let label = self.label(node).replace('"', "#quot;").replace('\n', "<br>");
            match node.kind {
                NodeKind::Kernel => writeln!(out, "{indent}n{index}[\"{label}\"]")?,
                kind if kind.is_conditional() => writeln!(out, "{indent}n{index}{{{{\"{label}\"}}}}")?,
                _ => writeln!(out, "{indent}n{index}([\"{label}\"])")?,
            }
            for inner in self.bodies_of(index) {
                cluster(out, &format!("b{inner}"), &self.title(inner), &self.body(inner))?;
            }
        }
        Ok(())
    }

    /// All nodes of a body.
    fn body(&self, body: usize) -> Nodes {
        Nodes {
            around: self.bodies[body].node.and_then(|owner| self.loop_around(owner)),
            indices: self.members(body).collect(),
        }
    }

    /// The nodes, those of a `for` together where its first is.
    fn items(&self, nodes: &Nodes) -> Vec<Item> {
        let mut found: Vec<Item> = Vec::new();
        for &index in &nodes.indices {
            match self.loop_below(index, nodes.around) {
                None => found.push(Item::Node(index)),
                Some(repeated) => match found.last_mut() {
                    Some(Item::For(last, inner)) if *last == repeated => inner.indices.push(index),
                    _ => {
                        let (around, indices) = (Some(repeated), vec![index]);
                        found.push(Item::For(repeated, Nodes { around, indices }));
                    }
                },
            }
        }
        found
    }

    /// The outermost `for` around a node that `around` is right around.
    fn loop_below(&self, node: usize, around: Option<usize>) -> Option<usize> {
        let innermost = self.nodes[node].repeated.filter(|&innermost| Some(innermost) != around);
        let mut loops = std::iter::successors(innermost, |&inner| self.loops[inner].parent);
        loops.find(|&repeated| self.loops[repeated].parent == around)
    }

    /// The body's node and what it is to it: `choice: else`.
    fn title(&self, body: usize) -> String {
        let Some(owner) = self.bodies[body].node else {
            return String::new();
        };
        let role = match self.bodies[body].role {
            Role::Graph | Role::Child => "graph".to_owned(),
            Role::Then => "then".to_owned(),
            Role::Else => "else".to_owned(),
            Role::While => "while".to_owned(),
            Role::Case => {
                let number = self.bodies_of(owner).take_while(|&other| other < body).count();
                format!("case {number}")
            }
        };
        format!("{}: {role}", self.nodes[owner].name)
    }

    /// How much scratch memory there is, and how much memory that takes.
    fn arena_title(&self) -> Option<String> {
        let scratch = || self.resources.iter().filter(|resource| resource.offset.is_some());
        let bytes = scratch().fold(0_usize, |sum, resource| sum.saturating_add(resource.bytes));
        let arena = self.arena();
        (scratch().count() > 0).then(|| format!("scratch: {bytes} bytes in an arena of {arena}"))
    }

    /// The node's keyword and name, then what it reads and writes; scratch memory with its place in the arena.
    fn label(&self, node: &PlanNode) -> String {
        let names = |writes: bool| {
            let touched = node.accesses.iter().filter(|access| access.mode.writes() == writes);
            let names = touched.map(|access| {
                let resource = &self.resources[access.resource];
                match resource.offset {
                    Some(offset) => format!("{} @{offset}", resource.name),
                    None => resource.name.to_string(),
                }
            });
            names.collect::<Vec<_>>().join(", ")
        };
        let mut label = format!("{} {}", node.kind.keyword(), node.name);
        for (verb, names) in [("reads", names(false)), ("writes", names(true))] {
            if !names.is_empty() {
                label.push_str(&format!("\n{verb} {names}"));
            }
        }
        label
    }
}

/// Nodes of one body.
struct Nodes {
    /// The innermost `for` that is around all of them.
    around: Option<usize>,
    indices: Vec<usize>,
}

/// What is drawn in one place.
enum Item {
    Node(usize),
    /// A `for` and its nodes.
    For(usize, Nodes),
}

fn written(draw: impl FnOnce(&mut String) -> fmt::Result) -> String {
    let mut out = String::new();
    draw(&mut out).expect("writing to a string does not fail");
    out
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
