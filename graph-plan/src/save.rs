//! Saving the graph of a plan as a file.

use crate::Plan;
use crate::file::{GraphFile, PlanFile, Unsaved};
use std::fmt;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// The reason why a plan was not saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaveError {
    /// The graph.
    pub graph: String,
    /// The path of the file.
    pub path: String,
    /// The reason.
    pub message: String,
}

impl fmt::Display for SaveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { graph, path, message } = self;
        write!(f, "graph `{graph}`: cannot be saved in `{path}`: {message}")
    }
}

impl std::error::Error for SaveError {}

impl Plan {
    /// The plan, with the file of its graph, or the nodes and memory that no file can have.
    pub fn with_file(mut self, file: Result<GraphFile, Vec<Unsaved>>) -> Self {
        self.file = PlanFile(Some(Arc::new(file)));
        self
    }

    /// Writes the graph as a file, which another program opens without this one's code: its memory by name, its nodes
    /// with the values that they have now, and the PTX and cubins of its kernels. The contents of memory are not in the
    /// file.
    ///
    /// # Errors
    /// [`SaveError`] if the plan is static data, which has neither lengths nor kernels; if nodes are functions of this
    /// program or objects of its own, all of which are named; if the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), SaveError> {
        let path = path.as_ref();
        let failed = |message: String| SaveError {
            graph: self.name.to_string(),
            path: path.display().to_string(),
            message,
        };
        let file = match self.file.0.as_deref() {
            None => {
                let text = "this plan is static data, which has neither lengths nor kernels\n\
                            help: save the plan of a built graph: `graph.plan().save(..)`";
                return Err(failed(text.to_owned()));
            }
            Some(Err(unsaved)) => {
                let all = unsaved
                    .iter()
                    .map(|Unsaved { name, reason }| format!("`{name}` {reason}"));
                return Err(failed(all.collect::<Vec<_>>().join("\nand ")));
            }
            Some(Ok(file)) => file,
        };
        fs::write(path, file.encode()).map_err(|error| failed(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Draft;

    #[test]
    fn static_plans_and_functions_of_the_program_are_not_saved() {
        let draft = Draft::new("Static");
        let plan = Plan::of(&draft, &crate::check(&draft), |_| 0);
        let message = plan.save("x.cugraph").unwrap_err().to_string();
        assert_eq!(
            message,
            "graph `Static`: cannot be saved in `x.cugraph`: this plan is static data, which has neither lengths nor kernels\n\
             help: save the plan of a built graph: `graph.plan().save(..)`"
        );
        let unsaved = |name: &'static str| Unsaved {
            name: name.into(),
            reason: "is a function".into(),
        };
        let plan = plan.with_file(Err(vec![unsaved("one"), unsaved("two")]));
        let message = plan.save("x.cugraph").unwrap_err().message;
        assert_eq!(message, "`one` is a function\nand `two` is a function");
    }
}
