//! CUDA C++ as text: its tokens, its macros, and the declarations of a file. This is no parser of C++: it reads as much
//! as it takes to find kernels and functions of the host.

pub(crate) mod items;
pub(crate) mod macros;
pub(crate) mod tokens;
