//! Params of a graph in what its children are bound to: `set_x` reaches the nodes inside.

use crate::common::*;

cuda_graph! {
    /// Memory of its own, a param that another needs, and a length that only building tells.
    graph Step(n: usize) {
        device  data: [u32; n];
        scratch next: [u32; n];
        param   last: u32 = value + 1;
        param   value: u32 = 2;
        param   threads: u32 = 4;

        memset set  = next <- value;
        memcpy take = next -> data                                after set;
        kernel add  = add_to<<<1, threads>>>(&mut data[..4], last) after take;
    }

    /// A child in a child, alone and repeated.
    graph Steps(factor: u32) {
        device rows: [[u32; 4]; 3];
        param  start: u32 = 1;

        graph one = Step(data: &mut rows[0], n: 4, value: start, last: start * factor);
        for i in 1..3 {
            graph more = Step(data: &mut rows[i], n: 4, value: start + i as u32, threads: i as u32) after one;
        }
    }
}

#[test]
fn a_child_without_params_bound_has_its_own() -> Result<()> {
    let mut graph = launched(Step::build(&device(), 4))?;
    assert_eq!(graph.data()?.read_vec()?, [5; 4], "2, and one more than that");
    graph.set_value(7)?;
    graph.launch()?;
    assert_eq!(graph.data()?.read_vec()?, [10; 4], "the other param keeps its value");
    Ok(())
}

#[test]
fn setting_a_param_reaches_children_of_children_and_all_iterations() -> Result<()> {
    let mut graph = launched(cuda_graph! { &device() =>
        device flag: u32;
        device rows: [[u32; 4]; 3];
        device fixed: [u32; 4];
        param  start: u32 = 5;
        param  run: u32 = 1;

        memset choose = flag <- run;
        if maybe = flag {
            graph steps = Steps(rows: &mut rows, factor: 10, start: start + 1);
        } after choose;
        graph alone = Step(data: &mut fixed, n: 4);
    })?;
    let expected = |start: u32| {
        // The default of `last` is one more than what `value` is bound to; as many threads as the iteration's number
        // add it.
        let row = |i: u32| std::array::from_fn(|k| start + i + if (k as u32) < i { start + i + 1 } else { 0 });
        [[start * 11; 4], row(1), row(2)]
    };
    assert_eq!(*graph.rows()?.read()?, expected(6));
    assert_eq!(*graph.fixed()?.read()?, [5; 4]);

    graph.set_start(20)?;
    assert_eq!(*graph.rows()?.read()?, expected(6), "nothing runs at once");
    graph.launch()?;
    assert_eq!(*graph.rows()?.read()?, expected(21));
    assert_eq!(*graph.fixed()?.read()?, [5; 4], "this child is bound to no param");

    graph.set_start(30)?;
    graph.set_run(0)?;
    graph.launch()?;
    assert_eq!(*graph.rows()?.read()?, expected(21), "the body did not run");
    Ok(())
}

#[test]
fn a_value_that_a_child_refuses_is_an_error() -> Result<()> {
    cuda_graph! {
        graph Refuses {
            device data: [u32; 4];
            param  count: u32 = 4;
            graph  step = Step(data: &mut data, n: 4, threads: count);
        }
    }
    let mut graph = Refuses::build(&device())?;
    has(refused(graph.set_count(5)), &["step.add", "[contract]"]);
    Ok(())
}

#[test]
fn an_expression_binds_its_params() -> Result<()> {
    let device = device();
    let (data, scale) = (device.alloc::<[u32; 4]>()?, 2);
    let mut graph = cuda_graph! { &device =>
        param start: u32 = scale;
        for i in 0..2 {
            graph step = Step(data: &mut data, n: 4, value: start * scale + i as u32);
        }
    }?;
    graph.launch()?;
    assert_eq!(*graph.data()?.read()?, [11; 4]);
    graph.set_start(10)?;
    graph.launch()?;
    assert_eq!(*graph.data()?.read()?, [43; 4]);
    Ok(())
}
