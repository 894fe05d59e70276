//! Params of graphs that are declared call by call.

use crate::common::*;
use graph_runtime::Param;

/// The places of a graph with two params, and the handles.
struct Parts {
    data: Place<[u32; 64], OnDevice>,
    scaled: Place<[f32; 64], OnDevice>,
    pos: Param<u32>,
    rate: Param<f32>,
}

/// A graph whose memset and one kernel take `pos`; another kernel takes `rate`, and `pos` as an integer that a contract
/// mentions. The names of its memory begin with `prefix`.
fn declared(name: &'static str) -> (GraphBuilder, Parts) {
    let mut builder = GraphBuilder::new(&device(), name);
    let mut data = builder.device::<[u32; 64]>("data");
    let mut scaled = builder.device::<[f32; 64]>("scaled");
    let pos = builder.param("pos", 3_u32);
    let rate = builder.param("rate", 2.0_f32);
    let set = builder.memset_param("set", &mut data, &pos);
    let add = builder.kernel("add", Launch::new(1, 64), add_to::call(&mut data, &pos));
    let ones = builder.memset("ones", &mut scaled, 1.0_f32);
    let call = scale::call(&mut scaled, rate.initial(), &pos).with_param("factor", &rate);
    let scale = builder.kernel("scale", Launch::new(1, 64), call);
    in_order(&mut builder, &[set, add]);
    in_order(&mut builder, &[ones, scale]);
    let parts = Parts {
        data,
        scaled,
        pos,
        rate,
    };
    (builder, parts)
}

/// The contents after a launch: an element of `data`, and the elements of `scaled` that differ from 1 with their value.
fn launched(graph: &mut Graph, parts: &Parts) -> Result<(u32, usize, f32)> {
    graph.launch()?;
    let data = *graph.device(&parts.data)?.read()?;
    let scaled = *graph.device(&parts.scaled)?.read()?;
    assert_eq!(data, [data[0]; 64]);
    let count = scaled.iter().filter(|&&value| value != 1.0).count();
    assert!(scaled[count..].iter().all(|&value| value == 1.0));
    Ok((data[0], count, scaled[0]))
}

#[test]
fn all_nodes_that_use_a_param_get_its_value() -> Result<()> {
    let (builder, parts) = declared("Params");
    let mut graph = builder.build()?;
    assert_eq!(launched(&mut graph, &parts)?, (6, 3, 2.0));
    graph.set(&parts.pos, 5)?;
    assert_eq!(launched(&mut graph, &parts)?, (10, 5, 2.0));
    graph.set(&parts.rate, 7.0)?;
    assert_eq!(launched(&mut graph, &parts)?, (10, 5, 7.0));
    graph.set("pos", 8_u32)?;
    assert_eq!(launched(&mut graph, &parts)?, (16, 8, 7.0));
    assert_eq!((graph.get(&parts.pos)?, graph.get::<f32>("rate")?), (8, 7.0));
    assert_eq!((parts.pos.name(), parts.pos.initial()), ("pos", 3));
    Ok(())
}

#[test]
fn params_of_an_edit_are_set_together() -> Result<()> {
    let (builder, mut parts) = declared("Edited");
    let mut graph = builder.build()?;
    graph.edit(|graph| {
        graph.set(&parts.pos, 65)?; // too many, were it the last
        graph.set(&parts.rate, 4.0)?;
        assert_eq!(graph.get(&parts.pos)?, 3);
        graph.set(&parts.pos, 9)
    })?;
    assert_eq!(launched(&mut graph, &parts)?, (18, 9, 4.0));

    // The node's other changes in the edit stay, before and after the param was set.
    let scale = graph.find("scale")?;
    graph.edit(|graph| {
        graph.set(&parts.pos, 2)?;
        let call = scale::call(&mut parts.scaled, 6.0, 64);
        graph.update("factor", |update| update.kernel(scale, Launch::new(2, 32), call))
    })?;
    assert_eq!(launched(&mut graph, &parts)?, (4, 2, 6.0));
    // A call with a param has the value that this has now; `rate` is 4 since it was set.
    let call = scale::call(&mut parts.scaled, 0.0, &parts.pos).with_param("factor", &parts.rate);
    graph.update("factor", |update| update.kernel(scale, Launch::new(1, 64), call))?;
    assert_eq!(launched(&mut graph, &parts)?, (4, 2, 4.0));

    let failed = graph.edit(|graph| {
        graph.set(&parts.rate, 5.0)?;
        graph.set("pso", 1_u32)
    });
    assert!(failed.is_err());
    assert_eq!(launched(&mut graph, &parts)?, (4, 2, 4.0));
    assert_eq!(graph.get(&parts.rate)?, 4.0);
    Ok(())
}

#[test]
fn handles_choose_dimensions_that_stay_when_a_param_is_set() -> Result<()> {
    let (builder, parts) = declared("Chosen");
    let mut graph = builder.build()?;
    let scale = graph.find("scale")?;
    graph.node(scale).set_launch(1, 4)?;
    graph.set(&parts.pos, 6)?;
    assert_eq!(launched(&mut graph, &parts)?, (12, 4, 2.0));
    graph.edit(|graph| {
        graph.node(scale).set_launch(1, 5)?;
        graph.set(&parts.rate, 3.0)
    })?;
    assert_eq!(launched(&mut graph, &parts)?, (12, 5, 3.0));
    Ok(())
}

#[test]
fn a_value_that_breaks_a_contract_changes_nothing() -> Result<()> {
    let (builder, parts) = declared("Contract");
    let mut graph = builder.build()?;
    let expected = "graph `Contract` has 1 mistake\n\
         node `scale`: kernel `scale` requires `n <= data.len()` [contract]\n\
         note: here n = 65, data.len() = 64\n\
         note: parameter `data` is `scaled`\n\
         help: make `n` at most 64, or pass at least 65 elements as `data`";
    refused(graph.set(&parts.pos, 65)).reads(expected);
    assert_eq!(graph.get(&parts.pos)?, 3);
    assert_eq!(launched(&mut graph, &parts)?, (6, 3, 2.0));
    Ok(())
}

#[test]
fn integers_convert_where_their_value_fits() -> Result<()> {
    let mut builder = GraphBuilder::new(&device(), "Wide");
    let mut data = builder.device::<[u32; 4]>("data");
    let by = builder.param("by", 1_i64);
    builder.kernel("add", Launch::new(1, 4), add_to::call(&mut data, &by));
    let mut graph = builder.build()?;
    graph.set(&by, 7)?;
    graph.launch()?;
    assert_eq!(*graph.device(&data)?.read()?, [7; 4]);
    let message = graph.set(&by, -1).unwrap_err().to_string();
    assert!(message.contains("node `add`") && message.contains("-1"), "{message}");
    graph.launch()?;
    assert_eq!(*graph.device(&data)?.read()?, [14; 4]);

    let mut builder = GraphBuilder::new(&device(), "Misfit");
    let mut data = builder.device::<[u32; 4]>("data");
    let by = builder.param("by", u64::MAX);
    builder.kernel("add", Launch::new(1, 4), add_to::call(&mut data, &by));
    assert!(builder.build().unwrap_err().to_string().contains("node `add`"));
    Ok(())
}

#[test]
fn nodes_of_loops_and_children_use_params() -> Result<()> {
    let mut builder = GraphBuilder::new(&device(), "Nested");
    let rows = builder.device::<[[u32; 4]; 3]>("rows");
    let by = builder.param("by", 1_u32);
    let mut own = None;
    builder.repeat(0..2, |builder, i| {
        builder.kernel("add", Launch::new(1, 4), add_to::call(&mut rows.row(i), &by));
    });
    builder.child("child", |child| {
        let own = own.insert(child.param("by", 2_u32));
        child.memset_param("set", &mut rows.row(2), own);
    });
    let own = own.expect("the child was declared");
    assert_eq!(own.name(), "child.by");
    let mut graph = builder.build()?;
    graph.edit(|graph| {
        graph.set(&by, 5)?;
        graph.set("child.by", 6_u32)
    })?;
    graph.launch()?;
    assert_eq!(*graph.device(&rows)?.read()?, [[5; 4], [5; 4], [6; 4]]);
    Ok(())
}

#[test]
fn long_values_and_kernels_of_modules_take_params() -> Result<()> {
    let device = device();
    let text = include_str!("../kernels/conditionals.ptx");
    let module = device.module(Ptx::from_text("conditionals.ptx", text)?)?;
    let mut builder = GraphBuilder::new(&device, "Module");
    let mut data = builder.device::<[u32; 4]>("data");
    let mut long = builder.device::<[f64; 4]>("long");
    let rows = builder.device::<[[f64; 4]; 2]>("rows");
    let (by, value) = (builder.param("by", 1_u32), builder.param("value", 0.0_f64));
    builder.memset_2d_param("columns", &mut rows.rectangle::<2, 1>(0, 1), &value);
    // SAFETY: four threads add to an element each, of four, whatever the value is.
    let call = unsafe { module.kernel("add_to")?.call([data.write(), (&by).into()]) };
    builder.kernel("add", Launch::new(1, 4), call);
    builder.memset_param("set", &mut long, &value);
    let mut graph = builder.build()?;
    graph.set(&by, 4)?;
    graph.set(&value, -0.5)?;
    graph.launch()?;
    assert_eq!(*graph.device(&data)?.read()?, [4; 4]);
    assert_eq!(*graph.device(&long)?.read()?, [-0.5; 4]);
    assert_eq!(*graph.device(&rows)?.read()?, [[0.0, -0.5, 0.0, 0.0]; 2]);
    Ok(())
}

#[test]
fn a_graph_that_takes_the_place_of_another_takes_its_params() -> Result<()> {
    let (builder, parts) = declared("Again");
    let mut graph = builder.build()?;
    graph.set(&parts.pos, 5)?;
    graph.update_from(declared("Again").0.define()?)?;
    assert_eq!(graph.get(&parts.pos)?, 3);
    graph.set(&parts.pos, 4)?;
    assert_eq!(launched(&mut graph, &parts)?, (8, 4, 2.0));

    let (builder, parts) = declared("Twice");
    let mut definition = builder.define()?;
    let (mut one, mut two) = (
        definition.instantiate(InstantiateOptions::default())?,
        definition.instantiate(InstantiateOptions::default())?,
    );
    one.set(&parts.pos, 5)?;
    assert_eq!(launched(&mut one, &parts)?.0, 10);
    assert_eq!(launched(&mut two, &parts)?.0, 6);
    Ok(())
}

#[test]
fn wrong_params_are_refused_by_name() -> Result<()> {
    let (builder, parts) = declared("Params");
    let mut graph = builder.build()?;
    let (_, other) = declared("Other");
    let head = "graph `Params` has 1 mistake\n";
    let foreign = "`pos` is a param of another graph [unknown-resource]\n\
         help: pass what this graph's own builder has returned";
    refused(graph.set(&other.pos, 1)).reads(&format!("{head}{foreign}"));
    let unknown = "no param is named `pso` [unknown-resource]\nhelp: did you mean `pos`?";
    refused(graph.set("pso", 1_u32)).reads(&format!("{head}{unknown}"));
    let unknown = "no param is named `temperature` [unknown-resource]\nnote: it has `pos`, `rate`";
    refused(graph.set("temperature", 1_u32)).reads(&format!("{head}{unknown}"));
    let ty = "the values of `pos` are `u32`, not `f32` [signature]";
    refused(graph.set("pos", 1.0_f32)).reads(&format!("{head}{ty}"));
    assert!(graph.get::<i32>("pos").is_err());
    let mut scaled = parts.scaled;
    let scale = graph.find("scale")?;
    let call = scale::call(&mut scaled, 1.0, &other.pos);
    let given = "node `scale` is given `pos`, which is a param of another graph [unknown-resource]\n\
         help: pass what this graph's own builder has returned";
    refused(graph.update("n", |update| update.kernel(scale, Launch::new(1, 64), call)))
        .reads(&format!("{head}{given}"));

    let mut builder = GraphBuilder::new(&device(), "Wrong");
    let mut data = builder.device::<[f32; 64]>("data");
    builder.param("one", 1_u32);
    let one = builder.param("one", 1_u32);
    let launch = Launch::new(1, 64);
    let first = builder.memset_param("foreign", &mut data, &other.rate);
    let call = scale::call(&mut data, 1.0, &other.pos);
    let second = builder.kernel("given", launch, call);
    let call = scale::call(&mut data, 1.0, 1).with_param("factr", &one);
    let third = builder.kernel("name", launch, call);
    let call = scale::call(&mut data, 1.0, 1).with_param("factor", &one);
    let fourth = builder.kernel("type", launch, call);
    let call = scale::call(&mut data, 1.0, 1).with_param("data", &one);
    let fifth = builder.kernel("memory", launch, call);
    in_order(&mut builder, &[first, second, third, fourth, fifth]);
    let message = builder.build().unwrap_err().to_string();
    let lines = [
        "graph `Wrong` has 6 mistakes",
        "two params are named `one` [duplicate-name]",
        "node `foreign` is given `rate`, which is a param of another graph [unknown-resource]",
        "node `given` is given `pos`, which is a param of another graph [unknown-resource]",
        "node `name`: kernel `scale` has no parameter `factr` [signature]",
        "help: did you mean `factor`?",
        "node `type`: parameter `factor` of kernel `scale` does not take `one`, which is `u32` [signature]",
        "node `memory`: parameter `data` of kernel `scale` does not take `one`, which is `u32` [signature]",
    ];
    for line in lines {
        assert!(message.contains(line), "{line} is not in:\n{message}");
    }
    Ok(())
}

#[test]
fn params_are_no_way_around_the_unsafe_of_a_kernel() -> Result<()> {
    let mut builder = GraphBuilder::new(&device(), "Trusted");
    let input = builder.device::<[f32; 4]>("input");
    let mut out = builder.device::<[f32; 4]>("out");
    let affine = builder.param("affine", Affine::new(1.0, 0.0, 4));
    // SAFETY: both arguments have four elements.
    let call = unsafe { copy_struct::call(affine.initial(), &input, &mut out) };
    builder.kernel("copy", Launch::new(1, 4), call.with_param("affine", &affine));
    let message = builder.build().unwrap_err().to_string();
    let expected = "node `copy`: `affine` is passed to a kernel that is not declared `safe` [signature]";
    assert!(message.contains(expected), "{message}");
    Ok(())
}
