//! Edits: several changes that are made together.

use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::graph::change::batch::Batch;
use crate::graph::change::commit::commit;
use crate::graph::change::direct_param::{PlainParam, PlainUses};
use crate::graph::change::state::Edit;
use crate::graph::change::update::{Update, collect};

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
    /// The params that were set.
    params: ParamSet,
    /// The first change that was refused. Then none is made, also if the closure goes on.
    pub(crate) refused: Option<Box<Error>>,
    /// The uses of params that this edit and earlier ones have found.
    pub(crate) plain_uses: PlainUses,
}

impl OpenEdit {
    /// Returns the error of the change that was refused.
    #[cold]
    fn refusal(&mut self) -> Result<()> {
        self.refused.take().map_or(Ok(()), |error| Err(*error))
    }
}

/// A set of params, by their number.
#[derive(Debug, Default)]
struct ParamSet {
    /// 64 params in each word, the first in the lowest bit.
    words: Vec<u64>,
}

impl ParamSet {
    fn insert(&mut self, param: usize) {
        if param / 64 >= self.words.len() {
            self.words.resize(param / 64 + 1, 0);
        }
        self.words[param / 64] |= 1 << (param % 64);
    }

    /// Takes all out. If `f` fails, nobody knows which are left.
    #[inline]
    fn take_each(&mut self, mut f: impl FnMut(usize) -> Result<()>) -> Result<()> {
        for (word, params) in self.words.iter_mut().enumerate() {
            let mut params = std::mem::take(params);
            while params != 0 {
                f(word * 64 + params.trailing_zeros() as usize)?;
                params &= params - 1;
            }
        }
        Ok(())
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
    pub(in crate::graph) fn request(&mut self, change: impl FnOnce(&mut OpenEdit)) -> Result<()> {
        change(self.edit.get_or_insert_default());
        Ok(())
    }

    /// Requests that the nodes that mention a param get its value.
    #[inline]
    fn request_param(&mut self, param: usize) {
        if let Some(open) = &mut self.edit
            && let Some(word) = open.params.words.get_mut(param / 64)
        {
            *word |= 1 << (param % 64);
        } else {
            self.request_first(param);
        }
    }

    #[cold]
    fn request_first(&mut self, param: usize) {
        self.edit.get_or_insert_default().params.insert(param);
    }

    /// Returns the error of a change. If an edit requested that, the edit will fail, too.
    pub(in crate::graph) fn refuse(&mut self, error: Error) -> Result<()> {
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
    if (parts().graph)(graph).half_edited.is_open() {
        (parts().graph_mut)(graph).request_param(param);
        return Ok(());
    }
    set_param_now(graph, parts, param, name, value, exchange)
}

/// As [`set_param`], outside of an edit. The values were exchanged already.
fn set_param_now<G, T>(
    graph: &mut G,
    parts: impl Fn() -> EditedGraph<G> + Copy,
    param: usize,
    name: &'static str,
    mut value: T,
    exchange: impl Fn(&mut G, &mut T),
) -> Result<()> {
    let undo = Undo {
        graph,
        undo: Some(|graph: &mut G| exchange(graph, &mut value)),
    };
    let mut open = (parts().graph_mut)(undo.graph).edit.take().unwrap_or_default();
    open.params.insert(param);
    make(undo.graph, parts, name, &mut open)?;
    (parts().graph_mut)(undo.graph).edit = Some(open);
    undo.leave();
    Ok(())
}

/// Makes the changes of an edit, and those of the nodes that mention its params. `what` names them in messages.
#[inline]
fn make<G>(graph: &mut G, parts: impl Fn() -> EditedGraph<G>, what: &'static str, open: &mut OpenEdit) -> Result<()> {
    let parts = parts();
    let OpenEdit {
        batch,
        params,
        plain_uses,
        ..
    } = open;
    let inner = (parts.graph)(graph);
    // After a change that failed half-way, nodes are made anew, also with the values that they have.
    let is_whole = inner.half_edited.is_empty();
    params.take_each(|param| {
        if is_whole
            && let Some(plain) = (parts.plain)(graph, param)
            && plain_uses.put(inner, &mut batch.values, param, plain)
        {
            return Ok(());
        }
        declare(graph, inner, parts.change, param, batch)
    })?;
    commit((parts.graph_mut)(graph), what, batch)
}

/// Requests the changes of the nodes that mention a param, as they are declared. This is apart from the loop over
/// params, which is short without it.
#[inline(never)]
fn declare<G>(
    graph: &G,
    inner: &Graph,
    change: fn(&G, &mut Update<'_>, usize) -> Result<()>,
    param: usize,
    batch: &mut Batch,
) -> Result<()> {
    collect(inner, batch, |update| change(graph, update, param))
}
