//! The last launch of a profile, if every node starts as soon as the graph's edges allow.

use super::Profile;
use crate::program::recorder::Step;
use std::collections::HashMap;

/// The time in which a node ran, in nanoseconds since the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) node: usize,
    pub(super) start: u64,
    pub(super) end: u64,
}

/// A body while it runs.
struct Frame {
    /// The node whose body it is, and the time at which that started.
    around: Option<(usize, u64)>,
    /// The time at which the body started.
    start: u64,
    /// The latest end of a node so far.
    end: u64,
    /// The ends of the body's nodes so far.
    ends: HashMap<usize, u64>,
}

impl Frame {
    fn new(around: Option<(usize, u64)>, start: u64) -> Self {
        Self {
            around,
            start,
            end: start,
            ends: HashMap::new(),
        }
    }

    /// The earliest time at which a node may start, which runs after others of the body.
    fn start_of(&self, after: &[usize]) -> u64 {
        let ends = after.iter().filter_map(|before| self.ends.get(before));
        ends.copied().fold(self.start, u64::max)
    }

    fn ended(&mut self, node: usize, end: u64) {
        self.ends.insert(node, end);
        self.end = self.end.max(end);
    }
}

/// The times of all nodes that ran. A body starts when the one before it, of the same node, has ended.
pub(super) fn spans(profile: &Profile) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut outer: Vec<Frame> = Vec::new();
    let mut frame = Frame::new(None, 0);
    for step in &profile.course {
        match *step {
            Step::Call(node, time) => {
                let start = frame.start_of(&profile.shape[node].after);
                let end = start + time;
                frame.ended(node, end);
                spans.push(Span { node, start, end });
            }
            Step::Skip(node) => {
                let start = frame.start_of(&profile.shape[node].after);
                frame.ended(node, start);
            }
            Step::Enter(node) => {
                let start = frame.start_of(&profile.shape[node].after);
                outer.push(std::mem::replace(&mut frame, Frame::new(Some((node, start)), start)));
            }
            Step::Body => {
                frame.start = frame.end;
                frame.ends.clear();
            }
            Step::Cost(time) => frame.end += time,
            Step::Leave => {
                let Some(around) = outer.pop() else { continue };
                let inner = std::mem::replace(&mut frame, around);
                if let Some((node, start)) = inner.around {
                    let end = inner.end;
                    frame.ended(node, end);
                    spans.push(Span { node, start, end });
                }
            }
        }
    }
    spans
}

/// The lane of each span: the first one on which no earlier span is still running.
pub(super) fn lanes(spans: &mut [Span]) -> Vec<usize> {
    spans.sort_by_key(|span| (span.start, span.end));
    let mut ends: Vec<u64> = Vec::new();
    let mut taken = Vec::with_capacity(spans.len());
    for span in spans {
        let lane = ends.iter().position(|&end| end <= span.start).unwrap_or(ends.len());
        match ends.get_mut(lane) {
            Some(end) => *end = span.end,
            None => ends.push(span.end),
        }
        taken.push(lane);
    }
    taken
}
