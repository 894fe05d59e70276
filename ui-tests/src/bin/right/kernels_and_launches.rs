//! Kernels, their arguments, and launches.

pub mod kernels {
    //! Kernels have visibility, documentation, other names, conditions, and types that are theirs alone.
    #![deny(missing_docs, deprecated, unused, unreachable_pub)]
    use graph_runtime::{Kernel, cuda_graph};

    /// Kernels in a module of their own.
    mod kernels {
        use graph_runtime::cuda_kernels;

        #[cuda_kernels("kernels/odd.ptx")]
        #[allow(kernel_bounds)]
        unsafe extern "C" {
            /// `out[i] = 1`
            #[link_name = "_Z7mangledPf"]
            #[requires(threads <= out.len())]
            pub(super) safe fn fill(out: &mut [f32]);

            /// `data[i] *= data[i]`
            #[requires(threads == 0 || threads <= data.len() && block.x.is_multiple_of(2))]
            #[requires(!(shared > 0) && grid.max(1) == (grid.x * 1) || true)]
            pub(crate) safe fn with_helper(data: &mut [f32]);

            /// Is not there, and not needed here.
            #[cfg(any())]
            pub safe fn absent(data: &mut [f32]);
        }
    }

    cuda_graph! {
        graph Test {
            device data: [f32; 4];
            kernel fill = kernels::fill<<<1, 4>>>(&mut data);
            kernel square = self::kernels::with_helper<<<1, 4>>>(&mut data) after fill;
            kernel again = crate::kernels_and_launches::kernels::kernels::fill<<<1, 4>>>(&mut data) after square;
        }
    }

    /// Compiling is the test.
    pub(crate) fn main() {
        assert_eq!(kernels::fill::FACTS.entry, "_Z7mangledPf");
        let _ = Test::build;
    }
}

pub mod launches {
    //! Between `<<<` and `>>>` is any integer expression, shifts and comparisons included, or a tuple of them.
    #![allow(unused_parens, unused_braces)]
    use graph_runtime::{Device, Dimensions, cuda_graph};
    use ui_tests::{scaled, tile, write};

    const THREADS: u32 = 256;
    const GRID: (u32, u8) = (2, 2);
    const BLOCK: (u16,) = (256,);
    const TILE: (usize, i32, u64) = (16, 16, 1);
    const SIDE: (u32,) = (1,);

    /// A type of the program's own, which only building understands.
    #[derive(Clone, Copy)]
    struct Threads(u32);

    impl Dimensions for Threads {
        fn dimensions(self) -> [i128; 3] {
            [self.0.into(), 1, 1]
        }
    }

    const OWN: Threads = Threads(16);

    trait Shaped {
        const BLOCK: (u32, u32);
    }

    impl Shaped for f32 {
        const BLOCK: (u32, u32) = (32, 2);
    }

    fn of_half(n: u32) -> (u32, u32) {
        (n / 2, 2)
    }

    cuda_graph! {
        graph Test<const N: usize> {
            device data: [f32; 1024];
            kernel a = write<<<1024 >> 8, THREADS>>>(&mut data);
            kernel b = write<<<(4), (1 << 7, 2)>>>(&mut data) after a;
            kernel c = write<<<{ 16 >> 2 }, (256,), 4 << 8>>>(&mut data) after b;
            kernel d = write<<<if 1 < 2 { 4 } else { 8 }, 64 >> (1)>>>(&mut data) after c;
            kernel e = write<<<(1, 2_u64), (N.next_power_of_two(), 1, 2),>>>(&mut data) after d;
            kernel f = scaled<<<THREADS.div_ceil(64), 64>>>(&mut data, 1.0, THREADS >> (1)) after e;

            device square: [[f32; 16]; 16];
            kernel g = tile<<<(1, 1, 1), (16, 16, 1)>>>(&mut square);
        }

        graph Tuples<T: Shaped>(blocks: (u32, u32, u32)) {
            device data: [f32; 1024];
            param  block: (u32, u32) = (128, 2);
            kernel a = write<<<GRID, BLOCK>>>(&mut data);
            kernel b = write<<<(GRID), (BLOCK), 64>>>(&mut data) after a;
            kernel c = write<<<blocks, of_half(64)>>>(&mut data) after b;
            kernel d = write<<<4, block>>>(&mut data) after c;
            kernel e = write<<<(SIDE, 2), OWN>>>(&mut data) after d;
            kernel f = write<<<GRID, T::BLOCK>>>(&mut data) after e;
            kernel g = write<<<1, <f32 as Shaped>::BLOCK>>>(&mut data) after f;
            #[cluster(SIDE)]
            kernel h = write<<<GRID, (THREADS, 1)>>>(&mut data) after g;

            device square: [[f32; 16]; 16];
            kernel i = tile<<<1, TILE>>>(&mut square);
        }
    }

    pub(crate) fn main() {
        let device = Device::emulator();
        let mut tuples = Tuples::<f32>::build(&device, (1, 2, 1)).unwrap();
        tuples.launch().unwrap();
        assert_eq!(tuples.data().unwrap().read().unwrap()[..512], [1.0; 512]);
        tuples.set_block((8, 8)).unwrap();
        assert!(tuples.set_block((128, 16)).is_err());

        let (grid, block) = ((2, 2), (64, 4));
        let mut local = cuda_graph! { &device =>
            device data: [f32; 1024];
            kernel a = write<<<grid, block>>>(&mut data);
            kernel b = write<<<GRID, BLOCK>>>(&mut data) after a;
        }
        .unwrap();
        local.launch().unwrap();
        assert_eq!(local.data().unwrap().read().unwrap()[..512], [1.0; 512]);
    }
}

pub mod cuda_source {
    //! Kernels of a CUDA source: it is read when the program is compiled, and compiled when a graph is built.
    use graph_runtime::{cuda_graph, cuda_kernels};
    use ui_tests::Params;

    #[cuda_kernels(cuda = "kernels/ui.cu", options = ["--use_fast_math", "-DN=4"])]
    unsafe extern "C" {
        /// Documented.
        #[requires(threads <= out.len())]
        pub safe fn write(out: &mut [f32]);
        fn with_struct(data: &mut [f32], p: Params);
        #[link_name = "tile"]
        safe fn tiles(data: &mut [[f32; 16]; 16]);
        #[cfg(any())]
        safe fn left_out(out: &mut [f32]);
    }

    mod without_options {
        #[super::cuda_kernels(cuda = "kernels/ui.cu")]
        unsafe extern "C" {
            pub safe fn write(out: &mut [f32]);
        }
    }

    cuda_graph! {
        graph Test<const N: usize> {
            device data: [f32; N];
            device square: [[f32; 16]; 16];
            param a: f32 = 1.0;

            kernel fill = write<<<1, N>>>(&mut data);
            kernel other = without_options::write<<<1, N>>>(&mut data) after fill;
            kernel scaled = unsafe with_struct<<<1, N>>>(&mut data, Params { a, b: 0.0, n: N as u32 }) after other;
            kernel tiled = tiles<<<1, (16, 16)>>>(&mut square);
        }
    }
}

pub mod function_values {
    //! Function values of every kind, with arguments and dimensions that change.
    use graph_runtime::cuda_graph;
    use graph_runtime::cudarc::driver::CudaFunction;
    use std::sync::Arc;

    #[derive(Clone)]
    struct Functions {
        all: Vec<CudaFunction>,
    }

    cuda_graph! {
        graph Values<const N: usize>(one: CudaFunction, shared: Arc<CudaFunction>, functions: Functions) {
            device data: [f32; N];
            device sums: [[f32; 4]; 8];
            param factor: f32 = 1.0;
            param blocks: u32 = 4;

            kernel first = unsafe (&one)<<<1, N>>>(&mut data, N as u64);
            kernel second = unsafe (one)<<<blocks, 32, 1024>>>(&data, &mut sums[2..4], factor * 2.0) after first;
            kernel third = unsafe (shared)<<<(2, 2), (8, 8)>>>(&mut data, [1.0_f32; 3], blocks) after second;
            kernel fourth = unsafe (functions.all[0])<<<1, 32>>>() after third;
        }
    }
}

pub mod integers {
    //! Integers of any type stand for an integer parameter.
    use graph_runtime::{CallArgument, Device, Error, GraphBuilder, Launch, cuda_graph, cuda_kernels};
    use ui_tests::scaled;

    const LEN: usize = 64;
    const LEAST: i128 = -1;

    mod signed {
        #[graph_runtime::cuda_kernels("kernels/ui.ptx")]
        #[allow(kernel_bounds)]
        unsafe extern "C" {
            pub safe fn scaled(data: &mut [f32], factor: f32, n: i32);
        }
    }

    #[cuda_kernels("kernels/ui.ptx")]
    #[allow(kernel_bounds)]
    unsafe extern "C" {
        #[link_name = "scaled"]
        safe fn whole(data: &mut [f32], factor: f32, n: u32);
    }

    cuda_graph! {
        graph Integers<const N: usize>(rows: usize, last: i64, text: &str) {
            device data: [f32; LEN];
            param count: u8 = 64;

            kernel literal = scaled<<<1, 64>>>(&mut data, 2.0, 64);
            kernel constant = scaled<<<1, 64>>>(&mut data, 2.0, LEN) after literal;
            kernel generic = scaled<<<1, 64>>>(&mut data, 2.0, N) after constant;
            kernel argument = scaled<<<1, 64>>>(&mut data, 2.0, rows) after generic;
            kernel expression = scaled<<<1, 64>>>(&mut data, 2.0, last.abs() / 2) after argument;
            kernel param = scaled<<<1, 64>>>(&mut data, 2.0, count) after expression;
            kernel large = whole<<<1, 64>>>(&mut data, 2.0, 0xFFFF_FFFF) after param;
            kernel larger = whole<<<1, 64>>>(&mut data, 2.0, (1 << 32) - 1) after large;
            kernel negative = signed::scaled<<<1, 64>>>(&mut data, 2.0, -1) after larger;
            kernel constant_negative = signed::scaled<<<1, 64>>>(&mut data, 2.0, LEAST) after negative;
            kernel mixed = signed::scaled<<<1, 64>>>(&mut data, 2.0, LEN as i16 - 1) after constant_negative;
            kernel nothing = scaled<<<1, 64>>>(&mut data, 2.0, u64::MIN) after mixed;
            kernel converted = scaled<<<1, 64>>>(&mut data, 2.0, rows.try_into().unwrap()) after nothing;
            kernel parsed = scaled<<<1, 64>>>(&mut data, 1_u8.into(), text.parse().map_err(|_| Error::NoDriver)?) after converted;
            for i in 0..4 {
                kernel variable = scaled<<<1, 64>>>(&mut data, 2.0, i) after parsed;
                kernel shifted = whole<<<1, 64>>>(&mut data, 2.0, 1 << (28 + i)) after variable;
            }
        }
    }

    pub(crate) fn main() {
        let _ = Integers::<64>::build;
        let mut builder = GraphBuilder::new(&Device::emulator(), "Integers");
        let mut data = builder.device::<[f32; LEN]>("data");
        builder.kernel("all", Launch::new(1, 64), scaled::call(&mut data, 2.0, LEN));
        let _ = CallArgument::value(1_u32);
    }
}

pub mod structs {
    //! A kernel takes structs by value.
    use graph_runtime::bytemuck::{Pod, Zeroable};
    use graph_runtime::{cuda_graph, cuda_kernels};

    #[derive(Clone, Copy)]
    #[repr(C)]
    pub struct Pair {
        parts: [u16; 4],
    }

    // SAFETY: all zeroes is a value of an array of integers.
    unsafe impl Zeroable for Pair {}
    // SAFETY: `repr(C)`, one array of integers, so without padding.
    unsafe impl Pod for Pair {}

    #[cuda_kernels("kernels/odd.ptx")]
    #[allow(kernel_bounds)]
    unsafe extern "C" {
        #[requires(threads <= out.len())]
        safe fn with_pair(out: &mut [f32], pair: Pair);
    }

    cuda_graph! {
        graph Test {
            device data: [f32; 4];
            kernel fill = with_pair<<<1, 4>>>(&mut data, Pair { parts: [1, 2, 3, 4] });
        }
    }
}

pub mod unknown_instruction {
    //! A kernel with an instruction that nobody knows may do anything with its operands; the kernel beside it is not
    //! affected.
    use graph_runtime::{cuda_graph, cuda_kernels};

    #[cuda_kernels("kernels/future.ptx")]
    #[allow(kernel_bounds)]
    unsafe extern "C" {
        #[requires(threads <= out.len())]
        safe fn known(out: &mut [u32]);
        safe fn future(data: &mut [u32]);
    }

    cuda_graph! {
        graph Test {
            device out: [u32; 4];
            device data: [u32; 4];
            kernel first = known<<<1, 4>>>(&mut out);
            memset clear = data <- 0;
            kernel second = future<<<1, 4>>>(&mut data) after clear;
        }
    }
}

pub mod unsafe_kernels {
    //! The launch vouches for a kernel whose accesses of memory are not known.
    use graph_runtime::{cuda_graph, cuda_kernels};

    #[cuda_kernels("kernels/odd.ptx")]
    #[allow(kernel_bounds)]
    unsafe extern "C" {
        fn by_address(address: u64);
        fn by_view(view: [u64; 2]);
        fn gather(table: &[u64], out: &mut [f32]);
    }

    cuda_graph! {
        graph Test {
            device table: [u64; 4];
            device out: [f32; 4];
            param address: u64 = 0;
            kernel first = unsafe by_address<<<1, 4>>>(address);
            kernel second = unsafe by_view<<<1, 4>>>([address, 4]) after first;
            kernel third = unsafe gather<<<1, 4>>>(&table, &mut out) after second;
        }
    }
}

pub mod atomics {
    //! Memory that nodes update at the same time, and memory that a kernel initialises: no warnings, in every form.
    #![deny(warnings)]

    use graph_runtime::bytemuck::{Pod, Zeroable};
    use graph_runtime::{Atomic, cuda_graph, cuda_kernels};
    use std::mem::MaybeUninit;
    use ui_tests::{count, look, read, through};

    /// An element type that is no scalar.
    #[derive(Clone, Copy)]
    #[repr(transparent)]
    pub struct Count(u32);

    // SAFETY: a plain integer.
    unsafe impl Zeroable for Count {}
    // SAFETY: a plain integer.
    unsafe impl Pod for Count {}

    mod declared {
        use super::*;

        #[cuda_kernels("kernels/atomic.ptx")]
        #[allow(kernel_bounds)]
        unsafe extern "C" {
            #[link_name = "count"]
            pub safe fn count_all(bins: &[[Atomic<u32>; 2]]);
            #[link_name = "count"]
            pub safe fn count_exactly(bins: &[[graph_runtime::Atomic<u32>; 2]; 2]);
            #[link_name = "count"]
            pub safe fn count_one(bins: &Atomic<u32>);
            #[link_name = "count"]
            pub(super) safe fn count_typed(bins: &[Atomic<Count>]);
            #[link_name = "count_and_look"]
            pub fn trusted(bins: &[Atomic<u32>], out: &mut [MaybeUninit<u32>]);
            #[link_name = "through"]
            pub safe fn through_exactly(tmp: &mut [std::mem::MaybeUninit<f32>; 4], out: &mut MaybeUninit<[f32; 4]>);
        }
    }
    use declared::{count_all, count_exactly, count_one, count_typed, through_exactly, trusted};

    cuda_graph! {
        graph Forms {
            device bins: [[u32; 2]; 2];
            device typed: [Count; 4];
            host counts: [[u32; 2]; 2];
            memset clear = bins <- 0;
            kernel all = count_all<<<1, 4>>>(&bins) after clear;
            kernel exactly = count_exactly<<<1, 4>>>(&bins) after clear;
            kernel one = count_one<<<1, 1>>>(&bins[0][0]) after clear;
            kernel row = count<<<1, 2>>>(&bins[1]) after clear;
            kernel typed_count = count_typed<<<1, 4>>>(&typed);
            memcpy down = bins -> counts after all, exactly, one, row;
        }

        /// Iterations of a `for` come one after the other; those of an `each` update the same memory.
        graph Loops {
            device bins: [u32; 4];
            device out: [[u32; 4]; 3];
            for i in 0..3 {
                kernel update = count<<<1, 4>>>(&bins);
                kernel look_at = look<<<1, 4>>>(&bins, &mut out[i]) after update;
            }
            each _i in 0..3 {
                kernel more = count<<<1, 4>>>(&bins) after look_at;
            }
        }

        graph Unsafe {
            device bins: [u32; 4];
            device out: [u32; 4];
            kernel both = unsafe trusted<<<1, 4>>>(&bins, &mut out);
            kernel other = count<<<1, 4>>>(&bins);
        }

        /// Only an atomic update writes the shared memory.
        graph Shared(bins: mut device [u32; 4]) {
            kernel update = count<<<1, 4>>>(&bins);
        }

        graph Until {
            device more: u32;
            while repeat = more {
                kernel update = count_one<<<1, 1>>>(&more);
            };
        }

        /// `tmp` has no other writer than kernels that read it, too.
        graph Temporary {
            scratch tmp: [f32; 4];
            scratch other: [f32; 4];
            device out: [f32; 4];
            kernel first = through<<<1, 4>>>(&mut tmp, &mut out);
            kernel second = through_exactly<<<1, 4>>>(&mut other, &mut out) after first;
            kernel third = read<<<1, 4>>>(&other, &mut out) after second;
        }
    }
}

pub mod node_named_as_its_kernel {
    //! A kernel is a type, so that a node may bear its kernel's name.
    use graph_runtime::{Device, Result, cuda_graph};
    use ui_tests::{read, write};

    cuda_graph! {
        graph Test {
            device data: [f32; 4];
            device other: [f32; 4];
            kernel write = write<<<1, 4>>>(&mut data);
            kernel read = read<<<1, 4>>>(&data, &mut other) after write;
        }
    }

    fn disable(graph: &mut Test) -> Result<()> {
        graph.write().set_enabled(false)?;
        graph.read().set_enabled(false)
    }

    pub(crate) fn main() {
        let _: fn(&Device) -> Result<Test> = Test::build;
        let _: fn(&mut Test) -> Result<()> = disable;
    }
}

pub mod programmatic {
    //! Programmatic edges that are an order of their kernels.
    #![deny(warnings)]

    use graph_runtime::cuda_graph;
    use ui_tests::*;

    cuda_graph! {
        pub graph Right<const N: usize> {
            host   input:  [f32; N];
            device a:      [f32; N];
            device b:      [f32; N];
            device c:      [f32; N];
            device d:      [f32; 1024];
            device e:      [f32; N];
            host   output: [f32; N];

            memcpy up     = input -> a;
            kernel first  = chained<<<4, 256>>>(&a, &mut b)       after up;
            kernel second = chained<<<4, 256>>>(&b, &mut c)       after programmatic(first);
            // It reads early, but what nobody writes.
            kernel third  = eager<<<4, 256>>>(&d, &mut e)         after programmatic(second), up;
            memcpy down   = c -> output                           after second;
            #[allow(programmatic_edge)]
            kernel fourth = chained<<<4, 256>>>(&d, &mut b)       after programmatic(fifth), down;
            kernel fifth  = write<<<4, 256>>>(&mut c)             after third, down;
        }
    }

    cuda_graph! {
        #[allow(programmatic_edge)]
        pub graph InBodies {
            device flag: u32;
            device a:    [f32; 1024];
            device b:    [f32; 1024];

            if maybe = flag {
                kernel first  = write<<<4, 256>>>(&mut a);
                kernel second = chained<<<4, 256>>>(&a, &mut b)   after programmatic(first);
            } else {
                kernel programmatic = write<<<4, 256>>>(&mut a);
                kernel behind       = chained<<<4, 256>>>(&a, &mut b) after programmatic;
            };
        }
    }

    pub(crate) fn main() {
        let plan = Right::<1024>::PLAN;
        let node = plan.nodes.iter().find(|node| node.name == "third").unwrap();
        assert_eq!((&node.after[..], &node.programmatic[..]), (&[2, 0][..], &[2][..]));
    }
}
