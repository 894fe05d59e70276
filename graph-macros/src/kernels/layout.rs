//! By-value parameters whose types only rustc knows: the sizes and alignments that they must have.

use super::declaration::Declaration;
use super::param::{Kind, Param};
use crate::text::text;
use graph_ptx::declaration::{bytes, whereabouts};
use graph_ptx::{KernelSummary, ParamSummary};

/// A by-value type that only rustc knows, and the size and alignment that it must have.
pub(super) struct Layout {
    pub(super) ty: syn::Type,
    pub(super) size: usize,
    pub(super) align: usize,
    /// The parts of the message before the type's own size, and after its alignment.
    pub(super) before: String,
    pub(super) after: String,
}

impl Layout {
    /// Whether both say the same of one parameter.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        (&self.before, self.size, self.align) == (&other.before, other.size, other.align)
    }
}

/// The layouts that rustc must check; none if the declaration has another number of parameters than the PTX.
pub(super) fn layouts(declaration: &Declaration, summary: &KernelSummary, path: &str) -> Vec<Layout> {
    if declaration.params.len() != summary.params.len() {
        return Vec::new();
    }
    let params = declaration.params.iter().zip(&summary.params);
    params
        .filter_map(|(param, facts)| layout(param, summary, facts, path))
        .collect()
}

fn layout(param: &Param, summary: &KernelSummary, facts: &ParamSummary, path: &str) -> Option<Layout> {
    let Kind::Value(value) = &param.kind else { return None };
    (value.scalar.size() == 0).then(|| Layout {
        ty: value.ty.clone(),
        size: usize::try_from(facts.size).unwrap_or(usize::MAX),
        align: facts.align as usize,
        before: format!("`{}` is `{}`, of ", param.name(), text(&value.ty)),
        after: format!(
            ", but the kernel takes {} aligned to {} [signature]\nnote: {}",
            bytes(facts.size),
            facts.align,
            whereabouts(summary, facts, path)
        ),
    })
}
