//! Files as bytes and back.

use super::*;

/// A file with something of every kind.
fn example() -> GraphFile {
    let rows = FileRows {
        memory: 0,
        start: 4,
        bytes: 24,
        width: 8,
        pitch: 16,
    };
    let memory = |name: &'static str, memory, given| FileMemory {
        name: name.into(),
        memory,
        bytes: 64,
        align: 4,
        given,
        symbol: Cow::Borrowed(if memory == Memory::Constant { "table" } else { "" }),
        contents: if memory == Memory::Device && !given {
            vec![9; 64]
        } else {
            Vec::new()
        },
    };
    let node = |name: &'static str, body, after: &[u32], work| FileNode {
        name: name.into(),
        body,
        disabled: name == "set",
        after: after
            .iter()
            .map(|&from| FileEdge {
                from,
                programmatic: from == 0,
            })
            .collect(),
        work,
    };
    let launch = FileKernel {
        module: 0,
        entry: "scale".into(),
        grid: [4, 2, 1],
        block: [32, 1, 1],
        shared: 16,
        cluster: Some([2, 1, 1]),
        cooperative: true,
        priority: Some(-3),
        arguments: vec![
            FileArgument::Memory {
                memory: 1,
                start: 8,
                bytes: 16,
                mode: Mode::ReadWrite,
                unit: 4,
            },
            FileArgument::Value(vec![1, 2, 3, 4]),
        ],
    };
    let kinds = MEMORY
        .iter()
        .map(|&kind| memory(kind.keyword(), kind, kind == Memory::Device))
        .chain([memory("states", Memory::Device, false)]);
    GraphFile {
        name: "Example".into(),
        modules: vec![
            FileModule {
                name: "k.ptx".into(),
                code: FileCode::Ptx(".version 8.0".into()),
            },
            FileModule {
                name: "k.cubin".into(),
                code: FileCode::Cubin(b"\x7fELF\0\xff".into()),
            },
        ],
        memory: kinds.collect(),
        bodies: vec![FileBody {
            role: Role::Then,
            node: 3,
        }],
        nodes: vec![
            node("launch", 0, &[], FileWork::Kernel(Box::new(launch))),
            node("copy", 0, &[0], FileWork::Memcpy { from: rows, to: rows }),
            node(
                "set",
                0,
                &[0, 1],
                FileWork::Memset {
                    to: FileRows::piece(1, 0, 8),
                    value: vec![7; 8],
                },
            ),
            node(
                "maybe",
                0,
                &[],
                FileWork::Conditional {
                    kind: NodeKind::If,
                    memory: 1,
                    start: 0,
                },
            ),
            node("join", 1, &[], FileWork::Join),
            node("child", 0, &[], FileWork::Child),
        ],
    }
}

#[test]
fn a_file_is_read_as_it_was_written() {
    let file = example();
    assert_eq!(GraphFile::decode(&file.encode()), Ok(file));
}

/// Files of this version stay readable, so their bytes stay as they are.
#[test]
fn the_format_stays() {
    let content = example().encode();
    let version = env!("CARGO_PKG_VERSION").len();
    assert_eq!(
        encode::hash(&content[encode::HEADER + 8 + version..]),
        13_895_157_988_330_610_791
    );
}

/// A file of version 2, which a program wrote that had no cubins, is read as it was. It is written as a file of today.
#[test]
fn files_of_version_2_are_read() {
    let bytes = include_bytes!("version2.cugraph");
    let mut expected = example();
    expected.modules.truncate(1);
    let file = GraphFile::decode(bytes).unwrap();
    assert_eq!(file, expected);
    assert_eq!(GraphFile::decode(&file.encode()), Ok(file));
    let content = GraphFile::content(bytes);
    for at in 0..content.len() {
        let mut damaged = bytes.to_vec();
        damaged[encode::HEADER + at] ^= 1;
        assert!(GraphFile::decode(&damaged).is_err(), "{at}");
        // The same bytes are no file of another version.
        let _ = GraphFile::decode(&GraphFile::seal(&content[..at]));
    }
    assert!(GraphFile::decode(&GraphFile::seal(content)).is_err());
}

#[test]
fn code_is_of_a_known_kind() {
    let content = GraphFile::content(&example().encode()).to_vec();
    let name = content.windows(7).position(|bytes| bytes == b"k.cubin").unwrap();
    let mut unknown = content.clone();
    unknown[name + 7] = 2;
    let refused = |content: &[u8]| GraphFile::decode(&GraphFile::seal(content)).unwrap_err().to_string();
    assert_eq!(refused(&unknown), "it has no kind of code 2");
    let mut damaged = content;
    damaged[name + 8] ^= 1;
    assert_eq!(
        refused(&damaged),
        "it is damaged: the hash of `k.cubin` is not that of its code"
    );
}

#[test]
fn damaged_files_are_refused_and_say_why() {
    let bytes = example().encode();
    let refused = |bytes: &[u8]| GraphFile::decode(bytes).unwrap_err().to_string();
    assert_eq!(refused(b"no graph"), "it is no graph file");
    assert_eq!(refused(&[]), "it is no graph file");
    let mut other = bytes.clone();
    other[8] = 9;
    assert_eq!(
        refused(&other),
        "its format has version 9, and this program reads versions 2 and 3"
    );
    for at in encode::HEADER..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        assert_eq!(refused(&damaged), "it is damaged: its hash is not that of its content");
        let cut = GraphFile::seal(&bytes[encode::HEADER..at]);
        assert!(refused(&cut).starts_with("it "), "{at}");
    }
    let longer = [GraphFile::content(&bytes), b"more"].concat();
    assert_eq!(refused(&GraphFile::seal(&longer)), "4 bytes follow its end");
}

#[test]
fn indices_are_within_their_lists() {
    let refused = |change: &dyn Fn(&mut GraphFile)| {
        let mut file = example();
        change(&mut file);
        GraphFile::decode(&file.encode()).unwrap_err().to_string()
    };
    assert_eq!(
        refused(&|file| file.nodes[1].after[0].from = 6),
        "it names node 6, and has 6"
    );
    assert_eq!(refused(&|file| file.nodes[1].body = 2), "it names body 2, and has 2");
    assert_eq!(refused(&|file| file.bodies[0].node = 9), "it names node 9, and has 6");
    assert_eq!(refused(&|file| file.memory.truncate(1)), "it names memory 1, and has 1");
    assert_eq!(refused(&|file| file.modules.clear()), "it names module 0, and has 0");
    assert_eq!(
        refused(&|file| file.memory[0].memory = Memory::Array),
        "it has no kind of memory 255"
    );
}

/// Only device memory of the graph's own begins with bytes, as many as it has.
#[test]
fn contents_have_their_memory() {
    let refused = |change: &dyn Fn(&mut FileMemory)| {
        let mut file = example();
        change(file.memory.last_mut().unwrap());
        GraphFile::decode(&file.encode()).unwrap_err().to_string()
    };
    let wrong = |len| format!("it lets memory `states` begin with {len} bytes, which it cannot");
    assert_eq!(refused(&|memory| memory.given = true), wrong(64));
    assert_eq!(refused(&|memory| memory.memory = Memory::Scratch), wrong(64));
    assert_eq!(refused(&|memory| memory.contents.truncate(63)), wrong(63));
}

/// A length that the file does not have is refused before anything is allocated for it.
#[test]
fn lengths_are_compared_with_the_bytes() {
    let bytes = example().encode();
    let content = GraphFile::content(&bytes);
    for at in 0..content.len().saturating_sub(8) {
        let mut longer = content.to_vec();
        longer[at..at + 8].fill(0xff);
        let _ = GraphFile::decode(&GraphFile::seal(&longer)); // it neither panics nor aborts
    }
}
