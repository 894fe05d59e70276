//! Parameters that may be null pointers: `Option<&[T]>`, `Option<&mut [T]>`.

use crate::common::*;
use std::array;
use std::mem::MaybeUninit;

#[cuda_kernels("tests/kernels/optional.ptx")]
unsafe extern "C" {
    #[requires(threads <= 2147483647 && n <= x.len() && n <= y.len() && (n <= bias.len() || bias.len() == 0))]
    safe fn biased(x: &[f32], bias: Option<&[f32]>, y: &mut [f32], uses: Option<&Atomic<u32>>, n: i32);
    #[requires(threads <= 2147483647 && n <= x.len() && n <= part.len() && (n <= whole.len() || whole.len() == 0))]
    safe fn split(x: &[f32], whole: Option<&mut [MaybeUninit<f32>]>, part: &mut [MaybeUninit<f32>], n: i32);
}

cuda_graph! {
    graph Optional {
        host input: [f32; 32];
        device x: [f32; 32];
        device bias: [f32; 32];
        device plain: [f32; 32];
        device with_bias: [f32; 32];
        device uses: u32;
        scratch whole: [f32; 32];
        device part: [f32; 32];
        device other: [f32; 32];

        memcpy up    = input -> x;
        memset set   = bias <- 0.5;
        memset clear = uses <- 0;
        // Both count in the same word: unordered, as atomic updates may be.
        kernel none  = biased<<<1, 32>>>(&x, None, &mut plain, &uses, 32)          after up, clear;
        kernel given = biased<<<1, 32>>>(&x, &bias, &mut with_bias, &uses, 32)     after up, set, clear;
        kernel both  = split<<<1, 32>>>(&with_bias, &mut whole, &mut part, 32)     after given;
        kernel fract = split<<<1, 32>>>(&whole, Option::None, &mut other, 32)      after both;
    }
}

#[test]
fn none_is_a_null_pointer() -> Result<()> {
    let device = device();
    let mut graph = Optional::build(&device)?;
    let input: [f32; 32] = array::from_fn(|i| i as f32 + 0.25);
    *graph.input_mut()? = input;
    graph.launch()?;
    assert_eq!(*graph.plain()?.read()?, input);
    assert_eq!(*graph.with_bias()?.read()?, input.map(|x| x + 0.5));
    assert_eq!(*graph.uses()?.read()?, 64);
    assert_eq!(*graph.part()?.read()?, [0.75; 32]);
    assert_eq!(*graph.other()?.read()?, [0.0; 32]);
    Ok(())
}

/// The accesses of a node whose argument is `None` are those to its other memory, with the modes of their parameters.
#[test]
fn none_is_no_access() {
    let plan = Optional::PLAN;
    let modes = |name: &str| -> Vec<(&str, Mode)> {
        let node = plan.nodes.iter().find(|node| node.name == name).unwrap();
        let accesses = node.accesses.iter();
        accesses
            .map(|access| (plan.resources[access.resource].name.as_ref(), access.mode))
            .collect()
    };
    let expected = [("x", Mode::Read), ("plain", Mode::ReadWrite), ("uses", Mode::Atomic)];
    assert_eq!(modes("none"), expected);
    assert_eq!(modes("fract"), [("whole", Mode::Read), ("other", Mode::Write)]);
}

/// The builder takes `None`, too. Its length is 0 in contracts, at each check.
#[test]
fn calls_take_none() -> Result<()> {
    let device = device();
    let build = |threads: i32, is_given: bool| {
        let mut builder = GraphBuilder::new(&device, "Calls");
        let x = builder.device::<[f32; 32]>("x");
        let bias = builder.device::<[f32; 16]>("bias");
        let mut y = builder.device::<[f32; 32]>("y");
        let first = builder.memset("ones", &mut x.clone(), 1.0_f32);
        let second = builder.memset("twos", &mut bias.clone(), 2.0_f32);
        let call = if is_given {
            biased::call(&x, &bias, &mut y, None, threads)
        } else {
            biased::call(&x, None, &mut y, None, threads)
        };
        let node = builder.kernel("k", Launch::new(1, 32), call);
        builder.after(node, &[first, second]);
        Ok::<_, Error>((builder.build()?, y))
    };
    let (mut graph, y) = build(32, false)?;
    graph.launch()?;
    assert_eq!(*graph.device(&y)?.read()?, [1.0; 32]);
    let (mut graph, y) = build(16, true)?;
    graph.launch()?;
    assert_eq!(graph.device(&y)?.read()?[..16], [3.0; 16]);
    let message = build(32, true).err().unwrap().to_string();
    assert!(message.contains("bias.len() = 16"), "{message}");
    Ok(())
}

cuda_graph! {
    graph Biased(n: usize) {
        device x:    [f32; 32];
        device bias: [f32; n];
        device y:    [f32; 32];

        memset ones = x <- 1.0;
        memset half = bias <- 0.5;
        kernel k    = biased<<<1, 32>>>(&x, &bias, &mut y, None, 32) after ones, half;
    }
}

/// Memory without elements is passed as `None` is: a contract cannot tell the two apart.
#[test]
fn empty_memory_is_a_null_pointer() -> Result<()> {
    let device = device();
    for (n, expected) in [(0, 1.0), (32, 1.5)] {
        let mut graph = Biased::build(&device, n)?;
        graph.launch()?;
        assert_eq!(*graph.y()?.read()?, [expected; 32]);
        assert!(Biased::build(&device, 31).is_err());
    }
    let mut builder = GraphBuilder::new(&device, "Empty");
    let x = builder.device::<[f32; 32]>("x");
    let mut y = builder.device::<[f32; 32]>("y");
    builder.kernel(
        "k",
        Launch::new(1, 32),
        biased::call(&x, &x.rows(0..0), &mut y, None, 32),
    );
    let mut graph = builder.build()?;
    graph.launch()?;
    graph.synchronize()
}

/// A kernel that does not look whether its pointer is null is told, and harms nothing.
#[test]
fn memory_at_null_is_not_accessed() -> Result<()> {
    #[cuda_kernels("tests/kernels/optional.ptx")]
    unsafe extern "C" {
        #[link_name = "split"]
        fn careless(x: Option<&[f32]>, whole: Option<&mut [f32]>, part: &mut [f32], n: i32);
    }
    let device = Device::emulator();
    let mut builder = GraphBuilder::new(&device, "Careless");
    let mut part = builder.device::<[f32; 32]>("part");
    // SAFETY: the emulator refuses accesses outside of memory.
    let call = unsafe { careless::call(None, None, &mut part, 32) };
    builder.kernel("k", Launch::new(1, 32), call);
    let mut graph = builder.build()?;
    let failed = graph.launch().and_then(|()| graph.synchronize());
    let message = failed.unwrap_err().to_string();
    assert!(
        message.contains("node `k`: kernel `split`") && message.ends_with("load of 4 bytes through a null pointer"),
        "{message}"
    );
    Ok(())
}

/// A graph that adds `bias`, or nothing, to 32 ones, by a kernel of a text; and its memory.
struct AtRunTime {
    graph: Graph,
    node: NodeId,
    kernel: ModuleKernel,
    x: Place<[f32; 32], OnDevice>,
    bias: Place<[f32; 32], OnDevice>,
    y: Place<[f32; 32], OnDevice>,
}

impl AtRunTime {
    fn new(device: &Device, is_given: bool, is_ordered: bool) -> Result<Self> {
        let (builder, node, kernel, [x, bias, y]) = Self::declared(device, is_given, is_ordered)?;
        let graph = builder.build()?;
        Ok(Self {
            graph,
            node,
            kernel,
            x,
            bias,
            y,
        })
    }

    /// `is_ordered`: the kernel runs after `bias` is set, whether it gets that or not.
    fn declared(device: &Device, is_given: bool, is_ordered: bool) -> Result<Declared> {
        let text = include_str!("../kernels/optional.ptx");
        let kernel = device.module(Ptx::from_text("optional.ptx", text)?)?.kernel("biased")?;
        let mut builder = GraphBuilder::new(device, "AtRunTime");
        builder.after_auto_everywhere();
        let [mut x, mut bias, mut y] = ["x", "bias", "y"].map(|name| builder.device::<[f32; 32]>(name));
        builder.memset("ones", &mut x, 1.0_f32);
        let twos = builder.memset("twos", &mut bias, 2.0_f32);
        let call = call(&kernel, &x, is_given.then_some(&bias), &mut y, 32);
        let node = builder.kernel("k", Launch::new(1, 32), call);
        if is_ordered {
            builder.after(node, &[twos]);
        }
        Ok((builder, node, kernel, [x, bias, y]))
    }

    /// The first and the last element after a launch.
    fn ends(&mut self) -> Result<(f32, f32)> {
        self.graph.launch()?;
        let y = self.graph.device(&self.y)?.read()?;
        Ok((y[0], y[31]))
    }
}

type Declared = (GraphBuilder, NodeId, ModuleKernel, [Place<[f32; 32], OnDevice>; 3]);

fn call(
    kernel: &ModuleKernel,
    x: &Place<[f32; 32], OnDevice>,
    bias: Option<&Place<[f32; 32], OnDevice>>,
    y: &mut Place<[f32; 32], OnDevice>,
    n: i32,
) -> KernelCall<5> {
    let bias = bias.map_or_else(|| None.into(), Place::read);
    // SAFETY: the kernel accesses the first `n` elements of its memory, which has 32, and nothing through null.
    unsafe { kernel.call([x.read(), bias, y.write(), None.into(), n.into()]) }
}

/// A kernel of a text takes `None` for a pointer. It is no access: nothing orders the node after those that write
/// `bias`.
#[test]
fn kernels_at_run_time_take_none() -> Result<()> {
    let device = device();
    let mut graph = AtRunTime::new(&device, false, false)?;
    assert_eq!(graph.ends()?, (1.0, 1.0));
    assert_eq!(graph.graph.plan().nodes[2].after[..], [0]);
    let mut graph = AtRunTime::new(&device, true, false)?;
    assert_eq!(graph.ends()?, (3.0, 3.0));
    assert_eq!(graph.graph.plan().nodes[2].after[..], [0, 1]);
    Ok(())
}

/// The launch of all kernels here.
fn launch() -> Launch {
    Launch::new(1, 32)
}

/// An update leads from `None` to memory and back, and changes values beside it.
#[test]
fn updates_change_none_to_memory_and_back() -> Result<()> {
    let device = device();
    for is_given in [false, true] {
        let mut changed = AtRunTime::new(&device, is_given, true)?;
        let sum = |is_given: bool| if is_given { 3.0 } else { 1.0 };
        assert_eq!(changed.ends()?, (sum(is_given), sum(is_given)));
        for (is_given, n) in [(!is_given, 32), (!is_given, 16), (is_given, 16), (is_given, 32)] {
            let AtRunTime {
                graph,
                node,
                kernel,
                x,
                bias,
                y,
            } = &mut changed;
            graph.device_mut(y)?.copy_from(&[0.0; 32])?;
            let call = call(kernel, x, is_given.then_some(&*bias), y, n);
            graph.update("bias", |update| update.kernel(*node, launch(), call))?;
            let accesses = graph.plan().nodes[2].accesses.len();
            assert_eq!(accesses, if is_given { 3 } else { 2 });
            let last = if n == 32 { sum(is_given) } else { 0.0 };
            assert_eq!(changed.ends()?, (sum(is_given), last));
        }
    }
    Ok(())
}

/// `update_from` leads from `None` to memory and back as well.
#[test]
fn whole_updates_change_none_to_memory_and_back() -> Result<()> {
    let device = device();
    let mut graph = AtRunTime::new(&device, false, true)?;
    assert_eq!(graph.ends()?, (1.0, 1.0));
    for (is_given, expected) in [(true, 3.0), (false, 1.0)] {
        let (builder, ..) = AtRunTime::declared(&device, is_given, true)?;
        graph.graph.update_from(builder.define()?)?;
        assert_eq!(graph.ends()?, (expected, expected));
    }
    Ok(())
}

/// Memory in the place of `None` is an access as any other: where nothing orders it, it is a race.
#[test]
fn an_update_gives_no_memory_that_nothing_orders() -> Result<()> {
    let device = device();
    let mut changed = AtRunTime::new(&device, false, false)?;
    let AtRunTime {
        graph,
        node,
        kernel,
        x,
        bias,
        y,
    } = &mut changed;
    let call = call(kernel, x, Some(bias), y, 32);
    let refused = refused(graph.update("bias", |update| update.kernel(*node, launch(), call)));
    refused.begins("graph `AtRunTime` has 1 mistake\nnodes `twos` and `k` can run at the same time");
    refused.says("[race]");
    assert_eq!(graph.plan().nodes[2].accesses.len(), 2);
    assert_eq!(changed.ends()?, (1.0, 1.0));
    Ok(())
}

/// What declarations require holds of memory in the place of `None`; other changes of the same edit are looked at
/// together with it.
#[test]
fn memory_in_the_place_of_none_is_checked_with_all_changes() -> Result<()> {
    let device = device();
    let whole = device.alloc_slice::<f32>(32)?;
    whole.copy_from(&[10.0; 32])?;
    let (first, second) = (whole.rows(..16)?, whole.rows(16..)?);
    let mut builder = GraphBuilder::new(&device, "Checked");
    let x = builder.device::<[f32; 32]>("x");
    let short = builder.device::<[f32; 16]>("short");
    let mut a = builder.shared("a", &first, true);
    let b = builder.shared("b", &second, false);
    let mut y = builder.device::<[f32; 32]>("y");
    let up = builder.memset("up", &mut a, 1.0_f32);
    let node = builder.kernel("k", launch(), biased::call(&x, None, &mut y, None, 16));
    let mut graph = builder.build()?;
    let _ = up;
    let too_long = graph.update("short", |update| {
        update.kernel(node, launch(), biased::call(&x, &short, &mut y, None, 32))
    });
    refused(too_long).says("[contract]");

    // `b` is apart from `a`, which `up` sets beside the kernel, and then is not.
    graph.update("b", |update| {
        update.kernel(node, launch(), biased::call(&x, &b, &mut y, None, 16))
    })?;
    graph.launch()?;
    assert_eq!(graph.device(&y)?.read()?[..2], [10.0, 10.0]);
    graph.update("b", |update| {
        update.kernel(node, launch(), biased::call(&x, None, &mut y, None, 16))
    })?;
    let both = graph.edit(|graph| {
        graph.rebind(&b, &first)?;
        graph.update("b", |update| {
            update.kernel(node, launch(), biased::call(&x, &b, &mut y, None, 16))
        })
    });
    refused(both).says("nodes `up` and `k` can run at the same time");
    graph.launch()?;
    assert_eq!(graph.device(&y)?.read()?[..2], [0.0, 0.0], "nothing has changed");
    Ok(())
}

/// An update gives a node no scratch memory whose place other memory has at that time, or that nothing has written.
#[test]
fn an_update_gives_no_scratch_memory_out_of_its_time() -> Result<()> {
    let device = device();
    let mut builder = GraphBuilder::new(&device, "Scratch");
    builder.after_auto_everywhere();
    let x = builder.device::<[f32; 32]>("x");
    let [mut early, mut late, mut never] = ["early", "late", "never"].map(|name| builder.scratch::<[f32; 32]>(name));
    let (mut y, mut kept) = (builder.device::<[f32; 32]>("y"), builder.device::<[f32; 32]>("kept"));
    builder.memset("first", &mut early, 1.0_f32);
    let last_use = builder.memcpy("use", &early, &mut y);
    let second = builder.memset("second", &mut late, 2.0_f32);
    builder.after(second, &[last_use]);
    builder.memcpy("use_again", &late, &mut y);
    let node = builder.kernel("k", launch(), biased::call(&x, None, &mut y, None, 32));
    let last = builder.memcpy("use_last", &late, &mut kept);
    builder.after(last, &[node]);
    let set_never = builder.memset("set_never", &mut never, 0.0_f32);
    builder.after(set_never, &[last]);
    let mut graph = builder.build()?;
    let mut told = |memory: &Place<[f32; 32], OnDevice>, text: &str| {
        let call = biased::call(&x, memory, &mut y, None, 32);
        let outcome = graph.update("bias", |update| update.kernel(node, launch(), call));
        refused(outcome).reads(&format!("graph `Scratch`, node `k`: {text}"));
    };
    let placed = "scratch memory would have to last for longer, where other scratch memory has its place";
    told(&early, placed);
    told(
        &never,
        "a node would read scratch memory that no enabled node before it has written",
    );
    // `late` lives as long anyway.
    graph.update("bias", |update| {
        update.kernel(node, launch(), biased::call(&x, &late, &mut y, None, 32))
    })?;
    graph.launch()?;
    assert_eq!(graph.device(&y)?.read()?[..2], [2.0, 2.0]);
    Ok(())
}

/// Shared memory that the graph was built only to read is written from then on, and claimed so; if it is shared to be
/// read, it is not.
#[test]
fn an_optional_output_becomes_shared_memory() -> Result<()> {
    let device = device();
    let (out, other) = (device.alloc_slice::<f32>(32)?, device.alloc_slice::<f32>(32)?);
    let mut builder = GraphBuilder::new(&device, "Output");
    let mut x = builder.device::<[f32; 32]>("x");
    let (mut to, mut not) = (builder.shared("to", &out, true), builder.shared("not", &other, false));
    let mut part = builder.device::<[f32; 32]>("part");
    let set = builder.memset("set", &mut x, 2.5_f32);
    let node = builder.kernel("k", launch(), split::call(&x, None, &mut part, 32));
    builder.after(node, &[set]);
    let mut graph = builder.build()?;
    graph.launch()?;
    let to_read = graph.update("not", |update| {
        update.kernel(node, launch(), split::call(&x, &mut not, &mut part, 32))
    });
    refused(to_read).says("node `k` writes `not`, which is shared without `mut` [access]");
    graph.update("to", |update| {
        update.kernel(node, launch(), split::call(&x, &mut to, &mut part, 32))
    })?;
    // Another graph writes it late.
    let mut builder = GraphBuilder::new(&device, "Other");
    let mut flag = builder.device::<[u32; 1]>("flag");
    let mut shared = builder.shared("shared", &out, true);
    let slow = builder.kernel("slow", Launch::new(1, 1), slow::call(slow_steps(), &mut flag));
    let set = builder.memset("set", &mut shared, 7.0_f32);
    builder.after(set, &[slow]);
    let mut late = builder.build()?;
    late.launch()?;
    graph.launch()?;
    assert_eq!(out.read_vec()?, [2.0; 32]);
    assert_eq!(graph.device(&part)?.read()?[..2], [0.5, 0.5]);
    graph.update("none", |update| {
        update.kernel(node, launch(), split::call(&x, None, &mut part, 32))
    })?;
    late.launch()?;
    graph.launch()?;
    graph.synchronize()?;
    assert_eq!(out.read_vec()?, [7.0; 32]);
    Ok(())
}

/// The forms of bodies are chosen by who writes their conditions.
#[test]
fn an_update_leaves_conditions_alone() -> Result<()> {
    let device = device();
    let mut builder = GraphBuilder::new(&device, "Condition");
    let x = builder.device::<[f32; 32]>("x");
    let uses = builder.device::<[u32; 1]>("uses");
    let (mut y, mut z) = (builder.device::<[f32; 32]>("y"), builder.device::<[f32; 32]>("z"));
    let mut node = None;
    builder.if_then("maybe", &uses.row(0), |body| {
        node = Some(body.kernel("k", launch(), biased::call(&x, None, &mut y, None, 32)));
        body.memset("beside", &mut z, 1.0_f32);
    });
    let mut graph = builder.build()?;
    let text =
        "graph `Condition`, node `k`: an update can neither give a node the condition of a body, nor take it away";
    let call = biased::call(&x, None, &mut y, &uses.row(0), 32);
    let refused = refused(graph.update("uses", |update| update.kernel(node.unwrap(), launch(), call)));
    refused.reads(text);
    Ok(())
}

/// A file keeps `None`.
#[test]
fn files_keep_none() -> Result<()> {
    let device = device();
    for (is_given, expected) in [(false, 1.0), (true, 3.0)] {
        let path = std::env::temp_dir().join(format!("none-{is_given}-{}.cugraph", std::process::id()));
        AtRunTime::new(&device, is_given, false)?
            .graph
            .plan()
            .save(&path)
            .unwrap();
        // SAFETY: the kernel stays within its memory, as `call` says.
        let loaded = unsafe { Loaded::open_trusted(&device, &path) };
        std::fs::remove_file(&path).unwrap();
        let mut loaded = loaded?;
        loaded.launch()?;
        assert_eq!(loaded.read::<f32>("y")?, [expected; 32]);
    }
    Ok(())
}
