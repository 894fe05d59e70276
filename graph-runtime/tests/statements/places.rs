//! `#[derive(Places)]`: memory in structs, for graphs that are declared call by call.

use crate::common::*;

cuda_graph! {
    group Group { norm: device [f32; 4], keys: mut device [f32; 4] }

    graph Declared(layers: [Group; 2]) {
        for i in 0..2 {
            memcpy keep = layers[i].norm -> layers[i].keys;
        }
    }
}

/// A layer of a model.
#[derive(Places)]
struct Layer {
    norm: DeviceBuffer<[f32; 4]>,
    #[places(mut)]
    keys: DeviceBuffer<[f32; 4]>,
}

#[derive(Places)]
struct Model<const N: usize> {
    layers: Vec<Layer>,
    #[places(mut)]
    out: [SharedHost<[f32; N]>; 2],
}

fn layer(device: &Device, value: f32) -> Result<Layer> {
    let layer = Layer {
        norm: device.alloc()?,
        keys: device.alloc()?,
    };
    layer.norm.copy_from(&[value; 4])?;
    Ok(layer)
}

/// Copies the norm of each layer to its keys, and these to the host.
fn build(device: &Device, model: &Model<4>) -> Result<(Graph, ModelPlaces<4>)> {
    let mut builder = GraphBuilder::new(device, "Step");
    let mut places = builder.places("", model);
    for (index, (layer, out)) in places.layers.iter_mut().zip(&mut places.out).enumerate() {
        let keep = builder.memcpy(format!("keep[{index}]"), &layer.norm, &mut layer.keys);
        let down = builder.memcpy(format!("down[{index}]"), &layer.keys, out);
        builder.after(down, &[keep]);
    }
    Ok((builder.build()?, places))
}

fn host(device: &Device) -> Result<SharedHost<[f32; 4]>> {
    Ok(device.alloc_host::<[f32; 4]>()?.share())
}

fn model(device: &Device) -> Result<Model<4>> {
    Ok(Model {
        layers: vec![layer(device, 1.0)?, layer(device, 2.0)?],
        out: [host(device)?, host(device)?],
    })
}

fn names(plan: &Plan) -> Vec<String> {
    plan.resources
        .iter()
        .map(|resource| resource.name.to_string())
        .collect()
}

#[test]
fn the_memory_of_a_struct_is_declared_by_the_names_of_its_fields() -> Result<()> {
    let device = device();
    let model = model(&device)?;
    let (mut graph, _) = build(&device, &model)?;
    let expected = [
        "layers[0].norm",
        "layers[0].keys",
        "layers[1].norm",
        "layers[1].keys",
        "out[0]",
        "out[1]",
    ];
    assert_eq!(names(&graph.plan()), expected);
    graph.launch()?;
    assert_eq!((*model.out[0].read()?, *model.out[1].read()?), ([1.0; 4], [2.0; 4]));

    let group = |layer: &Layer| Group {
        norm: layer.norm.clone(),
        keys: layer.keys.clone(),
    };
    let declared = Declared::build(&device, [group(&model.layers[0]), group(&model.layers[1])])?;
    let mut of_groups = names(&declared.plan());
    of_groups.sort();
    let mut of_structs = expected[..4].to_vec();
    of_structs.sort_unstable();
    assert_eq!(of_groups, of_structs);
    Ok(())
}

#[test]
fn one_layer_is_replaced_and_lists_keep_their_length() -> Result<()> {
    let device = device();
    let model = model(&device)?;
    let (mut graph, places) = build(&device, &model)?;
    let other = layer(&device, 5.0)?;
    graph.rebind_places(&places.layers[1], &other)?;
    graph.launch()?;
    assert_eq!((*model.out[0].read()?, *model.out[1].read()?), ([1.0; 4], [5.0; 4]));
    assert_eq!(*other.keys.read()?, [5.0; 4]);
    let short = graph.rebind_places(&places.layers, &vec![other]);
    refused(short).says("graph `Step`: a list of memory cannot become longer or shorter");
    // None of a layer is replaced if one buffer is refused: here, both are one.
    let mut alias = layer(&device, 7.0)?;
    alias.norm = alias.keys.clone();
    refused(graph.rebind_places(&places.layers[0], &alias)).says("aliased-argument");
    graph.launch()?;
    assert_eq!(*model.out[0].read()?, [1.0; 4]);
    Ok(())
}

#[test]
fn what_is_not_marked_is_read_only() -> Result<()> {
    let device = device();
    let layer = layer(&device, 1.0)?;
    let mut builder = GraphBuilder::new(&device, "Wrong");
    let mut places = builder.places("first", &layer);
    builder.memset("clear", &mut places.norm, 0.0_f32);
    refused(builder.build()).says("node `clear` writes `first.norm`, which is shared without `mut` [access]");
    Ok(())
}
