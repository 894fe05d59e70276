//! A graph that was read, as the statements of a `cuda_graph!`.

use super::{Block, LiftedNode};
use graph_plan::{Mode, NodeKind};
use std::fmt::Write as _;

/// The text of the macro call.
pub(super) fn text(graph: &str, nodes: &[LiftedNode], memory: &[Block]) -> String {
    let mut text = format!("cuda_graph! {{\n    graph {} {{\n", identifier(graph));
    for block in memory.iter().filter(|block| !block.addresses.is_empty()) {
        let bytes = block.addresses.end - block.addresses.start;
        let _ = writeln!(text, "        device {}: [u8; {bytes}];", identifier(&block.name));
    }
    for (index, node) in nodes.iter().enumerate().filter(|(_, node)| node.owner.is_none()) {
        let after: Vec<String> = node
            .after
            .iter()
            .map(|&(from, is_programmatic)| {
                let name = identifier(&nodes[from].name);
                if is_programmatic {
                    format!("programmatic({name})")
                } else {
                    name
                }
            })
            .collect();
        let after = if after.is_empty() {
            String::new()
        } else {
            format!(" after {}", after.join(", "))
        };
        let name = identifier(&node.name);
        let line = match statement(node, memory) {
            Some(statement) => format!("{} {name} = {statement}{after};", node.kind.keyword()),
            None if node.kind == NodeKind::Join => format!("join {name}{after};"),
            None => {
                let inner = nodes.iter().filter(|other| other.owner == Some(index)).count();
                let what = if inner > 0 {
                    format!("a child graph of {inner} nodes")
                } else {
                    node.kind.keyword().to_owned()
                };
                format!("// {name}: {what}{after}")
            }
        };
        let _ = writeln!(text, "        {line}");
        if let Some(reason) = node.unknown {
            let _ = writeln!(text, "        // {name} may access other memory, too: {reason}");
        }
    }
    text + "    }\n}\n"
}

/// The right side of a statement, if there is one for the node.
fn statement(node: &LiftedNode, memory: &[Block]) -> Option<String> {
    let place = |index: usize| {
        let touch = node.touches.get(index)?;
        let bytes = touch.bytes.as_ref()?;
        let block = &memory[touch.block];
        let whole = *bytes == (0..block.addresses.end - block.addresses.start);
        let part = if whole {
            String::new()
        } else {
            format!("[{}..{}]", bytes.start, bytes.end)
        };
        Some(format!("{}{part}", identifier(&block.name)))
    };
    match node.kind {
        NodeKind::Kernel => {
            let launch = node.launch.as_ref()?;
            let arguments = node
                .arguments
                .iter()
                .map(|argument| self::argument(argument, node, memory));
            let arguments = arguments.collect::<Vec<_>>().join(", ");
            let launch = launch.to_string();
            let (kernel, dimensions) = launch.split_once("<<<")?;
            Some(format!("unsafe {}<<<{dimensions}({arguments})", identifier(kernel)))
        }
        NodeKind::Memcpy => Some(format!("{} -> {}", place(0)?, place(1)?)),
        NodeKind::Memset => Some(format!("{} <- 0 /* the value */", place(0)?)),
        _ => None,
    }
}

/// An argument: a place, or the number that its bytes are.
fn argument(bytes: &[u8], node: &LiftedNode, memory: &[Block]) -> String {
    if let Ok(word) = bytes.try_into().map(u64::from_le_bytes) {
        let is_in = |block: usize| memory[block].addresses.contains(&word);
        if let Some(touch) = node.touches.iter().find(|touch| is_in(touch.block)) {
            let block = &memory[touch.block];
            let start = word - block.addresses.start;
            let part = if start == 0 {
                String::new()
            } else {
                format!("[{start}..]")
            };
            let borrow = if matches!(touch.mode, Mode::Read | Mode::Atomic) {
                "&"
            } else {
                "&mut "
            };
            return format!("{borrow}{}{part}", identifier(&block.name));
        }
    }
    match bytes {
        [_] | [_, _] | [_, _, _, _] | [_, _, _, _, _, _, _, _] => {
            let value = bytes
                .iter()
                .rev()
                .fold(0_u64, |value, &byte| value << 8 | u64::from(byte));
            format!("{value}_u{}", 8 * bytes.len())
        }
        _ => format!("{bytes:?}"),
    }
}

/// A name as Rust allows it.
fn identifier(name: &str) -> String {
    let letters = name
        .chars()
        .map(|letter| if letter.is_alphanumeric() { letter } else { '_' });
    let name: String = letters.collect();
    if name.starts_with(|letter: char| letter.is_alphabetic() || letter == '_') {
        name
    } else {
        format!("n_{name}")
    }
}
