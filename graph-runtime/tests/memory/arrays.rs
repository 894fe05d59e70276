//! CUDA arrays: memory that kernels read as textures, and load and store as surfaces.

use crate::common::*;
use crate::textures::{Bordered, Smooth};

/// As [`Smooth`], from 0 to 1, and the texels again outside.
enum Tiles {}
impl Sampler for Tiles {
    const FILTER: Filter = Filter::Linear;
    const ADDRESSING: Addressing = Addressing::Wrap;
    const NORMALIZED_COORDINATES: bool = true;
}

#[cuda_kernels("tests/kernels/arrays.ptx")]
#[allow(kernel_bounds)]
unsafe extern "C" {
    #[requires(threads <= at.len() && threads <= out.len())]
    safe fn sample_line(line: &[Texel<f32, Smooth>], at: &[f32], out: &mut [f32]);
    #[requires(threads <= at.len() && threads <= out.len())]
    safe fn sample_plane(plane: &[[Texel<f32, Smooth>; 7]], at: &[[f32; 2]], out: &mut [f32]);
    #[requires(threads <= at.len() && threads <= out.len())]
    safe fn sample_volume(volume: &[[[Texel<f32, Smooth>; 4]; 3]], at: &[[f32; 4]], out: &mut [f32]);
    #[requires(threads <= at.len() && threads <= out.len())]
    safe fn sample_lines(lines: &Layered<[[Texel<f32, Smooth>; 5]]>, at: &[[f32; 2]], out: &mut [f32]);
    #[requires(threads <= at.len() && threads <= out.len())]
    safe fn sample_planes(planes: &Layered<[[[Texel<f32>; 4]; 3]]>, at: &[[f32; 4]], out: &mut [f32]);
    #[requires(threads <= at.len() && threads <= out.len())]
    safe fn gather_plane(plane: &[[Texel<[u8; 4]>; 8]], at: &[[f32; 2]], out: &mut [[u32; 4]]);
    safe fn double_plane(plane: &mut [[Surfel<f32>; 8]]);
    #[requires(threads <= out.len())]
    safe fn read_plane(plane: &[[Surfel<f32>; 8]], out: &mut [f32]);
    safe fn number_line(line: &mut [Surfel<f32>]);
    safe fn number_volume(volume: &mut [[[Surfel<[u8; 4]>; 4]; 3]]);
    safe fn number_lines(lines: &mut Layered<[[Surfel<[i32; 2]>; 4]]>);
    safe fn number_planes(planes: &mut Layered<[[[Surfel<i16>; 4]; 3]; 2]>);
    #[requires(threads <= out.len())]
    safe fn outside_plane(plane: &mut [[Surfel<f32>; 8]], out: &mut [f32]);
    safe fn trap_plane(plane: &mut [[Surfel<f32>; 8]]);
    safe fn blur(from: &[[Texel<f32>; 8]], to: &mut [[Surfel<f32>; 8]]);
}

mod bordered {
    use super::*;

    #[cuda_kernels("tests/kernels/arrays.ptx")]
    #[allow(kernel_bounds)]
    unsafe extern "C" {
        #[requires(threads <= at.len() && threads <= out.len())]
        pub(super) safe fn sample_line(line: &[Texel<f32, Bordered>], at: &[f32], out: &mut [f32]);
        #[requires(threads <= at.len() && threads <= out.len())]
        pub(super) safe fn sample_lines(lines: &Layered<[[Texel<f32, Bordered>; 5]]>, at: &[[f32; 2]], out: &mut [f32]);
    }
}

mod tiles {
    use super::*;

    #[cuda_kernels("tests/kernels/arrays.ptx")]
    #[allow(kernel_bounds)]
    unsafe extern "C" {
        #[requires(threads <= at.len() && threads <= out.len())]
        pub(super) safe fn sample_line(line: &[Texel<f32, Tiles>], at: &[f32], out: &mut [f32]);
    }
}

#[test]
fn textures_have_one_to_three_dimensions_and_layers() -> Result<()> {
    // Reads arrays of all dimensions by textures.
    let mut graph = cuda_graph! { &device() =>
        host line_in: [f32; 8];
        host plane_in: [[f32; 7]; 5];
        host volume_in: [[[f32; 4]; 3]; 2];
        host lines_in: [[f32; 5]; 3];
        array line: [f32; 8];
        array plane: [[f32; 7]; 5];
        array volume: [[[f32; 4]; 3]; 2];
        array lines: [[f32; 5]; 3];
        array planes: [[[f32; 4]; 3]; 2];
        device at: [f32; 4];
        device at2: [[f32; 2]; 4];
        device at4: [[f32; 4]; 4];
        device line_out: [f32; 4];
        device tiles_out: [f32; 4];
        device border_out: [f32; 4];
        device borders_out: [f32; 4];
        device plane_out: [f32; 4];
        device volume_out: [f32; 4];
        device lines_out: [f32; 4];
        device planes_out: [f32; 4];

        memcpy fill_line = line_in -> line;
        memcpy fill_plane = plane_in -> plane;
        memcpy fill_volume = volume_in -> volume;
        memcpy fill_lines = lines_in -> lines;
        memcpy fill_planes = volume_in -> planes;

        kernel on_line = sample_line<<<1, 4>>>(&line, &at, &mut line_out) after fill_line;
        kernel on_tiles = tiles::sample_line<<<1, 4>>>(&line, &at, &mut tiles_out) after fill_line;
        kernel on_border = bordered::sample_line<<<1, 4>>>(&line, &at, &mut border_out) after fill_line;
        kernel on_borders = bordered::sample_lines<<<1, 4>>>(&lines, &at2, &mut borders_out) after fill_lines;
        kernel on_plane = sample_plane<<<1, 4>>>(&plane, &at2, &mut plane_out) after fill_plane;
        kernel on_volume = sample_volume<<<1, 4>>>(&volume, &at4, &mut volume_out) after fill_volume;
        kernel on_lines = sample_lines<<<1, 4>>>(&lines, &at2, &mut lines_out) after fill_lines;
        kernel on_planes = sample_planes<<<1, 4>>>(&planes, &at4, &mut planes_out) after fill_planes;
    }?;
    *graph.line_in_mut()? = std::array::from_fn(|x| x as f32);
    *graph.plane_in_mut()? = std::array::from_fn(|y| std::array::from_fn(|x| (x + 10 * y) as f32));
    *graph.volume_in_mut()? =
        std::array::from_fn(|z| std::array::from_fn(|y| std::array::from_fn(|x| (x + 10 * y + 100 * z) as f32)));
    *graph.lines_in_mut()? = std::array::from_fn(|layer| std::array::from_fn(|x| (x + 10 * layer) as f32));
    graph.at_mut()?.copy_from(&[0.5, 1.0, 4.25, 99.0])?;
    let at2 = [[0.5, 0.5], [3.0, 1.0], [6.5, 4.5], [1.75, 2.0]];
    graph.at2_mut()?.copy_from(&at2)?;
    let [first, second, third] = [[0.5, 0.5, 0.5, 0.0], [1.5, 1.5, 1.0, 0.0], [3.5, 2.5, 1.5, 0.0]];
    graph
        .at4_mut()?
        .copy_from(&[first, second, third, [2.0, 0.5, 9.0, 0.0]])?;
    graph.launch()?;
    assert_eq!(*graph.line_out()?.read()?, [0.0, 0.5, 3.75, 7.0]);
    assert_eq!(*graph.tiles_out()?.read()?, [3.5, 3.5, 1.5, 3.5]);
    assert_eq!(*graph.border_out()?.read()?, [0.0, 0.5, 3.75, 0.0]);
    assert_eq!(*graph.borders_out()?.read()?, [0.0, 12.5, 0.0, 21.25]);
    assert_eq!(*graph.plane_out()?.read()?, [0.0, 7.5, 46.0, 16.25]);
    assert_eq!(*graph.volume_out()?.read()?, [0.0, 61.0, 123.0, 101.5]);
    assert_eq!(*graph.lines_out()?.read()?, [0.0, 12.5, 24.0, 21.25]);
    assert_eq!(*graph.planes_out()?.read()?, [0.0, 111.0, 123.0, 102.0]);
    Ok(())
}

#[test]
fn four_texels_are_gathered() -> Result<()> {
    let mut graph = cuda_graph! { &device() =>
        device bytes: [[[u8; 4]; 8]; 4];
        array plane: [[[u8; 4]; 8]; 4];
        device at: [[f32; 2]; 2];
        device out: [[u32; 4]; 2];

        memcpy fill = bytes -> plane;
        kernel gather = gather_plane<<<1, 2>>>(&plane, &at, &mut out) after fill;
    }?;
    let bytes = std::array::from_fn(|y| std::array::from_fn(|x| [0, (x + 16 * y) as u8, 0, 0]));
    graph.bytes_mut()?.copy_from(&bytes)?;
    graph.at_mut()?.copy_from(&[[2.0, 1.0], [7.0, 3.0]])?;
    graph.launch()?;
    // Counter-clockwise, from the lower left.
    assert_eq!(*graph.out()?.read()?, [[17, 18, 2, 1], [54, 55, 39, 38]]);
    Ok(())
}

#[test]
fn surfaces_have_one_to_three_dimensions_and_layers() -> Result<()> {
    // Stores to arrays of all dimensions by surfaces.
    let graph = launched(cuda_graph! { &device() =>
        array line: [f32; 8];
        array volume: [[[[u8; 4]; 4]; 3]; 2];
        array lines: [[[i32; 2]; 4]; 3];
        array planes: [[[i16; 4]; 3]; 2];
        device line_out: [f32; 8];
        device volume_out: [[[[u8; 4]; 4]; 3]; 2];
        host lines_out: [[[i32; 2]; 4]; 3];
        host planes_out: [[[i16; 4]; 3]; 2];

        kernel on_line = number_line<<<1, 8>>>(&mut line);
        kernel on_volume = number_volume<<<(3, 2), 4>>>(&mut volume);
        kernel on_lines = number_lines<<<3, 4>>>(&mut lines);
        kernel on_planes = number_planes<<<(3, 2), 4>>>(&mut planes);
        memcpy save_line = line -> line_out after on_line;
        memcpy save_volume = volume -> volume_out after on_volume;
        memcpy save_lines = lines -> lines_out after on_lines;
        memcpy save_planes = planes -> planes_out after on_planes;
    })?;
    assert_eq!(*graph.line_out()?.read()?, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    let volume = graph.volume_out()?.read()?;
    let lines = graph.lines_out()?;
    for z in 0..3 {
        for x in 0..4 {
            for y in 0..3 {
                if z < 2 {
                    assert_eq!(volume[z][y][x], [x as u8, y as u8, z as u8, 255]);
                    assert_eq!(graph.planes_out()?[z][y][x], (x + 10 * y + 100 * z) as i16);
                }
            }
            assert_eq!(lines[z][x], [x as i32, -(z as i32)]);
        }
    }
    Ok(())
}

cuda_graph! {
    /// Doubles an array in each launch, twice in a loop.
    graph Doubles {
        host input: [[f32; 8]; 4];
        array plane: [[f32; 8]; 4];
        device out: [f32; 32];
        host copied: [[f32; 8]; 4];

        #[disabled]
        memcpy fill = input -> plane;
        for step in 0..2 {
            kernel double = double_plane<<<4, 8>>>(&mut plane) after fill;
        }
        kernel read = read_plane<<<4, 8>>>(&plane, &mut out) after double;
        memcpy save = plane -> copied after double;
    }
}

#[test]
fn arrays_are_zeroed_keep_what_they_hold_and_are_one_for_each_graph() -> Result<()> {
    let mut graph = launched(Doubles::build(&device()))?;
    assert_eq!(graph.copied()?, &[[0.0; 8]; 4]);
    *graph.input_mut()? = std::array::from_fn(|y| std::array::from_fn(|x| (x + 8 * y) as f32));
    graph.fill().set_enabled(true)?;
    graph.launch()?;
    assert_eq!(graph.copied()?[1][2], 40.0);
    graph.fill().set_enabled(false)?;
    graph.launch()?;
    assert_eq!(graph.copied()?[1][2], 160.0);
    assert_eq!(graph.out()?.read()?[31], 31.0 * 16.0);
    graph.reset()?;
    graph.launch()?;
    assert_eq!(graph.copied()?, &[[0.0; 8]; 4]);

    let mut definition = Doubles::define(&device())?;
    let mut one = definition.instantiate(Default::default())?;
    let mut other = definition.instantiate(Default::default())?;
    for (graph, value) in [(&mut one, 1.0), (&mut other, 10.0)] {
        *graph.input_mut()? = [[value; 8]; 4];
        graph.fill().set_enabled(true)?;
        graph.launch()?;
        graph.fill().set_enabled(false)?;
    }
    for (graph, value) in [(&mut one, 16.0), (&mut other, 160.0)] {
        graph.launch()?;
        assert_eq!(graph.copied()?, &[[value; 8]; 4]);
    }
    // All of a graph becomes another one.
    other.update_from(definition)?;
    other.launch()?;
    assert_eq!(other.copied()?, &[[0.0; 8]; 4]);
    Ok(())
}

cuda_graph! {
    /// One step of a blur, from one array to another.
    graph Blur {
        array from: [[f32; 8]; 4];
        array to: [[f32; 8]; 4];

        kernel step = blur<<<4, 8>>>(&from, &mut to);
    }

    /// Blurs as often as a counter says, to and fro.
    graph Blurs(picture: mut device [[f32; 8]; 4]) {
        array one: [[f32; 8]; 4];
        array two: [[f32; 8]; 4];
        device again: u32;
        device result: [f32; 32];

        memcpy load = picture -> one;
        memset yes = again <- 1;
        while more = again {
            graph there = Blur(from: &one, to: &mut two);
            graph back = Blur(from: &two, to: &mut one) after there;
            kernel peek = read_plane<<<4, 8>>>(&two, &mut result) after there;
            memset no = again <- 0;
        } after load, yes;
        memcpy save = one -> picture after more;
    }
}

#[test]
fn arrays_are_in_bodies_and_children_and_beside_memory_that_is_rebound() -> Result<()> {
    let device = device();
    let mut point = [[0.0; 8]; 4];
    point[2][4] = 16.0;
    let blurred = {
        let mut row = [0.0; 8];
        (row[2], row[4], row[6]) = (4.0, 8.0, 4.0);
        row
    };
    let picture = |point: &[[f32; 8]; 4]| -> Result<DeviceBuffer<[[f32; 8]; 4]>> {
        let memory = device.alloc::<[[f32; 8]; 4]>()?;
        memory.copy_from(point)?;
        Ok(memory)
    };
    let (first, second) = (picture(&point)?, picture(&point)?);
    let mut graph = launched(Blurs::build(&device, &first))?;
    assert_eq!(graph.picture()?.read()?[2], blurred);
    let expected = [0.0, 0.0, 0.0, 8.0, 0.0, 8.0, 0.0, 0.0];
    assert_eq!(graph.result()?.read()?[16..24], expected);
    graph.rebind_picture(&second)?;
    graph.launch()?;
    assert_eq!(graph.picture()?.read()?[2], blurred);
    assert_eq!(graph.picture()?.read()?[1], [0.0; 8]);
    Ok(())
}

#[test]
fn outside_of_a_surface_there_is_nothing_or_a_fault() -> Result<()> {
    let graph = launched(cuda_graph! { &device() =>
        array plane: [[f32; 8]; 4];
        device out: [f32; 10];

        kernel store = double_plane<<<4, 8>>>(&mut plane);
        kernel look = outside_plane<<<1, 10>>>(&mut plane, &mut out) after store;
    })?;
    assert_eq!(*graph.out()?.read()?, [0.0; 10]);

    let device = graph_runtime::Device::emulator();
    let mut builder = GraphBuilder::new(&device, "Trap");
    let mut plane = builder.array::<[[f32; 8]; 4]>("plane");
    builder.kernel("leave", Launch::new(1, 8), trap_plane::call(&mut plane));
    let graph = launched(builder.build())?;
    has(refused(graph.synchronize()), &["leave", "plane"]);
    Ok(())
}

#[test]
fn lengths_of_arrays_are_known_at_run_time() -> Result<()> {
    let (device, rows) = (device(), 3);
    let mut builder = GraphBuilder::new(&device, "Dynamic");
    let from = builder.host_slice::<[f32; 8]>("from", rows);
    let mut plane = builder.array_slice::<[f32; 8]>("plane", rows);
    let mut out = builder.device_slice::<f32>("out", 8 * rows);
    let fill = builder.memcpy("fill", &from, &mut plane);
    let double = builder.kernel("double", Launch::new(rows, 8), double_plane::call(&mut plane));
    let read = builder.kernel("read", Launch::new(rows, 8), read_plane::call(&plane, &mut out));
    in_order(&mut builder, &[fill, double, read]);
    let mut graph = builder.build()?;
    graph.host_slice_mut(&from)?.fill([1.5; 8]);
    graph.launch()?;
    assert_eq!(graph.device(&out)?.read_vec()?, [3.0; 24]);
    Ok(())
}

/// The codes and messages of the mistakes of the graph that `declare` declares.
fn mistaken(declare: impl FnOnce(&mut GraphBuilder)) -> Vec<(Code, String)> {
    let mut builder = GraphBuilder::new(&device(), "Mistaken");
    declare(&mut builder);
    let mistakes = mistakes(builder.build()).into_iter();
    mistakes.map(|mistake| (mistake.code, mistake.message)).collect()
}

#[test]
fn arrays_are_taken_as_what_they_are() {
    let found = mistaken(|builder| {
        let mut plane = builder.array::<[[f32; 8]; 4]>("plane");
        let host = builder.host::<[[f32; 8]; 4]>("host");
        builder.memcpy("fill", &host, &mut plane);
    });
    let expected = [(Code::WrongMemory, "no kernel takes the array `plane`".to_owned())];
    assert_eq!(found, expected);

    let found = mistaken(|builder| {
        let bytes = builder.array::<[[[f32; 8]; 7]; 4]>("bytes");
        let (at, mut out) = (builder.device::<[[f32; 2]; 4]>("at"), builder.device::<[f32; 4]>("out"));
        builder.kernel("double", Launch::new(1, 8), double_plane::call(&mut bytes.row(0)));
        let other = builder.array::<[[f32; 7]; 8]>("other");
        builder.kernel("sample", Launch::new(1, 4), sample_plane::call(&other, &at, &mut out));
    });
    let message = "node `double` takes a part of `bytes`, which is an array";
    assert!(found.contains(&(Code::WrongMemory, message.to_owned())), "{found:?}");

    let found = mistaken(|builder| {
        let line = builder.device::<[f32; 64]>("line");
        let (at, mut out) = (builder.device::<[f32; 4]>("at"), builder.device::<[f32; 4]>("out"));
        builder.kernel("sample", Launch::new(1, 4), sample_line::call(&line, &at, &mut out));
    });
    assert_eq!(found[0].0, Code::Contract);
    found[0].1.ends("takes `line` as texels, but that memory is no `array`");

    let found = mistaken(|builder| {
        let plane = builder.array::<[[f32; 8]; 4]>("plane");
        let mut other = builder.array::<[[f32; 8]; 4]>("other");
        let arguments = [CallArgument::surface(&plane), CallArgument::surface_mut(&mut other)];
        // SAFETY: `build` fails, so nothing is launched.
        let call = unsafe { KernelCall::new::<read_plane>(arguments) };
        builder.kernel("read", Launch::new(1, 8), call);
    });
    let message = "node `read` takes the address of `other`, which is an array";
    assert_eq!(found[0], (Code::WrongMemory, message.to_owned()));

    let found = mistaken(|builder| {
        let mut line = builder.array_slice::<f32>("line", 100_000);
        builder.kernel("number", Launch::new(1, 8), number_line::call(&mut line));
    });
    found[0].1.says("100000 texels in a row: the most are 16384");
    let found = mistaken(|builder| {
        let mut line = builder.array_slice::<f32>("line", 0);
        builder.kernel("number", Launch::new(1, 8), number_line::call(&mut line));
    });
    assert!(found[0].1.ends_with("that memory is empty"), "{found:?}");

    let found = mistaken(|builder| {
        let volume = builder.array::<[[[f32; 4]; 3]; 5]>("volume");
        let mut planes = builder.array::<[[[f32; 4]; 3]; 5]>("planes");
        let (at, mut out) = (builder.device::<[[f32; 4]; 4]>("at"), builder.device::<[f32; 4]>("out"));
        let one = builder.kernel("one", Launch::new(1, 4), sample_volume::call(&volume, &at, &mut out));
        let other = builder.kernel("other", Launch::new(1, 4), sample_planes::call(&planes, &at, &mut out));
        let copy = builder.memcpy("copy", &volume, &mut planes);
        in_order(builder, &[one, other, copy]);
    });
    let message = "node `copy` copies the array `volume` to `planes`, whose texels are others";
    assert_eq!(found, [(Code::WrongMemory, message.to_owned())]);

    let found = mistaken(|builder| {
        let mut plane = builder.array::<[[f32; 8]; 4]>("plane");
        let (flag, host) = (builder.device::<u32>("flag"), builder.host::<[[f32; 8]; 4]>("host"));
        let double = builder.kernel("double", Launch::new(4, 8), double_plane::call(&mut plane));
        let body = builder.if_then("maybe", &flag, |builder| {
            builder.child("inner", |builder| {
                builder.memcpy("fill", &host, &mut plane);
            });
        });
        builder.after(double, &[body]);
    });
    let message = "memcpy node `inner.fill`, which copies the array `plane`, cannot be in the body of `maybe`";
    assert_eq!(found, [(Code::ConditionalBody, message.to_owned())]);

    let found = mistaken(|builder| {
        let planes = builder.array_slice::<[[f32; 4]; 3]>("planes", 2);
        let (at, mut out) = (builder.device::<[[f32; 4]; 4]>("at"), builder.device::<[f32; 4]>("out"));
        let one = builder.kernel("one", Launch::new(1, 4), sample_planes::call(&planes, &at, &mut out));
        let volume = builder.kernel("volume", Launch::new(1, 4), sample_volume::call(&planes, &at, &mut out));
        builder.after(volume, &[one]);
    });
    let message = "nodes `one` and `volume` take the array `planes` as different texels";
    assert_eq!(found, [(Code::WrongMemory, message.to_owned())]);
}
