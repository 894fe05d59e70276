//! The table of rules of memory: which accesses nodes of each kind may make to each kind of memory.

use super::advice::name_in_after;
use crate::{Access, Code, Diagnostic, Draft, Family, Memory, Mode, NodeKind, Region, Subject};
use std::borrow::Cow;

/// The accesses to a kind of memory that nodes of one kind may make.
#[derive(Clone, Copy)]
enum Allowed {
    /// All but those of mapped memory.
    Any,
    /// Accesses to all of the memory at once.
    Whole,
    /// Loads and stores that are strong for the whole system, since the host may access the memory at any time.
    Strong,
    /// Accesses of code that names the memory.
    ByName,
    /// None.
    Nothing,
}

impl Memory {
    /// The table of rules.
    const fn allows(self, kind: NodeKind) -> Allowed {
        match self {
            Memory::Host => match kind.family() {
                Family::Copy if !matches!(kind, NodeKind::Memset) => Allowed::Any,
                Family::Call | Family::Child | Family::Library | Family::Join | Family::Event => Allowed::Any,
                Family::Kernel | Family::Copy | Family::Conditional | Family::Collective => Allowed::Nothing,
            },
            Memory::Device | Memory::Scratch | Memory::Variable => match kind.family() {
                Family::Kernel | Family::Copy | Family::Child | Family::Library => Allowed::Any,
                Family::Join | Family::Event | Family::Conditional | Family::Collective => Allowed::Any,
                Family::Call => Allowed::Nothing,
            },
            Memory::Mapped => match kind.family() {
                Family::Kernel | Family::Child => Allowed::Strong,
                Family::Copy | Family::Call | Family::Library | Family::Join => Allowed::Nothing,
                Family::Event | Family::Conditional | Family::Collective => Allowed::Nothing,
            },
            // It has no address.
            Memory::Array => match kind.family() {
                Family::Copy if matches!(kind, NodeKind::Memset) => Allowed::Nothing,
                Family::Kernel | Family::Copy | Family::Child => Allowed::Whole,
                Family::Call | Family::Library | Family::Join => Allowed::Nothing,
                Family::Event | Family::Conditional | Family::Collective => Allowed::Nothing,
            },
            // CUDA's address of a variable is for calls from the host only ("cudaGetSymbolAddress").
            Memory::Constant => match kind.family() {
                Family::Copy => Allowed::Any,
                Family::Kernel => Allowed::ByName,
                Family::Call | Family::Child | Family::Library | Family::Join => Allowed::Nothing,
                Family::Event | Family::Conditional | Family::Collective => Allowed::Nothing,
            },
        }
    }
}

impl Allowed {
    fn permits(self, access: &Access) -> bool {
        let is_strong = access.mode == Mode::Mapped;
        match self {
            Allowed::Any => !is_strong,
            Allowed::Whole => !is_strong && (access.region == Region::Whole || access.region.is_empty()),
            Allowed::Strong => is_strong,
            Allowed::ByName => access.by_name && !is_strong,
            Allowed::Nothing => false,
        }
    }
}

/// Reports accesses that the table does not allow. Returns the draft in which these touch nothing, so that no other
/// mistake follows from them.
pub(super) fn wrong_memory<'a>(draft: &'a Draft, errors: &mut Vec<Diagnostic>) -> Cow<'a, Draft> {
    let mut right = Cow::Borrowed(draft);
    for (index, access) in draft.accesses.iter().enumerate() {
        let memory = draft.resources[access.resource].memory;
        if !memory.allows(draft.nodes[access.node].kind).permits(access) {
            errors.push(misused(draft, access, Subject::Access(index)));
            right.to_mut().accesses[index].region = Region::span(0, 0);
        }
    }
    right
}

/// The mistake of an access that is not allowed.
fn misused(draft: &Draft, access: &Access, subject: Subject) -> Diagnostic {
    let (name, user) = (&draft.resources[access.resource].name, &draft.nodes[access.node].name);
    let kind = draft.nodes[access.node].kind;
    let memory = draft.resources[access.resource].memory;
    let (is, keyword) = (memory.described(), kind.keyword());
    let cannot_take = format!("`{name}` is {is}, which node `{user}` cannot take");
    let (message, note, help) = match memory {
        _ if access.mode == Mode::Mapped && memory != Memory::Mapped => (
            format!("`{name}` is not mapped memory, but node `{user}` takes it as such"),
            Some(MAPPED),
            format!("declare it `mapped {name}: ..;`"),
        ),
        Memory::Host => (
            format!("`{name}` is {is}, but {keyword} node `{user}` needs device memory"),
            None,
            use_device_memory(draft, access),
        ),
        Memory::Device | Memory::Scratch | Memory::Variable => (
            format!("`{name}` is {is}, but {keyword} node `{user}` needs host memory"),
            None,
            use_host_memory(draft, access),
        ),
        Memory::Mapped => (cannot_take + " so", Some(MAPPED), instead_of_mapped(kind, name)),
        Memory::Array => {
            let message = match kind {
                NodeKind::Kernel | NodeKind::Graph => {
                    format!("node `{user}` takes a part of `{name}`, which is {is}")
                }
                NodeKind::Memcpy => {
                    format!("node `{user}` copies a part of `{name}`, which is {is}, or a part that a param chooses")
                }
                _ => cannot_take,
            };
            (message, Some(ARRAY), instead_of_array(kind, name))
        }
        Memory::Constant => (cannot_take, Some(ADDRESS), instead_of_constant(kind, name)),
    };
    let mistake = Diagnostic::new(Code::WrongMemory, subject, message).help(help);
    note.into_iter().fold(mistake, Diagnostic::note)
}

const MAPPED: &str = "kernels take mapped memory as `&[Mapped<T>]`; all else could meet accesses of the host";
const ADDRESS: &str = "only copies and memsets take its address";
const ARRAY: &str = "an array has no address: kernels take it as `Texel`s and `Surfel`s, and copies take all of it";

fn use_device_memory(draft: &Draft, access: &Access) -> String {
    let (name, node) = (&draft.resources[access.resource].name, &draft.nodes[access.node].name);
    let copy = if access.mode.writes() {
        format!("copy back: `memcpy download = ... -> {name} after {node};`")
    } else {
        let order = name_in_after(draft, "upload", access.node);
        format!("copy first: `memcpy upload = {name} -> ...;`, then {order}")
    };
    format!("declare a `device` resource of the same shape, use it here, and {copy}")
}

fn use_host_memory(draft: &Draft, access: &Access) -> String {
    let (name, node) = (&draft.resources[access.resource].name, &draft.nodes[access.node].name);
    let order = name_in_after(draft, "download", access.node);
    let back = match access.mode.writes() {
        true => format!(", and copy back: `memcpy upload = ... -> {name} after {node};`"),
        false => String::new(),
    };
    format!(
        "declare a `host` resource of the same shape, borrow it here, and copy first: `memcpy download = {name} -> \
         ...;`, then {order}{back}"
    )
}

fn instead_of_mapped(kind: NodeKind, name: &str) -> String {
    match kind {
        NodeKind::Kernel | NodeKind::Graph => format!("pass `&{name}`"),
        _ if kind.is_conditional() => {
            format!("let a kernel load `{name}` and store to `device` memory, and let that be the condition")
        }
        _ => format!("let a kernel copy between `{name}` and other memory, or the host: `graph.{name}()`"),
    }
}

fn instead_of_array(kind: NodeKind, name: &str) -> String {
    match kind {
        NodeKind::Kernel | NodeKind::Graph => {
            format!("take all of `{name}`, or copy it to `device` memory and take a part of that")
        }
        NodeKind::Memcpy => {
            format!("copy between all of `{name}` and `device` memory, and copy the part from or to that")
        }
        NodeKind::Memset => format!("copy `device` memory to `{name}` that holds the value"),
        _ if kind.is_conditional() => {
            format!("let a kernel read `{name}` and store to `device` memory, and let that be the condition")
        }
        NodeKind::Call => format!("copy `{name}` to `host` memory, and take that"),
        _ => format!("copy `{name}` to `device` memory, and take that"),
    }
}

fn instead_of_constant(kind: NodeKind, name: &str) -> String {
    match kind {
        NodeKind::Kernel => {
            format!("remove the argument: kernels read and write `{name}` by the name that it has in CUDA")
        }
        NodeKind::Call => format!("copy it to `host` memory first: `memcpy copy = {name} -> ..;`"),
        _ => format!("copy it to `device` memory first: `memcpy copy = {name} -> ..;`"),
    }
}

#[cfg(test)]
mod tests {
    use crate::test_draft::draft_of;
    use crate::{Code, NodeKind, check};

    /// The mistakes of a node that reads an array.
    fn found(kind: NodeKind, part: &str) -> Vec<String> {
        let errors = check(&draft_of(&format!("array data; {} use: {part};", kind.keyword()))).errors;
        let wrong = errors.iter().filter(|error| error.code == Code::WrongMemory);
        wrong.map(ToString::to_string).collect()
    }

    #[test]
    fn unordered_nodes_may_access_mapped_memory() {
        let draft = draft_of("mapped news; kernel one: news!; kernel other: news!;");
        assert_eq!(check(&draft).errors, []);
    }

    #[test]
    fn only_kernels_copies_and_children_take_whole_arrays() {
        for kind in [NodeKind::Kernel, NodeKind::Memcpy, NodeKind::Graph] {
            assert_eq!(found(kind, "data"), [""; 0]);
            let mistakes = found(kind, "data[0..4]");
            let expected = " a part of `data`, which is an array";
            assert!(mistakes[0].contains(expected), "{mistakes:?}");
        }
        for (kind, help) in [
            (NodeKind::Memset, "copy `device` memory to `data`"),
            (NodeKind::Call, "copy `data` to `host` memory"),
            (NodeKind::While, "let a kernel read `data`"),
            (NodeKind::Raw, "copy `data` to `device` memory"),
        ] {
            let mistakes = found(kind, "data");
            assert!(mistakes[0].contains(help), "{mistakes:?}");
        }
    }

    #[test]
    fn no_other_mistake_follows_from_a_wrong_access() {
        let draft = draft_of("mapped news; memset one: news=; memset other: news=;");
        let codes: Vec<Code> = check(&draft).errors.iter().map(|error| error.code).collect();
        assert_eq!(codes, [Code::WrongMemory; 2]);
    }
}
