//! `each` with params, children, scratch memory, unknown numbers of iterations, in expressions, and its plan.

use crate::common::*;
use crate::loops::mixed;

/// Rows of numbers that all differ.
fn numbers<const N: usize, const ROWS: usize>() -> [[u32; N]; ROWS] {
    std::array::from_fn(|row| std::array::from_fn(|index| (row * N + index) as u32 * 5 + 2))
}

cuda_graph! {
    /// Chains side by side, each with all weights one after the other.
    graph Chains<const STEPS: usize> {
        device weights: [[u32; 4]; STEPS];
        device data:    [[u32; 4]; 5];
        host   output:  [[u32; 4]; 5];

        each chain in 0..5 {
            for k in 0..STEPS {
                kernel weigh = mix<<<1, 4>>>(&weights[k], &mut data[chain]);
            }
        }
        memcpy download = data -> output after weigh;
    }
}

#[test]
fn chains_run_side_by_side_and_the_plan_has_each_loop_once() -> Result<()> {
    for seed in 0..3 {
        let mut graph = Chains::<6>::build(&shuffling(seed))?;
        let mut expected = numbers::<4, 5>();
        graph.weights_mut()?.copy_from(&numbers())?;
        graph.data_mut()?.copy_from(&expected)?;
        graph.launch()?;
        for row in &mut expected {
            numbers::<4, 6>().into_iter().for_each(|weights| mixed(weights, row));
        }
        assert_eq!(graph.output()?, &expected);
        assert_eq!(graph.weigh(4, 2).name(), "weigh[4][2]");
        graph.weigh(4, 2).set_enabled(false)?;
        let error = graph.weigh(5, 0).set_enabled(false).unwrap_err();
        assert!(matches!(error, Error::UnknownNode { .. }), "{error:?}");
    }
    // Without steps, the copy runs after nothing but the joins in their place.
    let mut graph = Chains::<0>::build(&shuffling(3))?;
    graph.data_mut()?.copy_from(&numbers())?;
    graph.launch()?;
    assert_eq!(graph.output()?, &numbers());

    let plan = Chains::<6>::PLAN;
    let names: Vec<_> = plan.nodes.iter().map(|node| &*node.name).collect();
    assert_eq!(names, ["weigh", "download"]);
    let expected = [PlanLoop::parallel("chain", None), PlanLoop::new("k", Some(0))];
    assert_eq!(*plan.loops, expected);
    let dot = plan.to_dot();
    has(&dot, &["label=\"each chain\";", "label=\"for k\";"]);
    Ok(())
}

cuda_graph! {
    /// Chains side by side, a barrier in the middle of an `each`, and a condition in each iteration.
    graph Branches {
        device data:  [[u32; 4]; 8];
        device flags: [u32; 8];
        device total: [u32; 4];

        each chain in 0..8 {
            for step in 0..4 {
                kernel add = add_to<<<1, 4>>>(&mut data[chain], (chain * 10 + step) as u32);
            }
            kernel test = is_below<<<1, 1>>>(&data[chain][..1], 100, &mut flags[chain..chain + 1]) after add;
            if small = flags[chain] {
                kernel more = add_to<<<1, 4>>>(&mut data[chain], 1000);
            } after test;
        }
        kernel gather = accumulate<<<1, 4>>>(&data[3], &mut total) after small;
        each chain in 0..8 {
            kernel spread = accumulate<<<1, 4>>>(&total, &mut data[chain]) after gather;
        }
    }
}

#[test]
fn conditions_stand_in_iterations() -> Result<()> {
    for seed in 0..3 {
        let graph = launched(Branches::build(&shuffling(seed)))?;
        let value = |chain: u32| 4 * 10 * chain + 6;
        let value = |chain: u32| value(chain) + if value(chain) < 100 { 1000 } else { 0 };
        let expected: [[u32; 4]; 8] = std::array::from_fn(|chain| [value(chain as u32) + value(3); 4]);
        assert_eq!(*graph.data()?.read()?, expected);
    }
    Ok(())
}

cuda_graph! {
    /// A table, each cell of which is mixed with the one above it and the one to its left.
    graph Wavefront<const ROWS: usize, const COLUMNS: usize> {
        device table: [[[u32; 2]; COLUMNS]; ROWS];
        each i in 1..ROWS {
            each j in 1..COLUMNS {
                kernel above = mix<<<1, 2>>>(&table[i - 1][j], &mut table[i][j]) after left(i - 1, j), left(i, j - 1);
                kernel left  = mix<<<1, 2>>>(&table[i][j - 1], &mut table[i][j]) after above;
            }
        }
    }
}

fn wavefront<const ROWS: usize, const COLUMNS: usize>() -> Result<()> {
    for seed in 0..2 {
        let mut graph = Wavefront::<ROWS, COLUMNS>::build(&shuffling(seed))?;
        let start = |i, j| [i as u32 + 1, 100 * j as u32];
        let mut expected: [[[u32; 2]; COLUMNS]; ROWS] = std::array::from_fn(|i| std::array::from_fn(|j| start(i, j)));
        graph.table_mut()?.copy_from(&expected)?;
        graph.launch()?;
        for i in 1..ROWS {
            for j in 1..COLUMNS {
                let [above, left] = [expected[i - 1][j], expected[i][j - 1]];
                [above, left]
                    .into_iter()
                    .for_each(|from| mixed(from, &mut expected[i][j]));
            }
        }
        assert_eq!(*graph.table()?.read()?, expected, "{ROWS} x {COLUMNS}");
    }
    Ok(())
}

#[test]
fn cells_run_after_those_above_them_and_to_their_left() -> Result<()> {
    wavefront::<7, 5>()?;
    wavefront::<2, 9>()?;
    wavefront::<4, 1>()?;
    wavefront::<0, 3>()
}

cuda_graph! {
    /// As many parts as `build` is told, folded in order: what is copied in runs ahead.
    graph Pipeline(n: usize) {
        host   input: [[u32; 4]; n];
        device parts: [[u32; 4]; n];
        device sum:   [u32; 4];
        param  more:  u32 = 1;

        memset clear = sum <- 0;
        each i in 0..n {
            memcpy load  = input[i] -> parts[i];
            kernel raise = add_to<<<1, 4>>>(&mut parts[i], more + i as u32) after load;
            kernel fold  = mix<<<1, 4>>>(&parts[i], &mut sum) after raise, clear, fold(i - 1);
        }
        kernel last = add_to<<<1, 4>>>(&mut sum, 1) after fold;
    }
}

#[test]
fn iterations_are_folded_in_order_and_params_reach_all() -> Result<()> {
    for n in [0, 1, 2, 9] {
        let mut graph = Pipeline::build(&shuffling(n as u64), n)?;
        for (row, numbers) in graph.input_mut()?.iter_mut().zip(numbers::<4, 9>()) {
            *row = numbers;
        }
        for more in [1, 50] {
            graph.set_more(more)?;
            graph.launch()?;
            let mut sum = [0; 4];
            for (i, numbers) in numbers::<4, 9>().into_iter().take(n).enumerate() {
                mixed(numbers.map(|number| number + more + i as u32), &mut sum);
            }
            let expected = sum.map(|sum: u32| sum.wrapping_add(1));
            assert_eq!(*graph.sum()?.read()?, expected, "{n} parts");
        }
    }
    let plan = Pipeline::PLAN;
    assert!(plan.loops[0].parallel && plan.shifts.len() == 1);
    let shift = &plan.shifts[0];
    assert_eq!((shift.from, &*shift.steps), (shift.to, &[-1_i64][..]));
    Ok(())
}

cuda_graph! {
    /// Neighbours that are apart by an even and an odd index, and parts of four.
    graph Apart {
        device pairs: [[u32; 2]; 12];
        device whole: [u32; 24];
        each i in 0..6 {
            kernel even  = mix<<<1, 2>>>(&pairs[2 * i + 1], &mut pairs[2 * i]);
            memset four  = whole[4 * i..4 * i + 4] <- i as u32;
        }
        for i in 0..6 {
            memset odd   = pairs[2 * i + 1] <- 7 after even;
        }
    }
}

#[test]
fn places_of_iterations_are_apart_by_their_numbers() -> Result<()> {
    for seed in 0..2 {
        let mut graph = Apart::build(&shuffling(seed))?;
        let mut expected = numbers::<2, 12>();
        graph.pairs_mut()?.copy_from(&expected)?;
        graph.launch()?;
        for pair in expected.chunks_exact_mut(2) {
            let odd = pair[1];
            mixed(odd, &mut pair[0]);
            pair[1] = [7; 2];
        }
        assert_eq!(*graph.pairs()?.read()?, expected);
        assert_eq!(*graph.whole()?.read()?, std::array::from_fn(|index| index as u32 / 4));
    }
    Ok(())
}

cuda_graph! {
    /// Rows one after the other, by a graph of its own for each.
    graph Row {
        device row:    [u32; 4];
        device weight: [u32; 4];
        param  by:     u32 = 1;
        each k in 0..4 {
            kernel add = add_to<<<1, 1>>>(&mut row[k..k + 1], by);
        }
        kernel weigh = mix<<<1, 4>>>(&weight, &mut row) after add;
    }

    /// A child for each row, in both kinds of loops and in bodies.
    graph Rows {
        device rows:   [[u32; 4]; 3];
        device weight: [u32; 4];
        device more:   [u32; 1];
        param  by:     u32 = 1;

        memset set = more <- 1;
        for t in 0..2 {
            each i in 0..3 {
                graph row = Row(row: &mut rows[i], weight: &weight, by: by + t as u32);
            }
        }
        while again = more[0] {
            each i in 0..3 {
                if some = more[0] {
                    each k in 0..2 {
                        kernel two = add_to<<<1, 2>>>(&mut rows[i][2 * k..2 * k + 2], 10);
                    }
                };
            }
            memset stop = more <- 0 after some;
        } after set, row;
    }
}

#[test]
fn children_and_bodies_hold_parallel_loops() -> Result<()> {
    for seed in 0..2 {
        let mut graph = Rows::build(&shuffling(seed))?;
        let mut expected = numbers::<4, 3>();
        graph.rows_mut()?.copy_from(&expected)?;
        graph.weight_mut()?.copy_from(&[3, 1, 4, 1])?;
        for by in [1, 20] {
            graph.set_by(by)?;
            graph.launch()?;
            for row in &mut expected {
                for t in 0..2 {
                    *row = row.map(|number| number.wrapping_add(by + t));
                    mixed([3, 1, 4, 1], row);
                }
                *row = row.map(|number| number.wrapping_add(10));
            }
            assert_eq!(*graph.rows()?.read()?, expected);
        }
    }
    Ok(())
}

#[test]
fn scratch_memory_is_handed_on_in_each_iteration() -> Result<()> {
    // Each iteration hands its numbers on through scratch memory of its own; kernels wait by themselves.
    let mut graph = cuda_graph! { &shuffling(1) =>
        device from: [[u32; 4]; 6];
        device to:   [[u32; 4]; 6];
        scratch own: [[u32; 4]; 6];
        each i in 0..6 {
            kernel write = step<<<1, 4>>>(&from[i], &mut own[i]);
            kernel read  = step<<<1, 4>>>(&own[i], &mut to[i]) after programmatic(write);
            kernel more  = bump<<<1, 1>>>(&mut to[i][..1], 5) after programmatic(read);
        }
    }?;
    graph.from_mut()?.copy_from(&numbers())?;
    graph.launch()?;
    let expected = numbers::<4, 6>().map(|row| {
        let [first, second, third, fourth] = row.map(|number| number + 2);
        [first + 5, second, third, fourth]
    });
    assert_eq!(*graph.to()?.read()?, expected);
    Ok(())
}

/// A graph of locals.
fn summed(device: &Device, rows: usize) -> Result<Vec<u32>> {
    let mut graph = cuda_graph! { device =>
        device data: [[u32; 2]; rows];
        host   output: [[u32; 2]; rows];
        each i in 0..rows {
            memset set = data[i] <- i as u32 + 1;
        }
        each i in 0..rows - 1 {
            kernel sum = mix<<<1, 2>>>(&data[i], &mut data[i + 1]) after set, sum(i - 1);
        }
        memcpy download = data -> output after sum;
    }?;
    graph.launch()?;
    assert_eq!(graph.sum(0).name(), "sum[0]");
    Ok(graph.output()?.iter().map(|row| row[1]).collect())
}

#[test]
fn expressions_have_parallel_loops() -> Result<()> {
    let mut expected = vec![1_u32];
    for i in 1..5 {
        let mut next = [i + 1];
        mixed([expected[i as usize - 1]], &mut next);
        expected.push(next[0]);
    }
    assert_eq!(summed(&shuffling(0), 5)?, expected);
    Ok(())
}
