//! Writes a graph as a DOT file.

use crate::backend::executable::Executable;
use crate::error::{Error, Result, Site};
use crate::graph::{Graph, GraphData};
use std::collections::{HashMap, HashSet};
use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::path::Path;

impl Graph {
    /// Writes the graph as a DOT file: on CUDA with all that the driver knows of its nodes (`cuGraphDebugDotPrint`,
    /// verbose) and with their names, else as [`Plan::to_dot`](crate::Plan::to_dot) draws it. Changes in place (params,
    /// rebinding, disabled nodes) are not in CUDA's file, since they are changes of the executable graph.
    ///
    /// The driver's file says which handle each node has, so the names are those of these handles. If it says anything
    /// else than expected, the file stays the driver's, without names.
    ///
    /// # Errors
    /// [`Error::File`] if the file cannot be written; [`Error::Cuda`] from the driver.
    pub fn debug_dump(&self, path: impl AsRef<Path>) -> Result<()> {
        dump(&self.executable, &self.data, path.as_ref())
    }
}

/// Writes the graph of an executable that may not be instantiated yet.
pub(crate) fn dump(executable: &Executable, data: &GraphData, path: &Path) -> Result<()> {
    let site = Site::graph(&data.draft.name);
    let failed = |error: io::Error| Error::File {
        site: site.clone(),
        path: path.display().to_string(),
        message: error.to_string(),
    };
    // CUDA does not say why it cannot write a file, so the file is made here.
    let name = CString::new(path.as_os_str().as_encoded_bytes()).map_err(|error| failed(error.into()))?;
    File::create(path).map_err(failed)?;
    if !executable.print(&site, &name)? {
        return fs::write(path, data.plan().to_dot()).map_err(failed);
    }
    let text = fs::read(path).map_err(failed)?;
    let named = str::from_utf8(&text)
        .ok()
        .and_then(|text| named(text, &names(executable, data)));
    named.map_or(Ok(()), |text| fs::write(path, text).map_err(failed))
}

/// The name of a node, and the kernel that it launches if it is a kernel node.
type Name<'a> = (&'a str, Option<&'static str>);

/// The names of nodes by their handles. A handle that two nodes have is left out.
fn names<'a>(executable: &Executable, data: &'a GraphData) -> HashMap<u64, Name<'a>> {
    let mut names = HashMap::new();
    let mut several = HashSet::new();
    for (node, handle) in executable.handles() {
        let kernel = data.program.ops[node].kernel();
        let kernel = kernel.map(|kernel| data.program.functions[kernel.function as usize].facts.name);
        if names.insert(handle, (&*data.draft.nodes[node].name, kernel)).is_some() {
            several.insert(handle);
        }
    }
    names.retain(|handle, _| !several.contains(handle));
    names
}

/// Puts names into a verbose DOT file of the driver. `None` if no node has a name, or if the file is not as expected: a
/// handle stands in it twice, or another kernel than that of the node. A node of such a file is
///
/// ```text
/// "graph_1_node_0"[style="bold" shape="record" label="{KERNEL
/// | {ID | 0 (topoId: 1) | scale\<\<\<1,4,0\>\>\>}
/// | {{node handle | func handle} | {0x000055E7277A5C20 | 0x000055E7270A5A90}}
/// }"];
/// ```
fn named(text: &str, names: &HashMap<u64, Name<'_>>) -> Option<String> {
    const LABEL: &str = "label=\"";
    let mut found = HashSet::new();
    let mut written = String::with_capacity(text.len());
    for statement in text.split_inclusive(";\n") {
        let Some((before, after)) = statement.split_once("node handle") else {
            written.push_str(statement);
            continue;
        };
        let digits = after.split_once("0x")?.1;
        let end = digits.find(|digit: char| !digit.is_ascii_hexdigit())?;
        let handle = u64::from_str_radix(&digits[..end], 16).ok()?;
        let label = before.rfind(LABEL)? + LABEL.len();
        if !found.insert(handle) {
            return None;
        }
        let Some((name, kernel)) = names.get(&handle) else {
            written.push_str(statement);
            continue;
        };
        if kernel.is_some_and(|kernel| !statement.contains(kernel)) {
            return None;
        }
        let (before, label) = statement.split_at(label);
        written.push_str(before);
        // A label with fields begins with a brace.
        let fields = label.strip_prefix('{');
        written.push_str(if fields.is_some() { "{" } else { "" });
        for character in name.chars() {
            if "\\{}|<>\" ".contains(character) {
                written.push('\\');
            }
            written.push(character);
        }
        written.push_str(if fields.is_some() { "\n| " } else { "\n" });
        written.push_str(fields.unwrap_or(label));
    }
    names.keys().any(|handle| found.contains(handle)).then_some(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"digraph dot {
subgraph cluster_1 {
label="graph_1" graph[style="dashed"];
"graph_1_node_0"[style="bold" shape="record" label="{KERNEL
| {ID | 0 (topoId: 1) | scale\<\<\<\{2,3,1\},4,0\>\>\>}
| {{node handle | func handle} | {0x000055E7277A5C20 | 0x000055E7270A5A90}}
}"];
"graph_1_node_1"[style="solid" shape="record" label="{
MEMCPY
| {{ID | node handle} | {1 (topoId: 0) | 0x000055E7277A6AC0}}
| {{srcPtr | dstPtr} | {ptr | ptr} | {0x000055E7277A5C20 | 0x0000000302001200}}
}"];
"graph_1_node_0" -> "graph_1_node_1" [headlabel=0];
}
}
"#;

    #[test]
    fn names_are_those_of_the_handles() {
        let names = HashMap::from([
            (0x55E7_277A_5C20, ("first", Some("scale"))),
            (0x55E7_277A_6AC0, ("a|b", None)),
        ]);
        let expected = FILE
            .replace("\"{KERNEL", "\"{first\n| KERNEL")
            .replace("\"{\nM", "\"{a\\|b\n| \nM");
        assert_eq!(named(FILE, &names), Some(expected));
        let one = HashMap::from([(0x55E7_277A_6AC0, ("down", None))]);
        let expected = FILE.replace("\"{\nM", "\"{down\n| \nM");
        assert_eq!(named(FILE, &one), Some(expected));
        let short = FILE.replace("label=\"{KERNEL", "label=\"KERNEL");
        let text = named(&short, &names).expect("both nodes are there");
        assert!(text.contains("label=\"first\nKERNEL"), "{text}");
    }

    #[test]
    fn files_that_do_not_agree_stay_as_they_are() {
        let names = HashMap::from([(0x55E7_277A_5C20, ("first", Some("scale")))]);
        assert!(named(FILE, &names).is_some());
        let other = HashMap::from([(0x55E7_277A_5C20, ("first", Some("add_to")))]);
        assert_eq!(named(FILE, &other), None, "another kernel");
        let unknown = HashMap::from([(0x55E7_270A_5A90, ("first", None))]);
        assert_eq!(named(FILE, &unknown), None, "the handle of a function");
        let twice = FILE.replace("6AC0", "5C20");
        assert_eq!(named(&twice, &names), None, "two nodes with one handle");
        let none = FILE.replace("node handle", "handle");
        assert_eq!(named(&none, &names), None, "without handles");
        let cut = &FILE[..FILE.find("5C20").expect("a handle") + 4];
        assert_eq!(named(cut, &names), None, "cut off");
    }
}
