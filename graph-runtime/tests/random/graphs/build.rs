//! Random graphs as calls of `GraphBuilder`.

use super::memory::{Handles, Shared};
use super::model::mixed;
use super::order;
use super::program::{Action, Area, Body, Node, Part, Program, RNGS, SHARED_RNG};
use crate::common::*;
use graph_runtime::private::Declare as _;
use std::collections::{BTreeMap, BTreeSet};

/// The way in which a program is built.
#[derive(Clone, Copy, Default)]
pub(crate) struct Options {
    /// Whether every scratch resource gets memory of its own.
    pub(crate) apart: bool,
    /// Whether it is built as for the oldest driver with conditionals.
    pub(crate) old: bool,
    /// The edge that is left out, by the number of its body and its index there.
    pub(crate) without: Option<(usize, usize)>,
    /// A plain edge that is made programmatic.
    pub(crate) early: Option<(usize, usize)>,
    /// Whether edges that accesses imply are inferred instead of written.
    pub(crate) auto: bool,
}

/// A graph of a program.
pub(crate) struct Built {
    pub(crate) graph: Graph,
    pub(crate) handles: Handles,
    nodes: BTreeMap<usize, NodeId>,
    rngs: [Rng; RNGS.len()],
}

impl Built {
    pub(crate) fn new(device: &Device, program: &Program, shared: &Shared, options: Options) -> Result<Self> {
        let mut builder = GraphBuilder::new(device, "Random");
        if options.apart {
            builder.keep_scratch_apart();
        }
        if options.old {
            builder.as_if_driver(12_030);
        }
        if options.auto {
            builder.after_auto_everywhere();
        }
        let handles = Handles::declare(&mut builder, shared);
        let mut number = 0;
        let rngs = RNGS.map(|(seed, draws)| {
            number += 1;
            let name = format!("rng{number}");
            match number - 1 == SHARED_RNG {
                true => builder.rng(name, &shared.generator, draws),
                false => builder.rng(name, seed, draws),
            }
        });
        let mut adder = Adder {
            uses: std::array::from_fn(|rng| (0..program.uses[rng]).map(|_| rngs[rng].draw()).collect()),
            handles: &handles,
            event: device.event()?,
            options,
            nodes: BTreeMap::new(),
            loops: 0,
            added: BTreeSet::new(),
            counter: None,
        };
        adder.body(&mut builder, &program.body);
        let nodes = adder.nodes;
        Ok(Self {
            graph: builder.build()?,
            handles,
            nodes,
            rngs,
        })
    }

    /// Changes nodes of the graph to what they say now, one after the other.
    pub(crate) fn change(&mut self, nodes: &[Node]) -> Result<()> {
        let (graph, ids, handles) = (&mut self.graph, &self.nodes, &self.handles);
        nodes
            .iter()
            .try_for_each(|node| change(graph, ids[&node.id], node, handles))
    }

    /// As [`Built::change`], in one edit, which also enables or disables a node. Returns false, and changes nothing, if
    /// the graph does not let that be.
    pub(crate) fn change_together(&mut self, nodes: &[Node], switched: Option<(&Node, bool)>) -> Result<bool> {
        let (ids, handles) = (&self.nodes, &self.handles);
        let edited = self.graph.edit(|graph| {
            if let Some((node, enabled)) = switched {
                graph.node(ids[&node.id]).set_enabled(enabled)?;
            }
            nodes
                .iter()
                .try_for_each(|node| change(graph, ids[&node.id], node, handles))
        });
        match edited {
            Err(Error::Unsupported { .. }) => Ok(false),
            other => other.map(|()| true),
        }
    }

    /// Enables or disables a node, if the graph lets it be.
    pub(crate) fn enable(&mut self, node: &Node, enabled: bool) -> Result<bool> {
        match self.graph.node(self.nodes[&node.id]).set_enabled(enabled) {
            Err(Error::Unsupported { .. }) => Ok(false),
            other => other.map(|()| true),
        }
    }

    /// Lets all random numbers begin again.
    pub(crate) fn reseed(&mut self) -> Result<()> {
        let mut rngs = self.rngs.iter().zip(RNGS);
        rngs.try_for_each(|(rng, (seed, _))| self.graph.rng(rng).reseed(seed))
    }
}

type Philox = graph_runtime::Place<graph_runtime::Philox, graph_runtime::OnDevice>;

struct Adder<'a> {
    handles: &'a Handles,
    uses: [Vec<Philox>; RNGS.len()],
    event: Event,
    options: Options,
    nodes: BTreeMap<usize, NodeId>,
    /// The number of loops around, in the graph or the current child.
    loops: usize,
    /// The edges that were added between iterations, by the number of their body and their index there.
    added: BTreeSet<(usize, usize)>,
    /// The variable of the kernel that counts, declared when a node first copies it.
    counter: Option<Place<[u32; 1], OnDevice>>,
}

impl Adder<'_> {
    fn body(&mut self, builder: &mut GraphBuilder, body: &Body) {
        self.parts(builder, body, &body.parts);
        let id = |node: usize| self.nodes[&body.nodes[node].id];
        let implied = if self.options.auto {
            order::conflicts(body)
        } else {
            Vec::new()
        };
        for (index, edge) in body.edges.iter().enumerate() {
            let this = Some((body.id, index));
            if self.options.without == this || self.added.contains(&(body.id, index)) {
                continue;
            }
            let [from, to] = [edge.from, edge.to].map(|node| &body.nodes[node]);
            let is_implied = implied.contains(&(edge.from, edge.to));
            if is_implied && !order::are_in_iterations(from, to) {
                continue;
            }
            if edge.programmatic || self.options.early == this {
                builder.after_programmatic(id(edge.to), &[id(edge.from)]);
            } else {
                builder.after(id(edge.to), &[id(edge.from)]);
            }
        }
    }

    fn parts(&mut self, builder: &mut GraphBuilder, body: &Body, parts: &[Part]) {
        for part in parts {
            match part {
                Part::Node(index) => {
                    let node = &body.nodes[*index];
                    let id = self.node(builder, node);
                    if !node.enabled {
                        builder.disable(id);
                    }
                    if node.action.is_kernel() && node.id.is_multiple_of(5) {
                        builder.priority(id, -1);
                    }
                    self.nodes.insert(node.id, id);
                }
                Part::For(iterations) => builder.repeat(0..iterations.len(), |builder, number| {
                    self.loops += 1;
                    self.parts(builder, body, &iterations[number]);
                    self.loops -= 1;
                }),
                Part::Each(iterations) => drop(builder.each(0..iterations.len(), |builder, number| {
                    self.loops += 1;
                    self.parts(builder, body, &iterations[number]);
                    self.between(builder, body, iterations, number);
                    self.loops -= 1;
                })),
            }
        }
    }

    /// Adds some of the edges from other iterations of an `each` to this one, where it has a node in the place of the
    /// other's.
    fn between(&mut self, builder: &mut GraphBuilder, body: &Body, iterations: &[Vec<Part>], number: usize) {
        let node_at = |iteration: usize, place: usize| match iterations[iteration].get(place) {
            Some(Part::Node(node)) => Some(*node),
            Some(Part::For(_) | Part::Each(_)) | None => None,
        };
        let place_of = |node: usize, iteration: usize| {
            (0..iterations[iteration].len()).find(|&place| node_at(iteration, place) == Some(node))
        };
        for (index, edge) in body.edges.iter().enumerate().filter(|(index, _)| index % 3 > 0) {
            let this = Some((body.id, index));
            if edge.programmatic || self.options.without == this || self.options.early == this {
                continue;
            }
            let others = (0..iterations.len()).filter(|&other| other != number);
            let mut places = others.filter_map(|other| Some((other, place_of(edge.from, other)?)));
            let (Some(_), Some((other, place))) = (place_of(edge.to, number), places.next()) else {
                continue;
            };
            let Some(same) = node_at(number, place) else { continue };
            let id = |node: usize| self.nodes[&body.nodes[node].id];
            let mut steps = vec![0; self.loops];
            steps[self.loops - 1] = other as isize - number as isize;
            builder.after_iteration(id(edge.to), id(same), &steps);
            self.added.insert((body.id, index));
        }
    }

    /// The variable, under one name for all its uses.
    fn counter(&mut self, builder: &mut GraphBuilder) -> Place<[u32; 1], OnDevice> {
        let declare = || builder.constant("counter", "counter");
        *self.counter.get_or_insert_with(declare)
    }

    fn node(&mut self, builder: &mut GraphBuilder, node: &Node) -> NodeId {
        let (name, handles) = (node.name.clone(), self.handles);
        let words = |area: &Area| handles.words(area);
        match &node.action {
            Action::Mix { from, to } => builder.kernel(name, launch(to), mix::call(&words(from), &mut words(to))),
            Action::Step { from, to } => builder.kernel(name, launch(to), step::call(&words(from), &mut words(to))),
            Action::StepWith { from, more, given, to } => {
                builder.kernel(name, launch(to), handles.step_with(from, more, *given, to))
            }
            Action::Bump { to, by } => builder.kernel(name, launch(to), bump::call(&mut words(to), *by)),
            Action::Update { to, by } => builder.kernel(name, launch(to), add_all::call(&words(to), *by)),
            Action::Start { to, value } => builder.kernel(name, launch(to), start_words::call(&mut words(to), *value)),
            Action::Weigh { weights, from, to } => {
                let call = weigh::call(&words(weights), &words(from), &mut words(to));
                builder.kernel(name, launch(to), call)
            }
            Action::Draw { rng, number, to } => {
                let call = draw_numbers::call(&self.uses[*rng][*number], &mut words(to), 2);
                builder.kernel(name, Launch::new(1, 1), call)
            }
            Action::Count { to } => builder.kernel(name, Launch::new(1, 1), count::call(&mut words(to))),
            Action::Load { to } => {
                let counter = self.counter(builder);
                builder.memcpy(name, &counter, &mut words(to))
            }
            Action::Store { from } => {
                let mut counter = self.counter(builder);
                builder.memcpy(name, &words(from), &mut counter)
            }
            Action::Remainder { from, divisor, to } => {
                let call = remainder_of::call(&words(from), *divisor, &mut words(to));
                builder.kernel(name, launch(to), call)
            }
            Action::Decrement { at } => builder.kernel(name, launch(at), add_to::call(&mut words(at), u32::MAX)),
            Action::Copy { from, to } => handles.copy(builder, name, from, to),
            Action::CopyPart { from, to, part } => handles.copy_part(builder, name, (from, to), *part),
            Action::SetPart { to, value, part } => handles.set_part(builder, name, to, *value, *part),
            Action::Set {
                to,
                value,
                pattern: true,
            } => handles.pattern(builder, name, to, *value),
            Action::Set { to, value, .. } => handles.set(builder, name, to, *value),
            Action::Call { from, to } => {
                let places = (&handles.host(from), &mut handles.host(to));
                builder.call(name, places, |(from, to): (&[u32], &mut [u32])| {
                    let words = from.iter().zip(to);
                    words.for_each(|(from, to)| *to = mixed(*from, *to, 7));
                })
            }
            Action::Join => builder.join(name),
            Action::Record => builder.record(name, self.event.clone()),
            Action::Wait => builder.wait(name, self.event.clone()),
            Action::Child(body) => {
                let around = std::mem::take(&mut self.loops);
                let node = builder.child(name, |child| self.body(child, body));
                self.loops = around;
                node
            }
            Action::While { flag, body } => {
                builder.while_loop(name, &handles.flag(flag), |inner| self.body(inner, body))
            }
            Action::If { flag, bodies } => {
                let node = builder.begin_if(name, &handles.flag(flag));
                self.bodies(builder, bodies);
                node
            }
            Action::Switch { flag, bodies } => {
                let node = builder.begin_switch(name, &handles.flag(flag));
                self.bodies(builder, bodies);
                node
            }
        }
    }

    fn bodies(&mut self, builder: &mut GraphBuilder, bodies: &[Body]) {
        for body in bodies {
            builder.begin_body();
            self.body(builder, body);
            builder.end_body();
        }
    }
}

/// Changes a node of the graph to what it says now.
fn change(graph: &mut Graph, id: NodeId, node: &Node, handles: &Handles) -> Result<()> {
    graph.update("a node", |update: &mut Update<'_>| match &node.action {
        Action::StepWith { from, more, given, to } => {
            update.kernel(id, launch(to), handles.step_with(from, more, *given, to))
        }
        Action::Bump { to, by } => update.kernel(id, launch(to), bump::call(&mut handles.words(to), *by)),
        Action::Set {
            to,
            value,
            pattern: true,
        } => handles.reset_pattern(update, id, to, *value),
        Action::Set { to, value, .. } => handles.reset(update, id, to, *value, to),
        Action::SetPart { to, value, part } => handles.reset(update, id, &to.part(*part), *value, to),
        Action::CopyPart { from, to, part } => handles.copy_other(update, id, (from, to), *part),
        _ => Ok(()),
    })
}

/// A thread for each word.
fn launch(to: &Area) -> Launch {
    Launch::new(1, to.columns)
}
