//! Drawings of a [`Plan`] as text that other programs lay out.

use crate::{NodeKind, Plan, PlanNode, Role};
use std::fmt::{self, Write as _};

impl Plan {
    /// The graph in Graphviz's language: one box a node, one arrow an edge, one cluster a body. Dashed arrows lead from a node into its
    /// bodies.
    pub fn to_dot(&self) -> String {
        let draw = |out: &mut String| -> fmt::Result {
            writeln!(out, "digraph \"{}\" {{", escape(&self.name))?;
            writeln!(out, "    node [fontname=\"sans-serif\"];")?;
            self.dot_body(out, 0, 1)?;
            for (index, node) in self.nodes.iter().enumerate() {
                for from in node.after.iter() {
                    writeln!(out, "    n{from} -> n{index};")?;
                }
                if let (Some(owner), true) = (self.bodies[node.body].node, node.after.is_empty()) {
                    writeln!(out, "    n{owner} -> n{index} [style=dashed];")?;
                }
            }
            writeln!(out, "}}")
        };
        written(draw)
    }

    /// The graph in Mermaid's language, which GitHub and rustdoc themes draw: one subgraph a body.
    pub fn to_mermaid(&self) -> String {
        let draw = |out: &mut String| -> fmt::Result {
            writeln!(out, "flowchart TD")?;
            self.mermaid_body(out, 0, 1)?;
            for (index, node) in self.nodes.iter().enumerate() {
                for from in node.after.iter() {
                    writeln!(out, "    n{from} --> n{index}")?;
                }
                for body in self.bodies_of(index) {
                    writeln!(out, "    n{index} -.-> b{body}")?;
                }
            }
            Ok(())
        };
        written(draw)
    }

    /// The nodes of a body, each followed by its own bodies.
    fn dot_body(&self, out: &mut String, body: usize, depth: usize) -> fmt::Result {
        let indent = "    ".repeat(depth);
        for index in self.members(body) {
            let node = &self.nodes[index];
            let shape = match node.kind {
                NodeKind::Kernel => "box",
                kind if kind.is_conditional() => "diamond",
                _ => "ellipse",
            };
            let label = escape(&self.label(node)).replace('\n', "\\n");
            writeln!(out, "{indent}n{index} [shape={shape}, label=\"{label}\"];")?;
            for inner in self.bodies_of(index) {
                writeln!(out, "{indent}subgraph cluster_{inner} {{")?;
                writeln!(out, "{indent}    label=\"{}\";", escape(&self.title(inner)))?;
                self.dot_body(out, inner, depth + 1)?;
                writeln!(out, "{indent}}}")?;
            }
        }
        Ok(())
    }

    /// The nodes of a body, each followed by its own bodies.
    fn mermaid_body(&self, out: &mut String, body: usize, depth: usize) -> fmt::Result {
        let indent = "    ".repeat(depth);
        for index in self.members(body) {
            let node = &self.nodes[index];
            let label = self.label(node).replace('"', "#quot;").replace('\n', "<br>");
            match node.kind {
                NodeKind::Kernel => writeln!(out, "{indent}n{index}[\"{label}\"]")?,
                kind if kind.is_conditional() => writeln!(out, "{indent}n{index}{{{{\"{label}\"}}}}")?,
                _ => writeln!(out, "{indent}n{index}([\"{label}\"])")?,
            }
            for inner in self.bodies_of(index) {
                writeln!(out, "{indent}subgraph b{inner} [\"{}\"]", self.title(inner))?;
                self.mermaid_body(out, inner, depth + 1)?;
                writeln!(out, "{indent}end")?;
            }
        }
        Ok(())
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
    use crate::{Draft, Mode, NodeKind, Plan, Region, Role, Space, check};

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

    #[test]
    fn bodies_are_drawn_inside_the_graph() {
        let mut draft = Draft::new("Loop");
        let flag = draft.resource("flag", Space::Device);
        let repeat = draft.node("repeat", NodeKind::While);
        draft.access(repeat, flag, Region::Whole, Mode::Read);
        let body = draft.body(repeat, Role::While);
        let pick = draft.node_in(body, "pick", NodeKind::Switch);
        draft.access(pick, flag, Region::Whole, Mode::Read);
        let [_, second] = [draft.body(pick, Role::Case), draft.body(pick, Role::Case)];
        let step = draft.node_in(second, "step", NodeKind::Kernel);
        draft.access(step, flag, Region::Whole, Mode::ReadWrite);
        let plan = Plan::of(&draft, &check(&draft), |_| 4);
        let dot = concat!(
            "digraph \"Loop\" {\n",
            "    node [fontname=\"sans-serif\"];\n",
            "    n0 [shape=diamond, label=\"while repeat\\nreads flag\"];\n",
            "    subgraph cluster_1 {\n",
            "        label=\"repeat: while\";\n",
            "        n1 [shape=diamond, label=\"switch pick\\nreads flag\"];\n",
            "        subgraph cluster_2 {\n",
            "            label=\"pick: case 0\";\n",
            "        }\n",
            "        subgraph cluster_3 {\n",
            "            label=\"pick: case 1\";\n",
            "            n2 [shape=box, label=\"kernel step\\nwrites flag\"];\n",
            "        }\n",
            "    }\n",
            "    n0 -> n1 [style=dashed];\n",
            "    n1 -> n2 [style=dashed];\n",
            "}\n"
        );
        assert_eq!(plan.to_dot(), dot);
        let mermaid = concat!(
            "flowchart TD\n",
            "    n0{{\"while repeat<br>reads flag\"}}\n",
            "    subgraph b1 [\"repeat: while\"]\n",
            "        n1{{\"switch pick<br>reads flag\"}}\n",
            "        subgraph b2 [\"pick: case 0\"]\n",
            "        end\n",
            "        subgraph b3 [\"pick: case 1\"]\n",
            "            n2[\"kernel step<br>writes flag\"]\n",
            "        end\n",
            "    end\n",
            "    n0 -.-> b1\n",
            "    n1 -.-> b2\n",
            "    n1 -.-> b3\n"
        );
        assert_eq!(plan.to_mermaid(), mermaid);
        assert_eq!(plan.levels(), 1, "bodies have levels of their own");
    }
}
