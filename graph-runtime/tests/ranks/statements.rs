//! Every statement equals plain Rust, for every type and several numbers of ranks. (`f16` and `bf16` are memory only
//! with a feature of `half`: a unit test of `number.rs` has their arithmetic.)

use super::{RANKS, on_ranks};
use graph_runtime::OnDevice;
use graph_runtime::{
    Communicator, Device, Element, Exchange, GraphBuilder, NodeId, Place, Reducible, Reduction, Result,
};

/// A reduction, and what it does to two numbers.
type Operation<T> = (Reduction, fn(T, T) -> T);

/// The length of a part.
const LEN: usize = 6;

/// The numbers of a rank: small, and different everywhere.
fn numbers<T>(rank: usize, len: usize, of: impl Fn(f64) -> T) -> Vec<T> {
    (0..len)
        .map(|index| of(((rank * 7 + index * 3) % 11) as f64 + 1.0))
        .collect()
}

/// Builds and runs a graph with two pieces of memory: `input`, which is filled, and `output`, which is returned.
fn run<T: Element>(
    device: &Device,
    input: &[T],
    output: usize,
    add: impl FnOnce(&mut GraphBuilder, &mut Place<[T], OnDevice>, &mut Place<[T], OnDevice>) -> NodeId,
) -> Result<(Vec<T>, Vec<T>)> {
    let mut builder = GraphBuilder::new(device, "Test");
    let mut from = builder.device_slice::<T>("input", input.len());
    let mut to = builder.device_slice::<T>("output", output);
    add(&mut builder, &mut from, &mut to);
    let mut graph = builder.build()?;
    graph.device_mut(&from)?.copy_from(input)?;
    graph.launch()?;
    Ok((graph.device(&from)?.read_vec()?, graph.device(&to)?.read_vec()?))
}

/// Combines the numbers of all ranks in plain Rust.
fn reduced<T: Copy>(all: &[Vec<T>], combine: impl Fn(T, T) -> T) -> Vec<T> {
    let mut rest = all.iter();
    let first = rest.next().unwrap().clone();
    rest.fold(first, |sum, other| {
        sum.iter().zip(other).map(|(&a, &b)| combine(a, b)).collect()
    })
}

fn check<T>(of: impl Fn(f64) -> T + Sync + Copy, operations: [Operation<T>; 4], share: fn(T, usize) -> T)
where
    T: Element + Reducible + PartialEq + std::fmt::Debug,
{
    for ranks in RANKS {
        let all: Vec<Vec<T>> = (0..ranks).map(|rank| numbers(rank, LEN, of)).collect();
        let wholes: Vec<Vec<T>> = (0..ranks).map(|rank| numbers(rank, LEN * ranks, of)).collect();
        let sums = reduced(&all, operations[0].1);
        let average: Vec<T> = sums.iter().map(|&sum| share(sum, ranks)).collect();
        let mut cases: Vec<(Reduction, Vec<T>, Vec<T>)> = operations
            .iter()
            .map(|&(reduction, combine)| (reduction, reduced(&all, combine), reduced(&wholes, combine)))
            .collect();
        let whole_average = reduced(&wholes, operations[0].1);
        let whole_average = whole_average.iter().map(|&sum| share(sum, ranks)).collect();
        cases.push((Reduction::Avg, average, whole_average));
        on_ranks(ranks, |device, world| {
            let rank = world.rank();
            for (reduction, expected, whole) in &cases {
                let (got, _) = run(device, &all[rank], 1, |builder, from, _| {
                    builder.all_reduce("reduce", *reduction, from, &world)
                })
                .unwrap();
                assert_eq!(got, *expected, "{reduction:?} of {ranks}");
                let scattered = scatter(device, &world, *reduction, &wholes[rank]).unwrap();
                assert_eq!(
                    scattered,
                    whole[rank * LEN..][..LEN],
                    "{reduction:?} of {ranks}, scattered"
                );
            }
            move_around(device, &world, &all).unwrap();
        });
    }
}

fn scatter<T: Element + Reducible>(
    device: &Device,
    world: &Communicator,
    reduction: Reduction,
    whole: &[T],
) -> Result<Vec<T>> {
    let mut builder = GraphBuilder::new(device, "Scatter");
    let from = builder.device_slice::<[T; LEN]>("whole", world.size());
    let mut to = builder.device::<[T; LEN]>("part");
    builder.reduce_scatter("scatter", reduction, &from, &mut to, world);
    let mut graph = builder.build()?;
    graph.device_mut(&from)?.copy_from(bytemuck::cast_slice(whole))?;
    graph.launch()?;
    graph.device(&to)?.read().map(|part| part.to_vec())
}

/// The statements that only move memory.
fn move_around<T: Element + PartialEq + std::fmt::Debug>(
    device: &Device,
    world: &Communicator,
    all: &[Vec<T>],
) -> Result<()> {
    let (rank, ranks) = (world.rank(), world.size());
    let mut builder = GraphBuilder::new(device, "Move");
    let mut part = builder.device::<[T; LEN]>("part");
    let mut whole = builder.device_slice::<[T; LEN]>("whole", ranks);
    let mut next = builder.device::<[T; LEN]>("next");
    let gather = builder.all_gather("gather", &part, &mut whole, world);
    let moves = [
        Exchange::send(&part, world.next()),
        Exchange::recv(&mut next, world.previous()),
    ];
    let ring = builder.exchange("ring", moves, world);
    let last = ranks - 1;
    let broadcast = builder.broadcast("broadcast", &mut part, last, world);
    builder.after(ring, &[gather]);
    builder.after(broadcast, &[ring]);
    let mut graph = builder.build()?;
    let own: [T; LEN] = all[rank].clone().try_into().unwrap();
    graph.device_mut(&part)?.copy_from(&own)?;
    graph.launch()?;
    assert_eq!(graph.device(&whole)?.read_vec()?.concat(), all.concat());
    assert_eq!(graph.device(&next)?.read()?.to_vec(), all[world.previous()]);
    assert_eq!(graph.device(&part)?.read()?.to_vec(), all[last]);
    Ok(())
}

macro_rules! integers {
    ($($type:ident)*) => {$(
        #[test]
        fn $type() {
            let operations: [Operation<$type>; 4] = [
                (Reduction::Sum, <$type>::wrapping_add),
                (Reduction::Prod, <$type>::wrapping_mul),
                (Reduction::Min, |a, b| a.min(b)),
                (Reduction::Max, |a, b| a.max(b)),
            ];
            check(|number| number as $type, operations, |sum, ranks| sum / ranks as $type);
        }
    )*};
}
integers! { i8 u8 i32 u32 i64 u64 }

macro_rules! floats {
    ($($type:ident $of:expr;)*) => {$(
        #[test]
        fn $type() {
            let operations: [Operation<$type>; 4] = [
                (Reduction::Sum, |a, b| a + b),
                (Reduction::Prod, |a, b| a * b),
                (Reduction::Min, |a, b| a.min(b)),
                (Reduction::Max, |a, b| a.max(b)),
            ];
            check(|number| $of(number / 3.0), operations, |sum, ranks| sum / $of(ranks as f64));
        }
    )*};
}
floats! {
    f32 |number: f64| number as f32;
    f64 |number: f64| number;
}

#[test]
fn communicators_split() {
    on_ranks(6, |device, world| {
        assert_eq!(
            (world.next(), world.previous()),
            ((world.rank() + 1) % 6, (world.rank() + 5) % 6)
        );
        // Rows of three, in reverse order; then columns of two.
        let row = world.split(world.rank() / 3, 5 - world.rank()).unwrap();
        assert_eq!((row.rank(), row.size()), (2 - world.rank() % 3, 3));
        let column = world.split(world.rank() % 3, 0).unwrap();
        assert_eq!((column.rank(), column.size()), (world.rank() / 3, 2));
        let mut builder = GraphBuilder::new(device, "Split");
        let mut x = builder.device::<[u32; 2]>("x");
        let mut y = builder.device::<[u32; 2]>("y");
        let set = builder.memset("set", &mut x, 1 << world.rank());
        let copy = builder.memcpy("copy", &x, &mut y);
        let of_row = builder.all_reduce("of_row", Reduction::Sum, &mut x, &row);
        let of_column = builder.all_reduce("of_column", Reduction::Sum, &mut y, &column);
        builder.after(copy, &[set]);
        builder.after(of_row, &[copy]);
        builder.after(of_column, &[of_row]);
        let mut graph = builder.build().unwrap();
        graph.launch().unwrap();
        let rows = if world.rank() < 3 { 0b111 } else { 0b111_000 };
        assert_eq!(*graph.device(&x).unwrap().read().unwrap(), [rows; 2]);
        assert_eq!(
            *graph.device(&y).unwrap().read().unwrap(),
            [0b1001 << (world.rank() % 3); 2]
        );
    });
}

#[test]
fn one_process_is_a_communicator_of_its_own() {
    let world = Communicator::from_env(&Device::emulator()).unwrap();
    assert_eq!(
        (world.rank(), world.size(), world.next(), world.previous()),
        (0, 1, 0, 0)
    );
}

#[test]
fn sums_are_equal_in_every_run() {
    let sum = || {
        on_ranks(5, |device, world| {
            let input: Vec<f32> = numbers(world.rank(), 64, |number| (number / 7.0) as f32);
            let (got, _) = run(device, &input, 1, |builder, from, _| {
                builder.all_reduce("sum", Reduction::Sum, from, &world)
            })
            .unwrap();
            got
        })
    };
    let first = sum();
    assert!(first.iter().all(|one| *one == first[0]), "the same on all ranks");
    for _ in 0..5 {
        assert_eq!(sum(), first);
    }
}
