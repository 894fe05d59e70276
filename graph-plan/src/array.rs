//! CUDA arrays: memory that has no address, so that only kernels and copies take it, and only as a whole.

use crate::{Code, Diagnostic, Draft, NodeKind, Region, Subject};

/// The mistake of a node that is given an array and cannot take it, or that is given a part of one.
pub fn misused_array(draft: &Draft, node: usize, resource: usize, region: &Region) -> Option<Diagnostic> {
    let (node, declared) = (&draft.nodes[node], &draft.resources[resource]);
    if !declared.array {
        return None;
    }
    let (name, user) = (&declared.name, &node.name);
    let cannot = format!("`{name}` is an array, which node `{user}` cannot take");
    let (message, help) = match node.kind {
        NodeKind::Kernel | NodeKind::Memcpy | NodeKind::Graph if matches!(region, Region::Whole) => return None,
        NodeKind::Kernel | NodeKind::Graph => (
            format!("node `{user}` takes a part of `{name}`, which is an array"),
            format!("take all of `{name}`, or copy it to `device` memory and take a part of that"),
        ),
        NodeKind::Memcpy => (
            format!("node `{user}` copies a part of `{name}`, which is an array, or a part that a param chooses"),
            format!("copy between all of `{name}` and `device` memory, and copy the part from or to that"),
        ),
        NodeKind::Memset => (cannot, format!("copy `device` memory to `{name}` that holds the value")),
        NodeKind::If | NodeKind::While | NodeKind::Switch => (
            cannot,
            format!("let a kernel read `{name}` and store to `device` memory, and let that be the condition"),
        ),
        NodeKind::Call => (cannot, format!("copy `{name}` to `host` memory, and take that")),
        NodeKind::Capture | NodeKind::Raw | NodeKind::Join | NodeKind::Record | NodeKind::Wait => {
            (cannot, format!("copy `{name}` to `device` memory, and take that"))
        }
    };
    let mistake = Diagnostic::new(Code::WrongMemory, Subject::Resource(resource), message);
    Some(
        mistake
            .note("an array has no address: kernels take it as `Texel`s and `Surfel`s, and copies take all of it")
            .help(help),
    )
}

#[cfg(test)]
mod tests {
    use super::misused_array;
    use crate::{Draft, NodeKind, Region, Space};

    #[test]
    fn only_kernels_copies_and_children_take_whole_arrays() {
        let mut draft = Draft::new("Test");
        let (image, data) = (
            draft.resource("image", Space::Device),
            draft.resource("data", Space::Device),
        );
        draft.resources[image].array = true;
        let found = |kind, memory, region| {
            let mut draft = draft.clone();
            let node = draft.node("use", kind);
            misused_array(&draft, node, memory, &region).map(|mistake| mistake.to_string())
        };
        for kind in [NodeKind::Kernel, NodeKind::Memcpy, NodeKind::Graph] {
            assert_eq!(found(kind, image, Region::Whole), None);
            let mistake = found(kind, image, Region::span(0, 4)).expect("a mistake");
            assert!(mistake.contains(" a part of `image`, which is an array"), "{mistake}");
        }
        for (kind, help) in [
            (NodeKind::Memset, "copy `device` memory to `image`"),
            (NodeKind::Call, "copy `image` to `host` memory"),
            (NodeKind::While, "let a kernel read `image`"),
            (NodeKind::Raw, "copy `image` to `device` memory"),
        ] {
            let mistake = found(kind, image, Region::Whole).expect("a mistake");
            assert!(mistake.contains(help), "{mistake}");
            assert_eq!(found(kind, data, Region::Whole), None);
        }
    }
}
