//! Memory of the host that is mapped: kernels and the host access it while the graph runs.

use crate::{Code, Diagnostic, Draft, Mode, NodeKind, Subject};

/// The mistake of a node that is given mapped memory and is no kernel that takes it as `&[Mapped<T>]`, or that takes
/// other memory so. The host may load and store mapped memory at any time, so only accesses that are strong for the
/// whole system are right.
pub fn misused_mapped(draft: &Draft, node: usize, resource: usize, mode: Mode) -> Option<Diagnostic> {
    let (node, declared) = (&draft.nodes[node], &draft.resources[resource]);
    let (name, user) = (&declared.name, &node.name);
    let is_strong = matches!(mode, Mode::Mapped);
    let (message, help) = match (declared.mapped, is_strong) {
        (true, true) | (false, false) => return None,
        (false, true) => {
            let message = format!("`{name}` is not mapped memory, but node `{user}` takes it as such");
            (message, format!("declare it `mapped {name}: ..;`"))
        }
        (true, false) => {
            let message = format!("`{name}` is mapped memory, which node `{user}` cannot take so");
            let help = match node.kind {
                NodeKind::Kernel | NodeKind::Graph => format!("pass `&{name}`"),
                NodeKind::If | NodeKind::While | NodeKind::Switch => {
                    format!("let a kernel load `{name}` and store to `device` memory, and let that be the condition")
                }
                NodeKind::Memcpy
                | NodeKind::Memset
                | NodeKind::Call
                | NodeKind::Capture
                | NodeKind::Raw
                | NodeKind::Join
                | NodeKind::Record
                | NodeKind::Wait => {
                    format!("let a kernel copy between `{name}` and other memory, or the host: `graph.{name}()`")
                }
            };
            (message, help)
        }
    };
    let mistake = Diagnostic::new(Code::WrongMemory, Subject::Resource(resource), message);
    Some(
        mistake
            .note("kernels take mapped memory as `&[Mapped<T>]`; all else could meet accesses of the host")
            .help(help),
    )
}

#[cfg(test)]
mod tests {
    use super::misused_mapped;
    use crate::{Draft, Mode, NodeKind, Region, Space, check};

    #[test]
    fn only_strong_accesses_of_mapped_memory_are_right() {
        let mut draft = Draft::new("Test");
        let (news, data) = (
            draft.resource("news", Space::Device),
            draft.resource("data", Space::Device),
        );
        draft.resources[news].mapped = true;
        let (tell, clear) = (
            draft.node("tell", NodeKind::Kernel),
            draft.node("clear", NodeKind::Memset),
        );
        let found = |node, memory, mode| misused_mapped(&draft, node, memory, mode).map(|mistake| mistake.to_string());
        assert_eq!(found(tell, news, Mode::Mapped), None);
        assert_eq!(found(clear, data, Mode::Write), None);
        for (node, memory, mode, help) in [
            (tell, data, Mode::Mapped, "help: declare it `mapped data: ..;`"),
            (tell, news, Mode::ReadWrite, "help: pass `&news`"),
            (
                clear,
                news,
                Mode::Write,
                "help: let a kernel copy between `news` and other memory",
            ),
        ] {
            let mistake = found(node, memory, mode).expect("a mistake");
            assert!(mistake.contains(help), "{mistake}");
        }
    }

    #[test]
    fn unordered_nodes_may_access_mapped_memory() {
        let mut draft = Draft::new("Test");
        let news = draft.resource("news", Space::Device);
        draft.resources[news].mapped = true;
        for name in ["one", "other"] {
            let node = draft.node(name, NodeKind::Kernel);
            draft.access(node, news, Region::Whole, Mode::Mapped);
        }
        assert_eq!(check(&draft).errors, []);
    }
}
