//! A checked graph as static data: the constant `PLAN` of a graph, and the subject of the drawings.

use crate::arena::{ArenaSize, aligned};
use crate::file::PlanFile;
use crate::{Draft, LaunchConfig, Memory, Mode, NodeKind, Outcome, Role, Space, Views};
use std::borrow::Cow;

/// A checked graph. Indices are positions in these lists.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Plan {
    /// The graph's name.
    pub name: Cow<'static, str>,
    /// The memory its nodes touch.
    pub resources: Cow<'static, [PlanResource]>,
    /// The nodes, in order of declaration. The nodes of a body come right after the node whose body it is.
    pub nodes: Cow<'static, [PlanNode]>,
    /// The bodies; the first is the graph itself.
    pub bodies: Cow<'static, [PlanBody]>,
    /// The loops; each comes after those around it. The nodes of a loop are in the plan once.
    pub loops: Cow<'static, [PlanLoop]>,
    /// The edges between iterations, as written.
    pub shifts: Cow<'static, [PlanShift]>,
    /// The resources that are views of memory which other resources are views of as well, in ascending order, each with
    /// the resource that stands for all of that memory. Only a built graph knows its memory.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "no_views"))]
    pub views: Cow<'static, [(usize, usize)]>,
    /// The least size of the arena. In static data, child graphs have scratch memory that is no resource of this plan.
    pub least_arena: ArenaSize,
    /// The file that it is saved as.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) file: PlanFile,
}

#[cfg(feature = "serde")]
fn no_views(views: &[(usize, usize)]) -> bool {
    views.is_empty()
}

/// Nodes of a [`Plan`] that belong together: the graph itself, or a body of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PlanBody {
    /// Its role for its node.
    pub role: Role,
    /// The node whose body it is; `None` for the graph itself.
    pub node: Option<usize>,
}

/// A `for` or an `each` of a [`Plan`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PlanLoop {
    /// The name of the variable that counts its iterations.
    pub variable: Cow<'static, str>,
    /// The loop around it, be it in the same body or in one around that.
    pub parent: Option<usize>,
    /// Whether its iterations are not ordered: an `each`.
    pub parallel: bool,
}

/// An edge of a [`Plan`] between two iterations: `to after from(i - 1)`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PlanShift {
    /// The node that runs first.
    pub from: usize,
    /// The node that runs after it.
    pub to: usize,
    /// For each loop around both, from the outermost, the number that is added to the iteration of `to` to get that of
    /// `from`.
    pub steps: Cow<'static, [i64]>,
    /// Whether the edge is programmatic: the kernel of `to` itself waits for `from`.
    pub programmatic: bool,
}

/// A resource of a [`Plan`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PlanResource {
    /// Its name.
    pub name: Cow<'static, str>,
    /// The kind of its memory.
    pub memory: Memory,
    /// Its size in bytes; 0 in static data if the size is known only when the graph is built.
    pub bytes: usize,
    /// The offset of scratch memory in the arena, in bytes.
    pub offset: Option<usize>,
}

/// A node of a [`Plan`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PlanNode {
    /// Its name.
    pub name: Cow<'static, str>,
    /// Its kind.
    pub kind: NodeKind,
    /// The memory it touches.
    pub accesses: Cow<'static, [PlanAccess]>,
    /// The nodes it runs directly after: the transitive reduction of the edges as written. All are of its body.
    pub after: Cow<'static, [usize]>,
    /// The nodes among `after` that its kernel itself waits for, by programmatic edges.
    pub programmatic: Cow<'static, [usize]>,
    /// The nodes among `after` that the author did not write: accesses imply them (`after auto`).
    pub inferred: Cow<'static, [usize]>,
    /// The length in edges of the longest path of its body that ends here. Nodes of one body and level can run at the
    /// same time.
    pub level: usize,
    /// The body it is in, as an index into [`Plan::bodies`].
    pub body: usize,
    /// The innermost loop around it in that body, as an index into [`Plan::loops`].
    pub in_loop: Option<usize>,
    /// The kernel and its launch dimensions, if the node launches one. Static data does not have it.
    pub launch: Option<PlanLaunch>,
}

/// The launch of a kernel node of a [`Plan`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PlanLaunch {
    /// The kernel's name in Rust.
    pub kernel: Cow<'static, str>,
    /// The launch dimensions.
    pub config: LaunchConfig,
}

/// An access of a [`PlanNode`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PlanAccess {
    /// The resource.
    pub resource: usize,
    /// The way in which it is touched.
    pub mode: Mode,
}

impl PlanBody {
    /// The graph itself.
    pub const GRAPH: Self = Self {
        role: Role::Graph,
        node: None,
    };

    /// A body of a node.
    pub const fn new(node: usize, role: Role) -> Self {
        Self { role, node: Some(node) }
    }
}

impl PlanLoop {
    /// A `for`.
    pub const fn new(variable: &'static str, parent: Option<usize>) -> Self {
        Self {
            variable: Cow::Borrowed(variable),
            parent,
            parallel: false,
        }
    }

    /// An `each`.
    pub const fn parallel(variable: &'static str, parent: Option<usize>) -> Self {
        let mut parallel = Self::new(variable, parent);
        parallel.parallel = true;
        parallel
    }
}

impl PlanShift {
    /// An edge between iterations.
    pub const fn new(from: usize, to: usize, steps: &'static [i64]) -> Self {
        Self {
            from,
            to,
            steps: Cow::Borrowed(steps),
            programmatic: false,
        }
    }

    /// A programmatic edge between iterations.
    pub const fn programmatic(from: usize, to: usize, steps: &'static [i64]) -> Self {
        let mut programmatic = Self::new(from, to, steps);
        programmatic.programmatic = true;
        programmatic
    }
}

impl PlanAccess {
    /// An access.
    pub const fn new(resource: usize, mode: Mode) -> Self {
        Self { resource, mode }
    }
}

impl PlanResource {
    /// A resource of `bytes` bytes.
    pub const fn new(name: &'static str, memory: Memory, bytes: usize) -> Self {
        Self {
            name: Cow::Borrowed(name),
            memory,
            bytes,
            offset: None,
        }
    }

    /// Scratch memory of `bytes` bytes that begins at `offset` of the arena.
    pub const fn scratch(name: &'static str, bytes: usize, offset: usize) -> Self {
        let mut scratch = Self::new(name, Memory::Scratch, bytes);
        scratch.offset = Some(offset);
        scratch
    }

    /// The side that it is on.
    pub const fn space(&self) -> Space {
        self.memory.space()
    }
}

impl PlanNode {
    /// A node of static data, of the graph itself.
    pub const fn new(
        name: &'static str,
        kind: NodeKind,
        accesses: &'static [PlanAccess],
        after: &'static [usize],
        level: usize,
    ) -> Self {
        Self {
            name: Cow::Borrowed(name),
            kind,
            accesses: Cow::Borrowed(accesses),
            after: Cow::Borrowed(after),
            programmatic: Cow::Borrowed(&[]),
            inferred: Cow::Borrowed(&[]),
            level,
            body: 0,
            in_loop: None,
            launch: None,
        }
    }

    /// The node, which waits in its own code for the nodes `before`.
    pub const fn waiting_for(mut self, before: &'static [usize]) -> Self {
        std::mem::forget(std::mem::replace(&mut self.programmatic, Cow::Borrowed(before)));
        self
    }

    /// The node, which runs after the nodes `before` since accesses imply it.
    pub const fn inferred_after(mut self, before: &'static [usize]) -> Self {
        std::mem::forget(std::mem::replace(&mut self.inferred, Cow::Borrowed(before)));
        self
    }

    /// The node, in a body.
    pub const fn in_body(mut self, body: usize) -> Self {
        self.body = body;
        self
    }

    /// The node, in a loop.
    pub const fn in_loop(mut self, for_loop: usize) -> Self {
        self.in_loop = Some(for_loop);
        self
    }
}

impl Plan {
    /// A plan of static data, without bodies and loops.
    pub const fn new(name: &'static str, resources: &'static [PlanResource], nodes: &'static [PlanNode]) -> Self {
        Self::nested(name, resources, nodes, &[PlanBody::GRAPH], &[])
    }

    /// A plan of static data with bodies and loops.
    pub const fn nested(
        name: &'static str,
        resources: &'static [PlanResource],
        nodes: &'static [PlanNode],
        bodies: &'static [PlanBody],
        loops: &'static [PlanLoop],
    ) -> Self {
        Self {
            name: Cow::Borrowed(name),
            resources: Cow::Borrowed(resources),
            nodes: Cow::Borrowed(nodes),
            bodies: Cow::Borrowed(bodies),
            loops: Cow::Borrowed(loops),
            shifts: Cow::Borrowed(&[]),
            least_arena: ArenaSize::of(0),
            views: Cow::Borrowed(&[]),
            file: PlanFile::NONE,
        }
    }

    /// The plan, with an arena of at least this size.
    pub const fn with_least_arena(mut self, size: ArenaSize) -> Self {
        self.least_arena = size;
        self
    }

    /// The plan, with edges between iterations.
    pub const fn with_shifts(mut self, shifts: &'static [PlanShift]) -> Self {
        std::mem::forget(std::mem::replace(&mut self.shifts, Cow::Borrowed(shifts)));
        self
    }

    /// The plan of a checked draft; `bytes` gives each resource's size.
    pub fn of(draft: &Draft, outcome: &Outcome, bytes: impl Fn(usize) -> usize) -> Self {
        let mut after = vec![Vec::new(); draft.nodes.len()];
        let mut programmatic = vec![Vec::new(); draft.nodes.len()];
        let mut inferred = vec![Vec::new(); draft.nodes.len()];
        for index in outcome.reduced_indices(draft) {
            let edge = draft.edges[index];
            after[edge.to].push(edge.from);
            if draft.is_programmatic(index) {
                programmatic[edge.to].push(edge.from);
            }
            if draft.is_inferred(index) {
                inferred[edge.to].push(edge.from);
            }
        }
        let mut accesses = vec![Vec::new(); draft.nodes.len()];
        for access in &draft.accesses {
            accesses[access.node].push(PlanAccess::new(access.resource, access.mode));
        }
        let nodes = draft
            .nodes
            .iter()
            .zip(after.into_iter().zip(programmatic).zip(inferred))
            .zip(accesses)
            .enumerate()
            .map(|(index, ((node, ((after, programmatic), inferred)), accesses))| {
                let level = outcome.order.level(index);
                PlanNode {
                    name: node.name.clone(),
                    kind: node.kind,
                    accesses: accesses.into(),
                    after: after.into(),
                    programmatic: programmatic.into(),
                    inferred: inferred.into(),
                    level,
                    body: node.body,
                    in_loop: node.in_loop,
                    launch: None,
                }
            });
        let resources = draft
            .resources
            .iter()
            .enumerate()
            .map(|(index, resource)| PlanResource {
                name: resource.name.clone(),
                memory: resource.memory,
                bytes: bytes(index),
                offset: None,
            });
        let bodies = draft.bodies.iter().map(|body| PlanBody {
            role: body.role,
            node: body.node,
        });
        let loops = draft.loops.iter().map(|for_loop| PlanLoop {
            variable: for_loop.variable.name.clone(),
            parent: for_loop.parent,
            parallel: for_loop.parallel,
        });
        let shifts = draft.shifts.iter().map(|shift| PlanShift {
            from: shift.from,
            to: shift.to,
            steps: shift.steps.clone().into(),
            programmatic: shift.programmatic,
        });
        Self {
            name: draft.name.clone(),
            resources: resources.collect(),
            nodes: nodes.collect(),
            bodies: bodies.collect(),
            loops: loops.collect(),
            shifts: shifts.collect(),
            least_arena: ArenaSize::of(0),
            views: Cow::Borrowed(&[]),
            file: PlanFile::NONE,
        }
    }

    /// The plan, with scratch resources at these offsets of the arena.
    pub fn with_arena(mut self, offsets: impl IntoIterator<Item = (usize, usize)>) -> Self {
        for (resource, offset) in offsets {
            self.resources.to_mut()[resource].offset = Some(offset);
        }
        self
    }

    /// The plan, with the resources that are views of one memory.
    pub fn with_views(mut self, views: &Views) -> Self {
        self.views = views.memory().collect();
        self
    }

    /// The resource that stands for the memory of a resource: it itself, unless that is a view.
    pub(crate) fn memory_of(&self, resource: usize) -> usize {
        let found = self.views.binary_search_by_key(&resource, |&(view, _)| view);
        found.map_or(resource, |index| self.views[index].1)
    }

    /// The plan, with the launches of kernel nodes.
    pub fn with_launches(mut self, launches: impl IntoIterator<Item = (usize, PlanLaunch)>) -> Self {
        for (node, launch) in launches {
            self.nodes.to_mut()[node].launch = Some(launch);
        }
        self
    }

    /// The size of the arena in which all scratch memory lies, in bytes. Buffers that are never live at once may
    /// overlap in it. In static data the scratch memory of a child graph counts as one piece; building looks into the
    /// child, and may find a smaller arena. The size is unknown in static data if a length is a build argument.
    pub fn arena(&self) -> ArenaSize {
        let placed = |resource: &PlanResource| resource.memory != Memory::Scratch || resource.offset.is_some();
        match self.least_arena.bytes() {
            Some(least) if self.resources.iter().all(placed) => {
                let end = |resource: &PlanResource| Some(resource.offset?.saturating_add(aligned(resource.bytes)));
                ArenaSize::of(self.resources.iter().filter_map(end).fold(least, usize::max))
            }
            _ => ArenaSize::UNKNOWN,
        }
    }

    /// The number of levels of the graph itself: the length in nodes of its longest path.
    pub fn levels(&self) -> usize {
        let outermost = self.nodes.iter().filter(|node| node.body == 0);
        outermost.map(|node| node.level + 1).max().unwrap_or(0)
    }

    /// The nodes of a body, by index.
    pub fn members(&self, body: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.nodes.len()).filter(move |&node| self.nodes[node].body == body)
    }

    /// The bodies of a node, by index.
    pub fn bodies_of(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.bodies.len()).filter(move |&body| self.bodies[body].node == Some(node))
    }

    /// The innermost loop around a node, be it in the node's body or in one around that.
    pub fn loop_around(&self, node: usize) -> Option<usize> {
        let owner = |&node: &usize| self.bodies[self.nodes[node].body].node;
        std::iter::successors(Some(node), owner).find_map(|node| self.nodes[node].in_loop)
    }
}
