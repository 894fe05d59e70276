//! The arena of scratch memory: a lane for each address, from the first node that touches it to the last.

use super::layered::Size;
use super::write::{Escaped, rectangle, text, width};
use crate::Plan;

/// A buffer of the arena, by the places of nodes in an order that the graph allows.
struct Buffer {
    resource: usize,
    first: usize,
    last: usize,
    offset: usize,
    bytes: usize,
}

/// The least width of the picture, and its height without the axis.
const LEAST: Size = Size {
    width: 420.0,
    height: 160.0,
};

/// Draws the buffers of scratch memory: from left to right the order of nodes, from top to bottom the addresses.
/// Returns nothing if there is none of a known size.
pub(super) fn lanes(plan: &Plan, available: f64) -> Option<(Size, String)> {
    let mut order = Vec::with_capacity(plan.nodes.len());
    append(plan, 0, &mut order);
    let mut place = vec![0; plan.nodes.len()];
    for (position, &node) in order.iter().enumerate() {
        place[node] = position;
    }
    let buffers = plan.resources.iter().enumerate().filter_map(|(resource, memory)| {
        let offset = memory.offset.filter(|_| memory.bytes > 0)?;
        let touches = |&node: &usize| {
            plan.nodes[node]
                .accesses
                .iter()
                .any(|access| access.resource == resource)
        };
        let mut places = (0..plan.nodes.len()).filter(touches).map(|node| place[node]);
        let first = places.next()?;
        let (first, last) = places.fold((first, first), |(first, last), place| {
            (first.min(place), last.max(place))
        });
        Some(Buffer {
            resource,
            first,
            last,
            offset,
            bytes: memory.bytes,
        })
    });
    let buffers: Vec<Buffer> = buffers.collect();
    if buffers.is_empty() {
        return None;
    }
    let arena = plan.arena().bytes()?.max(1) as f64;
    let columns = order.len().max(1) as f64;
    let size = Size {
        width: LEAST.width.max(available),
        height: LEAST.height,
    };
    let mut svg = text(
        "axis",
        0.0,
        11.0,
        &format!("arena of {} bytes: addresses down, nodes in order across", plan.arena()),
    );
    for buffer in &buffers {
        let name = &plan.resources[buffer.resource].name;
        let (first, last) = (
            &plan.nodes[order[buffer.first]].name,
            &plan.nodes[order[buffer.last]].name,
        );
        let (x, y) = (
            buffer.first as f64 / columns * size.width,
            20.0 + buffer.offset as f64 / arena * size.height,
        );
        let lane = Size {
            width: (buffer.last + 1 - buffer.first) as f64 / columns * size.width,
            height: buffer.bytes as f64 / arena * size.height,
        };
        let title = format!(
            "{name}: {} bytes at {}, from {first} to {last}",
            buffer.bytes, buffer.offset
        );
        svg.push_str(&format!("<g>\n<title>{}</title>\n", Escaped(&title)));
        svg.push_str(&rectangle("lane", (x, y), lane, ""));
        if lane.height >= 13.0 && width(name, 11.0) + 8.0 <= lane.width {
            svg.push_str(&text("axis", x + 4.0, y + lane.height / 2.0 + 4.0, name));
        }
        svg.push_str("</g>\n");
    }
    let height = size.height + 24.0;
    Some((Size { height, ..size }, svg))
}

/// The nodes of a body in an order that the graph allows, each followed by those of its own bodies.
fn append(plan: &Plan, body: usize, order: &mut Vec<usize>) {
    let mut members: Vec<usize> = plan.members(body).collect();
    members.sort_by_key(|&node| plan.nodes[node].level);
    for node in members {
        order.push(node);
        for inner in plan.bodies_of(node) {
            append(plan, inner, order);
        }
    }
}
