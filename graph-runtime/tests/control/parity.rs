//! Places of loops that alternate: indices with a remainder.

use crate::common::{add_to, shuffling};
use graph_runtime::{Result, cuda_graph};

/// Two buffers that alternate: each iteration of a `for` reads one and writes the other.
#[test]
fn a_loop_alternates_between_two_buffers() -> Result<()> {
    cuda_graph! {
        graph Alternating {
            #![after(auto)]
            device buffers: [[u32; 2]; 2];
            device seen: [[u32; 2]; 6];
            host output: [[u32; 2]; 6];
            memset start = buffers <- 3;
            for i in 0..6 {
                kernel add  = add_to<<<1, 2>>>(&mut buffers[i % 2], i as u32);
                memcpy save = buffers[(i + 1) % 2] -> seen[i];
            }
            memcpy down = seen -> output;
        }
    }
    let mut graph = Alternating::build(&shuffling(3))?;
    graph.launch()?;
    assert_eq!(graph.output()?.map(|row| row[0]), [3, 3, 4, 5, 7, 9]);
    let node = |name: &str| {
        Alternating::PLAN
            .nodes
            .iter()
            .find(|node| node.name == name)
            .unwrap()
            .after
            .to_vec()
    };
    assert_eq!(
        (node("add"), node("save")),
        (vec![0], vec![0]),
        "they are apart in one iteration"
    );
    Ok(())
}

/// A ring of three slots in a loop whose iterations wait only for the one that had their slot before.
#[test]
fn a_parallel_loop_reuses_the_slots_of_a_ring() -> Result<()> {
    cuda_graph! {
        graph Ring(n: usize) {
            device ring: [[u32; 2]; 3];
            device seen: [[u32; 2]; n];
            host output: [[u32; 2]; n];
            each i in 0..n {
                memset fill = ring[i % 3] <- i as u32 after save(i - 3);
                kernel add  = add_to<<<1, 2>>>(&mut ring[i % 3], 10) after fill;
                memcpy save = ring[i % 3] -> seen[i] after add;
            }
            memcpy down = seen -> output after save;
        }
    }
    for seed in 0..3 {
        let mut graph = Ring::build(&shuffling(seed), 8)?;
        graph.launch()?;
        let output = graph.output()?;
        assert!(
            output.iter().zip(10..).all(|(row, number)| *row == [number; 2]),
            "{output:?}"
        );
    }
    Ok(())
}

/// An outer and an inner loop that count together: their slots are apart in one iteration of the outer loop.
#[test]
fn loops_in_loops_alternate_together() -> Result<()> {
    cuda_graph! {
        graph Nested {
            device slots: [[u32; 2]; 4];
            host output: [[u32; 2]; 4];
            memset start = slots <- 0;
            for i in 0..3 {
                each j in 0..2 {
                    kernel low  = add_to<<<1, 2>>>(&mut slots[(i + j) % 2], (10 * i + j) as u32) after start;
                    kernel high = add_to<<<1, 2>>>(&mut slots[(2 * i + j) % 2 + 2], 1) after start;
                }
            }
            memcpy down = slots -> output after low, high;
        }
    }
    let mut graph = Nested::build(&shuffling(5))?;
    graph.launch()?;
    // `low` adds to slot 0 for (i, j) = (0, 0), (1, 1), (2, 0), and to slot 1 for the others.
    assert_eq!(graph.output()?.map(|row| row[0]), [11 + 20, 1 + 10 + 21, 3, 3]);
    Ok(())
}
