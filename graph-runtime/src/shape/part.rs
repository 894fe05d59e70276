//! Bytes of resources, once their places have been checked.

use crate::shape::place::Span;

/// How much memory a resource needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) bytes: usize,
    pub(crate) align: usize,
}

/// A part of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) resource: u32,
    /// In bytes.
    pub(crate) start: usize,
    /// In bytes.
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

/// A rectangle of bytes in a resource: rows of one width, each `pitch` bytes after the one before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ByteRectangle {
    /// Where the first row begins, and the bytes of all rows together.
    pub(crate) part: Part,
    /// `None` for one row. Boxed, since nearly all rectangles are one row.
    rows: Option<Box<RowsApart>>,
}

/// How the rows of a rectangle lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RowsApart {
    /// The bytes of a row; not 0.
    width: usize,
    /// From the beginning of a row to that of the next, in bytes.
    pitch: usize,
}

impl From<Part> for ByteRectangle {
    fn from(part: Part) -> Self {
        Self { part, rows: None }
    }
}

impl ByteRectangle {
    /// Rows of `width` bytes (not 0), `part.bytes` in all.
    pub(crate) fn of_rows(part: Part, width: usize, pitch: usize) -> Self {
        Self {
            part,
            rows: Some(Box::new(RowsApart { width, pitch })),
        }
    }

    /// Whether it is a single row, whose bytes are in one piece.
    pub(crate) fn is_one_row(&self) -> bool {
        self.rows.is_none()
    }

    /// Whether a node over this memory does nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.part.bytes == 0
    }

    /// The bytes of a row.
    pub(crate) fn width(&self) -> usize {
        self.rows.as_ref().map_or(self.part.bytes, |rows| rows.width)
    }

    /// From the beginning of a row to that of the next, in bytes.
    pub(crate) fn pitch(&self) -> usize {
        self.rows.as_ref().map_or(self.part.bytes, |rows| rows.pitch)
    }

    /// The number of rows; 0 of an empty rectangle.
    pub(crate) fn rows(&self) -> usize {
        self.part.bytes.checked_div(self.width()).unwrap_or(0)
    }

    /// Each row.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Part> + use<> {
        let (part, width, pitch) = (self.part, self.width(), self.pitch());
        (0..self.rows()).map(move |row| Part {
            start: part.start + row * pitch,
            bytes: width,
            ..part
        })
    }
}
