//! Nodes as boxes with their bodies in them, and loops as boxes around nodes: a layout for each box.

use super::PlanMark;
use super::layered::{Chart, End, Item, Line, Place, Route, Size};
use super::write::{Escaped, arrowhead, listed, moved, path, rectangle, shortened, text, width};
use crate::draw::{self, Nodes, VERBS, verb};
use crate::{Edge, Family, NodeKind, Plan};
use std::collections::{BTreeSet, HashMap};

/// A part of a drawing.
pub(super) struct Picture {
    pub(super) size: Size,
    pub(super) svg: String,
    /// Where lines cross its upper or lower side: the distance from its left side, for each [`Crossing`].
    ports: Vec<f64>,
}

/// A line that leads into a box, or out of it.
struct Crossing {
    /// The node inside.
    node: usize,
    leads_in: bool,
}

/// A plan that is drawn.
pub(super) struct Drawing<'p> {
    plan: &'p Plan,
    marks: Vec<Option<PlanMark>>,
    /// The memory that each edge carries, by its nodes.
    carried: HashMap<(usize, usize), Vec<usize>>,
    /// The memory of each node that is on one of its edges.
    on_edges: Vec<BTreeSet<usize>>,
}

/// The height of a line of text.
const LINE: f64 = 15.0;
/// The free space between the sides of a box and its contents.
const MARGIN: f64 = 12.0;
/// The most letters of a line of text.
const LETTERS: usize = 40;

impl<'p> Drawing<'p> {
    pub(super) fn new(plan: &'p Plan, mark: impl Fn(usize) -> Option<PlanMark>) -> Self {
        let mut carried = HashMap::new();
        let mut on_edges = vec![BTreeSet::new(); plan.nodes.len()];
        for (to, node) in plan.nodes.iter().enumerate() {
            for &from in node.after.iter() {
                let memory = carries(plan, from, to);
                on_edges[from].extend(&memory);
                on_edges[to].extend(&memory);
                carried.insert((from, to), memory);
            }
        }
        Self {
            plan,
            marks: (0..plan.nodes.len()).map(mark).collect(),
            carried,
            on_edges,
        }
    }

    /// The graph itself.
    pub(super) fn graph(&self) -> Picture {
        self.frame(&self.plan.body(0), &[])
    }

    /// Nodes of one body, with the lines between them, and those across the sides of the frame.
    fn frame(&self, nodes: &Nodes, crossings: &[Crossing]) -> Picture {
        let items = self.plan.items(nodes);
        let mut item_of = HashMap::new();
        for (index, item) in items.iter().enumerate() {
            match item {
                draw::Item::Node(node) => drop(item_of.insert(*node, index)),
                draw::Item::For(_, inner) => item_of.extend(inner.indices.iter().map(|&node| (node, index))),
            }
        }
        let after = |&to: &usize| self.plan.nodes[to].after.iter().map(move |&from| Edge { from, to });
        let edges = nodes.indices.iter().flat_map(after);
        let between = |edge: &Edge| {
            let ends = (item_of.get(&edge.from), item_of.get(&edge.to));
            matches!(ends, (Some(from), Some(to)) if from != to)
        };
        let edges: Vec<Edge> = edges.filter(between).collect();
        let mut entered: Vec<Vec<Crossing>> = items.iter().map(|_| Vec::new()).collect();
        // The number of the crossing at each end that is in a loop.
        let mut enter = |node: usize, leads_in: bool| {
            let item = item_of[&node];
            let crossings = &mut entered[item];
            crossings.push(Crossing { node, leads_in });
            (item, crossings.len() - 1)
        };
        let ends: Vec<_> = edges
            .iter()
            .map(|edge| (enter(edge.from, false), enter(edge.to, true)))
            .collect();
        let through: Vec<_> = crossings
            .iter()
            .map(|crossing| enter(crossing.node, crossing.leads_in))
            .collect();
        let pictures = items.iter().zip(&entered).map(|(item, entered)| match item {
            draw::Item::Node(node) => self.node(*node),
            draw::Item::For(number, inner) => {
                let around = &self.plan.loops[*number];
                let keyword = if around.parallel { "each" } else { "for" };
                let inner = self.frame(inner, entered);
                bordered("loop", &format!("{keyword} {}", around.variable), inner, entered)
            }
        });
        let pictures: Vec<Picture> = pictures.collect();
        let end = |(item, number): (usize, usize)| End {
            item,
            port: pictures[item].ports.get(number).copied(),
        };
        let mut chart = Chart::default();
        for picture in &pictures {
            chart.items.push(Item {
                size: picture.size,
                place: Place::Free,
            });
        }
        let labels: Vec<Vec<String>> = edges.iter().map(|edge| self.label(*edge)).collect();
        for (&(from, to), label) in ends.iter().zip(&labels) {
            let widest = label.iter().map(|line| width(line, 10.0)).fold(0.0, f64::max);
            let label = Size {
                width: widest,
                height: 13.0 * label.len() as f64,
            };
            chart.lines.push(Line {
                from: end(from),
                to: end(to),
                label,
            });
        }
        for (crossing, &inside) in crossings.iter().zip(&through) {
            let port = End {
                item: chart.items.len(),
                port: None,
            };
            let (place, from, to) = match crossing.leads_in {
                true => (Place::Top, port, end(inside)),
                false => (Place::Bottom, end(inside), port),
            };
            chart.items.push(Item {
                size: Size::default(),
                place,
            });
            chart.lines.push(Line {
                from,
                to,
                label: Size::default(),
            });
        }
        let layout = chart.layout();
        let mut svg = String::new();
        let (inner, across) = layout.routes.split_at(edges.len());
        for ((edge, route), label) in edges.iter().zip(inner).zip(&labels) {
            svg.push_str(&self.edge(*edge, route, label));
        }
        for (route, crossing) in across.iter().zip(crossings) {
            svg.push_str(&format!("<path class=\"line\" d=\"{}\"/>\n", path(&route.stops)));
            if let (Some(stop), true) = (route.stops.last(), crossing.leads_in) {
                svg.push_str(&arrowhead(stop.x, stop.bottom, false));
            }
        }
        for (picture, &place) in pictures.iter().zip(&layout.items) {
            svg.push_str(&moved(place, &picture.svg));
        }
        let ports = layout.items[pictures.len()..].iter().map(|&(x, _)| x);
        Picture {
            size: layout.size,
            svg,
            ports: ports.collect(),
        }
    }

    /// A node, with its bodies side by side in it.
    fn node(&self, index: usize) -> Picture {
        let plan = self.plan;
        let node = &plan.nodes[index];
        let mut lines = vec![
            ("kind", node.kind.keyword().to_owned(), 11.0),
            ("name", shortened(&node.name, LETTERS), 13.0),
        ];
        if let Some(launch) = &node.launch {
            lines.push(("launch", shortened(&launch.to_string(), LETTERS), 11.0));
        }
        for shift in plan.shifts.iter().filter(|shift| shift.to == index) {
            let iteration = plan.iteration(shift);
            let from = &plan.nodes[shift.from].name;
            let from = match iteration
                .strip_prefix("programmatic(")
                .and_then(|rest| rest.strip_suffix(')'))
            {
                Some(iteration) => format!("after programmatic({from}({iteration}))"),
                None => format!("after {from}({iteration})"),
            };
            lines.push(("launch", shortened(&from, LETTERS), 11.0));
        }
        for kind in VERBS {
            let touched = node.accesses.iter();
            let touched =
                touched.filter(|access| verb(access.mode) == kind && !self.on_edges[index].contains(&access.resource));
            let names: Vec<&str> = touched.map(|access| &*plan.resources[access.resource].name).collect();
            for (number, line) in listed(&names, LETTERS - kind.len(), 2).into_iter().enumerate() {
                let kind = if number == 0 {
                    format!("{kind} ")
                } else {
                    "  ".to_owned()
                };
                lines.push(("memory", format!("{kind}{line}"), 11.0));
            }
        }
        let mark = self.marks[index].as_ref();
        if let Some(mark) = mark {
            lines.push(("mark", shortened(&mark.text, LETTERS), 11.0));
        }
        let bodies = plan.bodies_of(index).map(|body| {
            let inner = self.frame(&plan.body(body), &[]);
            let title = plan.title(body);
            let role = title.rsplit(": ").next().unwrap_or_default();
            bordered("body", role, inner, &[])
        });
        let bodies: Vec<Picture> = bodies.collect();
        let widest = lines
            .iter()
            .map(|(_, line, height)| width(line, *height))
            .fold(0.0, f64::max);
        let header = LINE * lines.len() as f64;
        let inner = bodies.iter().map(|body| body.size.width + MARGIN).sum::<f64>() - MARGIN;
        let tallest = bodies.iter().map(|body| body.size.height + MARGIN).fold(0.0, f64::max);
        let size = Size {
            width: widest.max(inner) + 2.0 * MARGIN,
            height: header + tallest + MARGIN,
        };
        let name = Escaped(&node.name);
        let mut svg = format!("<g class=\"node {}\" data-name=\"{name}\">\n", class(node.kind));
        svg.push_str(&format!("<title>{}</title>\n", Escaped(&plan.label(node))));
        svg.push_str(&rectangle("box", (0.0, 0.0), size, ""));
        if let Some(mark) = mark {
            let share = mark.share.clamp(0.0, 1.0);
            let opacity = format!(" fill-opacity=\"{:.3}\"", share.sqrt() * 0.75);
            svg.push_str(&rectangle("heat", (0.0, 0.0), size, &opacity));
        }
        svg.push_str(&rectangle("stripe", (0.0, 0.0), Size { width: 4.0, ..size }, ""));
        for (number, (class, line, _)) in lines.iter().enumerate() {
            svg.push_str(&text(class, MARGIN, LINE * (number as f64 + 1.0) + 1.0, line));
        }
        let mut x = MARGIN;
        for body in bodies {
            svg.push_str(&moved((x, header + MARGIN), &body.svg));
            x += body.size.width + MARGIN;
        }
        svg.push_str("</g>\n");
        Picture {
            size,
            svg,
            ports: Vec::new(),
        }
    }

    /// The lines of an edge's label: its kind, and the memory that makes it necessary.
    fn label(&self, edge: Edge) -> Vec<String> {
        let node = &self.plan.nodes[edge.to];
        let mut lines = Vec::new();
        if node.programmatic.contains(&edge.from) {
            lines.push("programmatic".to_owned());
        } else if node.inferred.contains(&edge.from) {
            lines.push("auto".to_owned());
        }
        let memory = &self.carried[&(edge.from, edge.to)];
        let names: Vec<&str> = memory
            .iter()
            .map(|&resource| &*self.plan.resources[resource].name)
            .collect();
        lines.extend(listed(&names, 28, 2));
        lines
    }

    fn edge(&self, edge: Edge, route: &Route, label: &[String]) -> String {
        let Edge { from, to } = edge;
        let (before, after) = (&self.plan.nodes[from], &self.plan.nodes[to]);
        let class = if after.programmatic.contains(&from) {
            " programmatic"
        } else {
            ""
        };
        let title = format!("{} → {}", before.name, after.name);
        let mut svg = format!("<g class=\"edge{class}\">\n<title>{}</title>\n", Escaped(&title));
        svg.push_str(&format!("<path class=\"line\" d=\"{}\"/>\n", path(&route.stops)));
        let tip = if route.is_upward {
            route.stops.first()
        } else {
            route.stops.last()
        };
        if let Some(stop) = tip {
            let y = if route.is_upward { stop.top } else { stop.bottom };
            svg.push_str(&arrowhead(stop.x, y, route.is_upward));
        }
        let first = route.label.1 - 13.0 * (label.len() as f64 - 1.0) / 2.0 + 3.5;
        for (number, line) in label.iter().enumerate() {
            svg.push_str(&text("label", route.label.0, first + 13.0 * number as f64, line));
        }
        svg.push_str("</g>\n");
        svg
    }
}

/// The memory that both nodes of an edge touch, one of them to write it.
fn carries(plan: &Plan, from: usize, to: usize) -> Vec<usize> {
    let accesses = |node: usize| {
        let mut touched: HashMap<usize, bool> = HashMap::new();
        for access in plan.nodes[node].accesses.iter() {
            *touched.entry(access.resource).or_default() |= access.mode.writes();
        }
        touched
    };
    let (before, after) = (accesses(from), accesses(to));
    let met = before
        .iter()
        .filter(|(resource, writes)| after.get(resource).is_some_and(|other| *other || **writes));
    let mut met: Vec<usize> = met.map(|(&resource, _)| resource).collect();
    met.sort_unstable();
    met
}

/// A picture with a border around it, and a title. The lines that cross its sides are longer by the border's distance.
fn bordered(class: &str, title: &str, picture: Picture, crossings: &[Crossing]) -> Picture {
    let title = shortened(title, LETTERS);
    let wanted = width(&title, 11.0);
    let aside = (wanted - picture.size.width).max(0.0) / 2.0 + MARGIN;
    let size = Size {
        width: picture.size.width + 2.0 * aside,
        height: picture.size.height + 2.0 * MARGIN + LINE,
    };
    let ports: Vec<f64> = picture.ports.into_iter().map(|x| x + aside).collect();
    let mut svg = rectangle(class, (0.0, 0.0), size, "");
    for (x, crossing) in ports.iter().zip(crossings) {
        let (from, to) = match crossing.leads_in {
            true => (0.0, MARGIN + LINE),
            false => (size.height - MARGIN, size.height),
        };
        svg.push_str(&format!("<path class=\"line\" d=\"M{x:.1} {from:.1}V{to:.1}\"/>\n"));
    }
    svg.push_str(&text("group", MARGIN, LINE, &title));
    svg.push_str(&moved((aside, MARGIN + LINE), &picture.svg));
    Picture { size, svg, ports }
}

/// The class of a kind of node, which decides its colour.
fn class(kind: NodeKind) -> &'static str {
    match kind.family() {
        Family::Kernel => "kernel",
        Family::Copy => "copy",
        Family::Conditional => "control",
        Family::Child | Family::Library => "library",
        Family::Call | Family::Join | Family::Event => "host",
        Family::Collective => "collective",
    }
}
