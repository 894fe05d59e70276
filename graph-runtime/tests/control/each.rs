//! Parallel loops: edges between iterations, loops in loops, bodies, handles, and the plan.

use crate::common::{accumulate, add_to, is_below, mix, shuffling};
use crate::loops::mixed;
use graph_runtime::{Result, cuda_graph};

cuda_graph! {
    /// A chain over the iterations, and a node of each that runs beside it.
    graph Chain<const N: usize> {
        host   input:  [u32; 4];
        host   output: [[u32; 4]; N];
        device sum:    [u32; 4];
        device parts:  [[u32; 4]; N];

        memcpy upload = input -> sum;
        each i in 0..N {
            memset begin = parts[i] <- i as u32;
            kernel add = mix<<<1, 4>>>(&parts[i], &mut sum) after upload, begin, add(i - 1);
            kernel keep = mix<<<1, 4>>>(&parts[i], &mut parts_of[i]) after begin;
        }
        device parts_of: [[u32; 4]; N];
        memcpy download = parts_of -> output after keep;
        host total: [u32; 4];
        memcpy last = sum -> total after add;
    }
}

#[test]
fn a_chain_runs_in_the_order_of_its_iterations() -> Result<()> {
    for seed in 0..3 {
        let mut graph = Chain::<16>::build(&shuffling(seed))?;
        *graph.input_mut()? = [1, 2, 3, 4];
        graph.launch()?;
        let mut expected = [1, 2, 3, 4];
        for i in 0..16 {
            mixed([i; 4], &mut expected);
        }
        assert_eq!(*graph.total()?, expected);
        let parts: [[u32; 4]; 16] = std::array::from_fn(|i| [i as u32 + 1; 4]);
        assert_eq!(graph.output()?, &parts);
        assert_eq!(graph.add(3).name(), "add[3]");
        let plan = Chain::<16>::PLAN;
        assert!(plan.loops[0].parallel && plan.shifts.len() == 1);
        let wanted = (plan.shifts[0].to, &[-1_i64][..]);
        assert_eq!((plan.shifts[0].from, &*plan.shifts[0].steps), wanted);
    }
    Ok(())
}

cuda_graph! {
    /// Chains side by side, a barrier in the middle of an `each`, and a condition in each iteration.
    graph Chains {
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
fn chains_run_side_by_side() -> Result<()> {
    for seed in 0..3 {
        let mut graph = Chains::build(&shuffling(seed))?;
        graph.launch()?;
        let value = |chain: u32| 4 * 10 * chain + 6;
        let value = |chain: u32| value(chain) + if value(chain) < 100 { 1000 } else { 0 };
        let expected: [[u32; 4]; 8] = std::array::from_fn(|chain| [value(chain as u32) + value(3); 4]);
        assert_eq!(*graph.data()?.read()?, expected);
    }
    Ok(())
}

cuda_graph! {
    /// Nothing is done twice: odd and even elements, and blocks of one flat array.
    graph Blocks(n: usize) {
        device flat: [u32; 64];

        each i in 0..16 {
            memset odd = flat[2 * i + 1] <- 1;
            memset even = flat[2 * i] <- 2;
        }
        each i in 8..16 {
            memset block = flat[4 * i..4 * i + 4] <- i as u32 after odd, even;
        }
        for step in 0..n {
            kernel add = add_to<<<1, 2>>>(&mut flat[step..step + 2], 1) after block;
        }
    }
}

#[test]
fn places_with_strides_are_apart() -> Result<()> {
    let mut graph = Blocks::build(&shuffling(1), 3)?;
    graph.launch()?;
    let flat = *graph.flat()?.read()?;
    assert_eq!(flat[..6], [3, 3, 4, 2, 2, 1]);
    assert_eq!(flat[32..40], [8, 8, 8, 8, 9, 9, 9, 9]);
    Ok(())
}
