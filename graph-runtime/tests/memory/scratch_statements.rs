//! The statement `scratch`, run: on the emulator, or on the GPU with `CUDA_GRAPH_TEST_DEVICE=cuda`.

use crate::common::*;

cuda_graph! {
    /// Two layers of two temporaries each: `x = 8 x`.
    graph Layers<const N: usize> {
        device  x: [f32; N];
        scratch twice: [[f32; N]; 3];
        scratch again: [f32; N];
        scratch more:  [f32; N];
        scratch last:  [[f32; N]; 2];
        param   factor: f32 = 1.0;

        kernel double = add<<<1, N>>>(&x, &x, &mut twice[1], N as u32);
        kernel keep   = add<<<1, N>>>(&twice[1], &x, &mut again, N as u32) after double;
        kernel third  = add<<<1, N>>>(&again, &x, &mut more, N as u32) after keep;
        memcpy move_on = more -> last[0] after third;
        kernel change = scale<<<1, N>>>(&mut last[0], factor, N as u32) after move_on;
        kernel finish = add<<<1, N>>>(&last[0], &last[0], &mut x, N as u32) after change;
    }
}

#[test]
fn layers_share_an_arena_of_constant_size() {
    const BYTES: usize = 4 * 64;
    let plan = Layers::<64>::PLAN;
    assert_eq!(plan.arena(), 4 * BYTES, "the first two are in use at once");
    let offset = |name: &str| {
        let mut resources = plan.resources.iter();
        resources.find(|resource| resource.name == name).unwrap().offset
    };
    assert_eq!(offset("x"), None);
    assert!(offset("last").is_some_and(|offset| plan.arena() >= offset + 2 * BYTES));
    assert_eq!(Layers::<1000>::PLAN.arena(), 12_032 + 4096, "each rounded up to 256");

    let mut graph = Layers::<64>::build(&device()).unwrap();
    graph.x_mut().unwrap().copy_from(&[1.0; 64]).unwrap();
    graph.launch().unwrap();
    assert_eq!(*graph.x().unwrap().read().unwrap(), [8.0; 64]);
    graph.set_factor(0.5).unwrap();
    graph.launch().unwrap();
    assert_eq!(*graph.x().unwrap().read().unwrap(), [32.0; 64]);
    has(
        refused(graph.move_on().set_enabled(false)),
        &["node `move_on`", "no enabled node before it has written"],
    );
}

cuda_graph! {
    /// Lengths that only `build` knows, and a body with a memory of its own.
    graph Dynamic(n: usize) {
        device  x: [f32; n];
        device  flag: u32;
        scratch a: [f32; n];
        scratch b: [f32; n];

        memset fill = a <- 2.0;
        if some = flag {
            memset inside = b <- 3.0;
            kernel use_b = add<<<1, 1>>>(&b, &x, &mut x_2, 1) after inside;
        } after fill;
        kernel total = add<<<1, 1>>>(&a, &a, &mut x, 1) after some;

        device  x_2: [f32; n];
    }
}

#[test]
fn dynamic_lengths_are_packed_when_the_graph_is_built() {
    assert_eq!(Dynamic::PLAN.arena().bytes(), None, "only building knows");
    for n in [1, 100] {
        let mut graph = Dynamic::build(&device(), n).unwrap();
        graph.flag_mut().unwrap().copy_from(&1).unwrap();
        graph.launch().unwrap();
        assert_eq!(graph.x().unwrap().read_vec().unwrap()[0], 4.0);
        assert_eq!(graph.x_2().unwrap().read_vec().unwrap()[0], 3.0);
    }
}

#[test]
fn graphs_as_expressions_share_an_arena_too() {
    let device = device();
    let mut graph = cuda_graph! { &device =>
        device  x: [f32; 64];
        scratch a: [f32; 64];
        scratch b: [f32; 64];
        scratch c: [f32; 64];
        memset fill  = a <- 2.0;
        kernel four  = add<<<1, 64>>>(&a, &a, &mut b, 64) after fill;
        kernel eight = add<<<1, 64>>>(&b, &b, &mut c, 64) after four;
        memcpy down  = c -> x after eight;
    }
    .unwrap();
    graph.launch().unwrap();
    assert_eq!(*graph.x().unwrap().read().unwrap(), [8.0; 64]);
}

cuda_graph! {
    /// In each iteration `x = 4 x`: `a` and `c` begin anew in each, `b` may keep what the kernel leaves unwritten.
    graph Repeated(n: usize) {
        device  x: [f32; 64];
        scratch a: [f32; 64];
        scratch b: [f32; 64];
        scratch c: [f32; 64];
        scratch rows: [[f32; 64]; 4];
        memset clear = rows <- 1.0;
        for i in 0..n {
            memcpy first  = x -> a;
            kernel middle = add<<<1, 64>>>(&a, &a, &mut b, 64) after first;
            memcpy third  = b -> c after middle;
            kernel last   = add<<<1, 64>>>(&c, &c, &mut x, 64) after third;
            kernel count  = scale<<<1, 64>>>(&mut rows[i], 2.0, 64) after clear;
        }
        device  counts: [[f32; 64]; 4];
        memcpy keep = rows -> counts after last, count;
    }
}

#[test]
fn what_iterations_begin_anew_shares_within_them() {
    assert_eq!(Repeated::PLAN.arena(), 4 * 256 + 2 * 256); // the rows, b, and one place for a and c
    let mut graph = Repeated::build(&device(), 3).unwrap();
    graph.x_mut().unwrap().copy_from(&[1.0; 64]).unwrap();
    graph.launch().unwrap();
    assert_eq!(*graph.x().unwrap().read().unwrap(), [64.0; 64]);
    let expected = [2.0, 2.0, 2.0, 1.0];
    assert_eq!(graph.counts().unwrap().read().unwrap().map(|row| row[0]), expected);
}
