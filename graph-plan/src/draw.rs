//! Drawings of a [`Plan`] as text that other programs lay out.

#[cfg(test)]
mod drawings;

use crate::draft::stepped;
use crate::{Family, Mode, NodeKind, Plan, PlanNode, PlanShift, Role};
use std::fmt::{self, Write as _};

impl Plan {
    /// The graph in Graphviz's language: one box a node, one arrow an edge, one cluster a body or loop. Dashed arrows
    /// lead from a node into its bodies; those with a label are programmatic edges, or lead to another iteration: the
    /// label `i - 1` stands at the arrow from `k` to the node that runs after `k(i - 1)`, and `programmatic(i - 1)` at
    /// one that is both. The label `auto` stands at edges that accesses imply.
    pub fn to_dot(&self) -> String {
        let draw = |out: &mut String| -> fmt::Result {
            writeln!(out, "digraph \"{}\" {{", escape(&self.name))?;
            writeln!(out, "    node [fontname=\"sans-serif\"];")?;
            if let Some(arena) = self.arena_title() {
                writeln!(out, "    label=\"{arena}\";")?;
            }
            self.draw_nodes(Language::Dot, out, &self.body(0), 1)?;
            for (index, node) in self.nodes.iter().enumerate() {
                self.draw_edges(Language::Dot, out, index)?;
                if let (Some(owner), true) = (self.bodies[node.body].node, node.after.is_empty()) {
                    writeln!(out, "    n{owner} -> n{index} [style=dashed];")?;
                }
            }
            for shift in self.shifts.iter() {
                let (from, to, label) = (shift.from, shift.to, escape(&self.iteration(shift)));
                writeln!(
                    out,
                    "    n{from} -> n{to} [style=dashed, label=\"{label}\", constraint=false];"
                )?;
            }
            writeln!(out, "}}")
        };
        written(draw)
    }

    /// The graph in Mermaid's language, which GitHub draws: one subgraph a body or loop.
    pub fn to_mermaid(&self) -> String {
        let draw = |out: &mut String| -> fmt::Result {
            writeln!(out, "flowchart TD")?;
            self.draw_nodes(Language::Mermaid, out, &self.body(0), 1)?;
            for index in 0..self.nodes.len() {
                self.draw_edges(Language::Mermaid, out, index)?;
                for body in self.bodies_of(index) {
                    writeln!(out, "    n{index} -.-> b{body}")?;
                }
            }
            for shift in self.shifts.iter() {
                let (from, to, label) = (shift.from, shift.to, self.iteration(shift));
                writeln!(out, "    n{from} -. \"{label}\" .-> n{to}")?;
            }
            match self.arena_title() {
                Some(arena) => writeln!(out, "    arena[(\"{arena}\")]"),
                None => Ok(()),
            }
        };
        written(draw)
    }

    /// Draws nodes, each followed by its own bodies, and loops.
    fn draw_nodes(&self, language: Language, out: &mut String, nodes: &Nodes, depth: usize) -> fmt::Result {
        let indent = "    ".repeat(depth);
        let group = |out: &mut String, name: &str, label: &str, nodes: &Nodes| {
            let end = match language {
                Language::Dot => {
                    writeln!(out, "{indent}subgraph cluster_{name} {{")?;
                    writeln!(out, "{indent}    label=\"{}\";", escape(label))?;
                    "}"
                }
                Language::Mermaid => {
                    writeln!(out, "{indent}subgraph {name} [\"{label}\"]")?;
                    "end"
                }
            };
            self.draw_nodes(language, out, nodes, depth + 1)?;
            writeln!(out, "{indent}{end}")
        };
        let (of_loop, of_body) = match language {
            Language::Dot => ("for_", ""),
            Language::Mermaid => ("for", "b"),
        };
        for item in self.items(nodes) {
            let index = match item {
                Item::Node(index) => index,
                Item::For(number, inner) => {
                    let keyword = if self.loops[number].parallel { "each" } else { "for" };
                    let label = format!("{keyword} {}", self.loops[number].variable);
                    group(out, &format!("{of_loop}{number}"), &label, &inner)?;
                    continue;
                }
            };
            let node = &self.nodes[index];
            writeln!(out, "{indent}n{index}{}", language.node(node.kind, &self.label(node)))?;
            for body in self.bodies_of(index) {
                group(out, &format!("{of_body}{body}"), &self.title(body), &self.body(body))?;
            }
        }
        Ok(())
    }

    /// Draws the edges to a node.
    fn draw_edges(&self, language: Language, out: &mut String, to: usize) -> fmt::Result {
        let node = &self.nodes[to];
        let draw = |from: &usize| match (language, node.programmatic.contains(from)) {
            (Language::Dot, false) if node.inferred.contains(from) => {
                writeln!(out, "    n{from} -> n{to} [label=\"auto\"];")
            }
            (Language::Mermaid, false) if node.inferred.contains(from) => {
                writeln!(out, "    n{from} -- auto --> n{to}")
            }
            (Language::Dot, false) => writeln!(out, "    n{from} -> n{to};"),
            (Language::Dot, true) => writeln!(out, "    n{from} -> n{to} [style=dashed, label=\"programmatic\"];"),
            (Language::Mermaid, false) => writeln!(out, "    n{from} --> n{to}"),
            (Language::Mermaid, true) => writeln!(out, "    n{from} -. programmatic .-> n{to}"),
        };
        node.after.iter().try_for_each(draw)
    }

    /// All nodes of a body.
    pub(crate) fn body(&self, body: usize) -> Nodes {
        Nodes {
            around: self.bodies[body].node.and_then(|owner| self.loop_around(owner)),
            indices: self.members(body).collect(),
        }
    }

    /// The nodes in order; the nodes of a loop are together, at the place of the first.
    pub(crate) fn items(&self, nodes: &Nodes) -> Vec<Item> {
        let mut found: Vec<Item> = Vec::new();
        for &index in &nodes.indices {
            match self.loop_below(index, nodes.around) {
                None => found.push(Item::Node(index)),
                Some(number) => match found.last_mut() {
                    Some(Item::For(last, inner)) if *last == number => inner.indices.push(index),
                    _ => {
                        let (around, indices) = (Some(number), vec![index]);
                        found.push(Item::For(number, Nodes { around, indices }));
                    }
                },
            }
        }
        found
    }

    /// The loop around a node whose parent is `around`.
    fn loop_below(&self, node: usize, around: Option<usize>) -> Option<usize> {
        let innermost = self.nodes[node].in_loop.filter(|&innermost| Some(innermost) != around);
        let mut loops = std::iter::successors(innermost, |&inner| self.loops[inner].parent);
        loops.find(|&number| self.loops[number].parent == around)
    }

    /// The iteration that an edge comes from, as it is written: `i - 1, j`.
    pub(crate) fn iteration(&self, shift: &PlanShift) -> String {
        let innermost = self.loop_around(shift.to);
        let mut around: Vec<usize> = std::iter::successors(innermost, |&inner| self.loops[inner].parent).collect();
        around.reverse();
        let numbers = around
            .iter()
            .zip(shift.steps.iter())
            .map(|(&around, &step)| stepped(&self.loops[around].variable, step));
        let numbers = numbers.collect::<Vec<_>>().join(", ");
        match shift.programmatic {
            true => format!("programmatic({numbers})"),
            false => numbers,
        }
    }

    /// The body's node and the body's role: `choice: else`.
    pub(crate) fn title(&self, body: usize) -> String {
        let Some(owner) = self.bodies[body].node else {
            return String::new();
        };
        let role = match self.bodies[body].role {
            Role::Graph | Role::Child => "graph",
            Role::Then => "then",
            Role::Else => "else",
            Role::While => "while",
            Role::Case => &format!(
                "case {}",
                self.bodies_of(owner).take_while(|&other| other < body).count()
            ),
        };
        format!("{}: {role}", self.nodes[owner].name)
    }

    /// The bytes of all scratch memory, and the bytes of the arena that holds it.
    fn arena_title(&self) -> Option<String> {
        let scratch = || self.resources.iter().filter(|resource| resource.offset.is_some());
        let bytes = scratch().fold(0_usize, |sum, resource| sum.saturating_add(resource.bytes));
        let arena = self.arena();
        (scratch().count() > 0).then(|| format!("scratch: {bytes} bytes in an arena of {arena}"))
    }

    /// The node's keyword and name, then the memory that it reads, writes and updates: scratch memory with its place in
    /// the arena, and memory of other kinds than host and device memory with its keyword.
    pub(crate) fn label(&self, node: &PlanNode) -> String {
        let names = |verb: &str| {
            let touched = node.accesses.iter().filter(|access| self::verb(access.mode) == verb);
            let names = touched.map(|access| {
                let resource = &self.resources[access.resource];
                let (name, memory) = (&resource.name, resource.memory);
                match resource.offset {
                    Some(offset) => format!("{name} @{offset}"),
                    None if memory.is_named_in_drawings() => format!("{} {name}", memory.keyword()),
                    None => name.to_string(),
                }
            });
            names.collect::<Vec<_>>().join(", ")
        };
        let mut label = format!("{} {}", node.kind.keyword(), node.name);
        for verb in VERBS {
            let names = names(verb);
            if !names.is_empty() {
                label.push_str(&format!("\n{verb} {names}"));
            }
        }
        label
    }
}

/// The ways in which nodes touch memory, in the order of a label.
pub(crate) const VERBS: [&str; 3] = ["reads", "writes", "updates"];

/// The one of [`VERBS`] for an access.
pub(crate) fn verb(mode: Mode) -> &'static str {
    let [reads, writes, updates] = VERBS;
    match mode {
        Mode::Read => reads,
        Mode::Write | Mode::ReadWrite => writes,
        Mode::Atomic | Mode::Mapped => updates,
    }
}

/// The languages of drawings.
#[derive(Clone, Copy)]
enum Language {
    Dot,
    Mermaid,
}

impl Language {
    /// The shape and the label of a node: kernels are boxes, conditionals diamonds, collectives hexagons, all others
    /// ellipses.
    fn node(self, kind: NodeKind, label: &str) -> String {
        let (shape, open, close) = match kind.family() {
            Family::Kernel => ("box", "[", "]"),
            Family::Conditional => ("diamond", "{{", "}}"),
            Family::Collective => ("hexagon", "[[", "]]"),
            _ => ("ellipse", "([", "])"),
        };
        match self {
            Language::Dot => {
                let label = escape(label).replace('\n', "\\n");
                format!(" [shape={shape}, label=\"{label}\"];")
            }
            Language::Mermaid => {
                let label = label.replace('"', "#quot;").replace('\n', "<br>");
                format!("{open}\"{label}\"{close}")
            }
        }
    }
}

/// Nodes of one body.
pub(crate) struct Nodes {
    /// The innermost loop that is around all of them.
    around: Option<usize>,
    pub(crate) indices: Vec<usize>,
}

/// A node or a loop, drawn in one place.
pub(crate) enum Item {
    Node(usize),
    /// A loop and its nodes.
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
