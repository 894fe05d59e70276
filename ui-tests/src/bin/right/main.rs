//! Graphs and blocks of kernels that compile without a message, each module a program of its own, and run.
//!
//! They are one program, since each program would be linked with all of graph-runtime.
#![expect(
    clippy::module_inception,
    clippy::multiple_unsafe_ops_per_block,
    clippy::todo,
    clippy::type_complexity,
    clippy::undocumented_unsafe_blocks,
    clippy::unimplemented,
    reason = "these programs show what the macros accept, as users write it"
)]
#![deny(non_ascii_idents)]
#![allow(missing_docs, unreachable_pub, dead_code)]

pub mod memory_and_parts;
pub mod kernels_and_launches;
pub mod control;
pub mod declarations;
pub mod names_and_lints;

fn main() -> graph_runtime::Result<()> {
    memory_and_parts::rectangles::main();
    memory_and_parts::scratch::main();
    memory_and_parts::tables::main();
    memory_and_parts::names_of_lengths::main();
    memory_and_parts::large_ranges::main();
    memory_and_parts::mapped::main();
    memory_and_parts::constants::main()?;
    kernels_and_launches::kernels::main();
    kernels_and_launches::launches::main();
    kernels_and_launches::integers::main();
    kernels_and_launches::node_named_as_its_kernel::main();
    kernels_and_launches::programmatic::main();
    control::conditionals::main();
    control::each::main();
    control::parity::main();
    control::loops::main();
    control::child_bindings::main();
    control::rng::main();
    declarations::attributes::main();
    declarations::empty::main();
    declarations::generics::main();
    declarations::params::main();
    declarations::params_of_any_type::main();
    declarations::several_graphs::main();
    declarations::using::main();
    declarations::inside_a_function::main();
    declarations::expressions::main();
    declarations::in_macro_rules::main();
    declarations::send_not_sync::main();
    names_and_lints::hygiene::main();
    names_and_lints::raw_names::main();
    names_and_lints::spellings::main();
    names_and_lints::visibility_and_docs::main();
    names_and_lints::visibility_of_statements::main()?;
    Ok(())
}
