//! Accesses of memory through textures and surfaces.

use crate::common::{Gpu, beside, buffer, download};
use graph_emulator::{
    Access, Addressing, Allocation, Channel, Extent, FaultKind, Filter, Footprint, Launch, Memory, Module, Operation,
    Options, Surface, Texture,
};

/// A kernel of one thread, of a texture and of memory for its four results. Registers `%r1` and `%f1` on are free.
fn kernel(body: &str) -> Gpu {
    Gpu::new(&format!(
        ".version 7.0 .target sm_70 .address_size 64
        .visible .entry k(.param .u64 texture, .param .u64 out) {{
            .reg .b64 %rd<4>; .reg .b32 %r<9>; .reg .b16 %rs<2>; .reg .f32 %f<9>;
            ld.param.u64 %rd1, [texture];
            ld.param.u64 %rd2, [out];
            {body}
            ret;
        }}"
    ))
}

/// Four rows of texels.
fn plane(width: usize) -> Extent {
    Extent::Plane {
        width,
        height: 4,
        layers: None,
    }
}

/// Four rows of four `f32`s: 0 to 15.
fn square(memory: &Allocation) -> Texture {
    Texture {
        address: memory.address(),
        channel: Channel::F32,
        channels: 1,
        extent: plane(4),
        filter: Filter::Nearest,
        addressing: Addressing::Clamp,
        normalized_coordinates: false,
        normalized_values: false,
    }
}

/// Runs a kernel with a texture of `memory`; `handle` is passed to it.
fn run(
    gpu: &Gpu,
    memory: &Allocation,
    texture: Texture,
    handle: u64,
    options: &Options,
) -> Result<[u32; 4], FaultKind> {
    let found = launch(gpu, (memory, Access::Read), handle, (&[texture], &[]), options);
    found.map(|(words, _)| words)
}

/// Runs a kernel with textures and surfaces of `memory`, and returns its four results and what it touched.
fn launch(
    gpu: &Gpu,
    (memory, access): (&Allocation, Access),
    handle: u64,
    (textures, surfaces): (&[Texture], &[Surface]),
    options: &Options,
) -> Result<([u32; 4], Footprint), FaultKind> {
    let out = gpu.upload("out", &[7_u32; 4]);
    let buffers = [buffer("image", memory, access), buffer("out", &out, Access::ReadWrite)];
    let launch = Launch {
        grid: [1, 1, 1],
        block: [1, 1, 1],
        shared_bytes: 0,
        arguments: &[&handle.to_le_bytes(), &out.address().to_le_bytes()],
        buffers: &buffers,
        textures,
        surfaces,
        options,
    };
    let report = gpu.module.run("k", &launch).map_err(|fault| fault.kind)?;
    Ok((download(&out).try_into().unwrap(), report.footprint))
}

fn numbers(gpu: &Gpu) -> Allocation {
    let values: Vec<f32> = (0..16).map(|index| index as f32).collect();
    gpu.upload("image", &values)
}

const STORE: &str = "st.global.v4.f32 [%rd2], {%f1, %f2, %f3, %f4};";

#[test]
fn rows_are_read_by_integers_and_by_floats() {
    for (at, expected) in [("s32", 6.0), ("f32", 6.0)] {
        let coordinates = match at {
            "s32" => "{2, 1}",
            _ => "{0f40200000, 0f3F800000}", // 2.5 and 1.0
        };
        let gpu = kernel(&format!(
            "tex.2d.v4.f32.{at} {{%f1, %f2, %f3, %f4}}, [%rd1, {coordinates}]; {STORE}"
        ));
        let memory = numbers(&gpu);
        let found = run(&gpu, &memory, square(&memory), Texture::handle(0), &Options::default());
        assert_eq!(found.unwrap().map(f32::from_bits), [expected, 0.0, 0.0, 0.0], "{at}");
    }
}

#[test]
fn results_may_be_dropped_and_textures_tell_their_size() {
    let gpu = kernel(
        "tex.2d.v4.f32.s32 {%f1, _, _, _}, [%rd1, {3, 3}];
        txq.width.b32 %r1, [%rd1]; txq.height.b32 %r2, [%rd1];
        st.global.v2.u32 [%rd2], {%r1, %r2}; st.global.f32 [%rd2+8], %f1;",
    );
    let memory = numbers(&gpu);
    let found = run(&gpu, &memory, square(&memory), Texture::handle(0), &Options::default()).unwrap();
    assert_eq!((found[0], found[1], f32::from_bits(found[2])), (4, 4, 15.0));
}

#[test]
fn channels_of_integers_are_extended() {
    let gpu =
        kernel("tex.1d.v4.s32.s32 {%r1, %r2, %r3, %r4}, [%rd1, {1}]; st.global.v4.u32 [%rd2], {%r1, %r2, %r3, %r4};");
    let memory = gpu.upload("image", &[1_u8, 2, 0xff, 0x80]);
    let texture = Texture {
        channel: Channel::I8,
        channels: 2,
        extent: Extent::Linear { texels: 2 },
        ..square(&memory)
    };
    let found = run(&gpu, &memory, texture, Texture::handle(0), &Options::default()).unwrap();
    assert_eq!(found.map(|word| word as i32), [-1, -128, 0, 0]);
}

fn mistake(body: &str, change: impl Fn(Texture) -> Texture, handle: u64) -> String {
    let gpu = kernel(body);
    let memory = numbers(&gpu);
    match run(&gpu, &memory, change(square(&memory)), handle, &Options::default()) {
        Err(kind) => kind.to_string(),
        Ok(found) => panic!("{body}: {found:?}"),
    }
}

const PLANE: &str = "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {0f3F800000, 0f3F800000}];";

#[test]
fn wrong_uses_of_textures_are_faults() {
    let same = |texture| texture;
    assert!(mistake(PLANE, same, 0x1234).contains("0x1234 is no handle of a texture"));
    assert!(mistake(PLANE, same, Texture::handle(1)).contains("no handle of a texture"));
    let integers = PLANE.replacen("f32", "u32", 1).replace("%f", "%r");
    assert!(mistake(&integers, same, Texture::handle(0)).contains("read as numbers with fractions, but integers are"));
    let linear = "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {0}];";
    let part = "it has rows of texels, but is accessed as memory without rows";
    assert!(mistake(linear, same, Texture::handle(0)).contains(part));
    // The handle is no address.
    let load = mistake("ld.global.f32 %f1, [%rd1];", same, Texture::handle(0));
    assert!(load.contains("where nothing is"), "{load}");
    // Reads outside of the memory are found, as those of loads are.
    let larger = |texture| Texture {
        extent: plane(8),
        ..texture
    };
    let beyond = "tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {0, 3}];";
    let found = mistake(beyond, larger, Texture::handle(0));
    let part = "load of 4 bytes at offset 96 of `image`, which has 64 bytes";
    assert!(found.contains(part), "{found}");
    let wraps = |texture| Texture {
        addressing: Addressing::Wrap,
        ..texture
    };
    assert!(mistake(PLANE, wraps, Texture::handle(0)).contains("only normalised coordinates wrap"));
}

#[test]
fn the_kernels_that_are_mutated_run() {
    let text = include_str!("../kernels/textures.ptx");
    let kernels = ["fetch", "sample", "shapes", "surfaces"];
    assert!(crate::common::rubbish::launch_all(text, kernels, 1000));
    for kernel in kernels {
        let module = Module::load(&Memory::new(), text).unwrap();
        assert_eq!(module.kernel(kernel).unwrap().refused(), None);
    }
}

#[test]
fn other_textures_are_refused() {
    for instruction in [
        "tex.cube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f1, %f1, %f1}];",
        "tex.3d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1, %r1, %r1, %r1}];",
        "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f1}], {%r1, %r1};",
        "tld4.r.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f1, %f1, %f1}];",
        "tex.level.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f1}], %f1;",
        "suld.b.1d.v4.b64.trap {%rd1, %rd1, %rd1, %rd1}, [%rd1, {%r2}];",
        "suld.b.1d.b32.trap {%r3, %r4}, [%rd1, {%r2}];",
        "sust.p.1d.b32.trap [%rd1, {%r2}], {%r3};",
        "tld4.r.a2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1, %f1, %f1, %f1}];",
        "suq.width.b32 %r3, [%rd1];",
        "txq.array_size.b32 %r3, [%rd1];",
        "sured.b.add.1d.u32.trap [%rd1, {%r2}], %r3;",
    ] {
        let text = format!(
            ".version 7.0 .target sm_70 .address_size 64 .visible .entry k(.param .u64 t) {{
                .reg .b64 %rd<4>; .reg .b32 %r<9>; .reg .f32 %f<9>; ld.param.u64 %rd1, [t]; {instruction} ret; }}"
        );
        let module = Module::load(&Memory::new(), &text).unwrap();
        assert!(module.kernel("k").unwrap().refused().is_some(), "{instruction}");
    }
}

#[test]
fn reads_through_textures_are_checked_as_loads_are() {
    let gpu = kernel(&format!("{PLANE} {STORE}"));
    let memory = numbers(&gpu);
    let linear = Texture {
        filter: Filter::Linear,
        ..square(&memory)
    };
    // The footprint has the four texels around the coordinates: 0, 1, 4 and 5.
    let mut theirs = Footprint::new();
    theirs.write(memory.address() + 20, 4);
    let options = beside(theirs);
    let found = run(&gpu, &memory, linear, Texture::handle(0), &options).unwrap_err();
    let FaultKind::Unordered { access, .. } = &found else {
        panic!("{found}");
    };
    assert_eq!((access.operation, access.offset), (Operation::Load, 20));
    let nearest = Texture {
        filter: Filter::Nearest,
        ..linear
    };
    assert!(run(&gpu, &memory, nearest, Texture::handle(0), &options).is_err());
    let mut theirs = Footprint::new();
    theirs.write(memory.address(), 20);
    let options = beside(theirs);
    assert!(run(&gpu, &memory, nearest, Texture::handle(0), &options).is_ok());
    // Memory that nothing has written.
    memory.forget_contents().unwrap();
    let options = Options {
        check_uninitialized: true,
        ..Options::default()
    };
    let found = run(&gpu, &memory, nearest, Texture::handle(0), &options).unwrap_err();
    assert!(matches!(found, FaultKind::Uninitialized(_)), "{found}");
}

/// Four rows of four `u32`s, or what `extent` says.
fn surface(memory: &Allocation, extent: Extent) -> Surface {
    Surface {
        address: memory.address(),
        channel: Channel::U32,
        channels: 1,
        extent,
    }
}

/// Runs a kernel with a surface of sixteen `u32`s, which are 0 to 15 before, and returns its results and the `u32`s.
fn run_surface(body: &str, extent: Extent, access: Access) -> Result<([u32; 4], Vec<u32>), FaultKind> {
    let gpu = kernel(body);
    let memory = gpu.upload("image", &std::array::from_fn::<u32, 16, _>(|index| index as u32));
    let surfaces = [surface(&memory, extent)];
    let options = Options::default();
    let (found, _) = launch(&gpu, (&memory, access), Surface::handle(0), (&[], &surfaces), &options)?;
    Ok((found, download(&memory)))
}

#[test]
fn surfaces_are_loaded_and_stored() {
    let (found, memory) = run_surface(
        "suld.b.2d.v2.b32.trap {%r1, %r2}, [%rd1, {8, 1}]; mov.u32 %r3, 70; mov.u32 %r4, 71;
        sust.b.2d.b32.trap [%rd1, {4, 2}], {%r3};
        st.global.v4.u32 [%rd2], {%r1, %r2, %r3, %r4};",
        plane(4),
        Access::ReadWrite,
    )
    .unwrap();
    assert_eq!(found, [6, 7, 70, 71]);
    assert_eq!((memory[8], memory[9], memory[10]), (8, 70, 10));
    // Layers and slices follow each other.
    let layers = Extent::Line {
        width: 4,
        layers: Some(4),
    };
    let body = "suld.b.a1d.b32.trap {%r1}, [%rd1, {2, 4}]; st.global.u32 [%rd2], %r1;";
    assert_eq!(run_surface(body, layers, Access::Read).unwrap().0[0], 9);
    let volume = Extent::Volume {
        width: 4,
        height: 2,
        depth: 2,
    };
    let body = "suld.b.3d.b32.trap {%r1}, [%rd1, {4, 1, 1, 0}]; st.global.u32 [%rd2], %r1;";
    assert_eq!(run_surface(body, volume, Access::Read).unwrap().0[0], 13);
}

#[test]
fn accesses_outside_of_surfaces_are_faults_or_clamped_or_ignored() {
    let load = |mode: &str, at: &str| {
        let body = format!("suld.b.2d.b32.{mode} {{%r1}}, [%rd1, {{{at}}}]; st.global.u32 [%rd2], %r1;");
        run_surface(&body, plane(4), Access::Read).map(|(found, _)| found[0])
    };
    let store = |mode: &str, at: &str| {
        let body = format!("mov.u32 %r1, 99; sust.b.2d.b32.{mode} [%rd1, {{{at}}}], {{%r1}};");
        run_surface(&body, plane(4), Access::ReadWrite).map(|(_, memory)| memory.iter().position(|&word| word == 99))
    };
    for at in ["16, 3", "12, 4", "16, -1"] {
        let found = load("trap", at).unwrap_err().to_string();
        let place = format!("load of 4 bytes at ({at}, 0) of the surface of `image`");
        let expected = format!("{place}, which has 16 bytes, 4 rows and 1 layers or slices");
        assert_eq!(found, expected);
        assert!(matches!(
            store("trap", at).unwrap_err(),
            FaultKind::OutsideSurface {
                operation: Operation::Store,
                ..
            }
        ));
        assert_eq!((load("zero", at), store("zero", at)), (Ok(0), Ok(None)));
    }
    assert_eq!(load("clamp", "16, 3"), Ok(15));
    let expected = (Ok(12), Ok(Some(12)));
    assert_eq!((load("clamp", "-4, 9"), store("clamp", "-4, 9")), expected);
    let misaligned = load("trap", "2, 0").unwrap_err().to_string();
    let part = "byte 2 is no multiple of the 4 bytes";
    assert!(misaligned.contains(part), "{misaligned}");
}

#[test]
fn wrong_uses_of_surfaces_are_faults() {
    let fault = |body: &str, access| run_surface(body, plane(4), access).unwrap_err().to_string();
    let store = "mov.u32 %r1, 1; sust.b.2d.b32.trap [%rd1, {4, 1}], {%r1};";
    let read_only = fault(store, Access::Read);
    let part = "store of 4 bytes at offset 20 of `image`, which was passed for reading only";
    assert!(read_only.contains(part), "{read_only}");
    let line = fault("suld.b.1d.b32.trap {%r1}, [%rd1, {0}];", Access::Read);
    let part = "it has rows of texels, but is accessed as an array of one row";
    assert!(line.contains(part), "{line}");
    let texture = fault(PLANE, Access::Read);
    let part = "is no handle of a texture of this launch";
    assert!(texture.contains(part), "{texture}");
    let linear = run_surface(store, Extent::Linear { texels: 16 }, Access::Read).unwrap_err();
    let part = "memory that is no CUDA array has no surface";
    assert!(linear.to_string().contains(part), "{linear}");
}

#[test]
fn accesses_through_surfaces_are_recorded() {
    let gpu = kernel(
        "suld.b.2d.v2.b32.trap {%r1, _}, [%rd1, {8, 0}]; sust.b.2d.b16.zero [%rd1, {2, 1}], {%rs1};
        sust.b.2d.b16.zero [%rd1, {2, 7}], {%rs1};",
    );
    let memory = numbers(&gpu);
    let options = Options {
        record_footprint: true,
        ..Options::default()
    };
    let surfaces = [surface(&memory, plane(4))];
    let image = (&memory, Access::ReadWrite);
    let (_, touched) = launch(&gpu, image, Surface::handle(0), (&[], &surfaces), &options).unwrap();
    let mut expected = Footprint::new();
    expected.read(memory.address() + 8, 8);
    expected.write(memory.address() + 18, 2);
    assert_eq!(touched, expected);
}
