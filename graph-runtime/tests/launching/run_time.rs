//! Modules of PTX that a program has while it runs, and their kernels.

use crate::common::*;

const TEXT: &str = include_str!("../kernels/test_kernels.ptx");

fn module(device: &Device) -> Result<Module> {
    device.module(Ptx::from_text("test_kernels.ptx", TEXT)?)
}

#[test]
fn kernels_of_a_text_run_in_order() -> Result<()> {
    let device = device();
    let module = module(&device)?;
    assert!(module.kernels().any(|name| name == "scale"), "{module:?}");
    let (scale, add) = (module.kernel("scale")?, module.kernel("add")?);
    assert_eq!((scale.name(), scale.parameters(), add.parameters()), ("scale", 3, 4));

    let mut builder = GraphBuilder::new(&device, "JustInTime");
    let mut data = builder.device::<[f32; 64]>("data");
    let mut sums = builder.device::<[f32; 64]>("sums");
    // SAFETY: `scale` writes the first `n` elements of its buffer, which has as many.
    let call = unsafe { scale.call([data.write(), 3.0_f32.into(), 64_u32.into()]) };
    let scaled = builder.kernel("scaled", Launch::new(1, 64), call);
    // SAFETY: `add` reads and writes the first `n` elements of its buffers, which have as many.
    let call = unsafe { add.call([data.read(), data.read(), sums.write(), 64_u32.into()]) };
    let summed = builder.kernel("summed", Launch::new(1, 64), call);
    builder.after(summed, &[scaled]);
    let mut graph = builder.build()?;
    graph.device_mut(&data)?.copy_from(&counting())?;
    graph.launch()?;
    assert_eq!(*graph.device(&sums)?.read()?, std::array::from_fn(|i| 6.0 * i as f32));

    // An update takes a call, too.
    graph.device_mut(&data)?.copy_from(&counting())?;
    graph.update("half", |update| {
        // SAFETY: as above.
        let call = unsafe { scale.call([data.write(), 5.0_f32.into(), 64_u32.into()]) };
        update.kernel(scaled, Launch::new(1, 64), call)
    })?;
    graph.launch()?;
    assert_eq!(*graph.device(&sums)?.read()?, std::array::from_fn(|i| 10.0 * i as f32));
    Ok(())
}

/// The error of a graph with one node, `node`, that calls `scale` with these arguments.
fn refused<const N: usize>(arguments: impl FnOnce(&mut Place<[f32; 64], OnDevice>) -> [CallArgument; N]) -> String {
    let device = device();
    let scale = module(&device).and_then(|module| module.kernel("scale")).unwrap();
    let mut builder = GraphBuilder::new(&device, "Refused");
    let mut data = builder.device::<[f32; 64]>("data");
    // SAFETY: the graph is not built.
    let call = unsafe { scale.call(arguments(&mut data)) };
    builder.kernel("node", Launch::new(1, 64), call);
    match builder.build() {
        Err(error @ Error::Invalid { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn calls_are_compared_with_the_ptx() {
    let number = refused(|data| [data.write(), 3.0_f32.into()]);
    assert!(
        number.contains("[signature]") && number.contains("node `node`"),
        "{number}"
    );
    let said = |text: &str, lines: [&str; 2]| assert!(lines.iter().all(|line| text.contains(line)), "{text}");
    said(
        &number,
        [
            "the kernel `scale` takes 3 arguments, and the call passes 2",
            "help: pass `[memory.write(), 0.0_f32.into(), 0_u32.into()]`",
        ],
    );
    let size = refused(|data| [data.write(), 3.0_f64.into(), 64_u32.into()]);
    assert!(size.contains("[signature]") && !size.contains("declare"), "{size}");
    said(
        &size,
        [
            "argument 2 of the kernel `scale` is a value of 8 bytes, but the kernel takes 4 bytes there",
            "help: pass `0.0_f32.into()` as argument 2",
        ],
    );
    let memory = refused(|data| [data.write(), data.read(), 64_u32.into()]);
    said(
        &memory,
        [
            "argument 2 of the kernel `scale` is memory, but the kernel takes 4 bytes by value there",
            "help: pass `0.0_f32.into()` as argument 2",
        ],
    );
    let value = refused(|_| [0_u32.into(), 3.0_f32.into(), 64_u32.into()]);
    assert!(value.contains("[signature]") && !value.contains("declare"), "{value}");
    said(
        &value,
        [
            "argument 1 of the kernel `scale` is a value of 4 bytes, but the kernel takes 8 bytes there",
            "help: pass `memory.write()` as argument 1",
        ],
    );
    let access = refused(|data| [data.read(), 3.0_f32.into(), 64_u32.into()]);
    assert!(access.contains("[access]") && !access.contains("declare"), "{access}");
    said(
        &access,
        [
            "the kernel `scale` writes to argument 1, which is passed by `read()`",
            "help: pass `memory.write()` as argument 1",
        ],
    );
}

#[test]
fn races_of_kernels_of_a_text_are_found() -> Result<()> {
    let device = device();
    let scale = module(&device)?.kernel("scale")?;
    let mut builder = GraphBuilder::new(&device, "Race");
    let mut data = builder.device::<[f32; 64]>("data");
    for name in ["first", "second"] {
        // SAFETY: the graph is not built.
        let call = unsafe { scale.call([data.write(), 3.0_f32.into(), 64_u32.into()]) };
        builder.kernel(name, Launch::new(1, 64), call);
    }
    let error = builder.build().unwrap_err().to_string();
    assert!(
        error.contains("[race]") && error.contains("`first`") && error.contains("`second`"),
        "{error}"
    );
    Ok(())
}

#[test]
fn texts_and_names_that_are_wrong_are_errors() -> Result<()> {
    let device = device();
    let error = module(&device)?.kernel("scald").unwrap_err().to_string();
    assert_eq!(
        error,
        "kernel `scald` is not in `test_kernels.ptx`\nhelp: there is a kernel `scale`"
    );
    let error = device.module(Ptx::from_text("jit", "no PTX")?).unwrap_err().to_string();
    assert!(error.starts_with("cannot load `jit`: "), "{error}");
    let error = Ptx::from_text("jit", "\u{7f}ELF\0").unwrap_err().to_string();
    assert_eq!(
        error,
        "cannot load `jit`: the text contains a zero byte, so it is no PTX"
    );
    Ok(())
}

/// Swaps the halves of 16 bytes in each thread, in a register of 128 bits.
const SWAP: &str = "
.version 8.4
.target sm_70
.address_size 64
.visible .entry swap(.param .u64 data) {
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>, %x, %y;
    .reg .b128 %v;
    ld.param.u64 %rd1, [data];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 16;
    add.s64 %rd1, %rd1, %rd2;
    ld.relaxed.gpu.global.b128 %v, [%rd1];
    mov.b128 {%x, %y}, %v;
    mov.b128 %v, {%y, %x};
    st.relaxed.gpu.global.b128 [%rd1], %v;
    ret;
}";

#[test]
fn kernels_have_registers_of_128_bits() -> Result<()> {
    let device = device();
    let swap = device.module(Ptx::from_text("swap.ptx", SWAP)?)?.kernel("swap")?;
    let mut builder = GraphBuilder::new(&device, "Wide");
    let mut data = builder.device::<[u64; 64]>("data");
    // SAFETY: each of 32 threads swaps two of 64 elements.
    let call = unsafe { swap.call([data.write()]) };
    builder.kernel("swap", Launch::new(1, 32), call);
    let mut graph = builder.build()?;
    let numbers: [u64; 64] = std::array::from_fn(|index| (index as u64) << 40 | 7);
    graph.device_mut(&data)?.copy_from(&numbers)?;
    graph.launch()?;
    assert_eq!(
        *graph.device(&data)?.read()?,
        std::array::from_fn(|index| numbers[index ^ 1])
    );
    Ok(())
}
