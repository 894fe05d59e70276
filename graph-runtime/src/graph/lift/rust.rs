//! A graph that was read, as the statements of a `cuda_graph!`, with the declarations of its kernels.

use super::effect::Param;
use super::{Block, Lifted, LiftedNode};
use crate::driver::read_node::{ReadFill, ReadNode};
use graph_plan::{Mode, NodeKind};
use graph_ptx::ast::Type;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::ops::Range;

/// The reason why there is no statement.
type Reason = String;

/// The names and the types that the text gives to what was read.
struct Writer<'l> {
    lifted: &'l Lifted,
    nodes: Vec<String>,
    memory: Vec<String>,
    /// The type of the elements of each memory.
    elements: Vec<Type>,
    /// The declarations of kernels, by name in the PTX.
    kernels: BTreeMap<String, String>,
}

/// The text: the kernels, and the macro call.
pub(super) fn text(lifted: &Lifted) -> String {
    let mut names = Names::default();
    let mut writer = Writer {
        lifted,
        memory: lifted.memory.iter().map(|block| names.unique(&block.name)).collect(),
        nodes: lifted.nodes.iter().map(|node| names.unique(&node.name)).collect(),
        elements: elements(lifted),
        kernels: BTreeMap::new(),
    };
    let mut body = String::new();
    for finding in lifted.findings() {
        let _ = writeln!(body, "        // {finding}");
    }
    for (index, block) in lifted.memory.iter().enumerate() {
        if block.addresses.is_empty() {
            let _ = writeln!(
                body,
                "        // {}: memory of a module, which kernels use by name",
                block.name
            );
            continue;
        }
        let (name, ty) = (&writer.memory[index], writer.elements[index]);
        let count = (block.addresses.end - block.addresses.start) / ty.size() as u64;
        let _ = writeln!(body, "        device {name}: [{}; {count}];", named(ty));
    }
    let mut is_written = vec![false; lifted.nodes.len()];
    let outermost = (0..lifted.nodes.len()).filter(|&index| lifted.nodes[index].owner.is_none());
    let mut outermost: Vec<usize> = outermost.collect();
    outermost.sort_by_key(|&index| lifted.plan.nodes[index].level);
    for index in outermost {
        let node = &lifted.nodes[index];
        let after: Vec<&str> = node
            .after
            .iter()
            .filter(|(from, _)| is_written[*from])
            .map(|&(from, _)| &*writer.nodes[from])
            .collect();
        let after = if after.is_empty() {
            String::new()
        } else {
            format!(" after {}", after.join(", "))
        };
        let name = writer.nodes[index].clone();
        match writer.statement(node) {
            Ok(statement) => {
                let _ = writeln!(body, "        {} {name} = {statement}{after};", node.kind.keyword());
                is_written[index] = true;
            }
            Err(reason) => {
                if node.kind != NodeKind::Join {
                    let _ = writeln!(body, "        // {name}: {reason}");
                }
                // Nothing is before a join that names nothing, and nothing needs it.
                if !after.is_empty() {
                    let _ = writeln!(body, "        join {name}{after};");
                    is_written[index] = true;
                }
            }
        }
        if node.after.iter().any(|(_, data)| data.is_programmatic()) {
            let _ = writeln!(body, "        // {name}: edges to it were programmatic");
        }
    }
    let graph = identifier(&lifted.plan.name);
    let kernels = writer.declarations();
    format!("{kernels}cuda_graph! {{\n    graph {graph} {{\n{body}    }}\n}}\n")
}

impl Writer<'_> {
    /// The declarations of the kernels.
    fn declarations(&self) -> String {
        if self.kernels.is_empty() {
            return String::new();
        }
        let kernels: String = self.kernels.values().map(String::as_str).collect();
        format!("#[cuda_kernels(\"kernels.ptx\")] // the PTX that was given\nunsafe extern \"C\" {{\n{kernels}}}\n\n")
    }

    /// The right side of a statement.
    fn statement(&mut self, node: &LiftedNode) -> Result<String, Reason> {
        match (node.kind, &node.work) {
            (NodeKind::Kernel, ReadNode::Kernel(launch)) => {
                let symbol = launch.name.as_deref().ok_or("the driver does not tell its kernel")?;
                self.launch(node, symbol)
            }
            (NodeKind::Memcpy, _) => {
                let [from, to] = [0, 1].map(|index| self.part(node, index));
                let ((from, one), (to, other)) = (from?, to?);
                if one != other {
                    return Err(format!("a copy of {from} to {to}, which have other types"));
                }
                Ok(format!("{from} -> {to}"))
            }
            (NodeKind::Memset, ReadNode::Fill(fill)) => {
                let (to, ty) = self.part(node, 0)?;
                let value = value(fill, ty).ok_or_else(|| format!("a fill of {to} with {:?}", fill.value))?;
                Ok(format!("{to} <- {value}"))
            }
            (NodeKind::Graph | NodeKind::If | NodeKind::While | NodeKind::Switch, _) => {
                let nodes = self.lifted.plan.nodes.iter();
                let bodies = &self.lifted.plan.bodies;
                let inside = nodes.filter(|inner| bodies[inner.body].node.is_some_and(|owner| self.is(owner, node)));
                let (what, count) = (
                    if node.kind == NodeKind::Graph {
                        "a child graph"
                    } else {
                        "bodies"
                    },
                    inside.count(),
                );
                Err(format!("{what} of {count} nodes"))
            }
            _ => Err(node.unknown.unwrap_or(node.kind.keyword()).to_owned()),
        }
    }

    /// Whether an index is that of the node.
    fn is(&self, index: usize, node: &LiftedNode) -> bool {
        std::ptr::eq(&raw const self.lifted.nodes[index], node)
    }

    /// A launch. The kernel is declared.
    fn launch(&mut self, node: &LiftedNode, symbol: &str) -> Result<String, Reason> {
        let launch = node.launch.as_ref().map(ToString::to_string).unwrap_or_default();
        let unknown = |reason: &str| format!("{launch}: {reason}");
        if let Some(reason) = node.unknown {
            return Err(unknown(reason));
        }
        if let Some(variable) = node.variables.first() {
            return Err(unknown(&format!(
                "it uses `{variable}` of its module, which is not declared"
            )));
        }
        let mut arguments = Vec::new();
        let mut params = Vec::new();
        for (number, (bytes, param)) in node.arguments.iter().zip(&node.params).enumerate() {
            if param.is_struct {
                return Err(unknown("a parameter is a struct"));
            }
            let (argument, ty) = match param.mode {
                Some(mode) => self.place(bytes, param, mode).map_err(|reason| unknown(&reason))?,
                None => number_of(bytes, param.ty),
            };
            arguments.push(argument);
            params.push(format!("p{number}: {ty}"));
        }
        let plain = node.launch.as_ref().map_or(symbol, |launch| &*launch.kernel);
        let name = identifier(plain);
        let link = if name == symbol {
            String::new()
        } else {
            format!("    #[link_name = \"{symbol}\"]\n")
        };
        let declaration = format!("{link}    fn {name}({});\n", params.join(", "));
        if *self
            .kernels
            .entry(symbol.to_owned())
            .or_insert_with(|| declaration.clone())
            != declaration
        {
            return Err(unknown("another launch of the kernel has other memory"));
        }
        let dimensions = launch.split_once("<<<").map_or("", |(_, dimensions)| dimensions);
        Ok(format!("unsafe {name}<<<{dimensions}({})", arguments.join(", ")))
    }

    /// An argument that is an address, and the type of the parameter.
    fn place(&self, bytes: &[u8], param: &Param, mode: Mode) -> Result<(String, String), Reason> {
        let address = bytes.try_into().map(u64::from_le_bytes);
        let address = address.map_err(|_| "a parameter that is accessed is no address".to_owned())?;
        let blocks = &self.lifted.memory;
        let block = blocks.iter().position(|block| block.addresses.contains(&address));
        let block = block.ok_or("an address of memory that is not known")?;
        let ty = self.elements[block];
        if param.element.and_then(known) != Some(ty) && !(param.element.and_then(known).is_none() && ty == Type::U8) {
            return Err(format!("it has `{}` as elements of another type", self.memory[block]));
        }
        let Range { start, end } = blocks[block].addresses;
        let part = self.range(block, address - start..end - start)?;
        let (borrow, element) = match mode {
            Mode::Read => ("&", format!("&[{}]", named(ty))),
            Mode::Atomic => ("&", format!("&[Atomic<{}>]", named(ty))),
            Mode::Write | Mode::ReadWrite | Mode::Mapped => ("&mut ", format!("&mut [{}]", named(ty))),
        };
        Ok((format!("{borrow}{part}"), element))
    }

    /// The memory of an access, and the type of its elements.
    fn part(&self, node: &LiftedNode, access: usize) -> Result<(String, Type), Reason> {
        let unknown = || {
            node.unknown
                .unwrap_or("it is not known which bytes it touches")
                .to_owned()
        };
        let touch = node
            .touches
            .get(access)
            .filter(|_| node.unknown.is_none())
            .ok_or_else(unknown)?;
        let bytes = touch.bytes.clone().ok_or_else(unknown)?;
        Ok((self.range(touch.block, bytes)?, self.elements[touch.block]))
    }

    /// Bytes of memory, as a place of elements.
    fn range(&self, block: usize, bytes: Range<u64>) -> Result<String, Reason> {
        let (name, addresses) = (&self.memory[block], &self.lifted.memory[block].addresses);
        if bytes == (0..addresses.end - addresses.start) {
            return Ok(name.clone());
        }
        let size = self.elements[block].size() as u64;
        if !bytes.start.is_multiple_of(size) || !bytes.end.is_multiple_of(size) {
            return Err(format!("the bytes {bytes:?} of `{name}`, which are no whole elements"));
        }
        Ok(format!("{name}[{}..{}]", bytes.start / size, bytes.end / size))
    }
}

/// The type of the elements of each memory: that of the kernels which access it, if they agree; else that of the
/// fills; else bytes.
fn elements(lifted: &Lifted) -> Vec<Type> {
    let type_of = |block: &Block, index: usize| {
        let addresses = &block.addresses;
        let known_nodes = lifted.nodes.iter().filter(|node| node.unknown.is_none());
        let pointers = known_nodes.flat_map(|node| node.arguments.iter().zip(&node.params));
        let of_kernels: HashSet<Option<Type>> = pointers
            .filter(|(bytes, param)| {
                let address = <[u8; 8]>::try_from(&bytes[..]).map(u64::from_le_bytes);
                param.mode.is_some() && address.is_ok_and(|address| addresses.contains(&address))
            })
            .map(|(_, param)| param.element.and_then(known))
            .collect();
        let of_fills = lifted.nodes.iter().filter_map(|node| match &node.work {
            ReadNode::Fill(fill) if node.touches.iter().any(|touch| touch.block == index) => Some(fill.value.1),
            _ => None,
        });
        let bytes = of_fills.min().unwrap_or(1);
        let of_fills = [Type::U8, Type::U16, Type::U32]
            .into_iter()
            .find(|ty| ty.size() as u32 == bytes);
        let one = if of_kernels.len() == 1 {
            of_kernels.into_iter().next().flatten()
        } else {
            of_fills
        };
        let is_whole = |ty: &Type| (addresses.end - addresses.start).is_multiple_of(ty.size() as u64);
        one.filter(is_whole).unwrap_or(Type::U8)
    };
    lifted
        .memory
        .iter()
        .enumerate()
        .map(|(index, block)| type_of(block, index))
        .collect()
}

/// The type for which Rust has a number, if there is one.
fn known(ty: Type) -> Option<Type> {
    ty.in_rust().map(|(known, _)| known)
}

/// The name of a known type in Rust.
fn named(ty: Type) -> &'static str {
    ty.in_rust().map_or("u8", |(_, name)| name)
}

/// An argument that is no address, and its type.
fn number_of(bytes: &[u8], ty: Type) -> (String, String) {
    let bits = bytes
        .iter()
        .rev()
        .fold(0_u64, |value, &byte| value << 8 | u64::from(byte));
    let ty = known(ty)
        .filter(|ty| ty.size() == bytes.len())
        .unwrap_or(match bytes.len() {
            1 => Type::U8,
            2 => Type::U16,
            4 => Type::U32,
            _ => Type::U64,
        });
    (literal(bits, ty, true), named(ty).to_owned())
}

/// The value of a fill as an element of another type, if each element gets the same.
fn value(fill: &ReadFill, ty: Type) -> Option<String> {
    let (value, bytes) = fill.value;
    let pattern = value.to_le_bytes()[..bytes as usize].repeat(8);
    let mut elements = pattern.chunks(ty.size());
    let first = elements.next()?;
    if elements.any(|element| element.len() == first.len() && element != first) {
        return None;
    }
    let bits = first
        .iter()
        .rev()
        .fold(0_u64, |value, &byte| value << 8 | u64::from(byte));
    Some(literal(bits, ty, false))
}

/// A number by its bits.
fn literal(bits: u64, ty: Type, has_type: bool) -> String {
    let name = named(ty);
    let suffix = if has_type { format!("_{name}") } else { String::new() };
    match ty {
        Type::F32 if f32::from_bits(bits as u32).is_finite() => format!("{:?}{suffix}", f32::from_bits(bits as u32)),
        Type::F64 if f64::from_bits(bits).is_finite() => format!("{:?}{suffix}", f64::from_bits(bits)),
        Type::F32 | Type::F64 => format!("{name}::from_bits({bits:#x})"),
        Type::S8 => format!("{}{suffix}", bits as i8),
        Type::S16 => format!("{}{suffix}", bits as i16),
        Type::S32 => format!("{}{suffix}", bits as i32),
        Type::S64 => format!("{}{suffix}", bits as i64),
        _ => format!("{bits}{suffix}"),
    }
}

/// The names that are taken.
#[derive(Default)]
struct Names(HashSet<String>);

impl Names {
    /// A name as Rust allows it, which is not taken yet.
    fn unique(&mut self, name: &str) -> String {
        let name = identifier(name);
        let numbered = (1..).map(|number| {
            if number == 1 {
                name.clone()
            } else {
                format!("{name}_{number}")
            }
        });
        let mut free = numbered.filter(|name| !self.0.contains(name));
        let name = free.next().unwrap_or(name.clone());
        self.0.insert(name.clone());
        name
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
