//! Memory of children, their own and given to them: random numbers, scratch memory, memory arguments, type
//! parameters, lengths that only building tells.

use crate::common::*;
use std::collections::BTreeSet;

cuda_graph! {
    /// Two uses of one generator.
    graph Dice {
        rng    noise = 1, draws 4;
        device log: [u64; 100];

        kernel one = log_offset<<<1, 1>>>(&noise, &mut log);
        kernel two = log_offset<<<1, 1>>>(&noise, &mut log) after one;
    }

    graph Throws {
        device log: [u64; 100];
        device other: [u64; 100];

        graph first  = Dice(log: &mut log);
        graph second = Dice(log: &mut log) after first;
        graph third  = Dice(log: &mut other);
    }
}

#[test]
fn children_have_generators_of_their_own_also_in_loops() -> Result<()> {
    let graph = launched(launched(Throws::build(&device())))?;
    // Two uses of 4 numbers: offsets 0 and 4 in the first launch, 8 and 12 in the second.
    let expected = [0, 4, 0, 4, 8, 12, 8, 12];
    assert_eq!(entries(&*graph.log()?.read()?), expected);
    assert_eq!(entries(&*graph.other()?.read()?), [0, 4, 8, 12]);

    let graph = launched(launched(Game::build(&device())))?;
    let offsets = entries(&*graph.log()?.read()?);
    assert_eq!(offsets.len(), 8);
    let distinct: BTreeSet<u64> = offsets.iter().copied().collect();
    assert_eq!(distinct.len(), 8, "no two uses draw the same numbers: {offsets:?}");
    Ok(())
}

cuda_graph! {
    /// A node that takes random numbers and a param.
    graph Scaled {
        rng    noise = 1, draws 4;
        device log: [u64; 100];
        param  factor: u32 = 1;

        for i in 0..2 {
            kernel scaled = log_scaled<<<1, 1>>>(&noise, &mut log, factor + i as u32);
        }
    }
}

#[test]
fn params_of_nodes_with_random_numbers_are_set_in_children() -> Result<()> {
    let mut graph = launched(cuda_graph! { &device() =>
        device log: [u64; 100];
        param  by: u32 = 1;

        graph first  = Scaled(log: &mut log);
        graph second = Scaled(log: &mut log, factor: by * 10) after first;
    })?;
    graph.set_by(2)?;
    graph.launch()?;
    // Offsets 0 and 4, then 8 and 12.
    let expected = [0, 4 * 2, 0, 4 * 11, 8, 12 * 2, 8 * 20, 12 * 21];
    assert_eq!(entries(&*graph.log()?.read()?), expected);
    Ok(())
}

cuda_graph! {
    /// A generator in a `while`, in a child.
    graph Rolls {
        rng    noise = 1, draws 3;
        device log:  [u64; 100];
        device left: u32;

        while more = left {
            kernel roll = log_offset<<<1, 1>>>(&noise, &mut log);
            kernel less = count_down<<<1, 1>>>(&mut left) after roll;
        };
        kernel last = log_offset<<<1, 1>>>(&noise, &mut log) after more;
    }

    graph Game {
        device log:  [u64; 100];
        device left: u32;

        memset rounds = left <- 3;
        graph rolls = Rolls(log: &mut log, left: &mut left) after rounds;
    }
}

cuda_graph! {
    /// Memory arguments: weights that it reads, sums that it writes.
    graph Layer<const N: usize>(weights: device [u32; N], sums: mut device [u32; N]) {
        scratch twice: [u32; N];

        memset clear = twice <- 0;
        kernel first = accumulate<<<1, N>>>(&weights, &mut twice) after clear;
        kernel again = accumulate<<<1, N>>>(&weights, &mut twice) after first;
        kernel save  = accumulate<<<1, N>>>(&twice, &mut sums) after again;
    }

    graph Network(weights: device [u32; 8], sums: mut device [u32; 8]) {
        device own: [u32; 8];

        graph shared = Layer::<8>(weights: &weights, sums: &mut sums);
        graph mixed  = Layer::<8>(weights: &weights, sums: &mut own);
        kernel total = accumulate<<<1, 8>>>(&own, &mut sums) after shared, mixed;
    }
}

#[test]
fn memory_arguments_of_children_are_bound_to_shared_and_to_own_memory() -> Result<()> {
    let device = device();
    let buffer = |value| -> Result<DeviceBuffer<[u32; 8]>> {
        let buffer = device.alloc::<[u32; 8]>()?;
        buffer.copy_from(&[value; 8])?;
        Ok(buffer)
    };
    let (weights, sums) = (buffer(3)?, buffer(100)?);
    let mut graph = launched(Network::build(&device, &weights, &sums))?;
    assert_eq!((*sums.read()?, *graph.own()?.read()?), ([112; 8], [6; 8]));

    // Nodes within the children get the other memory.
    let (heavier, others) = (buffer(5)?, buffer(0)?);
    graph.rebind_weights(&heavier)?;
    graph.rebind_sums(&others)?;
    graph.launch()?;
    assert_eq!((*others.read()?, *graph.own()?.read()?), ([26; 8], [16; 8]));
    assert_eq!(*sums.read()?, [112; 8], "it has been let go of");
    Ok(())
}

cuda_graph! {
    graph Swap<T: Element, const N: usize> {
        device left:  [T; N];
        device right: [T; N];
        scratch middle: [T; N];

        memcpy out  = left -> middle;
        memcpy over = right -> left after out;
        memcpy back = middle -> right after over;
    }

    graph Swaps<A: Element, B: Element, const N: usize> {
        device a: [A; N];
        device b: [A; N];
        device c: [B; 2];
        device d: [B; 2];

        graph first  = Swap::<A, N>(left: &mut a, right: &mut b);
        graph second = Swap::<B, 2>(left: &mut c, right: &mut d);
    }
}

#[test]
fn types_and_lengths_reach_children() -> Result<()> {
    let mut graph = Swaps::<u8, f64, 5>::build(&device())?;
    graph.a_mut()?.copy_from(&[1; 5])?;
    graph.d_mut()?.copy_from(&[2.5, 3.5])?;
    graph.launch()?;
    assert_eq!((*graph.a()?.read()?, *graph.b()?.read()?), ([0; 5], [1; 5]));
    assert_eq!((*graph.c()?.read()?, *graph.d()?.read()?), ([2.5, 3.5], [0.0; 2]));

    let graph = launched(Sums::build(&device(), 6, 3))?;
    assert_eq!(graph.out()?.read_vec()?, [6; 6]);
    assert_eq!(graph.sums()?.read_vec()?, [0, 0, 0, 12, 12, 12]);

    let error = refused(Sums::build(&device(), 6, 4)); // two elements are not four
    assert!(matches!(error, Error::Invalid { .. }), "{error}");
    Ok(())
}

cuda_graph! {
    /// Lengths and scratch that only building tells.
    graph Sum(len: usize, times: u32) {
        device input:  [u32; len];
        device output: [u32; len];
        scratch sum:   [u32; len];

        memset clear = sum <- 0;
        for i in 0..times as usize {
            kernel add = accumulate<<<1, len>>>(&input, &mut sum) after clear;
        }
        memcpy save = sum -> output after add;
    }

    graph Sums(len: usize, half: usize) {
        device data: [u32; len];
        device out:  [u32; len];
        device sums: [u32; len];

        memset set = data <- 2;
        graph whole = Sum(input: &data, output: &mut out, len: len, times: 3) after set;
        graph part  = Sum(input: &out[..half], output: &mut sums[half..], len: half, times: 2) after whole;
    }
}

cuda_graph! {
    /// Scratch of its own beside that of children, of which two run at once.
    graph Network2(weights: device [u32; 80], sums: mut device [u32; 80]) {
        scratch before: [u32; 100];
        device one: [u32; 80];
        device two: [u32; 80];

        memset start = before <- 1;
        memcpy seed  = before[..80] -> one                                   after start;
        graph first  = Layer::<80>(weights: &weights, sums: &mut one)        after seed;
        graph other  = Layer::<80>(weights: &weights, sums: &mut two)        after seed;
        graph last   = Layer::<80>(weights: &one, sums: &mut sums)           after first, other;
    }

    graph Deep(weights: device [u32; 80], sums: mut device [u32; 80]) {
        device one: [u32; 80];
        device two: [u32; 80];

        graph inner = Network2(weights: &weights, sums: &mut sums, one: &mut one, two: &mut two);
    }
}

#[test]
fn the_static_plan_counts_the_scratch_memory_of_children() -> Result<()> {
    let layer = 512; // 320 bytes, in units of 256
    assert_eq!(Layer::<80>::PLAN.arena(), layer);
    assert_eq!(Network2::PLAN.arena(), 2 * layer); // two at once; what was before is where one of them is
    assert_eq!(Deep::PLAN.arena(), 2 * layer);
    assert_eq!(Network::PLAN.arena(), 2 * 256);
    assert_eq!(Swaps::<u8, f64, 5>::PLAN.arena(), 2 * 256);
    assert_eq!(Sums::PLAN.arena().bytes(), None, "only building knows");
    assert_eq!(Sums::PLAN.arena().to_string(), "unknown");
    let device = device();
    let (weights, sums) = (device.alloc::<[u32; 80]>()?, device.alloc::<[u32; 80]>()?);
    weights.copy_from(&[2; 80])?;
    let _graph = launched(Deep::build(&device, &weights, &sums))?;
    assert_eq!(*sums.read()?, [10; 80]);
    Ok(())
}
