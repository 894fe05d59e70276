//! Changes nodes of graphs and child graphs that `cuda_graph!` has declared.

use crate::error::{Error, Result, Site};
use crate::graph::change::update::Update;
use crate::graph::rng::Rng;
use crate::shape::Element;
use crate::shape::place::{OnDevice, Place, Span};
use crate::shape::table::{Table, bytes_of, padded};

impl Update<'_> {
    /// Runs `change` in the child of the declaration with this index. In `change`, indices of declarations and names of
    /// memory are those of the child.
    pub(crate) fn within(&mut self, declared: usize, change: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let child = self.graph.check_node(self.declared(declared))?;
        let (around, current) = (self.child.replace(child), self.current.take());
        let changed = change(self);
        (self.child, self.current) = (around, current);
        self.declared(declared); // the child itself, after its nodes
        changed
    }

    fn own_memory(&self, name: &str, fits: impl FnOnce(usize) -> bool) -> Result<Span> {
        let own = |&resource: &usize| !self.graph.data.draft.resources[resource].memory.is_bindable();
        let resource = self.own_resource(name).filter(own);
        let layout = resource.and_then(|resource| Some((resource, self.graph.data.layouts[resource]?)));
        match layout {
            Some((resource, layout)) if fits(layout.bytes) => Ok(Span {
                graph: self.graph.data.builders.own(),
                resource,
                start: 0,
                bytes: layout.bytes,
                outside: false,
            }),
            _ => Err(self.no_memory(name)),
        }
    }

    /// The resource that the current child declared as `name`; the builder called it `child.name`.
    fn own_resource(&self, name: &str) -> Option<usize> {
        let child = &self.graph.data.draft.nodes[self.child?].name;
        let own = |full: &str| {
            let rest = full.strip_prefix(&**child).and_then(|rest| rest.strip_prefix('.'));
            rest == Some(name)
        };
        let mut resources = self.graph.data.draft.resources.iter();
        resources.position(|resource| own(&resource.name))
    }

    fn no_memory(&self, name: &str) -> Error {
        let site = Site::graph(&self.graph.data.draft.name);
        Error::Node {
            site: match self.child {
                Some(child) => site.at_node(&self.graph.data.draft.nodes[child].name),
                None => site,
            },
            message: format!("the child has no memory named `{name}`"),
        }
    }
}

/// The functions that expansions call.
impl Update<'_> {
    /// The scratch memory, or the variable of a module, that the current child has declared for itself as `name`.
    ///
    /// # Errors
    /// [`Error::Node`] if it has none of that name and size.
    #[doc(hidden)]
    pub fn own<S: Element>(&self, name: &str) -> Result<Place<S, OnDevice>> {
        self.own_memory(name, |bytes| bytes == size_of::<S>()).map(Place::new)
    }

    /// Scratch memory that the current child has declared for itself, with a length that was fixed when the graph was
    /// built.
    ///
    /// # Errors
    /// As [`Update::own`].
    #[doc(hidden)]
    pub fn own_slice<T: Element>(&self, name: &str) -> Result<Place<[T], OnDevice>> {
        let whole = |bytes: usize| bytes.checked_rem(size_of::<T>()).unwrap_or(bytes) == 0;
        self.own_memory(name, whole).map(Place::new)
    }

    /// Scratch memory that the current child has declared for itself, with lengths that were fixed when the graph was
    /// built.
    ///
    /// # Errors
    /// As [`Update::own`].
    #[doc(hidden)]
    pub fn own_table<T: Element, const D: usize>(
        &self,
        name: &str,
        lengths: [usize; D],
    ) -> Result<Place<Table<T, D>, OnDevice>> {
        let span = self.own_memory(name, |bytes| bytes == bytes_of::<T>(&lengths))?;
        Ok(Place::with_lengths(span, padded(lengths)))
    }

    /// The random numbers of the name `name` that the current child has declared.
    ///
    /// # Errors
    /// [`Error::Node`] if it has none of that name.
    #[doc(hidden)]
    pub fn own_rng(&self, name: &str) -> Result<Rng> {
        let resource = self.own_resource(name);
        let mut rngs = self.graph.data.rngs.iter();
        let rng = resource.and_then(|resource| rngs.find_map(|rng| rng.find(resource)));
        rng.cloned().ok_or_else(|| self.no_memory(name))
    }
}

#[cfg(all(test, feature = "emulator"))]
mod tests {
    use crate::expansion::node_target::NodeTarget;
    use crate::program::transfer::Memset;
    use crate::{Device, GraphBuilder, NodeId, OnDevice, Place, Result, Update};

    type Bound = (Place<[u32; 4], OnDevice>, u32);

    fn nodes(target: &mut impl NodeTarget, (data, value): Bound) -> Result<()> {
        target.memset(0, "set", Memset::new(&data, value))
    }

    fn add(builder: &mut GraphBuilder, bound: Bound) -> Result<()> {
        builder.scratch::<[u32; 4]>("own");
        builder.rng("random", 1, 1);
        nodes(builder, bound)
    }

    fn update(update: &mut Update<'_>, bound: Bound) -> Result<()> {
        assert!(update.own::<[u32; 4]>("own").is_ok() && update.own_slice::<u64>("own").is_ok());
        let wrong = update.own::<[u32; 5]>("own").unwrap_err();
        let expected = "graph `Parent`, node `second`: the child has no memory named `own`";
        assert_eq!(wrong.to_string(), expected);
        assert!(update.own::<[u32; 4]>("data").is_err() && update.own_slice::<[u8; 3]>("own").is_err());
        assert!(update.own_rng("random").is_ok() && update.own_rng("own").is_err());
        nodes(update, bound)
    }

    fn child(target: &mut impl NodeTarget, index: usize, name: &'static str, bound: Bound) -> Result<()> {
        target.child(index, name, bound, add, update)
    }

    #[test]
    fn nodes_of_children_are_changed_by_their_declarations() -> Result<()> {
        let device = Device::emulator();
        let mut builder = GraphBuilder::new(&device, "Parent");
        let (one, two) = (builder.device::<[u32; 4]>("one"), builder.device::<[u32; 4]>("two"));
        child(&mut builder, 0, "first", (one, 1))?;
        child(&mut builder, 1, "second", (two, 2))?;
        let mut graph = builder.build()?;
        assert_eq!(graph.node(NodeId::new(3)).name(), "second.set");
        graph.update("value", |update| child(update, 1, "second", (two, 5)))?;
        graph.launch()?;
        assert_eq!((graph.device(&one)?.read()?[0], graph.device(&two)?.read()?[0]), (1, 5));
        let other = graph.update("value", |update| child(update, 1, "second", (one, 5)));
        assert!(other.is_err(), "the node sets other memory");
        let missing = graph.update("value", |update| child(update, 9, "ninth", (one, 5)));
        assert!(missing.is_err());
        Ok(())
    }
}
