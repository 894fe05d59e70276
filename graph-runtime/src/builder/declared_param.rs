//! Params: values that can change between launches.

use super::GraphBuilder;
use crate::error::mistakes;
use crate::graph::node::NodeId;
use crate::kernel::param::{Param, PassedParam};
use crate::kernel::{ArgumentKind, CallArgument, KernelFacts, Value};
use crate::program::params::{DeclaredParam, ParamUse};
use crate::program::transfer::Memset;
use crate::shape::place::{OnDevice, Place};
use crate::shape::rectangle::Rectangle;
use crate::shape::{ArrayOf, Element};
use std::any::{TypeId, type_name};
use std::borrow::Cow;

impl GraphBuilder {
    /// Declares a value that can change between launches. [`Graph::set`](crate::Graph::set) gives it another one, in
    /// all nodes that were given it when they were added:
    ///
    /// * as an argument of a declared kernel, where its parameter is an integer, of any type; a value that does not fit
    ///   the parameter is a mistake (`contract`). For other parameters there is
    ///   [`KernelCall::with_param`](crate::KernelCall::with_param);
    /// * as an argument by position: `(&param).into()`;
    /// * as the value of a memset: [`GraphBuilder::memset_param`], [`GraphBuilder::memset_2d_param`].
    ///
    /// Whoever passes it to a kernel in an `unsafe` call promises what the call asks for all values of the param.
    ///
    /// ```
    /// use graph_runtime::{Device, GraphBuilder};
    ///
    /// let mut builder = GraphBuilder::new(&Device::emulator(), "Fill");
    /// let (mut one, mut two) = (builder.device::<[u32; 4]>("one"), builder.device::<[u32; 4]>("two"));
    /// let pos = builder.param("pos", 0_u32);
    /// builder.memset_param("first", &mut one, &pos);
    /// builder.memset_param("second", &mut two, &pos);
    ///
    /// let mut graph = builder.build()?;
    /// graph.set(&pos, 5)?;
    /// graph.launch()?;
    /// assert_eq!((*graph.device(&one)?.read()?, *graph.device(&two)?.read()?), ([5; 4], [5; 4]));
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    ///
    /// `build` fails if two params have one name (`duplicate-name`), or if a node is given a param of another graph
    /// (`unknown-resource`).
    pub fn param<T: Element>(&mut self, name: impl Into<Cow<'static, str>>, value: T) -> Param<T> {
        let name = self.position.name_of(name.into());
        if self.params.iter().any(|known| known.name == name) {
            self.findings.mistake(mistakes::same_param(&self.draft, &name));
        }
        self.params.push(DeclaredParam {
            name: name.clone(),
            ty: TypeId::of::<T>(),
            type_name: type_name::<T>(),
            value: Value::new(&value),
            uses: Vec::new(),
        });
        Param::of(self.id, self.params.len() - 1, name, value)
    }

    /// Adds a node that sets every element of `to` to the value of a param.
    pub fn memset_param<S: ?Sized + ArrayOf<T>, T: Element>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        to: &mut Place<S, OnDevice>,
        value: &Param<T>,
    ) -> NodeId {
        self.set(name.into(), Memset::to(to, value))
    }

    /// Adds a node that sets every element of a rectangle to the value of a param.
    pub fn memset_2d_param<S: ?Sized + ArrayOf<T>, T: Element>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        to: &mut Rectangle<S, OnDevice>,
        value: &Param<T>,
    ) -> NodeId {
        self.set(name.into(), Memset::to(to, value))
    }

    /// Gives the arguments of the newest node that are params their values, and records that the node uses them.
    /// Returns false if one of them is another graph's.
    #[cold]
    pub(super) fn use_params(&mut self, node: usize, facts: &'static KernelFacts, call: &mut [CallArgument]) -> bool {
        let mut own = true;
        for (index, argument) in call.iter_mut().enumerate() {
            let ArgumentKind::Param(passed) = &argument.0 else {
                continue;
            };
            let used = self.use_param(node, Some((index, facts)), passed);
            own &= used.is_some();
            let zeros = || ArgumentKind::Value(Value::of_bytes(&vec![0; passed.size]));
            argument.0 = used.unwrap_or_else(zeros);
        }
        own
    }

    /// Records that the newest node uses a param, and returns its value. If the param is another graph's, reports that.
    pub(super) fn use_param(
        &mut self,
        node: usize,
        argument: Option<(usize, &'static KernelFacts)>,
        passed: &PassedParam,
    ) -> Option<ArgumentKind> {
        match self.params.get_mut(passed.index) {
            Some(param) if passed.graph == self.id => {
                let make = passed.argument;
                param.uses.push(ParamUse { node, argument, make });
                Some(make(&param.value))
            }
            _ => {
                let name = &self.draft.nodes[node].name;
                self.findings
                    .mistake(mistakes::foreign_param(node, Some(name), &passed.name));
                None
            }
        }
    }
}
