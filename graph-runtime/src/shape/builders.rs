//! The builders whose places and nodes a graph takes, and the names of what they have declared.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

/// The ids of builders: the one that declared a graph and, if the graph was updated, those before that had declared the
/// same memory and nodes.
#[derive(Clone, Debug)]
pub(crate) struct Builders {
    own: u64,
    before: Vec<u64>,
    /// Keeps the names of the graph for messages of others.
    _named: Arc<Named>,
}

impl Builders {
    pub(crate) fn new(own: u64, named: Arc<Named>) -> Self {
        Self {
            own,
            before: Vec::new(),
            _named: named,
        }
    }

    /// The id of the builder that declared the graph as it is.
    pub(crate) fn own(&self) -> u64 {
        self.own
    }

    /// Whether what the builder of this id has returned is the graph's.
    #[inline]
    pub(crate) fn has(&self, id: u64) -> bool {
        self.own == id || self.before.contains(&id)
    }

    /// Takes what the builders of an earlier graph have returned, too.
    pub(crate) fn follow(&mut self, earlier: &Self) {
        let all = earlier.before.iter().chain([&earlier.own]);
        let new: Vec<u64> = all.copied().filter(|&id| !self.has(id)).collect();
        self.before.extend(new);
    }
}

/// The names of a graph and of its nodes, which other graphs put into messages if they are given a node of it.
#[derive(Debug)]
pub(crate) struct Named {
    id: u64,
    graph: Box<str>,
    /// The names of the nodes, once all are declared.
    nodes: OnceLock<Vec<Cow<'static, str>>>,
}

/// The names of the graphs that live, by the ids of their builders.
static ALL: Mutex<BTreeMap<u64, Weak<Named>>> = Mutex::new(BTreeMap::new());

/// The most nodes of a graph whose names are kept a second time.
const MAX_NAMES: usize = 4096;

impl Named {
    /// The names of the graph of a builder, as long as the returned value lives.
    pub(crate) fn new(id: u64, graph: &str) -> Arc<Self> {
        let named = Arc::new(Self {
            id,
            graph: graph.into(),
            nodes: OnceLock::new(),
        });
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(id, Arc::downgrade(&named));
        named
    }

    /// Sets the names of all nodes, unless there are very many.
    pub(crate) fn set_nodes<'n>(&self, nodes: impl ExactSizeIterator<Item = &'n Cow<'static, str>>) {
        if nodes.len() <= MAX_NAMES {
            let _ = self.nodes.set(nodes.cloned().collect());
        }
    }

    /// The words for a node of a graph, if the graph lives: `` `copy` of graph `Other` ``, or the number of a node
    /// whose graph is being declared.
    pub(crate) fn words(id: u64, node: usize) -> Option<String> {
        let all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        let named = all.get(&id)?.upgrade();
        drop(all); // before `named`, whose end needs the lock
        let named = named?;
        let name = named.nodes.get().and_then(|nodes| nodes.get(node));
        let node = name.map_or_else(|| format!("node {node}"), |name| format!("`{name}`"));
        Some(format!("{node} of graph `{}`", named.graph))
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        all.remove(&self.id);
    }
}
