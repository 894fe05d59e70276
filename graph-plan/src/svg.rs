//! Drawings of a [`Plan`] as SVG, which nothing else has to lay out.
//!
//! No published crate lays out what is needed here. `rust-sugiyama`, the best kept one, returns places of nodes alone:
//! lines over several rows would cross other nodes, and labels would have no room. The ports of `dagre` know no boxes
//! in boxes with lines across their sides. So the layout is our own: a layered one for each box, from the inside out.

mod frame;
mod lanes;
mod write;
mod layered;
mod rows;
mod style;

#[cfg(test)]
mod tests;

use crate::Plan;
use std::fmt::Write as _;

/// Something to say about a node in a drawing: [`Plan::to_svg_with`] draws it.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanMark {
    /// The node's part of the whole, from 0 to 1: the larger it is, the redder the node.
    pub share: f64,
    /// A line of text in the node's box.
    pub text: String,
}

impl Plan {
    /// The graph as an SVG image: a box a node with its kind, name and launch, rows that follow the edges, the memory
    /// that makes an edge necessary as the edge's label, and bodies and loops as boxes around their nodes. Memory that
    /// no edge of a node carries is in its box. Below is the arena of scratch memory, if sizes are known. The image is
    /// light or dark as the reader's system asks; each node's full description is its tooltip.
    ///
    /// ```
    /// use graph_plan::{Draft, Memory, Mode, NodeKind, Plan, Region, check};
    ///
    /// let mut draft = Draft::new("Example");
    /// let data = draft.resource("data", Memory::Device);
    /// let clear = draft.node("clear", NodeKind::Memset);
    /// let sum = draft.node("sum", NodeKind::Kernel);
    /// draft.access(clear, data, Region::Whole, Mode::Write);
    /// draft.access(sum, data, Region::Whole, Mode::Read);
    /// draft.edge(clear, sum);
    /// let svg = Plan::of(&draft, &check(&draft), |_| 64).to_svg();
    /// assert!(svg.starts_with("<svg ") && svg.contains("data-name=\"sum\""));
    /// ```
    pub fn to_svg(&self) -> String {
        self.to_svg_with(|_| None)
    }

    /// [`Plan::to_svg`] with a mark for each node, by its index, such as its part of the time.
    pub fn to_svg_with(&self, mark: impl Fn(usize) -> Option<PlanMark>) -> String {
        const SIDE: f64 = 16.0;
        let graph = frame::Drawing::new(self, mark).graph();
        let head = format!("{}: {}", self.name, self.summary());
        let arena = lanes::lanes(self, graph.size.width);
        let inner = [graph.size.width, write::width(&head, 16.0)];
        let inner = inner.into_iter().chain(arena.as_ref().map(|(size, _)| size.width));
        let width = inner.fold(0.0, f64::max) + 2.0 * SIDE;
        let top = 40.0;
        let below = top + graph.size.height + 24.0;
        let height = below + arena.as_ref().map_or(0.0, |(size, _)| size.height + SIDE);
        let mut svg = String::new();
        // No empty lines: these would end the HTML in Markdown.
        let _ = writeln!(
            svg,
            "<svg class=\"cuda-graph\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\" aria-label=\"{}\">",
            write::Escaped(&head)
        );
        let _ = write!(svg, "<style>\n{}</style>\n", style::STYLE);
        let _ = writeln!(
            svg,
            "<rect class=\"paper\" width=\"{width:.0}\" height=\"{height:.0}\"/>"
        );
        svg.push_str(&write::text("title", SIDE, 24.0, &head));
        svg.push_str(&write::moved(((width - graph.size.width) / 2.0, top), &graph.svg));
        if let Some((_, lanes)) = arena {
            svg.push_str(&write::moved((SIDE, below), &lanes));
        }
        svg.push_str("</svg>\n");
        svg
    }

    /// The number of nodes and of levels.
    fn summary(&self) -> String {
        let count = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        format!("{}, {}", count(self.nodes.len(), "node"), count(self.levels(), "level"))
    }
}
