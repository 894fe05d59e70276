//! Generators whose state several graphs share: each launch draws after the one before it, whichever graph it is.

use crate::common::random::{Random, philox};
use crate::common::*;
use std::collections::BTreeMap;

const THREADS: usize = 64;

cuda_graph! {
    /// Two uses of `draws 6`.
    graph Twice(generator: Generator) {
        rng    noise = generator, draws 6;
        device first:  [u32; 6 * THREADS];
        device second: [u32; 6 * THREADS];

        kernel one = draw_numbers<<<1, THREADS>>>(&noise, &mut first, 6);
        kernel two = draw_numbers<<<1, THREADS>>>(&noise, &mut second, 6);
    }

    /// One use of `draws 3`.
    graph Once(generator: &Generator) {
        rng    noise = generator, draws 3;
        device drawn: [u32; 3 * THREADS];

        kernel draw = draw_numbers<<<1, THREADS>>>(&noise, &mut drawn, 3);
    }
}

/// The numbers from `offset` on that each thread draws.
fn numbers(seed: u64, offset: u64, draws: u64) -> Vec<u32> {
    let number = |thread, number: u64| philox(seed, thread, number / 4)[(number % 4) as usize];
    let threads = 0..THREADS as u32;
    let numbers = threads.flat_map(|thread| (offset..offset + draws).map(move |drawn| number(thread, drawn)));
    numbers.collect()
}

#[test]
fn graphs_draw_in_turn_on_any_stream() -> Result<()> {
    let device = device();
    let generator = device.generator(9)?;
    let mut a = Twice::build(&device, generator.clone())?;
    let mut b = Once::build(&device, &generator)?;
    let mut offset = 0;
    for launch in 0..9 {
        if launch % 3 == 1 {
            b.launch()?;
            assert_eq!(b.drawn()?.read()?.to_vec(), numbers(9, offset, 3));
            offset += 3;
        } else {
            a.launch()?;
            assert_eq!(a.first()?.read()?.to_vec(), numbers(9, offset, 6));
            assert_eq!(a.second()?.read()?.to_vec(), numbers(9, offset + 6, 6));
            offset += 12;
        }
        assert_eq!(generator.state()?, Philox { seed: 9, offset });
    }
    assert_eq!(generator.seed(), 9);
    assert_eq!(b.noise().state()?, generator.state()?);
    assert!(a.noise().generator().is_some());

    let generator = device.generator(3)?;
    let mut a = Twice::build(&device, generator.clone())?;
    let mut b = Once::build(&device, &generator)?;
    let stream = || device.context()?.new_stream().ok();
    let streams: Vec<_> = [stream(), stream()].into_iter().flatten().collect(); // none on the emulator
    for launch in 0..40 {
        match streams.get(launch % 3) {
            Some(stream) => a.launch_on(stream)?,
            None => a.launch()?,
        }
        match streams.get(launch % 2) {
            Some(stream) => b.launch_on(stream)?,
            None => b.launch()?,
        }
    }
    let before = 39 * 15;
    assert_eq!(a.second()?.read()?.to_vec(), numbers(3, before + 6, 6));
    assert_eq!(b.drawn()?.read()?.to_vec(), numbers(3, before + 12, 3));
    assert_eq!(generator.state()?.offset, 40 * 15);
    Ok(())
}

#[test]
fn the_emulator_and_the_device_draw_the_same_numbers() -> Result<()> {
    let run = |device: &Device| -> Result<_> {
        let generator = device.generator(5)?;
        let (seed, offset) = (1 << 40, (1 << 34) - 7);
        generator.set_state(Philox { seed, offset })?;
        let mut a = Twice::build(device, generator.clone())?;
        let mut b = launched(Once::build(device, &generator))?;
        a.launch()?;
        b.launch()?;
        Ok((
            *b.drawn()?.read()?,
            *a.first()?.read()?,
            *a.second()?.read()?,
            generator.state()?,
        ))
    };
    assert_eq!(run(&Device::emulator())?, run(&device())?);
    Ok(())
}

cuda_graph! {
    graph Straight(generator: &Generator) {
        rng    noise = generator, draws 5;
        device log: [u64; 100];

        kernel one = log_offset<<<1, 1>>>(&noise, &mut log);
        for i in 0..3 {
            kernel each = log_offset<<<1, 1>>>(&noise, &mut log) after one;
        }
    }

    /// Uses in loops of any number of iterations, in an `if`, and beside them.
    graph Looping(generator: &Generator) {
        rng    noise = generator, draws 4;
        rng    other = generator, draws 1;
        param  rounds: u32 = 0;
        param  choice: u32 = 0;
        device log:   [u64; 100];
        device outer: u32;
        device inner: u32;
        device flag:  u32;

        memset rounds_of_outer = outer <- rounds;
        memset choose = flag <- choice;
        kernel before = log_offset<<<1, 1>>>(&noise, &mut log);
        while repeat = outer {
            memset twice = inner <- 2;
            while again = inner {
                kernel deep = log_offset<<<1, 1>>>(&noise, &mut log);
                kernel down = count_down<<<1, 1>>>(&mut inner);
            } after twice;
            kernel late  = log_offset<<<1, 1>>>(&other, &mut log) after again;
            kernel count = count_down<<<1, 1>>>(&mut outer);
        } after rounds_of_outer, before;
        if chosen = flag {
            kernel then = log_offset<<<1, 1>>>(&other, &mut log);
        } after choose, repeat;
    }

    /// Only a loop draws, perhaps never.
    graph Perhaps(generator: &Generator) {
        rng    noise = generator, draws 2;
        param  rounds: u32 = 0;
        device log:   [u64; 100];
        device count: u32;

        memset set = count <- rounds;
        while repeat = count {
            kernel draw = log_offset<<<1, 1>>>(&noise, &mut log);
            kernel down = count_down<<<1, 1>>>(&mut count);
        } after set;
    }
}

/// Three graphs, launched in random order between saves and restores: every draw is what a plain model says, and no two
/// draws since the last restore overlap.
#[test]
fn no_two_draws_overlap_in_any_interleaving() -> Result<()> {
    for seed in 0..3 {
        let device = shuffling(seed);
        let generator = device.generator(seed)?;
        let mut random = Random(seed);
        let mut straight = Straight::build(&device, &generator)?;
        let mut looping = Looping::build(&device, &generator)?;
        let mut perhaps = Perhaps::build(&device, &generator)?;
        // The first number of each draw, with its length; and the state at each save, with the draws until then.
        let mut drawn = BTreeMap::<u64, u64>::new();
        let mut saves = vec![(generator.state()?, drawn.clone())];
        let mut base = 0;
        for _ in 0..40 {
            let (offsets, end) = match random.below(5) {
                0 => {
                    straight.log_mut()?.copy_from(&[0; 100])?;
                    straight.launch()?;
                    let mut found = entries(&*straight.log()?.read()?);
                    found.sort_unstable();
                    let expected: Vec<u64> = (0..4).map(|lane| base + 5 * lane).collect();
                    assert_eq!(found, expected);
                    (
                        found.into_iter().map(|offset| (offset, 5)).collect::<Vec<_>>(),
                        base + 20,
                    )
                }
                1 => {
                    let (rounds, choice) = (random.below(4) as u32, random.below(2) as u32);
                    looping.set_rounds(rounds)?;
                    looping.set_choice(choice)?;
                    looping.log_mut()?.copy_from(&[0; 100])?;
                    looping.launch()?;
                    let found = entries(&*looping.log()?.read()?);
                    // The lanes of the four uses begin in any order; together they take 4 + 4 + 1 + 1 numbers.
                    let count = 1 + 3 * rounds as usize + choice as usize;
                    assert_eq!(found.len(), count);
                    let mut draws = vec![(found[0], 4)];
                    for round in found[1..found.len() - choice as usize].chunks(3) {
                        draws.extend([(round[0], 4), (round[1], 4), (round[2], 1)]);
                    }
                    draws.extend((choice == 1).then(|| (found[count - 1], 1)));
                    (draws, base + 10 * u64::from(2 * rounds).max(1))
                }
                2 => {
                    let rounds = random.below(5) as u32;
                    perhaps.set_rounds(rounds)?;
                    perhaps.log_mut()?.copy_from(&[0; 100])?;
                    perhaps.launch()?;
                    let found = entries(&*perhaps.log()?.read()?);
                    let expected: Vec<u64> = (0..u64::from(rounds)).map(|round| base + 2 * round).collect();
                    assert_eq!(found, expected);
                    let end = base + 2 * u64::from(rounds);
                    (found.into_iter().map(|offset| (offset, 2)).collect(), end)
                }
                3 => {
                    saves.push((generator.state()?, drawn.clone()));
                    (Vec::new(), base)
                }
                _ => {
                    let (state, before) = &saves[random.below(saves.len())];
                    generator.set_state(*state)?;
                    drawn.clone_from(before);
                    (Vec::new(), state.offset)
                }
            };
            for (offset, draws) in offsets {
                let is_within = offset >= base.min(end) && offset + draws <= end;
                assert!(is_within, "{offset} in {base}..{end}");
                let before = drawn.range(..offset + draws).next_back();
                let is_apart = before.is_none_or(|(first, draws)| first + draws <= offset);
                assert!(is_apart, "{offset}: {drawn:?}");
                drawn.insert(offset, draws);
            }
            base = end;
            assert_eq!(generator.state()?, Philox { seed, offset: base });
        }
    }
    Ok(())
}

#[test]
fn two_threads_draw_different_numbers() -> Result<()> {
    let device = device();
    let generator = device.generator(1)?;
    let graphs = [
        Straight::build(&device, &generator)?,
        Straight::build(&device, &generator)?,
    ];
    let threads = graphs.map(|mut graph| {
        std::thread::spawn(move || -> Result<Vec<u64>> {
            (0..6).try_for_each(|_| graph.launch())?;
            Ok(entries(&*graph.log()?.read()?))
        })
    });
    let drawn = without_deadlock(|| threads.map(|thread| thread.join().expect("it does not panic")));
    let mut all = Vec::new();
    for offsets in drawn {
        all.extend(offsets?);
    }
    all.sort_unstable();
    let expected: Vec<u64> = (0..48).map(|use_of_any| 5 * use_of_any).collect();
    assert_eq!(all, expected);
    assert_eq!(generator.state()?.offset, 240);
    Ok(())
}

cuda_graph! {
    graph Own(state: Philox) {
        rng    noise = state, draws 6;
        device drawn: [u32; 6 * THREADS];
        kernel draw = draw_numbers<<<1, THREADS>>>(&noise, &mut drawn, 6);
    }
}

#[test]
fn a_saved_state_continues_bit_for_bit() -> Result<()> {
    let device = device();
    let mut first = launched(launched(Own::build(&device, Philox { seed: 4, offset: 2 })))?;
    let saved = first.noise().state()?;
    assert_eq!(saved, Philox { seed: 4, offset: 14 });
    assert!(first.noise().generator().is_none());
    first.launch()?;
    let next = first.drawn()?.read()?;
    assert_eq!(next.to_vec(), numbers(4, 14, 6));

    let other = launched(Own::build(&device, saved))?;
    assert_eq!(other.drawn()?.read()?, next);
    let generator = device.generator(0)?;
    generator.set_state(saved)?;
    assert_eq!(generator.seed(), 4);
    let mut shared = launched(Twice::build(&device, generator))?;
    assert_eq!(shared.first()?.read()?, next);

    first.noise().set_state(saved)?;
    first.launch()?;
    assert_eq!(first.drawn()?.read()?, next);
    shared.noise().reseed(7)?;
    assert_eq!((shared.noise().seed(), shared.noise().state()?.offset), (7, 0));
    shared.launch()?;
    assert_eq!(shared.first()?.read()?.to_vec(), numbers(7, 0, 6));
    Ok(())
}

cuda_graph! {
    graph Part(generator: Generator) {
        rng    noise = generator, draws 2;
        param  factor: u32 = 1;
        device log: [u64; 100];
        kernel draw = log_scaled<<<1, 1>>>(&noise, &mut log, factor);
    }

    /// Children and the graph itself share one generator.
    graph Whole(generator: Generator) {
        rng    noise = generator.clone(), draws 3;
        param  factor: u32 = 1;
        device log: [u64; 100];

        kernel own    = log_offset<<<1, 1>>>(&noise, &mut log);
        graph  first  = Part(generator: generator.clone(), log: &mut log) after own;
        graph  second = Part(generator: generator, factor: factor, log: &mut log) after first;
    }
}

#[test]
fn children_share_the_generator_of_their_parent() -> Result<()> {
    let device = device();
    let generator = device.generator(2)?;
    let mut whole = launched(launched(Whole::build(&device, generator.clone())))?;
    let log = whole.log()?.read()?;
    let mut found = entries(&log);
    assert!(found[..3].iter().all(|&offset| offset < 7) && found[3..].iter().all(|&offset| offset >= 7));
    found.sort_unstable();
    found.dedup();
    assert_eq!(found.len(), 6);
    assert_eq!(generator.state()?.offset, 14);
    // A changed param leaves the child the state of its use.
    whole.set_factor(100)?;
    generator.reseed(2)?;
    whole.log_mut()?.copy_from(&[0; 100])?;
    whole.launch()?;
    let before = [log[1], log[2], 100 * log[3]];
    assert_eq!(entries(&*whole.log()?.read()?), before);
    Ok(())
}

#[test]
fn builders_and_expressions_share_a_generator() -> Result<()> {
    let device = device();
    let generator = device.generator(8)?;
    let mut expression = cuda_graph! { &device =>
        rng    noise = &generator, draws 2;
        device log: [u64; 100];
        kernel draw = log_offset<<<1, 1>>>(&noise, &mut log);
    }?;
    let mut builder = GraphBuilder::new(&device, "Built");
    let noise = builder.rng("noise", &generator, 10);
    let more = builder.rng("more", generator.clone(), 1);
    builder.rng("unused", &device.generator(1)?, 1);
    let log = builder.device::<[u64; 100]>("log");
    let call = log_offset::call(&more.draw(), &mut log.whole());
    let first = builder.kernel("first", Launch::new(1, 1), call);
    let call = log_offset::call(&noise.draw(), &mut log.whole());
    let second = builder.kernel("second", Launch::new(1, 1), call);
    builder.after(second, &[first]);
    let mut built = builder.build()?;
    expression.launch()?;
    built.launch()?;
    expression.launch()?;
    assert_eq!(entries(&*expression.log()?.read()?), [0, 13]);
    assert_eq!(entries(&*built.device(&log)?.read()?), [2, 3]);
    assert_eq!(built.rng(&more).state()?, Philox { seed: 8, offset: 15 });
    Ok(())
}

#[test]
fn a_graph_takes_another_generator_of_its_device() -> Result<()> {
    let device = device();
    let (first, second) = (device.generator(1)?, device.generator(2)?);
    let mut graph = launched(Once::build(&device, &first))?;
    graph.noise().set_generator(&second)?;
    graph.launch()?;
    graph.launch()?;
    assert_eq!(graph.drawn()?.read()?.to_vec(), numbers(2, 3, 3));
    assert_eq!((first.state()?.offset, second.state()?.offset), (3, 6));
    assert_eq!(graph.noise().seed(), 2);
    let mut own = Own::build(&device, Philox { seed: 4, offset: 2 })?;
    let given = own.noise().set_generator(&first);
    assert!(matches!(given, Err(Error::Unsupported { .. })));
    let given = graph.noise().set_generator(&Device::emulator().generator(1)?);
    assert!(matches!(given, Err(Error::ForeignMemory { .. })));
    graph.launch()?;
    assert_eq!(second.state()?.offset, 9);

    let other = Device::emulator().generator(1)?;
    let error = Once::build(&Device::emulator(), &other).map(drop).unwrap_err();
    assert!(matches!(error, Error::ForeignMemory { .. }), "{error}");
    has(error, &["`Once`", "generator of noise"]);
    Ok(())
}
