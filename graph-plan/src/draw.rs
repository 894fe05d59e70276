//! Drawings of a [`Plan`] as text that other programs lay out.

use crate::{NodeKind, Plan, PlanNode};
use std::fmt::{self, Write as _};

impl Plan {
    /// The graph in Graphviz's language: one box a node, one arrow an edge.
    pub fn to_dot(&self) -> String {
        let draw = |out: &mut String| -> fmt::Result {
            writeln!(out, "digraph \"{}\" {{", escape(&self.name))?;
            writeln!(out, "    node [fontname=\"sans-serif\"];")?;
            for (index, node) in self.nodes.iter().enumerate() {
                let shape = if node.kind == NodeKind::Kernel {
                    "box"
                } else {
                    "ellipse"
                };
                let label = escape(&self.label(node)).replace('\n', "\\n");
                writeln!(out, "    n{index} [shape={shape}, label=\"{label}\"];")?;
            }
            for (index, node) in self.nodes.iter().enumerate() {
                for from in node.after.iter() {
                    writeln!(out, "    n{from} -> n{index};")?;
                }
            }
            writeln!(out, "}}")
        };
        written(draw)
    }

    /// The graph in Mermaid's language, which GitHub and rustdoc themes draw.
    pub fn to_mermaid(&self) -> String {
        let draw = |out: &mut String| -> fmt::Result {
            writeln!(out, "flowchart TD")?;
            for (index, node) in self.nodes.iter().enumerate() {
                let label = self.label(node).replace('"', "#quot;").replace('\n', "<br>");
                match node.kind {
                    NodeKind::Kernel => writeln!(out, "    n{index}[\"{label}\"]")?,
                    _ => writeln!(out, "    n{index}([\"{label}\"])")?,
                }
            }
            for (index, node) in self.nodes.iter().enumerate() {
                for from in node.after.iter() {
                    writeln!(out, "    n{from} --> n{index}")?;
                }
            }
            Ok(())
        };
        written(draw)
    }

    /// The node's keyword and name, then what it reads and writes.
    fn label(&self, node: &PlanNode) -> String {
        let names = |writes: bool| {
            let touched = node.accesses.iter().filter(|access| access.mode.writes() == writes);
            touched
                .map(|access| &*self.resources[access.resource].name)
                .collect::<Vec<_>>()
                .join(", ")
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

fn written(draw: impl FnOnce(&mut String) -> fmt::Result) -> String {
    let mut out = String::new();
    draw(&mut out).expect("writing to a string does not fail");
    out
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use crate::{Draft, Mode, NodeKind, Plan, Region, Space, check};

    fn plan() -> Plan {
        let mut draft = Draft::new("Example");
        let host = draft.resource("input", Space::Host);
        let data = draft.resource("data", Space::Device);
        let upload = draft.node("upload", NodeKind::Memcpy);
        let scale = draft.node("scale", NodeKind::Kernel);
        draft.access(upload, host, Region::Whole, Mode::Read);
        draft.access(upload, data, Region::Whole, Mode::Write);
        draft.access(scale, data, Region::Whole, Mode::ReadWrite);
        draft.edge(upload, scale);
        let outcome = check(&draft);
        Plan::of(&draft, &outcome, |_| 4)
    }

    #[test]
    fn dot_has_every_node_and_edge() {
        let expected = concat!(
            "digraph \"Example\" {\n",
            "    node [fontname=\"sans-serif\"];\n",
            "    n0 [shape=ellipse, label=\"memcpy upload\\nreads input\\nwrites data\"];\n",
            "    n1 [shape=box, label=\"kernel scale\\nwrites data\"];\n",
            "    n0 -> n1;\n",
            "}\n"
        );
        assert_eq!(plan().to_dot(), expected);
    }

    #[test]
    fn mermaid_has_every_node_and_edge() {
        let expected = concat!(
            "flowchart TD\n",
            "    n0([\"memcpy upload<br>reads input<br>writes data\"])\n",
            "    n1[\"kernel scale<br>writes data\"]\n",
            "    n0 --> n1\n"
        );
        assert_eq!(plan().to_mermaid(), expected);
        assert_eq!(plan().levels(), 2);
    }
}
