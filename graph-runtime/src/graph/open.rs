//! Edits: several changes that are made together.

use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::graph::batch::Batch;
use crate::graph::commit::commit;
use crate::graph::edit::Edit;
use crate::graph::plain::{PlainParam, PlainUses};
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

/// An edit whose closure is running: the changes that it has requested so far.
#[derive(Debug, Default)]
pub(crate) struct OpenEdit {
    pub(crate) batch: Batch,
    /// The params that were set, by their number.
    pub(crate) params: Vec<usize>,
    /// The first change that was refused. Then none is made, also if the closure goes on.
    pub(crate) refused: Option<Box<Error>>,
    /// The uses of params that this edit and earlier ones have found.
    pub(crate) plain_uses: PlainUses,
}

impl OpenEdit {
    /// Forgets all changes, and keeps the room for others.
    fn clear(&mut self) {
        let Self {
            batch,
            params,
            refused,
            plain_uses: _,
        } = self;
        batch.clear();
        params.clear();
        *refused = None;
    }
}

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
    /// The param of this number, if it is plain.
    pub plain: fn(&G, usize) -> Option<PlainParam>,
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
            open.refused.get_or_insert_with(|| error.clone().into());
        }
        Err(error)
    }

    /// Begins an edit whose closure runs now.
    fn open(&mut self) {
        self.open = Some(self.room());
        self.begin(Edit::Open);
    }

    /// Ends the edit whose closure was running, if there is one.
    fn close(&mut self) -> Option<Box<OpenEdit>> {
        self.finish(Edit::Open);
        self.open.take()
    }

    /// An edit without changes, with the room of an earlier one.
    fn room(&mut self) -> Box<OpenEdit> {
        self.room.take().unwrap_or_default()
    }

    /// Keeps the room of an edit that has ended for the next one, which then allocates nothing.
    fn keep(&mut self, mut ended: Box<OpenEdit>) {
        ended.clear();
        self.room = Some(ended);
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
#[inline]
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
    parts: EditedGraph<G>,
    change: impl FnOnce(&mut G) -> R,
    undo: impl FnOnce(&mut G),
) -> Result<()> {
    run(graph, parts.graph_mut, change, undo, |graph, open| {
        make(graph, &parts, EDIT, open)
    })
}

/// The name of edits in messages.
const EDIT: &str = "edit";

/// Runs `change` in an edit, and makes its changes by `make`.
///
/// This and its callers are inlined into the program, so that calls of functions in [`EditedGraph`] are direct ones. A
/// `Result` that is `Ok` is not moved here: it has room for an [`Error`], and an edit should cost no more than CUDA's
/// calls.
#[inline]
fn run<G, R: EditResult>(
    graph: &mut G,
    inner: fn(&mut G) -> &mut Graph,
    change: impl FnOnce(&mut G) -> R,
    undo: impl FnOnce(&mut G),
    make: impl FnOnce(&mut G, &mut OpenEdit) -> Result<()>,
) -> Result<()> {
    let is_part = inner(graph).open.is_some(); // of an edit around this one, which makes the changes
    if !is_part {
        inner(graph).open();
    }
    let mut undo = Undo {
        graph,
        undo: (!is_part).then_some(|graph: &mut G| {
            inner(graph).close();
            undo(graph);
        }),
    };
    if let Err(error) = change(undo.graph).into_result() {
        return inner(undo.graph).refuse(error);
    }
    if is_part {
        return Ok(());
    }
    let Some(mut open) = inner(undo.graph).close() else {
        return Err(Error::Unsupported {
            site: inner(undo.graph).site(),
            message: "another graph took the place of this one while it was edited",
        });
    };
    if let Some(error) = open.refused.take() {
        return Err(*error);
    }
    make(undo.graph, &mut open)?;
    undo.undo = None;
    inner(undo.graph).keep(open);
    Ok(())
}

/// Gives a param, which has this number and name, another value, and changes the nodes that mention it; in an edit,
/// when that ends. `exchange` exchanges the value in the graph and another one.
///
/// # Errors
/// As [`Graph::update`].
#[inline]
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
    let mut open = (parts.graph_mut)(undo.graph).room();
    open.params.push(param);
    make(undo.graph, &parts, name, &mut open)?;
    undo.undo = None;
    (parts.graph_mut)(undo.graph).keep(open);
    Ok(())
}

/// Makes the changes of an edit, and those of the nodes that mention its params. `what` names them in messages.
#[inline]
fn make<G>(graph: &mut G, parts: &EditedGraph<G>, what: &'static str, open: &mut OpenEdit) -> Result<()> {
    let OpenEdit {
        batch,
        params,
        plain_uses,
        ..
    } = open;
    collect((parts.graph)(graph), batch, |update| {
        params.iter().try_for_each(|&param| match (parts.plain)(graph, param) {
            Some(plain) if plain_uses.put(update, param, &plain) => Ok(()),
            _ => (parts.change)(graph, update, param),
        })
    })?;
    commit((parts.graph_mut)(graph), what, batch)
}
