//! The scopes that a node runs in: bodies and `for`s.

use crate::{Draft, Role};

/// The bodies and `for`s of a draft as one tree. A scope is the index of a body, or that of a `for` after all bodies.
pub(crate) struct Scopes {
    /// For each scope, the scope directly around it.
    parents: Vec<Option<usize>>,
    kinds: Vec<Kind>,
    /// Whether each scope is an `each`.
    parallel: Vec<bool>,
    /// The innermost scope of each node.
    of_nodes: Vec<usize>,
    /// The nodes whose writes nothing relies on.
    uncertain: Vec<bool>,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Runs once whenever the scope around it runs.
    Once,
    /// It need not run.
    Conditional,
    /// It may run several times, or not at all.
    Repeated,
}

impl Scopes {
    pub(crate) fn new(draft: &Draft) -> Self {
        let bodies = draft.bodies.len();
        let of_node = |node: usize| {
            let node = &draft.nodes[node];
            node.in_loop.map_or(node.body, |for_loop| bodies + for_loop)
        };
        let homes = homes(draft);
        let of_bodies = draft.bodies.iter().map(|body| {
            let kind = match body.role {
                Role::Graph | Role::Child => Kind::Once,
                Role::Then | Role::Else | Role::Case => Kind::Conditional,
                Role::While => Kind::Repeated,
            };
            (body.node.map(of_node), kind)
        });
        let of_loops = draft.loops.iter().zip(&homes).map(|(for_loop, &home)| {
            let around = for_loop.parent.filter(|&parent| homes[parent] == home);
            (Some(around.map_or(home, |parent| bodies + parent)), Kind::Repeated)
        });
        let (parents, kinds) = of_bodies.chain(of_loops).unzip();
        Self {
            parents,
            kinds,
            parallel: std::iter::repeat_n(false, bodies)
                .chain(draft.loops.iter().map(|for_loop| for_loop.parallel))
                .collect(),
            of_nodes: (0..draft.nodes.len()).map(of_node).collect(),
            uncertain: draft.nodes.iter().map(|node| !node.is_certain()).collect(),
        }
    }

    /// The innermost scope of a node.
    pub(crate) fn of(&self, node: usize) -> usize {
        self.of_nodes[node]
    }

    /// The scopes around a node, from the innermost to the graph itself.
    fn around(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(self.of_nodes[node]), |&scope| self.parents[scope])
    }

    /// The repetitions around a node, from the innermost.
    pub(crate) fn repetitions(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        self.around(node).filter(|&scope| self.kinds[scope] == Kind::Repeated)
    }

    /// Whether the scope is an `each`, whose iterations are not ordered.
    pub(crate) fn is_parallel(&self, scope: usize) -> bool {
        self.parallel[scope]
    }

    /// Whether the node is in this scope, however deep.
    pub(crate) fn contains(&self, scope: usize, node: usize) -> bool {
        self.around(node).any(|around| around == scope)
    }

    /// The innermost scope around both the node and all that is in `scope`.
    pub(crate) fn common(&self, scope: usize, node: usize) -> usize {
        self.around(node).find(|&outer| self.holds(outer, scope)).unwrap_or(0)
    }

    /// Whether a node that comes before `scope` certainly runs each time that something in `scope` is reached.
    pub(crate) fn always_before(&self, node: usize, scope: usize) -> bool {
        let mut around = self.around(node);
        let decides = around.find(|&scope| self.kinds[scope] != Kind::Once);
        !self.uncertain[node] && decides.is_none_or(|decides| self.holds(decides, scope))
    }

    /// Whether the second scope is the first, or in it.
    fn holds(&self, outer: usize, inner: usize) -> bool {
        std::iter::successors(Some(inner), |&scope| self.parents[scope]).any(|scope| scope == outer)
    }
}

/// For each `for`, the body that its nodes are in; they may all be in `for`s inside it.
fn homes(draft: &Draft) -> Vec<usize> {
    let mut homes = vec![None; draft.loops.len()];
    for node in &draft.nodes {
        if let Some(for_loop) = node.in_loop {
            homes[for_loop] = Some(node.body);
        }
    }
    for inner in (0..homes.len()).rev() {
        if let (Some(parent), Some(home)) = (draft.loops[inner].parent, homes[inner]) {
            homes[parent].get_or_insert(home);
        }
    }
    homes.into_iter().map(Option::unwrap_or_default).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_draft::draft_of;

    #[test]
    fn what_runs_with_what() {
        let draft = draft_of(
            "kernel plain; if choice { kernel inside; graph child { kernel deep; } } for i { for j { kernel repeated; } }",
        );
        let [plain, choice, inside, _, deep, for_loop] = [0, 1, 2, 3, 4, 5];
        let then = 1;
        let scopes = Scopes::new(&draft);
        let always = |first: usize, second: usize| scopes.always_before(first, scopes.of(second));
        assert!(always(plain, deep) && always(inside, deep));
        assert!(always(deep, inside), "a child graph runs with the nodes around it");
        assert!(!always(deep, plain) && !always(inside, choice));
        assert!(always(plain, for_loop) && !always(for_loop, plain));
        assert_eq!(scopes.common(scopes.of(deep), inside), then);
        assert_eq!(scopes.common(scopes.of(deep), for_loop), 0);
        let loops = draft.bodies.len()..draft.bodies.len() + 2;
        let expected = loops.rev().collect::<Vec<_>>();
        assert_eq!(scopes.repetitions(for_loop).collect::<Vec<_>>(), expected);
        assert_eq!(scopes.repetitions(deep).count(), 0);
        assert!(scopes.contains(then, deep) && !scopes.contains(then, plain));
    }
}
