//! Graphs that others made, as plans: [`Lifted`].

mod rebuild;
mod read;
mod findings;
mod rust;
mod effect;
mod fatbin;

pub use findings::{Finding, Verdict};

use crate::driver::read_node::ReadNode;
use crate::driver::{CUgraph, EdgeData};
use crate::error::{Result, Site};
use effect::{Kernels, Param};
use findings::Findings;
use graph_plan::{Memory, Mode, NodeKind, Plan, PlanLaunch, Role};
use std::collections::HashMap;
use std::ops::Range;

/// The knowledge about a graph that its maker has, and the driver does not: [`Lifted::from_raw`] takes it.
#[derive(Debug, Default)]
pub struct LiftOptions {
    name: Option<String>,
    memory: Vec<Block>,
    kernels: Kernels,
}

impl LiftOptions {
    /// No knowledge: memory is named by its order, and kernels may do anything.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives the graph a name. Without one it is `Lifted`.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Names an allocation: its first address, and its size in bytes. An address that is in no named allocation is
    /// looked up by the driver, which does not know where an allocator of the program's own divides its memory.
    #[must_use]
    pub fn memory(mut self, name: impl Into<String>, address: u64, bytes: usize) -> Self {
        self.memory
            .push(Block::new(name.into(), address..address.saturating_add(bytes as u64)));
        self
    }

    /// Adds the PTX of kernels: it tells which arguments they read and write through. Kernels are found by the names
    /// of their entries. Of several with one name, any may be the one that is launched, so all count.
    ///
    /// # Errors
    /// [`Error::Module`](crate::Error::Module) if the text is no PTX, with the line.
    pub fn ptx(mut self, text: &str) -> Result<Self> {
        self.kernels.add(text)?;
        Ok(self)
    }

    /// Adds the PTX that `nvcc` has put into a program, a library, an object or a file `.fatbin`, of which these are
    /// the bytes. It counts for kernels whose machine code was compiled of PTX of the same architecture, as the driver
    /// tells: a source may have other code for others.
    ///
    /// # Errors
    /// [`Error::Module`](crate::Error::Module) if there is no PTX in it.
    pub fn fatbin(mut self, bytes: &[u8]) -> Result<Self> {
        if self.kernels.add_binaries(vec![fatbin::File::of_bytes(bytes)]) == 0 {
            return Err(crate::Error::Module {
                site: Site::graph("Lifted"),
                path: "the fat binary that was given for a lift",
                message: "it has no PTX".to_owned(),
            });
        }
        Ok(self)
    }

    /// Adds the PTX in the program and in the libraries that this process has loaded, as [`LiftOptions::fatbin`] does.
    /// It is read when a kernel of its architecture is not known otherwise. On other systems than Linux there is none.
    #[must_use]
    pub fn loaded(mut self) -> Self {
        self.kernels.add_binaries(fatbin::loaded());
        self
    }
}

/// A graph that was captured or built by others (cudarc, PyTorch's `raw_cuda_graph()`, a C++ program), as far as the
/// driver and its makers tell what it does.
///
/// Its plan has the nodes, the edges and the launches. The memory of a node is that of the addresses in its arguments:
/// of kernels whose [PTX](LiftOptions::ptx) is known, those that it accesses; of others, all. A child graph has its
/// nodes in a body.
///
/// ```no_run
/// use graph_runtime::{LiftOptions, Lifted, handles::CUgraph};
///
/// # fn find(graph: CUgraph, weights: u64, ptx: &str) -> graph_runtime::Result<()> {
/// let options = LiftOptions::new().memory("weights", weights, 4 << 20).ptx(ptx)?;
/// // SAFETY: the graph lives, its context is current on this thread, and nothing changes it meanwhile.
/// let lifted = unsafe { Lifted::from_raw(graph, &options) }?;
/// for finding in lifted.findings() {
///     println!("{finding}");
/// }
/// println!("{}", lifted.plan().unneeded_edges());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Lifted {
    plan: Plan,
    nodes: Vec<LiftedNode>,
    memory: Vec<Block>,
    findings: Findings,
}

/// Memory at addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Block {
    name: String,
    addresses: Range<u64>,
    /// Whether it is memory of the host.
    is_host: bool,
}

impl Block {
    fn new(name: String, addresses: Range<u64>) -> Self {
        Self {
            name,
            addresses,
            is_host: false,
        }
    }
}

/// A node as it was read.
#[derive(Clone, Debug)]
struct LiftedNode {
    name: String,
    kind: NodeKind,
    /// The node whose child graph, or body, it is in.
    owner: Option<usize>,
    /// The number of that body among those of the owner.
    body: usize,
    /// The node in the driver's words.
    work: ReadNode,
    launch: Option<PlanLaunch>,
    /// The bytes of a kernel's arguments.
    arguments: Vec<Vec<u8>>,
    touches: Vec<Touch>,
    /// The reason why it may touch more than `touches` says, if it may.
    unknown: Option<&'static str>,
    /// The parameters of a kernel, as far as its PTX tells them.
    params: Vec<Param>,
    /// The variables of its module that a kernel uses by their names.
    variables: Vec<String>,
    /// Whether it waits, before it touches memory, for the end of kernels that let it start early.
    waits: bool,
    /// The nodes that it runs directly after, with the data of these edges.
    after: Vec<(usize, EdgeData)>,
}

impl LiftedNode {
    /// The nodes that have ended when it touches memory: those before it, but not by a programmatic edge if it may not
    /// wait.
    fn order(&self) -> Vec<usize> {
        let orders = |(_, data): &&(usize, EdgeData)| self.waits || !data.is_programmatic();
        self.after.iter().filter(orders).map(|&(from, _)| from).collect()
    }
}

/// An access of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Touch {
    /// The index of the block.
    block: usize,
    mode: Mode,
    /// The bytes of the block that it touches, all of them; `None` if only the block is known.
    bytes: Option<Range<u64>>,
}

impl Lifted {
    /// Reads a graph. It stays as it is, and belongs to its maker.
    ///
    /// # Errors
    /// [`Error::Cuda`](crate::Error::Cuda) if the driver refuses to tell something, or lacks the call.
    ///
    /// # Safety
    /// The graph lives, the context of its kernels is current on this thread, and no other thread changes the graph
    /// during the call.
    pub unsafe fn from_raw(graph: CUgraph, options: &LiftOptions) -> Result<Self> {
        let name = options.name.clone().unwrap_or_else(|| "Lifted".to_owned());
        // SAFETY: by the caller's promise.
        let (nodes, memory) = unsafe { read::graph(graph, &name, options) }?;
        Ok(Self::new(name, nodes, memory))
    }

    fn new(name: String, nodes: Vec<LiftedNode>, memory: Vec<Block>) -> Self {
        let plan = plan(name, &nodes, &memory);
        let findings = Findings::of(&nodes, &memory);
        Self {
            plan,
            nodes,
            memory,
            findings,
        }
    }

    /// The graph as data. A kernel, a copy or a fill that may touch memory which is not known is a `raw` node in it, so
    /// that [`Plan::unneeded_edges`] finds no edge of it.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The pairs of nodes that no edges order, and that touch the same memory, one of them to write it, and are not
    /// proved to touch different bytes of it: those that certainly meet first.
    pub fn findings(&self) -> &[Finding] {
        &self.findings.found
    }

    /// The number of pairs of nodes that no edges order and that are proved to touch no common byte that one of them
    /// writes.
    pub fn pairs_apart(&self) -> usize {
        self.findings.apart
    }

    /// The number of pairs of nodes that edges order only if the [nodes in doubt](Self::nodes_in_doubt) wait. They are
    /// not among the findings.
    pub fn pairs_in_doubt(&self) -> usize {
        self.findings.in_doubt
    }

    /// The kernels that programmatic edges lead to, and that are not known to wait for what is before them before they
    /// touch memory.
    pub fn nodes_in_doubt(&self) -> impl Iterator<Item = &str> {
        let in_doubt = self.nodes.iter().filter(|node| node.order().len() < node.after.len());
        in_doubt.map(|node| &*node.name)
    }

    /// The nodes that may touch memory which is not known, each with the reason. Nothing is proved of them.
    pub fn unknown_nodes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.nodes.iter().filter_map(|node| Some((&*node.name, node.unknown?)))
    }

    /// Gives the graph that this was read from the edges that conflicts need ([`Plan::unneeded_edges`]), and no other
    /// plain ones: instantiated again, it computes the same, with more nodes at the same time. Nodes that may touch
    /// memory which is not known keep their order with all others. Child graphs stay as they are. Returns the number of
    /// edges that it has no longer.
    ///
    /// # Errors
    /// [`Error::Cuda`](crate::Error::Cuda) if the driver refuses it, or is older than CUDA 12.3. Then the graph may
    /// have fewer edges than it needs.
    ///
    /// # Safety
    /// It is the graph that this was read from, it lives, and nobody has changed it since, nor changes it during the
    /// call. What the options of the lift say of memory and kernels is true: named allocations do not overlap, nodes
    /// reach each by addresses in it alone, and the PTX is that of the kernels.
    pub unsafe fn keep_needed_edges(&self, graph: CUgraph) -> Result<usize> {
        let needed = self.needed();
        // SAFETY: by the caller's promise.
        unsafe { read::keep_needed(graph, &self.plan.name, &self.nodes, &needed) }
    }

    /// Makes another graph for the driver, of this plan alone: each node with its function, its arguments and its
    /// attributes, in the order that the edges of the [plan](Self::plan) say. It computes the same as the one that was
    /// read, and is instantiated as that is. The caller destroys it, by `cuGraphDestroy`.
    ///
    /// # Errors
    /// [`Error::Node`](crate::Error::Node), which names the node, if a node cannot be in two graphs: an allocation, a
    /// conditional node, a node of a kind that the driver does not tell about, and a kernel that other kernels change.
    /// [`Error::Cuda`](crate::Error::Cuda) if the driver refuses something, or is older than CUDA 12.3.
    ///
    /// # Safety
    /// The context of the kernels is current on this thread. The functions, events and host functions of the nodes
    /// live as long as the new graph. (The graph that was read may own data of host functions: then it lives, too.) If
    /// the driver does not tell the arguments of a kernel, as [`Lifted::unknown_nodes`] says, they are taken from the
    /// graph that was read: it lives during the call, and nobody has changed it.
    pub unsafe fn build(&self) -> Result<CUgraph> {
        // SAFETY: by the caller's promise.
        unsafe { rebuild::graph(self, None) }
    }

    /// As [`Lifted::build`], with the edges that conflicts need ([`Plan::unneeded_edges`]), also in child graphs, and
    /// no other plain ones.
    ///
    /// # Errors
    /// As [`Lifted::build`].
    ///
    /// # Safety
    /// As for [`Lifted::build`], and what the options of the lift say of memory and kernels is true, as for
    /// [`Lifted::keep_needed_edges`].
    pub unsafe fn build_needed(&self) -> Result<CUgraph> {
        let needed = self.needed();
        // SAFETY: by the caller's promise.
        unsafe { rebuild::graph(self, Some(&needed)) }
    }

    /// The number of nodes of which all accesses are known, down to the memory that they are in: those that are not
    /// among [`Lifted::unknown_nodes`].
    pub fn known_nodes(&self) -> usize {
        self.nodes.iter().filter(|node| node.unknown.is_none()).count()
    }

    /// For each node, those that it has to run directly after. If a programmatic edge may order nothing, since its
    /// kernel is not known to wait, no order can be told that other edges imply: then these are all edges of the plan.
    fn needed(&self) -> Vec<Vec<usize>> {
        if self.nodes.iter().all(|node| node.order().len() == node.after.len()) {
            return self.plan.unneeded_edges().after;
        }
        self.plan.nodes.iter().map(|node| node.after.to_vec()).collect()
    }

    /// The graph as a `cuda_graph!`, as a start, with the declarations of its kernels: of elements and arguments as the
    /// PTX has them. Comments say what is not known: a node of which that is so is a `join` in its place, so that the
    /// text compiles if the PTX that was given is beside it, as `kernels.ptx`. Nodes that may meet get an edge, in the
    /// order of the text. Contents of memory are not in it.
    pub fn to_rust(&self) -> String {
        rust::text(self)
    }
}

/// The plan of nodes that were read. The driver's graph has no cycle, and what it orders is not judged here.
fn plan(name: String, nodes: &[LiftedNode], memory: &[Block]) -> Plan {
    let mut draft = graph_plan::Draft::new(name);
    for block in memory {
        draft.resource(block.name.clone(), Memory::Device);
    }
    let mut bodies: HashMap<(usize, usize), usize> = HashMap::new();
    for node in nodes {
        let body = match node.owner {
            None => 0,
            Some(owner) => *bodies
                .entry((owner, node.body))
                .or_insert_with(|| draft.body(owner, role(nodes[owner].kind, node.body))),
        };
        let kind = match node.kind {
            NodeKind::Kernel | NodeKind::Memcpy | NodeKind::Memset if node.unknown.is_some() => NodeKind::Raw,
            kind => kind,
        };
        let index = draft.node_in(body, node.name.clone(), kind);
        for touch in &node.touches {
            let region = touch.bytes.as_ref().map_or(graph_plan::Region::Whole, |bytes| {
                graph_plan::Region::span(bytes.start, bytes.end)
            });
            draft.access(index, touch.block, region, touch.mode);
        }
    }
    for (to, node) in nodes.iter().enumerate() {
        for &(from, data) in &node.after {
            if data.is_programmatic() {
                draft.programmatic_edge(from, to);
            } else {
                draft.edge(from, to);
            }
        }
    }
    let bytes = |block: usize| (memory[block].addresses.end - memory[block].addresses.start) as usize;
    let launches = nodes
        .iter()
        .enumerate()
        .filter_map(|(index, node)| Some((index, node.launch.clone()?)));
    Plan::of(&draft, &graph_plan::check_errors(&draft), bytes).with_launches(launches)
}

/// The role of a body of a node.
fn role(kind: NodeKind, body: usize) -> Role {
    match (kind, body) {
        (NodeKind::If, 0) => Role::Then,
        (NodeKind::If, _) => Role::Else,
        (NodeKind::While, _) => Role::While,
        (NodeKind::Switch, _) => Role::Case,
        _ => Role::Child,
    }
}

#[cfg(test)]
mod tests;
