//! Arguments that are written `&x` and may be atomic updates of the memory: only the types of kernels and children
//! tell.

use super::Graph;
use crate::graph::ast::ResourceKind;
use graph_plan::{Access, Code, Outcome, Role, Subject, condition_accesses};
use quote::ToTokens;
use std::collections::HashMap;
use syn::Path;
use syn::ext::IdentExt;

/// The accesses of a graph that may be atomic updates although they are written as reads.
#[derive(Debug, Default)]
pub(crate) struct Updates {
    /// The accesses, ascending by index, and the class of each.
    accesses: Vec<(usize, usize)>,
    classes: Vec<Class>,
    numbers: HashMap<(String, String), usize>,
}

/// Accesses of which either all are atomic or none is: those for one parameter of a kernel, or for one memory of a
/// child.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Class {
    /// The first node with such an access.
    pub(crate) node: usize,
    /// The index of the argument of that node, or of the binding.
    pub(crate) argument: usize,
}

impl Updates {
    /// Records the newest access, which `node` makes by this argument. `path` names the kernel or the child, and
    /// `parameter` the parameter or the memory of the child that the argument is for.
    pub(super) fn push(&mut self, access: usize, node: usize, argument: usize, path: &Path, parameter: String) {
        let path = match path.get_ident() {
            Some(name) => name.unraw().to_string(),
            None => path.to_token_stream().to_string(),
        };
        let class = *self.numbers.entry((path, parameter)).or_insert_with(|| {
            self.classes.push(Class { node, argument });
            self.classes.len() - 1
        });
        self.accesses.push((access, class));
    }

    /// The number of an access's class; `None` if the access is certainly as it is written.
    pub(crate) fn of(&self, access: usize) -> Option<usize> {
        let found = self.accesses.binary_search_by_key(&access, |known| known.0).ok()?;
        Some(self.accesses[found].1)
    }

    /// The accesses that have a class.
    pub(crate) fn accesses(&self) -> impl Iterator<Item = usize> + '_ {
        self.accesses.iter().map(|known| known.0)
    }

    /// The class with this number.
    pub(crate) fn class(&self, number: usize) -> Class {
        self.classes[number]
    }
}

impl Graph<'_> {
    /// The accesses in the body of a `while` that may atomically update its condition.
    pub(crate) fn updates_of_condition(&self, node: usize) -> Vec<usize> {
        let bodies = self.draft.bodies.iter().enumerate();
        let bodies = bodies.filter(|(_, body)| body.node == Some(node) && body.role == Role::While);
        let accesses = bodies.flat_map(|(body, _)| condition_accesses(&self.draft, body));
        let enabled = |access: usize| !self.draft.nodes[self.draft.accesses[access].node].disabled;
        accesses
            .filter(|&access| enabled(access) && self.updates.of(access).is_some())
            .collect()
    }

    /// The accesses of nodes that are reported as dead, if they may be atomic updates of memory that other nodes use.
    /// If one is such an update, its node is not dead.
    pub(crate) fn updates_of_dead(&self, outcome: &Outcome) -> Vec<usize> {
        let dead = outcome.warnings.iter().filter(|warning| warning.code == Code::DeadNode);
        let dead: Vec<Subject> = dead.map(|warning| warning.subject).collect();
        let is_dead = |access: &Access| dead.contains(&Subject::Node(access.node));
        let is_used = |resource: usize| {
            let mut accesses = self.draft.accesses.iter().filter(|access| access.resource == resource);
            !self.draft.is_scratch(resource) || accesses.any(|access| access.reads() && !is_dead(access))
        };
        if dead.is_empty() {
            return Vec::new();
        }
        let counts = |access: &Access| is_dead(access) && is_used(access.resource);
        let updates = self.updates.accesses();
        updates.filter(|&access| counts(&self.draft.accesses[access])).collect()
    }

    /// The accesses that may atomically update memory that is shared as `mut`, if the text has no node that writes it.
    /// `None` for all other memory, and if a needless `mut` is allowed.
    pub(crate) fn needless_updates(&self, resource: usize) -> Option<Vec<usize>> {
        let ResourceKind::Shared { mutable: true, .. } = self.resources[resource].kind else {
            return None;
        };
        let accesses = || self.draft.accesses.iter().enumerate();
        let mut of_resource = accesses().filter(|(_, access)| access.resource == resource);
        if of_resource.any(|(_, access)| access.mode.writes()) || self.item.attributes.allow(Code::NeedlessMut) {
            return None;
        }
        let updates = self.updates.accesses();
        Some(
            updates
                .filter(|&access| self.draft.accesses[access].resource == resource)
                .collect(),
        )
    }
}
