//! Random numbers: declaring them, and the built-in nodes that advance them.

use super::GraphBuilder;
use crate::graph::rng::{self, Generator, Philox, Rng};
use crate::shape::part::Layout;
use crate::shape::place::{OnDevice, Place};
use graph_plan::{Mode, Region, Role, Space};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// A declared `rng`.
pub(super) struct DeclaredRng {
    rng: Rng,
    seed: u64,
    draws: u64,
}

impl GraphBuilder {
    /// Declares random numbers: a Philox generator that begins with `seed`. Each call of [`Rng::draw`] returns the
    /// state for one node. Each thread of the node draws at most `draws` numbers of 32 bits.
    ///
    /// Each node, each launch and each iteration draws fresh numbers, and the same seed reproduces them: built-in
    /// kernels advance the states after all uses, at the end of each launch and of each iteration of a `while`.
    pub fn rng(&mut self, name: impl Into<Cow<'static, str>>, seed: u64, draws: u64) -> Rng {
        let place: Place<Philox, OnDevice> = self.resource(name.into(), Space::Device, 0, align_of::<u64>());
        let rng = Rng::new(self.id, place.span.resource);
        self.memory.rngs.push(DeclaredRng {
            rng: rng.clone(),
            seed,
            draws,
        });
        rng
    }

    /// Adds the nodes that advance the states of all generators, and returns the generators. All other nodes have been
    /// added.
    pub(super) fn advance_rngs(&mut self) -> Vec<Generator> {
        let declared = std::mem::take(&mut self.memory.rngs);
        declared
            .into_iter()
            .map(|declared| self.advance_rng(&declared))
            .collect()
    }

    fn advance_rng(&mut self, declared: &DeclaredRng) -> Generator {
        let DeclaredRng { rng, seed, draws } = declared;
        // The user may still have clones of `rng`, even on other threads: `close` refuses further uses.
        let (resource, uses) = (rng.resource(), rng.close());
        self.memory.layouts[resource] = Some(Layout {
            bytes: rng::bytes(uses),
            align: align_of::<u64>(),
        });
        let accesses = self.draft.accesses.iter().filter(|access| access.resource == resource);
        let mut scopes = vec![0; uses];
        // `users` are pairs of a body that can run repeatedly and a node of it that uses states, itself or in its
        // bodies. `ends` are the bodies at whose end some state advances.
        let (mut users, mut ends) = (BTreeSet::new(), BTreeSet::new());
        for access in accesses {
            let around = self.scopes(access.node);
            let (innermost, _) = around[0];
            if let Some(start) = access.region.start()
                && let Some(scope) = scopes.get_mut(rng::use_at(start))
            {
                *scope = innermost;
            }
            ends.insert(innermost);
            users.extend(around);
        }
        for scope in ends {
            let before: Vec<usize> = users
                .range((scope, 0)..=(scope, usize::MAX))
                .map(|user| user.1)
                .collect();
            self.advance(rng, scope, &scopes, &before);
        }
        Generator {
            rng: rng.clone(),
            seed: *seed,
            draws: *draws,
            scopes,
        }
    }

    /// The bodies around `node` that can run repeatedly, from the innermost to the graph itself. Beside each is the
    /// node of that body which is `node` or contains it. A use advances at the end of the first of these bodies.
    fn scopes(&self, mut node: usize) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        loop {
            let body = self.draft.nodes[node].body;
            let declared = self.draft.bodies[body];
            if matches!(declared.role, Role::While | Role::Graph) {
                found.push((body, node));
            }
            match declared.node {
                Some(owner) => node = owner,
                None => return found,
            }
        }
    }

    /// Adds the node that advances the states of one scope, after all nodes in the scope that use states.
    fn advance(&mut self, rng: &Rng, scope: usize, scopes: &[usize], before: &[usize]) {
        let (launch, call) = rng::advance(rng, scopes.len(), scope);
        let name = &self.draft.resources[rng.resource()].name;
        // No statement can have this name, since it has a space.
        let name = match self.draft.bodies[scope].node {
            None => format!("advance {name}"),
            Some(owner) => format!("advance {name} in {}", self.draft.nodes[owner].name),
        };
        let around = std::mem::replace(&mut self.position.body, scope);
        let accesses = self.draft.accesses.len();
        let advance = self.kernel(name, launch, call).index();
        self.position.body = around;
        // The kernel gets all states, and changes those of its scope. In other states it only reads the scope, which
        // nothing writes. So only the former are its accesses.
        self.draft.accesses.truncate(accesses);
        for of_use in (0..scopes.len()).filter(|&of_use| scopes[of_use] == scope) {
            let region = Region::span(rng::bytes(of_use) as u64, rng::bytes(of_use + 1) as u64);
            self.draft.access(advance, rng.resource(), region, Mode::ReadWrite);
        }
        for &user in before {
            self.draft.edge(user, advance);
        }
    }
}
