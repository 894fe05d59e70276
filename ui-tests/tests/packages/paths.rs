//! The runtime under other paths: in a crate that renames the dependency, and through a crate that re-exports it.

use crate::package::Package;
use std::path::Path;

/// Kernels, a graph as an item, and a graph as an expression. `FIRST` and `ARGUMENT` give the path of the runtime if it
/// has another than `graph_runtime`, and `RUNTIME` is the path that Rust code has for it.
const PROGRAM: &str = r#"
#[RUNTIME::cuda_kernels("WORKSPACE/ui-tests/kernels/ui.ptx"ARGUMENT)]
unsafe extern "C" {
    /// `data[i] *= factor` for the first `n`
    #[requires(n <= data.len() && N >= 1)]
    pub safe fn scaled(data: &mut [f32], factor: f32, n: u32);
    #[requires(block.x <= 16 && block.y <= 16)]
    pub safe fn tile(data: &mut [[f32; 16]; 16]);
    #[for_each(T = f32 => "scale_f32", f64 => "scale_f64")]
    #[requires(threads <= data.len())]
    pub safe fn scale<T>(data: &mut [T], factor: T);
    pub safe fn noisy(states: &[RUNTIME::Philox], out: &mut [f32]);
}

const N: usize = 1;
const BLOCK: (u32, u32) = (16, 16);

RUNTIME::cuda_graph! {
    FIRST
    /// One of each.
    pub graph Test(n: usize, shared: mut device [f32; 64]) {
        host   input: [f32; n];
        device data:  [f32; n];
        device flag:  u32;
        device cells: [f32; 4];
        device square: [[f32; 16]; 16];
        rng    noise = 1, draws 1;
        param  rate:  f32 = 0.5;

        memcpy upload = input -> data;
        kernel scale  = scaled<<<1, 64>>>(&mut shared, rate, 64);
        kernel times  = scale::<f32><<<1, 64>>>(&mut shared, 2.0) after scale;
        kernel draw   = noisy<<<1, 1>>>(&noise, &mut data) after upload;
        if maybe = flag { memset clear = data <- 0.0; } after draw;
        each i in 0..4 { pub memset cell = cells[i] <- rate; }
        kernel tiled  = tile<<<1, BLOCK>>>(&mut square);
        call look = |&input| assert!(!input.is_empty());
    }

    pub graph Parent {
        host   input: [f32; 64];
        device data:  [f32; 64];
        device flag:  u32;
        device other: [f32; 64];
        device cells: [f32; 4];
        device square: [[f32; 16]; 16];
        graph test = Test(
            n: 64, shared: &mut data, input: &input, data: &mut other, flag: &flag, cells: &mut cells,
            square: &mut square, rate: 2.0,
        );
    }
}

pub fn of_locals(device: &RUNTIME::Device, n: usize) -> RUNTIME::Result<()> {
    let mut graph = RUNTIME::cuda_graph! {
        FIRST
        device =>
        device data: [f32; n];
        param  rate: f32 = 0.5;
        memset set = data <- rate;
        kernel scale = scaled<<<1, 64>>>(&mut data, rate, 4) after set;
    }?;
    graph.set_rate(2.0)?;
    graph.launch()
}
"#;

fn program(runtime: &str, given: Option<&str>) -> String {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("a package of the workspace");
    let first = given.map_or_else(String::new, |path| format!("#![crate = {path}]"));
    let argument = given.map_or_else(String::new, |path| format!(", crate = {path}"));
    let program = PROGRAM.replace("RUNTIME", runtime).replace("FIRST", &first);
    let program = program.replace("ARGUMENT", &argument);
    program.replace("WORKSPACE", &workspace.display().to_string())
}

fn assert_compiles(package: &Package, source: &str) {
    let source = format!("#![deny(warnings, dead_code)]\n{source}");
    let output = package
        .cargo("check", "src/lib.rs", &source)
        .expect("the source can be written")
        .output()
        .expect("cargo runs");
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && messages.is_empty(), "{messages}\n{source}");
}

#[test]
fn a_dependency_may_be_renamed() {
    let dependency = "my-gpu = { package = 'graph-runtime', path = 'WORKSPACE/graph-runtime' }";
    let package = Package::new("renamed", Some(dependency)).expect("a package in the target folder");
    let in_the_root = format!(
        "extern crate my_gpu as graph_runtime;\n{}",
        program("graph_runtime", None)
    );
    let given = format!("pub mod given {{ {} }}\n", program("my_gpu", Some("my_gpu")));
    assert_compiles(&package, &(in_the_root + &given));
}

#[test]
fn a_crate_may_re_export_the_runtime() {
    let facade = Package::new("facade", Some("graph-runtime = { path = 'WORKSPACE/graph-runtime' }"));
    let facade = facade.expect("a package in the target folder");
    let exports = r#"
        pub use graph_runtime;
        pub mod all { pub use graph_runtime::*; }
        #[macro_export]
        macro_rules! ones {
            ($name:ident, $n:literal) => {
                $crate::graph_runtime::cuda_graph! {
                    #![crate = $crate::graph_runtime]
                    pub graph $name { device data: [f32; $n]; memset set = data <- 1.0; }
                }
            };
        }
    "#;
    facade
        .write("src/lib.rs", exports.as_bytes())
        .expect("the source can be written");
    let user = Package::new("user-of-facade", Some("facade = { path = '../facade' }"))
        .expect("a package in the target folder");
    let mut programs = String::from("facade::ones!(Ones, 8);\nmod local { pub use facade::graph_runtime; }\n");
    for (index, (runtime, given)) in [
        ("facade::graph_runtime", "facade::graph_runtime"),
        ("facade::all", "::facade::all"),
        ("crate::local::graph_runtime", "crate::local::graph_runtime"),
        ("super::local::graph_runtime", "super::local::graph_runtime"),
    ]
    .into_iter()
    .enumerate()
    {
        programs += &format!("pub mod m{index} {{ {} }}\n", program(runtime, Some(given)));
    }
    programs += &program("local::graph_runtime", Some("local::graph_runtime"));
    programs += &format!(
        "pub mod inner {{ use crate::local; {} }}\n",
        program("local::graph_runtime", Some("self::local::graph_runtime"))
    );
    assert_compiles(&user, &programs);
}
