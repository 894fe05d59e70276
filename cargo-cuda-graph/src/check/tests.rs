//! The declarations of all kernels in this repository, held against the rules of `#[cuda_kernels]`.

use std::fs;
use std::path::{Path, PathBuf};

use cuda_graph_build::Compiler;
use graph_ptx::Geometry;
use graph_ptx::declaration::{BufferAccess, Declaration, Kind, Param, check};

use super::kernel::{self, Kernel};
use super::{Subject, attribute};

/// The folders with PTX that compilers made. (The other `.ptx` files are broken on purpose.)
const FOLDERS: [&str; 7] = [
    "examples/kernels",
    "graph-emulator/tests/kernels",
    "graph-ptx/tests/data",
    "graph-runtime/kernels",
    "graph-runtime/tests/corpus/kernels",
    "graph-runtime/tests/kernels",
    "ui-tests/kernels",
];

fn ptx_files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let entries = FOLDERS
        .iter()
        .flat_map(|folder| fs::read_dir(root.join(folder)).unwrap());
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|it| it == "ptx"))
        .collect();
    files.sort();
    files
}

/// The words of the source beside a PTX file.
fn words(path: &Path, text: &str) -> Vec<String> {
    Compiler::in_folder("").words(&path.with_extension("cu"), text)
}

/// The size of a Rust type without a name of its own, and its alignment.
fn layout(ty: &str) -> (u64, u64) {
    if let Some(array) = ty.strip_prefix('[') {
        let (element, count) = array.trim_end_matches(']').rsplit_once("; ").unwrap();
        let (size, align) = layout(element);
        return (size * count.parse::<u64>().unwrap(), align);
    }
    let bits: u64 = ty[1..].parse().unwrap();
    (bits / 8, bits / 8)
}

/// The memory of a type of texels, if it is one: `&Layered<[[Texel<f32>; 1]]>`.
fn texels(ty: &str) -> Option<BufferAccess> {
    let (stores, memory) = match ty.strip_prefix("&mut ") {
        Some(memory) => (true, memory),
        None => (false, ty.strip_prefix('&')?),
    };
    let (is_layered, memory) = match memory.strip_prefix("Layered<") {
        Some(layer) => (true, layer),
        None => (false, memory),
    };
    let texel = memory.trim_start_matches('[');
    let geometry = match (memory.len() - texel.len(), is_layered) {
        (1, false) => Geometry::Line,
        (1, true) => Geometry::LayeredLine,
        (2, false) => Geometry::Plane,
        (2, true) => Geometry::LayeredPlane,
        (3, false) => Geometry::Volume,
        _ => return None,
    };
    match texel.split_once('<')?.0 {
        "Texel" => Some(BufferAccess::Texture { geometry }),
        "Surfel" => Some(BufferAccess::Surface { geometry, stores }),
        _ => None,
    }
}

fn kind(ty: &str) -> Kind {
    if let Some(access) = texels(ty) {
        return Kind::Buffer(access);
    }
    if let Some(element) = ty.strip_prefix("&[Atomic<") {
        let size = Some(layout(element.trim_end_matches(">]")).0);
        return Kind::Buffer(BufferAccess::Atomic { size });
    }
    match ty {
        ty if ty.starts_with("&mut [") => Kind::Buffer(BufferAccess::Write),
        ty if ty.starts_with("&[") => Kind::Buffer(BufferAccess::Read),
        ty if ty.starts_with('[') => {
            let (size, align) = layout(ty);
            Kind::Value { size, align }
        }
        ty => Kind::Number {
            size: layout(ty).0,
            float: ty.starts_with('f'),
        },
    }
}

/// The declaration that is printed, as `#[cuda_kernels]` understands it.
fn declaration(kernel: &Kernel) -> Declaration {
    let param = |param: &kernel::Param| {
        let ty = param.ty.clone().unwrap();
        Param {
            name: param.name.clone(),
            kind: kind(&ty),
            ty,
        }
    };
    Declaration {
        name: kernel.name.clone(),
        entry: kernel.summary.name.clone(),
        safe: false,
        params: kernel.params.iter().map(param).collect(),
    }
}

#[test]
fn declarations_of_all_kernels_keep_the_rules() {
    let (mut kernels, mut with_source, mut needing_a_struct) = (0, 0, Vec::new());
    for path in ptx_files() {
        let text = fs::read_to_string(&path).unwrap();
        if graph_ptx::parse(&text).is_err() {
            continue;
        }
        let shown = path.display().to_string();
        let beside = fs::read_to_string(path.with_extension("cu")).ok();
        for source in [None, beside] {
            with_source += usize::from(source.is_some());
            let words = source.map(|text| words(&path, &text));
            let subject = Subject::new(shown.clone(), attribute(&path), words, text.clone()).unwrap();
            for kernel in kernel::all(&subject) {
                if !kernel.is_declarable() {
                    needing_a_struct.push(kernel.name);
                    continue;
                }
                let declaration = declaration(&kernel);
                let findings = check(&declaration, &subject.module, &shown, |_, _| None);
                assert_eq!(findings.mistakes, [], "{shown}: {declaration:#?}");
                kernels += 1;
            }
        }
    }
    // Its tensor map is aligned to 64 bytes, as no type without a name is.
    let expected = ["tensor", "tensor"];
    assert_eq!(needing_a_struct, expected, "without its source, and with it");
    assert!(kernels > 500, "{kernels} kernels, {with_source} sources");
    assert!(with_source > 40, "{kernels} kernels, {with_source} sources");
}

/// The source tells the names of all parameters of the examples, and types that PTX does not have.
#[test]
fn sources_tell_names_and_types() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/kernels/wavefront.ptx");
    let read = |extension: &str| fs::read_to_string(path.with_extension(extension)).unwrap();
    let shown = |source: Option<String>| {
        let words = source.map(|text| words(&path, &text));
        let subject = Subject::new("w.ptx".to_owned(), "w.ptx".to_owned(), words, read("ptx")).unwrap();
        let kernels = kernel::all(&subject);
        super::paste::text("w.ptx", &kernels, &super::proof::of_all(&subject.module, &kernels))
    };
    let known = shown(Some(read("cu")));
    assert!(known.contains("        a: &[u8],\n"), "{known}");
    assert!(!known.contains("decide"), "{known}");
    let unknown = shown(None);
    assert!(unknown.contains("        p3: &[u8], // decide: or `i8`\n"), "{unknown}");
}

/// An instruction that the emulator does not have concerns the kernels that use it, not their neighbours.
#[test]
fn only_kernels_with_unknown_instructions_are_refused() {
    let ptx = include_str!("../../../ui-tests/kernels/future.ptx").to_owned();
    let subject = Subject::new("future.ptx".to_owned(), String::new(), None, ptx).unwrap();
    let refused: Vec<_> = kernel::all(&subject).into_iter().map(|kernel| kernel.refused).collect();
    let reason = "unknown instruction: `frobnicate.global.b32` in `future`, line 28 of the PTX";
    assert_eq!(refused, [None, Some(reason.to_owned())]);
}

/// Instances of a template are one declaration; what a launch needs, and tables that the host sets, are told.
#[test]
fn templates_needs_and_tables_are_told() {
    let scale = |ty: &str, bits: &str| {
        format!(
            ".visible .entry _Z5scaleI{ty}EvPT_S0_(.param .u64 a, .param .{bits} b) {{\n.reg .b64 %rd<3>;\n.reg .{bits} %x<3>;\n\
             ld.param.u64 %rd1, [a];\nld.param.{bits} %x1, [b];\nst.global.{bits} [%rd1], %x1;\nret;\n}}\n"
        )
    };
    let ptx = format!(
        ".version 7.0\n.target sm_70\n.address_size 64\n.extern .shared .align 4 .b8 cells[];\n\
         .visible .const .align 4 .b8 weights[16];\n{}{}\
         .visible .entry sums() {{\n.reg .b32 %r<4>;\nmov.u32 %r1, cells;\nmov.u32 %r3, %envreg2;\n\
         ld.const.u32 %r2, [weights];\nst.shared.u32 [%r1], %r2;\nret;\n}}\n",
        scale("f", "f32"),
        scale("d", "f64")
    );
    let subject = Subject::new("x.ptx".to_owned(), "x.ptx".to_owned(), None, ptx).unwrap();
    let kernels = kernel::all(&subject);
    let proofs = super::proof::of_all(&subject.module, &kernels);
    let pasted = super::paste::text("x.ptx", &kernels, &proofs);
    let declaration = "    #[for_each(T = f32 => \"_Z5scaleIfEvPT_S0_\", f64 => \"_Z5scaleIdEvPT_S0_\")]\n    \
                       #[requires(1 <= p0.len())]\n    safe fn scale<T>(p0: &mut [T], p1: T);\n";
    assert!(pasted.contains(declaration) && !pasted.contains("scale_2"), "{pasted}");
    let report = super::report::text(&subject, &kernels, &proofs, &super::Lines::new(&subject.module));
    for expected in [
        "NEEDS dynamic shared memory: `<<<grid, block, bytes>>>`, NEEDS a cooperative launch",
        "weights  constant  reads; 16 bytes that the host sets, in a graph by `constant weights: shape = \"weights\";`",
    ] {
        assert!(report.contains(expected), "{report}");
    }
}
