//! The builders whose places and nodes a graph takes.

/// The ids of builders: the one that declared a graph and, if the graph was updated, those before that had declared the
/// same memory and nodes.
#[derive(Clone, Debug)]
pub(crate) struct Builders {
    own: u64,
    before: Vec<u64>,
}

impl Builders {
    pub(crate) fn new(own: u64) -> Self {
        let before = Vec::new();
        Self { own, before }
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
