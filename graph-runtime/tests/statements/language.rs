//! Every statement of `cuda_graph!`, run: on the emulator, or on the GPU with `CUDA_GRAPH_TEST_DEVICE=cuda`.

use crate::common::*;

#[cuda_kernels("tests/kernels/test_kernels.ptx")]
unsafe extern "C" {
    #[requires(threads <= input.len() && threads <= out.len())]
    #[requires(shared >= block * 4)]
    #[link_name = "reverse_shared"]
    safe fn reverse(input: &[f32], out: &mut [f32]);
}

cuda_graph! {
    /// Two params, one used twice, one in the dimensions of a launch.
    graph Params {
        host   output: [f32; 256];
        device x: [f32; 256];
        device y: [f32; 256];
        param  factor: f32 = 2.0;
        param  blocks: u32 = 2;
        param  start: f32 = 1.0;

        memset ones  = x <- start;
        memset zeros = y <- 0.0;
        kernel up    = scale<<<blocks, 64>>>(&mut x, factor, 256) after ones;
        kernel add   = saxpy<<<4, 64>>>(factor * 0.5, &x, &mut y, 256) after up, zeros;
        memcpy down  = y -> output after add;
    }
}

#[test]
fn params_change_what_uses_them_unless_a_limit_or_a_contract_breaks() {
    let mut graph = launched(Params::build(&device())).unwrap();
    // The first two blocks scale 128 ones by 2; saxpy multiplies by 1.
    assert_eq!(graph.output().unwrap()[..128], [2.0; 128]);
    assert_eq!(graph.output().unwrap()[128..], [1.0; 128]);

    graph.set_factor(4.0).unwrap();
    assert_eq!((graph.factor(), graph.blocks(), graph.start()), (4.0, 2, 1.0));
    graph.launch().unwrap();
    assert_eq!(graph.output().unwrap()[..128], [8.0; 128]);
    assert_eq!(graph.output().unwrap()[128..], [2.0; 128]);

    graph.set_blocks(4).unwrap();
    graph.set_start(0.5).unwrap();
    graph.launch().unwrap();
    assert_eq!(graph.output().unwrap(), &[4.0; 256]);

    let mut graph = Limit::<16>::build(&device()).unwrap();
    graph.set_n(7).unwrap();
    let text = graph.set_n(17).unwrap_err().to_string();
    text.says("kernel `scale` requires `n <= data.len()` [contract]");
    assert!(text.contains("n = 17, data.len() = 16"), "{text}");
    assert_eq!(graph.n(), 7);
    graph.launch().unwrap();
    graph.synchronize().unwrap();

    let mut graph = Params::build(&device()).unwrap();
    let error = graph.set_blocks(0).unwrap_err();
    assert!(matches!(error, Error::Invalid { .. }), "{error}");
    let text = error.to_string();
    has(&text, &["`up`", "`grid.x` is 0", "[launch-config]"]);
    assert_eq!(graph.blocks(), 2);
    graph.launch().unwrap();
    assert_eq!(graph.output().unwrap()[127..129], [2.0, 1.0]);
}

cuda_graph! {
    graph Limit<const N: usize> {
        device data: [f32; N];
        param n: u32 = N as u32;
        kernel up = scale<<<1, 32>>>(&mut data, 1.0, n);
    }
}

cuda_graph! {
    /// Parts of resources, in every spelling, and memory of several dimensions.
    graph Parts<T: graph_runtime::Element, const N: usize> where T: Default {
        host   source: [[T; N]; 4];
        device middle: [[T; N]; 4];
        host   target: [[T; N]; 4];

        memcpy first  = source[0] -> middle[3];
        memcpy rest   = source[1..] -> middle[..3];
        join   up     after first, rest;
        memcpy low    = middle[..2] -> target[2..4] after up;
        memcpy high   = middle[2..=3] -> target[..2] after up;
    }
}

#[test]
fn parts_move_rows_and_the_plan_is_static_data() {
    let mut graph = Parts::<u16, 3>::build(&device()).unwrap();
    *graph.source_mut().unwrap() = [[0, 1, 2], [10, 11, 12], [20, 21, 22], [30, 31, 32]];
    graph.launch().unwrap();
    let expected = &[[30, 31, 32], [0, 1, 2], [10, 11, 12], [20, 21, 22]];
    assert_eq!(graph.target().unwrap(), expected);
    let expected = [[10, 11, 12], [20, 21, 22], [30, 31, 32], [0, 1, 2]];
    assert_eq!(*graph.middle().unwrap().read().unwrap(), expected);

    const PLAN: graph_runtime::Plan = Parts::<u16, 3>::PLAN;
    let plan = PLAN;
    let found = (plan.name.as_ref(), PLAN.nodes.len(), PLAN.resources[1].bytes);
    assert_eq!(found, ("Parts", 5, 24));
    assert_eq!(PLAN.nodes[2].after.as_ref(), [0, 1]);
    assert_eq!(PLAN.levels(), 3);
}

const HALF: usize = 4;

cuda_graph! {
    /// Memsets of every width, on parts split at a constant.
    graph Sets {
        device bytes: [u8; 8];
        device words: [u32; 8];
        device doubles: [[f64; 2]; 2];
        device whole: f64;
        device deep: [[[[u16; 2]; 2]; 2]; 2];

        memset low    = bytes[..HALF] <- 7;
        memset high   = bytes[HALF..] <- 9;
        memset zero   = words[0] <- 0x01020304;
        memset others = words[1..] <- u32::MAX;
        memset row    = doubles[1] <- 0.1;
        memset one    = whole <- 0.3;
        memset half   = deep[1] <- 0x0102;
    }
}

#[test]
fn memsets_set_every_width() {
    let graph = launched(Sets::build(&device())).unwrap();
    assert_eq!(*graph.bytes().unwrap().read().unwrap(), [7, 7, 7, 7, 9, 9, 9, 9]);
    let words = graph.words().unwrap().read().unwrap();
    assert_eq!((words[0], &words[1..]), (0x01020304, &[u32::MAX; 7][..]));
    assert_eq!(*graph.doubles().unwrap().read().unwrap(), [[0.0, 0.0], [0.1, 0.1]]);
    assert_eq!(*graph.whole().unwrap().read().unwrap(), 0.3);
    let expected = [[[[0; 2]; 2]; 2], [[[0x0102; 2]; 2]; 2]];
    assert_eq!(*graph.deep().unwrap().read().unwrap(), expected);
}

#[test]
fn arguments_of_every_kind_arrive() {
    // Arguments of every kind: structs, doubles, shaped arrays, dynamic shared memory, parts of one resource.
    let mut graph = cuda_graph! { &device() =>
        host   numbers: [f32; 64];
        host   reversed: [f32; 64];
        host   halves: [f32; 64];
        host   product: [[f32; 16]; 16];
        host   sums: [f64; 8];
        device data: [f32; 64];
        device back: [f32; 64];
        device parts: [f32; 64];
        device a: [[f32; 16]; 16];
        device b: [[f32; 16]; 16];
        device c: [[f32; 16]; 16];
        device x: [f64; 8];
        device y: [f64; 8];
        param  affine: Affine = Affine { scale: 2.0, shift: 1.0, n: 32 };

        memcpy upload = numbers -> data;
        kernel turn   = reverse<<<1, 64, 256>>>(&data, &mut back) after upload;
        memcpy down   = back -> reversed after turn;
        memcpy start  = data[..32] -> parts[..32] after upload;
        // SAFETY: 32 threads, and both halves have 32 elements.
        kernel split  = unsafe copy_struct<<<1, 32>>>(affine, &parts[..32], &mut parts[32..]) after start;
        memcpy halve  = parts -> halves after split;
        memset ones   = a <- 1.0;
        memset twos   = b <- 2.0;
        kernel matmul = matmul<<<1, (16, 16)>>>(&a, &b, &mut c) after ones, twos;
        memcpy out    = c -> product after matmul;
        memset xs     = x <- 0.25;
        memset ys     = y <- 1.0;
        kernel axpy   = axpy_f64<<<(1, 1, 1), (8,)>>>(4.0, &x, &mut y, 8) after xs, ys;
        memcpy sum    = y -> sums after axpy;
    }
    .unwrap();
    let memory = graph.memory_mut().unwrap();
    *memory.numbers = counting();
    memory.reversed.fill(-1.0);
    graph.launch().unwrap();
    assert_eq!(graph.reversed().unwrap(), &counting().map(|number| 63.0 - number));
    let halves = graph.halves().unwrap();
    assert!((0..32).all(|index| halves[index] == index as f32 && halves[index + 32] == 2.0 * index as f32 + 1.0));
    assert_eq!(graph.product().unwrap(), &[[32.0; 16]; 16]);
    assert_eq!(graph.sums().unwrap(), &[2.0; 8]);

    graph.set_affine(Affine::new(0.0, 5.0, 1)).unwrap();
    graph.launch().unwrap();
    assert_eq!(graph.halves().unwrap()[32..34], [5.0, 3.0]); // only the first is computed anew
}

cuda_graph! {
    /// A module-scope variable is kept between launches, and is each graph's own.
    graph Counter {
        device out: [u32; 1];
        kernel count = count<<<1, 1>>>(&mut out);
    }
}

#[test]
fn handles_name_and_switch_nodes() {
    let mut graph = Counter::build(&device()).unwrap();
    assert_eq!(graph.count().name(), "count");
    graph.count().set_enabled(false).unwrap();
    graph.launch().unwrap();
    assert_eq!(*graph.out().unwrap().read().unwrap(), [0]);
    graph.count().set_enabled(true).unwrap();
    graph.launch().unwrap();
    assert_eq!(*graph.out().unwrap().read().unwrap(), [1]);
}

#[test]
fn a_graph_may_be_declared_in_a_function() {
    const LEN: usize = 32;
    cuda_graph! {
        graph Local {
            device data: [u32; LEN];
            kernel fill = fill_index<<<LEN / 8, 1 << 3>>>(&mut data);
        }
    }
    let graph = launched(Local::build(&device())).unwrap();
    assert_eq!(
        *graph.data().unwrap().read().unwrap(),
        std::array::from_fn(|index| index as u32)
    );
}
