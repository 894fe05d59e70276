//! Graphs and blocks of kernels that compile without a message, each file a program of its own, and run.
//!
//! They are modules of one program, since each program would be linked with all of graph-runtime.
#![deny(non_ascii_idents)]
#![allow(missing_docs, unreachable_pub, dead_code)]

pub mod any_order;
pub mod atomics;
pub mod attributes;
pub mod child_bindings;
pub mod conditionals;
pub mod constants;
pub mod cuda_source;
pub mod each;
pub mod empty;
pub mod exits;
pub mod expressions;
pub mod function_values;
pub mod generics;
pub mod host_functions;
pub mod hygiene;
pub mod in_macro_rules;
pub mod inside_a_function;
pub mod integers;
pub mod joins;
pub mod kernels;
pub mod large_ranges;
pub mod launches;
pub mod library_calls;
pub mod loops;
pub mod mapped;
pub mod memsets;
pub mod names_of_lengths;
pub mod node_named_as_its_kernel;
pub mod params;
pub mod params_of_any_type;
pub mod parts;
pub mod programmatic;
pub mod raw_names;
pub mod rectangles;
pub mod rng;
pub mod scratch;
pub mod send_not_sync;
pub mod several_graphs;
pub mod shapes;
pub mod spellings;
pub mod strict_lints;
pub mod structs;
pub mod tables;
pub mod unknown_instruction;
pub mod unsafe_kernels;
pub mod unused_graph;
pub mod using;
pub mod visibility_and_docs;
pub mod visibility_of_statements;
pub mod warnings_allowed;

fn main() -> graph_runtime::Result<()> {
    attributes::main();
    child_bindings::main();
    conditionals::main();
    constants::main()?;
    each::main();
    empty::main();
    expressions::main();
    generics::main();
    hygiene::main();
    in_macro_rules::main();
    inside_a_function::main();
    integers::main();
    kernels::main();
    large_ranges::main();
    launches::main();
    loops::main();
    mapped::main();
    names_of_lengths::main();
    node_named_as_its_kernel::main();
    params::main();
    params_of_any_type::main();
    programmatic::main();
    raw_names::main();
    rectangles::main();
    rng::main();
    scratch::main();
    send_not_sync::main();
    several_graphs::main();
    spellings::main();
    tables::main();
    using::main();
    visibility_and_docs::main();
    visibility_of_statements::main()?;
    Ok(())
}
