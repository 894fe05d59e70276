//! A graph that was read, as the statements of a `cuda_graph!`, with the declarations of its kernels.

use super::effect::{Param, common};
use super::{Block, Lifted, LiftedNode, Touch};
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
    /// The declarations of kernels, and their names in it, by name in the PTX.
    kernels: BTreeMap<String, (String, String)>,
    /// The names of kernels, and of the graph: all are types.
    types: Names,
}

/// The text: the kernels, and the macro call.
pub(super) fn text(lifted: &Lifted) -> String {
    let (mut names, mut types) = (Names::new(METHODS), Names::new(PRIMITIVES));
    let graph = types.unique(&lifted.plan.name, &[]);
    let memory = lifted.memory.iter();
    let mut writer = Writer {
        lifted,
        memory: memory.map(|block| names.unique(&block.name, &["_mut"])).collect(),
        nodes: lifted.nodes.iter().map(|node| names.unique(&node.name, &[])).collect(),
        elements: elements(lifted),
        kernels: BTreeMap::new(),
        types,
    };
    let mut body = String::new();
    // A `cuda_graph!` orders nodes that may meet.
    let mut unordered: HashSet<[&str; 2]> = HashSet::new();
    for finding in lifted.findings() {
        let _ = writeln!(body, "        // {}", in_comment(&finding.to_string()));
        let [one, other] = &finding.nodes;
        unordered.extend([[&**one, other], [other, one]]);
    }
    for (index, block) in lifted.memory.iter().enumerate() {
        if block.addresses.is_empty() {
            let _ = writeln!(
                body,
                "        // {}: memory of a module, which kernels use by name",
                in_comment(&block.name)
            );
            continue;
        }
        let (name, ty) = (&writer.memory[index], writer.elements[index]);
        let count = (block.addresses.end - block.addresses.start) / ty.size() as u64;
        let keyword = if block.is_host { "host" } else { "device" };
        let _ = writeln!(body, "        {keyword} {name}: [{}; {count}];", named(ty));
    }
    let mut is_written = vec![false; lifted.nodes.len()];
    let mut statements: Vec<usize> = Vec::new();
    let outermost = (0..lifted.nodes.len()).filter(|&index| lifted.nodes[index].owner.is_none());
    let mut outermost: Vec<usize> = outermost.collect();
    outermost.sort_by_key(|&index| lifted.plan.nodes[index].level);
    for index in outermost {
        let node = &lifted.nodes[index];
        let before = node.after.iter().map(|&(from, _)| from);
        let mut before: Vec<usize> = before.filter(|&from| is_written[from]).collect();
        let statement = writer.statement(node);
        if statement.is_ok() {
            let met = |&&from: &&usize| unordered.contains(&[&*lifted.nodes[from].name, &*node.name]);
            before.extend(statements.iter().filter(met));
            statements.push(index);
        }
        let after: Vec<&str> = before.iter().map(|&from| &*writer.nodes[from]).collect();
        let after = if after.is_empty() {
            String::new()
        } else {
            format!(" after {}", after.join(", "))
        };
        let name = &writer.nodes[index];
        match statement {
            Ok((attributes, statement)) => {
                let keyword = node.kind.keyword();
                let _ = writeln!(body, "{attributes}        {keyword} {name} = {statement}{after};");
                is_written[index] = true;
            }
            Err(reason) => {
                if node.kind != NodeKind::Join {
                    let _ = writeln!(body, "        // {name}: {}", in_comment(&reason));
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
    let kernels = writer.declarations();
    format!("{kernels}cuda_graph! {{\n    graph {graph} {{\n{body}    }}\n}}\n")
}

impl Writer<'_> {
    /// The declarations of the kernels.
    fn declarations(&self) -> String {
        if self.kernels.is_empty() {
            return String::new();
        }
        let kernels: String = self.kernels.values().map(|(_, text)| text.as_str()).collect();
        format!("#[cuda_kernels(\"kernels.ptx\")] // the PTX that was given\nunsafe extern \"C\" {{\n{kernels}}}\n\n")
    }

    /// The lines before a statement, and its right side.
    fn statement(&mut self, node: &LiftedNode) -> Result<(String, String), Reason> {
        if let (NodeKind::Kernel, ReadNode::Kernel(launch)) = (node.kind, &node.work) {
            let symbol = launch.name.as_deref().ok_or("the driver does not tell its kernel")?;
            return Ok((launch.in_rust(), self.launch(node, symbol)?));
        }
        self.simple(node).map(|statement| (String::new(), statement))
    }

    /// The right side of a statement that launches no kernel.
    fn simple(&self, node: &LiftedNode) -> Result<String, Reason> {
        match (node.kind, &node.work) {
            (NodeKind::Memcpy, _) => {
                let ((from, one), (to, other)) = (self.part(node, Mode::Read)?, self.part(node, Mode::Write)?);
                if node.touches[0].block == node.touches[1].block && meet(&node.touches) {
                    return Err(format!("a copy of {from} to {to}, which overlap"));
                }
                if one != other {
                    return Err(format!("a copy of {from} to {to}, which have other types"));
                }
                Ok(format!("{from} -> {to}"))
            }
            (NodeKind::Memset, ReadNode::Fill(fill)) => {
                let (to, ty) = self.part(node, Mode::Write)?;
                self.is_on_device(node)?;
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
        let shared = node.touches.iter().enumerate().find_map(|(index, touch)| {
            let mut before = node.touches[..index].iter().filter(|other| other.block == touch.block);
            before
                .find(|other| other.mode.conflicts(touch.mode))
                .map(|_| touch.block)
        });
        if let Some(block) = shared {
            return Err(unknown(&format!("it gets `{}` twice, to write it", self.memory[block])));
        }
        self.is_on_device(node).map_err(|reason| unknown(&reason))?;
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
        let known = self.kernels.get(symbol).map(|(name, _)| name.clone());
        let name = known.unwrap_or_else(|| self.types.unique(plain, &[]));
        let link = if name == symbol {
            String::new()
        } else {
            format!("    #[link_name = {symbol:?}]\n")
        };
        let declaration = format!("{link}    fn {name}({});\n", params.join(", "));
        let (_, known) = self
            .kernels
            .entry(symbol.to_owned())
            .or_insert_with(|| (name.clone(), declaration.clone()));
        if *known != declaration {
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

    /// Fails if a node accesses memory of the host, which copies alone may.
    fn is_on_device(&self, node: &LiftedNode) -> Result<(), Reason> {
        let mut touched = node.touches.iter().map(|touch| touch.block);
        match touched.find(|&block| self.lifted.memory[block].is_host) {
            Some(block) => Err(format!(
                "it accesses `{}`, which is memory of the host",
                self.memory[block]
            )),
            None => Ok(()),
        }
    }

    /// The memory that a copy or a fill accesses so, and the type of its elements.
    fn part(&self, node: &LiftedNode, mode: Mode) -> Result<(String, Type), Reason> {
        let unknown = || {
            node.unknown
                .unwrap_or("it is not known which bytes it touches")
                .to_owned()
        };
        let mut touches = node.touches.iter().filter(|touch| touch.mode == mode);
        let touch = touches.next().filter(|_| node.unknown.is_none()).ok_or_else(unknown)?;
        if touches.next().is_some() {
            return Err("it reaches from one memory into another one".to_owned());
        }
        let bytes = touch.bytes.clone().ok_or_else(unknown)?;
        Ok((self.range(touch.block, bytes)?, self.elements[touch.block]))
    }

    /// Bytes of memory, as a place of elements.
    fn range(&self, block: usize, bytes: Range<u64>) -> Result<String, Reason> {
        let (name, addresses) = (&self.memory[block], &self.lifted.memory[block].addresses);
        let mut others = self.lifted.memory.iter().zip(&self.memory);
        let meets = |(other, _): &(&Block, &String)| {
            other.addresses != *addresses && !common(&other.addresses, addresses).is_empty()
        };
        if let Some((_, other)) = others.find(meets) {
            return Err(format!("`{name}` and `{other}` have the same bytes"));
        }
        if bytes.is_empty() {
            return Err(format!("no bytes of `{name}`"));
        }
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

/// Whether two of the bytes that a node touches are the same.
fn meet(touches: &[Touch]) -> bool {
    match touches {
        [Touch { bytes: Some(one), .. }, Touch { bytes: Some(other), .. }] => !common(one, other).is_empty(),
        _ => true,
    }
}

/// The type of the elements of each memory: that of the kernels which access it, if they agree; else that of the
/// fills, or without any that of memory that copies join it with; else bytes.
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
        let bytes = of_fills.min().or_else(|| (!of_kernels.is_empty()).then_some(1))?;
        let of_fills = [Type::U8, Type::U16, Type::U32]
            .into_iter()
            .find(|ty| ty.size() as u32 == bytes);
        let one = match of_kernels.len() {
            1 => of_kernels.into_iter().next().flatten(),
            _ => of_fills,
        };
        Some(one.filter(|ty| has_whole(block, *ty)).unwrap_or(Type::U8))
    };
    let memory = lifted.memory.iter().enumerate();
    let mut types: Vec<Option<Type>> = memory.map(|(index, block)| type_of(block, index)).collect();
    for node in lifted.nodes.iter().filter(|node| node.kind == NodeKind::Memcpy) {
        if let [one, other] = &node.touches[..] {
            for (to, from) in [(one.block, other.block), (other.block, one.block)] {
                let is_whole = |ty: &Type| has_whole(&lifted.memory[to], *ty);
                types[to] = types[to].or(types[from].filter(is_whole));
            }
        }
    }
    types.into_iter().map(|ty| ty.unwrap_or(Type::U8)).collect()
}

/// Whether memory has a whole number of elements of this type.
fn has_whole(block: &Block, ty: Type) -> bool {
    (block.addresses.end - block.addresses.start).is_multiple_of(ty.size() as u64)
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

/// The words that are no names.
const KEYWORDS: &str = "Self abstract as async await become box break const continue crate do dyn else enum extern false \
                        final fn for gen if impl in let loop macro match mod move mut override priv pub ref return self \
                        static struct super trait true try type typeof unsafe unsized use virtual where while yield";

/// The names that every graph has.
const METHODS: &str = "PLAN build define edit launch launch_async launch_on memory_mut raw synchronize";

/// The types that declarations of kernels name.
const PRIMITIVES: &str = "Atomic f32 f64 i16 i32 i64 i8 u16 u32 u64 u8";

/// The names that are taken.
struct Names(HashSet<String>);

impl Names {
    /// All names but keywords and these.
    fn new(taken: &str) -> Self {
        let words = KEYWORDS.split_whitespace().chain(taken.split_whitespace());
        Self(words.map(str::to_owned).collect())
    }

    /// A name as Rust allows it, which is not taken yet, nor is it with one of these endings.
    fn unique(&mut self, name: &str, endings: &[&str]) -> String {
        let name = identifier(name);
        let numbered = (1..).map(|number| {
            if number == 1 {
                name.clone()
            } else {
                format!("{name}_{number}")
            }
        });
        let all = |name: &str| {
            [""].iter()
                .chain(endings)
                .map(|ending| format!("{name}{ending}"))
                .collect::<Vec<_>>()
        };
        let mut free = numbered.filter(|name| all(name).iter().all(|name| !self.0.contains(name)));
        let name = free.next().unwrap_or(name.clone());
        self.0.extend(all(&name));
        name
    }
}

/// Letters of a name as Rust allows them. Names that begin with `__` are the expansion's.
fn identifier(name: &str) -> String {
    let name = name.replace(|letter: char| !letter.is_ascii_alphanumeric(), "_");
    let first = name.trim_start_matches('_').chars().next();
    if first.is_some_and(|letter| letter.is_ascii_alphabetic()) && !name.starts_with("__") {
        name
    } else {
        format!("n_{name}")
    }
}

/// Text that does not end a comment, nor shows it as something else.
fn in_comment(text: &str) -> String {
    text.replace(
        |letter: char| letter != ' ' && !letter.is_ascii_graphic() && !letter.is_alphanumeric(),
        "?",
    )
}
