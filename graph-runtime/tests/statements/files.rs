//! Graphs that are saved as files and opened again.

use crate::common::*;
use graph_runtime::private::plan::{FileArgument, FileRows, FileWork, GraphFile};
use std::env;
use std::fs;
use std::path::PathBuf;
use std::process;

/// A file that is deleted when it is not needed any more.
struct Saved(PathBuf);

impl Saved {
    fn new(name: &str) -> Self {
        Self(env::temp_dir().join(format!("{name}-{}.cugraph", process::id())))
    }

    fn of(name: &str, plan: &Plan) -> Self {
        let saved = Self::new(name);
        plan.save(&saved.0).unwrap();
        saved
    }

    fn bytes(&self) -> Vec<u8> {
        fs::read(&self.0).unwrap()
    }

    fn file(&self) -> GraphFile {
        GraphFile::decode(&self.bytes()).unwrap()
    }

    /// Changes the file.
    fn change(&self, change: impl FnOnce(&mut GraphFile)) {
        let mut file = self.file();
        change(&mut file);
        fs::write(&self.0, file.encode()).unwrap();
    }

    /// The error of opening it on the emulator.
    fn refused(&self) -> String {
        let refused = Loaded::open(&Device::emulator(), &self.0).unwrap_err().to_string();
        refused.replace(&self.0.display().to_string(), "x.cugraph")
    }
}

impl Drop for Saved {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Opens a file. The kernels of these tests are declared `safe`, or keep what their declarations ask for.
fn open(device: &Device, saved: &Saved) -> Loaded {
    // SAFETY: the graphs were saved by these tests, whose kernels stay within their memory as they are called there.
    unsafe { Loaded::open_trusted(device, &saved.0) }.unwrap()
}

#[cuda_kernels("tests/kernels/constants.ptx")]
unsafe extern "C" {
    /// `data[i] *= table[i % 4]`
    #[requires(threads <= data.len())]
    safe fn weigh(data: &mut [f32]);
}

#[cuda_kernels("tests/kernels/mapped.ptx")]
unsafe extern "C" {
    #[requires(threads <= values.len())]
    safe fn fill(values: &[Mapped<u64>], first: u64);
}

cuda_graph! {
    graph Everything(w: device [f32; 64], out: mut device [u32; 32], n: usize) {
        host     input:  [f32; 64];
        host     result: [f32; 64];
        device   data:   [f32; 64];
        scratch  spare:  [f32; 64];
        constant table:  [f32; 4] = "table";
        device   count:  [u32; 4];
        device   more:   u32;
        device   pick:   u32;
        device   bins:   [u32; 8];
        device   early:  [u32; 32];
        device   late:   [u32; 32];
        mapped   words:  [u64; 4];
        param    factor: f32 = 2.0;

        memcpy up    = input -> data;
        memset some  = table[0..2] <- 3.0;
        #[priority(-1)]
        kernel scale = scale<<<2, 32>>>(&mut data, factor, 64) after up;
        kernel weigh = weigh<<<2, 32>>>(&mut data) after scale, some;
        memcpy keep  = data -> spare after weigh;
        kernel sum   = add<<<2, 32>>>(&spare, &w, &mut data, 64) after keep;
        memcpy down  = data -> result after sum;

        memset zero  = count <- 0;
        memset go    = more <- 1;
        while repeat = more {
            kernel add  = add_to<<<1, 4>>>(&mut count, 1);
            kernel test = is_below<<<1, 1>>>(&count, 5, &mut more) after add;
        } after go, zero;
        if maybe = more {
            memset one = out[0..4] <- 1;
        } else {
            memset two = out[0..4] <- 2;
        } after repeat;
        memset choice = pick <- 1;
        switch choose = pick {
            { memset first  = out[4..8] <- 10; }
            { memset second = out[4..8] <- 20; }
        } after choice;
        #[disabled]
        memset never = out[8..12] <- 9;

        kernel left  = add_all<<<1, 8>>>(&bins, 3);
        kernel right = add_all<<<1, 8>>>(&bins, 4);
        for i in 0..n {
            memset step = out[12 + i] <- 7;
        }
        kernel write = slow_write<<<1, 32>>>(&mut early, 5, 10);
        kernel read  = slow_step<<<1, 32>>>(&early, &mut late, 10) after programmatic(write);
        kernel words_of = fill<<<1, 4>>>(&words, 100);
    }
}

/// The results of a launch.
#[derive(Debug, PartialEq)]
struct Results {
    result: Vec<u32>,
    out: Vec<u32>,
    words: Vec<u32>,
}

fn input() -> [f32; 64] {
    std::array::from_fn(|index| index as f32 * 0.37 - 5.0)
}

#[test]
fn a_file_computes_the_bits_of_the_graph_that_was_saved() {
    let device = device();
    let weights = device.alloc::<[f32; 64]>().unwrap();
    weights.copy_from(&input().map(|x| x * x)).unwrap();
    let bits = |numbers: &[f32]| numbers.iter().map(|number| number.to_bits()).collect();

    let out = device.alloc::<[u32; 32]>().unwrap();
    let mut graph = Everything::build(&device, &weights, &out, 3).unwrap();
    graph.set_factor(1.7).unwrap();
    let saved = Saved::of("everything", &graph.plan());
    *graph.input_mut().unwrap() = input();
    let mut of_graph = Vec::new();
    for _ in 0..2 {
        graph.launch().unwrap();
        let [count, bins, late] = [
            graph.count().unwrap().read_vec().unwrap(),
            graph.bins().unwrap().read_vec().unwrap(),
            graph.late().unwrap().read_vec().unwrap(),
        ];
        of_graph.push(Results {
            result: bits(graph.result().unwrap()),
            out: out.read_vec().unwrap(),
            words: [count, bins, late].concat(),
        });
    }
    let first: Vec<u64> = (0..4)
        .map(|index| graph.words().unwrap().load(index).unwrap())
        .collect();

    let mut loaded = open(&device, &saved);
    assert_eq!(*loaded.plan(), {
        // The names of kernels in Rust are not in the file, and shared memory is declared as the graph's own.
        let mut plan = graph.plan();
        for (node, of_file) in plan.nodes.to_mut().iter_mut().zip(loaded.plan().nodes.iter()) {
            node.launch.clone_from(&of_file.launch);
        }
        plan.resources.clone_from(&loaded.plan().resources);
        for (node, of_file) in plan.nodes.to_mut().iter_mut().zip(loaded.plan().nodes.iter()) {
            node.accesses.clone_from(&of_file.accesses);
        }
        plan
    });
    let other = device.alloc::<[u32; 32]>().unwrap();
    loaded.bind("w", &weights).unwrap();
    loaded.bind("out", &other).unwrap();
    loaded.write("input", &input()).unwrap();
    for of_graph in of_graph {
        loaded.launch().unwrap();
        let words = ["count", "bins", "late"].map(|name| loaded.read::<u32>(name).unwrap());
        assert_eq!(
            of_graph,
            Results {
                result: bits(&loaded.read::<f32>("result").unwrap()),
                out: loaded.read("out").unwrap(),
                words: words.concat(),
            }
        );
    }
    assert_eq!(other.read().unwrap()[4..8], [20; 4]);
    let words = loaded.mapped::<u64>("words").unwrap();
    let words: Vec<u64> = (0..4).map(|index| words.load(index).unwrap()).collect();
    assert_eq!(words, first);
    assert_eq!(words, [100, 101, 102, 103]);

    let again = Saved::of("everything-again", loaded.plan());
    assert_eq!(
        again.bytes(),
        saved.bytes(),
        "a file that is opened and saved is the same file"
    );
}

/// Children, and rectangles.
#[test]
fn children_and_rectangles_are_saved() {
    let device = device();
    let build = || {
        let mut builder = GraphBuilder::new(&device, "Nested");
        let input = builder.host::<[[f32; 4]; 6]>("input");
        let mut rows = builder.device::<[[f32; 4]; 6]>("rows");
        let picked = builder.host::<[[f32; 2]; 3]>("picked");
        let up = builder.memcpy("up", &input, &mut rows);
        let child = builder.child("step", |child| {
            let inner = child.child("inner", |inner| {
                inner.memset_2d("column", &mut rows.rectangle::<4, 1>(1, 2), 8.0_f32);
            });
            let after = child.memset("row", &mut rows.row(0), 1.5_f32);
            child.after(after, &[inner]);
        });
        builder.after(child, &[up]);
        let join = builder.join("join");
        builder.after(join, &[child]);
        let down = builder.memcpy_2d(
            "down",
            &rows.rectangle::<3, 2>(0, 1),
            &mut picked.rectangle::<3, 2>(0, 0),
        );
        builder.after(down, &[join]);
        (builder.build().unwrap(), input, picked)
    };
    let (mut graph, input, picked) = build();
    let saved = Saved::of("nested", &graph.plan());
    let numbers: [[f32; 4]; 6] = std::array::from_fn(|row| std::array::from_fn(|column| (row * 10 + column) as f32));
    *graph.host_mut(&input).unwrap() = numbers;
    graph.launch().unwrap();
    let mut loaded = Loaded::open(&device, &saved.0).unwrap();
    loaded.write("input", &numbers).unwrap();
    loaded.launch().unwrap();
    let expected = graph.host(&picked).unwrap();
    assert_eq!(expected, &[[1.5, 1.5], [11.0, 8.0], [21.0, 8.0]]);
    assert_eq!(loaded.read::<[f32; 2]>("picked").unwrap(), expected);
    let names = |plan: &Plan| plan.nodes.iter().map(|node| node.name.to_string()).collect::<Vec<_>>();
    assert_eq!(names(loaded.plan()), names(&graph.plan()));
    assert_eq!(loaded.plan().bodies, graph.plan().bodies);
}

cuda_graph! {
    /// Numbers of two uses at the top, and of one in a loop.
    graph Noise(seed: u64) {
        rng    noise = seed, draws 16;
        device first:  [u32; 512];
        device second: [u32; 512];
        device log:    [u64; 100];
        device more:   u32;

        kernel one  = draw_numbers<<<1, 32>>>(&noise, &mut first, 16);
        kernel two  = draw_numbers<<<1, 32>>>(&noise, &mut second, 16) after one;
        memset go   = more <- 3;
        while again = more {
            kernel draw = log_offset<<<1, 1>>>(&noise, &mut log);
            kernel down = count_down<<<1, 1>>>(&mut more) after draw;
        } after go, two;
    }
}

/// A file begins with the random numbers of its graph, and goes on as that does, launch by launch.
#[test]
fn a_file_draws_the_numbers_of_the_graph_that_was_saved() {
    let device = device();
    let mut graph = Noise::build(&device, 7).unwrap();
    graph.launch().unwrap(); // what it has drawn is not in the file
    let saved = Saved::of("noise", &graph.plan());
    // SAFETY: as for `open`.
    let mut loaded = unsafe { Loaded::open_trusted(&device, &saved.0) }.unwrap();
    let mut graph = Noise::build(&device, 7).unwrap();
    let mut earlier = Vec::new();
    for _ in 0..3 {
        graph.launch().unwrap();
        loaded.launch().unwrap();
        let numbers = graph.first().unwrap().read_vec::<u32>().unwrap();
        assert_eq!(loaded.read::<u32>("first").unwrap(), numbers);
        assert_eq!(
            loaded.read::<u32>("second").unwrap(),
            graph.second().unwrap().read_vec::<u32>().unwrap()
        );
        assert_eq!(
            loaded.read::<u64>("log").unwrap(),
            graph.log().unwrap().read_vec::<u64>().unwrap()
        );
        assert_ne!(numbers, earlier);
        earlier = numbers;
    }
    let again = Saved::of("noise-again", loaded.plan());
    assert_eq!(again.bytes(), saved.bytes());
    let other = Saved::of("noise-other", &Noise::build(&device, 8).unwrap().plan());
    // SAFETY: as for `open`.
    let mut other = unsafe { Loaded::open_trusted(&device, &other.0) }.unwrap();
    other.launch().unwrap();
    loaded.launch().unwrap();
    assert_ne!(other.read::<u32>("first").unwrap(), earlier);
}

/// Typed views of one arena that overlap are one memory to a file too, before and after it is built.
#[test]
fn views_that_overlap_are_refused_where_a_file_writes_them() {
    let device = device();
    let saved = everything(&device, "views");
    let arena = device.alloc_slice::<u8>(1024).unwrap();
    let view = |start: usize, bytes: usize| arena.rows(start..start + bytes).unwrap();
    let weights = view(0, 256).cast::<f32>().unwrap();
    let mut loaded = open(&device, &saved);
    loaded.bind("w", &weights).unwrap();
    loaded.bind("out", &view(252, 128).cast::<u32>().unwrap()).unwrap();
    let overlap = "`w` and `out` are shared memory that overlaps, and the graph writes `out` [aliased-argument]";
    refused(loaded.launch()).says(overlap);
    loaded.bind("out", &view(256, 128).cast::<u32>().unwrap()).unwrap();
    loaded.launch().unwrap();
    refused(loaded.bind("out", &view(128, 128).cast::<u32>().unwrap())).says(overlap);
    loaded.launch().unwrap();
}

fn everything(device: &Device, name: &str) -> Saved {
    let (weights, out) = (
        device.alloc::<[f32; 64]>().unwrap(),
        device.alloc::<[u32; 32]>().unwrap(),
    );
    Saved::of(name, &Everything::build(device, &weights, &out, 3).unwrap().plan())
}

/// The bytes of a file with nodes of many kinds.
pub(crate) fn original(device: &Device) -> Vec<u8> {
    everything(device, "original").bytes()
}

#[test]
fn memory_is_bound_by_name_and_its_length_is_checked() {
    let device = Device::emulator();
    let saved = everything(&device, "bind");
    let mut loaded = open(&device, &saved);
    let given: Vec<&str> = loaded
        .memory()
        .filter(|memory| memory.given)
        .map(|memory| memory.name)
        .collect();
    assert_eq!(given, ["w", "out"]);
    let written: Vec<&str> = loaded
        .memory()
        .filter(|memory| !memory.written)
        .map(|memory| memory.name)
        .collect();
    assert_eq!(written, ["w", "input"]);
    let text = |error: Error| error.to_string().replace(&saved.0.display().to_string(), "x.cugraph");
    assert_eq!(
        text(loaded.launch().unwrap_err()),
        "graph `Everything`, memory `w`: graph file `x.cugraph`: nothing is bound\n\
         help: `loaded.bind(\"w\", &buffer)?` before the first launch, with 256 bytes of device memory"
    );
    let short = device.alloc_slice::<f32>(63).unwrap();
    assert_eq!(
        text(loaded.bind("w", &short).unwrap_err()),
        "graph `Everything`, memory `w`: graph file `x.cugraph`: has 256 bytes, and what is bound has 252"
    );
    let long = device.alloc_slice::<f32>(65).unwrap();
    assert_eq!(
        text(loaded.bind("weights", &long).unwrap_err()),
        "graph `Everything`: graph file `x.cugraph`: it has no memory `weights`"
    );
    assert_eq!(
        text(loaded.bind("outs", &long).unwrap_err()),
        "graph `Everything`: graph file `x.cugraph`: it has no memory `outs`\nhelp: there is `out`"
    );
    let host = device.alloc_host::<[f32; 64]>().unwrap().share();
    assert_eq!(
        text(loaded.bind("w", &host).unwrap_err()),
        "graph `Everything`, memory `w`: graph file `x.cugraph`: is device memory, and what is bound is host memory"
    );
    let bytes = device.alloc_slice::<u8>(257).unwrap();
    assert_eq!(
        text(loaded.bind("w", &bytes.rows(1..).unwrap()).unwrap_err()),
        "graph `Everything`, memory `w`: graph file `x.cugraph`: begins at a multiple of 4 bytes, and what is bound does not"
    );
    assert_eq!(
        text(loaded.bind("spare", &host).unwrap_err()),
        "graph `Everything`, memory `spare`: graph file `x.cugraph`: is device memory, which cannot be bound"
    );
    let others = Device::emulator().alloc::<[f32; 64]>().unwrap();
    assert!(matches!(loaded.bind("w", &others), Err(Error::ForeignMemory { .. })));
    assert!(matches!(
        loaded.write("input", &[1.0_f32; 63]),
        Err(Error::Length { .. })
    ));
    assert_eq!(
        text(loaded.read::<[f32; 3]>("input").unwrap_err()),
        "graph `Everything`, memory `input`: graph file `x.cugraph`: has 256 bytes, which are no whole number of elements \
         of 12"
    );
    assert!(loaded.read::<f32>("spare").is_err() && loaded.read::<u64>("words").is_err());
}

/// Other memory before and after the first launch, and memory of the graph's own that others share.
#[test]
fn memory_is_bound_again() {
    let device = device();
    let saved = everything(&device, "again");
    let mut loaded = open(&device, &saved);
    let [first, second] = [
        device.alloc::<[u32; 32]>().unwrap(),
        device.alloc::<[u32; 32]>().unwrap(),
    ];
    loaded.bind("w", &device.alloc::<[f32; 64]>().unwrap()).unwrap();
    let count = device.alloc::<[u32; 4]>().unwrap();
    let result = device.alloc_host::<[f32; 64]>().unwrap().share();
    loaded.bind("count", &count).unwrap();
    loaded.bind("result", &result).unwrap();
    loaded.bind("out", &first).unwrap();
    loaded.launch().unwrap();
    loaded.bind("out", &second).unwrap();
    first.copy_from(&[0; 32]).unwrap();
    loaded.launch().unwrap();
    loaded.synchronize().unwrap();
    assert_eq!(first.read().unwrap()[..8], [0; 8]);
    assert_eq!(second.read().unwrap()[..8], [2, 2, 2, 2, 20, 20, 20, 20]);
    assert_eq!(*count.read().unwrap(), [5; 4]);
    assert_eq!(loaded.read::<u32>("count").unwrap(), [5; 4]);
    loaded.write("input", &[1.0_f32; 64]).unwrap();
    loaded.launch().unwrap();
    let bits = result.read().unwrap().map(f32::to_bits).to_vec();
    assert_eq!(loaded.read::<u32>("result").unwrap(), bits);
    assert_ne!(bits, [0; 64]);
    assert!(
        loaded.bind("bins", &device.alloc::<[u32; 8]>().unwrap()).is_err(),
        "its own, and launched"
    );
}

#[test]
fn nodes_of_the_program_are_refused_with_their_names() {
    let device = Device::emulator();
    let mut builder = GraphBuilder::new(&device, "Mixed");
    let data = builder.host::<[f32; 4]>("data");
    let mut there = builder.device::<[f32; 4]>("there");
    let call = builder.call("look", (&data,), |_| {});
    let capture = builder.capture_or_else("blas", (&mut there,), |_| Ok(()), |_| {});
    let rng = builder.rng("noise", device.generator(7).unwrap(), 4);
    let _ = (call, capture, rng);
    let plan = builder.build().unwrap().plan();
    let saved = Saved::new("refused");
    let error = plan.save(&saved.0).unwrap_err().to_string();
    let error = error.replace(&saved.0.display().to_string(), "x.cugraph");
    assert_eq!(
        error,
        "graph `Mixed`: cannot be saved in `x.cugraph`: `noise` draws from a generator that graphs of this \
         program share\n\
         and `look` is a `call`, a function of this program\n\
         and `blas` is a `capture`, whose calls only this program makes"
    );
    assert!(!saved.0.exists(), "nothing is written");
    let message = Everything::PLAN.save(&saved.0).unwrap_err().to_string();
    assert!(message.contains("static data"), "{message}");
}

#[test]
fn files_that_are_none_are_refused() {
    let saved = Saved::new("none");
    let refused = saved.refused();
    assert!(
        refused.starts_with("graph file `x.cugraph`: cannot be read: "),
        "{refused}"
    );
    fs::write(&saved.0, "hello").unwrap();
    assert_eq!(saved.refused(), "graph file `x.cugraph`: it is no graph file");
    let saved = everything(&Device::emulator(), "damaged");
    let mut bytes = saved.bytes();
    let last = bytes.len() - 1;
    bytes[last] ^= 4;
    fs::write(&saved.0, bytes).unwrap();
    assert_eq!(
        saved.refused(),
        "graph file `x.cugraph`: it is damaged: its hash is not that of its content"
    );
}

/// The first line of a mistake of `everything`, after a change of its file.
fn mistake(name: &str, change: impl FnOnce(&mut GraphFile)) -> String {
    let saved = everything(&Device::emulator(), name);
    saved.change(change);
    let refused = saved.refused();
    let first = refused
        .strip_prefix("graph `Everything` has 1 mistake\n")
        .unwrap_or(&refused);
    first.lines().next().unwrap().to_owned()
}

fn node<'f>(file: &'f mut GraphFile, name: &str) -> &'f mut FileWork {
    let mut nodes = file.nodes.iter_mut();
    &mut nodes.find(|node| node.name == name).unwrap().work
}

/// An argument of a kernel node.
fn argument<'f>(file: &'f mut GraphFile, name: &str, index: usize) -> &'f mut FileArgument {
    match node(file, name) {
        FileWork::Kernel(kernel) => &mut kernel.arguments[index],
        _ => panic!("`{name}` is no kernel"),
    }
}

#[test]
fn files_that_say_something_unsound_are_refused() {
    let index = |file: &GraphFile, name: &str| file.nodes.iter().position(|node| node.name == name).unwrap();
    let memory =
        |file: &GraphFile, name: &str| file.memory.iter().position(|memory| memory.name == name).unwrap() as u32;
    let race = mistake("race", |file| {
        let sum = index(file, "sum");
        file.nodes[sum].after.clear();
    });
    assert!(race.ends_with("[race]"), "{race}");
    let cycle = mistake("cycle", |file| {
        let (up, edge) = (index(file, "up"), index(file, "down") as u32);
        file.nodes[up].after.push(graph_runtime::private::plan::FileEdge {
            from: edge,
            programmatic: false,
        });
    });
    assert!(cycle.ends_with("[cycle]"), "{cycle}");
    let outside = mistake("outside", |file| {
        let FileArgument::Memory { start, .. } = argument(file, "scale", 0) else {
            panic!()
        };
        *start = 4;
    });
    assert!(outside.ends_with("[out-of-bounds]"), "{outside}");
    let huge = mistake("huge", |file| {
        let FileWork::Memcpy { from, .. } = node(file, "up") else {
            panic!()
        };
        *from = FileRows::piece(from.memory, u64::MAX - 3, 256);
    });
    assert!(huge.ends_with("[out-of-bounds]"), "{huge}");
    let length = mistake("length", |file| {
        let FileWork::Memcpy { from, .. } = node(file, "up") else {
            panic!()
        };
        *from = FileRows::piece(from.memory, 0, 128);
    });
    assert!(length.ends_with("[shape-mismatch]"), "{length}");
    let host = mistake("host", |file| {
        let host = memory(file, "input");
        let FileArgument::Memory { memory, .. } = argument(file, "scale", 0) else {
            panic!()
        };
        *memory = host;
    });
    assert!(host.ends_with("[wrong-memory]"), "{host}");
    let constant = mistake("constant", |file| {
        let table = memory(file, "table");
        let FileArgument::Memory {
            memory, start, bytes, ..
        } = argument(file, "scale", 0)
        else {
            panic!()
        };
        (*memory, *start, *bytes) = (table, 0, 16);
    });
    assert!(constant.ends_with("[wrong-memory]"), "{constant}");
    let plainly = mistake("plainly", |file| {
        let FileArgument::Memory { mode, .. } = argument(file, "words_of", 0) else {
            panic!()
        };
        *mode = Mode::ReadWrite;
    });
    assert!(plainly.ends_with("[wrong-memory]"), "{plainly}");
    let lie = mistake("lie", |file| {
        let FileArgument::Memory { mode, .. } = argument(file, "scale", 0) else {
            panic!()
        };
        *mode = Mode::Read;
    });
    assert!(lie.ends_with("[access]"), "{lie}");
    let few = mistake("few", |file| {
        let FileWork::Kernel(kernel) = node(file, "scale") else {
            panic!()
        };
        kernel.arguments.pop();
    });
    assert!(few.ends_with("[signature]"), "{few}");
    let wide = mistake("wide", |file| {
        let FileWork::Kernel(kernel) = node(file, "scale") else {
            panic!()
        };
        kernel.block = [2048, 1, 1];
    });
    assert!(wide.ends_with("[launch-config]"), "{wide}");
    let scratch = mistake("scratch", |file| {
        let keep = index(file, "keep");
        file.nodes[keep].disabled = true;
    });
    assert!(scratch.ends_with("[uninitialized]"), "{scratch}");
    let endless = mistake("endless", |file| {
        let FileArgument::Memory { memory: to, .. } = argument(file, "test", 2) else {
            panic!()
        };
        *to = u32::MAX;
    });
    assert_eq!(
        endless,
        "graph file `x.cugraph`: it names memory 4294967295, and has 14"
    );
    let programmatic = mistake("programmatic", |file| {
        let weigh = index(file, "weigh");
        file.nodes[weigh].after[0].programmatic = true;
    });
    assert!(programmatic.ends_with("[programmatic-edge]"), "{programmatic}");
}

#[test]
fn files_that_no_builder_could_make_are_refused() {
    let of_file = |text: &str| format!("graph `Everything`: graph file `x.cugraph`: {text}");
    let no_body = mistake("body", |file| {
        let one = file.bodies.iter().position(|body| body.role == Role::While).unwrap();
        file.bodies[one].role = Role::Then;
    });
    assert_eq!(
        no_body,
        of_file("node `repeat` has a body that nodes of its kind do not have")
    );
    let early = mistake("early", |file| file.nodes[0].body = 1);
    assert_eq!(early, of_file("body 1 comes before the node whose body it is"));
    let condition = mistake("condition", |file| {
        let FileWork::Conditional { start, .. } = node(file, "repeat") else {
            panic!()
        };
        *start = 2;
    });
    assert_eq!(condition, of_file("the condition of node `repeat` is not aligned"));
    let value = mistake("value", |file| {
        let FileWork::Memset { value, .. } = node(file, "go") else {
            panic!()
        };
        value.extend([0; 3]);
    });
    assert_eq!(value, of_file("node `go` fills rows of 4 bytes by a value of 7"));
    let nothing = mistake("nothing", |file| {
        let FileWork::Memset { value, .. } = node(file, "go") else {
            panic!()
        };
        value.clear();
    });
    assert_eq!(nothing, of_file("node `go` fills rows of 4 bytes by a value of 0"));
    let rows = mistake("rows", |file| {
        let FileWork::Memset { to, .. } = node(file, "zero") else {
            panic!()
        };
        to.width = 0;
    });
    assert_eq!(
        rows,
        of_file("node `zero` has 16 bytes in rows of 0, each 16 after the last")
    );
    let align = mistake("align", |file| file.memory[0].align = 3);
    assert_eq!(align, of_file("memory `w` has an alignment of 3 bytes"));
    let entry = mistake("entry", |file| {
        let FileWork::Kernel(kernel) = node(file, "scale") else {
            panic!()
        };
        kernel.entry = "scal".into();
    });
    assert!(entry.starts_with(&of_file("node `scale`: ")), "{entry}");
    let text = mistake("text", |file| file.modules[0].text.to_mut().push_str("nonsense"));
    assert!(
        text.starts_with("graph `Everything`: graph file `x.cugraph`: `"),
        "{text}"
    );
    let deep = mistake("deep", |file| {
        use graph_runtime::private::plan::{FileBody, FileNode};
        (file.nodes, file.bodies) = (Vec::new(), Vec::new());
        for depth in 0..100 {
            file.nodes.push(FileNode {
                name: format!("level{depth}").into(),
                body: depth,
                disabled: false,
                after: Vec::new(),
                work: FileWork::Child,
            });
            let role = Role::Child;
            file.bodies.push(FileBody { role, node: depth });
        }
    });
    assert_eq!(deep, of_file("node `level64` is in more than 64 bodies"));
}

/// Nobody promises that the kernels of a file stay within their memory, so on a GPU each launch is proved. These run
/// with the driver in software, too.
#[test]
#[ignore = "needs a CUDA device"]
fn on_a_gpu_launches_are_proved() {
    let device = cuda_device();
    let mut builder = GraphBuilder::new(&device, "Proved");
    let mut data = builder.device::<[f32; 64]>("data");
    builder.kernel("scale", Launch::new(2, 32), scale::call(&mut data, 2.0, 64_u32));
    let saved = Saved::of("proved", &builder.build().unwrap().plan());
    let mut loaded = Loaded::open(&device, &saved.0).unwrap();
    loaded.write("data", &[1.0_f32; 64]).unwrap();
    loaded.launch().unwrap();
    assert_eq!(loaded.read::<f32>("data").unwrap(), [2.0; 64]);

    saved.change(|file| *argument(file, "scale", 2) = FileArgument::Value(65_u32.to_le_bytes().to_vec()));
    let wider = Loaded::open(&device, &saved.0).map(|_| ()); // 64 threads ask for nothing past the end
    assert!(wider.is_ok(), "{wider:?}");
    saved.change(|file| {
        let FileWork::Kernel(kernel) = node(file, "scale") else {
            panic!()
        };
        kernel.grid = [3, 1, 1];
    });
    let error = Loaded::open(&device, &saved.0).unwrap_err().to_string();
    assert!(error.contains("node `scale`"), "{error}");
    assert!(
        error.contains("is not proved to stay within its memory in this launch: thread [0, 0, 0] of block [2, 0, 0]"),
        "{error}"
    );
    assert!(
        Loaded::open(&Device::emulator(), &saved.0).is_ok(),
        "the emulator checks each access"
    );
}
