//! Handles to the nodes of a built graph.

use crate::error::{Error, Result, Site};
use crate::graph::Graph;
use crate::graph::change::batch::ChosenLaunch;
use crate::graph::change::update::{Update, update};
use crate::graph::node::NodeId;
use crate::kernel::Dimensions;
use crate::program::KernelOp;

/// A node of a [`Graph`], which it borrows: [`Graph::node`] returns it, and so do the methods of declared graphs that
/// are named like their nodes.
#[derive(Debug)]
pub struct NodeHandle<'g> {
    pub(crate) graph: &'g mut Graph,
    pub(crate) node: NodeId,
    /// If the graph has no such iteration, the node that was asked for.
    pub(super) missing: Option<Missing>,
}

/// A node of an iteration that does not exist.
#[derive(Clone, Debug)]
pub(super) struct Missing {
    /// The node of the child to whose declarations it belongs; `None` for the graph itself.
    child: Option<usize>,
    declared: usize,
    /// The name that it would have: `scale[3]`.
    name: Box<str>,
    /// The number of the iteration of the innermost `for`.
    iteration: usize,
}

impl Missing {
    fn new(child: Option<usize>, declared: usize, name: &str, values: &[usize]) -> Self {
        let numbers: String = values.iter().map(|value| format!("[{value}]")).collect();
        Self {
            child,
            declared,
            name: format!("{name}{numbers}").into(),
            iteration: values.last().copied().unwrap_or_default(),
        }
    }
}

impl<'g> NodeHandle<'g> {
    /// The handle of the node of a declaration, of the graph itself or of a child by its node, in the iterations of
    /// these numbers.
    pub(crate) fn declared(
        graph: &'g mut Graph,
        child: Option<usize>,
        (declared, name): (usize, &str),
        values: &[usize],
    ) -> Self {
        let found = graph.data.declared_nodes.find(child, declared, values);
        let missing = found.is_none().then(|| {
            let prefix = child.map_or(String::new(), |child| {
                format!("{}.", graph.data.draft.nodes[child].name)
            });
            Missing::new(child, declared, &format!("{prefix}{name}"), values)
        });
        let node = NodeId::new(found.unwrap_or(usize::MAX));
        Self { graph, node, missing }
    }
}

impl NodeHandle<'_> {
    /// The handle of a node of the child that this node is. If there is no such child, it has the errors of this
    /// handle.
    pub(crate) fn inner(&mut self, declared: usize, name: &str, values: &[usize]) -> NodeHandle<'_> {
        match self.check() {
            Ok(child) => NodeHandle::declared(self.graph, Some(child), (declared, name), values),
            Err(_) => NodeHandle {
                graph: self.graph,
                node: self.node,
                missing: self.missing.clone(),
            },
        }
    }

    /// The node's name; empty if the graph has no such node.
    pub fn name(&self) -> &str {
        let node = self.graph.check_node(self.node);
        node.map_or("", |node| &self.graph.data.draft.nodes[node].name)
    }

    /// Whether the node runs in later launches. It does unless it was built [disabled](crate::GraphBuilder::disable);
    /// [`NodeHandle::set_enabled`] changes that. False if the graph has no such node.
    pub fn is_enabled(&self) -> bool {
        let node = self.graph.check_node(self.node);
        node.is_ok_and(|node| self.graph.data.program.enabled[node])
    }

    /// Makes later launches run this node, or skip it; its edges stay. Launches in flight do not change. A skipped node
    /// costs next to nothing; a skipped memset costs as much as a tiny one, since CUDA's own way to skip it loses the
    /// order of nodes (seen with driver 580).
    ///
    /// # Errors
    /// * [`Error::Unsupported`] for nodes other than kernels, copies and memsets (CUDA's rule); if it is the last
    ///   enabled node that writes the condition of a `while` around it, which would never end; and if a node would then
    ///   read scratch memory that no node has written;
    /// * [`Error::UnknownNode`] if the graph has no such node, [`Error::ForeignNode`] if it is another graph's;
    /// * [`Error::Cuda`] if the driver refuses.
    ///
    /// In [an edit](Graph::edit), the state after all its changes counts, and the edit returns the error.
    pub fn set_enabled(&mut self, enabled: bool) -> Result<()> {
        self.update("enabled nodes", |update, node| update.enable(node, enabled))
    }

    /// Makes later launches run this kernel node with `grid` blocks of `block` threads each. Both are an integer, or a
    /// tuple of up to three: x, y and z. Its dynamic shared memory stays. Launches in flight do not change.
    ///
    /// The limits of CUDA, of the kernel and of the device, and the kernel's contracts, are checked again, with the
    /// arguments that the node has then. The node may be in a body, and in an iteration of a loop.
    ///
    /// Dimensions of a declaration may mention params. A param that gives them other values than before takes the place
    /// of what was chosen here: the later one of both counts. Other params leave it as it is. (In [an
    /// edit](Graph::edit), dimensions that are chosen count, whatever the order of the calls.)
    ///
    /// # Errors
    /// * [`Error::Invalid`] if the launch breaks a limit (`launch-config`) or a contract (`contract`) of the kernel;
    /// * [`Error::Kernel`] if the device does not allow the launch;
    /// * [`Error::Unsupported`] if the node launches no kernel, or one that is not declared `safe`: its author has
    ///   promised nothing about other dimensions, but may make them a `param`;
    /// * [`Error::UnknownNode`] if the graph has no such node, [`Error::ForeignNode`] if it is another graph's;
    /// * [`Error::Cuda`] if the driver refuses.
    ///
    /// After an error, the graph is unchanged. In an edit, dimensions are checked when that ends, and it returns the
    /// error.
    pub fn set_launch(&mut self, grid: impl Dimensions, block: impl Dimensions) -> Result<()> {
        self.choose(Some(grid.dimensions()), Some(block.dimensions()), None)
    }

    /// Makes later launches run this kernel node with `grid` blocks: see [`NodeHandle::set_launch`].
    ///
    /// # Errors
    /// As [`NodeHandle::set_launch`].
    pub fn set_grid(&mut self, grid: impl Dimensions) -> Result<()> {
        self.choose(Some(grid.dimensions()), None, None)
    }

    /// Makes later launches run this kernel node with blocks of `block` threads: see [`NodeHandle::set_launch`].
    ///
    /// # Errors
    /// As [`NodeHandle::set_launch`].
    pub fn set_block(&mut self, block: impl Dimensions) -> Result<()> {
        self.choose(None, Some(block.dimensions()), None)
    }

    /// Makes later launches give each block of this kernel node `bytes` bytes of dynamic shared memory: see
    /// [`NodeHandle::set_launch`].
    ///
    /// # Errors
    /// As [`NodeHandle::set_launch`].
    pub fn set_shared(&mut self, bytes: impl Dimensions) -> Result<()> {
        self.choose(None, None, Some(bytes.dimensions()[0]))
    }

    /// The number of blocks with which later launches run this kernel node, in x, y and z; `None` for nodes of other
    /// kinds, and if the graph has no such node.
    pub fn grid(&self) -> Option<[u32; 3]> {
        self.kernel().map(|kernel| kernel.config.grid)
    }

    /// The number of threads of each of those blocks, in x, y and z.
    pub fn block(&self) -> Option<[u32; 3]> {
        self.kernel().map(|kernel| kernel.config.block)
    }

    /// The dynamic shared memory of each of those blocks, in bytes.
    pub fn shared(&self) -> Option<u32> {
        self.kernel().map(|kernel| kernel.config.shared)
    }

    fn kernel(&self) -> Option<&KernelOp> {
        self.graph.data.program.ops[self.check().ok()?].kernel()
    }

    /// Chooses the dimensions that are given.
    fn choose(&mut self, grid: Option<[i128; 3]>, block: Option<[i128; 3]>, shared: Option<i128>) -> Result<()> {
        let chosen = ChosenLaunch { grid, block, shared };
        self.update("launch dimensions", |update, node| update.choose(node, chosen))
    }

    /// Changes the node, if the graph has it.
    fn update(&mut self, what: &'static str, f: impl FnOnce(&mut Update<'_>, usize) -> Result<()>) -> Result<()> {
        match self.check() {
            Ok(node) => update(self.graph, what, |update| f(update, node)),
            Err(error) => self.graph.refuse(error),
        }
    }

    /// The index of the node, if the graph has it.
    fn check(&self) -> Result<usize> {
        let Some(missing) = &self.missing else {
            return self.graph.check_node(self.node);
        };
        let declared = self.graph.data.declared_nodes.of(missing.child);
        Err(Error::UnknownNode {
            site: Site::graph(&self.graph.data.draft.name).at_node(&missing.name),
            index: missing.iteration,
            nodes: declared.map_or(0, |declared| declared.each(missing.declared).count()),
        })
    }
}
