//! Several changes that are made together, and launch dimensions that handles choose.

use crate::common::*;

cuda_graph! {
    /// `out = fill`, then `out[i] += x` for the first `blocks * threads`, and `out[4] += y`.
    graph Step(w: mut device [u32; 8]) {
        param x:       u32 = 1;
        param y:       u32 = 10;
        param blocks:  u32 = 1;
        param threads: u32 = 4;

        memset fill = w <- 100;
        kernel add  = add_to<<<blocks, threads>>>(&mut w, x)       after fill;
        kernel more = add_to<<<1, 1>>>(&mut w[4..], y)             after add;
        kernel both = add_to<<<1, 1>>>(&mut w[7..], x * 1000 + y)  after more;
    }
}

fn step(device: &Device) -> Result<(Step, DeviceBuffer<[u32; 8]>)> {
    let w = device.alloc::<[u32; 8]>()?;
    Ok((Step::build(device, &w)?, w))
}

#[test]
fn changes_are_made_together() -> Result<()> {
    let device = device();
    let (mut graph, first) = step(&device)?;
    let second = device.alloc::<[u32; 8]>()?;
    graph.launch()?;
    assert_eq!(*first.read()?, [101, 101, 101, 101, 110, 100, 100, 1110]);
    graph.edit(|e| {
        e.set_x(2)?;
        e.rebind_w(&second)?;
        e.fill().set_enabled(false)?;
        e.set_y(20)?;
        assert_eq!((e.x(), e.y()), (2, 20));
        Ok(())
    })?;
    assert_eq!((graph.x(), graph.y(), graph.fill().is_enabled()), (2, 20, false));
    graph.launch()?;
    assert_eq!(*first.read()?, [101, 101, 101, 101, 110, 100, 100, 1110]);
    assert_eq!(*second.read()?, [2, 2, 2, 2, 20, 0, 0, 2020]);
    Ok(())
}

/// As issues and mails write it: the results need no `?`, since the edit itself returns the first error.
#[test]
#[expect(unused_must_use, reason = "this is the spelling to test")]
fn an_edit_returns_the_errors_that_its_closure_ignores() -> Result<()> {
    let device = device();
    let (mut graph, first) = step(&device)?;
    let second = device.alloc::<[u32; 8]>()?;
    graph.edit(|e| {
        e.set_x(2);
        e.rebind_w(&second);
        e.fill().set_enabled(false)
    })?;
    graph.edit(|e| {
        e.set_x(3);
    })?;
    graph.launch()?;
    assert_eq!((*first.read()?, second.read()?[0]), ([0; 8], 3));
    let foreign = Device::emulator().alloc::<[u32; 8]>()?;
    let error = graph.edit(|e| {
        e.set_x(4);
        e.rebind_w(&foreign);
        e.add().set_enabled(false);
    });
    assert!(matches!(error, Err(Error::ForeignMemory { .. })), "{error:?}");
    assert_eq!((graph.x(), graph.add().is_enabled()), (3, true));
    graph.launch()?;
    assert_eq!(second.read()?[0], 6);
    Ok(())
}

#[test]
fn only_the_state_after_all_changes_must_be_right() -> Result<()> {
    let (mut graph, w) = step(&device())?;
    for (blocks, threads) in [(8, 1), (1, 8), (2, 4)] {
        graph.edit(|e| {
            e.set_threads(threads)?; // 8 blocks of 8 threads would be too many
            e.set_blocks(blocks)
        })?;
        graph.launch()?;
        assert_eq!(w.read()?[..4], [101; 4], "{blocks} x {threads}");
    }
    let error = graph.edit(|e| {
        e.set_x(7)?;
        e.set_threads(5)
    });
    refused(error)
        .begins("graph `Step` has 1 mistake\nnode `add`: kernel `add_to` requires `threads <= data.len()` [contract]");
    assert_eq!((graph.x(), graph.threads(), graph.blocks()), (1, 4, 2));
    graph.launch()?;
    assert_eq!(*w.read()?, [101, 101, 101, 101, 111, 101, 101, 1111]);
    Ok(())
}

cuda_graph! {
    /// A part of `input` to a part of `x` of the same length.
    graph Both(one: mut device [u32; 4], two: device [u32; 4]) {
        host   input: [u32; 8];
        device x:     [u32; 8];
        param  n: usize = 8;
        param  m: usize = 8;

        memset clear = x <- 0;
        memcpy up    = input[..n] -> x[..m] after clear;
        memcpy copy  = two -> one;
    }
}

#[test]
fn sides_of_a_copy_and_buffers_may_change_places() -> Result<()> {
    let device = device();
    let buffers = [device.alloc::<[u32; 4]>()?, device.alloc::<[u32; 4]>()?];
    let mut graph = Both::build(&device, &buffers[0], &buffers[1])?;
    *graph.input_mut()? = [1; 8];
    refused(graph.set_n(3)).says("[shape-mismatch]");
    buffers[0].copy_from(&[5; 4])?;
    assert!(graph.rebind_one(&buffers[1]).is_err(), "they would be one");
    graph.edit(|e| {
        e.set_n(3)?;
        e.rebind_one(&buffers[1])?;
        e.set_m(3)?;
        e.rebind_two(&buffers[0])
    })?;
    graph.launch()?;
    assert_eq!(*graph.x()?.read()?, [1, 1, 1, 0, 0, 0, 0, 0]);
    assert_eq!(*buffers[1].read()?, [5; 4]);
    let error = graph.edit(|e| {
        e.set_n(4)?;
        e.set_m(4)?;
        e.rebind_two(&buffers[1])
    });
    refused(error).says("[aliased-argument]");
    assert_eq!((graph.n(), graph.m()), (3, 3));
    graph.launch()?;
    assert_eq!(*graph.x()?.read()?, [1, 1, 1, 0, 0, 0, 0, 0]);
    Ok(())
}

#[test]
fn an_edit_that_fails_or_panics_changes_nothing() -> Result<()> {
    let (mut graph, w) = step(&device())?;
    let failed: Result<()> = graph.edit(|e| {
        e.set_x(7)?;
        e.add().set_launch(1, 1)?;
        e.launch()
    });
    refused(failed).reads("graph `Step`: the graph is being edited, and can be launched when `edit` has returned");
    assert_eq!(graph.x(), 1);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        graph.edit(|e| -> Result<()> {
            e.set_x(7).unwrap();
            e.fill().set_enabled(false).unwrap();
            std::panic::resume_unwind(Box::new("not a failure of the test"));
        })
    }));
    assert!(panicked.is_err());
    assert_eq!((graph.x(), graph.fill().is_enabled()), (1, true));
    graph.launch()?;
    assert_eq!(*w.read()?, [101, 101, 101, 101, 110, 100, 100, 1110]);
    // An edit in an edit is a part of that.
    let nested = graph.edit(|e| {
        e.edit(|e| e.set_x(3))?;
        let refused = e.edit(|e| e.launch());
        assert!(refused.is_err());
        Ok(())
    });
    assert!(nested.is_err());
    graph.edit(|e| {
        e.edit(|e| e.set_x(3))?;
        e.set_y(4)
    })?;
    assert_eq!((graph.x(), graph.y()), (3, 4));
    graph.launch()?;
    assert_eq!(w.read()?[7], 3104);
    Ok(())
}

#[test]
fn expressions_are_edited_too() -> Result<()> {
    let device = device();
    let mut graph = cuda_graph! { &device =>
        device data: [u32; 8];
        param  a: u32 = 1;
        param  b: u32 = 2;

        memset clear = data <- 0;
        for i in 0..8 {
            kernel set = add_to<<<1, 1>>>(&mut data[i], a * 10 + b) after clear;
        }
    }?;
    graph.edit(|e| {
        e.set_a(3)?;
        e.set_b(4)?;
        e.set(2).set_enabled(false)
    })?;
    graph.launch()?;
    assert_eq!(*graph.data()?.read()?, [34, 34, 0, 34, 34, 34, 34, 34]);
    let error = graph.edit(|e| {
        e.set_a(5)?;
        e.set(8).set_enabled(false)
    });
    assert!(matches!(error, Err(Error::UnknownNode { .. })));
    assert_eq!((graph.a(), graph.b()), (3, 4));
    Ok(())
}

#[test]
fn built_graphs_are_edited_and_updated_alike() -> Result<()> {
    let device = device();
    let buffers = [device.alloc::<[u32; 8]>()?, device.alloc::<[u32; 8]>()?];
    let mut builder = GraphBuilder::new(&device, "Built");
    let mut data = builder.shared("data", &buffers[0], true);
    let clear = builder.memset("clear", &mut data, 0_u32);
    let add = builder.kernel("add", Launch::new(1, 8), add_to::call(&mut data, 1));
    builder.after(add, &[clear]);
    let mut graph = builder.build()?;
    graph.edit(|e| {
        e.update("add", |update| {
            update.kernel(add, Launch::new(1, 8), add_to::call(&mut data, 5))
        })?;
        e.node(add).set_grid(2)?;
        e.node(add).set_block(3)?;
        e.rebind(&data, &buffers[1])
    })?;
    graph.launch()?;
    let expected = ([0; 8], [5, 5, 5, 5, 5, 5, 0, 0]);
    assert_eq!((*buffers[0].read()?, *buffers[1].read()?), expected);
    graph.update("all", |update| {
        update.kernel(add, Launch::new(1, 8), add_to::call(&mut data, 99))?;
        update.kernel(add, Launch::new(1, 8), add_to::call(&mut data, 6))?; // the later of two counts
        update.set_launch(add, 1, 2)?;
        update.set_enabled(clear, false)?;
        update.rebind(&data, &buffers[0])
    })?;
    graph.launch()?;
    assert_eq!(*buffers[0].read()?, [6, 6, 0, 0, 0, 0, 0, 0]);
    let updated = graph.update("all", |update| {
        update.set_enabled(clear, true)?;
        update.set_launch(add, 1, 9)
    });
    assert!(matches!(updated, Err(Error::Invalid { .. })));
    assert!(!graph.node(clear).is_enabled());
    Ok(())
}

cuda_graph! {
    /// Nodes whose launch dimensions are chosen: in a loop, in a body, and of a param.
    graph Launches(n: u32) {
        device data:  [u32; 64];
        device loops: [[u32; 8]; 3];
        device inner: [u32; 8];
        device turns: u32;
        device copy:  [f32; 64];
        device copied: [f32; 64];
        param  threads: u32 = 4;
        param  by:      u32 = 1;

        kernel add = add_to<<<1, threads>>>(&mut data, by);
        for i in 0..3 {
            kernel each_row = add_to<<<1, 8>>>(&mut loops[i], 1);
        }
        if once = turns {
            kernel inside = add_to<<<1, n>>>(&mut inner, by);
        };
        kernel turned = reverse_shared<<<1, 64, 256>>>(&copy, &mut copied);
        // SAFETY: both have four elements, as many as `n` says and threads there are.
        kernel vouched = unsafe copy_struct<<<1, 4>>>(Affine { scale: 1.0, shift: 0.0, n: 4 }, &copy, &mut copied)
            after turned;
    }
}

/// The number of elements that are not zero.
fn touched(data: &[u32]) -> usize {
    data.iter().filter(|&&value| value != 0).count()
}

#[test]
fn handles_choose_launch_dimensions_which_are_checked_again() -> Result<()> {
    let mut graph = Launches::build(&device(), 8)?;
    graph.turns_mut()?.copy_from(&1)?;
    graph.add().set_launch((2, 3), (2, 2))?;
    graph.each_row(1).set_block(3)?;
    graph.inside().set_launch(2, 3)?;
    graph.launch()?;
    assert_eq!(graph.add().grid(), Some([2, 3, 1]));
    let expected = (Some([3, 1, 1]), Some([8, 1, 1]));
    assert_eq!((graph.each_row(1).block(), graph.each_row(0).block()), expected);
    let rows = graph.loops()?.read()?;
    assert_eq!(rows.each_ref().map(|row| touched(row)), [8, 3, 8]);
    assert_eq!(touched(&graph.inner()?.read()?[..]), 6);
    graph.inside().set_grid(1)?;
    let expected = (Some([1; 3]), Some([3, 1, 1]));
    assert_eq!((graph.inside().grid(), graph.inside().block()), expected);
    assert_eq!(graph.once().grid(), None);

    let mut graph = Launches::build(&device(), 8)?;
    let contract = "kernel `add_to` requires `threads <= data.len()` [contract]";
    refused(graph.add().set_launch(1, 65)).says(&format!("node `add`: {contract}"));
    refused(graph.add().set_block(1025)).says("[launch-config]");
    refused(graph.add().set_grid(0)).says("[launch-config]");
    refused(graph.add().set_grid(-1)).says("[launch-config]");
    refused(graph.inside().set_grid(2)).says(&format!("node `inside`: {contract}"));
    refused(graph.each_row(2).set_block(9)).says("node `each_row[2]`");
    refused(graph.each_row(3).set_block(1)).says("node `each_row[3]`: the loop around it has no such iteration");
    refused(graph.turned().set_shared(255)).says("kernel `reverse_shared` requires `shared >= block * 4` [contract]");
    refused(graph.once().set_block(1)).says("node `once`: the node launches no kernel");
    refused(graph.vouched().set_block(2)).says("node `vouched`: its kernel is not declared `safe`");
    let expected = (Some([4, 1, 1]), Some(256));
    assert_eq!((graph.add().block(), graph.turned().shared()), expected);
    graph.edit(|e| {
        e.turned().set_block(32)?;
        e.turned().set_shared(128)
    })?;
    graph.launch()?;
    assert_eq!(touched(&graph.data()?.read()?[..]), 4);
    Ok(())
}

#[test]
fn the_later_of_a_handle_and_a_param_chooses_the_dimensions() -> Result<()> {
    let mut graph = Launches::build(&device(), 8)?;
    graph.add().set_block(7)?;
    graph.set_by(2)?; // leaves the dimensions as they are
    assert_eq!(graph.add().block(), Some([7, 1, 1]));
    graph.launch()?;
    assert_eq!(graph.data()?.read()?[5..8], [2, 2, 0]);
    graph.set_threads(4)?; // no other value than before
    assert_eq!(graph.add().block(), Some([7, 1, 1]));
    graph.set_threads(5)?;
    assert_eq!(graph.add().block(), Some([5, 1, 1]));
    graph.add().set_block(7)?;
    graph.set_threads(65).unwrap_err();
    assert_eq!(graph.add().block(), Some([7, 1, 1]));
    graph.edit(|e| {
        e.add().set_grid(2)?;
        e.set_threads(6)
    })?;
    let expected = (Some([2, 1, 1]), Some([6, 1, 1]));
    assert_eq!((graph.add().grid(), graph.add().block()), expected);
    graph.set_by(3)?;
    assert_eq!((graph.add().grid(), graph.add().block()), expected);
    graph.data_mut()?.copy_from(&[0; 64])?;
    graph.launch()?;
    assert_eq!(graph.data()?.read()?[10..14], [3, 3, 0, 0]);
    Ok(())
}

cuda_graph! {
    graph Inner {
        device data: [u32; 8];
        param  by: u32 = 1;
        param  blocks: u32 = 1;

        kernel add = add_to<<<blocks, 4>>>(&mut data, by);
    }

    graph Outer {
        device data: [u32; 8];
        param  by: u32 = 1;
        param  blocks: u32 = 1;

        memset clear = data <- 0;
        graph  child = Inner(data: &mut data, by: by + 1, blocks: blocks) after clear;
        kernel last  = add_to<<<1, 1>>>(&mut data, by) after child;
    }
}

#[test]
fn edits_reach_nodes_of_children() -> Result<()> {
    let mut graph = Outer::build(&device())?;
    graph.edit(|e| {
        e.set_blocks(2)?;
        e.set_by(5)
    })?;
    graph.launch()?;
    assert_eq!(*graph.data()?.read()?, [11, 6, 6, 6, 6, 6, 6, 6]);
    let error = graph.edit(|e| {
        e.set_by(6)?;
        e.set_blocks(3)
    });
    refused(error).says("node `child.add`: kernel `add_to` requires");
    graph.launch()?;
    assert_eq!(graph.data()?.read()?[0], 11);
    Ok(())
}

cuda_graph! {
    /// Params that are whole arguments: of the parameter's type and of others, in loops and bodies, of several nodes,
    /// and where a contract mentions them.
    graph Whole {
        device data: [u32; 8];
        device rows: [[u32; 4]; 3];
        device turns: u32;
        device x: [f32; 8];
        param  a: u32 = 1;
        param  wide: u64 = 2;
        param  factor: f32 = 2.0;
        param  n: u32 = 8;

        memset clear  = data <- 0;
        kernel first  = add_to<<<1, 8>>>(&mut data, a)    after clear;
        kernel second = add_to<<<1, 4>>>(&mut data, wide) after first;
        for i in 0..3 {
            memset zero = rows[i] <- 0;
            kernel row  = add_to<<<1, 4>>>(&mut rows[i], a) after zero;
        }
        memset begin = turns <- 1 after second;
        if once = turns {
            kernel inside = add_to<<<1, 2>>>(&mut data, a);
        } after begin;
        memset ones   = x <- 1.0;
        kernel scaled = scale<<<1, 8>>>(&mut x, factor, n) after ones;
    }
}

#[test]
fn params_that_are_whole_arguments() -> Result<()> {
    let mut graph = Whole::build(&device())?;
    let check = |graph: &mut Whole, data: [u32; 3], row: u32, x: [f32; 2]| -> Result<()> {
        graph.launch()?;
        let read = graph.data()?.read()?;
        assert_eq!([read[0], read[2], read[4]], data);
        assert_eq!(*graph.rows()?.read()?, [[row; 4]; 3]);
        let read = graph.x()?.read()?;
        assert_eq!([read[0], read[7]], x);
        Ok(())
    };
    check(&mut graph, [4, 3, 1], 1, [2.0, 2.0])?;
    for a in [5, 6] {
        graph.set_a(a)?;
        check(&mut graph, [2 * a + 2, a + 2, a], a, [2.0, 2.0])?;
    }
    graph.edit(|e| {
        e.set_factor(-0.5)?;
        e.set_wide(10)?;
        e.set_a(1)
    })?;
    check(&mut graph, [12, 11, 1], 1, [-0.5, -0.5])?;
    let error = graph.edit(|e| {
        e.set_a(9)?;
        e.set_wide(1 << 32)
    });
    refused(error).says("[contract]");
    let error = graph.edit(|e| {
        e.set_factor(9.0)?;
        e.set_n(9)
    });
    refused(error).says("requires `n <= data.len()` [contract]");
    // The values would do; dimensions, which are checked later, do not. The value from before both comes back.
    let error = graph.edit(|e| {
        e.set_a(8)?;
        e.set_a(9)?;
        e.second().set_block(9)
    });
    refused(error).says("[contract]");
    assert_eq!((graph.a(), graph.wide(), graph.factor(), graph.n()), (1, 10, -0.5, 8));
    check(&mut graph, [12, 11, 1], 1, [-0.5, -0.5])?;
    graph.edit(|e| {
        e.set_n(1)?;
        e.set_factor(3.0)?;
        e.inside().set_block(1)?;
        e.set_a(2)
    })?;
    check(&mut graph, [14, 12, 2], 2, [3.0, 1.0])?;
    graph.edit(|e| {
        e.set_a(3)?;
        e.edit(|e| e.set_a(4))
    })?;
    check(&mut graph, [18, 14, 4], 4, [3.0, 1.0])
}

#[test]
fn enabled_nodes_are_checked_together() -> Result<()> {
    let mut graph = cuda_graph! { &device() =>
        device turns: u32;

        memset begin = turns <- 3;
        while repeat = turns {
            kernel count = count_down<<<1, 1>>>(&mut turns);
            memset stop  = turns <- 0 after count;
        } after begin;
    }?;
    let error = graph.edit(|e| {
        e.count().set_enabled(false)?;
        e.stop().set_enabled(false)
    });
    assert!(matches!(error, Err(Error::Unsupported { .. })), "{error:?}");
    assert!(graph.count().is_enabled() && graph.stop().is_enabled());
    graph.edit(|e| e.count().set_enabled(false))?;
    graph.edit(|e| {
        e.stop().set_enabled(false)?; // alone it would be the last
        e.count().set_enabled(true)
    })?;
    graph.launch()?;
    assert_eq!(*graph.turns()?.read()?, 0);
    Ok(())
}
