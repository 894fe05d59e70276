//! Ranges of bytes of resources, made of places that have been checked.

use crate::shape::float::Float;
use crate::shape::place::Span;

/// The size and alignment of a resource in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) bytes: usize,
    pub(crate) align: usize,
    /// The type of its elements, if they are floating-point numbers.
    pub(crate) float: Option<Float>,
}

/// A range of bytes of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) resource: u32,
    /// The offset in the resource, in bytes.
    pub(crate) start: usize,
    /// The length in bytes.
    pub(crate) bytes: usize,
}

impl Part {
    pub(crate) fn of(span: Span) -> Self {
        Self {
            resource: span.resource as u32,
            start: span.start,
            bytes: span.bytes,
        }
    }
}

/// A rectangle of bytes in a resource: rows of one width, each `pitch` bytes after the previous one.
///
/// Graphs have very many, nearly all with one row, so a single row takes 24 bytes and no allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ByteRectangle {
    /// One row: the fields of its [`Part`].
    Row { resource: u32, start: usize, bytes: usize },
    /// Rows that may lie apart.
    Rows(Box<RowsApart>),
}

/// The rows of a rectangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowsApart {
    /// The start of the first row, and the bytes of all rows together.
    part: Part,
    /// The bytes of a row; not 0.
    width: usize,
    /// The distance from the start of a row to the start of the next, in bytes.
    pitch: usize,
}

impl From<Part> for ByteRectangle {
    fn from(part: Part) -> Self {
        let Part { resource, start, bytes } = part;
        Self::Row { resource, start, bytes }
    }
}

impl ByteRectangle {
    /// Rows of `width` bytes (not 0), which have `part.bytes` bytes together.
    pub(crate) fn of_rows(part: Part, width: usize, pitch: usize) -> Self {
        Self::Rows(Box::new(RowsApart { part, width, pitch }))
    }

    /// The start of the first row, and the bytes of all rows together.
    pub(crate) fn part(&self) -> Part {
        match self {
            &Self::Row { resource, start, bytes } => Part { resource, start, bytes },
            Self::Rows(rows) => rows.part,
        }
    }

    /// Whether all bytes of `part` are in it.
    pub(crate) fn contains(&self, part: &Self) -> bool {
        let (all, width, pitch, rows) = (self.part(), self.width(), self.pitch(), self.rows());
        let holds = |row: Part| {
            let Some(offset) = row.start.checked_sub(all.start) else {
                return false;
            };
            let (Some(index), Some(column)) = (offset.checked_div(pitch), offset.checked_rem(pitch)) else {
                return false; // it is empty
            };
            index < rows && row.bytes <= width.saturating_sub(column)
        };
        part.part().resource == all.resource && part.parts().all(holds)
    }

    /// Whether it is a single row, so that its bytes are in one piece.
    pub(crate) fn is_one_row(&self) -> bool {
        matches!(self, Self::Row { .. })
    }

    /// Whether it has no bytes, so that a copy or memset of it does nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.part().bytes == 0
    }

    /// The bytes of a row.
    pub(crate) fn width(&self) -> usize {
        match self {
            Self::Row { bytes, .. } => *bytes,
            Self::Rows(rows) => rows.width,
        }
    }

    /// The distance from the start of a row to the start of the next, in bytes.
    pub(crate) fn pitch(&self) -> usize {
        match self {
            Self::Row { bytes, .. } => *bytes,
            Self::Rows(rows) => rows.pitch,
        }
    }

    /// The number of rows; 0 if it has no bytes.
    pub(crate) fn rows(&self) -> usize {
        self.part().bytes.checked_div(self.width()).unwrap_or(0)
    }

    /// The rows, one part each.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Part> + use<> {
        let (part, width, pitch) = (self.part(), self.width(), self.pitch());
        (0..self.rows()).map(move |row| Part {
            start: part.start + row * pitch,
            bytes: width,
            ..part
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(start: usize, bytes: usize) -> Part {
        Part {
            resource: 1,
            start,
            bytes,
        }
    }

    #[test]
    fn parts_are_in_one_piece_or_row_by_row() {
        let row: ByteRectangle = part(16, 64).into();
        let holds = |start, bytes| row.contains(&part(start, bytes).into());
        assert!(holds(16, 64) && holds(32, 0) && holds(79, 1) && holds(0, 0));
        assert!(!holds(15, 2) && !holds(16, 65) && !holds(80, 1) && !holds(79, 2));
        assert!(row.contains(&ByteRectangle::of_rows(part(20, 24), 8, 16)));
        assert!(!row.contains(&ByteRectangle::of_rows(part(20, 40), 8, 16)));
        let other = Part {
            resource: 2,
            ..part(16, 4)
        };
        assert!(!row.contains(&other.into()));
        assert!(ByteRectangle::from(part(16, 0)).contains(&part(16, 0).into()));
        assert!(!ByteRectangle::from(part(16, 0)).contains(&part(16, 1).into()));
    }

    #[test]
    fn rows_are_in_rows_of_the_same_rectangle() {
        let columns = ByteRectangle::of_rows(part(4, 24), 8, 16); // 4..12, 20..28, 36..44
        let holds = |start, bytes, width| columns.contains(&ByteRectangle::of_rows(part(start, bytes), width, 16));
        assert!(holds(4, 24, 8) && holds(8, 12, 4) && holds(20, 16, 8));
        assert!(!holds(8, 24, 8) && !holds(20, 24, 8) && !holds(0, 24, 8));
        assert!(columns.contains(&part(36, 8).into()) && !columns.contains(&part(36, 9).into()));
        assert!(
            !columns.contains(&part(4, 24).into()),
            "between the rows is other memory"
        );
        assert!(!columns.contains(&part(52, 1).into()));
    }
}
