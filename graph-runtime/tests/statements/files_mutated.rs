//! Mutated graph files: whatever a file says, it is refused, or its graph is sound.
//!
//! `CUDA_GRAPH_MUTATIONS=1000000 cargo test -p graph-runtime --test statements mutated` changes a million files, and
//! `CUDA_GRAPH_MUTATIONS_SEED=25` other ones than without it.

use crate::common::random::Random;
use crate::common::*;
use graph_runtime::private::plan::{FileArgument, FileEdge, FileRows, FileWork, GraphFile};

/// Bytes of a memory that a node touches, and whether it writes them.
struct Touched {
    memory: u32,
    start: u64,
    end: u64,
    write: bool,
    atomic: bool,
}

/// All that the nodes of a file touch, told without the analysis that is tested.
fn touched(work: &FileWork) -> Vec<Touched> {
    let rows = |rows: &FileRows, write| {
        let count = rows.bytes.checked_div(rows.width).unwrap_or(0);
        let row = move |row| Touched {
            memory: rows.memory,
            start: rows.start + row * rows.pitch,
            end: rows.start + row * rows.pitch + rows.width,
            write,
            atomic: false,
        };
        (0..count).map(row).collect::<Vec<_>>()
    };
    match work {
        FileWork::Kernel(kernel) => {
            let arguments = kernel.arguments.iter().filter_map(|argument| match *argument {
                FileArgument::Memory {
                    memory,
                    start,
                    bytes,
                    mode,
                    ..
                } => Some(Touched {
                    memory,
                    start,
                    end: start + bytes,
                    write: mode.writes(),
                    atomic: matches!(mode, Mode::Atomic | Mode::Mapped),
                }),
                FileArgument::Value(_) => None,
            });
            arguments.collect()
        }
        FileWork::Memcpy { from, to } => [rows(from, false), rows(to, true)].into_iter().flatten().collect(),
        FileWork::Memset { to, .. } => rows(to, true),
        FileWork::Conditional { memory, start, .. } => vec![Touched {
            memory: *memory,
            start: *start,
            end: start + 4,
            write: false,
            atomic: false,
        }],
        FileWork::Join | FileWork::Child => Vec::new(),
    }
}

/// Panics if an accepted file has accesses outside of their memory, cycles, or unordered nodes that meet.
fn assert_sound(file: &GraphFile) {
    let owner = |body: u32| {
        body.checked_sub(1)
            .map(|index| file.bodies[index as usize].node as usize)
    };
    let nodes = file.nodes.len();
    // `before[n]` has the nodes that end before `n` starts, of its own body and as far as it is ordered with others by
    // the nodes around it.
    let mut before = vec![vec![false; nodes]; nodes];
    for _ in 0..nodes {
        let mut changed = false;
        for (to, node) in file.nodes.iter().enumerate() {
            for &FileEdge { from, .. } in &node.after {
                let from = from as usize;
                assert_eq!(file.nodes[from].body, node.body, "edges are within a body");
                let mut earlier = before[from].clone();
                earlier[from] = true;
                for (known, is_earlier) in before[to].iter_mut().zip(earlier) {
                    changed |= is_earlier && !*known;
                    *known |= is_earlier;
                }
            }
        }
        if !changed {
            break;
        }
    }
    assert!((0..nodes).all(|node| !before[node][node]), "no cycles");
    /// A node and the nodes around it, from the innermost.
    fn around(mut node: usize, file: &GraphFile, owner: impl Fn(u32) -> Option<usize>) -> Vec<usize> {
        let mut all = vec![node];
        while let Some(outer) = owner(file.nodes[node].body) {
            assert!(all.len() <= 65, "bodies are not in themselves");
            all.push(outer);
            node = outer;
        }
        all
    }
    let ordered = |one: usize, other: usize| {
        let (ones, others) = (around(one, file, owner), around(other, file, owner));
        for &a in &ones {
            if let Some(&b) = others.iter().find(|&&b| file.nodes[b].body == file.nodes[a].body) {
                // In the innermost body around both. One node around both is the condition of bodies of which one runs,
                // or one of the two itself.
                return a == b || before[a][b] || before[b][a];
            }
        }
        false
    };
    let all: Vec<Vec<Touched>> = file.nodes.iter().map(|node| touched(&node.work)).collect();
    for (node, accesses) in all.iter().enumerate() {
        for access in accesses {
            let bytes = file.memory[access.memory as usize].bytes;
            assert!(access.start <= access.end && access.end <= bytes, "within the memory");
        }
        for (other, others) in all[..node].iter().enumerate() {
            let meet = accesses.iter().any(|one| {
                others.iter().any(|two| {
                    one.memory == two.memory
                        && one.start.max(two.start) < one.end.min(two.end)
                        && (one.write || two.write)
                        && !(one.atomic && two.atomic)
                })
            });
            let (first, second) = (&file.nodes[other].name, &file.nodes[node].name);
            assert!(!meet || ordered(other, node), "`{first}` and `{second}` race");
        }
    }
}

/// Changes one thing that a file says.
fn change(file: &mut GraphFile, random: &mut Random) {
    let nodes = file.nodes.len();
    let number = |random: &mut Random| match random.below(6) {
        0 => random.below(300) as u64,
        1 => u64::MAX - random.below(9) as u64,
        2 => 1 << random.below(64),
        _ => 4 * random.below(80) as u64,
    };
    let memories = file.memory.len();
    let rows = |rows: &mut FileRows, random: &mut Random| match random.below(5) {
        0 => rows.memory = random.below(memories) as u32,
        1 => rows.start = number(random),
        2 => rows.bytes = number(random),
        3 => rows.width = number(random),
        _ => rows.pitch = number(random),
    };
    if random.below(8) == 0 {
        let memory = &mut file.memory[random.below(memories)];
        match random.below(4) {
            0 => memory.bytes = number(random),
            1 => memory.align = 1 << random.below(12),
            2 => memory.given ^= true,
            _ => {
                memory.memory = [
                    MemoryKind::Host,
                    MemoryKind::Device,
                    MemoryKind::Scratch,
                    MemoryKind::Mapped,
                ][random.below(4)]
            }
        }
        return;
    }
    let node = &mut file.nodes[random.below(nodes)];
    match random.below(8) {
        0 if !node.after.is_empty() => drop(node.after.swap_remove(random.below(node.after.len()))),
        1 => node.after.push(FileEdge {
            from: random.below(nodes) as u32,
            programmatic: random.below(3) == 0,
        }),
        2 => node.disabled ^= true,
        3 => node.body = random.below(file.bodies.len() + 1) as u32,
        _ => match &mut node.work {
            FileWork::Kernel(kernel) => match random.below(8) {
                0 => kernel.grid[random.below(3)] = number(random) as u32,
                1 => kernel.block[random.below(3)] = number(random) as u32,
                2 => kernel.shared = number(random) as u32,
                _ if kernel.arguments.is_empty() => kernel.cooperative ^= true,
                _ => {
                    let index = random.below(kernel.arguments.len());
                    match &mut kernel.arguments[index] {
                        FileArgument::Value(bytes) if !bytes.is_empty() => {
                            let at = random.below(bytes.len());
                            bytes[at] ^= 1 << random.below(8);
                        }
                        FileArgument::Value(bytes) => bytes.push(0),
                        FileArgument::Memory {
                            memory,
                            start,
                            bytes,
                            mode,
                            ..
                        } => match random.below(4) {
                            0 => *memory = random.below(memories) as u32,
                            1 => *start = number(random),
                            2 => *bytes = number(random),
                            _ => *mode = [Mode::Read, Mode::Write, Mode::ReadWrite, Mode::Atomic][random.below(4)],
                        },
                    }
                }
            },
            FileWork::Memcpy { from, to } => rows(if random.below(2) == 0 { from } else { to }, random),
            FileWork::Memset { to, value } => match random.below(4) {
                0 => value.truncate(random.below(4)),
                _ => rows(to, random),
            },
            FileWork::Conditional { memory, start, .. } => match random.below(2) {
                0 => *memory = random.below(memories) as u32,
                _ => *start = number(random),
            },
            FileWork::Join | FileWork::Child => node.work = FileWork::Join,
        },
    }
}

#[test]
fn mutated_files_are_refused_or_sound() {
    let number =
        |variable, otherwise| std::env::var(variable).map_or(otherwise, |text| text.parse().expect("a number"));
    let count = number("CUDA_GRAPH_MUTATIONS", 1000);
    let device = Device::emulator();
    let mut random = Random(number("CUDA_GRAPH_MUTATIONS_SEED", 24));
    let all = super::files::original(&device);
    mutated_is_refused_or_sound(&device, &all, count, &mut random);
    mutated_is_refused_or_sound(&device, &super::files::cubins::original(), count / 4, &mut random);
}

fn mutated_is_refused_or_sound(device: &Device, original: &[u8], count: u64, random: &mut Random) {
    let file = GraphFile::decode(original).unwrap();
    assert_sound(&file);
    let (mut accepted, mut refused) = (0, 0);
    for number in 0..count {
        let bytes = if number % 4 == 0 {
            // Bytes, in whatever part they are. Few of these are in the PTX, whose parser has fuzz targets of its own.
            let mut content = GraphFile::content(original).to_vec();
            let ptx = file
                .modules
                .iter()
                .map(|module| module.code.bytes().len())
                .sum::<usize>();
            for _ in 0..=random.below(3) {
                let at = match random.below(50) {
                    0 => random.below(content.len()),
                    _ => (ptx + random.below(content.len() - ptx)).min(content.len() - 1),
                };
                content[at] = random.below(256) as u8;
            }
            if random.below(10) == 0 {
                content.truncate(random.below(content.len()));
            }
            GraphFile::seal(&content)
        } else {
            let mut changed = file.clone();
            for _ in 0..=random.below(2) {
                change(&mut changed, random);
            }
            changed.encode()
        };
        match Loaded::from_bytes(device, "mutated", &bytes) {
            Ok(_) => {
                accepted += 1;
                assert_sound(&GraphFile::decode(&bytes).unwrap());
            }
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().is_empty());
            }
        }
    }
    assert!(
        accepted > count / 50 && refused > count / 10,
        "{accepted} accepted, {refused} refused"
    );
    println!("{accepted} accepted, {refused} refused");
}

/// The contents are what the fuzz targets `file` and `open` begin with: `CUDA_GRAPH_CORPUS` names a folder for them.
#[test]
fn the_content_of_a_file_is_sealed_again_as_the_same_file() {
    let device = Device::emulator();
    let mut builder = GraphBuilder::new(&device, "Copies");
    let data = builder.host::<[[f32; 4]; 4]>("data");
    let mut there = builder.device::<[[f32; 4]; 4]>("there");
    let up = builder.memcpy("up", &data, &mut there);
    let step = builder.child("step", |child| {
        child.memset_2d("column", &mut there.rectangle::<4, 1>(0, 1), 2.0_f32);
    });
    builder.after(step, &[up]);
    let copies = builder.build().unwrap().plan();
    let path = std::env::temp_dir().join(format!("copies-{}.cugraph", std::process::id()));
    copies.save(&path).unwrap();
    let files = [
        ("copies", std::fs::read(&path).unwrap()),
        ("everything", super::files::original(&device)),
        ("opaque", super::files::cubins::original()),
    ];
    std::fs::remove_file(&path).unwrap();
    for (name, bytes) in files {
        let content = GraphFile::content(&bytes);
        assert_eq!(GraphFile::seal(content), bytes, "{name}");
        assert!(
            Loaded::from_bytes(&device, name, &GraphFile::seal(content)).is_ok(),
            "{name}"
        );
        if let Some(folder) = std::env::var_os("CUDA_GRAPH_CORPUS") {
            std::fs::write(std::path::Path::new(&folder).join(name), content).unwrap();
        }
    }
}
