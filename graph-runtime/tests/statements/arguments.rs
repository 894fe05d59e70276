//! Build arguments: plain values, and shapes whose outermost length is one.

use crate::common::*;

cuda_graph! {
    /// A value in every place that takes one; `threads` is used beside a param only.
    graph Everywhere(n: usize, threads: u32, from: usize, value: f32) {
        host   output: [[f32; 4]; n];
        device data:   [[f32; 4]; n];
        device row:    [f32; 4];
        param  factor: f32 = value * 2.0;

        memset low   = data[..from] <- value;
        memset high  = data[from..] <- -value;
        kernel scale = scale<<<n as u32, threads>>>(&mut data, factor, (4 * n) as u32) after low, high;
        memcpy pick  = data[n - 1] -> row after scale;
        memcpy place = row -> data[0] after pick;
        memcpy down  = data -> output after place;
    }
}

cuda_graph! {
    /// Lengths, dimensions and a first value that some arguments leave without a value.
    graph Inner(n: usize, parts: u32) {
        device inner: [f32; n - 1];
        device table: [[f32; n - 1]; 64 / n];
        param  step: u32 = 64 / parts;

        memset clear = inner <- 0.0;
        memset blank = table <- 0.0;
        kernel scale = scale<<<(n as u32 + step - 1) / step * 2, (step - 1, 1)>>>(&mut inner, 2.0, n as u32 - 1) after clear;
    }
}

cuda_graph! {
    /// Values that are computed of build arguments, in every place that takes one.
    graph Computed(n: usize, threads: u32) {
        let half = (rest + 1) / 2;
        let rest = n - 1;
        let wide: f32 = half as f32;
        let count = half as u32;
        device data:   [f32; rest];
        host   output: [f32; rest];
        host   seen:   [u32; 2];
        param  factor: f32 = wide;

        memset low = data[..half] <- wide;
        memset high = data[half..] <- -1.0;
        kernel scale = scale<<<1, threads>>>(&mut data, factor, count) after low, high;
        for i in half..rest {
            memset last = data[i] <- wide + 1.0 after scale;
        }
        call note = |&mut seen| *seen = [count, rest as u32];
        memcpy down = data -> output after last;
    }

    /// A child, whose values are its own.
    graph Parent(n: usize) {
        let size = n.div_ceil(2) * 2;
        device data: [f32; size];
        graph step = Halved(data: &mut data, n: size);
    }

    graph Halved(n: usize) {
        let half = n / 2;
        device data: [f32; n];
        memset low = data[..half] <- 1.0;
    }
}

#[test]
fn values_are_computed_of_arguments() {
    let mut graph = Computed::build(&device(), 6, 4).unwrap();
    graph.launch().unwrap();
    assert_eq!(graph.output().unwrap(), [9.0, 9.0, 9.0, 4.0, 4.0]);
    assert_eq!(graph.seen().unwrap(), &[3, 5]);
    graph.set_factor(2.0).unwrap();
    graph.launch().unwrap();
    assert_eq!(graph.output().unwrap()[..4], [6.0, 6.0, 6.0, 4.0]);
    let refused = Computed::build(&device(), 0, 4).unwrap_err().to_string();
    assert_eq!(
        refused,
        "graph `Computed`: `n - 1` has no value of its type where `n` is 0"
    );

    let mut parent = Parent::build(&device(), 3).unwrap();
    parent.launch().unwrap();
    assert_eq!(parent.data().unwrap().read_vec().unwrap(), [1.0, 1.0, 0.0, 0.0]);
}

cuda_graph! {
    /// Nodes with the names of the scratch memory that they write.
    graph Namesakes {
        scratch low:  [f32; 4];
        scratch high: [f32; 4];
        host    out:  [f32; 4];

        memset low  = low <- 2.0;
        kernel scaled = scale<<<1, 4>>>(&mut low, 2.0, 4) after low;
        memcpy high = low -> high after scaled;
        memcpy down = high -> out after high;
    }
}

#[test]
fn nodes_may_have_the_names_of_scratch_memory() {
    let mut graph = Namesakes::build(&device()).unwrap();
    graph.launch().unwrap();
    assert_eq!(graph.out().unwrap(), &[4.0; 4]);
    assert_eq!(graph.low().name(), "low");
    graph.scaled().set_enabled(false).unwrap();
    graph.launch().unwrap();
    assert_eq!(graph.out().unwrap(), &[2.0; 4]);
}

#[test]
fn arithmetic_without_a_value_is_an_error_that_names_it() {
    let refused = |n: usize, parts: u32| Inner::build(&device(), n, parts).unwrap_err().to_string();
    let told = |expression: &str, values: &str| {
        format!("graph `Inner`: `{expression}` has no value of its type where {values}")
    };
    assert_eq!(refused(0, 4), told("n - 1", "`n` is 0"));
    assert_eq!(refused(8, 0), told("64 / parts", "`parts` is 0"));
    assert_eq!(
        refused(8, 65),
        told("(n as u32 + step - 1) / step * 2", "`n` is 8 and `step` is 0")
    );
    let mut graph = Inner::build(&device(), 8, 4).unwrap();
    assert_eq!(graph.inner().unwrap().read_vec().unwrap(), [0.0; 7]);
    let error = graph.set_step(0).unwrap_err();
    assert_eq!(
        error.to_string(),
        told("(n as u32 + step - 1) / step * 2", "`n` is 8 and `step` is 0")
    );
    assert_eq!(graph.step(), 16, "nothing has changed");
    graph.launch().unwrap();
}

#[test]
fn values_and_lengths_are_checked_and_fixed_by_build() {
    refused(Everywhere::build(&device(), 5, 0, 2, 3.0)).says("[launch-config]");
    refused(Everywhere::build(&device(), 5, 4, 6, 3.0)).says("[out-of-bounds]");

    assert!(Copies::build(&device(), 4, 4).is_ok());
    has(refused(Copies::build(&device(), 4, 8)), &["[shape-mismatch]", "`copy`"]);
    has(
        refused(Copies::build(&device(), 8, 8)),
        &["[shape-mismatch]", "`other`"],
    );

    let mut graph = Everywhere::build(&device(), 5, 4, 2, 3.0).unwrap();
    assert_eq!(graph.factor(), 6.0);
    graph.launch().unwrap();
    let rows = [[-18.0; 4], [18.0; 4], [-18.0; 4], [-18.0; 4], [-18.0; 4]];
    assert_eq!(graph.output().unwrap(), rows);
    assert_eq!(graph.data().unwrap().read_vec().unwrap(), rows);

    // The setter evaluates the launch again, with the values of `build`.
    graph.set_factor(1.0).unwrap();
    graph.launch().unwrap();
    assert_eq!(graph.output().unwrap()[1], [3.0; 4]);

    let device = device();
    let mut small = Everywhere::build(&device, 1, 4, 0, 1.0).unwrap();
    let mut large = Everywhere::build(&device, 100, 4, 50, 1.0).unwrap();
    small.launch().unwrap();
    large.launch().unwrap();
    assert_eq!((small.output().unwrap().len(), large.output().unwrap().len()), (1, 100));
    large.output_mut().unwrap()[99] = [7.0; 4];
    assert_eq!(large.output().unwrap()[99], [7.0; 4]);
    let memory = large.memory_mut().unwrap();
    assert_eq!(memory.output.len(), 100);
}

cuda_graph! {
    graph Copies(from: usize, to: usize) {
        host   input: [u32; from];
        device data:  [u32; to];
        device fixed: [u32; 4];
        memcpy copy  = input -> data;
        memcpy other = input -> fixed;
    }

    /// Contracts over lengths that only build knows.
    graph Index(threads: u32, n: usize) {
        device out: [u32; n];
        kernel fill = fill_index<<<1, threads>>>(&mut out);
    }
}

#[test]
fn contracts_over_values_are_checked_by_build() {
    let graph = launched(Index::build(&device(), 8, 8)).unwrap();
    assert_eq!(graph.out().unwrap().read_vec().unwrap(), [0, 1, 2, 3, 4, 5, 6, 7]);
    refused(Index::build(&device(), 9, 8)).says("[contract]");
    assert!(Index::build(&device(), 1, 0).is_err(), "no element for one thread");
}

/// Not `Copy`, and not used beside a param.
#[derive(Clone)]
struct Sizes {
    rows: usize,
}

cuda_graph! {
    /// Types and const generics of the graph in the types of its arguments.
    graph Generic<T: Element, const N: usize>(start: T, sizes: Sizes) {
        device x: [[T; N]; sizes.rows];
        param value: T = start;
        memset set = x <- value;
    }
}

#[test]
fn arguments_may_be_of_any_type_and_lengths_zero() {
    let mut graph = Generic::<u16, 3>::build(&device(), 7, Sizes { rows: 2 }).unwrap();
    graph.launch().unwrap();
    assert_eq!(graph.x().unwrap().read_vec().unwrap(), [[7; 3]; 2]);
    graph.set_value(8).unwrap();
    graph.launch().unwrap();
    assert_eq!(graph.x().unwrap().read_vec().unwrap(), [[8; 3]; 2]);

    let graph = launched(Empty::build(&device(), 0)).unwrap();
    assert_eq!(graph.x().unwrap().read_vec().unwrap(), [0.0_f32; 0]);
    assert_eq!(Empty::PLAN.resources[0].bytes, 0, "only build knows");
}

cuda_graph! {
    graph Empty(n: usize) {
        device x: [f32; n];
        memset set = x <- 1.0;
    }
}

cuda_graph! {
    /// Writes memory that others read.
    graph Train<const D: usize>(w: mut device [[f32; D]; D], step: f32) {
        memset set = w <- step;
    }

    /// Reads it, and lends what it writes by guards.
    graph Infer<const D: usize>(w: device [[f32; D]; D], out: mut host [[f32; D]; D]) {
        memcpy copy = w -> out;
    }
}

#[test]
fn graphs_share_memory_that_guards_lend_and_that_is_rebound() {
    let device = device();
    let weights = device.alloc::<[[f32; 4]; 4]>().unwrap();
    let out = device.alloc_host::<[[f32; 4]; 4]>().unwrap().share();
    let mut train = Train::build(&device, &weights, 2.0).unwrap();
    let mut infer = Infer::build(&device, weights.clone(), &out).unwrap();
    train.launch().unwrap();
    infer.launch().unwrap();
    assert_eq!(*infer.out().unwrap(), [[2.0; 4]; 4]);
    assert_eq!(*out.read().unwrap(), [[2.0; 4]; 4]);
    assert_eq!(*infer.w().unwrap().read().unwrap(), [[2.0; 4]; 4]);

    train.w_mut().unwrap().copy_from(&[[3.0; 4]; 4]).unwrap();
    assert_eq!(*weights.read().unwrap(), [[3.0; 4]; 4]);
    infer.out_mut().unwrap()[0][0] = 1.0;
    assert_eq!(out.read().unwrap()[0][0], 1.0);

    let weights = device.alloc::<[[f32; 2]; 2]>().unwrap();
    let out = device.alloc_host::<[[f32; 2]; 2]>().unwrap();
    let mut infer = Infer::build(&device, &weights, out.share()).unwrap();
    let other = device.alloc_host::<[[f32; 2]; 2]>().unwrap().share();
    infer.rebind_out(&other).unwrap();
    let guard = other.read().unwrap();
    assert!(matches!(infer.launch(), Err(Error::InUse { .. })));
    drop(guard);
    infer.launch().unwrap();

    let alloc = || device.alloc::<[[f32; 2]; 2]>().unwrap();
    let (first, second) = (alloc(), alloc());
    let mut train = Train::<2>::build(&device, &first, 5.0).unwrap();
    train.rebind_w(&second).unwrap();
    train.launch().unwrap();
    assert_eq!(*first.read().unwrap(), [[0.0; 2]; 2]);
    assert_eq!(*second.read().unwrap(), [[5.0; 2]; 2]);
    assert_eq!(*train.w().unwrap().read().unwrap(), [[5.0; 2]; 2]);
}

cuda_graph! {
    /// Lengths that only build knows, of memory that it is given.
    graph Slices(n: usize, input: host [u32; n], out: mut device [u32; n], fixed: device [u32; 4]) {
        device sum: [u32; n];
        memcpy up    = input -> out;
        memcpy copy  = fixed -> sum[..4];
        kernel index = fill_index<<<1, n as u32>>>(&mut out) after up;
    }
}

#[test]
fn lengths_of_memory_are_checked_by_build() {
    let device = device();
    let input = device.alloc_host_slice::<u32>(8).unwrap().share();
    let out = device.alloc_slice::<u32>(8).unwrap();
    let fixed = device.alloc_slice::<u32>(4).unwrap();
    let mut graph = launched(Slices::build(&device, 8, &input, &out, &fixed)).unwrap();
    assert_eq!(out.read_vec().unwrap(), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(graph.input().unwrap().len(), 8);

    has(
        refused(Slices::build(&device, 9, &input, &out, &fixed)),
        &["[shape-mismatch]", "`input`"],
    );
    has(
        refused(Slices::build(&device, 8, &input, &out, &out)),
        &["[shape-mismatch]", "`fixed`"],
    );
    let longer = device.alloc_slice::<u32>(9).unwrap();
    assert!(graph.rebind_out(&longer).is_err());
    assert!(graph.rebind_fixed(&longer).is_err());

    // Fixed lengths of the memory, unknown ones of the graph.
    let eight = device.alloc_host::<[u32; 8]>().unwrap();
    assert!(Slices::build(&device, 8, eight, &out, device.alloc::<[u32; 4]>().unwrap()).is_ok());

    let data = device.alloc_slice::<u32>(4).unwrap();
    let input = device.alloc_host_slice::<u32>(4).unwrap().share();
    has(
        refused(Slices::build(&device, 4, &input, &data, &data)),
        &[
            "access `out` and `fixed`, which are shared memory that overlaps [race]",
            "16 bytes belong to both: memory under two names is one memory [aliased-argument]",
        ],
    );
}
