//! Memory of each kind, and parts of it.

pub mod memsets {
    //! A memset sets memory of any plain type to any value of it.
    use graph_runtime::cuda_graph;
    use ui_tests::Params;

    const PATTERN: u16 = 0xabcd;

    fn value() -> f64 {
        0.5
    }

    cuda_graph! {
        graph Test<const N: usize> {
            device bytes: [u8; 3];
            device halves: [u16; N];
            device words: [[i32; 4]; 4];
            device wide: [u64; 4];
            device floats: [f32; 4];
            device doubles: [f64; 4];
            device single: i64;
            device structs: [Params; 2];
            param level: f32 = 1.0;
            memset a = bytes <- 0xff;
            memset b = halves <- PATTERN;
            memset c = words[1..3] <- -1;
            memset d = wide <- u64::MAX - 1;
            memset e = floats <- level * 2.0 + 1.0;
            memset f = doubles <- value();
            memset g = single <- i64::MIN;
            memset h = structs <- Params { a: 1.0, b: 2.0, n: N as u32 };
        }
    }
}

pub mod parts {
    //! Parts that literals, constants or const generics tell apart need no order.
    use graph_runtime::cuda_graph;
    use ui_tests::{read, write};

    const MID: usize = 4;

    cuda_graph! {
        graph Parts<const I: usize, const N: usize> {
            device data: [f32; 8];
            memset first = data[0] <- 0.0;
            memset second = data[1] <- 1.0;
            memset third = data[2..=3] <- 2.0;
            memset rest = data[4..] <- 3.0;

            device split: [f32; 8];
            kernel low = write<<<1, 4>>>(&mut split[..MID]);
            kernel high = write<<<1, 4>>>(&mut split[MID..]);

            device halves: [f32; N];
            memset left = halves[..N / 2] <- 0.0;
            memset right = halves[N / 2..] <- 1.0;

            host input: [f32; N];
            device matrix: [[f32; N]; 4];
            memcpy row = input -> matrix[I];
            memcpy rows = matrix[0..2] -> matrix[2..4] after row;

            device tail: [f32; 12];
            memset all = tail[..] <- 0.0;
            kernel shift = read<<<1, 4>>>(&tail[..4], &mut tail[4..8]) after all;
            memcpy last = tail[MID..8] -> tail[8..] after shift;
        }
    }
}

pub mod rectangles {
    //! Parts of two dimensions.
    #![deny(warnings)]

    use graph_runtime::cuda_graph;
    use ui_tests::*;

    const MID: usize = 4;

    type Row = [f32; 8];

    cuda_graph! {
        pub graph Planes<const R: usize, const C: usize>(n: usize, rows: usize) {
            param  value: f32 = 0.5;
            host   input:   [[f32; C]; R];
            device data:    [[f32; C]; R];
            device dynamic: [[f32; 8]; n];
            device corner:  [[f32; 4]; 4];
            device aliased: [Row; 4];
            device deep:    [[[[f32; 2]; 3]; 4]; 5];
            device flags:   [[u32; 2]; 2];
            host   result:  [[f32; 8]; 8];

            memcpy a = input[..][..MID] -> data[..][..MID];
            memcpy b = input[..R][MID..] -> data[..][MID..];
            memcpy c = data[..4][..4] -> corner                             after a, b;
            memcpy d = corner -> dynamic[..4][4..]                          after c;
            memcpy e = dynamic[rows..][n - 3] -> result[rows..][1]          after d;
            memcpy f = dynamic[..rows][..n - 5] -> result[..rows][5 - n + n..5 + n - 5] after d;
            memset g = aliased[1..3][2..] <- value;
            memset h = aliased[0][2..4]   <- value;
            kernel i = write<<<1, 4>>>(&mut aliased[3][..4]);
            memset j = deep[..][1..=2]    <- 1.0;
            kernel k = write<<<1, 6>>>(&mut deep[2][0])                      after j;
            for l in 0..2 {
                if maybe = flags[l][1] {
                    memset m = aliased[l + 1..l + 2][l] <- 2.0;
                } after g, h, i;
            }
        }
    }

    pub(crate) fn main() {
        let build = Planes::<8, 8>::build;
        let _ = build;
    }
}

pub mod scratch {
    //! Scratch memory: written before it is read, in parts, by kernels that load nothing, in bodies and in generic
    //! graphs.
    #![deny(warnings)]
    use graph_runtime::cuda_graph;
    use ui_tests::{read, scaled, write};

    cuda_graph! {
        pub graph Scratch<const N: usize>(n: usize) {
            device flag: u32;
            device out: [f32; N];
            /// Documented.
            scratch whole: [f32; N];
            scratch rows: [[f32; N]; 2];
            scratch dynamic: [f32; n];
            scratch condition: u32;

            kernel first = write<<<1, 4>>>(&mut whole);
            kernel change = scaled<<<1, 4>>>(&mut whole, 2.0, 4) after first;
            kernel row = read<<<1, 4>>>(&whole, &mut rows[1]) after change;
            memset set = condition <- 1;
            while repeat = condition {
                kernel one = write<<<1, 4>>>(&mut rows[0]);
                kernel two = read<<<1, 4>>>(&rows[0], &mut out) after one;
                memset stop = condition <- 0 after two;
            } after row, set;
            memset fill = dynamic <- 1.0;
            kernel last = read<<<1, 4>>>(&rows[1], &mut out) after repeat;
            if maybe = flag {
                kernel inside = read<<<1, 1>>>(&dynamic[..4], &mut out);
            } after last, fill;
            #[allow(dead_node)]
            kernel useless = write<<<1, 4>>>(&mut whole) after row;
        }
    }

    pub(crate) fn main() {
        assert_eq!(
            Scratch::<64>::PLAN.arena().bytes(),
            None,
            "`build` knows the length of `dynamic`"
        );
    }
}

pub mod shapes {
    //! A shape is an element or an array of up to four dimensions, and may have a name: then that is the element.
    use graph_runtime::cuda_graph;
    use ui_tests::{tile, write};

    type Row = [f32; WIDTH];
    type Image = [Row; 8];
    const WIDTH: usize = 16;

    cuda_graph! {
        graph Test {
            host flag_input: u32;
            device flag: u32;
            memcpy flag_upload = flag_input -> flag;

            host input: [[[[f32; 4]; 3]; 2]; 5];
            device volume: [[[[f32; 4]; 3]; 2]; 5];
            memcpy volume_upload = input -> volume;
            kernel fill_volume = write<<<1, 120>>>(&mut volume) after volume_upload;

            device image: Image;
            device rows: [Row; 4];
            device same: [[f32; 16]; 8];
            memset zero = image <- [[0.0; WIDTH]; 8];
            memcpy copy = image -> same after zero;
            memcpy copy_rows = same[..4] -> rows after copy;

            device square: [Row; WIDTH];
            kernel fill_square = tile<<<1, (16, 16)>>>(&mut square);
        }
    }
}

pub mod tables {
    //! Memory with several lengths that only build knows.
    #![deny(warnings)]
    use graph_runtime::{Device, DeviceRef, Element, Result, Table, TableMut, TableRef, cuda_graph};
    use ui_tests::{read, scaled, write};

    const ROWS: usize = 4;

    cuda_graph! {
        pub graph Test<T: Element, const N: usize>(n: usize, d: usize, value: T, shared: mut host [[T; d]; n]) {
            /// The input.
            host    input:  [[T; d]; n];
            device  w:      [[T; d]; n];
            scratch same:   [[T; d]; n];
            device  cube:   [[[T; N]; d]; n];
            device  deep:   [[[[T; d]; n]; N]; ROWS];
            device  row:    [[T; N]; d];
            param   later:  T = value;

            memcpy up    = input -> w;
            memcpy over  = w[..n - 1] -> same[1..n]               after up;
            memset first = same[0] <- value;
            memcpy down  = same -> shared                         after over, first;
            memset last  = cube[n - 1][1..d] <- later;
            memcpy line  = cube[0] -> row                         after last;
            memset part  = deep[ROWS - 1][..N] <- value;
            memset side  = w[..][0] <- value                      after over;
        }

        graph Kernels(n: usize, d: usize) {
            host   output: [[f32; d]; n];
            device w:      [[f32; d]; n];
            device row:    [f32; d];

            for i in 0..n {
                kernel ones  = write<<<1, d as u32>>>(&mut w[i]);
                kernel scale = scaled<<<1, d as u32>>>(&mut w[i][1..], 2.0, d as u32 - 1) after ones;
                kernel copy  = read<<<1, d as u32>>>(&w[i], &mut row)                   after scale;
            }
            memcpy down = w -> output                                                 after copy;
            call   look = |&output| assert_eq!(output[0][0], 1.0)                     after down;
        }
    }

    fn run(device: &Device) -> Result<()> {
        let shared = device.alloc_host_table([3, 5])?.share();
        let mut graph = Test::<f32, 2>::build(device, 3, 5, 1.0, &shared)?;
        let memory = graph.memory_mut()?;
        let mut input: TableMut<'_, f32> = memory.input;
        input[1][2] = 3.0;
        graph.launch()?;
        graph.set_later(2.0)?;
        let w: DeviceRef<'_, Table<f32>> = graph.w()?;
        assert_eq!(w.row(1)?.read_vec()?.len(), 5);
        let deep: DeviceRef<'_, Table<f32, 4>> = graph.deep()?;
        assert_eq!(deep.lengths(), [4, 2, 3, 5]);
        assert_eq!(graph.shared()?.view()[[0, 0]], 1.0);
        let mut graph = Kernels::build(device, 2, 3)?;
        graph.launch()?;
        let output: TableRef<'_, f32, 2> = graph.output()?;
        output.rows().for_each(|row| assert_eq!(row[1], 2.0));
        Ok(())
    }

    pub(crate) fn main() {
        let _: fn(&Device) -> Result<()> = run;
    }
}

pub mod names_of_lengths {
    //! The variable of a loop is another value than a local of its name that gives a length.
    use graph_runtime::{Device, Result, cuda_graph};

    fn run(device: &Device, i: usize, n: usize) -> Result<()> {
        let mut graph = cuda_graph! { device =>
            device x: [[f32; n]; i];
            device y: [[f32; n]; 2];
            for i in 0..3 {
                memset row = x[i] <- 1.0;
                memcpy two = x[i..i + 2] -> y after row;
            }
        }?;
        graph.launch()
    }

    pub(crate) fn main() {
        let _: fn(&Device, usize, usize) -> Result<()> = run;
    }
}

pub mod large_ranges {
    //! Large ranges cost no more than small ones: the 400 million iterations of `d` are not listed. `build` checks
    //! them.
    use graph_runtime::cuda_graph;

    cuda_graph! {
        graph Test {
            device x: [f32; 4];
            each i in 0..4 {
                memset a = x <- 0.0 after d(i - 2);
                each j in 0..20000 {
                    each k in 0..20000 {
                        join d after a;
                    }
                }
            }
        }
    }

    pub(crate) fn main() {
        let _ = Test::build;
    }
}

pub mod mapped {
    //! Kernels of any order access mapped memory, as do children and loops.
    use graph_runtime::cuda_graph;
    use ui_tests::announce;

    cuda_graph! {
        graph Inner {
            mapped news: [u32; 4];
            kernel one = announce<<<1, 4>>>(&news, 1);
            kernel other = announce<<<1, 4>>>(&news, 2);
        }

        graph Outer(n: usize) {
            mapped news: [u32; 4];
            mapped more: [[u32; 4]; n];
            graph first = Inner(news: &news);
            graph second = Inner(news: &news);
            each i in 0..n {
                kernel tell = announce<<<1, 4>>>(&more[i], 3);
                kernel all = announce<<<1, 1>>>(&news, 4);
            }
        }
    }

    pub(crate) fn main() {
        let _: fn(&Outer) -> graph_runtime::Result<graph_runtime::MappedHost<u32>> = Outer::more;
    }
}

pub mod constants {
    //! Variables of kernels' modules as memory.
    use graph_runtime::{Device, cuda_graph};
    use ui_tests::{count_up, weigh, write};

    const N: usize = 4;

    cuda_graph! {
        pub graph Both {
            host     input:  [f32; N];
            host     seen:   [u32; 2];
            device   data:   [f32; N];
            /// A table in constant memory.
            constant table:  [f32; N] = "table";
            constant totals: [[u32; 1]; 2] = "totals";

            memcpy first  = input[..2] -> table[..2];
            memset second = table[2..] <- 0.5;
            kernel k      = weigh<<<1, 4>>>(&mut data) after first, second;
            kernel count  = count_up<<<1, 2>>>();
            memset clear  = totals[1] <- 0 after count;
            memcpy look   = totals[0] -> seen[..1] after count;
        }

        graph Inner<const M: usize> {
            device   data:  [f32; M];
            constant table: [f32; 4] = "table";

            memset fill  = table <- 2.0;
            kernel inner = weigh<<<1, 4>>>(&mut data) after fill;
        }

        graph Outer {
            device data: [f32; 4];

            kernel ones  = write<<<1, 4>>>(&mut data);
            graph  inner = Inner::<4>(data: &mut data) after ones;
        }
    }

    pub(crate) fn main() -> graph_runtime::Result<()> {
        let device = Device::emulator();
        let both = Both::build(&device)?;
        let table = both.table()?.read()?;
        assert_eq!(*table, [0.0; 4]);
        let mut outer = Outer::build(&device)?;
        outer.launch()?;
        assert_eq!(*outer.data()?.read()?, [2.0; 4]);

        let scale = 3.0;
        let mut expression = cuda_graph! { &device =>
            device   data:  [f32; 4];
            constant table: [f32; 4] = "table";
            memset ones = data <- 1.0;
            memset fill = table <- scale;
            kernel k    = weigh<<<1, 4>>>(&mut data) after ones, fill;
        }?;
        expression.launch()?;
        assert_eq!(*expression.data()?.read()?, [3.0; 4]);
        Ok(())
    }
}
