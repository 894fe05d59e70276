//! Traits that no type has: rustc shows their messages where a program calls an accessor that a graph does not have.

/// The bound of the accessor of scratch memory.
#[diagnostic::on_unimplemented(
    message = "`scratch` memory has no accessor: it holds nothing between launches",
    label = "this is `scratch` memory",
    note = "declare it as `device` to read and write it from the host, or copy it to `host` memory in a node"
)]
pub trait ScratchHasNoAccessor {}

/// The bound of the accessor of a CUDA array.
#[diagnostic::on_unimplemented(
    message = "an `array` has no accessor: the host cannot read CUDA arrays",
    label = "this is an `array`",
    note = "copy it to `host` or `device` memory in a node"
)]
pub trait ArrayHasNoAccessor {}
