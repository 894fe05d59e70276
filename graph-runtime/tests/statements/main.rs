//! Statements, declared by `cuda_graph!` or call by call: what they compute, and how a built graph is updated.

#[path = "../common/mod.rs"]
mod common;

mod advice;
mod any_graph;
mod arguments;
mod atomics;
mod auto;
mod buckets;
mod definition;
mod edits;
mod element_types;
mod expression;
mod files;
mod files_mutated;
mod finite;
mod graphed;
mod graphs;
mod groups;
mod host_nodes;
mod host_statements;
mod integers;
mod language;
mod library_statements;
mod mapped;
mod optional;
mod params;
mod places;
mod profile;
mod ranges;
mod stand_ins;
mod update;
