//! Every example runs to its end on the CPU emulator and checks its results, other than one that needs CUDA.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The examples and their executables.
const EXAMPLES: [(&str, &str); 22] = [
    ("captured", env!("CARGO_BIN_EXE_captured")),
    ("engine", env!("CARGO_BIN_EXE_engine")),
    ("forward_backward", env!("CARGO_BIN_EXE_forward_backward")),
    ("forward_backward_eager", env!("CARGO_BIN_EXE_forward_backward_eager")),
    ("generate", env!("CARGO_BIN_EXE_generate")),
    ("graphed", env!("CARGO_BIN_EXE_graphed")),
    ("infer", env!("CARGO_BIN_EXE_infer")),
    ("llama", env!("CARGO_BIN_EXE_llama")),
    ("matrix_power", env!("CARGO_BIN_EXE_matrix_power")),
    ("mlp", env!("CARGO_BIN_EXE_mlp")),
    ("overlap", env!("CARGO_BIN_EXE_overlap")),
    ("parallel_gemms", env!("CARGO_BIN_EXE_parallel_gemms")),
    ("ring", env!("CARGO_BIN_EXE_ring")),
    ("roots", env!("CARGO_BIN_EXE_roots")),
    ("server", env!("CARGO_BIN_EXE_server")),
    ("train_conv", env!("CARGO_BIN_EXE_train_conv")),
    ("train_digits", env!("CARGO_BIN_EXE_train_digits")),
    ("train_linear", env!("CARGO_BIN_EXE_train_linear")),
    ("train_parallel", env!("CARGO_BIN_EXE_train_parallel")),
    ("train_text", env!("CARGO_BIN_EXE_train_text")),
    ("transformer_block", env!("CARGO_BIN_EXE_transformer_block")),
    ("wavefront", env!("CARGO_BIN_EXE_wavefront")),
];

/// The example that computes nothing without CUDA, and what it says.
const NEEDS_CUDA: (&str, &str) = (
    "forward_backward_eager",
    "\nnote:    nothing to compare, since stream launches need a CUDA device\n",
);

#[test]
fn examples_run_on_the_emulator() {
    for (name, executable) in EXAMPLES {
        let output = Command::new(executable)
            .env("CUDA_VISIBLE_DEVICES", "") // with a GPU, too
            .current_dir(env!("CARGO_TARGET_TMPDIR")) // for what they write
            .output()
            .unwrap();
        let stdout = String::from_utf8_lossy(&output.stdout);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name}:\n{stdout}{stderr}");
        assert!(stdout.starts_with("device:  CPU emulator"), "{name}:\n{stdout}");
        let expected = if name == NEEDS_CUDA.0 {
            NEEDS_CUDA.1
        } else {
            "\ncheck:   "
        };
        assert!(stdout.contains(expected), "{name}:\n{stdout}");
    }
}

/// Runs a program with the driver in software, and returns what it prints. `name` stands for the program.
#[cfg(target_os = "linux")]
fn with_the_driver_in_software(name: &str, program: &mut Command, seed: u32) -> String {
    use cuda_graph_driver as _; // so that the library is built

    let library = Path::new(env!("CARGO_BIN_EXE_engine")).with_file_name("deps/libcuda_graph_driver.so");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("driver of {name}"));
    std::fs::create_dir_all(&folder).unwrap();
    let link = folder.join("libcuda.so.1");
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink(&library, &link).unwrap();
    program
        .env_remove("CUDA_VISIBLE_DEVICES")
        .env("LD_LIBRARY_PATH", &folder)
        .env("CUDA_GRAPH_DRIVER_STRICT", "1")
        .env("CUDA_GRAPH_DRIVER_LOG", "1")
        .env("CUDA_GRAPH_DRIVER_SEED", seed.to_string());
    let output = program.output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "seed {seed}:\n{stdout}{stderr}");
    assert!(stdout.starts_with("device:  NVIDIA software driver"), "{stdout}");
    stdout
}

/// Graphs are dropped in flight there: work is asynchronous, a moment late, and a handle or memory that is gone ends
/// the process.
#[test]
#[cfg(target_os = "linux")]
fn the_engine_runs_with_the_driver_in_software() {
    for seed in 1..4 {
        let mut engine = Command::new(env!("CARGO_BIN_EXE_engine"));
        let stdout = with_the_driver_in_software("engine", &mut engine, seed);
        assert!(stdout.contains("\ncheck:   the engine's memory came back"), "{stdout}");
    }
}

/// The kernel for an H200 runs there, which passes what blocks compute by accesses to 128 bits.
#[test]
#[cfg(target_os = "linux")]
fn the_decoder_and_its_file_run_with_the_driver_in_software() {
    let mut generate = Command::new(env!("CARGO_BIN_EXE_generate"));
    generate.arg("--small").env("CUDA_GRAPH_DRIVER_TIME_LIMIT", "0"); // a text is one launch
    let stdout = with_the_driver_in_software("generate", &mut generate, 1);
    assert!(stdout.contains("to open the file of the small decoder"), "{stdout}");
}

/// Graph files that examples save run in Python, on memory of its own.
#[test]
#[cfg(target_os = "linux")]
fn python_runs_the_graph_files_of_examples() {
    use cuda_graph_load as _; // so that the library is built

    // Rust alone is all that this repository needs.
    if Command::new("python3").arg("--version").output().is_err() {
        return eprintln!("there is no python3 here: the scripts were not tried");
    }
    let library = Path::new(env!("CARGO_BIN_EXE_engine")).with_file_name("deps/libcuda_graph_load.so");
    for (script, program) in [
        ("engine_loaded.py", env!("CARGO_BIN_EXE_engine")),
        ("generate_loaded.py", env!("CARGO_BIN_EXE_generate")),
        ("train_linear_loaded.py", env!("CARGO_BIN_EXE_train_linear")),
    ] {
        let mut python = Command::new("python3");
        python
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("pytorch").join(script))
            .arg(program)
            .env("CUDA_VISIBLE_DEVICES", "")
            .env("CUDA_GRAPH_LOAD", &library)
            .env("PYTHONDONTWRITEBYTECODE", "1");
        let output = python.output().unwrap();
        let stdout = String::from_utf8_lossy(&output.stdout);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{script}:\n{stdout}{stderr}");
        assert!(stdout.starts_with("device:  CPU emulator"), "{script}:\n{stdout}");
        assert!(stdout.contains("\ncheck:   "), "{script}:\n{stdout}");
    }
}

/// Starts the ranks of a program as processes, as a launcher does.
fn start_ranks(executable: &str, arguments: &[&str], ranks: usize) -> Vec<Child> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    // Another job may get the port before rank 0 does: the name tells this one from that.
    let job = format!("{} {}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let start = |rank: usize| {
        let mut process = Command::new(executable);
        process
            .args(arguments)
            .env("CUDA_VISIBLE_DEVICES", "")
            .env("RAYON_NUM_THREADS", "1") // blocks of the emulator one by one: atomic additions have one order
            .env("RANK", rank.to_string())
            .env("LOCAL_RANK", rank.to_string())
            .env("WORLD_SIZE", ranks.to_string())
            .env("MASTER_ADDR", "127.0.0.1")
            .env("TORCHELASTIC_RUN_ID", &job)
            .env("MASTER_PORT", port.min(65_000).to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        process.spawn().unwrap()
    };
    (0..ranks).map(start).collect()
}

/// Waits for the end of a process. Returns whether all is well, and what it has printed.
fn end(process: Child) -> (bool, String) {
    let output = process.wait_with_output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

/// Runs the ranks of a program to their end, and returns what the first one prints.
fn run_ranks(executable: &str, arguments: &[&str], ranks: usize) -> String {
    let ends: Vec<(bool, String)> = start_ranks(executable, arguments, ranks).into_iter().map(end).collect();
    for (rank, (is_well, text)) in ends.iter().enumerate() {
        assert!(
            *is_well && text.contains("\ncheck:   "),
            "{executable}, rank {rank}:\n{text}"
        );
    }
    ends[0].1.clone()
}

#[test]
fn ranks_are_processes() {
    run_ranks(env!("CARGO_BIN_EXE_ring"), &[], 4);
    run_ranks(env!("CARGO_BIN_EXE_llama"), &["--ranks", "2"], 2);
    for model in ["linear", "text"] {
        run_ranks(env!("CARGO_BIN_EXE_train_parallel"), &["--model", model], 2);
    }
}

const TRAIN: &str = env!("CARGO_BIN_EXE_train_parallel");

/// The arguments of a training with a checkpoint.
fn training<'a>(model: &'a str, path: &'a Path) -> [&'a str; 4] {
    ["--model", model, "--checkpoint", path.to_str().unwrap()]
}

/// A place for a checkpoint, where there is none.
fn checkpoint(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("checkpoints");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name).with_extension("safetensors");
    let _ = std::fs::remove_file(&path);
    path
}

/// Processes are killed at random moments, before the first checkpoint or after it. The others end with an error. Then
/// all are started again, and leave the checkpoint that a training leaves which nobody has disturbed.
fn go_on_after_a_rank_was_killed(model: &str, ranks: usize, trials: usize) {
    let whole = checkpoint(&format!("{model} whole"));
    run_ranks(TRAIN, &training(model, &whole), ranks);
    let expected = std::fs::read(&whole).unwrap();

    let random = |below: u64| RandomState::new().hash_one(0) % below;
    let mut interrupted = 0;
    for trial in 0..trials {
        let path = checkpoint(&format!("{model} {trial}"));
        let mut processes = start_ranks(TRAIN, &training(model, &path), ranks);
        let is_early = trial % 2 == 1;
        while !is_early && !path.exists() {
            let ended = processes
                .iter_mut()
                .any(|process| process.try_wait().unwrap().is_some());
            assert!(!ended || path.exists(), "there is no checkpoint");
            std::thread::sleep(Duration::from_millis(1));
        }
        let moment = Duration::from_micros(random(if is_early { 400_000 } else { 20_000 }));
        std::thread::sleep(moment);
        let dead = random(ranks as u64) as usize;
        processes[dead].kill().unwrap();
        for (rank, (is_well, text)) in processes.into_iter().map(end).enumerate() {
            if rank != dead && !is_well {
                assert!(
                    text.contains(&format!("rank {dead}")),
                    "{moment:?}, {is_early}, rank {rank}: {text}"
                );
                interrupted += 1;
            }
        }
        let has_checkpoint = path.exists();
        let text = run_ranks(TRAIN, &training(model, &path), ranks);
        assert_eq!(text.contains("begins:  after step "), has_checkpoint, "{text}");
        assert!(
            std::fs::read(&path).unwrap() == expected,
            "{moment:?}, {is_early}: {text}"
        );
    }
    assert!(interrupted > 0, "no training was disturbed");
}

#[test]
fn a_training_goes_on_after_a_rank_was_killed() {
    go_on_after_a_rank_was_killed("perceptron", 4, 6);
}

/// The decoder goes on with AdamW's means, and with the windows of the text that come next.
#[test]
fn a_decoder_goes_on_after_a_rank_was_killed() {
    go_on_after_a_rank_was_killed("text", 2, 3);
}

/// Rank 0 says what is wrong with the file, and the others that rank 0 has gone. The file stays as it was.
#[test]
fn a_training_does_not_go_on_from_another_file() {
    let path = checkpoint("other");
    let refuse = |model: &str, ranks: usize, because: &str| {
        let before = std::fs::read(&path).unwrap();
        let processes = start_ranks(TRAIN, &training(model, &path), ranks);
        for (rank, (is_well, text)) in processes.into_iter().map(end).enumerate() {
            let expected = if rank == 0 { because } else { "rank 0" };
            assert!(!is_well && text.contains(expected), "{model}, rank {rank}: {text}");
            assert!(rank > 0 || text.contains(path.to_str().unwrap()), "{text}");
        }
        assert!(std::fs::read(&path).unwrap() == before);
    };
    run_ranks(TRAIN, &training("perceptron", &path), 4);
    refuse(
        "text",
        2,
        "it is a checkpoint of another training, `perceptron of 16, 64 and 8",
    );
    let mut bytes = std::fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    refuse("perceptron", 4, "its numbers are not those that were written");

    let mut linear = Command::new(TRAIN);
    linear.args(training("linear", &path)).env("CUDA_VISIBLE_DEVICES", "");
    let output = linear.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && text.contains("`--model text`"), "{text}");
}

#[test]
fn every_example_has_help() {
    for (name, executable) in EXAMPLES {
        let output = Command::new(executable).arg("--help").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{name}");
        let (about, options) = text.split_once("\nOptions of all programs:\n").unwrap();
        assert!(about.len() > 80 && options.contains("--plan"), "{name}: {text}");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/bin/{name}.rs"));
        let source = std::fs::read_to_string(source).unwrap();
        for option in source
            .split("argument(\"")
            .skip(1)
            .map(|rest| rest.split('"').next().unwrap())
        {
            assert!(about.contains(option), "{name} {option}: {text}");
        }
        assert!(
            !source.contains("file_argument()") || about.contains("FILE") || about.contains("WEIGHTS"),
            "{name}: {text}"
        );
    }
}

/// A section of the README has all graphs of its program, as `--plan` prints them.
#[test]
fn drawings_are_those_of_the_programs() {
    for section in include_str!("../README.md").split("\n### ").skip(1) {
        let (name, text) = section.split_once('\n').unwrap();
        let (_, executable) = EXAMPLES.iter().find(|example| example.0 == name).unwrap();
        let output = Command::new(executable).arg("--plan").output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        let drawings = text.split("```mermaid\n").skip(1);
        let drawings = drawings.map(|drawing| drawing.split("```").next().unwrap());
        assert_eq!(drawings.collect::<String>(), printed, "{name}:\n{printed}");
    }
}

/// The gallery has the graphs of all examples.
#[test]
fn the_gallery_has_all_graphs() {
    let page = Path::new(env!("CARGO_TARGET_TMPDIR")).join("gallery.html");
    let output = Command::new(env!("CARGO_BIN_EXE_gallery"))
        .arg("--built")
        .arg(&page)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = std::fs::read_to_string(page).unwrap();
    for (name, _) in EXAMPLES {
        assert!(page.contains(&format!("<section data-program=\"{name}\">")), "{name}");
    }
    for (graph, node) in [("Block", "attend"), ("Plain", "next")] {
        let (_, drawing) = page.split_once(&format!("aria-label=\"{graph}: ")).expect(graph);
        let (drawing, _) = drawing.split_once("</svg>").unwrap();
        assert!(drawing.contains(&format!("data-name=\"{node}")), "{graph}");
    }
}

#[test]
fn no_example_is_left_out() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bin");
    let files = folder.read_dir().unwrap().map(|file| file.unwrap().path());
    let files: BTreeSet<String> = files
        .map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert_eq!(files, EXAMPLES.map(|(name, _)| name.to_owned()).into());
}
