//! Reading a graph by the driver's calls.

use super::effect::Effect;
use super::{Block, LiftOptions, LiftedNode, Touch};
use crate::driver::{CUgraph, CUgraphNode, graph as calls, reading};
use crate::error::{At, Result, Site};
use graph_plan::{LaunchConfig, Mode, NodeKind, PlanLaunch};
use std::collections::HashMap;
use std::ops::Range;

/// The memory of a graph, found by addresses.
struct Found<'o> {
    options: &'o LiftOptions,
    blocks: Vec<Block>,
    /// The graph's name, for errors.
    site: &'o str,
}

impl Found<'_> {
    fn site(&self) -> Site {
        Site::graph(self.site)
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
                Some(addresses) if addresses.contains(&address) => {
                    let name = format!("memory_{}", self.blocks.len() - self.options.memory.len());
                    self.blocks.push(Block::new(name, addresses));
                    self.blocks.len() - 1
                }
                _ => return None,
            },
        };
        Some((block, address - self.blocks[block].addresses.start))
    }

    /// The block of a variable of a module, of which the address is not known.
    fn variable(&mut self, name: &str) -> usize {
        let name = format!("variable {name}");
        let known = self.blocks.iter().position(|block| block.name == name);
        known.unwrap_or_else(|| {
            self.blocks.push(Block::new(name, 0..0));
            self.blocks.len() - 1
        })
    }

    /// The access to a range of addresses. The reason why it is not known, if the driver knows no such memory.
    ///
    /// # Safety
    ///
    /// A context is current.
    unsafe fn touch(
        &mut self,
        addresses: Option<Range<u64>>,
        is_dense: bool,
        mode: Mode,
    ) -> std::result::Result<Touch, &'static str> {
        let addresses = addresses.ok_or("it accesses an array")?;
        // SAFETY: by the caller's promise.
        let (block, start) =
            unsafe { self.find(addresses.start) }.ok_or("it accesses memory that the driver does not know")?;
        let bytes = start..start + (addresses.end - addresses.start);
        let bytes = is_dense.then_some(bytes);
        Ok(Touch { block, mode, bytes })
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
        site: name,
    };
    let mut nodes = Vec::new();
    // SAFETY: by the caller's promise.
    unsafe { append(graph, None, &mut found, &mut nodes) }?;
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
    let ends = |from: usize, to: usize| Some((*handle_of.get(&from)?, *handle_of.get(&to)?));
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    for (to, (node, needed)) in nodes.iter().zip(needed).enumerate() {
        let is_left = |(from, is_programmatic): &&(usize, bool)| !is_programmatic && !needed.contains(from);
        removed.extend(
            node.after
                .iter()
                .filter(is_left)
                .filter_map(|&(from, _)| ends(from, to)),
        );
        let is_new = |from: &&usize| !node.after.iter().any(|(before, _)| before == *from);
        added.extend(needed.iter().filter(is_new).filter_map(|&from| ends(from, to)));
    }
    // SAFETY: by the caller's promise.
    unsafe { reading::change_edges(graph, &removed, &added) }.at(site)?;
    Ok(removed.len())
}

/// Appends the nodes of a graph.
///
/// # Safety
///
/// As of [`Lifted::from_raw`](super::Lifted::from_raw).
unsafe fn append(
    graph: CUgraph,
    owner: Option<usize>,
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
        let (node, child) = unsafe { node(handle, index, owner, found) }?;
        nodes.push(node);
        if let Some(child) = child {
            // SAFETY: the node has the graph.
            unsafe { append(child, Some(index), found, nodes) }?;
        }
    }
    // SAFETY: by the caller's promise.
    let edges = unsafe { reading::edges(graph) }.at(|| found.site())?;
    for (from, to, is_programmatic) in edges {
        if let (Some(&from), Some(&to)) = (index_of.get(&from), index_of.get(&to)) {
            nodes[to].after.push((from, is_programmatic));
        }
    }
    Ok(())
}

/// Reads a node, and the child graph that it runs.
///
/// # Safety
///
/// As of [`Lifted::from_raw`](super::Lifted::from_raw).
unsafe fn node(
    handle: CUgraphNode,
    index: usize,
    owner: Option<usize>,
    found: &mut Found<'_>,
) -> Result<(LiftedNode, Option<CUgraph>)> {
    // SAFETY: by the caller's promise.
    let number = unsafe { calls::node_type(handle) }.at(|| found.site())?;
    // The numbers of `CUgraphNodeType`.
    let (kind, word) = match number {
        0 => (NodeKind::Kernel, "kernel"),
        1 => (NodeKind::Memcpy, "copy"),
        2 => (NodeKind::Memset, "fill"),
        3 => (NodeKind::Call, "host"),
        4 => (NodeKind::Graph, "graph"),
        5 => (NodeKind::Join, "join"),
        6 => (NodeKind::Wait, "wait"),
        7 => (NodeKind::Record, "record"),
        10 => (NodeKind::Raw, "alloc"),
        11 => (NodeKind::Raw, "free"),
        13 => (NodeKind::Raw, "conditional"),
        _ => (NodeKind::Raw, "raw"),
    };
    let mut node = LiftedNode {
        name: format!("{word}_{index}"),
        kind,
        owner,
        launch: None,
        arguments: Vec::new(),
        touches: Vec::new(),
        unknown: None,
        after: Vec::new(),
    };
    let mut child = None;
    match kind {
        // SAFETY: it is a node of this kind.
        NodeKind::Kernel => unsafe { launch(handle, index, &mut node, found) }?,
        NodeKind::Memcpy => {
            // SAFETY: as above.
            let copy = unsafe { reading::copy(handle) }.at(|| found.site())?;
            for (addresses, mode) in [(copy.from, Mode::Read), (copy.to, Mode::Write)] {
                // SAFETY: by the caller's promise.
                node.add(unsafe { found.touch(addresses, copy.is_dense, mode) });
            }
        }
        NodeKind::Memset => {
            // SAFETY: as above.
            let (addresses, is_dense) = unsafe { reading::fill(handle) }.at(|| found.site())?;
            // SAFETY: by the caller's promise.
            node.add(unsafe { found.touch(Some(addresses), is_dense, Mode::Write) });
        }
        // SAFETY: as above.
        NodeKind::Graph => child = Some(unsafe { reading::child(handle) }.at(|| found.site())?),
        NodeKind::Join | NodeKind::Wait | NodeKind::Record => {}
        NodeKind::Call => node.unknown = Some("a host function may access anything"),
        _ => node.unknown = Some("the driver does not tell what such a node accesses"),
    }
    Ok((node, child))
}

impl LiftedNode {
    fn add(&mut self, touch: std::result::Result<Touch, &'static str>) {
        match touch {
            Ok(touch) => self.touches.push(touch),
            Err(reason) => self.unknown = Some(reason),
        }
    }
}

/// The words that may be addresses of a program: not the first page, and not those of the operating system.
const ADDRESSES: Range<u64> = 4096..1 << 56;

/// Reads a kernel node.
///
/// # Safety
///
/// As of [`Lifted::from_raw`](super::Lifted::from_raw); the node is a kernel's.
unsafe fn launch(handle: CUgraphNode, index: usize, node: &mut LiftedNode, found: &mut Found<'_>) -> Result<()> {
    // SAFETY: by the caller's promise.
    let launch = unsafe { reading::launch(handle) }.at(|| found.site())?;
    let kernel = launch.name.unwrap_or_else(|| "unknown".to_owned());
    node.name = format!("{}_{index}", plain(&kernel));
    node.launch = Some(PlanLaunch {
        kernel: plain(&kernel).to_owned().into(),
        config: LaunchConfig {
            grid: launch.grid,
            block: launch.block,
            shared: launch.shared,
        },
    });
    let Some(arguments) = launch.arguments else {
        node.unknown = Some("the driver does not tell its arguments");
        return Ok(());
    };
    let sizes: Vec<usize> = arguments.iter().map(Vec::len).collect();
    let effect = found.options.kernels.effect(&kernel, &sizes).unwrap_or_else(|| Effect {
        params: vec![Some(Mode::ReadWrite); sizes.len()],
        variables: Vec::new(),
        unknown: Some("its PTX is not known"),
    });
    node.unknown = effect.unknown;
    for (argument, mode) in arguments.iter().zip(effect.params) {
        let Some(mode) = mode else { continue };
        let mut any = false;
        let mut is_missed = false;
        for word in argument.chunks_exact(8) {
            let address = word.try_into().map_or(0, u64::from_le_bytes);
            // SAFETY: by the caller's promise.
            if let Some((block, _)) = unsafe { found.find(address) } {
                any = true;
                node.touches.push(Touch {
                    block,
                    mode,
                    bytes: None,
                });
            } else {
                is_missed |= ADDRESSES.contains(&address);
            }
        }
        if effect.unknown.is_none() && (is_missed || !any) {
            node.unknown = Some("it accesses memory that the driver does not know");
        }
    }
    for (name, mode) in effect.variables {
        let block = found.variable(&name);
        node.touches.push(Touch {
            block,
            mode,
            bytes: None,
        });
    }
    node.arguments = arguments;
    Ok(())
}

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
