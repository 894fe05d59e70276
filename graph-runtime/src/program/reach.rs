//! Copies and memsets of a part of memory that updates choose.

use crate::kernel::Value;
use crate::program::{MemcpyOp, MemsetOp, Program, Work};
use crate::shape::part::{ByteRectangle, Part};
use std::borrow::Cow;

/// The memory in which updates choose the part that a copy or a memset touches. The node has accesses to all of it.
#[derive(Clone, Debug)]
pub(crate) struct Reach {
    /// The memory that a copy may read; `None` for a memset.
    pub(crate) from: Option<ByteRectangle>,
    /// The memory that the node may write.
    pub(crate) to: ByteRectangle,
    /// Whether the parts may be rows that lie apart.
    pub(crate) rows: bool,
}

impl Reach {
    /// Whether the work touches rows that lie apart, though all parts are in one piece.
    pub(crate) fn is_split_by(&self, work: &Work) -> bool {
        let apart = |part: &ByteRectangle| !part.is_one_row();
        !self.rows && (work.read().is_some_and(apart) || work.written().is_some_and(apart))
    }

    /// The first resource in which the work touches more than updates may choose.
    pub(crate) fn left_by(&self, work: &Work) -> Option<usize> {
        let outside =
            |all: &ByteRectangle, part: &ByteRectangle| (!all.contains(part)).then_some(part.part().resource as usize);
        let source = self.from.as_ref().zip(work.read());
        let source = source.and_then(|(all, part)| outside(all, part));
        source.or_else(|| outside(&self.to, work.written()?))
    }

    /// Whether there is nothing to choose from, so that the node never does anything.
    pub(crate) fn is_empty(&self) -> bool {
        self.to.is_empty() || self.from.as_ref().is_some_and(ByteRectangle::is_empty)
    }

    /// The first bytes of memory.
    fn first(all: &ByteRectangle, bytes: usize) -> ByteRectangle {
        Part { bytes, ..all.part() }.into()
    }

    /// The smallest copy, or the smallest memset of this value, in memory that is not empty.
    fn least(&self, value: Option<&Value>) -> Work {
        match (&self.from, value) {
            (None, Some(value)) => Work::Memset(MemsetOp {
                to: Self::first(&self.to, value.bytes().len()),
                value: value.clone(),
                will_update: true,
            }),
            (from, _) => Work::Memcpy(MemcpyOp {
                from: Self::first(from.as_ref().unwrap_or(&self.to), 1),
                to: Self::first(&self.to, 1),
            }),
        }
    }
}

impl Program {
    /// The memory in which updates choose the part that the node touches; `None` for nearly all nodes.
    pub(crate) fn reach(&self, node: usize) -> Option<&Reach> {
        self.reaches.get(&node)
    }

    /// The work that a node of CUDA is made for, given the node's own. CUDA has no node for a copy of nothing that a
    /// later update could change: such a node is made for the least work, and skipped.
    pub(crate) fn lowered<'w>(&self, node: usize, work: &'w Work) -> Cow<'w, Work> {
        let Some(reach) = self.reach(node).filter(|reach| work.is_idle() && !reach.is_empty()) else {
            return Cow::Borrowed(work);
        };
        Cow::Owned(reach.least(match work {
            Work::Memset(set) => Some(&set.value),
            Work::Memcpy(_) | Work::Kernel(_) | Work::Join => None,
        }))
    }

    /// The nodes that do nothing until an update chooses a part for them.
    pub(crate) fn idle(&self) -> impl Iterator<Item = usize> {
        let is_idle = |&node: &usize| self.ops[node].work().is_some_and(Work::is_idle);
        self.reaches.keys().copied().filter(is_idle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(resource: u32, start: usize, bytes: usize) -> ByteRectangle {
        ByteRectangle::Row { resource, start, bytes }
    }

    /// A node that does nothing now is made for work that is in its reach and is not empty.
    #[test]
    fn the_least_work_is_in_reach() {
        let copies = Reach {
            from: Some(row(1, 8, 32)),
            to: ByteRectangle::of_rows(row(2, 4, 24).part(), 8, 16),
            rows: true,
        };
        let sets = Reach {
            from: None,
            ..copies.clone()
        };
        let value = Value::new(&1.5_f64);
        for (reach, value, (from, to)) in [
            (&copies, None, (Some(row(1, 8, 1)), row(2, 4, 1))),
            (&sets, Some(&value), (None, row(2, 4, 8))),
        ] {
            let least = reach.least(value);
            assert_eq!((least.read().cloned(), least.written()), (from, Some(&to)));
            assert!(!least.is_idle() && !reach.is_empty());
            assert_eq!(reach.left_by(&least), None, "{least:?}");
            assert!(!reach.is_split_by(&least));
        }
        let nothing = Reach {
            from: Some(row(1, 8, 0)),
            ..copies
        };
        assert!(nothing.is_empty());
    }
}
