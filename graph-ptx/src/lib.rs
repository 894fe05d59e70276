//! PTX text: parsing, kernel signatures, and which parameters a kernel reads and writes.
//!
//! [`parse`] turns text into a syntax tree ([`ast`]). [`summarize`] follows addresses through a kernel and the
//! functions that it calls, and tells which parameters it loads and stores through. [`declaration`] compares that with
//! what an author declared. [`proof`] shows that a kernel stays within its memory. [`predicated`] copies kernels so
//! that they return at once unless words in memory say otherwise. All five take any text: they return errors, they
//! never panic, and their time grows with the text and not with the numbers in it. [`host_headers`] and [`origin`] are
//! for those who have PTX made of CUDA C++.
//!
//! ```
//! let module = graph_ptx::parse(
//!     ".version 7.0
//!      .target sm_70
//!      .address_size 64
//!      .visible .entry copy(.param .u64 from, .param .u64 to, .param .u64 n) {
//!          .reg .b64 %rd<6>;
//!          .reg .b8 %byte;
//!          ld.param.u64 %rd1, [from];
//!          ld.param.u64 %rd2, [to];
//!          ld.param.u64 %rd3, [n];
//!          add.u64 %rd4, %rd1, %rd3;
//!          add.u64 %rd5, %rd2, %rd3;
//!          ld.global.u8 %byte, [%rd4];
//!          st.global.u8 [%rd5], %byte;
//!          ret;
//!      }",
//! )?;
//! // `from` and `to` are pointers, `n` is a number.
//! let copy = graph_ptx::summarize(&module, "copy", &[true, true, false]).unwrap();
//! assert_eq!(copy.params[0].access.loaded, Some(12));
//! assert_eq!(copy.params[1].access.stored, Some(13));
//! assert_eq!(copy.params[2].address, None);
//! assert_eq!(copy.unknown_store, None);
//! # Ok::<(), graph_ptx::ParseError>(())
//! ```
#![forbid(unsafe_code)]

pub mod proof;
pub mod declaration;
mod summary;
mod predicate;
mod header;
mod location;
mod parser;
mod callers;
mod lexer;
mod geometry;
pub mod origin;
pub mod host_headers;
pub mod ast;
mod error;

pub use callers::callers;
pub use error::ParseError;
pub use geometry::{Channel, Geometry};
pub use header::raised_for_programmatic;
pub use location::{Location, location};
pub use parser::parse;
pub use predicate::{GuardForm, TEST_BYTES, can_wait, predicated, predicated_name};
pub use summary::{
    Access, Elements, KernelSummary, ParamSummary, Store, Through, Touched, VariableAccess, Way, infer_pointers,
    kernel_summaries, summarize,
};
