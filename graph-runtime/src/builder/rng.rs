//! Random numbers: declaring them, and the built-in nodes that start and advance them.

use super::GraphBuilder;
use crate::graph::rng::kernels::States;
use crate::graph::rng::{self, BuiltRng, Rng};
use crate::kernel::{KernelCall, Launch};
use crate::memory::{Beginning, Philox};
use crate::shape::NO_LENGTHS;
use crate::shape::part::Layout;
use crate::shape::place::{OnDevice, Place};
use graph_plan::{Memory, Mode, Origin, Region, Role};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// A generator that some declared `rng`s draw from.
pub(super) struct DeclaredRng {
    rngs: Vec<Rng>,
    beginning: Beginning,
    /// The memory of a shared generator.
    generator: Option<Place<Philox, OnDevice>>,
}

/// The uses of a generator, body by body.
struct Scopes {
    /// The body at whose end each use advances.
    of_uses: Vec<usize>,
    /// Pairs of a body that can run repeatedly and a node of it that uses states, itself or in its bodies.
    users: BTreeSet<(usize, usize)>,
    /// The bodies at whose end some use advances.
    ends: BTreeSet<usize>,
}

impl GraphBuilder {
    /// Declares an `rng` that begins so.
    pub(super) fn random(&mut self, name: Cow<'static, str>, beginning: Beginning, draws: u64) -> Rng {
        let of_generator = format!("generator of {name}"); // no statement can have this name, since it has spaces
        let align = align_of::<u64>();
        let layout = Layout {
            bytes: 0, // the number of uses is known when the graph is built
            align,
            float: None,
        };
        let place: Place<Philox, OnDevice> = self.resource(name, Memory::Device, layout);
        let resource = place.span.resource;
        self.draft.resources[resource].origin = Origin::Outside;
        let Beginning::Shared(generator) = &beginning else {
            return self.declare_rng(Rng::new(self.id, resource, draws), beginning, None);
        };
        let same =
            |known: &&mut DeclaredRng| matches!(&known.beginning, Beginning::Shared(other) if other.is(generator));
        if let Some(known) = self.memory.rngs.iter_mut().find(same) {
            let rng = known.rngs[0].beside(resource, draws);
            known.rngs.push(rng.clone());
            return rng;
        }
        let memory = self.share(of_generator.into(), generator.memory(), NO_LENGTHS, true);
        self.declare_rng(Rng::new(self.id, resource, draws), beginning, Some(memory))
    }

    fn declare_rng(&mut self, rng: Rng, beginning: Beginning, generator: Option<Place<Philox, OnDevice>>) -> Rng {
        self.memory.rngs.push(DeclaredRng {
            rngs: vec![rng.clone()],
            beginning,
            generator,
        });
        rng
    }

    /// Adds the nodes that start and advance the states of all generators, and returns the generators. All other nodes
    /// have been added.
    pub(super) fn advance_rngs(&mut self) -> Vec<BuiltRng> {
        let declared = std::mem::take(&mut self.memory.rngs);
        declared
            .into_iter()
            .map(|declared| self.advance_rng(declared))
            .collect()
    }

    fn advance_rng(&mut self, declared: DeclaredRng) -> BuiltRng {
        let DeclaredRng {
            rngs,
            beginning,
            generator,
        } = declared;
        let rng = &rngs[0];
        // The user may still have clones of `rng`, even on other threads: `close` refuses further uses.
        let draws = rng.close();
        self.memory.layouts[rng.states] = Some(Layout {
            bytes: rng::bytes(draws.len()),
            align: align_of::<u64>(),
            float: None,
        });
        let mut states = rng.kernels(&draws, generator);
        let scopes = self.uses(rng, draws.len());
        if generator.is_some() && !scopes.users.is_empty() {
            self.start(rng, &mut states, &scopes);
        }
        for &scope in scopes.ends.iter().filter(|&&scope| scope != 0) {
            self.advance(rng, &mut states, scope, &scopes);
        }
        if !scopes.users.is_empty() {
            self.finish(rng, &mut states, &scopes);
        }
        BuiltRng {
            scopes: scopes.of_uses,
            rngs,
            beginning,
            generator,
            draws,
        }
    }

    /// The uses of the generator of `rng`, by the nodes that have been added.
    fn uses(&self, rng: &Rng, uses: usize) -> Scopes {
        let mut scopes = Scopes {
            of_uses: vec![0; uses],
            users: BTreeSet::new(),
            ends: BTreeSet::new(),
        };
        let accesses = self.draft.accesses.iter();
        for access in accesses.filter(|access| access.resource == rng.states) {
            let around = self.scopes(access.node);
            let (innermost, _) = around[0];
            if let Some(of_use) = access.region.start().and_then(rng::use_at)
                && let Some(scope) = scopes.of_uses.get_mut(of_use)
            {
                *scope = innermost;
            }
            scopes.ends.insert(innermost);
            scopes.users.extend(around);
        }
        scopes
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

    /// Adds the node that starts all states, before all nodes that use them.
    fn start(&mut self, rng: &Rng, states: &mut States, scopes: &Scopes) {
        let start = self.add_built_in("start", rng, 0, states.start());
        for user in scopes.users_in(0) {
            self.draft.edge(start, user);
        }
    }

    /// Adds the node that advances the states of one body, after all nodes in the body that use states.
    fn advance(&mut self, rng: &Rng, states: &mut States, scope: usize, scopes: &Scopes) {
        let accesses = self.draft.accesses.len();
        let advance = self.add_built_in("advance", rng, scope, states.advance(scope));
        // The kernel gets all states, and changes those of its scope. In other states it only reads the scope, which
        // nothing writes. So only the former are its accesses.
        self.draft.accesses.truncate(accesses);
        for of_use in (0..states.count).filter(|&of_use| scopes.of_uses[of_use] == scope) {
            let region = Region::span(rng::bytes(of_use) as u64, rng::bytes(of_use + 1) as u64);
            self.draft.access(advance, rng.states, region, Mode::ReadWrite);
        }
        for user in scopes.users_in(scope) {
            self.draft.edge(user, advance);
        }
    }

    /// Adds the node that advances the generator, after all nodes that use states.
    fn finish(&mut self, rng: &Rng, states: &mut States, scopes: &Scopes) {
        let finish = self.add_built_in("advance", rng, 0, states.finish());
        for user in scopes.users_in(0) {
            self.draft.edge(user, finish);
        }
    }

    /// Adds a built-in node to the body `scope`. No statement can have its name, since that has a space.
    fn add_built_in<const N: usize>(
        &mut self,
        what: &str,
        rng: &Rng,
        scope: usize,
        (launch, call): (Launch, KernelCall<N>),
    ) -> usize {
        let name = &self.draft.resources[rng.resource].name;
        let name = match self.draft.bodies[scope].node {
            None => format!("{what} {name}"),
            Some(owner) => format!("{what} {name} in {}", self.draft.nodes[owner].name),
        };
        let around = std::mem::replace(&mut self.position.body, scope);
        let node = self.kernel(name, launch, call).index();
        self.position.body = around;
        node
    }
}

impl Scopes {
    /// The nodes of `body` that use states, themselves or in their bodies.
    fn users_in(&self, body: usize) -> impl Iterator<Item = usize> {
        self.users.range((body, 0)..=(body, usize::MAX)).map(|user| user.1)
    }
}
