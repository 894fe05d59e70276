//! Edits: several changes that are made together.

use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::graph::batch::Batch;
use crate::graph::commit::commit;
use crate::graph::edit::Edit;
use crate::graph::plain::{PlainParam, PlainParams};
use crate::graph::update::{Update, collect};

pub(crate) mod sealed {
    pub trait EditResult {
        fn error(self) -> Option<crate::Error>;
        /// Whether there is no error. This looks at it where it is: a [`Result`](crate::Result) is not small.
        fn is_ok(&self) -> bool;
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
    fn error(self) -> Option<Error> {
        None
    }

    fn is_ok(&self) -> bool {
        true
    }
}
impl EditResult for () {}

impl sealed::EditResult for Result<()> {
    fn error(self) -> Option<Error> {
        self.err()
    }

    #[inline]
    fn is_ok(&self) -> bool {
        self.is_ok()
    }
}
impl EditResult for Result<()> {}

/// The changes that an edit whose closure is running has requested so far. After an edit, it is empty, and its room
/// is for the next one, which then allocates nothing.
#[derive(Debug, Default)]
pub(crate) struct OpenEdit {
    pub(crate) batch: Batch,
    /// The plain params that were set.
    plain: PlainParams,
    /// The other params that were set.
    others: Vec<usize>,
    /// The first change that was refused. Then none is made, also if the closure goes on.
    pub(crate) refused: Option<Box<Error>>,
}

impl OpenEdit {
    /// Requests the values of plain params. Returns whether all params that were set are such.
    fn put_plain(&mut self, graph: &Graph) -> bool {
        self.plain.put(graph, &mut self.batch.values, &mut self.others);
        self.others.is_empty()
    }

    /// Returns the error of the change that was refused.
    #[cold]
    fn refusal(&mut self) -> Result<()> {
        self.refused.take().map_or(Ok(()), |error| Err(*error))
    }
}

/// The parts of a declared graph with params that an edit uses. Its expansion alone can name them: other code must not
/// get the `Graph`, which has nodes that are private to the graph's module.
///
/// It is handed on as the function that returns it. That has no size, and the calls of these functions are direct ones.
#[derive(Debug)]
pub struct EditedGraph<G> {
    /// The runtime's graph.
    pub graph: fn(&G) -> &Graph,
    /// The same, to change it.
    pub graph_mut: fn(&mut G) -> &mut Graph,
    /// Requests that the nodes that mention the param of this number are changed to the current values of the params.
    pub change: fn(&G, &mut Update<'_>, usize) -> Result<()>,
    /// The param of this number, if it is plain.
    pub plain: fn(&G, usize) -> Option<PlainParam>,
}

impl Graph {
    /// Requests a change in the edit whose closure is running. Returns `Ok`: the change is made when that ends.
    pub(super) fn request(&mut self, change: impl FnOnce(&mut OpenEdit)) -> Result<()> {
        change(self.edit.get_or_insert_default());
        Ok(())
    }

    /// Requests that the nodes that mention a param get its value, which is `plain` if the param is.
    #[inline]
    fn request_param(&mut self, param: usize, plain: Option<PlainParam>) {
        let open = self.edit.as_deref_mut();
        let is_plain = open.zip(plain.as_ref());
        if !is_plain.is_some_and(|(open, plain)| open.plain.set(param, plain)) {
            self.request_other(param, plain);
        }
    }

    /// As [`Graph::request_param`], of a param that was not found to be plain yet.
    #[inline(never)]
    fn request_other(&mut self, param: usize, plain: Option<PlainParam>) {
        let mut open = self.edit.take().unwrap_or_default();
        let is_plain = plain.is_some_and(|plain| open.plain.find(self, param, &plain) && open.plain.set(param, &plain));
        if !is_plain && !open.others.contains(&param) {
            open.others.push(param);
        }
        self.edit = Some(open);
    }

    /// Returns the error of a change. If an edit requested that, the edit will fail, too.
    pub(super) fn refuse(&mut self, error: Error) -> Result<()> {
        if self.half_edited.is_open()
            && let Some(open) = &mut self.edit
        {
            open.refused.get_or_insert_with(|| error.clone().into());
        }
        Err(error)
    }

    /// Takes the changes out of an edit, for which no more can be requested then.
    #[inline]
    fn close(&mut self) -> Box<OpenEdit> {
        self.finish(Edit::Open);
        self.edit.take().unwrap_or_default()
    }
}

/// Undoes a change that fails or panics: the params get their values back. Nothing unsafe relies on it.
struct Undo<'a, G, F: FnOnce(&mut G)> {
    graph: &'a mut G,
    undo: Option<F>,
}

impl<G, F: FnOnce(&mut G)> Undo<'_, G, F> {
    /// Leaves the change as it is.
    #[inline]
    fn leave(mut self) {
        self.undo = None;
        std::mem::forget(self);
    }
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
#[inline]
pub fn edit_nodes<G, R: EditResult>(
    graph: &mut G,
    inner: fn(&mut G) -> &mut Graph,
    change: impl FnOnce(&mut G) -> R,
) -> Result<()> {
    run(
        graph,
        || inner,
        change,
        |_| (),
        |graph, open| commit(inner(graph), EDIT, &mut open.batch),
    )
}

/// As [`edit_nodes`], of a graph with params. `undo` gives all params the values that they have now.
///
/// # Errors
/// As [`Graph::edit`].
#[inline]
pub fn edit<G, R: EditResult>(
    graph: &mut G,
    parts: impl Fn() -> EditedGraph<G> + Copy,
    change: impl FnOnce(&mut G) -> R,
    undo: impl FnOnce(&mut G),
) -> Result<()> {
    let inner = || parts().graph_mut;
    run(graph, inner, change, undo, |graph, open| make(graph, parts, EDIT, open))
}

/// The name of edits in messages.
const EDIT: &str = "edit";

/// Runs `change` in an edit, and makes its changes by `make`.
///
/// A `Result` that is `Ok` is not moved here: it has room for an [`Error`], and an edit should cost no more than CUDA's
/// calls.
#[inline]
fn run<G, R: EditResult>(
    graph: &mut G,
    inner: impl Fn() -> fn(&mut G) -> &mut Graph,
    change: impl FnOnce(&mut G) -> R,
    undo: impl FnOnce(&mut G),
    make: impl FnOnce(&mut G, &mut OpenEdit) -> Result<()>,
) -> Result<()> {
    let is_part = inner()(graph).half_edited.is_open(); // of an edit around this one, which makes the changes
    if !is_part {
        inner()(graph).begin(Edit::Open);
    }
    let undo = Undo {
        graph,
        undo: (!is_part).then_some(|graph: &mut G| {
            inner()(graph).close();
            undo(graph);
        }),
    };
    let result = change(undo.graph);
    if !result.is_ok() {
        return refuse(inner()(undo.graph), result);
    }
    if is_part {
        return Ok(());
    }
    if !inner()(undo.graph).half_edited.is_open() {
        return Err(Error::Unsupported {
            site: inner()(undo.graph).site(),
            message: "another graph took the place of this one while it was edited",
        });
    }
    let mut open = inner()(undo.graph).close();
    if open.refused.is_some() {
        return open.refusal();
    }
    make(undo.graph, &mut open)?;
    inner()(undo.graph).edit = Some(open);
    undo.leave();
    Ok(())
}

/// Returns the error of the closure of an edit.
#[cold]
fn refuse(graph: &mut Graph, result: impl EditResult) -> Result<()> {
    result.error().map_or(Ok(()), |error| graph.refuse(error))
}

/// Gives a param, which has this number and name, another value, and changes the nodes that mention it; in an edit,
/// when that ends. `exchange` exchanges the value in the graph and another one.
///
/// # Errors
/// As [`Graph::update`].
#[inline]
pub fn set_param<G, T>(
    graph: &mut G,
    parts: impl Fn() -> EditedGraph<G> + Copy,
    (param, name): (usize, &'static str),
    mut value: T,
    exchange: impl Fn(&mut G, &mut T),
) -> Result<()> {
    exchange(graph, &mut value);
    let plain = (parts().plain)(graph, param);
    let inner = (parts().graph_mut)(graph);
    inner.request_param(param, plain);
    match inner.half_edited.is_open() {
        true => Ok(()),
        false => set_param_now(graph, parts, name, value, exchange),
    }
}

/// Makes the change of [`set_param`] outside of an edit.
fn set_param_now<G, T>(
    graph: &mut G,
    parts: impl Fn() -> EditedGraph<G> + Copy,
    name: &'static str,
    mut value: T,
    exchange: impl Fn(&mut G, &mut T),
) -> Result<()> {
    let undo = Undo {
        graph,
        undo: Some(|graph: &mut G| exchange(graph, &mut value)),
    };
    let mut open = (parts().graph_mut)(undo.graph).edit.take().unwrap_or_default();
    make(undo.graph, parts, name, &mut open)?;
    (parts().graph_mut)(undo.graph).edit = Some(open);
    undo.leave();
    Ok(())
}

/// Makes the changes of an edit, and those of the nodes that mention its params. `what` names them in messages.
#[inline]
fn make<G>(
    graph: &mut G,
    parts: impl Fn() -> EditedGraph<G> + Copy,
    what: &'static str,
    open: &mut OpenEdit,
) -> Result<()> {
    if !open.put_plain((parts().graph)(graph)) {
        declare(graph, parts, open)?;
    }
    commit((parts().graph_mut)(graph), what, &mut open.batch)
}

/// Requests the changes of the nodes that mention params that were set, as these nodes are declared.
#[inline(never)]
fn declare<G>(graph: &G, parts: impl Fn() -> EditedGraph<G>, open: &mut OpenEdit) -> Result<()> {
    let EditedGraph {
        graph: inner, change, ..
    } = parts();
    let OpenEdit { batch, others, .. } = open;
    others
        .drain(..)
        .try_for_each(|param| collect(inner(graph), batch, |update| change(graph, update, param)))
}
