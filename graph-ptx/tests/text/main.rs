//! Everything about PTX text: parsing, summaries of kernels, and what both make of damaged or generated text.

mod cooperative;
mod handles;
mod locals;
mod mutations;
mod parse;
mod predicates;
mod programmatic;
mod proofs;
mod soundness;
mod summaries;
mod surfaces;
mod targets;
mod waits;
