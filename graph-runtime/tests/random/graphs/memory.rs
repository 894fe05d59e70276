//! The memory of a random graph in a `GraphBuilder`, and what it holds.

use super::program::{Area, COLUMNS, MEMORIES, RNGS, ROWS, SCRATCH, SHARED, SHARED_RNG, Space, TABLES, Window};
use crate::common::*;

type Grid<T> = [[T; COLUMNS]; ROWS];

/// The place of a memory: of constant lengths, or of lengths that its type does not tell.
enum Whole<T, M> {
    Grid(Place<Grid<T>, M>),
    Table(Place<Table<T>, M>),
}

impl<T, M> Clone for Whole<T, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, M> Copy for Whole<T, M> {}

impl<T: Element, M> Whole<T, M> {
    /// A part of a row.
    fn part(self, area: &Area) -> Place<[T], M> {
        match self {
            Self::Grid(place) => place.row(area.row).rows(columns(area)),
            Self::Table(place) => place.row(area.row).rows(columns(area)),
        }
    }

    fn rectangle(self, area: &Area) -> Rectangle<Table<T>, M> {
        let rows = area.row..area.row + area.rows;
        match self {
            Self::Grid(place) => place.rectangle_of(rows, columns(area)),
            Self::Table(place) => place.rectangle_of(rows, columns(area)),
        }
    }
}

/// A memory of elements of one type.
#[derive(Clone, Copy)]
enum Side<T> {
    Device(Whole<T, OnDevice>),
    Host(Whole<T, OnHost>),
}

/// A memory.
#[derive(Clone, Copy)]
enum Handle {
    Bytes(Side<u8>),
    Halves(Side<u16>),
    Words(Side<u32>),
}

/// The memory that two graphs share.
pub(crate) struct Shared {
    device: DeviceBuffer<Table<u32>>,
    host: SharedHost<Grid<u32>>,
    /// The generator of the `rng` that both share.
    pub(crate) generator: Generator,
}

impl Shared {
    pub(crate) fn new(device: &Device) -> Result<Self> {
        Ok(Self {
            device: device.alloc_table([ROWS, COLUMNS])?,
            host: device.alloc_host::<Grid<u32>>()?.share(),
            generator: device.generator(RNGS[SHARED_RNG].0)?,
        })
    }
}

/// All memory of a graph.
pub(crate) struct Handles(Vec<Handle>);

impl Handles {
    pub(crate) fn declare(builder: &mut GraphBuilder, shared: &Shared) -> Self {
        let declare = |memory: usize| match (memory, MEMORIES[memory].size) {
            (memory, _) if memory == SHARED[0] => {
                let place = builder.shared("shared", &shared.device, true);
                Handle::Words(Side::Device(Whole::Table(place)))
            }
            (memory, _) if memory == SHARED[1] => {
                let place = builder.shared("shared_host", &shared.host, true);
                Handle::Words(Side::Host(Whole::Grid(place)))
            }
            (_, 1) => Handle::Bytes(side(builder, memory)),
            (_, 2) => Handle::Halves(side(builder, memory)),
            _ => Handle::Words(side(builder, memory)),
        };
        Self((0..MEMORIES.len()).map(declare).collect())
    }

    /// Part of a row of words on the device.
    pub(crate) fn words(&self, area: &Area) -> Place<[u32], OnDevice> {
        let (Handle::Words(Side::Device(place)), 1) = (self.0[area.memory], area.rows) else {
            panic!("{area:?} is no row of words on the device");
        };
        place.part(area)
    }

    /// The call of a kernel whose memory may not be given.
    pub(crate) fn step_with(&self, from: &Area, more: &Area, given: bool, to: &Area) -> KernelCall<3> {
        let (from, mut to) = (self.words(from), self.words(to));
        match given {
            true => step_with::call(&from, &self.words(more), &mut to),
            false => step_with::call(&from, None, &mut to),
        }
    }

    /// As above, on the host.
    pub(crate) fn host(&self, area: &Area) -> Place<[u32], OnHost> {
        let (Handle::Words(Side::Host(place)), 1) = (self.0[area.memory], area.rows) else {
            panic!("{area:?} is no row of words on the host");
        };
        place.part(area)
    }

    /// The flag that a condition reads.
    pub(crate) fn flag(&self, area: &Area) -> Place<u32, OnDevice> {
        self.words(area).row(0)
    }

    pub(crate) fn copy(&self, builder: &mut GraphBuilder, name: String, from: &Area, to: &Area) -> NodeId {
        match (self.0[from.memory], self.0[to.memory]) {
            (Handle::Bytes(a), Handle::Bytes(b)) => copy(builder, name, (a, from), (b, to)),
            (Handle::Halves(a), Handle::Halves(b)) => copy(builder, name, (a, from), (b, to)),
            (Handle::Words(a), Handle::Words(b)) => copy(builder, name, (a, from), (b, to)),
            _ => panic!("{from:?} and {to:?} have different elements"),
        }
    }

    /// A copy of a part of `from` to the same part of `to`, which updates choose.
    pub(crate) fn copy_part(
        &self,
        builder: &mut GraphBuilder,
        name: String,
        (from, to): (&Area, &Area),
        part: Window,
    ) -> NodeId {
        match (self.0[from.memory], self.0[to.memory]) {
            (Handle::Bytes(a), Handle::Bytes(b)) => copy_part(builder, name, (a, from), (b, to), part),
            (Handle::Halves(a), Handle::Halves(b)) => copy_part(builder, name, (a, from), (b, to), part),
            (Handle::Words(a), Handle::Words(b)) => copy_part(builder, name, (a, from), (b, to), part),
            _ => panic!("{from:?} and {to:?} have different elements"),
        }
    }

    pub(crate) fn copy_other(
        &self,
        update: &mut Update<'_>,
        node: NodeId,
        (from, to): (&Area, &Area),
        part: Window,
    ) -> Result<()> {
        match (self.0[from.memory], self.0[to.memory]) {
            (Handle::Bytes(a), Handle::Bytes(b)) => copy_other(update, node, (a, from), (b, to), part),
            (Handle::Halves(a), Handle::Halves(b)) => copy_other(update, node, (a, from), (b, to), part),
            (Handle::Words(a), Handle::Words(b)) => copy_other(update, node, (a, from), (b, to), part),
            _ => panic!("{from:?} and {to:?} have different elements"),
        }
    }

    pub(crate) fn set_part(
        &self,
        builder: &mut GraphBuilder,
        name: String,
        to: &Area,
        value: u32,
        part: Window,
    ) -> NodeId {
        match self.0[to.memory] {
            Handle::Bytes(place) => set_part(builder, name, place, to, value as u8, part),
            Handle::Halves(place) => set_part(builder, name, place, to, value as u16, part),
            Handle::Words(place) => set_part(builder, name, place, to, value, part),
        }
    }

    pub(crate) fn set(&self, builder: &mut GraphBuilder, name: String, to: &Area, value: u32) -> NodeId {
        match self.0[to.memory] {
            Handle::Bytes(place) => set(builder, name, place, to, value as u8),
            Handle::Halves(place) => set(builder, name, place, to, value as u16),
            Handle::Words(place) => set(builder, name, place, to, value),
        }
    }

    /// Sets rows to the value and what follows it.
    pub(crate) fn pattern(&self, builder: &mut GraphBuilder, name: String, to: &Area, value: u32) -> NodeId {
        builder.memset(name, &mut self.rows(to), pattern(value))
    }

    pub(crate) fn reset_pattern(&self, update: &mut Update<'_>, node: NodeId, to: &Area, value: u32) -> Result<()> {
        update.memset(node, &self.rows(to), pattern(value))
    }

    /// Rows of words on the device.
    fn rows(&self, area: &Area) -> Place<[[u32; COLUMNS]], OnDevice> {
        let (Handle::Words(Side::Device(Whole::Grid(place))), COLUMNS) = (self.0[area.memory], area.columns) else {
            panic!("{area:?} is not made of rows of words on the device");
        };
        place.rows(area.row..area.row + area.rows)
    }

    /// Sets `to`, a part of what the node was declared with.
    pub(crate) fn reset(
        &self,
        update: &mut Update<'_>,
        node: NodeId,
        to: &Area,
        value: u32,
        declared: &Area,
    ) -> Result<()> {
        let rows = declared.rows > 1;
        match self.0[to.memory] {
            Handle::Bytes(place) => reset(update, node, place, to, value as u8, rows),
            Handle::Halves(place) => reset(update, node, place, to, value as u16, rows),
            Handle::Words(place) => reset(update, node, place, to, value, rows),
        }
    }

    /// Gives a memory that outlasts launches its contents.
    pub(crate) fn write(&self, graph: &mut Graph, shared: &Shared, memory: usize, bytes: &[u8]) -> Result<()> {
        if memory == SHARED[0] {
            return shared.device.copy_from(&bytemuck::pod_collect_to_vec(bytes));
        }
        if memory == SHARED[1] {
            *shared.host.write()? = grid(bytes);
            return Ok(());
        }
        match self.0[memory] {
            Handle::Bytes(place) => write(graph, place, bytes),
            Handle::Halves(place) => write(graph, place, bytes),
            Handle::Words(place) => write(graph, place, bytes),
        }
    }

    /// Its contents.
    pub(crate) fn read(&self, graph: &Graph, shared: &Shared, memory: usize) -> Result<Vec<u8>> {
        if memory == SHARED[0] {
            return Ok(bytemuck::cast_slice(&shared.device.read_vec()?).to_vec());
        }
        if memory == SHARED[1] {
            return Ok(bytemuck::bytes_of(&*shared.host.read()?).to_vec());
        }
        match self.0[memory] {
            Handle::Bytes(place) => read(graph, place),
            Handle::Halves(place) => read(graph, place),
            Handle::Words(place) => read(graph, place),
        }
    }
}

fn pattern(value: u32) -> [u32; COLUMNS] {
    std::array::from_fn(|column| value + column as u32)
}

fn columns(area: &Area) -> std::ops::Range<usize> {
    area.column..area.column + area.columns
}

fn grid<T: Element>(bytes: &[u8]) -> Grid<T> {
    let elements: Vec<T> = bytemuck::pod_collect_to_vec(bytes);
    std::array::from_fn(|row| std::array::from_fn(|column| elements[row * COLUMNS + column]))
}

fn side<T: Element>(builder: &mut GraphBuilder, memory: usize) -> Side<T> {
    let name = format!("m{memory}");
    // Some are the middle of larger ones.
    let middle = memory.is_multiple_of(3) && SCRATCH.contains(&memory);
    match (MEMORIES[memory].space, TABLES.contains(&memory)) {
        (Space::Device, false) => Side::Device(Whole::Grid(builder.device(name))),
        (Space::Device, true) => Side::Device(Whole::Table(builder.device_table(name, [ROWS, COLUMNS]))),
        (Space::Scratch, false) if middle => {
            let larger = builder.scratch::<[[T; COLUMNS]; 3 * ROWS]>(name);
            Side::Device(Whole::Grid(larger.rows_from::<ROWS>(ROWS)))
        }
        (Space::Scratch, true) if middle => {
            let larger = builder.scratch_table(name, [3, ROWS, COLUMNS]);
            Side::Device(Whole::Table(larger.row(1)))
        }
        (Space::Scratch, false) => Side::Device(Whole::Grid(builder.scratch(name))),
        (Space::Scratch, true) => Side::Device(Whole::Table(builder.scratch_table(name, [ROWS, COLUMNS]))),
        (Space::Host, false) => Side::Host(Whole::Grid(builder.host(name))),
        (Space::Host, true) => Side::Host(Whole::Table(builder.host_table(name, [ROWS, COLUMNS]))),
    }
}

/// Does something with two memories, each of which may be on the device or on the host.
macro_rules! on_both_sides {
    ($from:ident, $to:ident => $do:expr) => {
        match ($from, $to) {
            (Side::Device($from), Side::Device($to)) => $do,
            (Side::Device($from), Side::Host($to)) => $do,
            (Side::Host($from), Side::Device($to)) => $do,
            (Side::Host($from), Side::Host($to)) => $do,
        }
    };
}

/// Parts of a row are copied as such, all else as rectangles.
fn copy<T: Element>(
    builder: &mut GraphBuilder,
    name: String,
    (from, from_area): (Side<T>, &Area),
    (to, to_area): (Side<T>, &Area),
) -> NodeId {
    on_both_sides!(from, to => if from_area.rows == 1 {
        builder.memcpy(name, &from.part(from_area), &mut to.part(to_area))
    } else {
        builder.memcpy_2d(name, &from.rectangle(from_area), &mut to.rectangle(to_area))
    })
}

fn on_device<T>(place: Side<T>) -> Whole<T, OnDevice> {
    match place {
        Side::Device(place) => place,
        Side::Host(_) => panic!("memsets are on the device"),
    }
}

fn set<T: Element>(builder: &mut GraphBuilder, name: String, place: Side<T>, to: &Area, value: T) -> NodeId {
    let place = on_device(place);
    if to.rows == 1 {
        return builder.memset(name, &mut place.part(to), value);
    }
    builder.memset_2d(name, &mut place.rectangle(to), value)
}

fn reset<T: Element>(
    update: &mut Update<'_>,
    node: NodeId,
    place: Side<T>,
    to: &Area,
    value: T,
    rows: bool,
) -> Result<()> {
    let place = on_device(place);
    match rows {
        true => update.memset_2d(node, &place.rectangle(to), value),
        false => update.memset(node, &place.part(to), value),
    }
}

fn set_part<T: Element>(
    builder: &mut GraphBuilder,
    name: String,
    place: Side<T>,
    all: &Area,
    value: T,
    part: Window,
) -> NodeId {
    let (place, to) = (on_device(place), &all.part(part));
    if all.rows == 1 {
        return builder.memset_within(name, &mut place.part(to), value, &place.part(all));
    }
    builder.memset_2d_within(name, &mut place.rectangle(to), value, &place.rectangle(all))
}

/// Parts of a row are copied as such, all else as rectangles.
fn copy_part<T: Element>(
    builder: &mut GraphBuilder,
    name: String,
    (from, from_area): (Side<T>, &Area),
    (to, to_area): (Side<T>, &Area),
    part: Window,
) -> NodeId {
    let (from_part, to_part) = (&from_area.part(part), &to_area.part(part));
    on_both_sides!(from, to => if from_area.rows == 1 {
        let within = (&from.part(from_area), &to.part(to_area));
        builder.memcpy_within(name, &from.part(from_part), &mut to.part(to_part), within)
    } else {
        let within = (&from.rectangle(from_area), &to.rectangle(to_area));
        builder.memcpy_2d_within(
            name,
            &from.rectangle(from_part),
            &mut to.rectangle(to_part),
            within,
        )
    })
}

fn copy_other<T: Element>(
    update: &mut Update<'_>,
    node: NodeId,
    (from, from_area): (Side<T>, &Area),
    (to, to_area): (Side<T>, &Area),
    part: Window,
) -> Result<()> {
    let (from_part, to_part) = (&from_area.part(part), &to_area.part(part));
    on_both_sides!(from, to => if from_area.rows == 1 {
        update.memcpy(node, &from.part(from_part), &mut to.part(to_part))
    } else {
        update.memcpy_2d(node, &from.rectangle(from_part), &mut to.rectangle(to_part))
    })
}

fn write<T: Element>(graph: &mut Graph, place: Side<T>, bytes: &[u8]) -> Result<()> {
    match place {
        Side::Device(Whole::Grid(place)) => graph.device_mut(&place)?.copy_from(&grid(bytes))?,
        Side::Host(Whole::Grid(place)) => *graph.host_mut(&place)? = grid(bytes),
        Side::Device(Whole::Table(place)) => {
            let elements: Vec<T> = bytemuck::pod_collect_to_vec(bytes);
            graph.device_mut(&place)?.copy_from(&elements)?;
        }
        Side::Host(Whole::Table(place)) => {
            let elements: Vec<T> = bytemuck::pod_collect_to_vec(bytes);
            graph
                .host_table_mut(&place)?
                .as_flattened_mut()
                .copy_from_slice(&elements);
        }
    }
    Ok(())
}

fn read<T: Element>(graph: &Graph, place: Side<T>) -> Result<Vec<u8>> {
    let bytes = |grid: &Grid<T>| grid.iter().flat_map(|row| bytemuck::cast_slice(row)).copied().collect();
    Ok(match place {
        Side::Device(Whole::Grid(place)) => bytes(&*graph.device(&place)?.read()?),
        Side::Host(Whole::Grid(place)) => bytes(graph.host(&place)?),
        Side::Device(Whole::Table(place)) => bytemuck::cast_slice(&graph.device(&place)?.read_vec()?).to_vec(),
        Side::Host(Whole::Table(place)) => bytemuck::cast_slice(graph.host_table(&place)?.as_flattened()).to_vec(),
    })
}
