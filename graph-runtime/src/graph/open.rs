//! Edits: several changes that are made together.

use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::graph::batch::{Batch, OpenEdit};
use crate::graph::commit::commit;
use crate::graph::edit::Edit;
use crate::graph::update::{Update, collect};

pub(crate) mod sealed {
    pub trait EditResult {
        fn into_result(self) -> crate::Result<()>;
    }
}

/// The value of the closure of an edit: `()`, or a [`Result`]. See [`Graph::edit`].
#[diagnostic::on_unimplemented(
    message = "the closure of an edit returns `{Self}`",
    label = "expected `()` or `graph_runtime::Result<()>`",
    note = "end it with `Ok(())`, or with a `;`"
)]
pub trait EditResult: sealed::EditResult {}

impl sealed::EditResult for () {
    fn into_result(self) -> Result<()> {
        Ok(())
    }
}
impl EditResult for () {}

impl sealed::EditResult for Result<()> {
    fn into_result(self) -> Result<()> {
        self
    }
}
impl EditResult for Result<()> {}

/// The parts of a declared graph with params that an edit uses. Its expansion alone can name them: other code must not
/// get the `Graph`, which has nodes that are private to the graph's module.
#[derive(Debug)]
pub struct EditedGraph<G> {
    /// The runtime's graph.
    pub graph: fn(&G) -> &Graph,
    /// The same, to change it.
    pub graph_mut: fn(&mut G) -> &mut Graph,
    /// Requests that the nodes that mention the param of this number are changed to the current values of the params.
    pub change: fn(&G, &mut Update<'_>, usize) -> Result<()>,
}

impl Graph {
    /// Requests a change in the edit whose closure is running. Returns `Ok`: the change is made when that ends.
    pub(super) fn request(&mut self, change: impl FnOnce(&mut OpenEdit)) -> Result<()> {
        if let Some(open) = &mut self.open {
            change(open);
        }
        Ok(())
    }

    /// Returns the error of a change. If an edit requested that, the edit will fail, too.
    pub(super) fn refuse(&mut self, error: Error) -> Result<()> {
        if let Some(open) = &mut self.open {
            open.refused.get_or_insert_with(|| error.clone());
        }
        Err(error)
    }

    /// Ends the edit whose closure was running, if there is one.
    fn close(&mut self) -> Option<OpenEdit> {
        self.finish(Edit::Open);
        self.open.take()
    }
}

/// Undoes a change that fails or panics: the params get their values back. Nothing unsafe relies on it.
struct Undo<'a, G, F: FnOnce(&mut G)> {
    graph: &'a mut G,
    undo: Option<F>,
}

impl<G, F: FnOnce(&mut G)> Drop for Undo<'_, G, F> {
    fn drop(&mut self) {
        if let Some(undo) = self.undo.take() {
            undo(self.graph);
        }
    }
}

/// Runs `change`, and makes the changes that it requests together. See [`Graph::edit`]. `inner` returns the runtime's
/// graph.
///
/// # Errors
/// As [`Graph::edit`].
pub fn edit_nodes<G, R: EditResult>(
    graph: &mut G,
    inner: fn(&mut G) -> &mut Graph,
    change: impl FnOnce(&mut G) -> R,
) -> Result<()> {
    run(
        graph,
        inner,
        change,
        |_| (),
        |graph, open| commit(inner(graph), EDIT, open.batch),
    )
}

/// As [`edit_nodes`], of a graph with params. `undo` gives all params the values that they have now.
///
/// # Errors
/// As [`Graph::edit`].
pub fn edit<G, R: EditResult>(
    graph: &mut G,
    parts: EditedGraph<G>,
    change: impl FnOnce(&mut G) -> R,
    undo: impl FnOnce(&mut G),
) -> Result<()> {
    run(graph, parts.graph_mut, change, undo, |graph, open| {
        make(graph, &parts, EDIT, open.batch, &open.params)
    })
}

/// The name of edits in messages.
const EDIT: &str = "edit";

/// Runs `change` in an edit, and makes its changes by `make`.
fn run<G, R: EditResult>(
    graph: &mut G,
    inner: fn(&mut G) -> &mut Graph,
    change: impl FnOnce(&mut G) -> R,
    undo: impl FnOnce(&mut G),
    make: impl FnOnce(&mut G, OpenEdit) -> Result<()>,
) -> Result<()> {
    if inner(graph).open.is_some() {
        let changed = change(graph).into_result();
        return changed.or_else(|error| inner(graph).refuse(error));
    }
    inner(graph).open = Some(OpenEdit::default());
    inner(graph).begin(Edit::Open);
    let mut undo = Undo {
        graph,
        undo: Some(|graph: &mut G| {
            inner(graph).close();
            undo(graph);
        }),
    };
    let changed = change(undo.graph).into_result();
    let Some(mut open) = inner(undo.graph).close() else {
        return Err(Error::Unsupported {
            site: inner(undo.graph).site(),
            message: "another graph took the place of this one while it was edited",
        });
    };
    changed?;
    open.refused.take().map_or(Ok(()), Err)?;
    make(undo.graph, open)?;
    undo.undo = None;
    Ok(())
}

/// Gives a param, which has this number and name, another value, and changes the nodes that mention it; in an edit,
/// when that ends. `exchange` exchanges the value in the graph and another one.
///
/// # Errors
/// As [`Graph::update`].
pub fn set_param<G, T>(
    graph: &mut G,
    parts: EditedGraph<G>,
    (param, name): (usize, &'static str),
    mut value: T,
    exchange: fn(&mut G, &mut T),
) -> Result<()> {
    exchange(graph, &mut value);
    if (parts.graph)(graph).open.is_some() {
        return (parts.graph_mut)(graph).request(|open| {
            if !open.params.contains(&param) {
                open.params.push(param);
            }
        });
    }
    let mut undo = Undo {
        graph,
        undo: Some(|graph: &mut G| exchange(graph, &mut value)),
    };
    make(undo.graph, &parts, name, Batch::default(), &[param])?;
    undo.undo = None;
    Ok(())
}

/// Makes the changes of a batch, and those of the nodes that mention these params. `what` names them in messages.
fn make<G>(graph: &mut G, parts: &EditedGraph<G>, what: &'static str, batch: Batch, params: &[usize]) -> Result<()> {
    let batch = collect((parts.graph)(graph), batch, |update| {
        params
            .iter()
            .try_for_each(|&param| (parts.change)(graph, update, param))
    })?;
    commit((parts.graph_mut)(graph), what, batch)
}
