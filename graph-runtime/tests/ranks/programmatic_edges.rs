//! Programmatic edges to collectives and from them: after slow kernels, each rank gets the right result.

use super::common::*;
use super::{on_ranks, ranks};
use graph_runtime::{Communicator, Reduction};

/// Launches of each graph: an order that is missing need not show at once.
const LAUNCHES: u32 = 5;

/// The steps of a slow kernel: some 100 us on a GPU.
fn steps() -> u32 {
    (slow_steps() / 80) as u32
}

cuda_graph! {
    /// Every node may start before the one before it has ended.
    graph Early(world: &Communicator, ranks: usize) {
        param  value: u32 = 0;
        param  steps: u32 = 0;
        device a:     [u32; 64];
        device b:     [u32; 64];
        device whole: [[u32; 64]; ranks];
        device next:  [u32; 64];

        kernel first = slow_write<<<2, 32>>>(&mut a, value, steps);
        each i in 0..3 {
            all_reduce sum    = a over world                           after programmatic(first), programmatic(back(i - 1));
            kernel     middle = slow_step<<<2, 32>>>(&a, &mut b, steps) after programmatic(sum);
            exchange   ring   = send b to world.next(), recv next from world.previous() over world
                after programmatic(middle);
            kernel     back   = step<<<2, 32>>>(&next, &mut a)         after programmatic(ring);
        }
        all_gather all = a -> whole over world after programmatic(back);
    }
}

#[test]
fn ranks_are_in_order() {
    for &ranks in ranks() {
        on_ranks(ranks, |device, world| {
            let mut graph = Early::build(device, &world, ranks).unwrap();
            graph.set_steps(steps()).unwrap();
            for launch in 0..LAUNCHES {
                graph.set_value(launch + world.rank() as u32).unwrap();
                graph.launch().unwrap();
                let ranks = ranks as u32;
                let mut value: u32 = (0..ranks).map(|rank| launch + rank).sum::<u32>() + 2;
                for _ in 1..3 {
                    value = value * ranks + 2;
                }
                let expected = vec![[value; 64]; ranks as usize];
                assert_eq!(
                    graph.whole().unwrap().read_vec().unwrap(),
                    expected,
                    "launch {launch} on {ranks}"
                );
            }
        });
    }
}

#[test]
fn a_kernel_that_does_not_wait_is_refused() {
    on_ranks(1, |device, world| {
        let mut builder = GraphBuilder::new(device, "Test");
        let [mut a, mut b] = ["a", "b"].map(|name| builder.device::<[u32; 64]>(name));
        let sum = builder.all_reduce("sum", Reduction::Sum, &mut a, &world);
        let last = builder.kernel("last", Launch::new(2, 32), never_waits::call(&a, &mut b));
        builder.after_programmatic(last, &[sum]);
        let mistake = mistake(builder.build(), Code::ProgrammaticEdge);
        assert_eq!(mistake.message, "node `last` may run before `sum` has ended");
        mistake.notes[0].reads("its kernel `never_waits` never waits for it");
    });
}
