//! The declarations to paste.

use std::fmt::Write as _;

use super::kernel::Kernel;

/// The width to which a declaration may grow before each parameter gets a line.
const MAX_WIDTH: usize = 100;

/// The block that declares the kernels of the PTX file at `path`.
pub(super) fn text(path: &str, kernels: &[Kernel]) -> String {
    let declared = kernels.iter().filter(|kernel| kernel.is_declarable());
    let types = declared.flat_map(|kernel| kernel.params.iter().filter_map(|param| param.ty.as_deref()));
    let uses = |wrapper: &&str| types.clone().any(|ty| ty.contains(&format!("{wrapper}<")));
    let wrappers: Vec<&str> = ["Atomic", "Layered", "Surfel", "Texel"]
        .into_iter()
        .filter(uses)
        .collect();
    let imports = match wrappers.is_empty() {
        true => "cuda_kernels".to_owned(),
        false => format!("{{{}, cuda_kernels}}", wrappers.join(", ")),
    };
    let mut text = format!("use graph_runtime::{imports};\n\n#[cuda_kernels({path:?})]\nunsafe extern \"C\" {{\n");
    text.push_str(
        "    // Graphs launch these by `unsafe`. A `safe fn` needs none: write it if `#[requires(..)]`s, such as\n    \
         // `#[requires(threads <= data.len())]`, keep the kernel within its memory for all arguments.\n",
    );
    for kernel in kernels {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{}", declaration(kernel));
    }
    text.push('}');
    text
}

/// One kernel: on one line if it fits and leaves nothing to decide.
fn declaration(kernel: &Kernel) -> String {
    let mut text = String::new();
    if !kernel.is_declarable() {
        let odd = kernel.params.iter().find(|param| param.ty.is_none());
        let name = odd.map_or("", |param| param.name.as_str());
        let why = odd.and_then(|param| param.decide.as_deref()).unwrap_or_default();
        return format!(
            "    // `{}` needs a type of yours for `{name}`: {why}\n",
            kernel.summary.name
        );
    }
    if kernel.name.trim_start_matches("r#") != kernel.summary.name {
        let _ = writeln!(text, "    #[link_name = {:?}]", kernel.summary.name);
    }
    let param = |param: &super::kernel::Param| format!("{}: {}", param.name, param.ty.as_deref().unwrap_or_default());
    let params: Vec<String> = kernel.params.iter().map(param).collect();
    let line = format!("    fn {}({});", kernel.name, params.join(", "));
    let decides = kernel.params.iter().any(|param| param.decide.is_some());
    if line.len() <= MAX_WIDTH && !decides {
        let _ = writeln!(text, "{line}");
        return text;
    }
    let _ = writeln!(text, "    fn {}(", kernel.name);
    for (param, shown) in kernel.params.iter().zip(params) {
        let decide = param.decide.as_deref().map(|choice| format!(" // decide: {choice}"));
        let _ = writeln!(text, "        {shown},{}", decide.unwrap_or_default());
    }
    text.push_str("    );\n");
    text
}
