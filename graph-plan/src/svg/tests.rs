//! Boxes and labels of drawings do not overlap.

use super::write::width;
use crate::test_draft::draft_of;
use crate::{Draft, Memory, Mode, NodeKind, Plan, PlanMark, Region, check};
use proptest::prelude::*;

/// A rectangle of a drawing.
#[derive(Clone, Debug)]
struct Area {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
    text: String,
}

impl Area {
    fn meets(&self, other: &Area) -> bool {
        let apart = 0.01;
        self.left + apart < other.right
            && other.left + apart < self.right
            && self.top + apart < other.bottom
            && other.top + apart < self.bottom
    }

    fn is_within(&self, other: &Area) -> bool {
        let free = 0.06;
        self.left + free >= other.left
            && self.right <= other.right + free
            && self.top + free >= other.top
            && self.bottom <= other.bottom + free
    }
}

/// The value of an attribute.
fn attribute(line: &str, name: &str) -> f64 {
    let start = line.find(&format!(" {name}=\"")).expect("an attribute") + name.len() + 3;
    let end = start + line[start..].find('"').expect("its end");
    line[start..end].parse().expect("a number")
}

/// The boxes of nodes, bodies and loops, and the texts of a drawing, where they are on the page.
fn areas(svg: &str) -> (Vec<Area>, Vec<Area>) {
    let mut places = vec![(0.0, 0.0)];
    let (mut boxes, mut texts) = (Vec::new(), Vec::new());
    for line in svg.lines() {
        let (x, y) = *places.last().expect("the page");
        if let Some(rest) = line.strip_prefix("<g transform=\"translate(") {
            let (dx, dy) = rest
                .split_once(')')
                .expect("a place")
                .0
                .split_once(' ')
                .expect("two numbers");
            places.push((x + dx.parse::<f64>().expect("x"), y + dy.parse::<f64>().expect("y")));
        } else if line.starts_with("<g") {
            places.push((x, y));
        } else if line == "</g>" {
            places.pop();
        } else if ["box", "body", "loop"]
            .iter()
            .any(|class| line.starts_with(&format!("<rect class=\"{class}\"")))
        {
            let (left, top) = (x + attribute(line, "x"), y + attribute(line, "y"));
            let (right, bottom) = (left + attribute(line, "width"), top + attribute(line, "height"));
            boxes.push(Area {
                left,
                top,
                right,
                bottom,
                text: String::new(),
            });
        } else if line.starts_with("<text") && !line.contains("class=\"title\"") {
            let text = line
                .split_once('>')
                .expect("text")
                .1
                .trim_end_matches("</text>")
                .replace("&lt;", "<");
            let class = |class: &str| line.contains(&format!("class=\"{class}\""));
            let height = if class("name") {
                13.0
            } else if class("label") {
                10.0
            } else {
                11.0
            };
            let width = width(&text.replace("&gt;", ">"), height);
            let middle = if class("label") { width / 2.0 } else { 0.0 };
            let (left, bottom) = (x + attribute(line, "x") - middle, y + attribute(line, "y"));
            texts.push(Area {
                left,
                top: bottom - height * 0.8,
                right: left + width,
                bottom,
                text,
            });
        }
    }
    assert_eq!(places.len(), 1);
    (boxes, texts)
}

/// Texts do not overlap each other, and boxes overlap only where one is in the other.
fn assert_readable(svg: &str) {
    let (boxes, texts) = areas(svg);
    for (index, area) in texts.iter().enumerate() {
        for other in &texts[..index] {
            assert!(!area.meets(other), "`{}` and `{}`", area.text, other.text);
        }
        for other in &boxes {
            assert!(!area.meets(other) || area.is_within(other), "{area:?} and {other:?}");
        }
    }
    for (index, area) in boxes.iter().enumerate() {
        for other in &boxes[..index] {
            let nested = area.is_within(other) || other.is_within(area);
            assert!(!area.meets(other) || nested, "{area:?} and {other:?}");
        }
    }
    assert!(!svg.contains("\n\n") && !svg.contains("NaN") && !svg.contains("inf"));
}

/// A plan of kernels with these edges, each of which carries memory; `bodies` of them are `while`s around others.
fn plan(nodes: usize, edges: &[(usize, usize)], bodies: &[(usize, usize)]) -> Plan {
    let mut draft = Draft::new("Example");
    for index in 0..nodes {
        draft.node(format!("a_kernel_with_number_{index}"), NodeKind::Kernel);
        draft.resource(format!("memory_{index}"), Memory::Device);
    }
    for index in 0..nodes {
        draft.access(index, index, Region::Whole, Mode::Write);
        for &(from, to) in edges.iter().filter(|edge| edge.1 == index) {
            draft.access(to, from, Region::Whole, Mode::Read);
            draft.edge(from, to);
        }
    }
    let mut plan = Plan::of(&draft, &check(&draft), |_| 64);
    for &(owner, member) in bodies {
        let known = plan.bodies.iter().position(|body| body.node == Some(owner));
        let body = known.unwrap_or_else(|| {
            plan.nodes.to_mut()[owner].kind = NodeKind::While;
            plan.bodies
                .to_mut()
                .push(crate::PlanBody::new(owner, crate::Role::While));
            plan.bodies.len() - 1
        });
        let node = &mut plan.nodes.to_mut()[member];
        (node.body, node.after) = (body, Vec::new().into());
        for other in plan.nodes.to_mut() {
            other.after.to_mut().retain(|&before| before != member);
        }
    }
    plan
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn boxes_and_texts_of_random_graphs_do_not_overlap(
        nodes in 1_usize..40,
        pairs in prop::collection::vec((0_usize..40, 1_usize..12), 0..80),
        inner in prop::collection::vec((0_usize..40, 0_usize..40), 0..8),
        loops in prop::collection::vec(0_usize..5, 40),
    ) {
        let edges: Vec<_> = pairs.into_iter().map(|(from, step)| (from, from + step)).filter(|&(_, to)| to < nodes).collect();
        // A node of a body comes after the node whose body it is, and is in one body.
        let mut inside = std::collections::BTreeMap::new();
        for (owner, member) in inner {
            if owner < member && member < nodes {
                inside.entry(member).or_insert(owner);
            }
        }
        let bodies: Vec<_> = inside.into_iter().map(|(member, owner)| (owner, member)).collect();
        let mut plan = plan(nodes, &edges, &bodies);
        // Some nodes of the graph itself are in loops, one in the other.
        plan.loops = vec![
            crate::PlanLoop::new("step", None),
            crate::PlanLoop::parallel("chain", Some(0)),
            crate::PlanLoop::new("other", None),
        ].into();
        for (node, around) in plan.nodes.to_mut().iter_mut().zip(loops) {
            node.in_loop = (node.body == 0 && around < 3).then_some(around);
        }
        assert_readable(&plan.to_svg());
    }
}

#[test]
fn a_hundred_nodes_are_readable() {
    let edges: Vec<(usize, usize)> = (0..100).flat_map(|from| [(from, from + 4), (from, from + 7)]).collect();
    let edges: Vec<_> = edges.into_iter().filter(|&(_, to)| to < 100).collect();
    let svg = plan(100, &edges, &[]).to_svg();
    assert_readable(&svg);
    assert_eq!(svg.matches("class=\"box\"").count(), 100);
}

#[test]
fn large_graphs_are_drawn_too() {
    let chain: Vec<(usize, usize)> = (1..3000).map(|to| (to - 1, to)).collect();
    let svg = plan(3000, &chain, &[]).to_svg();
    assert_eq!(svg.matches("class=\"box\"").count(), 3000);
}

#[test]
fn text_is_escaped_and_long_names_are_shortened() {
    let mut draft = Draft::new("A<B>");
    let name = "x".repeat(100);
    draft.node(name.clone(), NodeKind::Join);
    let svg = Plan::of(&draft, &check(&draft), |_| 0).to_svg();
    assert!(svg.contains("A&lt;B&gt;: 1 node, 1 level"));
    assert!(
        svg.contains(&format!(">{}…{}</text>", "x".repeat(20), "x".repeat(19))),
        "{svg}"
    );
    assert!(svg.contains(&format!("data-name=\"{name}\"")));
}

#[test]
fn marks_colour_nodes_and_scratch_has_lanes() {
    let draft = draft_of("scratch early, late; memset a: early=; then memset b: late=;");
    let (early, late) = (0, 1);
    let plan = Plan::of(&draft, &check(&draft), |_| 256).with_arena([(early, 0), (late, 0)]);
    let mark = |node| {
        (node == 1).then(|| PlanMark {
            share: 1.0,
            text: "3 us".to_owned(),
        })
    };
    let svg = plan.to_svg_with(mark);
    assert_readable(&svg);
    assert_eq!(svg.matches("class=\"heat\"").count(), 1);
    assert!(svg.contains(">3 us</text>") && svg.contains("fill-opacity=\"0.750\""));
    assert!(
        svg.contains("<title>late: 256 bytes at 0, from b to b</title>"),
        "{svg}"
    );
}
