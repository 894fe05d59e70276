//! The mistakes and errors of a graph, which `build` returns.

use crate::error::{Error, Result, Site};
use graph_plan::{Diagnostic, Draft};

/// Everything found wrong so far.
#[derive(Default)]
pub(super) struct Findings {
    mistakes: Vec<Diagnostic>,
    /// The first error that is no mistake of the graph.
    failure: Option<Error>,
    /// If a loop has too many iterations: `build` returns this error alone, since its nodes were not added.
    endless: Option<Error>,
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

    pub(super) fn too_many_nodes(&mut self, site: Site, most: usize) {
        self.endless.get_or_insert(Error::TooManyNodes { site, most });
    }

    /// Fails if a loop was left out.
    pub(super) fn check_loops(&mut self) -> Result<()> {
        self.endless.take().map_or(Ok(()), Err)
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
