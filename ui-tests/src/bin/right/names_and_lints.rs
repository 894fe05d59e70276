//! Names, visibility and lints.

pub mod hygiene {
    //! No name of the expansion is in the way of the user's, and none of the user's in its.
    #![no_implicit_prelude]
    use ::graph_runtime::{Device, DeviceBuffer, Result, cuda_graph};
    use ::ui_tests::{read, scaled};

    mod core {}
    mod std {}

    cuda_graph! {
        graph Test {
            device device: [f32; 4];
            host builder: [f32; 4];
            device value: [f32; 4];
            host graph: [f32; 4];
            param sink: f32 = 1.0;
            param update: u32 = 4;
            memcpy device_upload = builder -> device;
            memcpy this = graph -> value;
            kernel stream = scaled<<<1, 4>>>(&mut device, sink, update) after device_upload;
            kernel name = read<<<1, 4>>>(&device, &mut value) after stream, this;
            call memory = |&graph, &mut builder| *builder = *graph after device_upload;
            capture captured = (&device) |stream| { let (_,) = stream.memory(); } after stream;
            raw added = unsafe (&device) |graph, after| { let _ = graph; after[0] } after stream;
        }
    }

    struct Expression;

    fn expression(builder: &Device, graph: DeviceBuffer<[f32; 4]>, index: u32, function: f32) -> Result<()> {
        let nodes = 1;
        let (sink, values) = (index, function);
        let _ = Expression;
        cuda_graph! { builder =>
            device device: [f32; 4];
            host hidden: [f32; 4];
            param update: f32 = values;
            memset this = device <- update * function;
            kernel stream = scaled<<<nodes, sink>>>(&mut graph, update, index);
            memcpy copy = graph -> hidden after stream;
        }?
        .launch()
    }

    pub(crate) fn main() {
        let _ = expression;
    }
}

pub mod raw_names {
    //! Names may be raw identifiers.
    use graph_runtime::{Device, Result, cuda_graph, cuda_kernels};

    mod kernels {
        use super::cuda_kernels;

        #[cuda_kernels("kernels/ui.ptx")]
        #[allow(kernel_bounds)]
        unsafe extern "C" {
            #[link_name = "scaled"]
            #[requires(r#in <= r#type.len())]
            pub safe fn r#move(r#type: &mut [f32], r#fn: f32, r#in: u32);
        }
    }

    cuda_graph! {
        graph r#Test {
            device r#type: [f32; 4];
            host r#where: [f32; 4];
            param r#fn: f32 = 1.0;
            kernel r#move = kernels::r#move<<<1, 4>>>(&mut r#type, r#fn, 4);
            memcpy r#match = r#type -> r#where after r#move;
            call r#fn_ = |&mut r#where| r#where[0] = 1.0 after r#match;
            capture r#impl = (&r#type) |r#in| assert_eq!((r#type.bytes(), r#in.cu_stream().is_null()), (16, false)) after r#move;
            join data after r#match;
        }
    }

    fn run(graph: &mut Test) -> Result<()> {
        graph.set_fn(graph.r#fn() + 1.0)?;
        graph.r#move().set_enabled(false)?;
        graph.type_mut()?;
        graph.where_mut()?.fill(graph_runtime::bytemuck::Zeroable::zeroed());
        graph.r#type()?;
        Ok(())
    }

    pub(crate) fn main() {
        let _: fn(&Device) -> Result<Test> = Test::build;
        let _: fn(&mut Test) -> Result<()> = run;
    }
}

pub mod spellings {
    //! Spellings that the grammar allows and few authors use: trailing commas, expressions of all kinds, attributes and
    //! documentation everywhere.
    #![deny(warnings)]
    use graph_runtime::{Device, bytemuck, cuda_graph};
    use ui_tests as kernels;

    /// Two numbers.
    #[derive(Clone, Copy)]
    #[repr(C)]
    pub struct Pair {
        first: f32,
        second: f32,
    }

    // SAFETY: all zeroes is a value of each field.
    unsafe impl bytemuck::Zeroable for Pair {}
    // SAFETY: `repr(C)`, two fields of four bytes each that are `Pod`, so without padding.
    unsafe impl bytemuck::Pod for Pair {}

    struct Size;

    impl Size {
        const WIDTH: usize = 8;
    }

    const fn double(n: usize) -> usize {
        2 * n
    }

    const MID: usize = 3;
    const RANGE: std::ops::RangeInclusive<usize> = 0..=2;

    cuda_graph! {
        #[allow(unused_resource, dead-node,)]
        #[doc = "Documented by an attribute."]
        pub(crate) graph Spelled<'a, T, const N: usize,>(counts: std::sync::Arc<Vec<usize>>, text: &'a str,) where T: graph_runtime::Element, {
            /** A block. */
            host h: [[[[T; 2]; 3]; 4]; N];
            #[allow(unused-resource)] device unused: <Size as Sized2>::Element;
            device a: [f32; double(16)];
            device b: [f32; { let n = 16; n * 2 }];
            device pairs: [Pair; Size::WIDTH];
            device grid: [[f32; <Size>::WIDTH]; 'a' as usize - 93];
            device bytes: [u8; 5];
            device tile: [[f32; 16]; 16];
            param count: u32 = 32;
            param factor: f32 = 1.5;
            param name: &'static str = "abc";
            memset pair = pairs <- Pair { first: 1.0, second: if count_of() { 2.0 } else { 3.0 } };
            memset one_pair = pairs[2..=2] <- Pair { second: factor, first: 0.0 } after pair;
            memset row = grid[1][..] <- 2.5;
            memset part = grid[2..=2][1..MID] <- factor.mul_add(2.0, 0.5);
            memset letters = bytes <- b'x' + name.len() as u8;
            kernel write = kernels::write<<<(1,), (32,),>>>(&mut a,);
            kernel scale = self::kernels::scaled<<<(2, 1, 1,), count >> 1, 16 * 4,>>>(&mut a, -factor, { let n = count; n }) after write;
            kernel all = ::ui_tests::tile<<<1, (16, 16)>>>(&mut tile);
            #[priority(1 - 2)] #[disabled] kernel off = kernels::write<<<1 << 1, 32 >> 1>>>(&mut b);
            #[disabled] memcpy over = a[..16] -> b[16..] after scale, off,;
            for i in 0..counts.len() {
                /// In a `for`.
                memset counted = grid[i][0] <- (counts[i] + text.len()) as f32 after row, part;
                for _j in RANGE {}
            };
            for i in RANGE { join each after counted; memset z = tile[i][i..=i] <- i as f32 after all; }
            join end after each, over, one_pair, letters;
        }
    }

    trait Sized2 {
        type Element;
    }

    impl Sized2 for Size {
        type Element = u16;
    }

    fn count_of() -> bool {
        true
    }

    pub(crate) fn main() {
        let counts = std::sync::Arc::new(vec![1, 2]);
        let mut graph = Spelled::<u64, 2>::build(&Device::emulator(), counts, "text").unwrap();
        graph.launch().unwrap();
        assert_eq!(graph.a().unwrap().read().unwrap()[31], -1.5);
        let pairs = graph.pairs().unwrap().read().unwrap();
        assert_eq!((pairs[0].first, pairs[0].second, pairs[2].second), (1.0, 2.0, 1.5));
        let grid = graph.grid().unwrap().read().unwrap();
        let expected = (5.0, vec![6.0, 2.5], vec![0.0, 3.5, 3.5, 0.0]);
        assert_eq!((grid[0][0], grid[1][..2].to_vec(), grid[2][..4].to_vec()), expected);
        assert_eq!(*graph.bytes().unwrap().read().unwrap(), [b'x' + 3; 5]);
        assert_eq!(graph.tile().unwrap().read().unwrap()[2][1..4], [1.0, 2.0, 1.0]);
        graph.set_count(16).unwrap();
        graph.set_name("").unwrap();
        graph.off().set_enabled(true).unwrap();
        graph.over().set_enabled(true).unwrap();
        graph.launch().unwrap();
        let b = graph.b().unwrap().read().unwrap();
        assert_eq!((b[0], b[16], graph.a().unwrap().read().unwrap()[16]), (1.0, -1.5, 1.0));
        assert_eq!(*graph.bytes().unwrap().read().unwrap(), [b'x'; 5]);
    }
}

pub mod strict_lints {
    //! The expansion needs no `unsafe` of its own and warns of nothing, whatever its user is strict about.
    #![forbid(unsafe_code)]
    #![deny(
        warnings,
        unused,
        missing_docs,
        missing_debug_implementations,
        non_camel_case_types,
        rust_2018_idioms
    )]
    #![deny(
        trivial_casts,
        trivial_numeric_casts,
        unreachable_pub,
        unused_lifetimes,
        unused_qualifications,
        unused_results
    )]
    #![deny(
        let_underscore_drop,
        single_use_lifetimes,
        unnameable_types,
        variant_size_differences
    )]

    use graph_runtime::{Device, DeviceBuffer, Event, Result, cuda_graph};
    use ui_tests::{read, scaled};

    const FIRST: usize = 0;

    cuda_graph! {
        /// Documented.
        pub graph Test<T: graph_runtime::Element, const N: usize> {
            host input: [f32; N];
            device data: [f32; N];
            device pairs: [[f32; N]; 2];
            device input_rows: [[f32; N]; 2];
            host output: [f32; N];
            host flag: T;
            device flags: T;
            param factor: f32 = 1.0;
            param count: u32 = 4;
            memcpy flag_upload = flag -> flags;
            memcpy upload = input -> data;
            kernel scale = scaled<<<count, 1>>>(&mut data, factor, count) after upload;
            kernel copy = read<<<1, N>>>(&data, &mut pairs[0]) after scale;
            memset clear = pairs[1..] <- factor;
            memset first = input_rows[FIRST] <- factor;
            join all after copy, clear;
            memcpy download = pairs[0] -> output after all;
        }
    }

    cuda_graph! {
        /// The argument of `build`.
        pub graph Arguments(n: usize, value: f32, names: &[&str], w: mut device [f32; n], out: mut host [f32; 4]) {
            device data: [f32; 4];
            param factor: f32 = value;
            memset clear = w[..n] <- factor * value;
            memset zeros = data <- names.len() as f32;
            memcpy download = data -> out after zeros;
        }
    }

    cuda_graph! {
        /// Closures and events.
        pub graph Closures<const N: usize>(ready: Event, n: usize, names: Vec<String>) {
            host input: [f32; N];
            device data: [f32; N];
            device parts: [[f32; N]; 2];
            wait start = &ready;
            call fill = |&mut input| {
                input.fill(n as f32);
                let _count = names.len();
            } after start;
            call check = |&input| assert!(input.len() >= n) after fill;
            capture library = (&data, &mut parts[0], 3) |stream| {
                assert!(!stream.cu_stream().is_null() && data.bytes() == parts.bytes());
            };
            capture several = (&parts[0], &mut parts[1]) |stream| {
                let (_from, _to) = stream.memory();
                Ok(())
            } after library;
            record end = ready after check;
        }
    }

    /// Moves `w` into the graph.
    ///
    /// # Errors
    /// The errors of building and launching.
    pub fn expression(device: &Device, w: DeviceBuffer<[f32]>, n: usize, value: f32) -> Result<usize> {
        let count = 4;
        let mut graph = cuda_graph! { device =>
            device data: [f32; n];
            param factor: f32 = value;
            memset clear = data <- factor;
            memset ones = w <- 1.0;
            kernel scale = scaled<<<count, 1>>>(&mut data, factor * value, count) after clear;
        }?;
        graph.set_factor(2.0)?;
        graph.launch()?;
        Ok(graph.into_parts()?.w.len())
    }
}

pub mod warnings_allowed {
    //! `#[allow(rule)]` at a statement or for the whole graph silences a warning.
    #![deny(deprecated)]
    use graph_runtime::{cuda_graph, cuda_kernels};

    #[cuda_kernels("kernels/ui.ptx")]
    #[allow(kernel_bounds)]
    unsafe extern "C" {
        #[allow(needless_mut)]
        #[requires(threads <= input.len() && threads <= out.len())]
        safe fn needless(input: &mut [f32], out: &mut [f32]);
    }

    cuda_graph! {
        graph AtTheStatement {
            device data: [f32; 4];
            device other: [f32; 4];
            #[allow(unused_resource)]
            device spare: [f32; 4];
            kernel start = needless<<<1, 4>>>(&mut data, &mut other);
            join middle after start;
            #[allow(redundant-edge)]
            join end after start, middle;
        }
    }

    cuda_graph! {
        #[allow(unused_resource, redundant_edge)]
        graph AtTheGraph {
            device spare: [f32; 4];
            join start;
            join middle after start;
            join end after start, middle;
        }
    }
}

pub mod visibility_and_docs {
    //! The type has the graph's visibility, its methods are public, and all of it carries the documentation.
    #![deny(missing_docs, unreachable_pub, unused)]

    mod graphs {
        use graph_runtime::cuda_graph;

        cuda_graph! {
            /// Documented.
            pub(crate) graph Test {
                /// The input.
                host input: [f32; 4];
                /// Where it goes.
                device data: [f32; 4];
                /// How it is scaled.
                param factor: f32 = 1.0;
                /// From there to here.
                memcpy upload = input -> data;
                memset scale = data <- factor after upload;
            }
        }
    }

    pub(crate) fn main() {
        let _ = graphs::Test::build;
        let _ = graphs::Test::set_factor;
    }
}

pub mod visibility_of_statements {
    //! Each statement may have a visibility of its own, also in bodies, in a `for` and in an expression.
    #![deny(warnings, clippy::all, unreachable_pub)]

    pub mod outer {
        pub mod inner {
            use graph_runtime::{Device, Result, cuda_graph};

            cuda_graph! {
                #[allow(redundant_edge)]
                pub graph Test(weights: device [f32; 4]) {
                    /// Documented.
                    #[allow(unused_resource)]
                    pub(crate) host input: [f32; 4];
                    pub(in crate::names_and_lints::visibility_of_statements::outer) device data: [f32; 4];
                    pub(super) device go: u32;
                    pub(self) rng noise = 42, draws 1;
                    scratch own: [f32; 4];
                    pub param public: f32 = 1.0;
                    pub(self) param hidden: f32 = 1.0;
                    pub(crate) memcpy upload = input -> data;
                    pub(self) memset fill = own <- public * hidden after upload;
                    memcpy over = own -> data after fill;
                    pub(in super::super) if maybe = go {
                        pub(self) join inside;
                        for i in 0..2 { pub memset each = data[i] <- 1.0 after inside; }
                    } after over;
                    pub kernel draw = ui_tests::noisy<<<1, 4>>>(&noise, &mut data) after maybe;
                    memcpy weigh = weights -> data after draw;
                }
            }

            pub fn all(device: &Device) -> Result<()> {
                let mut graph = Test::build(device, &device.alloc::<[f32; 4]>()?)?;
                graph.set_hidden(2.0)?;
                graph.fill().set_enabled(true)?;
                graph.noise().reseed(1)?;
                graph.launch()
            }
        }

        pub fn from_outer(graph: &mut inner::Test) -> graph_runtime::Result<()> {
            graph.go()?;
            graph.data_mut()?;
            Ok(())
        }
    }

    pub(crate) fn main() -> graph_runtime::Result<()> {
        let device = graph_runtime::Device::emulator();
        outer::inner::all(&device)?;
        let mut graph = outer::inner::Test::build(&device, &device.alloc::<[f32; 4]>()?)?;
        graph.set_public(3.0)?;
        graph.memory_mut()?.input.fill(1.0);
        graph.upload().set_enabled(false)?;
        graph.maybe().name();
        graph.each(1).name();
        graph.over().name();
        graph.draw().name();
        graph.weights()?;
        outer::from_outer(&mut graph)?;
        graph.rebind_weights(&device.alloc::<[f32; 4]>()?)?;

        let mut local = graph_runtime::cuda_graph! { &device =>
            pub(self) host   output: [f32; 4];
            pub(crate) device data:  [f32; 4];
            pub param  value: f32 = 1.0;
            memset set = data <- value;
            pub(in self) memcpy down = data -> output after set;
        }?;
        local.set_value(2.0)?;
        local.launch()?;
        local.data()?;
        local.down().name();
        local.memory_mut()?.output[0] += 0.0;
        assert_eq!(local.output()?, &[2.0; 4]);
        Ok(())
    }
}
