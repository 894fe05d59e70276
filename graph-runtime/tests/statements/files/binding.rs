//! Memory that is bound to the names of a file.

use super::{Saved, everything, open};
use crate::common::*;

/// Typed views of one arena that overlap are one memory to a file too, before and after it is built.
#[test]
fn views_that_overlap_race_where_a_file_writes_them() {
    let device = device();
    let saved = everything(&device, "views");
    let arena = device.alloc_slice::<u8>(1024).unwrap();
    let view = |start: usize, bytes: usize| arena.rows(start..start + bytes).unwrap();
    let weights = view(0, 256).cast::<f32>().unwrap();
    let mut loaded = open(&device, &saved);
    loaded.bind("w", &weights).unwrap();
    loaded.bind("out", &view(252, 128).cast::<u32>().unwrap()).unwrap();
    let race = "which are shared memory that overlaps [race]";
    let refused_at_first = refused(loaded.launch()).to_string();
    has(&refused_at_first, &[race, "note: `sum` reads `w`"]);
    loaded.bind("out", &view(256, 128).cast::<u32>().unwrap()).unwrap();
    loaded.launch().unwrap();
    refused(loaded.bind("out", &view(128, 128).cast::<u32>().unwrap())).says(race);
    loaded.launch().unwrap();
}

/// Where a file orders its nodes, it takes views that overlap, at first and later.
#[test]
fn ordered_nodes_of_a_file_take_views_that_overlap() {
    let device = device();
    let arena = device.alloc_slice::<f32>(64).unwrap();
    let view = |start: usize| arena.rows(start..start + 32).unwrap();
    let mut builder = GraphBuilder::new(&device, "Ordered");
    let (mut a, mut b) = (
        builder.shared("a", &view(0), true),
        builder.shared("b", &view(32), true),
    );
    let set = builder.memset("set", &mut a, 2.0_f32);
    let scale = builder.kernel("scale", Launch::new(1, 32), scale::call(&mut b, 3.0, 32));
    builder.after(scale, &[set]);
    let saved = Saved::of("ordered", &builder.build().unwrap().plan());
    let mut loaded = open(&device, &saved);
    loaded.bind("a", &view(0)).unwrap();
    for (start, ends) in [(16, [2.0, 6.0, 3.0]), (32, [2.0, 2.0, 3.0]), (0, [6.0, 6.0, 1.0])] {
        loaded.bind("b", &view(start)).unwrap();
        arena.copy_from(&[1.0; 64]).unwrap();
        loaded.launch().unwrap();
        let now = arena.read_vec().unwrap();
        assert_eq!([now[0], now[31], now[32]], ends, "{start}");
    }
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
