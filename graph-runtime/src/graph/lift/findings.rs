//! Pairs of unordered nodes that touch the same memory.

use super::effect::common;
use super::{Block, LiftedNode, Touch};
use graph_plan::{Edge, Mode, NodeKind, Order};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

/// Two nodes of a [`Lifted`](super::Lifted) graph that no edges order, and that are not proved to touch different
/// bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The names of the nodes, in the order of the driver's list.
    pub nodes: [String; 2],
    /// The name of the memory.
    pub memory: String,
    /// Whether they certainly meet.
    pub verdict: Verdict,
}

/// The certainty of a [`Finding`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Both touch these bytes of the memory, and one of them writes them.
    Racing(Range<u64>),
    /// Both are given the memory, and one of them may write it; the text says of which node it is not known what part.
    CannotTell(String),
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([one, other], memory) = (&self.nodes, &self.memory);
        match &self.verdict {
            Verdict::Racing(Range { start, end }) => {
                write!(
                    f,
                    "racing: `{one}` and `{other}` both touch `{memory}[{start}..{end}]`, and nothing orders them"
                )
            }
            Verdict::CannotTell(why) => {
                write!(
                    f,
                    "cannot be told: `{one}` and `{other}` may meet in `{memory}`, and nothing orders them: {why}"
                )
            }
        }
    }
}

/// The result of comparing all pairs.
#[derive(Clone, Debug, Default)]
pub(super) struct Findings {
    pub(super) found: Vec<Finding>,
    pub(super) apart: usize,
    /// The pairs that are in order if kernels which programmatic edges lead to wait, which is not known.
    pub(super) in_doubt: usize,
}

/// An access of a node, or of a node of its child graphs.
type Reached<'n> = (usize, &'n Touch);

impl Findings {
    /// Compares the nodes of each body. A node with bodies, or with a child graph, touches what the nodes in it touch.
    pub(super) fn of(nodes: &[LiftedNode], memory: &[Block]) -> Self {
        let edges = nodes.iter().enumerate();
        let edges: Vec<Edge> = edges
            .flat_map(|(to, node)| node.order().into_iter().map(move |from| Edge { from, to }))
            .collect();
        let all = nodes.iter().enumerate();
        let all = all.flat_map(|(to, node)| node.after.iter().map(move |&(from, _)| Edge { from, to }));
        let all: Vec<Edge> = all.collect();
        let Some(order) = Order::new(nodes.len(), &edges) else {
            return Self::default(); // the driver's graphs have no cycles
        };
        let at_best = if all.len() > edges.len() {
            Order::new(nodes.len(), &all)
        } else {
            None
        };
        // Whether kernels that may wait are between the two, or the later one of them is such a kernel.
        let is_in_doubt = |one: usize, other: usize| {
            let Some(at_best) = &at_best else { return false };
            let (first, last) = if at_best.before(one, other) {
                (one, other)
            } else {
                (other, one)
            };
            let early = &nodes[last];
            let begins_early = early.unknown.is_none()
                && early.after.iter().all(|&(before, data)| match before == first {
                    true => data.is_programmatic() && !early.waits,
                    false => !at_best.before(first, before),
                });
            at_best.before(first, last) && !begins_early
        };
        // The members of the bodies, by owner and number: bodies of one node never run at the same time.
        let mut bodies: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        let mut reached: Vec<Vec<Reached<'_>>> = vec![Vec::new(); nodes.len()];
        let mut is_known: Vec<bool> = nodes.iter().map(|node| node.unknown.is_none()).collect();
        // The nodes of a body come after the node that it is in.
        for (index, node) in nodes.iter().enumerate().rev() {
            reached[index].extend(node.touches.iter().map(|touch| (index, touch)));
            if let Some(owner) = node.owner {
                let inner = reached[index].clone();
                reached[owner].extend(inner);
                is_known[owner] &= is_known[index];
            }
            let owner = node.owner.map_or(0, |owner| owner + 1);
            bodies.entry((owner, node.body)).or_default().push(index);
        }
        let mut findings = Self::default();
        let mut unsure = Vec::new();
        for members in bodies.values_mut() {
            members.reverse();
            for (position, &other) in members.iter().enumerate() {
                for &one in &members[..position] {
                    if order.ordered(one, other) {
                        continue;
                    }
                    let mut is_apart = is_known[one] && is_known[other];
                    let is_in_doubt = is_in_doubt(one, other);
                    for (here, touch) in &reached[one] {
                        for (there, met) in reached[other].iter().filter(|(_, met)| met.block == touch.block) {
                            let Some(verdict) = compare(nodes, (*here, touch), (*there, met)) else {
                                continue;
                            };
                            is_apart = false;
                            if is_in_doubt {
                                continue;
                            }
                            let nodes = [&nodes[*here].name, &nodes[*there].name].map(String::clone);
                            let memory = memory[touch.block].name.clone();
                            let finding = Finding { nodes, memory, verdict };
                            match finding.verdict {
                                Verdict::Racing(_) => findings.found.push(finding),
                                Verdict::CannotTell(_) => unsure.push(finding),
                            }
                        }
                    }
                    findings.in_doubt += usize::from(is_in_doubt && !is_apart);
                    findings.apart += usize::from(
                        is_apart && nodes[one].kind != NodeKind::Join && nodes[other].kind != NodeKind::Join,
                    );
                }
            }
        }
        findings.found.extend(unsure);
        findings.found.dedup();
        findings
    }
}

/// Whether two accesses to one block may meet, one of them to write.
fn compare(nodes: &[LiftedNode], (here, one): Reached<'_>, (there, other): Reached<'_>) -> Option<Verdict> {
    let is_atomic = one.mode == Mode::Atomic && other.mode == Mode::Atomic;
    if is_atomic || !(one.mode.writes() || other.mode.writes()) {
        return None;
    }
    match (&one.bytes, &other.bytes) {
        (Some(one), Some(other)) => {
            let both = common(one, other);
            (!both.is_empty()).then_some(Verdict::Racing(both))
        }
        (None, Some(_)) => Some(Verdict::CannotTell(unsure(&[&nodes[here].name]))),
        (Some(_), None) => Some(Verdict::CannotTell(unsure(&[&nodes[there].name]))),
        (None, None) => Some(Verdict::CannotTell(unsure(&[&nodes[here].name, &nodes[there].name]))),
    }
}

fn unsure(names: &[&String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let verb = if names.len() == 1 { "touches" } else { "touch" };
    format!("it is not known which bytes {} {verb}", names.join(" and "))
}
