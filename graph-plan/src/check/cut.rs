//! The edge of a cycle that its author should remove: one without which no cycle is left, and no race begins.

use super::advice::{not_after, not_after_iteration};
use crate::draft::Link;
use crate::{Diagnostic, Draft, Subject};

/// The most edges of a cycle that are tried.
const MAX_TRIED: usize = 16;

/// The most nodes of a graph whose edges are tried.
const MAX_NODES: usize = 1 << 10;

impl Link {
    fn subject(self) -> Subject {
        match self {
            Link::Edge(index) => Subject::Edge(index),
            Link::Shift(index) => Subject::Shift(index),
        }
    }

    /// Whether the edge can be removed from the text.
    fn is_written(self, draft: &Draft) -> bool {
        match self {
            Link::Edge(index) => !draft.is_inferred(index),
            Link::Shift(_) => true,
        }
    }

    /// The help to remove the edge.
    fn removal(self, draft: &Draft) -> String {
        match self {
            Link::Edge(index) => not_after(draft, draft.edges[index].from, draft.edges[index].to),
            Link::Shift(index) => not_after_iteration(draft, &draft.shifts[index]),
        }
    }

    /// The draft without the edge.
    fn removed(self, draft: &Draft) -> Draft {
        let mut left = draft.clone();
        match self {
            Link::Edge(index) => left.retain_edges(|edge| edge != draft.edges[index]),
            Link::Shift(index) => {
                left.shifts.remove(index);
                if index < left.shift_lines.len() {
                    left.shift_lines.remove(index);
                }
            }
        }
        left
    }
}

/// A cycle that was reported.
pub(super) struct Cycle {
    /// The index of its error.
    pub(super) error: usize,
    /// The edges on it, those first that are advised if it makes no difference.
    pub(super) links: Vec<Link>,
    /// The other way to mend it, if there is one.
    pub(super) other: Option<&'static str>,
}

impl Cycle {
    /// Adds to the cycle's error which edge to remove, and makes the error point at it. `left` are the numbers of
    /// cycles and of other mistakes of a draft.
    pub(super) fn advise(&self, draft: &Draft, errors: &mut [Diagnostic], left: impl Fn(&Draft) -> (usize, usize)) {
        let tried = if draft.nodes.len() > MAX_NODES { 1 } else { MAX_TRIED };
        let written = self.links.iter().filter(|link| link.is_written(draft));
        let tried: Vec<&Link> = written.take(tried).collect();
        let best = match tried[..] {
            [only] => Some(only),
            _ => tried.into_iter().min_by_key(|link| left(&link.removed(draft))),
        };
        let Some(best) = best else { return };
        let removal = best.removal(draft);
        let error = &mut errors[self.error];
        error.subject = best.subject();
        error.help = Some(match self.other {
            Some(other) => format!("{removal}, or {other}"),
            None => format!("remove one of these edges, for example: {removal}"),
        });
    }
}
