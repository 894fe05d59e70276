//! Whole drawings of small plans.

use crate::test_draft::draft_of;
use crate::{Plan, check, infer};

/// The plan of a text, whose memory has 4 bytes each.
fn plan_of(text: &str) -> Plan {
    let draft = draft_of(text);
    Plan::of(&draft, &check(&draft), |_| 4)
}

fn plan() -> Plan {
    plan_of("host input; device data; memcpy upload: input, data=; then kernel scale: data*;")
}

#[test]
fn dot_has_every_node_and_edge() {
    let expected = concat!(
        "digraph \"Test\" {\n",
        "    node [fontname=\"sans-serif\"];\n",
        "    n0 [shape=ellipse, label=\"memcpy upload\\nreads input\\nwrites data\"];\n",
        "    n1 [shape=box, label=\"kernel scale\\nwrites data\"];\n",
        "    n0 -> n1;\n",
        "}\n"
    );
    assert_eq!(plan().to_dot(), expected);
}

#[test]
fn atomic_updates_are_told_from_writes() {
    let plan = plan_of("device bins; memset clear: bins=; then kernel count: bins+;");
    assert!(plan.to_mermaid().contains("n1[\"kernel count<br>updates bins\"]"));
}

#[test]
fn unusual_kinds_of_memory_are_named() {
    let plan = plan_of("mapped news; kernel tell: news!;");
    assert!(plan.to_mermaid().contains("n0[\"kernel tell<br>updates mapped news\"]"));
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
fn loops_are_drawn_inside_the_graph() {
    let plan = plan_of(
        "for layer { for j { join first; } if choice after first { for k { join deep; } } } join last after choice;",
    );
    let dot = concat!(
        "    subgraph cluster_for_0 {\n",
        "        label=\"for layer\";\n",
        "        subgraph cluster_for_1 {\n",
        "            label=\"for j\";\n",
        "            n0 [shape=ellipse, label=\"join first\"];\n",
        "        }\n",
        "        n1 [shape=diamond, label=\"if choice\"];\n",
        "        subgraph cluster_1 {\n",
        "            label=\"choice: then\";\n",
        "            subgraph cluster_for_2 {\n",
        "                label=\"for k\";\n",
        "                n2 [shape=ellipse, label=\"join deep\"];\n",
        "            }\n",
        "        }\n",
        "    }\n",
        "    n3 [shape=ellipse, label=\"join last\"];\n",
    );
    assert!(plan.to_dot().contains(dot), "{}", plan.to_dot());
    let mermaid = concat!(
        "    subgraph for0 [\"for layer\"]\n",
        "        subgraph for1 [\"for j\"]\n",
        "            n0([\"join first\"])\n",
        "        end\n",
        "        n1{{\"if choice\"}}\n",
        "        subgraph b1 [\"choice: then\"]\n",
        "            subgraph for2 [\"for k\"]\n",
        "                n2([\"join deep\"])\n",
        "            end\n",
        "        end\n",
        "    end\n",
        "    n3([\"join last\"])\n",
    );
    assert!(plan.to_mermaid().contains(mermaid), "{}", plan.to_mermaid());
}

#[test]
fn edges_between_iterations_are_dashed_and_named() {
    let plan = plan_of("each i { each j { join block after block(-1, 0), ~block(0, -1); } }");
    let (dot, mermaid) = (plan.to_dot(), plan.to_mermaid());
    assert!(dot.contains("label=\"each i\""), "{dot}{mermaid}");
    assert!(mermaid.contains("\"each j\""), "{dot}{mermaid}");
    let arrow = "    n0 -> n0 [style=dashed, label=\"i - 1, j\", constraint=false];\n";
    assert!(dot.contains(arrow), "{dot}");
    assert!(mermaid.contains("    n0 -. \"i - 1, j\" .-> n0\n"), "{mermaid}");
    let early = "    n0 -. \"programmatic(i, j - 1)\" .-> n0\n";
    assert!(mermaid.contains(early), "{mermaid}");
}

#[test]
fn bodies_are_drawn_inside_the_graph() {
    let plan = plan_of("device flag; while repeat: flag { switch pick: flag { } { kernel step: flag*; } }");
    let dot = concat!(
        "digraph \"Test\" {\n",
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

#[test]
fn scratch_memory_is_drawn_with_its_place() {
    let draft = draft_of("scratch a, b; kernel work: a*, b*;");
    let plan = Plan::of(&draft, &check(&draft), |_| 300).with_arena([(0, 0), (1, 512)]);
    assert_eq!(plan.arena(), 1024);
    let dot = plan.to_dot();
    let part = "    label=\"scratch: 600 bytes in an arena of 1024\";\n";
    assert!(dot.contains(part), "{dot}");
    assert!(dot.contains("writes a @0, b @512"), "{dot}");
    let mermaid = plan.to_mermaid();
    let end = "    arena[(\"scratch: 600 bytes in an arena of 1024\")]\n";
    assert!(mermaid.ends_with(end), "{mermaid}");
}

#[test]
fn programmatic_edges_are_dashed() {
    let plan = plan_of("kernel a; then kernel b; kernel c after ~b;");
    assert_eq!(plan.nodes[2].after[..], [1]);
    assert_eq!(
        (&plan.nodes[1].programmatic[..], &plan.nodes[2].programmatic[..]),
        (&[][..], &[1][..])
    );
    let dot = "    n0 -> n1;\n    n1 -> n2 [style=dashed, label=\"programmatic\"];\n";
    assert!(plan.to_dot().contains(dot));
    let mermaid = "    n0 --> n1\n    n1 -. programmatic .-> n2\n";
    assert!(plan.to_mermaid().contains(mermaid));
}

#[test]
fn inferred_edges_are_labelled() {
    let mut draft = draft_of("device data; kernel a: data*; then kernel b: data*; kernel c: data*;");
    draft.auto = true;
    infer(&mut draft, &[]);
    let plan = Plan::of(&draft, &check(&draft), |_| 0);
    let inferred: Vec<&[usize]> = plan.nodes.iter().map(|node| &node.inferred[..]).collect();
    assert_eq!(inferred, [&[][..], &[], &[1]]);
    assert!(
        plan.to_dot()
            .contains("    n0 -> n1;\n    n1 -> n2 [label=\"auto\"];\n")
    );
    assert!(plan.to_mermaid().contains("    n0 --> n1\n    n1 -- auto --> n2\n"));
}
