//! Reading a graph by the driver's calls.

use super::effect::Effect;
use super::{Block, LiftOptions, LiftedNode, Touch};
use crate::driver::read_node::{Conditional, ReadLaunch, ReadNode};
use crate::driver::{CUgraph, CUgraphNode, EdgeData, graph as calls, reading};
use crate::error::{At, Result, Site};
use graph_plan::{LaunchConfig, Mode, NodeKind, PlanLaunch};
use std::collections::HashMap;
use std::ops::Range;

/// The memory of a graph, found by addresses.
struct Found<'o> {
    options: &'o LiftOptions,
    blocks: Vec<Block>,
    /// The number of nodes with each name.
    names: HashMap<String, usize>,
    /// The graph's name, for errors.
    site: &'o str,
}

impl Found<'_> {
    fn site(&self) -> Site {
        Site::graph(self.site)
    }

    /// A name for a node: the nodes with one kernel, or of one kind, are counted, so that another node among them
    /// leaves the others their names.
    fn numbered(&mut self, name: &str) -> String {
        let count = self.names.entry(name.to_owned()).or_default();
        let name = format!("{name}_{count}");
        *count += 1;
        name
    }

    /// The block that an address is in, and the offset there.
    ///
    /// # Safety
    ///
    /// A context is current.
    unsafe fn find(&mut self, address: u64) -> Option<(usize, u64)> {
        let known = self.blocks.iter().position(|block| block.addresses.contains(&address));
        let block = match known {
            Some(block) => block,
            // SAFETY: by the caller's promise.
            None => match unsafe { reading::allocation(address) } {
                Some((addresses, _)) if addresses.contains(&address) => {
                    let name = format!("memory_{}", self.blocks.len() - self.options.memory.len());
                    self.blocks.push(Block::new(name, addresses));
                    self.blocks.len() - 1
                }
                _ => return None,
            },
        };
        Some((block, address - self.blocks[block].addresses.start))
    }

    /// Notes memory that a node of the graph allocates, unless it is known.
    fn allocate(&mut self, addresses: Range<u64>) {
        if !self
            .blocks
            .iter()
            .any(|block| block.addresses.contains(&addresses.start))
        {
            let name = format!("memory_{}", self.blocks.len() - self.options.memory.len());
            self.blocks.push(Block::new(name, addresses));
        }
    }

    /// The block of a variable of a module. Without an address, only kernels reach it.
    fn variable(&mut self, name: &str, addresses: Option<Range<u64>>) -> usize {
        let addresses = addresses.unwrap_or(0..0);
        let name = format!("variable {name}");
        let is_same = |block: &Block| match addresses.is_empty() {
            true => block.name == name,
            false => block.addresses.contains(&addresses.start),
        };
        let known = self.blocks.iter().position(is_same);
        known.unwrap_or_else(|| {
            self.blocks.push(Block::new(name, addresses));
            self.blocks.len() - 1
        })
    }

    /// The accesses to a range of addresses: one for each block that it is in, as blocks may have been named which are
    /// shorter than their allocations. The reason why they are not known, if the driver knows no such memory.
    ///
    /// # Safety
    ///
    /// A context is current.
    unsafe fn touches(
        &mut self,
        addresses: Option<Range<u64>>,
        is_dense: bool,
        mode: Mode,
    ) -> std::result::Result<Vec<Touch>, &'static str> {
        let Range { mut start, end } = addresses.ok_or("it accesses an array")?;
        let mut touches = Vec::new();
        while start < end || touches.is_empty() {
            // SAFETY: by the caller's promise.
            let found = unsafe { self.find(start) };
            let (block, offset) = found.ok_or("it accesses memory that the driver does not know")?;
            let part_end = self.blocks[block].addresses.end.min(end.max(start));
            let bytes = is_dense.then(|| offset..offset + (part_end - start));
            touches.push(Touch { block, mode, bytes });
            start = part_end;
        }
        Ok(touches)
    }
}

/// Reads a graph and its child graphs: the nodes, each followed by those of its child graph, and the memory.
///
/// # Safety
///
/// As of [`Lifted::from_raw`](super::Lifted::from_raw).
pub(super) unsafe fn graph(graph: CUgraph, name: &str, options: &LiftOptions) -> Result<(Vec<LiftedNode>, Vec<Block>)> {
    let blocks = options.memory.clone();
    let mut found = Found {
        options,
        blocks,
        names: HashMap::new(),
        site: name,
    };
    let mut nodes = Vec::new();
    // SAFETY: by the caller's promise.
    unsafe { append(graph, None, &mut found, &mut nodes) }?;
    for block in &mut found.blocks {
        // SAFETY: by the caller's promise.
        let allocation = unsafe { reading::allocation(block.addresses.start) };
        block.is_host = allocation.is_some_and(|(_, is_host)| is_host);
    }
    Ok((nodes, found.blocks))
}

/// Gives a graph that was read the edges that its nodes need, and no other plain ones. Child graphs stay as they are.
/// Returns the number of edges that it had and does not have any more.
///
/// # Safety
///
/// The nodes were read from this graph, which lives, and nobody has changed it since, nor changes it meanwhile.
pub(super) unsafe fn keep_needed(
    graph: CUgraph,
    name: &str,
    nodes: &[LiftedNode],
    needed: &[Vec<usize>],
) -> Result<usize> {
    let site = || Site::graph(name);
    // SAFETY: by the caller's promise.
    let handles = unsafe { calls::nodes(graph) }.at(site)?;
    let outermost = nodes.iter().enumerate().filter(|(_, node)| node.owner.is_none());
    let handle_of: HashMap<usize, CUgraphNode> = outermost.map(|(index, _)| index).zip(handles).collect();
    let edge = |(from, data): (usize, EdgeData), to: usize| Some((*handle_of.get(&from)?, *handle_of.get(&to)?, data));
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    for (to, (node, needed)) in nodes.iter().zip(needed).enumerate() {
        let is_left = |(from, data): &&(usize, EdgeData)| !data.is_programmatic() && !needed.contains(from);
        let left = node.after.iter().filter(is_left);
        removed.extend(left.filter_map(|&before| edge(before, to)));
        let is_new = |from: &&usize| !node.after.iter().any(|(before, _)| before == *from);
        let new = needed.iter().filter(is_new);
        added.extend(new.filter_map(|&from| edge((from, EdgeData::PLAIN), to)));
    }
    // SAFETY: by the caller's promise.
    unsafe { reading::change_edges(graph, &removed, &added) }.at(site)?;
    Ok(removed.len())
}

/// Appends the nodes of a graph. `owner` is the node that it belongs to, and its number among the bodies of that.
///
/// # Safety
///
/// As of [`Lifted::from_raw`](super::Lifted::from_raw).
unsafe fn append(
    graph: CUgraph,
    owner: Option<(usize, usize)>,
    found: &mut Found<'_>,
    nodes: &mut Vec<LiftedNode>,
) -> Result<()> {
    // SAFETY: by the caller's promise.
    let handles = unsafe { calls::nodes(graph) }.at(|| found.site())?;
    let mut index_of: HashMap<CUgraphNode, usize> = HashMap::new();
    for handle in handles {
        let index = nodes.len();
        index_of.insert(handle, index);
        // SAFETY: the graph has the node.
        let (work, bodies) = unsafe { reading::node(handle) }.at(|| found.site())?;
        let mut node = LiftedNode::new(work, owner);
        node.name = found.numbered(&node.name);
        // SAFETY: by the caller's promise.
        unsafe { node.find_memory(found) };
        nodes.push(node);
        for (body, graph) in bodies.into_iter().enumerate() {
            // SAFETY: the node has the graph.
            unsafe { append(graph, Some((index, body)), found, nodes) }?;
        }
    }
    // SAFETY: by the caller's promise.
    let edges = unsafe { reading::edges(graph) }.at(|| found.site())?;
    for (from, to, data) in edges {
        if let (Some(&from), Some(&to)) = (index_of.get(&from), index_of.get(&to)) {
            nodes[to].after.push((from, data));
        }
    }
    Ok(())
}

impl LiftedNode {
    /// A node of which the memory is not known yet. Others may have the same name.
    fn new(work: ReadNode, owner: Option<(usize, usize)>) -> Self {
        let (kind, word) = match &work {
            ReadNode::Kernel(_) => (NodeKind::Kernel, "kernel"),
            ReadNode::Copy(_) => (NodeKind::Memcpy, "copy"),
            ReadNode::Fill(_) => (NodeKind::Memset, "fill"),
            ReadNode::Host(..) => (NodeKind::Call, "host"),
            ReadNode::Child => (NodeKind::Graph, "graph"),
            ReadNode::Empty => (NodeKind::Join, "join"),
            ReadNode::Wait(_) => (NodeKind::Wait, "wait"),
            ReadNode::Record(_) => (NodeKind::Record, "record"),
            ReadNode::Allocation(_) => (NodeKind::Raw, "alloc"),
            ReadNode::Free(_) => (NodeKind::Raw, "free"),
            ReadNode::Batch(..) => (NodeKind::Raw, "batch"),
            ReadNode::Conditional(Some(Conditional::If)) => (NodeKind::If, "if"),
            ReadNode::Conditional(Some(Conditional::While)) => (NodeKind::While, "while"),
            ReadNode::Conditional(Some(Conditional::Switch)) => (NodeKind::Switch, "switch"),
            ReadNode::Conditional(None) => (NodeKind::Raw, "conditional"),
            ReadNode::Other => (NodeKind::Raw, "raw"),
        };
        let mut node = Self {
            name: word.to_owned(),
            kind,
            owner: owner.map(|(owner, _)| owner),
            body: owner.map_or(0, |(_, body)| body),
            work,
            launch: None,
            arguments: Vec::new(),
            touches: Vec::new(),
            unknown: None,
            params: Vec::new(),
            variables: Vec::new(),
            waits: false,
            after: Vec::new(),
        };
        if let ReadNode::Kernel(launch) = &mut node.work {
            let kernel = launch.name.as_deref().unwrap_or("unknown");
            node.name = plain(kernel).to_owned();
            node.launch = Some(PlanLaunch {
                kernel: plain(kernel).to_owned().into(),
                config: LaunchConfig {
                    grid: launch.grid,
                    block: launch.block,
                    shared: launch.shared,
                },
            });
            node.arguments = launch.arguments.clone().unwrap_or_default();
        }
        node
    }

    /// Finds the memory that it touches.
    ///
    /// # Safety
    ///
    /// A context is current.
    unsafe fn find_memory(&mut self, found: &mut Found<'_>) {
        let work = std::mem::replace(&mut self.work, ReadNode::Empty);
        match &work {
            // SAFETY: by the caller's promise, in all calls below.
            ReadNode::Kernel(launch) => unsafe { self.find_arguments(launch, found) },
            ReadNode::Copy(copy) => {
                for (addresses, mode) in copy.addresses().into_iter().zip([Mode::Read, Mode::Write]) {
                    // SAFETY: as above.
                    self.add(unsafe { found.touches(addresses, copy.is_dense(), mode) });
                }
            }
            ReadNode::Fill(fill) => {
                // SAFETY: as above.
                self.add(unsafe { found.touches(Some(fill.addresses()), fill.is_dense(), Mode::Write) });
            }
            ReadNode::Allocation(addresses) => {
                found.allocate(addresses.clone());
                // SAFETY: as above.
                self.add(unsafe { found.touches(Some(addresses.clone()), true, Mode::Write) });
            }
            ReadNode::Free(address) => {
                // SAFETY: as above.
                self.add(unsafe { found.touches(Some(*address..*address), false, Mode::Write) });
            }
            ReadNode::Child | ReadNode::Empty | ReadNode::Wait(_) | ReadNode::Record(_) => {}
            ReadNode::Conditional(Some(_)) => {}
            ReadNode::Host(..) => self.unknown = Some("a host function may access anything"),
            ReadNode::Batch(..) => self.unknown = Some("operations on words of memory may order it with other work"),
            ReadNode::Conditional(None) => {
                self.unknown = Some("the driver does not tell the bodies of a conditional node (before CUDA 13.2)");
            }
            ReadNode::Other => self.unknown = Some("the driver does not tell what such a node accesses"),
        }
        self.work = work;
    }

    fn add(&mut self, touches: std::result::Result<Vec<Touch>, &'static str>) {
        match touches {
            Ok(touches) => self.touches.extend(touches),
            Err(reason) => self.unknown = Some(reason),
        }
    }

    /// Finds the memory that a kernel touches by its arguments.
    ///
    /// # Safety
    ///
    /// A context is current.
    unsafe fn find_arguments(&mut self, launch: &ReadLaunch, found: &mut Found<'_>) {
        let Some(arguments) = &launch.arguments else {
            self.unknown = Some("the driver does not tell its arguments");
            return;
        };
        let sizes: Vec<usize> = arguments.iter().map(Vec::len).collect();
        let effect = launch
            .name
            .as_deref()
            .and_then(|kernel| found.options.kernels.effect(kernel, &sizes, launch.architecture));
        let effect = effect.unwrap_or_else(|| Effect::unknown(sizes.len()));
        self.unknown = effect.unknown;
        self.waits = effect.waits;
        self.params.clone_from(&effect.params);
        if launch.is_updatable() {
            self.unknown = Some("kernels may change it while the graph runs");
        }
        for (argument, param) in arguments.iter().zip(effect.params) {
            let Some(mode) = param.mode else { continue };
            let mut any = false;
            let mut is_missed = false;
            for word in argument.chunks_exact(8) {
                let address = word.try_into().map_or(0, u64::from_le_bytes);
                // SAFETY: by the caller's promise.
                if let Some((block, _)) = unsafe { found.find(address) } {
                    any = true;
                    self.touches.push(Touch {
                        block,
                        mode,
                        bytes: None,
                    });
                } else {
                    is_missed |= ADDRESSES.contains(&address);
                }
            }
            if self.unknown.is_none() && (is_missed || !any) {
                self.unknown = Some("it accesses memory that the driver does not know");
            }
        }
        for (name, mode) in effect.variables {
            // SAFETY: by the caller's promise; the node holds the kernel.
            let addresses = unsafe { reading::variable(launch, &name) };
            let block = found.variable(&name, addresses);
            self.variables.push(name);
            self.touches.push(Touch {
                block,
                mode,
                bytes: None,
            });
        }
    }
}

/// The words that may be addresses of a program: not the first page, and not those of the operating system.
const ADDRESSES: Range<u64> = 4096..1 << 56;

/// The name of a C++ function, as it was before the compiler wrote its types into it: the last name of
/// `_ZN4math5scaleEPf`.
fn plain(symbol: &str) -> &str {
    let Some(mut rest) = symbol.strip_prefix("_Z") else {
        return symbol;
    };
    let is_nested = rest.starts_with('N');
    rest = rest.trim_start_matches('N');
    let mut name = symbol;
    loop {
        let digits = rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
        let Ok(length) = rest[..digits].parse::<usize>() else {
            return name;
        };
        let Some(found) = rest.get(digits..digits.saturating_add(length)) else {
            return name;
        };
        name = found;
        rest = &rest[digits + length..];
        if !is_nested {
            return name;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn names_of_functions_are_plain() {
        let names = ["scale", "_Z5scalePfi", "_ZN4math5scaleEPf", "_Z", "_Z99x", "_Z3foo"];
        assert_eq!(names.map(plain), ["scale", "scale", "scale", "_Z", "_Z99x", "foo"]);
    }
}
