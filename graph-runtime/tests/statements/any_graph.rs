//! The trait that all graphs have, whatever made them.

use crate::common::*;
use std::mem;

cuda_graph! {
    /// Generic, with a param.
    graph Declared<const N: usize>(total: mut host [f32; N]) {
        device data: [f32; N];
        param  by: f32 = 2.0;

        memset ones     = data <- 1.0;
        kernel scaled   = scale<<<1, N>>>(&mut data, by, N as u32) after ones;
        memcpy download = data -> total after scaled;
    }

    /// Its accessors have the names of the trait's methods.
    graph Named {
        device name: [u32; 4];
        host   plan: [u32; 4];

        memset fill = name <- 7;
        memcpy copy = name -> plan after fill;
    }
}

/// An expression, whose type has no name. It keeps nothing of the device that it borrows.
fn expression(device: &Device, total: &SharedHost<[f32; 4]>, value: f32) -> Result<impl AnyGraph + Send + use<>> {
    let total = total.clone();
    let mut graph = cuda_graph! { device =>
        device data: [f32; 4];
        param  filled: f32 = 0.0;
        memset fill     = data <- filled;
        memcpy download = data -> total after fill;
    }?;
    graph.set_filled(value)?; // its type is known here
    Ok(graph)
}

/// A graph that is declared call by call.
fn built(device: &Device, total: &SharedHost<[f32; 4]>) -> Result<Graph> {
    let mut builder = GraphBuilder::new(device, "Built");
    let mut data = builder.device::<[f32; 4]>("data");
    let mut total = builder.shared("total", total, true);
    let fill = builder.memset("fill", &mut data, 5.0_f32);
    let download = builder.memcpy("download", &data, &mut total);
    builder.after(download, &[fill]);
    builder.build()
}

fn shared(device: &Device) -> Result<SharedHost<[f32; 4]>> {
    device.alloc_host::<[f32; 4]>().map(HostBuffer::share)
}

/// A helper for any graph.
fn run(graph: &mut impl AnyGraph) -> Result<()> {
    graph.launch()?;
    graph.synchronize()
}

#[test]
fn a_list_holds_graphs_of_all_kinds() -> Result<()> {
    let device = device();
    let total = shared(&device)?;
    let mut graphs: Vec<Box<dyn AnyGraph + Send>> = vec![
        Box::new(Declared::<4>::build(&device, &total)?),
        Box::new(expression(&device, &total, 3.0)?),
        Box::new(built(&device, &total)?),
    ];
    let mut seen = Vec::new();
    for graph in &mut graphs {
        run(graph)?;
        seen.push(total.read()?[0]);
    }
    assert_eq!(seen, [2.0, 3.0, 5.0]);
    assert_eq!((graphs[0].name(), graphs[2].name()), ("Declared", "Built"));
    assert!(graphs[1].name().contains("any_graph.rs:"), "{}", graphs[1].name());
    let nodes: Vec<usize> = graphs.iter().map(|graph| graph.plan().nodes.len()).collect();
    assert_eq!(nodes, [3, 2, 2]);
    assert!(format!("{graphs:?}").contains("Graph(Built, 2 nodes"));
    graphs.swap(0, 2);
    let moved = std::thread::spawn(move || graphs.iter_mut().try_for_each(run));
    moved.join().expect("it does not panic")?;
    assert_eq!(total.read()?[0], 2.0, "the last of the list");
    Ok(())
}

/// A graph in a struct, behind a type that has a name.
struct Step {
    graph: Box<dyn AnyGraph>,
    total: SharedHost<[f32; 4]>,
}

impl Step {
    fn new(device: &Device, value: f32) -> Result<Self> {
        let total = shared(device)?;
        let graph = Box::new(expression(device, &total, value)?);
        Ok(Self { graph, total })
    }

    fn run(&mut self) -> Result<f32> {
        self.graph.launch()?;
        Ok(self.total.read()?[3])
    }
}

#[test]
fn expressions_are_kept_in_structs_and_closures() -> Result<()> {
    let mut steps = [Step::new(&device(), 1.5)?, Step::new(&device(), 2.5)?];
    let [first, second] = &mut steps;
    mem::swap(&mut first.graph, &mut second.graph); // each still writes the memory that it was built with
    assert_eq!(first.run()?, 0.0);
    assert_eq!(first.total.read()?[0], 0.0);
    assert_eq!(second.total.read()?[0], 2.5);
    assert_eq!(second.run()?, 2.5);
    assert_eq!(first.total.read()?[0], 1.5);

    let mut add = adder(&device())?;
    assert_eq!((add(1.0)?, add(41.0)?), (2.0, 42.0));
    Ok(())
}

/// An expression whose params can be set later: a closure knows its type.
fn adder(device: &Device) -> Result<impl FnMut(f32) -> Result<f32> + use<>> {
    let mut graph = cuda_graph! { device =>
        device data: [f32; 2];
        host   output: [f32; 2];
        param  value: f32 = 0.0;
        memset fill     = data <- value + 1.0;
        memcpy download = data -> output after fill;
    }?;
    Ok(move |value| {
        graph.set_value(value)?;
        graph.launch()?;
        Ok(graph.output()?[1])
    })
}

#[test]
fn accessors_come_before_methods_of_the_trait_which_return_errors() -> Result<()> {
    let mut graph = Named::build(&device())?;
    AnyGraph::launch(&mut graph)?;
    assert_eq!(graph.plan()?, &[7; 4]);
    assert_eq!(*graph.name()?.read()?, [7; 4]);
    assert_eq!(AnyGraph::name(&graph), "Named");
    assert_eq!(AnyGraph::plan(&graph).nodes.len(), 2);

    let device = device();
    let total = shared(&device)?;
    let mut graph: Box<dyn AnyGraph> = Box::new(built(&device, &total)?);
    let guard = total.read()?;
    let error = graph.launch().unwrap_err();
    assert!(matches!(error, Error::InUse { .. }), "{error}");
    drop(guard);
    assert!(!device.is_emulator() || graph.raw().is_none());
    Ok(())
}

#[test]
#[ignore = "needs a CUDA device"]
fn streams_order_graphs_of_all_kinds() -> Result<()> {
    let device = cuda_device();
    let total = shared(&device)?;
    let mut graphs: Vec<Box<dyn AnyGraph>> = vec![
        Box::new(Declared::<4>::build(&device, &total)?),
        Box::new(built(&device, &total)?),
        Box::new(expression(&device, &total, 3.0)?),
    ];
    let context = device.context().expect("a CUDA device has a context");
    let stream = context.new_stream().expect("a stream");
    for _ in 0..10 {
        graphs.iter_mut().try_for_each(|graph| graph.launch_on(&stream))?;
    }
    graphs.iter().try_for_each(|graph| graph.synchronize())?;
    assert_eq!(*total.read()?, [3.0; 4]);
    Ok(())
}

#[test]
fn plans_of_built_graphs_are_compared_with_their_launches() -> Result<()> {
    let device = device();
    let [first, second] = [(1, 64), (2, 32)].map(|(grid, block)| {
        let mut builder = GraphBuilder::new(&device, "Scaled");
        let mut data = builder.device::<[u32; 64]>("data");
        let fill = builder.memset("fill", &mut data, 3_u32);
        let add = builder.kernel("add", Launch::new(grid, block), add_to::call(&mut data, 1));
        builder.after(add, &[fill]);
        builder.build().map(|graph| graph.plan())
    });
    let (first, second) = (first?, second?);
    let launch = first.nodes[1].launch.as_ref().map(ToString::to_string);
    assert_eq!(launch.as_deref(), Some("add_to<<<1, 64>>>"));
    assert_eq!(
        first.diff(&second).to_string(),
        "~ launch of `add`: add_to<<<1, 64>>> => add_to<<<2, 32>>>"
    );
    Ok(())
}
