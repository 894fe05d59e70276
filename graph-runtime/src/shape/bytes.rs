//! Bytes of a resource as copies and memsets take them: in one piece, or as rows that may lie apart.

use crate::error::mistakes;
use crate::shape::Lengths;
use crate::shape::part::{ByteRectangle, Part};
use crate::shape::place::{Copied, Place, Span};
use crate::shape::table::text;
use graph_plan::{Diagnostic, Draft, Region};

/// Memory that a copy or a memset takes: a [`Place`] or a [`Rectangle`](crate::Rectangle).
pub trait Selection {
    /// The shape of the memory.
    type Shape: ?Sized;
    /// The kind of the memory.
    type Memory;

    /// The bytes, and the lengths that the shape does not tell.
    fn selected(&self) -> (Bytes, Lengths);
}

impl<S: ?Sized, M: Copied> Selection for Place<S, M> {
    type Shape = S;
    type Memory = M;

    fn selected(&self) -> (Bytes, Lengths) {
        (self.span.into(), self.lengths)
    }
}

/// Some bytes of a resource: the untyped part of a [`Selection`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes {
    /// The start of the first row, and the number of bytes of all rows together.
    pub(crate) all: Span,
    /// The number of bytes of a row.
    pub(crate) width: usize,
    /// The distance from the start of a row to the start of the next, in bytes; at least `width`.
    pub(crate) pitch: usize,
    /// Whether these are the rows of a rectangle. Copies compare their numbers.
    pub(crate) is_rectangle: bool,
}

/// All of a place in one row.
impl From<Span> for Bytes {
    fn from(all: Span) -> Self {
        Self {
            all,
            width: all.bytes,
            pitch: all.bytes,
            is_rectangle: false,
        }
    }
}

impl Bytes {
    /// The mistake of a copy from these bytes if the destination has another size, another number of rows in a
    /// rectangle, or if these lengths of the two differ.
    pub(crate) fn mistake(
        self,
        draft: &Draft,
        node: usize,
        to: Self,
        lengths: Option<(Lengths, Lengths)>,
    ) -> Option<Diagnostic> {
        let size = |side: Self| (side.is_rectangle.then(|| side.rows()), side.all.bytes);
        if self.is_rectangle && size(self) != size(to) {
            let side = |side: Self| [side.all.resource, side.rows(), side.width];
            return Some(mistakes::other_shape(draft, node, side(self), side(to)));
        }
        if let Some((source, destination)) = lengths {
            let (source, destination) = (text(&source), text(&destination));
            let (source, destination) = ((self.all.resource, &*source), (to.all.resource, &*destination));
            return Some(mistakes::other_lengths(draft, node, source, destination));
        }
        let side = |side: Self| (side.all.resource, side.all.bytes);
        (self.all.bytes != to.all.bytes).then(|| mistakes::other_length(draft, node, side(self), side(to)))
    }

    /// The two sides of a copy, for a backend: in one piece if both are.
    pub(crate) fn sides([from, to]: [Self; 2]) -> [ByteRectangle; 2] {
        match (from.in_one_piece(), to.in_one_piece()) {
            (Some(from), Some(to)) => [from, to].map(|side| Part::of(side).into()),
            _ => [from.rows_of_bytes(), to.rows_of_bytes()],
        }
    }

    pub(crate) fn rows(&self) -> usize {
        self.all.bytes.checked_div(self.width).unwrap_or(0)
    }

    /// The bytes as one span, if they are in one piece.
    pub(crate) fn in_one_piece(&self) -> Option<Span> {
        (self.pitch == self.width || self.rows() <= 1).then_some(self.all)
    }

    /// The rows in the form that backends take.
    fn rows_of_bytes(&self) -> ByteRectangle {
        ByteRectangle::of_rows(Part::of(self.all), self.width, self.pitch)
    }

    /// The rows in the form that backends take: as a single row if they are in one piece.
    pub(crate) fn lowered(&self) -> ByteRectangle {
        match self.in_one_piece() {
            Some(span) => Part::of(span).into(),
            None => self.rows_of_bytes(),
        }
    }

    /// The bytes in the form that the analysis takes.
    pub(crate) fn region(&self) -> Region {
        Region::Rectangle(graph_plan::Rectangle {
            start: self.all.start as u64,
            width: self.width as u64,
            pitch: self.pitch as u64,
            rows: self.rows() as u64,
        })
    }
}
