//! Everything about PTX text: parsing, summaries of kernels, and what both make of damaged or generated text.

mod cooperative;
mod declarations;
mod handles;
mod headers;
mod host_headers;
mod locals;
mod mutations;
mod origins;
mod parse;
mod predicates;
mod programmatic;
mod proofs;
mod soundness;
mod summaries;
mod surfaces;
mod targets;
mod version;
mod waits;
