//! Groups of memory as build arguments: a tensor of its own for each field of each layer.

use crate::common::*;
use graph_runtime::DeviceBuffer;

cuda_graph! {
    /// The tensors of one layer.
    group Layer {
        norm: device [f32; d],
        /// Rows of `q`.
        q:    device [[f32; d]; q],
        bias: device [f32; 4],
        kv:   mut device [[f32; d]; 2],
    }

    /// `x += factor * (norm + q[1])` for each layer; the cache has the sum, and `factor` in its other row.
    graph Decode(n: usize, d: usize, q: usize, layers: [Layer; n]) {
        device x:      [f32; d];
        device first:  [f32; 4];
        host   output: [f32; d];
        param  factor: f32 = 1.0;

        memset begin = x <- 0.0;
        memcpy bias  = layers[0].bias -> first;
        each i in 0..n {
            memset blank = layers[i].kv[1] <- factor;
        }
        for i in 0..n {
            kernel sum  = add<<<1, d as u32>>>(&layers[i].norm, &layers[i].q[1], &mut layers[i].kv[0], d as u32) after begin;
            kernel axpy = saxpy<<<1, d as u32>>>(factor, &layers[i].kv[0], &mut x, d as u32) after sum;
        }
        memcpy down = x -> output after axpy;
    }
}

fn layer(device: &Device, norm: f32, q: f32) -> Layer {
    let layer = Layer {
        norm: device.alloc_slice(8).unwrap(),
        q: device.alloc_table([2, 8]).unwrap(),
        bias: device.alloc().unwrap(),
        kv: device.alloc_table([2, 8]).unwrap(),
    };
    layer.norm.copy_from(&[norm; 8]).unwrap();
    layer.q.copy_from(&[[0.0; 8], [q; 8]].concat()).unwrap();
    layer.bias.copy_from(&[norm; 4]).unwrap();
    layer
}

fn layers(device: &Device) -> Vec<Layer> {
    vec![
        layer(device, 1.0, 10.0),
        layer(device, 2.0, 20.0),
        layer(device, 3.0, 30.0),
    ]
}

fn sum(graph: &mut Decode) -> f32 {
    graph.launch().unwrap();
    graph.output().unwrap()[7]
}

#[test]
fn each_layer_is_memory_of_its_own() {
    let device = device();
    let layers = layers(&device);
    let mut graph = Decode::build(&device, 3, 8, 2, &layers).unwrap();
    assert_eq!(sum(&mut graph), 66.0);
    assert_eq!(graph.first().unwrap().read().unwrap()[0], 1.0);
    graph.set_factor(2.0).unwrap();
    assert_eq!(sum(&mut graph), 132.0);
    assert_eq!(layers[1].kv.read_vec().unwrap()[7..9], [22.0, 2.0]);

    assert_eq!(graph.layers(2).kv().unwrap().read_vec().unwrap()[..2], [33.0; 2]);
    assert_eq!(
        graph.layers(2).q().unwrap().row(1).unwrap().read_vec().unwrap(),
        [30.0; 8]
    );
    graph.layers_mut(2).kv().unwrap().copy_from(&[7.0; 16]).unwrap();
    assert_eq!(layers[2].kv.read_vec().unwrap(), [7.0; 16]);
    let error = graph.layers(3).norm().err().unwrap().to_string();
    assert_eq!(
        error,
        "graph `Decode`, memory `layers[3].norm`: the place reaches outside"
    );
    assert_eq!(graph.blank(1).name(), "blank[1]");
}

#[test]
fn one_layer_is_replaced() {
    let device = device();
    let all = layers(&device);
    let mut graph = Decode::build(&device, 3, 8, 2, all.clone()).unwrap();
    assert_eq!(sum(&mut graph), 66.0);
    graph.rebind_layers(1, layer(&device, 100.0, 200.0)).unwrap();
    assert_eq!(sum(&mut graph), 344.0);
    graph.rebind_layers(1, &all[1]).unwrap();
    assert_eq!(sum(&mut graph), 66.0);
    // A field may be shared with the layer that was there, which is how LoRA replaces a part.
    let adapted = Layer {
        q: layer(&device, 0.0, 40.0).q,
        ..all[1].clone()
    };
    graph
        .edit(|graph| {
            graph.rebind_layers(1, &adapted)?;
            graph.set_factor(2.0)
        })
        .unwrap();
    assert_eq!(sum(&mut graph), 2.0 * 86.0);
    let error = graph.rebind_layers(3, &all[0]).unwrap_err().to_string();
    assert_eq!(
        error,
        "graph `Decode`, memory `layers[3].norm`: the place reaches outside"
    );
}

#[test]
fn a_layer_is_replaced_whole_or_not_at_all() {
    let device = device();
    let all = layers(&device);
    let mut graph = Decode::build(&device, 3, 8, 2, &all).unwrap();
    let mut wrong = layer(&device, 100.0, 200.0);
    wrong.kv = device.alloc_table([3, 8]).unwrap();
    has(
        refused(graph.rebind_layers(0, &wrong)),
        &["[shape-mismatch]", "`layers[0].kv`"],
    );
    assert_eq!(sum(&mut graph), 66.0, "nothing has changed");
    // The graph writes `kv` of each layer, in no order, so two layers cannot have one.
    let twice = Layer {
        kv: all[1].kv.clone(),
        ..all[0].clone()
    };
    refused(graph.rebind_layers(0, &twice))
        .says("`layers[0].kv` and `layers[1].kv`, which are shared memory that overlaps [race]");
    assert_eq!(sum(&mut graph), 66.0);
    // What it only reads may be one buffer for all.
    let tied = Layer {
        q: all[1].q.clone(),
        ..all[0].clone()
    };
    graph.rebind_layers(0, &tied).unwrap();
    assert_eq!(sum(&mut graph), 76.0);
}

#[test]
fn build_compares_the_layers_with_the_declaration() {
    let device = device();
    let all = layers(&device);
    let few = refused(Decode::build(&device, 4, 8, 2, &all));
    has(
        few,
        &[
            "`layers` has 4 groups, but the memory shared as `layers` has 3",
            "[shape-mismatch]",
        ],
    );
    has(
        refused(Decode::build(&device, 3, 8, 3, &all)),
        &["`layers[0].q`", "[shape-mismatch]"],
    );
    let mut short = all.clone();
    short[2].norm = device.alloc_slice(7).unwrap();
    refused(Decode::build(&device, 3, 8, 2, &short)).says("`layers[2].norm`");
    let mut aliased = all;
    aliased[2].kv = aliased[0].kv.clone();
    has(
        refused(Decode::build(&device, 3, 8, 2, &aliased)),
        &["[race]", "`layers[2].kv`", "[aliased-argument]"],
    );
    assert!(
        Decode::build(&device, 0, 8, 2, [] as [Layer; 0]).is_err(),
        "`layers[0].bias` is no layer's"
    );
}

cuda_graph! {
    group Pair { left: device [u32; WIDTH], pub(self) right: mut device [u32; WIDTH] }

    /// Two arguments of one group, constants as lengths, in a `while` and by literals; a part that a param chooses.
    graph Pairs<const N: usize>(old: [Pair; N], new: [Pair; 2]) {
        device more:  u32;
        param  count: usize = 1;

        memset go = more <- 1;
        while copy = more {
            memcpy low  = old[0].left -> new[0].right;
            memcpy high = old[1].left[1..3] -> new[1].right[..2];
            memset stop = more <- 0 after low, high;
        } after go;
        memset last = old[1].right[..count] <- 9;
    }
}

const WIDTH: usize = 4;

#[test]
fn groups_have_constant_lengths_too() {
    let device = device();
    let pair = || Pair {
        left: device.alloc().unwrap(),
        right: device.alloc().unwrap(),
    };
    let (old, new): (Vec<Pair>, [Pair; 2]) = (vec![pair(), pair()], [pair(), pair()]);
    old[0].left.copy_from(&[1, 2, 3, 4]).unwrap();
    old[1].left.copy_from(&[5, 6, 7, 8]).unwrap();
    let mut graph = Pairs::<2>::build(&device, &old[..], &new).unwrap();
    graph.launch().unwrap();
    let right: &DeviceBuffer<[u32; 4]> = &new[1].right;
    assert_eq!(*right.read().unwrap(), [6, 7, 0, 0]);
    assert_eq!(*new[0].right.read().unwrap(), [1, 2, 3, 4]);
    assert_eq!(*graph.old(1).right().unwrap().read().unwrap(), [9, 0, 0, 0]);
    graph.set_count(3).unwrap();
    graph.launch().unwrap();
    assert_eq!(*graph.old(1).right().unwrap().read().unwrap(), [9, 9, 9, 0]);
    has(refused(graph.set_count(5)), &["[out-of-bounds]", "`old[_].right`"]);
    let names: Vec<_> = Pairs::<2>::PLAN
        .resources
        .iter()
        .map(|resource| resource.name.clone())
        .collect();
    assert_eq!(names, ["old.left", "old.right", "new.left", "new.right", "more"]);
}

/// The memory of an engine: an arena of bytes, of which a checkpoint says what is where.
#[test]
fn tensors_of_an_arena_are_bound_as_they_are() {
    let device = device();
    let arena = device.alloc_slice::<u8>(3 * 256).unwrap();
    let (all, mut tied) = (layers(&device), Vec::new());
    for (index, layer) in all.iter().enumerate() {
        let q = arena.rows(256 * index..256 * index + 64).unwrap();
        let q = q.cast::<f32>().unwrap();
        refused(q.table([3, 8])).says("has more or fewer elements than a table");
        let q = q.table([2, 8]).unwrap();
        q.copy_from(&layer.q.read_vec().unwrap()).unwrap();
        tied.push(Layer { q, ..layer.clone() });
    }
    let mut graph = Decode::build(&device, 3, 8, 2, tied).unwrap();
    assert_eq!(sum(&mut graph), 66.0);
}
