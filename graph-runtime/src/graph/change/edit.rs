//! Edits: several changes that are made together. Changes of params, alone and in edits.

use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::graph::change::batch::Batch;
use crate::graph::change::commit::{commit, refused};
use crate::graph::change::direct_param::{DirectParam, DirectUses};
use crate::graph::change::state::{Instance, State, leave_edit};
use crate::graph::change::update::{Update, collect};
use std::marker::PhantomData;

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

/// The changes that an edit has requested so far. After an edit, there are none, and their room is for the next edit,
/// which then allocates nothing.
#[derive(Debug)]
pub(crate) struct Requests {
    /// The graph that these are changes of.
    instance: Instance,
    batch: Batch,
    /// The params that were set, besides those whose values are in `batch`. Each once.
    params: Vec<usize>,
    /// The first change that was refused. Then none is made, also if the closure goes on.
    refused: Option<Box<Error>>,
    /// The uses of params that this edit and earlier ones have found.
    direct_uses: DirectUses,
}

impl Requests {
    #[cold]
    fn new(instance: Instance) -> Box<Self> {
        Box::new(Self {
            instance,
            batch: Batch::default(),
            params: Vec::new(),
            refused: None,
            direct_uses: DirectUses::default(),
        })
    }
}

/// A declared graph with params, as edits see it. Its expansion implements this.
pub trait ParamGraph: Sized {
    /// Returns the runtime's graph.
    fn graph(&self, only: Only<Self>) -> &Graph;

    /// Returns the runtime's graph, to change it.
    fn graph_mut(&mut self, only: Only<Self>) -> &mut Graph;

    /// Requests that the nodes that mention the param of this number are changed to the current values of the params.
    ///
    /// # Errors
    /// As [`Graph::update`].
    fn change(&self, update: &mut Update<'_>, param: usize) -> Result<()>;

    /// Returns the value and the uses of the param of this number, if it is a whole argument wherever it is mentioned.
    fn direct(&self, param: usize) -> Option<DirectParam> {
        let _ = param;
        None
    }
}

/// The right to get the [`Graph`] in a `G`, which only the runtime has.
///
/// A declared graph may offer less of its `Graph` than all of it: its nodes may be private to its module. Code that has
/// this right for a type of its own does not have it for another one, so it cannot pass the graph in another type off
/// as its own.
#[derive(Debug)]
pub struct Only<G>(PhantomData<fn(G)>);

impl Graph {
    /// The room for requests of changes.
    #[inline]
    fn requests(&mut self) -> &mut Requests {
        self.requests.get_or_insert_with(|| Requests::new(self.instance))
    }

    /// Takes the requests out of the graph.
    #[inline]
    fn take_requests(&mut self) -> Box<Requests> {
        self.requests.take().unwrap_or_else(|| Requests::new(self.instance))
    }

    /// Requests changes in the edit whose closure is running.
    pub(super) fn request(&mut self, batch: Batch) {
        self.requests().batch.append(batch);
    }

    /// Requests that the nodes that mention a param get its value. If that is a whole argument of all of them,
    /// `direct` is given.
    #[inline]
    fn request_param(&mut self, param: usize, direct: Option<DirectParam>) {
        if let Some(direct) = &direct
            && self.was_whole()
            && let Some(requests) = &mut self.requests
            && let Requests { batch, direct_uses, .. } = &mut **requests
            && direct_uses.put_first(&self.data.program, &mut batch.values, param, direct)
        {
            return;
        }
        self.request_declared(param, direct);
    }

    /// As [`Graph::request_param`], for the first time, again in one edit, for several nodes, or where these need their
    /// declaration for that. (After a change that failed half-way, nodes are made anew, also with the values that they
    /// have.)
    #[cold]
    fn request_declared(&mut self, param: usize, direct: Option<DirectParam>) {
        let mut requests = self.take_requests();
        let Requests {
            batch,
            params,
            direct_uses,
            ..
        } = &mut *requests;
        let is_direct = direct.filter(|_| self.was_whole()).is_some_and(|direct| {
            direct_uses.find(&self.data, param, &direct);
            direct_uses.put(&self.data.program, &mut batch.values, param, &direct)
        });
        if !is_direct && !params.contains(&param) {
            params.push(param);
        }
        self.requests = Some(requests);
    }

    /// Makes the changes that were requested, if they are values alone and the graph is whole. Returns false if there
    /// is more to do.
    fn commit_values(&mut self, what: &'static str) -> Result<bool, Box<Error>> {
        let Self {
            state: State::Whole,
            requests: Some(requests),
            executable,
            data,
            ..
        } = self
        else {
            return Ok(false);
        };
        if requests.refused.is_some() || !requests.params.is_empty() {
            return Ok(false);
        }
        let made = requests.batch.commit_values(executable, data);
        match made {
            Ok(made) if made => requests.direct_uses.end_edit(),
            Ok(_) => {}
            Err(_) => {
                let mut requests = self.take_requests();
                refused(self, what, &mut requests.batch);
            }
        }
        made
    }

    /// Returns the error of a change. If an edit requested that, the edit will fail, too.
    #[cold]
    pub(in crate::graph) fn refuse(&mut self, error: Error) -> Result<()> {
        if let Ok(true) = self.is_in_edit() {
            self.requests().refused.get_or_insert_with(|| error.clone().into());
        }
        Err(error)
    }
}

/// A change that runs code of the user and has not ended: if it fails or panics, `undo` gives the params their values
/// back. It does so in the graph that it began with, and in no other one that took its place.
struct Running<'a, G, I: Fn(&mut G) -> &mut Graph, U: FnMut(&mut G)> {
    graph: &'a mut G,
    inner: I,
    instance: Instance,
    undo: U,
}

impl<G, I: Fn(&mut G) -> &mut Graph, U: FnMut(&mut G)> Running<'_, G, I, U> {
    #[inline]
    fn inner(&mut self) -> &mut Graph {
        (self.inner)(self.graph)
    }

    /// Makes the changes that were requested, and ends. `make` is called if they are more than values. The room for
    /// requests is left for the next change.
    #[inline]
    fn complete(
        mut self,
        what: &'static str,
        make: impl FnOnce(&mut G, &'static str, &mut Requests) -> Result<()>,
    ) -> Result<()> {
        match self.inner().commit_values(what) {
            Ok(true) => {}
            Ok(false) => self.complete_all(what, make)?,
            Err(error) => return Err(*error),
        }
        std::mem::forget(self);
        Ok(())
    }

    /// As [`Running::complete`], for changes that are more than values.
    #[cold]
    fn complete_all(
        &mut self,
        what: &'static str,
        make: impl FnOnce(&mut G, &'static str, &mut Requests) -> Result<()>,
    ) -> Result<()> {
        let mut requests = self.inner().take_requests();
        if let Some(error) = requests.refused.take() {
            return Err(*error);
        }
        make(self.graph, what, &mut requests)?;
        requests.direct_uses.end_edit();
        self.inner().requests = Some(requests);
        Ok(())
    }
}

impl<G, I: Fn(&mut G) -> &mut Graph, U: FnMut(&mut G)> Drop for Running<'_, G, I, U> {
    fn drop(&mut self) {
        leave_edit();
        let inner = (self.inner)(self.graph);
        if inner.instance == self.instance {
            inner.requests = None;
            inner.close();
            (self.undo)(self.graph);
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
        |graph, what, requests| commit_requests(inner(graph), what, requests),
    )
}

/// As [`edit_nodes`], of a graph with params. `params` are copies of their values, and `exchange` exchanges others and
/// those of the graph, without running code of the user.
///
/// # Errors
/// As [`Graph::edit`].
#[inline]
pub fn edit<G: ParamGraph, R: EditResult, P>(
    graph: &mut G,
    change: impl FnOnce(&mut G) -> R,
    mut params: P,
    exchange: impl Fn(&mut G, &mut P),
) -> Result<()> {
    run(
        graph,
        |graph| graph.graph_mut(Only(PhantomData)),
        change,
        |graph| exchange(graph, &mut params),
        make,
    )
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
    inner: impl Fn(&mut G) -> &mut Graph,
    change: impl FnOnce(&mut G) -> R,
    undo: impl FnMut(&mut G),
    make: impl FnOnce(&mut G, &'static str, &mut Requests) -> Result<()>,
) -> Result<()> {
    if inner(graph).is_in_edit()? {
        // It is a part of the edit around it, which makes the changes.
        let result = change(graph);
        return if result.is_ok() {
            Ok(())
        } else {
            refuse(inner(graph), result)
        };
    }
    let instance = inner(graph).open();
    let mut edit = Running {
        graph,
        inner,
        instance,
        undo,
    };
    let result = change(edit.graph);
    leave_edit();
    if edit.inner().instance != instance {
        return Err(swapped(edit.inner()));
    }
    if !result.is_ok() {
        return refuse(edit.inner(), result);
    }
    edit.inner().close();
    edit.complete(EDIT, make)
}

/// Returns the error of the closure of an edit.
#[cold]
fn refuse(graph: &mut Graph, result: impl EditResult) -> Result<()> {
    result.error().map_or(Ok(()), |error| graph.refuse(error))
}

/// The error of changes of another graph than this one.
#[cold]
fn swapped(graph: &Graph) -> Error {
    Error::Unsupported {
        site: graph.site(),
        message: "another graph took the place of this one while it was edited",
    }
}

/// Gives a param, which has this number and name, another value, and changes the nodes that mention it; in an edit,
/// when that ends. `exchange` exchanges the value in the graph and another one, without running code of the user.
///
/// # Errors
/// As [`Graph::update`].
#[inline]
pub fn set_param<G: ParamGraph, T>(
    graph: &mut G,
    (param, name): (usize, &'static str),
    mut value: T,
    exchange: impl Fn(&mut G, &mut T),
) -> Result<()> {
    if graph.graph(Only(PhantomData)).is_in_edit()? {
        exchange(graph, &mut value);
        request_param(graph, param);
        return Ok(());
    }
    set_param_now(graph, param, name, value, exchange)
}

/// As [`set_param`], outside of an edit.
fn set_param_now<G: ParamGraph, T>(
    graph: &mut G,
    param: usize,
    name: &'static str,
    mut value: T,
    exchange: impl Fn(&mut G, &mut T),
) -> Result<()> {
    let instance = graph.graph(Only(PhantomData)).instance;
    exchange(graph, &mut value);
    let set = Running {
        graph,
        inner: |graph: &mut G| graph.graph_mut(Only(PhantomData)),
        instance,
        undo: |graph: &mut G| exchange(graph, &mut value),
    };
    request_param(set.graph, param);
    set.complete(name, make)
}

/// Requests that the nodes that mention a param get the value that it has now.
#[inline]
fn request_param<G: ParamGraph>(graph: &mut G, param: usize) {
    let direct = graph.direct(param);
    graph.graph_mut(Only(PhantomData)).request_param(param, direct);
}

/// Makes the changes of an edit, and those of the nodes that mention its params. `what` names them in messages.
#[cold]
fn make<G: ParamGraph>(graph: &mut G, what: &'static str, requests: &mut Requests) -> Result<()> {
    let inner = graph.graph(Only(PhantomData));
    if inner.instance != requests.instance {
        return Err(swapped(inner));
    }
    let Requests { batch, params, .. } = requests;
    for param in params.drain(..) {
        collect(inner, batch, |update| graph.change(update, param))?;
    }
    commit_requests(graph.graph_mut(Only(PhantomData)), what, requests)
}

/// Makes the changes of a graph that were requested, all or none.
fn commit_requests(graph: &mut Graph, what: &'static str, requests: &mut Requests) -> Result<()> {
    // Nothing else stops an implementation of `ParamGraph` from returning one graph first, and then another one.
    if graph.instance != requests.instance {
        return Err(swapped(graph));
    }
    commit(graph, what, &mut requests.batch)
}
