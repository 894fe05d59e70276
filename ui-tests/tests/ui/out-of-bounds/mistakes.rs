//! Mistakes of the code `out-of-bounds`.
use graph_runtime::{Device, Result, cuda_graph};
use ui_tests::write;

// A graph with mistakes has the type of a right one, so that its uses give no further errors.
fn run(device: &Device, n: usize, factor: f32) -> Result<()> {
    let buffer = device.alloc::<[f32; 4]>()?;
    let mut graph = cuda_graph! { device =>
        host output: [f32; 4];
        device data: [f32; n];
        param value: f32 = factor;
        memset set = data[4..2] <- value;
        kernel k = write<<<1, 0>>>(&mut data) after st;
        memcpy down = buffer -> output after k;
    }?;
    graph.set_value(2.0 * graph.value())?;
    graph.launch()?;
    graph.k().set_enabled(false)?;
    let output: &[f32; 4] = graph.output()?;
    println!("{output:?} {:?}", graph.data()?.read_vec()?);
    println!("{:?}", graph.into_parts()?.buffer.read()?);
    Ok(())
}

// Literals tell that an iteration leaves its memory.
cuda_graph! {
    graph RangeOutOfBounds {
        device data: [f32; 12];
        for i in 0..=2 {
            for j in i..3 {
                memset set = data[4 * i + j..4 * i + 2 * j + 1] <- 1.0;
            }
        }
    }
}

// Constants are as good as literals.
const LAST: usize = 8;

cuda_graph! {
    graph IndexConstTooLarge {
        device data: [[f32; 4]; 8];
        memset zero = data[LAST] <- 0.0;
    }
}

// Constants are as good as literals.
const LEN: usize = 8;

cuda_graph! {
    graph RangeConstTooLong {
        device data: [f32; LEN];
        memset zero = data[4..LEN + 1] <- 0.0;
    }
}

// Columns out of bounds, which only rustc knows.
const END: usize = 9;

cuda_graph! {
    graph ColumnsConstTooLong {
        device data: [[f32; 8]; 4];
        memset clear = data[0..2][4..END] <- 0.0;
    }
}

// A constant length of a table is checked at compile time.
const ROWS: usize = 4;
const INDEX_PAST_CONST_LAST: usize = 4;

cuda_graph! {
    graph IndexPastConst(d: usize) {
        device data: [[f32; d]; ROWS];
        memset clear = data[INDEX_PAST_CONST_LAST] <- 0.0;
    }
}

fn main() {}
