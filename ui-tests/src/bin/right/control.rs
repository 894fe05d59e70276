//! Order, bodies, loops, and code of others.

pub mod any_order {
    //! Declaration order carries no meaning: only `after` orders nodes.
    use graph_runtime::cuda_graph;
    use ui_tests::{read, write};

    cuda_graph! {
        pub graph Test {
            memcpy download = result -> output after copy;
            kernel copy = read<<<1, 4>>>(&data, &mut result) after fill;
            kernel fill = write<<<1, 4>>>(&mut data);

            host output: [f32; 4];
            device result: [f32; 4];
            device data: [f32; 4];
        }
    }
}

pub mod conditionals {
    //! Conditionals, alone and in each other, in a generic graph with params, documentation and silenced warnings.
    #![deny(warnings)]
    use graph_runtime::cuda_graph;
    use ui_tests::{read, scaled, write};

    cuda_graph! {
        pub graph Conditionals<const N: usize> {
            host   input: [f32; N];
            device flags: [u32; 2];
            device number: u32;
            device data: [f32; N];
            device out: [f32; N];
            param  factor: f32 = 2.0;

            /// Uploads, or clears.
            if choice = flags[0] {
                memcpy upload = input -> data;
            } else {
                memset clear = data <- 0.0;
            };
            while repeat = flags[1] {
                /// Scales by `factor`.
                kernel scale = scaled<<<1, N as u32>>>(&mut data, factor, N as u32);
                join both after scale;
                switch pick = number {
                    { kernel copy = read<<<1, N as u32>>>(&data, &mut out); }
                    {}
                    {
                        kernel set = write<<<1, N as u32>>>(&mut out);
                        if never = number {} else {};
                    }
                } after both;
                #[allow(redundant_edge)]
                memset stop = flags[1] <- 0 after scale, pick;
            } after choice;
            memset last = data <- factor after repeat;
        }
    }

    pub(crate) fn main() {
        let device = graph_runtime::Device::emulator();
        let mut graph = Conditionals::<8>::build(&device).unwrap();
        graph.set_factor(3.0).unwrap();
        graph.launch().unwrap();
        assert_eq!(graph.scale().name(), "scale");
        assert_eq!(Conditionals::<8>::PLAN.bodies.len(), 9);
    }
}

pub mod each {
    //! Parallel loops: in each other and in bodies, with edges between iterations, strides and blocks.
    #![deny(warnings)]
    use graph_runtime::cuda_graph;
    use ui_tests::{read, scaled, write};

    cuda_graph! {
        pub graph Each<const N: usize>(layers: usize) {
            device data: [[f32; 64]; 64];
            device flat: [f32; 256];
            device row: [f32; 64];
            device rows: [[f32; 64]; layers];
            device flags: [u32; 8];
            param  factor: f32 = 2.0;

            each i in 0..N {
                kernel scale = scaled<<<1, 64>>>(&mut data[i], factor, 64);
                kernel chain = read<<<1, 64>>>(&data[i], &mut row) after scale, chain(i - 1);
            }
            each i in 0..32 {
                memset even = flat[2 * i] <- 1.0;
                memset odd = flat[i * 2 + 1] <- factor;
            }
            each i in 1..=8 {
                each j in 0..4 {
                    memset block = flat[16 * (i - 1) + 4 * j..16 * (i - 1) + 4 * (j + 1)] <- 3.0
                        after even, odd, block(i - 1, j), block(i, j - 1), block(i - 1, j + 1);
                }
            }
            for layer in 0..layers {
                each part in 0..4 {
                    memset first = rows[layer][16 * part..16 * part + 16] <- 1.0;
                    memset second = rows[layer][16 * part..=16 * part + 15] <- 2.0 after first(layer, part);
                }
                kernel all = write<<<1, 64>>>(&mut rows[layer]) after second;
            }
            each i in 0..4 {
                for j in 0..3 {
                    memset step = data[i][j..] <- 0.0 after chain;
                }
                join done after step;
                if maybe = flags[2 * i] {
                    each k in 0..2 {
                        memset inner = data[i + 8][32 * k..32 * k + 32] <- 0.0 after inner(i, k - 1);
                    }
                } after done;
            }
            join end after all, block, maybe;
        }
    }

    pub(crate) fn main() {
        let device = graph_runtime::Device::emulator();
        let mut graph = Each::<4>::build(&device, 3).unwrap();
        graph.set_factor(3.0).unwrap();
        graph.launch().unwrap();
        assert_eq!(graph.block(2, 3).name(), "block[2][3]");
        assert_eq!(graph.inner(3, 1).name(), "inner[3][1]");
        let plan = Each::<4>::PLAN;
        assert_eq!(plan.loops.iter().filter(|repeated| repeated.parallel).count(), 7);
        assert_eq!(plan.shifts.len(), 5);
    }
}

pub mod parity {
    //! Places of loops that alternate, and edges that accesses imply.
    #![deny(warnings)]
    use graph_runtime::cuda_graph;
    use ui_tests::{read, scaled};

    cuda_graph! {
        pub graph Parity(n: usize) {
            #![after(auto)]
            device w: [[f32; 64]; 2];
            device ring: [[f32; 64]; 6];
            host output: [[f32; 64]; 2];

            memset start = w <- 1.0;
            for i in 0..n {
                kernel step = read<<<1, 64>>>(&w[i % 2], &mut w[(i + 1) % 2]);
                each j in 0..2 {
                    kernel twice = scaled<<<1, 64>>>(&mut w[(i + j) % 2], 2.0, 64);
                }
            }
            each j in 0..3 {
                kernel odd = read<<<1, 64>>>(&ring[2 * j], &mut ring[(2 * j + 1) % 6]);
            }
            memcpy down = w -> output;
        }
    }

    pub(crate) fn main() {
        let mut graph = Parity::build(&graph_runtime::Device::emulator(), 4).unwrap();
        graph.launch().unwrap();
        let plan = Parity::PLAN;
        let inferred = |name: &str| {
            plan.nodes
                .iter()
                .find(|node| node.name == name)
                .unwrap()
                .inferred
                .to_vec()
        };
        assert_eq!(
            (inferred("step"), inferred("twice"), inferred("down")),
            (vec![0], vec![1], vec![2])
        );
    }
}

pub mod loops {
    //! Loops, alone and in each other and in bodies, in a generic graph with build arguments and params.
    #![deny(warnings)]
    use graph_runtime::cuda_graph;
    use std::ops::Range;
    use ui_tests::{read, scaled, write};

    const EDGES: Range<usize> = 1..3;

    cuda_graph! {
        pub graph Loops<const N: usize>(layers: usize) {
            host   input: [f32; N];
            host   output: [f32; N];
            device weights: [[f32; N]; layers];
            device data: [f32; N];
            device out: [f32; N];
            device flags: [u32; 4];
            param  factor: f32 = 2.0;

            memcpy upload = input -> data;
            for layer in 0..layers {
                /// The weights of one layer.
                kernel load = read<<<1, N as u32>>>(&weights[layer], &mut data) after upload;
                kernel scale = scaled<<<1, N as u32>>>(&mut data, factor * layer as f32, N as u32) after load;
                for i in 0..N / 2 {
                    memset left = out[2 * i] <- layer as f32;
                    memset right = out[2 * i + 1..=2 * i + 1] <- factor after left;
                }
                join both after scale, right;
            }
            #[allow(redundant_edge)]
            for i in EDGES {
                memset first = data[i] <- 1.0 after both;
                memset second = data[i..i + 1] <- 2.0 after first;
                memset third = data[..=i] <- 3.0 after first, second;
            }
            for i in 0..=3 {
                if maybe = flags[i] {
                    for k in 0..2 {
                        kernel set = write<<<1, 1 + k as u32>>>(&mut data[i..]);
                    }
                } else {
                    memset clear = data[i] <- 0.0;
                } after third;
            }
            for i in 0..0 {
                join never after maybe;
            }
            for _unused in 0..1 {}
            memcpy download = data -> output after never;
        }
    }

    pub(crate) fn main() {
        let device = graph_runtime::Device::emulator();
        let mut graph = Loops::<8>::build(&device, 3).unwrap();
        graph.set_factor(3.0).unwrap();
        graph.launch().unwrap();
        assert_eq!(graph.right(2, 1).name(), "right[2][1]");
        assert_eq!(graph.set(3, 1).name(), "set[3][1]");
        assert_eq!(Loops::<8>::PLAN.loops.len(), 7);
    }
}

pub mod joins {
    //! A join orders without doing anything.
    use graph_runtime::cuda_graph;
    use ui_tests::{read, write};

    cuda_graph! {
        graph Test {
            device left: [f32; 4];
            device right: [f32; 4];
            join start;
            kernel fill_left = write<<<1, 4>>>(&mut left) after start;
            kernel fill_right = write<<<1, 4>>>(&mut right) after start;
            join filled after fill_left, fill_right;
            kernel copy = read<<<1, 4>>>(&left, &mut right) after filled;
            memset clear = left <- 0.0 after copy;
        }
    }
}

pub mod exits {
    //! `return`, `break` and `continue` that stay in the expression, and `?`, which is an error of `build`.
    use graph_runtime::{Error, Result, cuda_graph};

    fn number(text: &str) -> Result<u32> {
        text.parse().map_err(|_| Error::NoDriver)
    }

    cuda_graph! {
        graph Test(text: &str) {
            host   seen: u32;
            device data: [u32; 4];
            memset first = data <- number(text)?;
            for i in 0..4 {
                memset closure = data[i] <- (|| { if i > 2 { return 1 } 2 })() after first;
                memset inner = data[i] <- { fn one() -> u32 { return 1 } one() } after closure;
                memset looped = data[i] <- loop { if i > 2 { break 1 } else { break 2 } } after inner;
                memset next = data[i] <- { let mut sum = 0; for k in 0..9 { if k == 3 { continue } sum += k } sum } after looped;
                memset label = data[i] <- 'found: { if i == 1 { break 'found 7 } 8 } after next;
                memset quoted = data[i] <- stringify!(x).len() as u32 + { vec![1, 2].len() as u32 } after label;
            }
            call look = |&mut seen| { if *seen > 2 { return } *seen += 1; } after quoted;
        }
    }
}

pub mod child_bindings {
    //! Children that are bound to parts, values, lengths, params and references, under paths of all kinds, in loops and
    //! bodies.
    #![deny(warnings)]
    use graph_runtime::{Device, cuda_graph};
    use ui_tests::scaled;

    mod library {
        use graph_runtime::{Element, cuda_graph};

        cuda_graph! {
            pub(super) graph Filled<T: Element, const N: usize>(value: T, n: usize) {
                device data: [T; N];
                host   copy: [T; N];
                memcpy download = data -> copy after set;
                memset set      = data[..n] <- value;
            }
            pub graph Counted(names: &[&str], count: fn(&[&str]) -> u32, n: usize, from: device [f32; 8], to: mut device [f32; 8]) {
                device  any: [u32; n];
                scratch own: [u32; n];
                memcpy take  = from -> to;
                memset set   = own <- count(names);
                memcpy leave = own -> any after set;
            }
        }
    }

    cuda_graph! {
        pub graph Scaled<const N: usize> {
            device data: [f32; N];
            param  threads: u32 = all + 0;
            param  all: u32 = N as u32;
            param  factor: f32 = 2.0;
            kernel scale = scaled<<<1, threads>>>(&mut data, factor, all);
        }
        pub graph Around<const N: usize> {
            device flag: u32;
            device data: [f32; N];
            param  factor: f32 = 3.0;
            graph first = Scaled::<N>(data: &mut data, factor: factor);
            if again = flag {
                graph second = crate::control::child_bindings::Scaled::<{ N }>(factor: factor * 2.0, data: &mut data,);
            } after first;
        }
        pub graph Whole<const ROW: usize>(rows: usize) {
            device rows_of: [[f32; 32]; 4];
            device flags: [u32; 2];
            device words: [[u16; 8]; 3];
            host   copy: [u16; 8];
            device moved: [[f32; 8]; 2];
            device counts: [u32; 6];
            param  factor: f32 = 1.0;
            memset ones = rows_of <- 1.0;
            for i in 0..rows {
                graph around = Around::<32>(data: &mut rows_of[i], factor: factor + i as f32, flag: &flags[ROW]) after ones;
            }
            graph r#filled = library::Filled::<u16, 8>(value: 7, n: 5, data: &mut words[1], copy: &mut copy);
            graph counted = self::library::Counted(
                any: &mut counts,
                names: &["a", "b"],
                count: |names: &[&str]| names.len() as u32,
                n: 2 * ROW + 4,
                from: &moved[0],
                to: &mut moved[1],
            );
        }
    }

    pub(crate) fn main() {
        let mut graph = Whole::<1>::build(&Device::emulator(), 2).unwrap();
        graph.flags_mut().unwrap().copy_from(&[0, 1]).unwrap();
        graph.launch().unwrap();
        let row = |graph: &Whole<1>, index: usize| graph.rows_of().unwrap().read().unwrap()[index][31];
        assert_eq!([0, 1, 2].map(|index| row(&graph, index)), [2.0, 8.0, 1.0]);
        graph.set_factor(2.0).unwrap();
        graph.launch().unwrap();
        assert_eq!([0, 1, 2].map(|index| row(&graph, index)), [8.0, 18.0, 1.0]);
        assert_eq!(graph.copy().unwrap(), &[7, 7, 7, 7, 7, 0, 0, 0]);
        assert_eq!(*graph.counts().unwrap().read().unwrap(), [2; 6]);
        assert_eq!(graph.around(1).name(), "around[1]");
    }
}

pub mod host_functions {
    //! Host functions and events: captured build arguments, generics, every kind of expression, names that patterns
    //! shadow.
    use graph_runtime::{Element, Event, cuda_graph};
    use std::sync::atomic::{AtomicUsize, Ordering};

    static CALLS: AtomicUsize = AtomicUsize::new(0);

    fn zero<T: Element>() -> T {
        graph_runtime::bytemuck::Zeroable::zeroed()
    }

    cuda_graph! {
        pub graph Test<T: Element + PartialOrd, const N: usize>(n: usize, limit: T, done: Event) {
            host values: [T; N];
            host list: [[T; N]; n];
            param rate: f32 = 1.0;
            device data: [f32; 4];

            memset set = data <- rate;
            call nothing = || ();
            call count = || { CALLS.fetch_add(N, Ordering::Relaxed); };
            call clamp = |&mut values| for value in values { if *value > limit { *value = zero::<T>(); } } after count;
            call spread = |&values, &mut list| {
                let (rows, rate) = (n, 2);
                list[..rows / rate].fill(*values);
                let helper = |values: &T| *values < limit;
                assert!(values.iter().all(helper));
            } after clamp;
            call early = |&list| {
                let Some(first) = list.first() else { return };
                println!("{}", first.len());
            } after spread;
            record end = &done after early;
            wait start = done.clone();
        }
    }
}

pub mod library_calls {
    //! Captured calls and raw nodes: every ending of a closure, generics, several parts of one resource, safe and
    //! unsafe bodies. rustc warns of nothing, braces around one expression included.
    #![deny(warnings)]
    use graph_runtime::cudarc::driver::sys::{CUgraph, CUgraphNode, CUresult, CUstream, cuGraphAddEmptyNode};
    use graph_runtime::{BoxError, CaptureStream, Element, cuda_graph};
    use std::io::Error;

    mod aliased {
        pub type Result<T> = std::result::Result<T, std::num::ParseIntError>;
    }

    fn library(_stream: CUstream, _from: u64, _to: u64) -> Result<(), Error> {
        Ok(())
    }

    fn helper<K>(stream: &CaptureStream<'_, K>) -> Result<CUstream, BoxError> {
        let workspace = stream.workspace(1 << 20)?;
        assert_eq!(workspace.bytes(), 1 << 20);
        Ok(stream.cu_stream())
    }

    unsafe fn empty(graph: CUgraph, after: &[CUgraphNode]) -> Result<CUgraphNode, Error> {
        let mut node = std::ptr::null_mut();
        // SAFETY: the caller passes what a `raw` closure got.
        let result = unsafe { cuGraphAddEmptyNode(&mut node, graph, after.as_ptr(), after.len()) };
        if result == CUresult::CUDA_SUCCESS {
            Ok(node)
        } else {
            Err(Error::other("refused"))
        }
    }

    cuda_graph! {
        pub graph Test<T: Element, const N: usize>(scale: f32, names: Vec<String>) {
            host staging: [T; N];
            device a: [[T; N]; 2];
            device b: [T; N];

            capture tail = (&a[0], &mut b) |stream| library(stream.cu_stream(), a.address(), b.address());
            capture tried = (&b, &mut a[1], scale) |stream| {
                let (from, to, twice) = stream.memory();
                library(helper(stream)?, from.address(), to.address())?;
                assert_eq!(twice, scale);
            } after tail;
            capture ok = (&a[0], &mut a[1]) |stream| {
                let (from, to) = stream.memory();
                let kept = stream.prepare(|| Ok(names.clone()))?;
                if kept.is_empty() {
                    return Err("no names".into());
                }
                library(stream.cu_stream(), from.address(), to.address())?;
                Ok(())
            } after tried;
            capture nothing = () |_stream| ();
            capture in_braces = () |stream| { library(stream.cu_stream(), 0, 0) };
            capture nothing_in_braces = () |_stream| { () };
            capture of_result = () |_stream| Result::Ok(());
            capture of_std = () |stream| match stream.cu_stream().is_null() {
                true => std::result::Result::Ok(()),
                false => { Ok(()) }
            };
            capture of_alias = () |_stream| { aliased::Result::Ok(()) };
            capture of_known = () |_stream| Result::<(), Error>::Ok(());
            capture never = (&mut staging) |stream| unimplemented!("{stream:?}, {:?}", staging.as_mut_ptr::<T>());

            raw plain = unsafe (&a[1], &mut staging) |graph, after| empty(graph.graph(), after) after ok, never;
            raw careful = unsafe (&mut staging) |graph, after| {
                // SAFETY: graph and nodes are what this closure got.
                let node = unsafe { empty(graph.graph(), after) }?;
                Ok(node)
            } after plain;
            raw value = unsafe () |_graph, after| after[0] after careful;
            raw value_in_braces = unsafe () |_graph, after| { after[0] } after value;
            raw result_in_braces = unsafe () |_graph, after| { Ok(after[0]) } after value;
            raw of_result_too = unsafe () |_graph, after| Result::Ok(after[0]) after value;
            raw later = unsafe () |_graph, _after| todo!();
        }
    }

    cuda_graph! {
        pub graph InBodies {
            device flags: [u32; 2];
            device a: [f32; 4];
            device b: [f32; 4];

            if maybe = flags[0] {
                capture then = (&a, &mut b) |stream| library(stream.cu_stream(), a.address(), b.address());
            } else {
                for i in 0..3 {
                    capture otherwise = (&mut a) |_stream| ();
                }
            };
            while repeat = flags[1] {
                graph child = Captured(data: &mut a);
                capture next = (&mut flags[1]) |_stream| () after child;
            } after maybe;
            switch pick = flags[0] {
                { capture zero = (&mut b) |_stream| (); }
            } after maybe;
        }
    }

    cuda_graph! {
        pub graph Captured {
            device data: [f32; 4];
            capture calls = (&mut data) |_stream| ();
        }
    }
}

pub mod rng {
    use graph_runtime::cuda_graph;
    use ui_tests::*;

    cuda_graph! {
        graph Noise(seed: u64) {
            rng    noise = seed, draws 4;
            device data: [[f32; 64]; 3];
            for i in 0..3 {
                kernel draw = noisy<<<1, 64>>>(&noise, &mut data[i]);
            }
        }
    }

    fn reseed(graph: &mut Noise) -> graph_runtime::Result<()> {
        graph.noise().reseed(7)
    }

    pub(crate) fn main() {
        let _ = reseed;
    }
}
