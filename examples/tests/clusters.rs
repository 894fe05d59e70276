//! The kernel of `generate` for GPT-2's width, in clusters, computes what the one for all widths computes.

use examples::compare::{close, largest};
use examples::decoder::{HEAD, Model, Shape, Sizes};
use graph_runtime::{BoxError, CallArgument, Device, DeviceBuffer, Element, GraphBuilder, Launch, Ptx};
use half::bf16;

/// There are so many tokens that blocks draw some of the rows of their logits.
const SIZES: Sizes = Sizes::new(2, 768, 10_001, 1024);

/// A file of kernels: its name, its text, and how its kernel is launched.
type Version = (&'static str, &'static str, Shape);
const FOR_ALL: Version = (
    "generate.ptx",
    include_str!("../kernels/generate.ptx"),
    Shape::of_blocks(2, 128),
);
const TUNED: Version = (
    "generate.sm_90.ptx",
    include_str!("../kernels/generate.sm_90.ptx"),
    Shape::TUNED,
);

fn filled<T: Element>(device: &Device, numbers: &[T]) -> Result<DeviceBuffer<[T]>, BoxError> {
    let memory = device.alloc_slice(numbers.len())?;
    memory.copy_from(numbers)?;
    Ok(memory)
}

/// Goes on with a text from `first` to `end`, with keys and values as `past` has them, in as many launches as it takes.
/// Returns the text, the last logits and the number of launches.
fn decode(
    device: &Device,
    model: &Model,
    version: Version,
    past: &[bf16],
    (first, end): (usize, usize),
) -> Result<(Vec<u32>, Vec<f32>, usize), BoxError> {
    let (name, text, shape) = version;
    let module = device.module(Ptx::from_text(name, text)?)?;
    let given: Vec<u32> = (0..=SIZES.context).map(|place| (7 * place + 3) as u32 % 200).collect();
    let state = [1, first as u32, 1, end as u32, u32::MAX, 0, 0, 0, 0, 0];
    let memory = (
        filled(device, past)?,
        device.alloc_slice::<f32>(SIZES.passed())?,
        device.alloc_slice::<f32>(SIZES.vocabulary)?,
        filled(device, &given)?,
        filled(device, &state)?,
        device.alloc_slice::<u64>(2)?,
    );
    let mut builder = GraphBuilder::new(device, "Token");
    let weights = model
        .named()
        .map(|(name, tensor)| builder.shared(name, tensor, false).read())
        .collect::<Vec<_>>();
    let [tokens, places, matrices, vectors, last_norm] = weights.try_into().map_err(|_| "five tensors")?;
    let mut cache = builder.shared("cache", &memory.0, true);
    let mut space = builder.shared("space", &memory.1, true);
    let mut logits = builder.shared("logits", &memory.2, true);
    let mut text = builder.shared("text", &memory.3, true);
    let mut state = builder.shared("state", &memory.4, true);
    let luck = builder.shared("luck", &memory.5, false);
    let stream = builder.mapped_slice::<u32>("stream", SIZES.context + 1);
    let sizes = [SIZES.layers, SIZES.width, SIZES.vocabulary, SIZES.context];
    let [layers, width, vocabulary, context] = sizes.map(|size| CallArgument::value(size as u32));
    let arguments = [
        tokens,
        places,
        matrices,
        vectors,
        last_norm,
        cache.write(),
        space.write(),
        logits.write(),
        text.write(),
        CallArgument::mapped(&stream),
        state.write(),
        luck.read(),
        layers,
        width,
        vocabulary,
        context,
    ];
    // SAFETY: the memory has the lengths that the contract of `decode` asks for.
    let call = unsafe { module.kernel("decode")?.call(arguments) };
    let launch = Launch::new(shape.blocks, shape.threads)
        .shared(shape.shared)
        .cluster(shape.cluster)
        .cooperative();
    builder.kernel("next", launch, call);
    let mut graph = builder.build()?;
    let mut launches = 0;
    while memory.4.read_vec()?[0] == 1 {
        graph.launch()?;
        graph.synchronize()?;
        launches += 1;
    }
    Ok((memory.3.read_vec()?, memory.2.read_vec()?, launches))
}

/// Checks both versions from `first` on: the tuned one makes all tokens in one launch.
#[track_caller]
fn same(first: usize, tokens: usize) -> Result<(), BoxError> {
    let device = Device::emulator();
    let model = Model::from_formula(&device, SIZES)?;
    let numbers = 2 * SIZES.layers * SIZES.context * SIZES.width;
    let past: Vec<bf16> = (0..numbers)
        .map(|i| bf16::from_f32((i * 7919 % 2003) as f32 / 1001.5 - 1.0))
        .collect();
    let run = |version| decode(&device, &model, version, &past, (first, first + tokens));
    let (expected, found) = (run(FOR_ALL)?, run(TUNED)?);
    assert_eq!((expected.2, found.2), (tokens, 1), "launches");
    assert_eq!(found.0, expected.0, "tokens");
    close("logits", &found.1, &expected.1, 0.03 * largest(&expected.1))?;
    Ok(())
}

#[test]
fn clusters_write_the_first_tokens() -> Result<(), BoxError> {
    same(0, 3)
}

#[test]
fn clusters_write_after_positions_that_are_not_in_shared_memory() -> Result<(), BoxError> {
    same(4 * 12 * 16 + HEAD, 2)
}
