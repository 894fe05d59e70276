//! Graphs that no file can have, and files that are refused.

use super::{Everything, Saved, argument, everything, node};
use crate::common::*;
use graph_runtime::private::plan::{FileArgument, FileCode, FileRows, FileWork, GraphFile};
use std::fs;

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
    let text = mistake("text", |file| file.modules[0].code = FileCode::Ptx("nonsense".into()));
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
