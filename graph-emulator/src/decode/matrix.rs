//! Matrix instructions: shapes and types become fragments, which know the element in each register of each lane.

use graph_ptx::ast::Type;

use super::Result;
use super::operand::elements;
use super::reader::Reader;
use crate::code::{
    Element, Fragment, FragmentLayout as Layout, MAX_ELEMENTS, Matrix, MatrixOp, MatrixRows, Multiply, Op, Slot, Space,
    Tile,
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
pub(super) fn matrix(reader: &mut Reader<'_, '_>) -> Result<Op> {
    let opcode = reader.opcode;
    let op = match opcode {
        "mma" => mma(reader)?,
        "wmma" if reader.take("mma") => wmma(reader)?,
        "wmma" if reader.take("load") => tile(false, reader)?,
        "wmma" if reader.take("store") => tile(true, reader)?,
        "ldmatrix" => rows(false, reader)?,
        "stmatrix" => rows(true, reader)?,
        "movmatrix" => {
            reader.expect("m8n8")?;
            reader.expect("trans")?;
            reader.expect("b16")?;
            MatrixOp::Transpose {
                d: reader.target(0, Type::B32)?,
                a: reader.source32(1)?,
            }
        }
        _ => return Err("unknown form of the instruction".to_owned()),
    };
    reader.expect("sync")?;
    reader.ignore(&["aligned"]);
    let mask = reader.scope.constant32(u32::MAX);
    Ok(Op::Matrix(Box::new(Matrix { mask, op })))
}

/// `m16n8k8`
fn shape(reader: &mut Reader<'_, '_>) -> Result<Shape> {
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
    let shape = reader.take_parsed(parse);
    shape.ok_or_else(|| "the shape is missing".to_owned())
}

fn element(reader: &mut Reader<'_, '_>) -> Result<Element> {
    reader.first_of(&ELEMENTS, "the type is unknown or missing")
}

/// Takes `row` or `col`, and returns whether it is `col`.
fn column_major(reader: &mut Reader<'_, '_>) -> Result<bool> {
    reader.first_of(&[("row", false), ("col", true)], "`.row` or `.col` is missing")
}

fn mma(reader: &mut Reader<'_, '_>) -> Result<MatrixOp> {
    let shape = shape(reader)?;
    let (a_columns, b_columns) = (column_major(reader)?, column_major(reader)?);
    let saturate = reader.take("satfinite");
    reader.ignore(&["rn"]);
    let types = [element(reader)?, element(reader)?, element(reader)?, element(reader)?];
    check_types(types)?;
    let a = types[1];
    let pairs = shape.m == 8 && shape.k == 4 && a == Element::F16;
    let bits = shape.k * a.bits();
    let known = match (shape.m, shape.n, a) {
        (8, 8, Element::F16 | Element::F64) => shape.k == 4,
        (16, 8, Element::F64) => matches!(shape.k, 4 | 8 | 16),
        (8, 8, Element::S8 | Element::U8 | Element::S4 | Element::U4) => bits == 128,
        (16, 8, _) => matches!(bits, 128 | 256),
        _ => false,
    };
    if !known || !pairs && (a_columns || !b_columns) {
        return Err("unknown shape or layout".to_owned());
    }
    let (first, second) = (Layout::PairFirst(!a_columns), Layout::PairSecond(b_columns));
    let (groups, layouts) = if pairs {
        (4, [first, second, Layout::PairSum])
    } else {
        (1, [Layout::First, Layout::Second, Layout::Sum])
    };
    multiply((shape, groups), types, layouts, saturate, reader)
}

/// `d = a * b + c`, of these types. The layouts are those of `a`, of `b`, and of `c` and `d`.
fn multiply(
    shape: (Shape, usize),
    [d, a, b, c]: [Element; 4],
    [first, second, sum]: [Layout; 3],
    saturate: bool,
    reader: &mut Reader<'_, '_>,
) -> Result<MatrixOp> {
    Ok(MatrixOp::Multiply(Multiply {
        d: fragment(shape, 'c', d, sum, 0, reader)?,
        a: fragment(shape, 'a', a, first, 1, reader)?,
        b: fragment(shape, 'b', b, second, 2, reader)?,
        c: fragment(shape, 'c', c, sum, 3, reader)?,
        saturate,
    }))
}

/// Whether these types go together.
fn check_types([d, a, b, c]: [Element; 4]) -> Result<()> {
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

fn wmma(reader: &mut Reader<'_, '_>) -> Result<MatrixOp> {
    let shape = shape(reader)?;
    column_major(reader)?;
    column_major(reader)?;
    let saturate = reader.take("satfinite");
    reader.ignore(&["rn"]);
    let (d, second) = (element(reader)?, element(reader)?);
    let types = match reader.take_first(&ELEMENTS) {
        None => [d, Element::F16, Element::F16, second],
        Some(b) => [d, second, b, element(reader)?],
    };
    check_types(types)?;
    check_tiles(shape)?;
    multiply((shape, 1), types, [Layout::Linear; 3], saturate, reader)
}

fn check_tiles(shape: Shape) -> Result<()> {
    match (shape.m, shape.n, shape.k) {
        (16, 16, 16 | 8) | (8, 32, 16) | (32, 8, 16) | (8, 8, 4 | 32) => Ok(()),
        _ => Err("unknown shape".to_owned()),
    }
}

/// `wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {..}, [p], stride` and `wmma.store.d`
fn tile(store: bool, reader: &mut Reader<'_, '_>) -> Result<MatrixOp> {
    let roles = [("a", 'a'), ("b", 'b'), ("c", 'c'), ("d", 'c')];
    let role = reader.first_of(&roles, "`.a`, `.b`, `.c` or `.d` is missing")?;
    let column_major = column_major(reader)?;
    let shape = shape(reader)?;
    check_tiles(shape)?;
    let space = reader.space(&["global", "shared", "shared::cta"]);
    let element = element(reader)?;
    if element.bits() < 8 {
        return Err("elements of less than a byte are not supported here".to_owned());
    }
    let (values, address) = if store { (1, 0) } else { (0, 1) };
    let (address, space) = reader.address(address, space.unwrap_or(Space::Generic))?;
    let fragment = fragment((shape, 1), role, element, Layout::Linear, values, reader)?;
    let stride = match reader.operands.get(2) {
        Some(_) => reader.source32(2)?,
        None if column_major => reader.scope.constant32(fragment.rows as u32),
        None => reader.scope.constant32(fragment.columns as u32),
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

/// The first factor `a`, the second `b`, or the sum `c`, in the registers of an operand. `groups` is the number of
/// matrices.
fn fragment(
    (Shape { m, n, k }, groups): (Shape, usize),
    role: char,
    element: Element,
    layout: Layout,
    operand: usize,
    reader: &mut Reader<'_, '_>,
) -> Result<Fragment> {
    let (rows, columns) = match role {
        'a' => (m, k),
        'b' => (k, n),
        _ => (m, n),
    };
    let slots = slots(operand, if element.is_wide() { Type::B64 } else { Type::B32 }, reader)?;
    let held = 32 * slots.len() * element.per_slot();
    let needed = rows * columns * groups;
    let enough = match layout {
        Layout::Linear => held >= needed && held <= MAX_ELEMENTS && held.is_multiple_of(needed),
        Layout::First | Layout::Second | Layout::Sum => held == needed,
        Layout::PairFirst(_) | Layout::PairSecond(_) | Layout::PairSum => held == needed,
    };
    if !enough {
        return Err(format!("{} registers are not what the shape needs", slots.len()));
    }
    Ok(Fragment {
        rows,
        columns,
        groups,
        element,
        layout,
        slots,
    })
}

/// The registers of an operand: targets, some of which may be `_`, if it is the first operand, else sources.
fn slots(operand: usize, ty: Type, reader: &mut Reader<'_, '_>) -> Result<Box<[Slot]>> {
    let slot = |register| match operand {
        0 => reader.scope.target_or_none(register, ty),
        _ => reader.scope.source(register, ty),
    };
    elements(reader.operands.get(operand).ok_or("an operand is missing")?)
        .iter()
        .map(slot)
        .collect()
}

/// `ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {..}, [p]` and `stmatrix`
fn rows(store: bool, reader: &mut Reader<'_, '_>) -> Result<MatrixOp> {
    reader.expect("m8n8")?;
    let count = reader.one_of(&[("x1", 1), ("x2", 2), ("x4", 4)], "`.x1`, `.x2` or `.x4` is missing")?;
    let transposed = reader.take("trans");
    let space = reader.space(&["shared", "shared::cta"]).unwrap_or(Space::Generic);
    reader.expect("b16")?;
    let (values, address) = if store { (1, 0) } else { (0, 1) };
    let (address, space) = reader.address(address, space)?;
    reader.parts(values, count)?;
    Ok(MatrixOp::Rows(MatrixRows {
        store,
        transposed,
        space,
        address,
        values: slots(values, Type::B32, reader)?,
    }))
}
