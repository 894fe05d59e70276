//! Memory that kernels access by atomic operations alone, `&[Atomic<T>]`: unordered nodes may update it together.

use crate::common::*;

#[cuda_kernels("tests/kernels/atomic.ptx")]
unsafe extern "C" {
    #[requires(threads <= bytes.len())]
    safe fn histogram(bins: &[Atomic<u32>; 256], bytes: &[u8]);
    #[requires(threads <= bytes.len())]
    safe fn histogram_rows(bins: &[[Atomic<u32>; 256]; 4], bytes: &[u8]);
    #[requires(threads <= output.len() && threads <= target.len())]
    safe fn add_loss(loss: &Atomic<f32>, output: &[f32], target: &[f32]);
    safe fn update_i32(memory: &Atomic<i32>);
    safe fn update_u64(memory: &Atomic<u64>);
    safe fn update_i64(memory: &Atomic<i64>);
    safe fn update_f64(memory: &Atomic<f64>);
    safe fn update_f16(memory: &Atomic<u16>);
    #[requires(threads <= bins.len() && threads <= out.len())]
    safe fn look(bins: &[u32], out: &mut [u32]);
    safe fn count_down(memory: &Atomic<u32>);
    fn count_and_look(bins: &[Atomic<u32>], out: &mut [u32]);
}

cuda_graph! {
    /// Counts the bytes of two inputs at the same time, in the same bins.
    graph Histogram {
        host left: [u8; 256];
        host right: [u8; 256];
        host counts: [u32; 256];
        device bytes: [[u8; 256]; 2];
        device bins: [u32; 256];

        memcpy up_left = left -> bytes[0];
        memcpy up_right = right -> bytes[1];
        memset clear = bins <- 0;
        kernel count_left = histogram<<<2, 128>>>(&bins, &bytes[0]) after up_left, clear;
        kernel count_right = histogram<<<2, 128>>>(&bins, &bytes[1]) after up_right, clear;
        memcpy down = bins -> counts after count_left, count_right;
    }
}

#[test]
fn unordered_nodes_count_in_the_same_bins() {
    let mut graph = Histogram::build(&shuffling(3)).unwrap();
    for seed in 0..8_u8 {
        let left: [u8; 256] = std::array::from_fn(|index| (index as u8 / 3).wrapping_mul(seed));
        let right: [u8; 256] = std::array::from_fn(|index| (index as u8 ^ seed) & 15);
        *graph.left_mut().unwrap() = left;
        *graph.right_mut().unwrap() = right;
        graph.launch().unwrap();
        let mut expected = [0; 256];
        for byte in left.into_iter().chain(right) {
            expected[usize::from(byte)] += 1;
        }
        assert_eq!(graph.counts().unwrap(), &expected);
    }
}

#[test]
fn plans_and_drawings_tell_updates_from_reads() {
    let mut builder = GraphBuilder::new(&Device::emulator(), "Built");
    let bytes = builder.device::<[u8; 64]>("bytes");
    let bins = builder.device::<[u32; 256]>("bins");
    builder.kernel("count_left", Launch::new(1, 64), histogram::call(&bins, &bytes));
    let graph = builder.build().unwrap();
    for (plan, node) in [(&Histogram::PLAN, 3), (&graph.plan(), 0)] {
        let modes = plan.nodes[node].accesses.iter().map(|access: &PlanAccess| access.mode);
        assert_eq!(modes.collect::<Vec<_>>(), [Mode::Atomic, Mode::Read]);
        let label = "kernel count_left<br>reads bytes<br>updates bins";
        assert!(plan.to_mermaid().contains(label), "{}", plan.to_mermaid());
    }
}

#[test]
fn several_nodes_add_up_a_loss() {
    // The loss of three parts, added up by three nodes in one number.
    let mut graph = cuda_graph! { &shuffling(5) =>
        device output: [[f32; 64]; 3];
        device target: [[f32; 64]; 3];
        scratch sum: f32;
        host loss: f32;

        memset clear = sum <- 0.0;
        for part in 0..3 {
            kernel first = add_loss<<<1, 32>>>(&sum, &output[part], &target[part]) after clear;
        }
        kernel again = add_loss<<<1, 64>>>(&sum, &output[0], &target[1]) after clear;
        memcpy down = sum -> loss after first, again;
    }
    .unwrap();
    graph.output_mut().unwrap().copy_from(&[[2.0; 64]; 3]).unwrap();
    let targets = [[1.0; 64], [4.0; 64], [2.0; 64]];
    graph.target_mut().unwrap().copy_from(&targets).unwrap();
    for _ in 0..2 {
        graph.launch().unwrap();
        // 32 of 1, of 4 and of 0, and 64 of 4.
        assert_eq!(*graph.loss().unwrap(), 32.0 + 128.0 + 256.0);
    }
}

#[test]
fn every_type_and_shape_is_updated() {
    let mut builder = GraphBuilder::new(&shuffling(1), "Types");
    let (a, b) = (builder.device::<i32>("a"), builder.device::<u64>("b"));
    let (c, d) = (builder.device::<i64>("c"), builder.device::<f64>("d"));
    let mut half = builder.device::<u16>("half");
    let mut bytes = builder.device::<[u8; 64]>("bytes");
    let bins = builder.device::<[[u32; 256]; 4]>("bins");
    let launch = Launch::new(4, 16);
    for number in 0..2 {
        builder.kernel(format!("a{number}"), launch, update_i32::call(&a));
        builder.kernel(format!("b{number}"), launch, update_u64::call(&b));
        builder.kernel(format!("c{number}"), launch, update_i64::call(&c));
        builder.kernel(format!("d{number}"), launch, update_f64::call(&d));
    }
    let zero = builder.memset("zero", &mut half, 0_u16);
    for number in 0..2 {
        let node = builder.kernel(format!("half{number}"), Launch::new(1, 32), update_f16::call(&half));
        builder.after(node, &[zero]);
    }
    let set = builder.memset("set", &mut bytes, 7_u8);
    for number in 0..2 {
        let node = builder.kernel(format!("rows{number}"), launch, histogram_rows::call(&bins, &bytes));
        builder.after(node, &[set]);
    }
    let graph = launched(builder.build()).unwrap();
    assert_eq!(*graph.device(&a).unwrap().read().unwrap(), 63);
    assert_eq!(*graph.device(&b).unwrap().read().unwrap(), 2 * 63 * 32);
    assert_eq!(*graph.device(&c).unwrap().read().unwrap(), 63);
    assert_eq!(*graph.device(&d).unwrap().read().unwrap(), 2.0 * 63.0 * 32.0);
    assert_eq!(*graph.device(&half).unwrap().read().unwrap(), 0x5400); // 64 in half precision
    let bins = graph.device(&bins).unwrap().read().unwrap();
    assert!(bins.iter().all(|row| row[7] == 32 && row.iter().sum::<u32>() == 32));
}

#[test]
fn updates_race_with_plain_accesses_and_read_what_was_there() {
    let mut builder = GraphBuilder::new(&device(), "Race");
    let bins = builder.device::<[u32; 256]>("bins");
    let bytes = builder.device::<[u8; 64]>("bytes");
    let mut out = builder.device::<[u32; 64]>("out");
    builder.kernel("count", Launch::new(1, 64), histogram::call(&bins, &bytes));
    builder.kernel("read", Launch::new(1, 64), look::call(&bins, &mut out));
    let found = mistake(builder.build(), Code::Race);
    let expected = "nodes `count` and `read` can run at the same time and both access `bins` [race]\n\
         note: `count` atomically updates `bins`, `read` reads it\n\
         help: add `count` to the `after` list of `read`";
    found.reads(expected);

    let mut builder = GraphBuilder::new(&device(), "Uninitialized");
    let bins = builder.scratch::<[u32; 256]>("bins");
    let bytes = builder.device::<[u8; 64]>("bytes");
    let mut host = builder.host::<[u32; 256]>("host");
    let count = builder.kernel("count", Launch::new(1, 64), histogram::call(&bins, &bytes));
    let down = builder.memcpy("down", &bins, &mut host);
    builder.after(down, &[count]);
    let found = mistake(builder.build(), Code::Uninitialized);
    found.says("node `count` reads `bins`, which no node before it has written");

    let mut builder = GraphBuilder::new(&device(), "Alias");
    let bins = builder.device::<[u32; 64]>("bins");
    // SAFETY: the graph is not built.
    let call = unsafe { count_and_look::call(&bins, &mut bins.whole()) };
    builder.kernel("both", Launch::new(1, 64), call);
    let found = mistake(builder.build(), Code::AliasedArgument);
    found.says("node `both` gets `bins` as `&` of atomics and again as `&mut`");
}

#[test]
fn the_emulator_finds_plain_accesses_of_kernels_that_are_trusted() {
    let mut builder = GraphBuilder::new(&Device::emulator(), "Trusted");
    let (bins, mut out) = (builder.device::<[u32; 64]>("bins"), builder.device::<[u32; 64]>("out"));
    // SAFETY: it breaks its word on the emulator alone, which finds that.
    let call = unsafe { count_and_look::call(&bins, &mut out) };
    builder.kernel("both", Launch::new(1, 64), call);
    let mut graph = builder.build().unwrap();
    let error = refused(graph.launch().and_then(|()| graph.synchronize()));
    error.says("load of 4 bytes at offset 0 of `bins`, which was passed for atomic operations only");
}

/// Arguments of function values, which no declaration describes, say themselves how they are accessed.
#[test]
fn calls_with_atomic_arguments_do_not_race() {
    let two_calls = |second: fn(&mut Place<[u32; 4], OnDevice>) -> CallArgument| {
        let mut builder = GraphBuilder::new(&device(), "Arguments");
        let mut bins = builder.device::<[u32; 4]>("bins");
        let arguments = [CallArgument::atomic(&bins), second(&mut bins)];
        for (name, bins) in ["one", "two"].into_iter().zip(arguments) {
            let call = falsely::<add_all, 2>([bins, CallArgument::value(5_u32)]);
            builder.kernel(name, Launch::new(1, 4), call);
        }
        builder.build().map(|graph| (graph, bins))
    };
    let (mut graph, bins) = two_calls(|bins| CallArgument::atomic(bins)).unwrap();
    graph.launch().unwrap();
    assert_eq!(*graph.device(&bins).unwrap().read().unwrap(), [10; 4]);
    for plain in [CallArgument::write, |bins: &mut Place<_, _>| CallArgument::read(bins)] {
        let error = two_calls(plain).map(drop).unwrap_err();
        let is_race = matches!(&error, Error::Invalid { diagnostics, .. } if diagnostics[0].code == Code::Race);
        assert!(is_race, "{error}");
    }
}

cuda_graph! {
    /// Counts in bins that belong to whoever has it as a node.
    graph Count {
        device bins: [u32; 256];
        device bytes: [u8; 256];

        kernel count = histogram<<<2, 128>>>(&bins, &bytes);
    }

    /// Two children and a node of its own, which count at the same time.
    graph Parent {
        device bins: [u32; 256];
        device bytes: [u8; 256];
        host counts: [u32; 256];

        memset clear = bins <- 0;
        graph one = Count(bins: &bins, bytes: &bytes) after clear;
        graph two = Count(bins: &bins, bytes: &bytes) after clear;
        kernel own = histogram<<<2, 128>>>(&bins, &bytes) after clear;
        memcpy down = bins -> counts after one, two, own;
    }
}

#[test]
fn bodies_and_children_update_memory() {
    // Counts its condition down to 0, by atomic operations alone.
    let graph = launched(cuda_graph! { &shuffling(2) =>
        device flag: u32;
        device rounds: u64;

        memset start = flag <- 5;
        while repeat = flag {
            kernel down = count_down<<<1, 1>>>(&flag);
            kernel count = update_u64<<<1, 2>>>(&rounds);
        } after start;
    })
    .unwrap();
    assert_eq!(*graph.rounds().unwrap().read().unwrap(), 5);

    let mut graph = Parent::build(&shuffling(9)).unwrap();
    let bytes = std::array::from_fn(|index| index as u8);
    graph.bytes_mut().unwrap().copy_from(&bytes).unwrap();
    for _ in 0..3 {
        graph.launch().unwrap();
        assert_eq!(graph.counts().unwrap(), &[3; 256]);
    }
}
