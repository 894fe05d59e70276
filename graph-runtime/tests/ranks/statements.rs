//! Every statement equals plain Rust, for every type and several numbers of ranks.

use super::common::wants_cuda;
use super::{at_most, on_ranks, ranks};
use graph_runtime::OnDevice;
use graph_runtime::{
    Communicator, Device, Element, Error, Exchange, GraphBuilder, NodeId, Place, Reducible, Reduction, Result,
};
use half::{bf16, f16};

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
    for &ranks in ranks() {
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
    f16 |number: f64| f16::from_f64(number);
    bf16 |number: f64| bf16::from_f64(number);
}

/// Amounts of one and of several blocks and rounds, and parts that begin and end anywhere.
#[test]
fn amounts_of_every_size() {
    let amounts = [(1, 0, 1), (1000, 3, 998), (70_000, 1, 69_999), (700_000, 0, 700_000)];
    // The emulator has no rounds, and is slow.
    let amounts = &amounts[..if wants_cuda() { 4 } else { 3 }];
    for &ranks in ranks() {
        for &(len, start, end) in amounts {
            let input = |rank: usize| numbers(rank, len, |number| number as u16 as u32);
            let all: Vec<Vec<u32>> = (0..ranks).map(input).collect();
            let sums = reduced(&all, u32::wrapping_add);
            on_ranks(ranks, |device, world| {
                let rank = world.rank();
                let mut builder = GraphBuilder::new(device, "Amount");
                let x = builder.device_slice::<u32>("x", len);
                let from = builder.device_slice::<u32>("from", len);
                let mut whole = builder.device_table::<u32, 2>("whole", [ranks, len]);
                let reduce = builder.all_reduce("sum", Reduction::Sum, &mut x.rows(start..end), &world);
                let gather = builder.all_gather("gather", &from, &mut whole, &world);
                builder.after(gather, &[reduce]);
                let mut graph = builder.build().unwrap();
                graph.device_mut(&x).unwrap().copy_from(&all[rank]).unwrap();
                graph.device_mut(&from).unwrap().copy_from(&all[rank]).unwrap();
                graph.launch().unwrap();
                let mut expected = all[rank].clone();
                expected[start..end].copy_from_slice(&sums[start..end]);
                let got = graph.device(&x).unwrap().read_vec().unwrap();
                assert!(got == expected, "{start}..{end} of {len}, {ranks} ranks");
                let got = graph.device(&whole).unwrap().read_vec().unwrap();
                assert!(got == all.concat(), "{len}, {ranks} ranks");
            });
        }
    }
}

/// Parts that are sent to a rank, of which one is sent to itself, and some take several rounds.
#[test]
fn exchanges_of_every_kind() {
    const LENS: [usize; 3] = [5, 3000, 90_001];
    let of = |rank: usize, part: usize| -> Vec<u8> {
        let bytes = (0..LENS[part]).map(|index| (rank * 31 + part * 7 + index * 3) as u8);
        bytes.collect()
    };
    for &ranks in ranks() {
        on_ranks(ranks, |device, world| {
            let rank = world.rank();
            let mut builder = GraphBuilder::new(device, "Exchange");
            let mut memory = |name: &str| -> Vec<Place<[u8], OnDevice>> {
                let lens = LENS.iter().enumerate();
                lens.map(|(part, &len)| builder.device_slice::<u8>(format!("{name}{part}"), len))
                    .collect()
            };
            let (sent, mut received) = (memory("sent"), memory("received"));
            let to = [world.next(), rank, world.next()];
            let from = [world.previous(), rank, world.previous()];
            let sends = sent.iter().zip(to).map(|(part, to)| Exchange::send(part, to));
            let receives = received.iter_mut().zip(from);
            let receives = receives.map(|(part, from)| Exchange::recv(part, from));
            let moves: Vec<Exchange> = sends.chain(receives).collect();
            builder.exchange("exchange", moves, &world);
            let mut graph = builder.build().unwrap();
            for (part, sent) in sent.iter().enumerate() {
                graph.device_mut(sent).unwrap().copy_from(&of(rank, part)).unwrap();
            }
            for _ in 0..3 {
                graph.launch().unwrap();
            }
            for (part, received) in received.iter().enumerate() {
                let got = graph.device(received).unwrap().read_vec().unwrap();
                assert!(got == of(from[part], part), "part {part}, {ranks} ranks");
            }
        });
    }
}

/// A rank that launches again and again, without waiting for the others.
#[test]
fn ranks_may_be_launches_ahead() {
    const LAUNCHES: u32 = 120;
    on_ranks(*ranks().last().unwrap(), |device, world| {
        let ranks = world.size() as u32;
        let mut builder = GraphBuilder::new(device, "Ahead");
        let mut x = builder.device::<[u32; 64]>("x");
        let mut whole = builder.device_slice::<[u32; 64]>("whole", world.size());
        let sum = builder.all_reduce("sum", Reduction::Max, &mut x, &world);
        let gather = builder.all_gather("gather", &x, &mut whole, &world);
        let share = builder.reduce_scatter("share", Reduction::Sum, &whole, &mut x, &world);
        builder.after(gather, &[sum]);
        builder.after(share, &[gather]);
        let mut graph = builder.build().unwrap();
        graph.device_mut(&x).unwrap().copy_from(&[1; 64]).unwrap();
        for launch in 0..LAUNCHES {
            if world.rank() == 0 && launch % 10 == 3 {
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
            graph.launch().unwrap();
        }
        let expected = (0..LAUNCHES).fold(1_u32, |x, _| x.wrapping_mul(ranks));
        assert_eq!(*graph.device(&x).unwrap().read().unwrap(), [expected; 64]);
    });
}

/// Memory that graphs share is replaced.
#[test]
fn collectives_follow_rebinding() {
    on_ranks(2, |device, world| {
        let buffers = [5, 7].map(|value: u32| {
            let buffer = device.alloc::<[u32; 40]>().unwrap();
            buffer.copy_from(&[value + world.rank() as u32; 40]).unwrap();
            buffer
        });
        let mut builder = GraphBuilder::new(device, "Rebind");
        let mut x = builder.shared("x", &buffers[0], true);
        builder.all_reduce("sum", Reduction::Sum, &mut x, &world);
        let mut graph = builder.build().unwrap();
        graph.launch().unwrap();
        graph.synchronize().unwrap();
        let rebound = graph.rebind(&x, &buffers[1]);
        if super::by_nccl() {
            assert!(matches!(rebound, Err(Error::Unsupported { .. })), "{rebound:?}");
            return;
        }
        rebound.unwrap();
        graph.launch().unwrap();
        graph.synchronize().unwrap();
        assert_eq!(*buffers[0].read().unwrap(), [11; 40]);
        assert_eq!(*buffers[1].read().unwrap(), [15; 40]);
    });
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
        on_ranks(at_most(5), |device, world| {
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
