//! Graphs as items and expressions, their attributes, generics and params.

pub mod attributes {
    //! Attributes of nodes.
    #![deny(warnings)]

    use graph_runtime::cuda_graph;
    use ui_tests::*;

    const URGENT: i32 = -2;
    const SIDE: usize = 2;

    cuda_graph! {
        /// On a graph that is generic, and with numbers of all kinds.
        pub graph Attributes<const N: usize>(urgency: i32, side: usize) {
            param  factor: f32 = 2.0;
            device data:   [f32; N];
            device more:   [[f32; 1024]; 4];
            scratch tmp:   [f32; 1024];
            host   output: [f32; N];

            #[priority(URGENT)]
            #[cluster(SIDE)]
            kernel first  = write<<<4, 256>>>(&mut data);
            #[priority(urgency)]
            #[cluster(side, 1, 1)]
            #[cooperative]
            #[disabled]
            kernel second = scaled<<<4, 256>>>(&mut data, factor, 1024)  after first;
            #[cooperative]
            kernel third  = clustered<<<4, 256>>>(&mut more[0])           after first;
            #[cluster(2)]
            kernel fourth = clustered<<<4, 256>>>(&mut more[1])           after first;
            for i in 2..4 {
                #[priority(-(i as i32))]
                #[disabled]
                kernel each = write<<<4, 256>>>(&mut more[i])             after third, fourth;
            }
            #[allow(dead_node)]
            #[disabled]
            memset clear  = tmp <- 0.0;
            #[disabled]
            memcpy down   = data -> output                                after second;
        }
    }

    pub(crate) fn main() {
        let build = Attributes::<1024>::build;
        let _ = build;
    }
}

pub mod empty {
    //! A graph may have nothing in it.
    use graph_runtime::{Device, Result, cuda_graph};

    cuda_graph! { pub graph Empty {} }
    cuda_graph! { graph Generic<T: Send, const N: usize> {} }

    pub(crate) fn main() {
        let _: fn(&Device) -> Result<Empty> = Empty::build;
        let _: fn(&Device) -> Result<Generic<String, 4>> = Generic::build;
    }
}

pub mod generics {
    //! A graph has generics as a struct has: lifetimes, types, constants, defaults and where clauses.
    use graph_runtime::{Device, Element, Result, cuda_graph};
    use std::fmt::Debug;
    use ui_tests::write;

    cuda_graph! {
        pub graph Copies<T, const N: usize = 4>
        where
            T: Element + Debug,
        {
            host input: [T; N];
            device data: [[T; N]; 2];
            memcpy first = input -> data[0];
            memcpy second = input -> data[1];
        }
    }

    cuda_graph! {
        graph Fills<'a, T: Element + 'a, const N: usize, const ROWS: usize> {
            device data: [[f32; N]; ROWS];
            device other: T;
            host output: T;
            kernel fill = write<<<ROWS, N>>>(&mut data);
            memcpy download = other -> output;
        }
    }

    fn build<T: Element + Debug>(device: &Device) -> Result<Copies<T>> {
        let mut graph = Copies::<T>::build(device)?;
        graph.input_mut()?.fill(T::zeroed());
        Ok(graph)
    }

    pub(crate) fn main() {
        let _: fn(&Device) -> Result<Copies<u16>> = build;
        let _: fn(&Device) -> Result<Fills<'static, [u8; 3], 128, 64>> = Fills::build;
    }
}

pub mod params {
    //! A `param` may be part of any argument, dimension or value; each is updated by its own setter.
    use graph_runtime::{Device, Result, cuda_graph};
    use ui_tests::{Params, scaled, with_struct, write};

    cuda_graph! {
        graph Test {
            device data: [f32; 1024];
            param rate: f32 = 0.1;
            param count: u32 = 4 * 64;
            param params: Params = Params { a: 1.0, b: 0.0, n: 16 };
            kernel scale = scaled<<<count.div_ceil(64), 64>>>(&mut data, rate * 0.5, count);
            kernel all = unsafe with_struct<<<1, (count, 1, 1)>>>(&mut data, params) after scale;
            kernel some = unsafe with_struct<<<1, 16>>>(&mut data, Params { n: 8, ..params }) after all;
            kernel fill = write<<<count / 256, 256, count>>>(&mut data) after some;
            memset end = data[0] <- if rate > 1.0 { 1.0 } else { rate } after fill;
        }
    }

    fn update(graph: &mut Test) -> Result<()> {
        graph.set_rate(graph.rate() * 0.9)?;
        graph.set_count(512)?;
        graph.set_params(Params {
            a: 2.0,
            ..graph.params()
        })
    }

    pub(crate) fn main() {
        let _: fn(&Device) -> Result<Test> = Test::build;
        let _: fn(&mut Test) -> Result<()> = update;
    }
}

pub mod params_of_any_type {
    //! A `param` is of any type that is `Clone`: only what its uses make of it reaches the device.
    use graph_runtime::{Device, Result, cuda_graph};
    use ui_tests::scaled;

    cuda_graph! {
        graph Test {
            device data: [f32; 4];
            param name: String = "unnamed".to_owned();
            param weights: Vec<f32> = vec![0.5; 4];
            memset fill = data <- name.len() as f32;
            kernel scale = scaled<<<1, 4>>>(&mut data, weights.iter().sum(), weights.len() as u32) after fill;
        }
    }

    fn update(graph: &mut Test) -> Result<()> {
        let mut weights = graph.weights();
        weights.truncate(2);
        graph.set_weights(weights)?;
        graph.set_name(graph.name() + "!")
    }

    pub(crate) fn main() {
        let _: fn(&Device) -> Result<Test> = Test::build;
        let _: fn(&mut Test) -> Result<()> = update;
    }
}

pub mod several_graphs {
    //! One call may declare several graphs, each with its own namespace.
    use graph_runtime::{Device, Result, cuda_graph};

    cuda_graph! {
        /// The first.
        pub graph First {
            join start;
        }

        graph Second<const N: usize>(n: usize) {
            device start: [[f32; N]; n];
            memset clear = start <- 0.0;
        }
    }

    pub(crate) fn main() {
        let _: fn(&Device) -> Result<First> = First::build;
        let _: fn(&Device, usize) -> Result<Second<4>> = Second::build;
    }
}

pub mod using {
    //! All that a graph's user does with it.
    use graph_runtime::{Device, Result, cuda_graph};
    use ui_tests::scaled;

    cuda_graph! {
        pub graph Test<const N: usize> {
            host input: [f32; N];
            device data: [f32; N];
            host output: [f32; N];
            param factor: f32 = 2.0;
            memcpy upload = input -> data;
            kernel scale = scaled<<<1, N>>>(&mut data, factor, N as u32) after upload;
            memcpy download = data -> output after scale;
        }
    }

    fn run(device: &Device) -> Result<()> {
        let mut first = Test::<4>::build(device)?;
        let mut second = Test::<4>::build(device)?;
        first.input_mut()?.fill(21.0);
        first.launch()?;
        first.launch()?;
        first.set_factor(3.0)?;
        std::mem::swap(&mut first, &mut second);
        let memory = first.memory_mut()?;
        memory.output.copy_from_slice(&*memory.input);
        std::mem::swap(memory.input, memory.output);
        first.synchronize()?;
        first.scale().set_enabled(false)?;
        first.data_mut()?.copy_from(&[1.0; 4])?;
        let data: Box<[f32; 4]> = first.data()?.read()?;
        assert_eq!(first.factor(), data[0]);
        std::thread::spawn(move || second.launch()).join().expect("no panic")?;
        std::mem::forget(first);
        assert_eq!(Test::<4>::PLAN.nodes.len(), 3);
        Ok(())
    }

    pub(crate) fn main() {
        let _: fn(&Device) -> Result<()> = run;
    }
}

pub mod unused_graph {
    //! A graph that nobody uses is no warning: its type may be for others.
    #![deny(warnings)]
    use graph_runtime::cuda_graph;

    cuda_graph! {
        graph Test<const N: usize> {
            host input: [f32; N];
            device data: [f32; N];
            param level: f32 = 0.0;
            memcpy upload = input -> data;
            memset fill = data <- level after upload;
        }
    }
}

pub mod inside_a_function {
    //! A graph is an item, wherever items may be; its name is not in the way of another's.
    use graph_runtime::{Device, Result, cuda_graph};
    use ui_tests::write;

    fn first(device: &Device) -> Result<f32> {
        const N: usize = 4;
        cuda_graph! {
            graph Test {
                device data: [f32; N];
                host output: [f32; N];
                kernel fill = write<<<1, N>>>(&mut data);
                memcpy download = data -> output after fill;
            }
        }
        let mut graph = Test::build(device)?;
        graph.launch()?;
        Ok(graph.output()?[0])
    }

    fn second(device: &Device) -> Result<()> {
        cuda_graph! { graph Test { join start; } }
        Test::build(device)?.launch()
    }

    pub(crate) fn main() {
        let _: fn(&Device) -> Result<f32> = first;
        let _: fn(&Device) -> Result<()> = second;
    }
}

pub mod expressions {
    //! A graph as an expression, in every place where expressions stand.
    #![deny(warnings)]
    use graph_runtime::{Device, DeviceBuffer, Element, HostBuffer, Result, SharedHost, cuda_graph};
    use ui_tests::{scaled, write};

    const HALF: usize = 8;

    fn locals(device: &Device, n: usize, factor: f32) -> Result<usize> {
        let count = n as u32;
        let mut graph = cuda_graph! { device =>
            host   input: [f32; n];
            device data: [f32; n];
            device rows: [[f32; HALF]; 2 * n];
            param  rate: f32 = factor;
            memcpy upload = input -> data;
            kernel scale = scaled<<<count.div_ceil(64), 64>>>(&mut data, rate * factor, count) after upload;
            memset clear = rows[n..] <- factor;
        }?;
        graph.set_rate(graph.rate() + 1.0)?;
        graph.launch()?;
        let plan = graph.plan();
        let input: &mut [f32] = graph.input_mut()?;
        Ok(input.len() + plan.nodes.len())
    }

    fn captured(
        device: &Device,
        data: DeviceBuffer<[f32; HALF]>,
        from: HostBuffer<[f32]>,
        to: &SharedHost<[f32]>,
    ) -> Result<()> {
        let graph = cuda_graph! { device =>
            memcpy up   = from -> data;
            kernel k    = write<<<1, HALF as u32>>>(&mut data) after up;
            memset last = data[HALF - 1] <- 1.0 after k;
            memcpy down = data -> to after last;
        }?;
        let parts = graph.into_parts()?;
        let (_, _, _): (DeviceBuffer<[f32; HALF]>, HostBuffer<[f32]>, &SharedHost<[f32]>) =
            (parts.data, parts.from, parts.to);
        Ok(())
    }

    fn generic<T: Element, const N: usize>(device: &Device, value: T) -> Result<[T; N]> {
        let mut graph = cuda_graph! { device =>
            device data: [T; N];
            host   output: [T; N];
            memset set  = data <- value;
            memcpy down = data -> output after set;
        }?;
        graph.launch()?;
        Ok(*graph.output()?)
    }

    fn in_an_argument(device: &Device) -> bool {
        struct Expression;
        let _shadows_nothing = Expression;
        cuda_graph! { device => join start; }.is_ok()
    }

    pub(crate) fn main() {
        let _: fn(&Device, usize, f32) -> Result<usize> = locals;
        let _: fn(&Device, DeviceBuffer<[f32; HALF]>, HostBuffer<[f32]>, &SharedHost<[f32]>) -> Result<()> = captured;
        let _: fn(&Device, f32) -> Result<[f32; 4]> = generic;
        let _: fn(&Device) -> bool = in_an_argument;
    }
}

pub mod in_macro_rules {
    //! A graph whose names, types, lengths and kernels a `macro_rules!` fills in.

    use graph_runtime::{Device, DeviceBuffer, Result, cuda_graph};
    use ui_tests::write;

    macro_rules! filled {
        ($name:ident, $element:ty, $length:expr, $memory:ident, $value:expr, $kernel:path) => {
            cuda_graph! {
                pub graph $name {
                    device $memory: [$element; $length];
                    device other: [$element; $length];
                    param start: f32 = $value;
                    memset zero = $memory <- start;
                    memset one = other <- $value;
                    kernel first = write<<<1, $length>>>(&mut $memory) after zero;
                    kernel second = $kernel<<<1, $length>>>(&mut other[..$length]) after one;
                }
            }
        };
    }

    filled!(Filled, f32, 8, data, 1.5, ui_tests::write);

    macro_rules! visible {
        ($visibility:vis $name:ident, $kernel:vis, $block:expr) => {
            cuda_graph! {
                $visibility graph $name {
                    $visibility device data: [f32; 8];
                    $kernel kernel ones = write<<<1, $block>>>(&mut data);
                }
            }
        };
    }

    const BLOCK: (u32, u32) = (4, 2);
    visible!(pub(crate) Visible, pub(self), BLOCK);
    visible!(Private, , (4, 2));

    macro_rules! expression {
        ($device:expr, $captured:ident, $length:expr, $factor:expr) => {{
            let half = $length / 2;
            cuda_graph! { $device =>
                device other: [f32; $length];
                param start: f32 = $factor;
                memset one = $captured[..half] <- start;
                memset two = other[half..] <- $factor;
                kernel last = write<<<1, $length as u32>>>(&mut $captured) after one;
            }
        }};
    }

    fn captured(
        device: &Device,
        data: DeviceBuffer<[f32; 4]>,
        n: usize,
        factor: f32,
    ) -> Result<DeviceBuffer<[f32; 4]>> {
        let graph = expression!(device, data, n, factor)?;
        Ok(graph.into_parts()?.data)
    }

    pub(crate) fn main() {
        let _ = captured;
        let _ = Filled::set_start;
        let _ = Filled::data;
        let _ = (Visible::data, Visible::ones, Private::ones);
    }
}

pub mod send_not_sync {
    //! A graph may go to another thread, but not be in two at once: it is `Send`, not `Sync`.
    use graph_runtime::cuda_graph;

    cuda_graph! {
        graph Test<T> {
            device data: [f32; 4];
            memset zero = data <- 0.0;
        }
    }

    trait Ambiguous<Marker> {
        fn not_sync() {}
    }

    impl<T> Ambiguous<()> for T {}
    impl<T: Sync> Ambiguous<u8> for T {}

    fn send<T: Send>() {}

    pub(crate) fn main() {
        send::<Test<*mut u8>>();
        // Compiles while only one implementation applies: were `Test` also `Sync`, the marker could be either.
        <Test<u8> as Ambiguous<_>>::not_sync();
    }
}
