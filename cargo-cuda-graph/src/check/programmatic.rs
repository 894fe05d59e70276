//! Whether a kernel may stand at the ends of a programmatic edge. No graph is known here: where an edge depends on the
//! writes of other nodes, the condition is told.

use graph_ptx::{Access, Touched};

use super::kernel::Kernel;
use super::lines::Lines;

/// The way of loads that other kernels' writes do not reach.
const INCOHERENTLY: &str = "through a cache that is not coherent";

/// Whether the kernel has a `griddepcontrol` at all.
pub(super) fn is_concerned(kernel: &Kernel) -> bool {
    kernel.summary.dependency_wait.is_some() || kernel.summary.launch_dependents.is_some()
}

/// Whether an edge may lead to the kernel, and whether an edge from it gains time.
pub(super) fn ends(kernel: &Kernel, lines: &Lines<'_>) -> String {
    format!("to it: {}; from it: {}", to(kernel, lines), from(kernel, lines))
}

/// Whether the kernel waits before it ends, and before it accesses memory that others write.
fn to(kernel: &Kernel, lines: &Lines<'_>) -> String {
    let summary = &kernel.summary;
    let Some(wait) = summary.dependency_wait else {
        return "NO, never waits".to_owned();
    };
    let wait = lines.shown(wait);
    if let Some(line) = summary.early_exit {
        return format!("NO, can end ({}) before it has waited ({wait})", lines.shown(line));
    }
    let before = format!("before it has waited ({wait})");
    let mut early = Vec::new();
    for (touched, line) in summary.early() {
        let (name, access) = memory(kernel, touched);
        let line = lines.shown(line);
        match access {
            None => return format!("NO, accesses {name} ({line}) {before}"),
            Some(access) if access.stored.is_some() => {
                return format!("NO, accesses {name}, which it writes, ({line}) {before}");
            }
            Some(_) => early.push(format!("{name} ({line})")),
        }
    }
    let (mut variables, mut params) = (Vec::new(), Vec::new());
    for (touched, line) in summary.noncoherent() {
        let (name, access) = memory(kernel, touched);
        let line = lines.shown(line);
        let is_variable = matches!(touched, Touched::Variable(_));
        match access {
            None => return format!("NO, reads {name} ({line}) {INCOHERENTLY}"),
            Some(access) if is_variable && access.stored.is_some() => {
                return format!("NO, reads {name}, which it writes, ({line}) {INCOHERENTLY}");
            }
            // The condition on early accesses is the stronger one.
            Some(access) if access.early.is_some() => {}
            Some(_) if is_variable => variables.push(format!("{name} ({line})")),
            Some(_) => params.push(format!("{name} ({line})")),
        }
    }
    // A variable counts if any node writes it, the memory of a parameter if a node before this one does.
    let conditions = [
        (early, "no node", before.as_str()),
        (variables, "no node", INCOHERENTLY),
        (params, "no node before it", INCOHERENTLY),
    ];
    let conditions = conditions.into_iter().filter(|(names, ..)| !names.is_empty());
    let conditions = conditions
        .map(|(names, writers, how)| format!("if {writers} writes {}, which it reads {how}", names.join(" or ")));
    let conditions: Vec<String> = conditions.collect();
    if conditions.is_empty() {
        return format!("yes, waits ({wait}) before it accesses memory");
    }
    conditions.join(", and ")
}

/// The name of memory, and the accesses of it if it is known.
fn memory<'k>(kernel: &'k Kernel, touched: Touched<'_>) -> (String, Option<&'k Access>) {
    let summary = &kernel.summary;
    match touched {
        Touched::Param(index) => {
            let name = format!("`{}`", kernel.params[index].name);
            (name, Some(&summary.params[index].access))
        }
        Touched::Variable(name) => {
            let known = summary.variables.iter().find(|variable| variable.name == name);
            (format!("`{name}`"), known.map(|variable| &variable.access))
        }
        Touched::Unknown => ("memory of unknown origin".to_owned(), None),
    }
}

/// Whether the kernel triggers before its last write. Where it does not, the next kernel hardly starts sooner.
fn from(kernel: &Kernel, lines: &Lines<'_>) -> String {
    let summary = &kernel.summary;
    let Some(trigger) = summary.launch_dependents else {
        return "gains nothing, never triggers".to_owned();
    };
    let trigger = lines.shown(trigger);
    match (summary.last_triggered_write, summary.last_write) {
        (Some(write), _) => format!(
            "yes, triggers ({trigger}) before its last write ({})",
            lines.shown(write)
        ),
        (None, Some(write)) => {
            format!(
                "gains little, triggers ({trigger}) after its last write ({})",
                lines.shown(write)
            )
        }
        (None, None) => format!("yes, triggers ({trigger}) and writes nothing"),
    }
}
