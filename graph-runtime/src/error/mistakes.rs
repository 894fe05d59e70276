//! The mistakes that `graph-plan` cannot see, as diagnostics: those about sizes, launches, names and places.

use graph_plan::{Code, Diagnostic, Draft, Subject, Text, clashes};
use graph_ptx::declaration::{Mistake, Rule};

/// A text of a `const fn` taken apart: the message, its code in brackets, then notes and the help on lines of their own.
#[cold]
pub(crate) fn parse(node: usize, text: &Text) -> Diagnostic {
    let mut lines = text.as_str().lines();
    let first = lines.next().unwrap_or_default();
    let coded = |code: &Code| Some((first.strip_suffix(&format!(" [{code}]"))?, *code));
    let (message, code) = Code::ALL.iter().find_map(coded).unwrap_or((first, Code::LaunchConfig));
    let diagnostic = Diagnostic::new(code, Subject::Node(node), message);
    lines.fold(diagnostic, |diagnostic, line| match line.split_once(": ") {
        Some(("note", note)) => diagnostic.note(note),
        Some(("help", help)) => diagnostic.help(help),
        _ => diagnostic,
    })
}

/// What a kernel's declaration says and the PTX that its CUDA source was compiled to does not.
#[cold]
pub(crate) fn declaration(node: usize, name: &str, mistake: &Mistake) -> Diagnostic {
    let code = match mistake.rule {
        Rule::MissingKernel => Code::MissingKernel,
        Rule::Signature => Code::Signature,
        Rule::Access => Code::Access,
        Rule::NeedlessMut => Code::NeedlessMut,
    };
    let message = format!("node `{name}`: {}", mistake.message);
    let diagnostic = Diagnostic::new(code, Subject::Node(node), message);
    let diagnostic = mistake.notes.iter().fold(diagnostic, Diagnostic::note);
    Diagnostic {
        help: mistake.help.clone(),
        ..diagnostic
    }
}

/// A place of another graph.
#[cold]
pub(crate) fn foreign(node: usize, name: &str) -> Diagnostic {
    let message = format!("node `{name}` uses memory of another graph");
    Diagnostic::new(Code::UnknownResource, Subject::Node(node), message)
        .help("declare it in this graph, with `GraphBuilder::host` or `GraphBuilder::device`")
}

/// A place that an index or a range has led out of its memory.
#[cold]
pub(crate) fn outside(node: usize, name: &str, memory: &str, bytes: usize) -> Diagnostic {
    let message = format!("node `{name}` uses an index or range outside `{memory}`");
    Diagnostic::new(Code::OutOfBounds, Subject::Node(node), message).note(format!("`{memory}` has {bytes} bytes"))
}

/// A node that writes memory which is shared to be read.
#[cold]
pub(crate) fn read_only(node: usize, name: &str, memory: &str) -> Diagnostic {
    let message = format!("node `{name}` writes `{memory}`, which is shared without `mut`");
    Diagnostic::new(Code::Access, Subject::Node(node), message).help(format!("share `{memory}` as `mut`"))
}

/// Shared memory of another length, in `units`, than asked for.
#[cold]
pub(crate) fn wrong_length(resource: usize, name: &str, has: usize, expected: usize, units: &str) -> Diagnostic {
    let message = format!("`{name}` has {expected} {units}, but the memory shared as `{name}` has {has}");
    Diagnostic::new(Code::ShapeMismatch, Subject::Resource(resource), message)
}

/// A node that does not exist, before or after another.
#[cold]
pub(crate) fn unknown_node(draft: &Draft, from: usize, to: usize) -> Diagnostic {
    let nodes = draft.nodes.len();
    let message = match draft.nodes.get(to) {
        Some(node) => format!("node `{}` runs after node {from}, which does not exist", node.name),
        None => format!("node {to}, which does not exist, runs after node {from}"),
    };
    Diagnostic::new(Code::UnknownNode, Subject::Node(to.min(nodes)), message).note(format!("there are {nodes} nodes"))
}

/// Names that resources and nodes share.
pub(crate) fn duplicates(draft: &Draft) -> Vec<Diagnostic> {
    let declared = draft.resources.iter().filter(|resource| !resource.implicit);
    let resources: Vec<&str> = declared.map(|resource| &*resource.name).collect();
    let names = || {
        let nodes = draft.nodes.iter().map(|node| &*node.name);
        resources.iter().copied().chain(nodes)
    };
    if all_differ(names(), resources.len() + draft.nodes.len()) {
        return Vec::new();
    }
    let kind = |index: usize| {
        if index < resources.len() { "resource" } else { "node" }
    };
    let all: Vec<&str> = names().collect();
    clashes(all.iter().copied())
        .into_iter()
        .map(|clash| {
            let name = all[clash.second];
            let message = match (kind(clash.first), kind(clash.second)) {
                ("resource", "node") => format!("a resource and a node are both named `{name}`"),
                (_, kind) => format!("two {kind}s are named `{name}`"),
            };
            let subject = match clash.second.checked_sub(resources.len()) {
                Some(node) => Subject::Node(node),
                None => Subject::Resource(clash.second),
            };
            Diagnostic::new(Code::DuplicateName, subject, message).help("rename one of them")
        })
        .collect()
}

/// Are all names, of which there are at most `count`, certainly different? Puts hashes into a table that is at most half
/// full, at the first free place: a build of many nodes should not pay for a table of their names.
fn all_differ<'a>(names: impl Iterator<Item = &'a str>, count: usize) -> bool {
    let mut table = vec![0_u64; (2 * count + 1).next_power_of_two()];
    let mask = table.len() - 1;
    for name in names {
        let hash = hash(name).max(1); // 0 is a free place
        let mut place = hash as usize & mask;
        while table[place] != 0 {
            if table[place] == hash {
                return false;
            }
            place = (place + 1) & mask;
        }
        table[place] = hash;
    }
    true
}

/// A quick hash, eight bytes at a time. Equal hashes are looked at again, so it need not be a good one.
fn hash(name: &str) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let (words, rest) = name.as_bytes().as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let step = |hash: u64, word: u64| (hash ^ word).wrapping_mul(FACTOR).rotate_left(29);
    let hash = words
        .iter()
        .fold(name.len() as u64, |hash, word| step(hash, u64::from_le_bytes(*word)));
    step(hash, u64::from_le_bytes(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_faults_become_diagnostics() {
        let text = Text::new().str("node `a`: kernel `k` requires `x` [contract]\nnote: here x = 1: 2\nhelp: y: z");
        let diagnostic = parse(0, &text);
        assert_eq!(diagnostic.code, Code::Contract);
        assert_eq!(diagnostic.notes, ["here x = 1: 2"]);
        assert_eq!(diagnostic.to_string(), text.as_str());
    }

    #[test]
    fn names_that_look_alike_differ() {
        let names: Vec<String> = (0..10_000).map(|index| format!("kernel_{index}")).collect();
        assert!(all_differ(names.iter().map(String::as_str), names.len()));
        assert!(!all_differ(["a", "b", "a"].into_iter(), 3));
        assert!(all_differ(["", "\0", "\0\0"].into_iter(), 3));
    }
}
