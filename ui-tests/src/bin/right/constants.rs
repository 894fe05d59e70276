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
