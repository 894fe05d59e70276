//! Blocks whose kernels are in CUDA sources.

use super::{attributed, firsts, messages, squeezed};
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A folder with these files, for as long as the test runs.
struct Folder(PathBuf);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!(
            "graph-macros-cuda-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let folder = std::env::temp_dir().join(name);
        for (file, text) in files {
            let path = folder.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self(folder)
    }

    fn path(&self, file: &str) -> String {
        self.0.join(file).display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const BLOCK: &str = "unsafe extern \"C\" { safe fn f(out: &mut [f32], pair: Pair, n: u32); }";

#[test]
fn the_file_and_its_headers_are_in_the_program() {
    let folder = Folder::new(&[
        ("k/x.cu", "#include \"a/b.h\"\n#include \"nowhere.h\"\n#include <c.h>\n"),
        ("k/a/b.h", "#include \"../c.h\"\n"),
        ("k/c.h", "#include \"a/b.h\"\n"),
    ]);
    let (source, header, other) = (folder.path("k/x.cu"), folder.path("k/a/b.h"), folder.path("k/a/../c.h"));
    let text = squeezed(&attributed(
        &format!("cuda = {source:?}, options = [\"--use_fast_math\", \"-DN=4\",],"),
        BLOCK,
    ));
    for part in [
        format!("text: ::core::include_str!({source:?})"),
        format!(
            "headers: &[(\"a/b.h\", ::core::include_str!({header:?})), (\"../c.h\", ::core::include_str!({other:?}))]"
        ),
        "options: &[\"--use_fast_math\", \"-DN=4\"]".to_owned(),
        "source: ::graph_runtime::kernel::Source::Cuda(&__CUDA, ::graph_runtime::kernel::Declaration { safe: true, types: &["
            .to_owned(),
        "ParamType { text: \"&mut [f32]\", size: 0, align: 0 }".to_owned(),
        "ParamType { text: \"Pair\", size: { const __NONE: [Pair; 0] = []; __size_of(&__NONE) }".to_owned(),
        "limits: ::graph_runtime::private::plan::KernelLimits { required_block: ::core::option::Option::None"
            .to_owned(),
    ] {
        assert!(text.contains(&part.replace(' ', "")), "no {part} in {text}");
    }
    assert_eq!(messages(attributed(&format!("cuda = {source:?}"), BLOCK)), [""; 0]);
}

#[test]
fn a_header_name_means_one_file() {
    let folder = Folder::new(&[
        ("x.cu", "#include \"a/b.h\"\n#include \"c.h\"\n"),
        ("a/b.h", "#include \"c.h\"\n"),
        ("a/c.h", ""),
        ("c.h", ""),
    ]);
    let source = folder.path("x.cu");
    let expected = ["two headers are both included as `c.h` [ptx-file]"];
    assert_eq!(firsts(attributed(&format!("cuda = {source:?}"), BLOCK)), expected);
}

#[test]
fn a_missing_file_is_one_error_and_the_kernels_are_there() {
    let tokens = attributed("cuda = \"no/such.cu\"", BLOCK);
    assert!(squeezed(&tokens).contains("unsafeimpl::graph_runtime::Kernelforf"));
    assert_eq!(firsts(tokens), ["there is no file `no/such.cu` [ptx-file]"]);
}

#[test]
fn the_runtime_may_have_another_path() {
    for attribute in [
        "cuda = \"no/such.cu\", crate = a::rt",
        "\"no/such.ptx\", crate = a::rt,",
        "crate = a::rt, \"no/such.ptx\"",
    ] {
        let text = squeezed(&attributed(attribute, BLOCK));
        assert!(text.contains("usea::rtas__runtime_of_f;"), "{text}");
        assert!(text.contains("unsafeimpl__runtime_of_f::Kernelforf"), "{text}");
        assert!(!text.contains("graph_runtime::"), "{text}");
    }
}

#[test]
fn a_block_has_one_source() {
    let first = |attribute: &str| firsts(attributed(attribute, BLOCK));
    for (attribute, message) in [
        ("", "expected the path of a PTX file, in quotes"),
        ("42", "expected the path of a PTX file, in quotes"),
        (
            "path = \"x\"",
            "expected `cuda`, `options`, `tuned`, `prove` or `crate`, found `path`",
        ),
        (
            "\"x.ptx\", cuda = \"x.cu\"",
            "a PTX file is the only source of its kernels, and has no options",
        ),
        (
            "cuda = \"x.cu\", \"x.ptx\"",
            "a block of kernels has one source: a PTX file or a CUDA file",
        ),
        ("cuda = \"x.cu\", cuda = \"y.cu\"", "`cuda` is given twice"),
        ("options = []", "`options` are for a CUDA source"),
        ("cuda = x", "expected string literal"),
        ("cuda = \"x.cu\", options = \"-G\"", "expected square brackets"),
        ("cuda = \"x.cu\", options = [fast]", "expected string literal"),
        ("cuda =", "expected string literal"),
        (
            "cuda = \"x.cu\", crate = \"rt\"",
            "expected the path of `graph_runtime`, without quotes",
        ),
        ("cuda = \"x.cu\", crate = a, crate = b", "`crate` is given twice"),
        ("\"x.ptx\", crate = a, crate = b", "`crate` is given twice"),
        (
            "\"x.ptx\", tuned = [\"y.ptx\"], options = []",
            "a PTX file is the only source of its kernels, and has no options",
        ),
        (
            "cuda = \"x.cu\", tuned = []",
            "`tuned` files are for a PTX file, which comes first",
        ),
        ("crate = a, cuda = \"x.cu\", crate = b", "`crate` is given twice"),
        ("crate = a", "expected the path of a PTX file, in quotes"),
    ] {
        assert_eq!(first(attribute), [format!("{message} [syntax]")], "{attribute}");
    }
}
