//! Instructions by which the lanes of a warp work on matrices together: `mma`, `wmma`, `ldmatrix`, `stmatrix`,
//! `movmatrix`.

use super::{Address, Slot, Space};

/// A matrix instruction, for all lanes of a warp.
#[derive(Clone, Debug)]
pub(crate) struct Matrix {
    /// A slot that names all lanes, which must all arrive.
    pub(crate) mask: Slot,
    pub(crate) op: MatrixOp,
}

#[derive(Clone, Debug)]
pub(crate) enum MatrixOp {
    /// `mma`, `wmma.mma`
    Multiply(Multiply),
    /// `ldmatrix` and `stmatrix`: one, two or four 8x8 matrices of 16-bit elements, with the address of each row.
    Rows(MatrixRows),
    /// `wmma.load`, `wmma.store`
    Tile(Tile),
    /// `movmatrix`: an 8x8 matrix of 16-bit elements, transposed.
    Transpose { d: Slot, a: Slot },
}

/// `d = a * b + c`
#[derive(Clone, Debug)]
pub(crate) struct Multiply {
    pub(crate) a: Fragment,
    pub(crate) b: Fragment,
    pub(crate) c: Fragment,
    pub(crate) d: Fragment,
    /// Whether integers saturate (`.satfinite`).
    pub(crate) saturate: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct MatrixRows {
    pub(crate) store: bool,
    pub(crate) transposed: bool,
    pub(crate) space: Space,
    pub(crate) address: Address,
    pub(crate) values: Box<[Slot]>,
}

#[derive(Clone, Debug)]
pub(crate) struct Tile {
    pub(crate) store: bool,
    pub(crate) column_major: bool,
    pub(crate) space: Space,
    pub(crate) address: Address,
    /// Elements from one row, or column, to the next.
    pub(crate) stride: Slot,
    pub(crate) fragment: Fragment,
}

/// The most elements of a fragment.
pub(crate) const MAX_ELEMENTS: usize = 1024;

/// A matrix in the registers of a warp.
#[derive(Clone, Debug)]
pub(crate) struct Fragment {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// The number of matrices: `m8n8k4` of `f16` has four.
    pub(crate) groups: usize,
    pub(crate) element: Element,
    pub(crate) layout: FragmentLayout,
    pub(crate) slots: Box<[Slot]>,
}

/// Types of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    F16,
    Bf16,
    Tf32,
    F32,
    F64,
    E4m3,
    E5m2,
    S8,
    U8,
    S4,
    U4,
    S32,
}

impl Element {
    /// Bits of an element in a register.
    pub(crate) fn bits(self) -> usize {
        match self {
            Element::S4 | Element::U4 => 4,
            Element::S8 | Element::U8 | Element::E4m3 | Element::E5m2 => 8,
            Element::F16 | Element::Bf16 => 16,
            Element::Tf32 | Element::F32 | Element::S32 => 32,
            Element::F64 => 64,
        }
    }

    /// Elements of a register.
    pub(crate) fn per_slot(self) -> usize {
        (32 / self.bits()).max(1)
    }

    /// Whether the registers are 64-bit slots.
    pub(crate) fn is_wide(self) -> bool {
        self == Element::F64
    }
}

/// The lane and register that each element is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FragmentLayout {
    /// The first factor of `mma`, as the PTX manual shows it.
    First,
    /// The second factor.
    Second,
    /// Addend and result.
    Sum,
    /// The first factor of `m8n8k4` of `f16`, whose matrices belong to quarters of the warp. If `true`, a lane has a
    /// row of the first factor and a column of the second.
    PairFirst(bool),
    PairSecond(bool),
    PairSum,
    /// A matrix of `wmma`, whose layout PTX leaves open. Here it is row by row, again and again if there are more
    /// registers than elements.
    Linear,
}

impl Fragment {
    /// The index of an element in the matrix, row by row.
    pub(crate) fn index(&self, lane: usize, register: usize, element: usize) -> usize {
        let per = self.element.per_slot();
        let (group, thread) = (lane / 4, lane % 4);
        let sequence = register * per + element;
        let at = |row: usize, column: usize| row * self.columns + column;
        // For `m8n8k4`, the lanes of a matrix are four in a row, and the four that follow sixteen lanes later.
        let pair = (lane / 4 % 4) * self.rows * self.columns;
        let (half, single) = (lane / 16 * 4, lane % 4 + lane / 16 * 4);
        match self.layout {
            FragmentLayout::First if self.rows == 8 => at(group, register * 4 * per + thread * per + element),
            FragmentLayout::First => {
                let column = register / 2 * 4 * per + thread * per + element;
                at(group + register % 2 * 8, column)
            }
            FragmentLayout::Second => at(register * 4 * per + thread * per + element, group),
            FragmentLayout::Sum => at(group + sequence / 2 * 8, thread * 2 + sequence % 2),
            FragmentLayout::PairFirst(true) => pair + at(single, sequence),
            FragmentLayout::PairFirst(false) => pair + at(sequence + half, thread),
            FragmentLayout::PairSecond(true) => pair + at(sequence, single),
            FragmentLayout::PairSecond(false) => pair + at(thread, sequence + half),
            FragmentLayout::PairSum if self.element == Element::F32 => {
                let row = (lane & 1) + (sequence & 2) + half;
                pair + at(row, (sequence & 4) + (lane & 2) + (sequence & 1))
            }
            FragmentLayout::PairSum => pair + at(single, sequence),
            FragmentLayout::Linear => (lane * self.slots.len() * per + sequence) % (self.rows * self.columns),
        }
    }
}
