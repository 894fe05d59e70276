//! The mistakes and errors of a graph, which `build` returns.

use crate::error::{Error, Result};
use graph_plan::{Code, Diagnostic, Draft, Subject};

/// The mistakes and errors that were found so far.
#[derive(Default)]
pub(super) struct Findings {
    mistakes: Vec<Diagnostic>,
    /// The first error that is no mistake of the graph.
    failure: Option<Error>,
    /// The error that kept nodes from being added, if any. `build` returns this error alone.
    incomplete: Option<Error>,
}

impl Findings {
    pub(super) fn mistake(&mut self, mistake: Diagnostic) {
        self.mistakes.push(mistake);
    }

    pub(super) fn mistakes(&mut self, mistakes: impl IntoIterator<Item = Diagnostic>) {
        self.mistakes.extend(mistakes);
    }

    pub(super) fn fail(&mut self, failure: Error) {
        self.failure.get_or_insert(failure);
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Notes the error that kept nodes from being added. The first one counts.
    pub(super) fn incomplete(&mut self, error: Error) {
        self.incomplete.get_or_insert(error);
    }

    /// Notes that `subject` has added more or fewer nodes than it declares, or has left a body open.
    #[cold]
    pub(super) fn skipped(&mut self, graph: &str, subject: &str, declarations: usize, added: usize) {
        let nodes = if declarations == 1 { "node" } else { "nodes" };
        let text = format!("{subject} declares {declarations} {nodes}, but adds {added}");
        let diagnostic = Diagnostic::new(Code::Syntax, Subject::Node(0), text)
            .note("an expression was left before its node was complete: by `return`, `break` or `continue` in a macro")
            .help("end `build` with an error by `?`, or choose between values by `if`");
        self.incomplete(Error::mistake(graph, diagnostic));
    }

    /// Fails if not all nodes were added.
    pub(super) fn check_complete(&mut self) -> Result<()> {
        self.incomplete.take().map_or(Ok(()), Err)
    }

    /// Fails with all mistakes, or else with the first other error.
    pub(super) fn check(self, draft: &Draft) -> Result<()> {
        if !self.mistakes.is_empty() {
            return Err(Error::Invalid {
                graph: draft.name.as_ref().into(),
                diagnostics: self.mistakes,
            });
        }
        self.failure.map_or(Ok(()), Err)
    }
}
