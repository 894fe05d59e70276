//! A CUDA graph as data, and what can be proved about it.
//!
//! A [`Draft`] is a graph as its author wrote it: resources, nodes, the memory each node touches, and the `after`
//! edges. [`check`] proves it acyclic and race-free and returns every mistake as a [`Diagnostic`] with a stable
//! [`Code`]. The same analysis serves `cuda_graph!` at compile time and `GraphBuilder` at run time; it exists once,
//! here.
//!
//! Nothing in this crate knows of Rust syntax (`graph-macros` does) or of CUDA calls (`graph-runtime` does).
//!
//! ```
//! use graph_plan::{Code, Draft, Memory, Mode, NodeKind, Region};
//!
//! let mut draft = Draft::new("Example");
//! let data = draft.resource("data", Memory::Device);
//! let scale = draft.node("scale", NodeKind::Kernel);
//! let sum = draft.node("sum", NodeKind::Kernel);
//! draft.access(scale, data, Region::Whole, Mode::Write);
//! draft.access(sum, data, Region::Whole, Mode::Read);
//!
//! let outcome = graph_plan::check(&draft);
//! assert_eq!(outcome.errors[0].code, Code::Race);
//!
//! draft.edge(scale, sum);
//! assert!(graph_plan::check(&draft).errors.is_empty());
//! ```
#![forbid(unsafe_code)]

mod diff;
#[cfg(feature = "serde")]
mod json;
mod svg;
mod draw;
mod unneeded;
mod save;
mod plan;
mod file;
mod sharing;
mod arena;
mod check;
mod infer;
mod race;
mod live_accesses;
mod constant;
mod variable_race;
mod parallel;
mod same_on_ranks;
mod programmatic;
mod kernel;
mod contract;
mod launch;
mod target;
mod scope;
mod nest;
mod cycle;
mod order;
mod names;
mod diagnostic;
mod views;
#[cfg(test)]
mod test_draft;
mod draft;
mod node_kind;
mod memory;
mod region;
mod affine;
mod linear;
mod code;
mod lists;
mod text;

pub use affine::{Affine, Variable};
pub use arena::{ARENA_ALIGNMENT, Arena, ArenaSize, is_packing, pack};
pub use check::{
    Outcome, check, check_errors, clash, condition_accesses, condition_writers, forbidden_capture, mixed_reads,
    other_body, siblings, warnings,
};
pub use code::Code;
pub use constant::{Constant, ConstantAccess, ModuleVariable, ModuleVariables, unordered_accesses};
pub use contract::{Argument, Contract, Op, Param, ParamKind, Scalar, Verdict};
pub use cycle::{Cycle, cycles};
pub use diagnostic::{Diagnostic, Subject};
pub use diff::{Changes, PlanDiff};
pub use draft::{Access, Body, Collective, Draft, Edge, Loop, Mode, Node, Origin, Resource, Role, Shift};
pub use file::{
    FileArgument, FileBody, FileCode, FileEdge, FileError, FileKernel, FileMemory, FileModule, FileNode, FileRows,
    FileWork, GraphFile, Unsaved,
};
pub use infer::{Iteration, infer, nothing_to_infer};
pub use kernel::{GridDependency, KernelCode, LaunchRequest, Touched};
pub use launch::{Group, KernelLimits, LaunchConfig, LaunchFault};
pub use lists::Lists;
pub use memory::{Accessors, Memory, Space};
pub use names::{NameClash, clashes, duplicate_names, nearest};
pub use nest::Nest;
pub use node_kind::{Family, NodeKind};
pub use order::Order;
pub use plan::{Plan, PlanAccess, PlanBody, PlanLaunch, PlanLoop, PlanNode, PlanResource, PlanShift};
pub use programmatic::{Exposed, ProgrammaticEdge, SharedParam, Writers};
pub use race::{Race, races};
pub use region::{Bound, Rectangle, Region};
pub use same_on_ranks::deciding_nodes;
pub use save::SaveError;
pub use sharing::Sharing;
pub use svg::PlanMark;
pub use target::{Target, best_target};
pub use text::{Text, same};
pub use unneeded::UnneededEdges;
pub use variable_race::{unordered_launches, variable_race};
pub use views::{View, Views};
