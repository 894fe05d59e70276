//! Mapped memory: its elements are numbers that the host and a kernel load and store as one.

use crate::graph::ast::Resource;
use crate::graph::resolve::Graph;
use crate::report::{Report, error};
use crate::text::text;
use graph_plan::{Code, Memory};
use syn::Type;

/// The names of Rust's types of numbers and truth values that are no words. (rustc refuses other types.)
const UNFIT: [&str; 10] = [
    "u8", "i8", "u16", "i16", "u128", "i128", "usize", "isize", "bool", "char",
];

/// Reports mapped memory of such elements.
pub(super) fn elements(graph: &Graph<'_>, report: &mut Report) {
    for resource in graph.resources.iter().filter(|resource| is_unfit(resource)) {
        let element = &resource.shape.element;
        let message = format!("host and kernel cannot both access elements `{}`", text(element));
        let mistake = error(Code::WrongMemory, message).note("they are loaded and stored as one, of 4 or 8 bytes");
        report.push_at(element, &mistake.help("use `u32`, `i32`, `u64`, `i64`, `f32` or `f64`"));
    }
}

/// Whether it is mapped memory of such elements.
pub(in crate::graph) fn is_unfit(resource: &Resource) -> bool {
    let Type::Path(path) = &resource.shape.element else {
        return false;
    };
    resource.memory() == Memory::Mapped && UNFIT.iter().any(|name| path.path.is_ident(name))
}
