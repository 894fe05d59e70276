//! Variables of kernels' modules that graphs declare as memory.

use crate::common::*;

#[cuda_kernels("tests/kernels/constants.ptx")]
unsafe extern "C" {
    /// `data[i] *= table[i % 4]`
    #[requires(threads <= data.len())]
    safe fn weigh(data: &mut [f32]);
    /// `totals[i] += by`
    #[requires(threads <= 2)]
    safe fn add_totals(by: u32);
    /// `out[i] = totals[i % 2]`
    #[requires(threads <= out.len())]
    safe fn read_totals(out: &mut [u32]);
}

cuda_graph! {
    graph Weigh {
        host     input: [f32; 4];
        device   data:  [f32; 8];
        constant table: [f32; 4] = "table";

        memcpy upload = input -> table;
        memset ones   = data <- 1.0;
        kernel weigh  = weigh<<<1, 8>>>(&mut data) after upload, ones;
    }

    graph Initial {
        device   data:  [f32; 4];
        host     seen:  [f32; 4];
        constant table: [f32; 4] = "table";

        memset ones  = data <- 2.0;
        kernel weigh = weigh<<<1, 4>>>(&mut data) after ones;
        memcpy look  = table -> seen;
    }

    graph Count {
        device   out:    [u32; 2];
        host     result: [u32; 2];
        constant totals: [u32; 2] = "totals";
        param    by:     u32 = 1;

        memset clear = totals[1] <- 7;
        for i in 0..3 {
            kernel add = add_totals<<<1, 2>>>(by) after clear;
        }
        kernel read   = read_totals<<<1, 2>>>(&mut out) after add;
        memcpy result_of = totals -> result after add;
    }

    graph Inner {
        device   data:  [f32; 4];
        constant table: [f32; 4] = "table";
        param    scale: f32 = 2.0;

        memset fill  = table <- scale;
        kernel weigh = weigh<<<1, 4>>>(&mut data) after fill;
    }

    graph Outer {
        device   data:  [f32; 4];
        constant table: [f32; 4] = "table";
        host     seen:  [f32; 4];
        param    scale: f32 = 3.0;

        memset ones   = data <- 1.0;
        graph  inner  = Inner(data: &mut data, scale: scale) after ones;
        memcpy look   = table -> seen after inner;
    }
}

#[test]
fn variables_have_what_is_copied_there_and_what_kernels_write() -> Result<()> {
    let mut graph = Weigh::build(&device())?;
    *graph.input_mut()? = [1.0, 2.0, 3.0, 4.0];
    graph.launch()?;
    assert_eq!(*graph.data()?.read()?, [1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0]);
    assert_eq!(*graph.table()?.read()?, [1.0, 2.0, 3.0, 4.0]);

    let mut graph = launched(Count::build(&device()))?;
    assert_eq!(*graph.out()?.read()?, [13, 10]);
    assert_eq!(graph.result()?, &[13, 10]);
    graph.set_by(2)?;
    graph.launch()?;
    assert_eq!(graph.result()?, &[19, 13], "the first keeps what it had");

    let mut graph = launched(Outer::build(&device()))?;
    assert_eq!((graph.data()?.read()?[0], graph.seen()?[0]), (3.0, 3.0));
    graph.set_scale(0.5)?;
    graph.launch()?;
    assert_eq!((graph.data()?.read()?[0], graph.seen()?[0]), (0.5, 0.5));
    Ok(())
}

#[test]
fn initial_values_stay_until_something_writes_them_in_each_graph() -> Result<()> {
    let mut graph = launched(Initial::build(&device()))?;
    assert_eq!(graph.seen()?, &[1.0; 4]);
    assert_eq!(*graph.data()?.read()?, [2.0; 4]);
    graph.table_mut()?.copy_from(&[1.0, 0.5, 0.25, 0.0])?;
    graph.launch()?;
    assert_eq!(*graph.data()?.read()?, [2.0, 1.0, 0.5, 0.0]);

    let device = device();
    let (mut one, other) = (Initial::build(&device)?, Initial::build(&device)?);
    one.table_mut()?.copy_from(&[5.0; 4])?;
    one.launch()?;
    assert_eq!((one.table()?.read()?[0], other.table()?.read()?[0]), (5.0, 1.0));
    Ok(())
}

#[test]
fn races_of_copies_and_kernels_are_found_in_either_order_of_declaration() {
    for first in [true, false] {
        let mut builder = GraphBuilder::new(&device(), "Race");
        let input = builder.host::<[f32; 4]>("input");
        let mut data = builder.device::<[f32; 4]>("data");
        if first {
            let mut table = builder.constant::<[f32; 4]>("table", "table");
            builder.memcpy("upload", &input, &mut table);
            builder.kernel("weigh", Launch::new(1, 4), weigh::call(&mut data));
        } else {
            builder.kernel("weigh", Launch::new(1, 4), weigh::call(&mut data));
            let mut table = builder.constant::<[f32; 4]>("table", "table");
            builder.memcpy("upload", &input, &mut table);
        }
        mistake(builder.build(), Code::Race).says("and both access `table`");
    }
}

#[test]
fn variables_are_one_memory_whatever_its_name() {
    let mut builder = GraphBuilder::new(&device(), "Names");
    let mut data = builder.device::<[f32; 4]>("data");
    let mut out = builder.device::<[u32; 2]>("out");
    builder.constant::<[f32; 4]>("totals", "table");
    builder.kernel("weigh", Launch::new(1, 4), weigh::call(&mut data));
    builder.kernel("read", Launch::new(1, 2), read_totals::call(&mut out));
    let mut totals = builder.constant::<[u32; 2]>("t", "totals");
    builder.memset("clear", &mut totals, 7_u32);
    assert_eq!(codes(builder.build()), [Code::Race]);

    let mut builder = GraphBuilder::new(&device(), "Twice");
    let input = builder.host::<[f32; 4]>("input");
    let mut data = builder.device::<[f32; 4]>("data");
    builder.kernel("weigh", Launch::new(1, 4), weigh::call(&mut data));
    let mut one = builder.constant::<[f32; 4]>("one", "table");
    let mut two = builder.constant::<[[f32; 2]; 2]>("two", "table");
    let upload = builder.memcpy("upload", &input, &mut one);
    let weigh = graph_runtime::NodeId::new(0);
    builder.after(weigh, &[upload]);
    builder.memset("clear", &mut two, 0.0_f32);
    // One edge is missing, from `weigh`.
    mistake(builder.build(), Code::Race).says("`clear` races with `upload` too");
}

#[test]
fn variables_that_are_not_there_are_refused() {
    let build = |symbol: &'static str| {
        let mut builder = GraphBuilder::new(&device(), "Missing");
        let mut data = builder.device::<[f32; 4]>("data");
        builder.kernel("weigh", Launch::new(1, 4), weigh::call(&mut data));
        let mut table = builder.constant::<[f32; 2]>("table", symbol);
        builder.memset("clear", &mut table, 0.0_f32);
        builder.build()
    };
    assert_eq!(codes(build("tables")), [Code::UnknownResource]);
    has(build("tables").unwrap_err(), &["has `table`, `totals`"]);
    let parts = ["declared with 8 bytes [shape-mismatch]\nnote: the variable has 16"];
    has(build("table").unwrap_err(), &parts);
}

#[test]
fn only_copies_and_memsets_take_variables() {
    let mut builder = GraphBuilder::new(&device(), "Argument");
    let mut table = builder.constant::<[f32; 4]>("table", "table");
    builder.kernel("weigh", Launch::new(1, 4), weigh::call(&mut table));
    let flag = builder.constant::<u32>("flag", "totals");
    builder.if_then("maybe", &flag, |_| {});
    let codes = codes(builder.build());
    let wrong = codes.iter().filter(|code| **code == Code::WrongMemory);
    assert_eq!(wrong.count(), 2, "{codes:?}");
}
