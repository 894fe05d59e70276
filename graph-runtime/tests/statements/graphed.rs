//! Two graphs as functions: a forward and a backward one over shared memory.

use crate::common::*;

cuda_graph! {
    /// `y = factor x`.
    graph Forward(x: device [f32; 64], y: mut device [f32; 64]) {
        param factor: f32 = 2.0;
        memcpy copy   = x -> y;
        kernel double = scale<<<1, 64>>>(&mut y, factor, 64) after copy;
    }

    /// The gradients by `a` and `b` of their sum, and the number of runs so far.
    graph Split(
        sum: device [f32; 64],
        a: mut device [f32; 64],
        b: mut device [f32; 64],
        runs: mut device [u32; 64],
    ) {
        memcpy first  = sum -> a;
        memcpy second = sum -> b;
        kernel ran    = add_to<<<1, 64>>>(&mut runs, 1);
    }

    /// `sum = a + b`.
    graph Sum(a: device [f32; 64], b: device [f32; 64], sum: mut device [f32; 64]) {
        kernel plus = add<<<1, 64>>>(&a, &b, &mut sum, 64);
    }
}

type Numbers = DeviceBuffer<[f32; 64]>;

fn memory(device: &Device) -> Result<GraphedMemory<Numbers, Numbers>> {
    Ok(GraphedMemory {
        inputs: device.alloc()?,
        outputs: device.alloc()?,
        grad_outputs: device.alloc()?,
        grad_inputs: device.alloc()?,
    })
}

fn filled(device: &Device, value: f32) -> Result<Numbers> {
    let buffer = device.alloc::<[f32; 64]>()?;
    buffer.copy_from(&[value; 64])?;
    Ok(buffer)
}

fn doubled(device: &Device) -> Result<Graphed<Numbers, Numbers>> {
    let memory = memory(device)?;
    let forward = Forward::build(device, &memory.inputs, &memory.outputs)?;
    let backward = Forward::build(device, &memory.grad_outputs, &memory.grad_inputs)?;
    Ok(Graphed::new(device, memory, forward, backward))
}

#[test]
fn graphs_are_functions_of_what_is_passed() -> Result<()> {
    let device = device();
    let mut double = doubled(&device)?;
    let inputs = [filled(&device, 1.0)?, filled(&device, 10.0)?];
    let error = double.backward(&inputs[0]).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    error.reads("graph `Forward`: gradients are those of the outputs of `forward`, which has not been called");
    double.warm_up(3)?;
    for (input, expected) in [
        (&inputs[0], 2.0),
        (&inputs[1], 20.0),
        (&inputs[1], 20.0),
        (&inputs[0], 2.0),
    ] {
        let y = double.forward(input)?;
        assert_eq!(*y.read()?, [expected; 64]);
        assert_eq!(*double.backward(input)?.read()?, [expected; 64]);
    }
    assert_eq!(*inputs[0].read()?, [1.0; 64], "it is only read");

    // What is passed may go at once, and may be written by a graph that runs.
    let late = filled(&device, 5.0)?;
    let writer = launched(Forward::build(&device, &inputs[1], &late))?;
    double.forward(&late)?;
    drop((late, writer));
    assert_eq!(*double.memory().outputs.read()?, [40.0; 64]);

    // The memory itself is taken as it is.
    let own = double.memory().inputs.clone();
    own.copy_from(&[3.0; 64])?;
    assert_eq!(*double.forward(&own)?.read()?, [6.0; 64]);
    double.synchronize()?;
    let wanted = ["Forward", "Forward"];
    assert_eq!(double.graphs().map(|graph| graph.name().to_owned()), wanted);
    Ok(())
}

/// The part that depends on data is ordinary code between two functions.
#[test]
fn control_flow_stays_between_functions() -> Result<()> {
    let device = device();
    let (mut first, mut small) = (doubled(&device)?, doubled(&device)?);
    for (value, expected) in [(1.0, 4.0), (100.0, 200.0), (2.0, 8.0)] {
        let input = filled(&device, value)?;
        let between = first.forward(&input)?;
        let is_small = between.read()?[0] < 100.0;
        let result = if is_small { small.forward(between)? } else { between };
        assert_eq!(*result.read()?, [expected; 64]);
    }
    Ok(())
}

#[test]
fn several_inputs_and_gradients() -> Result<()> {
    let device = device();
    let memory = GraphedMemory {
        inputs: (device.alloc::<[f32; 64]>()?, device.alloc::<[f32; 64]>()?),
        outputs: device.alloc::<[f32; 64]>()?,
        grad_outputs: device.alloc()?,
        grad_inputs: (device.alloc::<[f32; 64]>()?, device.alloc::<[f32; 64]>()?),
    };
    let runs = device.alloc::<[u32; 64]>()?;
    let (inputs, gradients) = (&memory.inputs, &memory.grad_inputs);
    let forward = Sum::build(&device, &inputs.0, &inputs.1, &memory.outputs)?;
    let backward = Split::build(&device, &memory.grad_outputs, &gradients.0, &gradients.1, &runs)?;
    let graphed = Graphed::new(&device, memory, forward, backward);
    let (a, b) = (filled(&device, 1.0)?, filled(&device, 2.0)?);
    // Functions may move to another thread.
    std::thread::spawn(move || {
        let mut graphed = graphed;
        assert_eq!(*graphed.forward((&a, &b))?.read()?, [3.0; 64]);
        assert_eq!(*graphed.forward((&b, &b))?.read()?, [4.0; 64]);
        let (da, db) = graphed.backward(&a)?;
        assert_eq!((*da.read()?, *db.read()?), ([1.0; 64], [1.0; 64]));
        Result::Ok(())
    })
    .join()
    .expect("no panic")?;
    assert_eq!(*runs.read()?, [1; 64]);
    Ok(())
}

/// A graph that copies one slice to another.
fn copier(device: &Device, from: &DeviceBuffer<[f32]>, to: &DeviceBuffer<[f32]>) -> Result<Graph> {
    let mut builder = GraphBuilder::new(device, "Copier");
    let from = builder.shared("from", from, false);
    let mut to = builder.shared("to", to, true);
    builder.memcpy("copy", &from, &mut to);
    builder.build()
}

#[test]
fn other_lengths_and_devices_are_refused() -> Result<()> {
    let device = device();
    let memory = GraphedMemory {
        inputs: device.alloc_slice::<f32>(8)?,
        outputs: device.alloc_slice::<f32>(8)?,
        grad_outputs: device.alloc_slice(8)?,
        grad_inputs: device.alloc_slice::<f32>(8)?,
    };
    let forward = copier(&device, &memory.inputs, &memory.outputs)?;
    let backward = copier(&device, &memory.grad_outputs, &memory.grad_inputs)?;
    let mut graphed = Graphed::new(&device, memory, forward, backward);
    let check = |graphed: &mut Graphed<DeviceBuffer<[f32]>, DeviceBuffer<[f32]>>| -> Result<()> {
        has(
            refused(graphed.forward(&device.alloc_slice(9)?)),
            &["graph `inputs of Copier`", "[shape-mismatch]"],
        );
        let error = graphed.forward(&Device::emulator().alloc_slice(8)?).unwrap_err();
        assert!(matches!(error, Error::ForeignMemory { .. }), "{error}");
        let passed = device.alloc_slice(8)?;
        passed.copy_from(&[7.0; 8])?;
        assert_eq!(graphed.forward(&passed)?.read_vec()?, [7.0; 8]);
        Ok(())
    };
    check(&mut graphed)?; // nothing has been passed before
    check(&mut graphed)
}

#[test]
fn graphs_of_all_kinds_are_functions() -> Result<()> {
    fn twice<X: GraphedBuffers, Y: GraphedBuffers, D>(graphed: &mut Graphed<X, Y, D>) -> Result<()> {
        graphed.warm_up(2)
    }
    let device = device();
    let memory = memory(&device)?;
    let (x, y) = (memory.inputs.clone(), memory.outputs.clone());
    let forward = cuda_graph! { &device =>
        memcpy copy = x -> y;
    }?;
    let mut builder = GraphBuilder::new(&device, "Built");
    let mut place = builder.shared("dx", &memory.grad_inputs, true);
    builder.kernel("half", Launch::new(1, 64), scale::call(&mut place, 0.5, 64));
    let gradients = memory.grad_inputs.clone();
    gradients.copy_from(&[8.0; 64])?;
    let mut graphed = Graphed::new(&device, memory, forward, builder.build()?);
    twice(&mut graphed)?;
    assert_eq!(*gradients.read()?, [2.0; 64]);
    assert!(format!("{graphed:?}").contains("Built"), "{graphed:?}");
    Ok(())
}
