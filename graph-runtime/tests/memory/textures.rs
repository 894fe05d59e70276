//! Memory that kernels read through textures: `&[Texel<T>]` and `&[[Texel<T, S>; N]]`.

use crate::common::*;

/// Between the texels, their mean; outside, the nearest one.
pub(crate) enum Smooth {}
impl Sampler for Smooth {
    const FILTER: Filter = Filter::Linear;
}

/// As [`Smooth`], and zero outside.
pub(crate) enum Bordered {}
impl Sampler for Bordered {
    const FILTER: Filter = Filter::Linear;
    const ADDRESSING: Addressing = Addressing::Border;
}

/// The image again and again, from 0 to 1, 1 to 2 and so on.
enum Tiles {}
impl Sampler for Tiles {
    const ADDRESSING: Addressing = Addressing::Wrap;
    const NORMALIZED_COORDINATES: bool = true;
}

/// As [`Tiles`], with every other one mirrored.
enum Mirrors {}
impl Sampler for Mirrors {
    const ADDRESSING: Addressing = Addressing::Mirror;
    const NORMALIZED_COORDINATES: bool = true;
}

/// Colours of bytes as numbers from 0 to 1.
enum Colours {}
impl Sampler for Colours {
    const NORMALIZED_VALUES: bool = true;
}

#[cuda_kernels("tests/kernels/textures.ptx")]
#[allow(kernel_bounds)]
unsafe extern "C" {
    /// `out[i]` is texel `index[i]`, or 0
    #[requires(threads <= index.len() && threads <= out.len())]
    safe fn gather_texels(table: &[Texel<f32>], index: &[i32], out: &mut [f32]);
    #[requires(width <= 8 && threads * width <= out.len() * 8)]
    safe fn swap_colours(image: &[[Texel<[u8; 4], Colours>; 8]], out: &mut [[f32; 4]], width: u32);
    #[requires(threads <= out.len())]
    safe fn sum_pairs(pairs: &[Texel<[i32; 2]>], out: &mut [i32]);
    #[requires(threads <= out.len())]
    safe fn read_bytes(bytes: &[Texel<i8, PointSampler>; 64], out: &mut [i32]);
}

macro_rules! samplers {
    ($($module:ident: $sampler:ident;)*) => {$(
        mod $module {
            use super::*;

            #[cuda_kernels("tests/kernels/textures.ptx")]
            #[allow(kernel_bounds)]
            unsafe extern "C" {
                #[requires(threads <= at.len() && threads <= out.len())]
                pub(super) safe fn sample(image: &[[Texel<f32, $sampler>; 8]], at: &[[f32; 2]], out: &mut [f32]);
            }
        }
    )*};
}
samplers! {
    point: PointSampler;
    smooth: Smooth;
    bordered: Bordered;
    tiles: Tiles;
    mirrors: Mirrors;
}

/// An image of 8 columns and 4 rows: the texel in column `x` of row `y` is `x + 8 y`.
fn image() -> [[f32; 8]; 4] {
    std::array::from_fn(|y| std::array::from_fn(|x| (x + 8 * y) as f32))
}

type Places = Place<[[f32; 2]; 8], OnDevice>;
type Sample = fn(&Place<[[f32; 8]; 4], OnDevice>, &Places, &mut Place<[f32; 8], OnDevice>) -> KernelCall<3>;

/// The results of a kernel that reads [`image`] at 8 places.
fn sampled(at: [[f32; 2]; 8], call: Sample) -> Result<[f32; 8]> {
    let mut builder = GraphBuilder::new(&device(), "Sampled");
    let (places, texels) = (builder.device("at"), builder.device("image"));
    let mut out = builder.device("out");
    builder.kernel("sample", Launch::new(1, 8), call(&texels, &places, &mut out));
    let mut graph = builder.build()?;
    graph.device_mut(&texels)?.copy_from(&image())?;
    graph.device_mut(&places)?.copy_from(&at)?;
    graph.launch()?;
    Ok(*graph.device(&out)?.read()?)
}

#[test]
fn texels_are_those_of_points_or_means_of_four() -> Result<()> {
    let [a, b, c, d] = [[0.5, 0.5], [3.9, 0.1], [0.0, 2.0], [7.5, 3.5]];
    let at = [a, b, c, d, [-5.0, 1.5], [99.0, 1.5], [2.5, -1.0], [2.5, 1e9]];
    assert_eq!(
        sampled(at, point::sample::call)?,
        [0.0, 3.0, 16.0, 31.0, 8.0, 15.0, 2.0, 26.0]
    );

    let [a, b, c, d] = [[0.5, 0.5], [1.0, 0.5], [1.75, 0.5], [4.5, 2.0]];
    let at = [a, b, c, d, [4.25, 2.5], [0.0, 0.0], [8.0, 4.0], [3.0, 3.75]];
    assert_eq!(
        sampled(at, smooth::sample::call)?,
        [0.0, 0.5, 1.25, 16.0, 19.75, 0.0, 31.0, 26.5]
    );
    let [a, b, c, d] = [[8.0, 0.5], [8.5, 0.5], [-0.5, 1.5], [0.0, 1.5]];
    let at = [a, b, c, d, [0.5, 4.0], [7.5, 3.5], [7.75, 3.5], [100.0, 1.0]];
    assert_eq!(
        sampled(at, bordered::sample::call)?,
        [3.5, 0.0, 0.0, 4.0, 12.0, 31.0, 23.25, 0.0]
    );

    let [a, b, c, d] = [[0.0, 0.0], [0.99, 0.99], [1.0, 0.3], [-0.1, 0.3]];
    let at = [a, b, c, d, [2.3, 5.3], [0.5, -0.1], [1.1, 0.0], [1.9, 0.0]];
    assert_eq!(
        sampled(at, tiles::sample::call)?,
        [0.0, 31.0, 8.0, 15.0, 10.0, 28.0, 0.0, 7.0]
    );
    assert_eq!(
        sampled(at, mirrors::sample::call)?,
        [0.0, 31.0, 15.0, 8.0, 18.0, 4.0, 7.0, 0.0]
    );
    Ok(())
}

cuda_graph! {
    /// Reads a table, part of which was just set.
    graph Table {
        host index: [i32; 8];
        host found: [f32; 8];
        device at: [i32; 8];
        device table: [f32; 64];
        device out: [f32; 8];

        memcpy up = index -> at;
        memset low = table[..32] <- 2.0;
        memset high = table[32..] <- 3.0;
        kernel read = gather_texels<<<1, 8>>>(&table, &at, &mut out) after up, low, high;
        memcpy down = out -> found after read;
    }
}

#[test]
fn texels_are_read_by_their_number() -> Result<()> {
    let mut graph = Table::build(&device())?;
    for launch in 0..3 {
        *graph.index_mut()? = [0, 31, 32, 63, 64, -1, i32::MAX, i32::MIN];
        graph.launch()?;
        assert_eq!(graph.found()?, &[2.0, 2.0, 3.0, 3.0, 0.0, 0.0, 0.0, 0.0], "{launch}");
    }
    Ok(())
}

#[test]
fn texels_have_channels_of_all_types() -> Result<()> {
    let mut graph = cuda_graph! { &device() =>
        device colours: [[[u8; 4]; 8]; 2];
        device swapped: [[f32; 4]; 16];
        device pairs: [[i32; 2]; 32];
        device sums: [i32; 32];
        device bytes: [i8; 64];
        device read: [i32; 64];

        kernel swap = swap_colours<<<(1, 2), 8>>>(&colours, &mut swapped, 8);
        kernel sum = sum_pairs<<<1, 32>>>(&pairs, &mut sums);
        kernel widen = read_bytes<<<1, 64>>>(&bytes, &mut read);
    }?;
    let mut colours = [[[0, 51, 255, 102]; 8]; 2];
    colours[1][7] = [255, 0, 0, 0];
    graph.colours_mut()?.copy_from(&colours)?;
    let pairs: [[i32; 2]; 32] = std::array::from_fn(|index| [index as i32, -1000 * index as i32]);
    graph.pairs_mut()?.copy_from(&pairs)?;
    let bytes = std::array::from_fn(|index| 2 * index as i8 - 64);
    graph.bytes_mut()?.copy_from(&bytes)?;
    graph.launch()?;
    let swapped = graph.swapped()?.read()?;
    let expected = |[b, g, r, a]: [f32; 4]| [b, g, r, a].map(|channel| channel / 255.0);
    assert_eq!(swapped[0], expected([255.0, 51.0, 0.0, 102.0]));
    assert_eq!(swapped[15], expected([0.0, 0.0, 255.0, 0.0]));
    assert_eq!(*graph.sums()?.read()?, std::array::from_fn(|index| -999 * index as i32));
    let wanted = std::array::from_fn(|index| 2 * index as i32 - 64);
    assert_eq!(*graph.read()?.read()?, wanted);
    Ok(())
}

#[test]
fn parts_of_memory_are_textures() -> Result<()> {
    // Reads an image of several, which is chosen by the number of an iteration.
    let mut graph = cuda_graph! { &shuffling(7) =>
        device images: [[[f32; 8]; 16]; 3];
        device at: [[f32; 2]; 4];
        device out: [[f32; 4]; 3];

        each i in 0..3 {
            kernel read = point::sample<<<1, 4>>>(&images[i], &at, &mut out[i]);
        }
    }?;
    let images: [[[f32; 8]; 16]; 3] =
        std::array::from_fn(|i| std::array::from_fn(|y| std::array::from_fn(|x| (1000 * i + 10 * y + x) as f32)));
    graph.images_mut()?.copy_from(&images)?;
    let at = [[0.5, 0.5], [7.5, 0.5], [0.5, 15.5], [3.5, 99.0]];
    graph.at_mut()?.copy_from(&at)?;
    graph.launch()?;
    let out = graph.out()?.read()?;
    for (i, out) in out.iter().enumerate() {
        assert_eq!(*out, [0.0, 7.0, 150.0, 153.0].map(|texel| (1000 * i) as f32 + texel));
    }
    Ok(())
}

#[test]
fn textures_follow_memory_that_is_rebound() -> Result<()> {
    let device = device();
    let mut images = Vec::new();
    for value in [1.0, 2.0, 3.0] {
        let image = device.alloc::<[[f32; 8]; 4]>()?;
        image.copy_from(&[[value; 8]; 4])?;
        images.push(image);
    }
    let mut builder = GraphBuilder::new(&device, "Rebound");
    let image = builder.shared("image", &images[0], false);
    let at = builder.device::<[[f32; 2]; 1]>("at");
    let mut out = builder.device::<[f32; 1]>("out");
    builder.kernel("sample", Launch::new(1, 1), smooth::sample::call(&image, &at, &mut out));
    let mut graph = builder.build()?;
    for (launch, value) in [(0, 1.0), (1, 2.0), (2, 3.0), (1, 2.0), (0, 1.0)] {
        graph.rebind(&image, &images[launch])?;
        graph.launch()?;
        assert_eq!(*graph.device(&out)?.read()?, [value]);
    }
    // Memory that is freed while launches go on with other memory.
    for round in 0..20_u8 {
        let another = device.alloc::<[[f32; 8]; 4]>()?;
        another.copy_from(&[[f32::from(round); 8]; 4])?;
        graph.rebind(&image, &another)?;
        graph.launch()?;
        assert_eq!(*graph.device(&out)?.read()?, [f32::from(round)]);
    }
    Ok(())
}

#[test]
fn reading_through_a_texture_is_reading() -> Result<()> {
    let declared = |ordered: bool| {
        // The emulator sees it in the accesses, too.
        let mut builder = GraphBuilder::new(&shuffling(3), "Race");
        let mut image = builder.device::<[[f32; 8]; 4]>("image");
        let at = builder.device::<[[f32; 2]; 8]>("at");
        let mut out = builder.device::<[f32; 8]>("out");
        let clear = builder.memset("clear", &mut image, 5.0_f32);
        let read = builder.kernel("sample", Launch::new(1, 8), smooth::sample::call(&image, &at, &mut out));
        if ordered {
            builder.after(read, &[clear]);
        }
        (builder.build(), out)
    };
    assert_eq!(codes(declared(false).0), [Code::Race]);
    let (built, out) = declared(true);
    let graph = launched(built)?;
    assert_eq!(*graph.device(&out)?.read()?, [5.0; 8]);
    Ok(())
}

#[test]
fn memory_that_no_texture_can_have_is_refused() {
    let mut builder = GraphBuilder::new(&Device::emulator(), "Offset");
    let images = builder.device::<[[[f32; 8]; 4]; 4]>("images");
    let at = builder.device::<[[f32; 2]; 8]>("at");
    let mut out = builder.device::<[f32; 8]>("out");
    let call = point::sample::call(&images.row(1), &at, &mut out);
    builder.kernel("sample", Launch::new(1, 8), call);
    let text = "node `sample` takes `images` as texels, but that memory begins at byte 128 of its buffer, which is \
                no multiple of 512";
    has(&mistakes(builder.build())[0], &[text]);
    let mut builder = GraphBuilder::new(&Device::emulator(), "Empty");
    let table = builder.device_slice::<f32>("table", 0);
    let index = builder.device::<[i32; 8]>("index");
    let mut out = builder.device::<[f32; 8]>("out");
    builder.kernel("read", Launch::new(1, 8), gather_texels::call(&table, &index, &mut out));
    has(&mistakes(builder.build())[0], &["but that memory is empty"]);
}
