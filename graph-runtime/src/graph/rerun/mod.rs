//! After a fault on a GPU: one launch of the graph on the CPU emulator, to find the node and the line.
//!
//! The fault has ended the context, so device memory cannot be read any more. In debug mode the host has copies of it
//! from before the launch. Else it knows host and mapped memory, values and generators, and the rest is as in a new
//! graph: then the launch is made once more with other contents, and what is found both times does not depend on them.

mod twin;

use crate::error::{Error, Site};
use crate::graph::Graph;
use crate::in_flight::lock::Lock;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use twin::{Twin, Unknown};

/// The most milliseconds that all such launches of a process take: a fault ends all graphs of a context.
const MAX_TIME: u64 = 5000;
/// The most notes that a process keeps.
const MAX_TEXTS: usize = 16;
/// The beginning of a note about what the emulator has found.
const FOUND: &str = "\nnote: one launch of this graph on the CPU emulator";
/// The number of names of memory that a note lists.
const MAX_NAMES: usize = 3;

/// What the emulator found.
struct Finding {
    site: Site,
    message: String,
    /// Whether the launch ran into the deadline there.
    is_late: bool,
}

impl Graph {
    /// Adds to the error of a [future](crate::LaunchFuture) what the errors of [`Graph::synchronize`] have: after a
    /// fault of a kernel on a GPU, the graph is launched once on the emulator, which may find the node and the line. A
    /// future cannot do that, as it does not have the graph.
    ///
    /// ```
    /// # use graph_runtime::{Graph, Result};
    /// async fn run(graph: &mut Graph) -> Result<()> {
    ///     let launch = graph.launch_async()?;
    ///     launch.await.map_err(|error| graph.explain(error))
    /// }
    /// ```
    ///
    /// Errors of other kinds, and those that have such notes, are returned as they are.
    pub fn explain(&self, error: Error) -> Error {
        if error.to_string().contains(FOUND) {
            return error;
        }
        self.explained(error)
    }

    /// Adds the place that the emulator finds to an error of a kernel on a GPU.
    #[cold]
    pub(super) fn explained(&self, error: Error) -> Error {
        let lacks_line = || self.executable.lacks_line(&self.data.draft, &self.data.program, &error);
        if !cfg!(feature = "emulator") || !lacks_line() {
            return error;
        }
        // Every call that returns the error of a kernel returns the same one.
        let text = match &error {
            Error::Cuda { source, .. } => source.name().to_owned(),
            other => other.to_string(),
        };
        let known = match &*self.explained.lock() {
            Some((of, notes)) if *of == text => Some(*notes),
            _ => None,
        };
        let notes = known.unwrap_or_else(|| {
            let notes = kept(notes(self, &error));
            *self.explained.lock() = Some((text, notes));
            notes
        });
        match error {
            Error::Cuda { site, source } => Error::Cuda {
                site,
                source: source.with_notes(notes),
            },
            Error::Fault { site, message } => Error::Fault {
                site,
                message: message + notes,
            },
            other => other,
        }
    }
}

/// The text, for the rest of the process: errors that are copied have no text of their own. A process keeps each text
/// once, and [`MAX_TEXTS`] of them; others are empty.
fn kept(text: String) -> &'static str {
    static TEXTS: Lock<BTreeSet<&'static str>> = Lock::new(BTreeSet::new());
    let mut texts = TEXTS.lock();
    if let Some(known) = texts.get(&*text) {
        return known;
    }
    if texts.len() >= MAX_TEXTS {
        return "";
    }
    let text = text.leak();
    texts.insert(text);
    text
}

/// The lines to add to the error of a fault.
fn notes(graph: &Graph, error: &Error) -> String {
    static SPENT: AtomicU64 = AtomicU64::new(0);
    let begin = Instant::now();
    let left = MAX_TIME.saturating_sub(SPENT.load(Relaxed));
    if left == 0 {
        return String::new();
    }
    let deadline = begin + Duration::from_millis(left);
    // A mistake of the emulator must not end a program that did not ask for it.
    let looked = catch_unwind(AssertUnwindSafe(|| look(graph, error, deadline)));
    SPENT.fetch_add(begin.elapsed().as_millis() as u64, Relaxed);
    looked.unwrap_or_default()
}

fn look(graph: &Graph, error: &Error, deadline: Instant) -> String {
    let mut twin = Twin::new(&graph.data, &graph.executable);
    let first = twin.launch(Unknown::New, deadline);
    let names = |resources: &[usize]| names(graph, resources);
    let unknown = twin.unknown();
    let mut text = match first {
        Err(error) => {
            let reason = error.to_string();
            let reason = reason.lines().next().unwrap_or_default();
            format!("\nnote: the CPU emulator cannot look for the line: {reason}")
        }
        Ok(_) if !twin.runs() => return String::new(),
        Ok(None) if unknown.is_empty() => {
            format!("{FOUND} finds no fault")
        }
        Ok(None) => format!(
            "{FOUND} finds no fault; but the contents of {} are lost, and were zero there",
            names(&unknown)
        ),
        Ok(Some(found)) => {
            let found = Finding::of(found, deadline);
            let again = match unknown.is_empty() {
                true => None,
                false => twin.launch(Unknown::Filled, deadline).ok().flatten(),
            };
            let again = again.map(|again| Finding::of(again, deadline));
            let is_same = again.is_some_and(|again| !again.is_late && again.message == found.message);
            found.text(error, &names(&unknown), unknown.is_empty(), is_same)
        }
    };
    if let Some(stop) = twin.stop {
        let name = &graph.data.draft.nodes[stop].name;
        let _ = write!(
            text,
            "\nnote: that launch had to leave out node `{name}`, and what comes after it"
        );
    }
    text
}

impl Finding {
    fn of(error: Error, deadline: Instant) -> Self {
        let is_late = Instant::now() >= deadline;
        match error {
            Error::Fault { site, message } => Self { site, message, is_late },
            other => Self {
                site: Site::default(),
                message: other.to_string(),
                is_late,
            },
        }
    }

    /// The notes about it. `unknown` names memory whose contents are lost, `is_known` says that there is none, and
    /// `is_same` that other contents lead to the same fault.
    fn text(&self, error: &Error, unknown: &str, is_known: bool, is_same: bool) -> String {
        let node = self.site.node_name().unwrap_or_default();
        let blamed = match error {
            Error::Fault { site, .. } => site.node_name(),
            _ => None,
        };
        let end = match blamed {
            _ if self.is_late => format!("was not over in time, at node `{node}`"),
            None => format!("fails at node `{node}`"),
            Some(blamed) if blamed == node => "fails there, too".to_owned(),
            Some(_) => format!("fails at node `{node}` instead"),
        };
        let message = &self.message;
        let mut text = format!("{FOUND} {end}: {message}");
        if is_same {
            let _ = write!(
                text,
                "\nnote: the contents of {unknown} are lost, but it fails so whether they are zero or not"
            );
        } else if !is_known {
            let _ = write!(
                text,
                "\nnote: it may be another fault, since the contents of {unknown} are lost, and were zero there"
            );
        }
        text
    }
}

/// ``` `a`, `b`, `c` and 2 more ```
fn names(graph: &Graph, resources: &[usize]) -> String {
    let name = |resource: &usize| format!("`{}`", graph.data.draft.resources[*resource].name);
    let listed: Vec<String> = resources.iter().take(MAX_NAMES).map(name).collect();
    let mut text = listed.join(", ");
    if resources.len() > MAX_NAMES {
        let _ = write!(text, " and {} more", resources.len() - MAX_NAMES);
    }
    text
}
