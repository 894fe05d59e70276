//! Shared memory that overlaps, where a graph was built for memory that is apart.

use super::{Op, Program, Structure};
use crate::error::mistakes;
use graph_plan::{Diagnostic, Draft, Views};

/// The mistakes of views that overlap, of which the graph writes some, in two places for which only accesses to the
/// view itself are looked at: conditions, of which predicated kernels have copies, and kernels that start early.
pub(crate) fn mistakes(draft: &Draft, program: &Program, views: &Views) -> Vec<Diagnostic> {
    if views.is_empty() {
        return Vec::new();
    }
    let conditions = program.others().filter_map(|(node, op)| match op {
        Op::Structure(Structure::Conditional(conditional)) => {
            let resource = conditional.condition().resource as usize;
            views
                .has(resource)
                .then(|| mistakes::view_of_condition(draft, node, resource))
        }
        Op::Work(_) | Op::Structure(Structure::Child(_)) | Op::External(_) => None,
    });
    let early = draft.programmatic.iter().filter_map(|&index| {
        let edge = draft.edges[index];
        let mut accesses = draft.accesses.iter();
        let access = accesses.find(|access| access.node == edge.to && views.has(access.resource))?;
        Some(mistakes::view_of_early_kernel(draft, edge, access.resource))
    });
    conditions.chain(early).collect()
}
