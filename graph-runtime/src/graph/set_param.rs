//! Params of graphs that were declared call by call: their values, by handle or by name.

use crate::error::{Error, Result, mistakes};
use crate::graph::change::update::update;
use crate::graph::{Graph, GraphData};
use crate::kernel::param::{Param, PassedParam};
use crate::kernel::{ArgumentKind, Value};
use crate::shape::Element;
use std::any::{TypeId, type_name};

mod sealed {
    /// A param, as a graph finds it.
    #[derive(Clone, Copy, Debug)]
    pub enum Key<'a> {
        /// The id of the builder, the index, and the name.
        Handle(u64, usize, &'a str),
        Name(&'a str),
    }

    pub trait ParamKey {
        fn key(&self) -> Key<'_>;
    }
}
use sealed::Key;

/// A param whose values are `T`: the handle that [`GraphBuilder::param`](crate::GraphBuilder::param) has returned, or
/// its name, whose type the graph checks.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no param of values `{T}`",
    label = "expected a `&Param<{T}>` or a name"
)]
pub trait ParamKey<T>: sealed::ParamKey {}

impl<T> sealed::ParamKey for &Param<T> {
    fn key(&self) -> Key<'_> {
        Key::Handle(self.graph, self.index, &self.name)
    }
}
impl<T> ParamKey<T> for &Param<T> {}

impl sealed::ParamKey for &str {
    fn key(&self) -> Key<'_> {
        Key::Name(self)
    }
}
impl<T> ParamKey<T> for &str {}

impl Graph {
    /// Gives a param of the builder another value, and changes all nodes that use it, for later launches; nodes that
    /// have the value already are left alone, and launches in flight keep the old one. In [an edit](Graph::edit), the
    /// nodes are changed when that ends, each once for all its params, and after other changes of the same nodes.
    ///
    /// ```
    /// # use graph_runtime::{Device, GraphBuilder};
    /// # let mut builder = GraphBuilder::new(&Device::emulator(), "Fill");
    /// # let mut data = builder.device::<[u32; 4]>("data");
    /// let pos = builder.param("pos", 0_u32);
    /// builder.memset_param("fill", &mut data, &pos);
    /// let mut graph = builder.build()?;
    ///
    /// graph.set(&pos, 5)?;
    /// graph.set("pos", 6_u32)?; // by its name, as a graph has it that another part of the program has built
    /// assert_eq!(graph.get(&pos)?, 6);
    /// assert!(graph.set("poss", 7_u32).unwrap_err().to_string().contains("did you mean `pos`?"));
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// After each of these, the param and the graph are unchanged:
    ///
    /// * [`Error::Invalid`] if the param is another graph's, or there is none of this name (`unknown-resource`); if it
    ///   has another type (`signature`); if the value breaks a contract of a kernel, or does not fit its parameter
    ///   (`contract`);
    /// * as [`Graph::update`].
    pub fn set<T: Element>(&mut self, param: impl ParamKey<T>, value: T) -> Result<()> {
        update(self, "param", |update| {
            let index = update.graph.data.find_param::<T>(param.key())?;
            update.batch.set_param(index, Value::new(&value));
            Ok(())
        })
    }

    /// Returns the value of a param. In [an edit](Graph::edit), it is the one before.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the param is another graph's, or there is none of this name (`unknown-resource`), or if it
    /// has another type (`signature`).
    pub fn get<T: Element>(&self, param: impl ParamKey<T>) -> Result<T> {
        let param = &self.data.params[self.data.find_param::<T>(param.key())?];
        let mut value = T::zeroed();
        // Both have one length, since the types are the same.
        bytemuck::bytes_of_mut(&mut value).copy_from_slice(param.value.bytes());
        Ok(value)
    }
}

impl GraphData {
    /// The argument of a node that is a param, with the value that the param has.
    pub(in crate::graph) fn passed_param(&self, node: usize, passed: &PassedParam) -> Result<ArgumentKind> {
        match self.params.get(passed.index) {
            Some(param) if self.builders.has(passed.graph) => Ok((passed.argument)(&param.value)),
            _ => {
                let name = Some(&*self.draft.nodes[node].name);
                let mistake = mistakes::foreign_param(node, name, &passed.name);
                Err(Error::mistake(&self.draft.name, mistake))
            }
        }
    }

    /// The index of a param of type `T`.
    fn find_param<T: 'static>(&self, key: Key<'_>) -> Result<usize> {
        let invalid = |mistake| Error::mistake(&self.draft.name, mistake);
        let nodes = self.draft.nodes.len();
        let (found, name) = match key {
            Key::Handle(graph, index, name) => {
                if !self.builders.has(graph) {
                    return Err(invalid(mistakes::foreign_param(nodes, None, name)));
                }
                (Some(index), name)
            }
            Key::Name(name) => (self.params.iter().position(|param| param.name == name), name),
        };
        let names = || self.params.iter().map(|param| &*param.name);
        let Some((index, param)) = found.and_then(|index| Some((index, self.params.get(index)?))) else {
            return Err(invalid(mistakes::no_param(nodes, name, names())));
        };
        if param.ty != TypeId::of::<T>() {
            let types = [param.type_name, type_name::<T>()];
            return Err(invalid(mistakes::param_type(nodes, name, types)));
        }
        Ok(index)
    }
}
