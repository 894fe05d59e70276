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
