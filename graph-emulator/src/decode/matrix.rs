//! Matrix instructions: shapes and types become fragments, which know the element in each register of each lane.

use graph_ptx::ast::{Operand, Type};

use super::Result;
use super::memory::parts;
use super::modifiers::Modifiers;
use super::operand::{elements, operand};
use super::scope::Scope;
use crate::code::{
    DISCARD, Element, Fragment, FragmentLayout as Layout, MAX_ELEMENTS, Matrix, MatrixOp, MatrixRows, Multiply, Op,
    Slot, Space, Tile,
};

const ELEMENTS: [(&str, Element); 12] = [
    ("f16", Element::F16),
    ("bf16", Element::Bf16),
    ("tf32", Element::Tf32),
    ("f32", Element::F32),
    ("f64", Element::F64),
    ("e4m3", Element::E4m3),
    ("e5m2", Element::E5m2),
    ("s8", Element::S8),
    ("u8", Element::U8),
    ("s4", Element::S4),
    ("u4", Element::U4),
    ("s32", Element::S32),
];

/// The longest side of a shape that a matrix instruction of PTX has. Products of sides do not overflow.
const MAX_SIDE: usize = 256;

/// Rows, columns, and the length of the sums, each at most [`MAX_SIDE`].
#[derive(Clone, Copy)]
struct Shape {
    m: usize,
    n: usize,
    k: usize,
}

/// Decodes a matrix instruction.
pub(super) fn matrix(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    let opcode = modifiers.opcode;
    let op = match opcode {
        "mma" => mma(modifiers, operands, scope)?,
        "wmma" if modifiers.take("mma") => wmma(modifiers, operands, scope)?,
        "wmma" if modifiers.take("load") => tile(false, modifiers, operands, scope)?,
        "wmma" if modifiers.take("store") => tile(true, modifiers, operands, scope)?,
        "ldmatrix" => rows(false, modifiers, operands, scope)?,
        "stmatrix" => rows(true, modifiers, operands, scope)?,
        "movmatrix" => {
            modifiers.expect("m8n8")?;
            modifiers.expect("trans")?;
            modifiers.expect("b16")?;
            MatrixOp::Transpose {
                d: scope.target(operand(operands, 0)?, Type::B32)?,
                a: scope.source32(operand(operands, 1)?)?,
            }
        }
        _ => return Err("unknown form of the instruction".to_owned()),
    };
    modifiers.expect("sync")?;
    modifiers.ignore(&["aligned"]);
    let mask = scope.constant32(u32::MAX);
    Ok(Op::Matrix(Box::new(Matrix { mask, op })))
}

/// `m16n8k8`
fn shape(modifiers: &mut Modifiers<'_>) -> Result<Shape> {
    let parse = |name: &str| {
        let (m, rest) = name.strip_prefix('m')?.split_once('n')?;
        let (n, k) = rest.split_once('k')?;
        let side = |digits: &str| digits.parse().ok().filter(|&side: &usize| side <= MAX_SIDE);
        Some(Shape {
            m: side(m)?,
            n: side(n)?,
            k: side(k)?,
        })
    };
    modifiers
        .take_parsed(parse)
        .ok_or_else(|| "the shape is missing".to_owned())
}

fn element(modifiers: &mut Modifiers<'_>) -> Result<Element> {
    modifiers
        .take_first(&ELEMENTS)
        .ok_or_else(|| "the type is unknown or missing".to_owned())
}

/// Takes `row` or `col`, and returns whether it is `col`.
fn column_major(modifiers: &mut Modifiers<'_>) -> Result<bool> {
    modifiers
        .take_first(&[("row", false), ("col", true)])
        .ok_or_else(|| "`.row` or `.col` is missing".to_owned())
}

fn mma(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<MatrixOp> {
    let shape = shape(modifiers)?;
    let (a_columns, b_columns) = (column_major(modifiers)?, column_major(modifiers)?);
    let saturate = modifiers.take("satfinite");
    modifiers.ignore(&["rn"]);
    let (d, a, b, c) = (
        element(modifiers)?,
        element(modifiers)?,
        element(modifiers)?,
        element(modifiers)?,
    );
    check_types(d, a, b, c)?;
    let pairs = shape.m == 8 && shape.k == 4 && a == Element::F16;
    let bits = shape.k * a.bits();
    let known = match (shape.m, shape.n, a) {
        (8, 8, Element::F16) => shape.k == 4,
        (8, 8, Element::F64) => shape.k == 4,
        (16, 8, Element::F64) => matches!(shape.k, 4 | 8 | 16),
        (8, 8, Element::S8 | Element::U8 | Element::S4 | Element::U4) => bits == 128,
        (16, 8, _) => matches!(bits, 128 | 256),
        _ => false,
    };
    if !known || !pairs && (a_columns || !b_columns) {
        return Err("unknown shape or layout".to_owned());
    }
    let layouts = if pairs {
        [
            Layout::PairFirst(!a_columns),
            Layout::PairSecond(b_columns),
            Layout::PairSum,
        ]
    } else {
        [Layout::First, Layout::Second, Layout::Sum]
    };
    let groups = if pairs { 4 } else { 1 };
    let mut parts = Parts { shape, groups, scope };
    Ok(MatrixOp::Multiply(Multiply {
        d: parts.fragment('c', d, layouts[2], operand(operands, 0)?, true)?,
        a: parts.fragment('a', a, layouts[0], operand(operands, 1)?, false)?,
        b: parts.fragment('b', b, layouts[1], operand(operands, 2)?, false)?,
        c: parts.fragment('c', c, layouts[2], operand(operands, 3)?, false)?,
        saturate,
    }))
}

/// Whether these types go together.
fn check_types(d: Element, a: Element, b: Element, c: Element) -> Result<()> {
    use Element::{Bf16, E4m3, E5m2, F16, F32, F64, S4, S8, S32, Tf32, U4, U8};
    let fits = match a {
        F16 => b == F16 && matches!(d, F16 | F32) && matches!(c, F16 | F32),
        Bf16 | Tf32 => b == a && d == F32 && c == F32,
        F64 => b == F64 && d == F64 && c == F64,
        E4m3 | E5m2 => matches!(b, E4m3 | E5m2) && matches!(d, F16 | F32) && c == d,
        S8 | U8 => matches!(b, S8 | U8) && d == S32 && c == S32,
        S4 | U4 => matches!(b, S4 | U4) && d == S32 && c == S32,
        F32 | S32 => false,
    };
    if fits {
        Ok(())
    } else {
        Err("these types do not go together".to_owned())
    }
}

fn wmma(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<MatrixOp> {
    let shape = shape(modifiers)?;
    column_major(modifiers)?;
    column_major(modifiers)?;
    let saturate = modifiers.take("satfinite");
    modifiers.ignore(&["rn"]);
    let (d, second) = (element(modifiers)?, element(modifiers)?);
    let (a, b, c) = match modifiers.take_first(&ELEMENTS) {
        None => (Element::F16, Element::F16, second),
        Some(b) => (second, b, element(modifiers)?),
    };
    check_types(d, a, b, c)?;
    check_tiles(shape)?;
    let mut parts = Parts {
        shape,
        groups: 1,
        scope,
    };
    let linear = Layout::Linear;
    Ok(MatrixOp::Multiply(Multiply {
        d: parts.fragment('c', d, linear, operand(operands, 0)?, true)?,
        a: parts.fragment('a', a, linear, operand(operands, 1)?, false)?,
        b: parts.fragment('b', b, linear, operand(operands, 2)?, false)?,
        c: parts.fragment('c', c, linear, operand(operands, 3)?, false)?,
        saturate,
    }))
}

fn check_tiles(shape: Shape) -> Result<()> {
    match (shape.m, shape.n, shape.k) {
        (16, 16, 16 | 8) | (8, 32, 16) | (32, 8, 16) | (8, 8, 4 | 32) => Ok(()),
        _ => Err("unknown shape".to_owned()),
    }
}

/// `wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {..}, [p], stride` and `wmma.store.d`
fn tile(store: bool, modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<MatrixOp> {
    let role = modifiers
        .take_first(&[("a", 'a'), ("b", 'b'), ("c", 'c'), ("d", 'c')])
        .ok_or("`.a`, `.b`, `.c` or `.d` is missing")?;
    let column_major = column_major(modifiers)?;
    let shape = shape(modifiers)?;
    check_tiles(shape)?;
    let space = modifiers
        .take_first(&[
            ("global", Space::Global),
            ("shared", Space::Shared),
            ("shared::cta", Space::Shared),
        ])
        .unwrap_or(Space::Generic);
    let element = element(modifiers)?;
    if element.bits() < 8 {
        return Err("elements of less than a byte are not supported here".to_owned());
    }
    let (values, address) = if store { (1, 0) } else { (0, 1) };
    let (address, space) = scope.address(operand(operands, address)?, space)?;
    let fragment = Parts {
        shape,
        groups: 1,
        scope,
    }
    .fragment(role, element, Layout::Linear, operand(operands, values)?, !store)?;
    let stride = match operands.get(2) {
        Some(stride) => scope.source32(stride)?,
        None if column_major => scope.constant32(fragment.rows as u32),
        None => scope.constant32(fragment.columns as u32),
    };
    Ok(MatrixOp::Tile(Tile {
        store,
        column_major,
        space,
        address,
        stride,
        fragment,
    }))
}

/// The properties that the fragments of an instruction share.
struct Parts<'s, 'a> {
    shape: Shape,
    groups: usize,
    scope: &'s mut Scope<'a>,
}

impl Parts<'_, '_> {
    /// The first factor `a`, the second `b`, or the sum `c`, in the registers of an operand.
    fn fragment(
        &mut self,
        role: char,
        element: Element,
        layout: Layout,
        registers: &Operand,
        target: bool,
    ) -> Result<Fragment> {
        let Shape { m, n, k } = self.shape;
        let (rows, columns) = match role {
            'a' => (m, k),
            'b' => (k, n),
            _ => (m, n),
        };
        let registers = elements(registers);
        let ty = if element.is_wide() { Type::B64 } else { Type::B32 };
        let slots: Result<Box<[Slot]>> = registers
            .iter()
            .map(|register| {
                if target {
                    self.scope.target_or_none(register, ty)
                } else {
                    self.scope.source(register, ty)
                }
            })
            .collect();
        let fragment = Fragment {
            rows,
            columns,
            groups: self.groups,
            element,
            layout,
            slots: slots?,
        };
        let held = 32 * fragment.slots.len() * element.per_slot();
        let (needed, most) = (rows * columns * self.groups, MAX_ELEMENTS);
        let enough = match layout {
            Layout::Linear => held >= needed && held <= most && held.is_multiple_of(needed),
            Layout::First
            | Layout::Second
            | Layout::Sum
            | Layout::PairFirst(_)
            | Layout::PairSecond(_)
            | Layout::PairSum => held == needed,
        };
        if enough {
            Ok(fragment)
        } else {
            Err(format!("{} registers are not what the shape needs", registers.len()))
        }
    }
}

/// `ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {..}, [p]` and `stmatrix`
fn rows(store: bool, modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<MatrixOp> {
    modifiers.expect("m8n8")?;
    let count = modifiers
        .take_any(&[("x1", 1), ("x2", 2), ("x4", 4)])
        .ok_or("`.x1`, `.x2` or `.x4` is missing")?;
    let transposed = modifiers.take("trans");
    let space = modifiers
        .take_any(&[("shared", Space::Shared), ("shared::cta", Space::Shared)])
        .unwrap_or(Space::Generic);
    modifiers.expect("b16")?;
    let (values, address) = if store { (1, 0) } else { (0, 1) };
    let (address, space) = scope.address(operand(operands, address)?, space)?;
    let registers = parts(operand(operands, values)?, count)?;
    let slots: Result<Box<[Slot]>> = registers
        .iter()
        .map(|register| match (store, register) {
            (true, register) => scope.source32(register),
            (false, Operand::Discard) => Ok(DISCARD),
            (false, register) => scope.target(register, Type::B32),
        })
        .collect();
    Ok(MatrixOp::Rows(MatrixRows {
        store,
        transposed,
        space,
        address,
        values: slots?,
    }))
}
