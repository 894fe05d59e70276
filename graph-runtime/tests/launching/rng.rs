//! Random numbers: fresh at each use, launch and iteration, the same for the same seed, and evenly spread.

use crate::common::*;
use std::collections::HashSet;

const THREADS: usize = 256;
const DRAWS: usize = 16;
const NUMBERS: usize = THREADS * DRAWS;

cuda_graph! {
    graph Numbers(seed: u64) {
        rng    noise = seed, draws 16;
        device first:  [u32; NUMBERS];
        device second: [u32; NUMBERS];

        kernel one = draw_numbers<<<1, THREADS>>>(&noise, &mut first, 16);
        kernel two = draw_numbers<<<1, THREADS>>>(&noise, &mut second, 16);
    }
}

/// The numbers that two uses draw in one launch.
fn numbers(graph: &mut Numbers) -> Result<[Vec<u32>; 2]> {
    graph.launch()?;
    Ok([graph.first()?.read()?.to_vec(), graph.second()?.read()?.to_vec()])
}

#[test]
fn uses_and_launches_draw_fresh_numbers_and_a_seed_reproduces_them() -> Result<()> {
    let device = device();
    let mut graph = Numbers::build(&device, 7)?;
    let drawn = [numbers(&mut graph)?, numbers(&mut graph)?, numbers(&mut graph)?].concat();
    for (index, numbers) in drawn.iter().enumerate() {
        for earlier in &drawn[..index] {
            let same = numbers.iter().zip(earlier).filter(|(a, b)| a == b).count();
            assert!(same < 3, "{same} of {NUMBERS} numbers are the same at the same place");
        }
    }
    let mut again = Numbers::build(&device, 7)?;
    assert_eq!(numbers(&mut again)?, drawn[..2]);
    assert_eq!(numbers(&mut again)?, drawn[2..4]);
    assert_ne!(numbers(&mut Numbers::build(&device, 8)?)?, drawn[..2]);
    let mut profiled = Numbers::build(&device, 7)?;
    profiled.profile(2)?;
    assert_eq!(numbers(&mut profiled)?, drawn[4..]);

    assert_eq!(graph.noise().seed(), 7);
    graph.noise().reseed(8)?;
    let other = numbers(&mut graph)?;
    assert_ne!(other, drawn[..2]);
    graph.noise().reseed(7)?;
    assert_eq!(numbers(&mut graph)?, drawn[..2]);
    assert_eq!(graph.noise().seed(), 7);
    Ok(())
}

/// Pearson's statistic of how often each of 256 values occurs, against an even spread: about 255, with a deviation of
/// 22.6.
fn chi_squared(values: impl Iterator<Item = u8>) -> f64 {
    let mut counts = [0_u32; 256];
    values.for_each(|value| counts[usize::from(value)] += 1);
    let total: u32 = counts.iter().sum();
    let expected = f64::from(total) / 256.0;
    let squares = counts.iter().map(|&count| (f64::from(count) - expected).powi(2));
    squares.sum::<f64>() / expected
}

#[test]
fn numbers_are_evenly_spread_within_and_between_launches() -> Result<()> {
    let mut graph = Numbers::build(&device(), 1)?;
    let launches = (0..8).map(|_| numbers(&mut graph)).collect::<Result<Vec<_>>>()?;
    let all: Vec<u32> = launches.iter().flatten().flatten().copied().collect();
    for byte in 0..4 {
        let spread = chi_squared(all.iter().map(|number| number.to_le_bytes()[byte]));
        assert!((150.0..400.0).contains(&spread), "byte {byte}: {spread}");
    }
    // Neighbours in a thread, between threads, uses and launches are not alike.
    let apart = |distance: usize| {
        let pairs = all.iter().zip(&all[distance..]);
        chi_squared(pairs.map(|(a, b)| (a ^ b).to_le_bytes()[3]))
    };
    for distance in [1, DRAWS, NUMBERS, 2 * NUMBERS] {
        let spread = apart(distance);
        assert!((150.0..400.0).contains(&spread), "distance {distance}: {spread}");
    }
    let mean = all.iter().map(|&number| f64::from(number) / 2f64.powi(32)).sum::<f64>() / all.len() as f64;
    assert!((mean - 0.5).abs() < 0.005, "{mean}");
    Ok(())
}

cuda_graph! {
    /// Uses at the top, in both bodies of an `if`, and in a `while` within a `while`.
    graph Everywhere {
        rng    noise = 3, draws 5;
        device log:   [u64; 100];
        device flag:  u32;
        device outer: u32;
        device inner: u32;

        memset twice = outer <- 2;
        kernel top   = log_offset<<<1, 1>>>(&noise, &mut log);
        if choice = flag {
            kernel yes = log_offset<<<1, 1>>>(&noise, &mut log);
        } else {
            kernel no = log_offset<<<1, 1>>>(&noise, &mut log);
        } after top;
        while repeat = outer {
            kernel before = log_offset<<<1, 1>>>(&noise, &mut log);
            memset thrice = inner <- 3;
            while again = inner {
                kernel deep = log_offset<<<1, 1>>>(&noise, &mut log);
                kernel down = count_down<<<1, 1>>>(&mut inner);
            } after thrice, before;
            kernel count = count_down<<<1, 1>>>(&mut outer);
        } after twice, choice;
        kernel last = log_offset<<<1, 1>>>(&noise, &mut log) after repeat;
    }

    /// Loops that are not ordered use one generator.
    graph Apart {
        rng    noise = 3, draws 5;
        device left:       [u64; 100];
        device right:      [u64; 100];
        device left_flag:  u32;
        device right_flag: u32;

        memset left_once  = left_flag <- 1;
        memset right_once = right_flag <- 1;
        while on_the_left = left_flag {
            kernel draw_left = log_offset<<<1, 1>>>(&noise, &mut left);
            memset left_stop = left_flag <- 0;
        } after left_once;
        while on_the_right = right_flag {
            kernel draw_right = log_offset<<<1, 1>>>(&noise, &mut right);
            memset right_stop = right_flag <- 0;
        } after right_once;
    }
}

/// A file begins where its graph began when it was saved, and goes on as that does.
#[test]
fn a_graph_file_draws_the_numbers_of_its_graph() -> Result<()> {
    let device = device();
    let path = std::env::temp_dir().join(format!("rng-{}.cugraph", std::process::id()));
    let save_and_open = |plan: &Plan| {
        plan.save(&path).expect("it is saved");
        // SAFETY: the kernels are declared `safe`.
        let loaded = unsafe { Loaded::open_trusted(&device, &path) };
        std::fs::remove_file(&path).expect("it was saved");
        loaded
    };
    let mut graph = Numbers::build(&device, 7)?;
    graph.noise().set_state(Philox { seed: 5, offset: 96 })?;
    let mut loaded = save_and_open(&graph.plan())?;
    for _ in 0..3 {
        let numbers = numbers(&mut graph)?;
        loaded.launch()?;
        assert_eq!([loaded.read::<u32>("first")?, loaded.read("second")?], numbers);
    }
    let again = save_and_open(loaded.plan())?;
    assert_eq!(again.memory().count(), loaded.memory().count());

    let mut graph = Everywhere::build(&device)?;
    let mut loaded = save_and_open(&graph.plan())?;
    for _ in 0..2 {
        graph.launch()?;
        loaded.launch()?;
        assert_eq!(loaded.read::<u64>("log")?, graph.log()?.read()?.to_vec());
    }
    Ok(())
}

#[test]
fn loops_that_are_not_ordered_may_share_a_generator() -> Result<()> {
    let graph = launched(launched(Apart::build(&device())))?;
    assert_eq!(entries(&*graph.left()?.read()?), [0, 10]);
    assert_eq!(entries(&*graph.right()?.read()?), [5, 15]);
    Ok(())
}

#[test]
fn no_two_draws_overlap_in_bodies_iterations_and_launches() -> Result<()> {
    let device = device();
    for device in [device.clone(), device.with_delays(5)] {
        let mut graph = Everywhere::build(&device)?;
        for launch in 0..4 {
            graph.flag_mut()?.copy_from(&(launch % 2))?;
            graph.launch()?;
        }
        let log = graph.log()?.read()?;
        let offsets = entries(&log);
        assert_eq!(offsets.len(), 4 * (1 + 1 + 2 * (1 + 3) + 1));
        assert!(offsets.iter().all(|offset| offset.is_multiple_of(5)), "{offsets:?}");
        let distinct: HashSet<u64> = offsets.iter().copied().collect();
        assert_eq!(distinct.len(), offsets.len(), "{offsets:?}");
    }
    Ok(())
}

cuda_graph! {
    graph Scaled {
        rng    noise = 1, draws 4;
        param  factor: u32 = 1;
        device log: [u64; 100];

        kernel first = log_scaled<<<1, 1>>>(&noise, &mut log, factor);
        kernel other = log_scaled<<<1, 1>>>(&noise, &mut log, factor + 1) after first;
    }
}

#[test]
fn every_use_has_a_state_of_its_own() -> Result<()> {
    let mut graph = launched(Scaled::build(&device()))?;
    graph.set_factor(10)?;
    graph.launch()?;
    assert_eq!(entries(&*graph.log()?.read()?), [0, 4 * 2, 8 * 10, (8 + 4) * 11]);

    let mut graph = launched(Layers::build(&device()))?;
    graph.set_factor(10)?;
    graph.launch()?;
    let later = (6..12).map(|index| 50 * index);
    let expected: Vec<u64> = (0..6).map(|index| 5 * index).chain(later).collect();
    assert_eq!(entries(&*graph.log()?.read()?), expected);
    Ok(())
}

#[test]
fn the_builder_draws_as_often_as_it_is_asked() -> Result<()> {
    let mut builder = GraphBuilder::new(&device(), "Drawing");
    let noise = builder.rng("noise", 9, 2);
    let log = builder.device::<[u64; 100]>("log");
    let mut last = None;
    for index in 0..300 {
        let call = log_offset::call(&noise.draw(), &mut log.whole());
        if index >= 90 {
            continue; // a state that no node uses is no mistake
        }
        let node = builder.kernel(format!("use{index}"), Launch::new(1, 1), call);
        last.iter().for_each(|&last| builder.after(node, &[last]));
        last = Some(node);
    }
    let mut graph = launched(builder.build())?;
    let expected: Vec<u64> = (0..90).map(|index| 2 * index).collect();
    assert_eq!(entries(&*graph.device(&log)?.read()?), expected);
    graph.device_mut(&log)?.copy_from(&[0; 100])?;
    graph.launch()?;
    let next: Vec<u64> = expected.iter().map(|offset| offset + 600).collect();
    assert_eq!(entries(&*graph.device(&log)?.read()?), next);
    Ok(())
}

#[test]
fn an_rng_belongs_to_one_graph() -> Result<()> {
    let device = Device::emulator_with(EmulatorOptions::default());
    let mut builder = GraphBuilder::new(&device, "Own");
    builder.rng("noise", 0, 1);
    let foreign = GraphBuilder::new(&device, "Other").rng("noise", 0, 1);
    let mut graph = builder.build()?;
    refused(graph.rng(&foreign).reseed(1)).says("Own");
    Ok(())
}

cuda_graph! {
    graph Layers {
        rng    noise = 3, draws 5;
        param  factor: u32 = 1;
        device log: [u64; 100];

        for i in 0..3 {
            for j in 0..2 {
                kernel draw = log_scaled<<<1, 1>>>(&noise, &mut log, factor + (i - i + j - j) as u32);
            }
        }
    }
}

#[test]
fn expressions_have_random_numbers() -> Result<()> {
    let device = device();
    let (seed, draws) = (3, 7);
    let mut graph = cuda_graph! { &device =>
        rng    noise = seed, draws draws;
        param  factor: u32 = 1;
        device log: [u64; 100];

        kernel first  = log_scaled<<<1, 1>>>(&noise, &mut log, factor);
        kernel second = log_offset<<<1, 1>>>(&noise, &mut log) after first;
    }?;
    graph.launch()?;
    graph.set_factor(2)?;
    graph.launch()?;
    assert_eq!(entries(&*graph.log()?.read()?), [0, 7, 28, 21]);
    assert_eq!(graph.noise().seed(), 3);
    Ok(())
}
