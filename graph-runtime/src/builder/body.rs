//! Conditional nodes and their bodies: `if`, `while`, `switch`.

use super::GraphBuilder;
use crate::graph::node::NodeId;
use crate::program::{Conditional, ConditionalKind, Op, Structure};
use crate::shape::place::{OnDevice, Place, Span};
use graph_plan::{Mode, Role};
use std::borrow::Cow;

impl GraphBuilder {
    /// Adds a node that runs the nodes that `then` adds, if `condition` is not 0 when the node starts.
    ///
    /// Edges of a node that `then` adds are to other such nodes. (The conditional node has edges to nodes outside.) The
    /// nodes are kernels, copies, memsets, joins, captures, child graphs and conditionals; CUDA allows no others in a
    /// body, and `build` refuses them (`conditional-body`).
    ///
    /// ```
    /// use graph_runtime::{Device, GraphBuilder};
    ///
    /// let mut builder = GraphBuilder::new(&Device::emulator(), "Maybe");
    /// let flag = builder.device::<u32>("flag");
    /// let mut data = builder.device::<[f32; 4]>("data");
    /// builder.if_then("maybe", &flag, |then| {
    ///     then.memset("set", &mut data, 1.0_f32);
    /// });
    ///
    /// let mut graph = builder.build()?;
    /// graph.launch()?;
    /// assert_eq!(*graph.device(&data)?.read()?, [0.0; 4]);
    /// graph.device_mut(&flag)?.copy_from(&1)?;
    /// graph.launch()?;
    /// assert_eq!(*graph.device(&data)?.read()?, [1.0; 4]);
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    pub fn if_then(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        condition: &Place<u32, OnDevice>,
        then: impl FnOnce(&mut Self),
    ) -> NodeId {
        let node = self.conditional(name.into(), ConditionalKind::If, condition.span);
        self.body(then);
        node
    }

    /// Adds a node that runs the nodes that `then` adds if `condition` is not 0 when the node starts, else the nodes
    /// that `otherwise` adds. See [`GraphBuilder::if_then`]. If both write one place, each takes a copy: `&mut
    /// x.whole()`.
    pub fn if_else(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        condition: &Place<u32, OnDevice>,
        then: impl FnOnce(&mut Self),
        otherwise: impl FnOnce(&mut Self),
    ) -> NodeId {
        let node = self.conditional(name.into(), ConditionalKind::If, condition.span);
        self.body(then);
        self.body(otherwise);
        node
    }

    /// Adds a node that runs the nodes that `body` adds as long as `condition` is not 0. The condition is read before
    /// each iteration. Some node of the body must write it (`endless-while`). See [`GraphBuilder::if_then`].
    ///
    /// ```
    /// use graph_runtime::{Device, GraphBuilder};
    ///
    /// let mut builder = GraphBuilder::new(&Device::emulator(), "Once");
    /// let mut more = builder.device::<u32>("more");
    /// let start = builder.memset("start", &mut more, 1_u32);
    /// let repeat = builder.while_loop("repeat", &more.whole(), |body| {
    ///     body.memset("stop", &mut more, 0_u32);
    /// });
    /// builder.after(repeat, &[start]);
    ///
    /// let mut graph = builder.build()?;
    /// graph.launch()?;
    /// assert_eq!(*graph.device(&more)?.read()?, 0);
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    pub fn while_loop(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        condition: &Place<u32, OnDevice>,
        body: impl FnOnce(&mut Self),
    ) -> NodeId {
        let node = self.conditional(name.into(), ConditionalKind::While, condition.span);
        self.body(body);
        node
    }

    /// Adds a node with `cases` bodies. `case` is called once for each number below `cases`, and adds the nodes of that
    /// body. The body runs whose number `condition` is when the node starts; none, if that is `cases` or more. See
    /// [`GraphBuilder::if_then`].
    pub fn switch(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        condition: &Place<u32, OnDevice>,
        cases: usize,
        mut case: impl FnMut(&mut Self, usize),
    ) -> NodeId {
        let node = self.conditional(name.into(), ConditionalKind::Switch, condition.span);
        for number in 0..cases {
            self.body(|builder| case(builder, number));
        }
        node
    }

    fn body(&mut self, add: impl FnOnce(&mut Self)) {
        self.open_body();
        add(self);
        self.close_body();
    }

    /// Adds a conditional without bodies.
    pub(crate) fn conditional(&mut self, name: Cow<'static, str>, kind: ConditionalKind, condition: Span) -> NodeId {
        let node = self.node(name, kind.node());
        self.touch(node, condition, Mode::Read);
        self.push(Structure::Conditional(Conditional::new(kind, condition)))
    }

    /// Begins the next body of the newest conditional in the current body: nodes are added to it from now on. If the
    /// conditional can have no further body, this does nothing.
    pub(crate) fn open_body(&mut self) {
        let (draft, ops) = (&mut self.draft, &mut self.program.ops);
        let beside = |&node: &usize| draft.nodes[node].body == self.position.body && ops[node].conditional().is_some();
        let Some(node) = (0..ops.len()).rev().find(beside) else {
            return;
        };
        let Op::Structure(Structure::Conditional(conditional)) = &mut ops[node] else {
            return;
        };
        let role = match conditional.kind {
            ConditionalKind::If => [Role::Then, Role::Else].get(conditional.bodies.len()).copied(),
            ConditionalKind::While => conditional.bodies.is_empty().then_some(Role::While),
            ConditionalKind::Switch => Some(Role::Case),
        };
        let Some(role) = role else { return };
        self.position.body = draft.body(node, role);
        conditional.bodies.push(self.position.body);
    }

    /// Ends the body that was begun last.
    pub(crate) fn close_body(&mut self) {
        self.position.body = self.draft.enclosing(self.position.body).unwrap_or(0);
    }

    /// Builds as if the driver had at most this CUDA version (1000 x major + 10 x minor), to test how conditionals are
    /// lowered for older drivers. The emulator ignores it.
    pub(crate) fn limit_driver(&mut self, version: u32) {
        self.driver = version;
    }
}
