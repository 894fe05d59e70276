//! The statements of `cuda_graph!`.

use super::{on_ranks, ranks};
use graph_runtime::{Communicator, Device, cuda_graph};

cuda_graph! {
    /// The example of the language's page.
    pub graph Step(world: &Communicator, w: mut device [f32; 64], ranks: usize) {
        device grads: [f32; 64];
        device part:  [f32; 16];
        device whole: [[f32; 16]; ranks];
        device next:  [f32; 16];
        memset back = grads <- 1.0;
        all_reduce     sum  = grads over world after back;
        memset set  = part <- world.rank() as f32 + 1.0 after sum;
        all_reduce     top  = max(part) over world after set;
        all_gather     all  = part -> whole over world after top;
        reduce_scatter mine = max(whole -> part) over world after all;
        broadcast      init = w from 0 over world after mine;
        exchange       ring = send part to world.next(), recv next from world.previous() over world after init;
    }

    /// Ranges, a child, a loop and an `each`.
    pub graph Parts(world: &Communicator) {
        device x: [u32; 8];
        memset set = x <- world.rank() as u32 + 1;
        all_reduce left = x[..4] over world after set;
        for i in 4..6 {
            all_reduce one = max(x[i]) over world after left;
        }
        each j in 6..8 {
            all_reduce other = min(x[j]) over world after one, other(j - 1);
        }
        graph inner = Child(world: &world, y: &mut x) after other;
        graph again = Child(world: world, y: &mut x) after inner;
    }

    /// Adds the numbers of all ranks.
    pub graph Child(world: &Communicator) {
        device y: [u32; 8];
        all_reduce sum = sum(y) over world;
    }

    /// A loop that ends on all ranks at the same time, and a promise.
    pub graph Loop(world: &Communicator) {
        host   start: u32, uniform;
        device more: u32;
        device done: u32;
        device x: [f32; 4];
        memcpy begin = start -> more;
        memset one   = x <- 1.0;
        while repeat = more {
            all_reduce sum = x over world;
            memset stop = more <- 0 after sum;
        } after begin, one;
        if check = done {
            broadcast last = x from 0 over world;
        } after repeat;
    }
}

#[test]
fn statements_of_the_page_run() {
    for &ranks in ranks() {
        on_ranks(ranks, |device, world| {
            let w = device.alloc::<[f32; 64]>().unwrap();
            w.copy_from(&[world.rank() as f32; 64]).unwrap();
            let mut graph = Step::build(device, &world, &w, ranks).unwrap();
            for _ in 0..2 {
                graph.launch().unwrap();
            }
            assert_eq!(*graph.grads().unwrap().read().unwrap(), [ranks as f32; 64]);
            assert_eq!(*graph.part().unwrap().read().unwrap(), [ranks as f32; 16]);
            assert_eq!(*graph.next().unwrap().read().unwrap(), [ranks as f32; 16]);
            assert_eq!(
                graph.whole().unwrap().read_vec().unwrap(),
                vec![[ranks as f32; 16]; ranks]
            );
            graph.synchronize().unwrap();
            assert_eq!(*w.read().unwrap(), [0.0; 64]);
        });
    }
}

#[test]
fn parts_loops_and_children_are_collectives_too() {
    on_ranks(3, |device, world| {
        let mut graph = Parts::build(device, &world).unwrap();
        graph.launch().unwrap();
        let expected = [6, 6, 6, 6, 3, 3, 1, 1].map(|number: u32| number * 9);
        assert_eq!(*graph.x().unwrap().read().unwrap(), expected);
    });
}

#[test]
fn bodies_run_on_all_ranks() {
    on_ranks(super::at_most(4), |device, world| {
        let mut graph = Loop::build(device, &world).unwrap();
        *graph.start_mut().unwrap() = 1;
        graph.launch().unwrap();
        assert_eq!(*graph.x().unwrap().read().unwrap(), [world.size() as f32; 4]);
    });
}

#[test]
fn expressions_name_locals() {
    on_ranks(2, |device: &Device, world| {
        let mut graph = cuda_graph! { device =>
            device x: [i64; 3];
            memset set = x <- 5;
            all_reduce sum = x over world after set;
        }
        .unwrap();
        graph.launch().unwrap();
        assert_eq!(*graph.x().unwrap().read().unwrap(), [10; 3]);
    });
}
