//! Building: the checks that need the whole graph. Its definition then makes the executable graph.

use super::GraphBuilder;
use super::memory::DeclaredMemory;
use crate::device::Device;
use crate::devices::options::DebugOptions;
use crate::error::Result;
use crate::graph::definition::{Checked, Definition, predecessors};
use crate::graph::{Graph, GraphData};
use crate::ownership::blueprint::Programmatic;
use crate::ownership::shared_resources::SharedResources;
use crate::program::array;
use crate::program::fixed_views;
use crate::program::scratch::first_reads;
use crate::shape::builders::Builders;

/// The options of debug mode, if the device or the environment asks for it.
fn debug_options(device: &Device) -> Result<Option<DebugOptions>> {
    match device.debug {
        Some(options) => Ok(Some(options)),
        None => DebugOptions::of_environment(),
    }
}

impl GraphBuilder {
    /// Checks the graph and builds it: allocates its memory, loads its kernels, and makes the executable graph. Waits
    /// until the graph is ready to launch.
    ///
    /// # Errors
    /// * [`Error::Invalid`](crate::Error::Invalid) with all mistakes of the graph;
    /// * [`Error::ForeignMemory`](crate::Error::ForeignMemory) if it shares memory of another device,
    ///   [`Error::LoanEnded`](crate::Error::LoanEnded) if the memory was lent to a scope that has ended;
    /// * [`Error::NoNvrtc`](crate::Error::NoNvrtc) and [`Error::Compile`](crate::Error::Compile) if a CUDA source
    ///   cannot be compiled;
    /// * [`Error::TooManyNodes`](crate::Error::TooManyNodes) if a loop makes more than about a million nodes;
    /// * [`Error::UnknownNode`](crate::Error::UnknownNode) if an attribute was given to a node that does not exist,
    ///   [`Error::ForeignNode`](crate::Error::ForeignNode) if it was given to a node of another graph;
    /// * [`Error::Module`](crate::Error::Module) and [`Error::Kernel`](crate::Error::Kernel) if the device cannot load
    ///   the PTX, or cannot launch a kernel as asked;
    /// * [`Error::Node`](crate::Error::Node) if the closure of a `capture` or `raw` node fails;
    /// * [`Error::Unsupported`](crate::Error::Unsupported) if the device does not support a node;
    /// * [`Error::Peer`](crate::Error::Peer) if the graph has communicators, for whose ranks it waits, and another rank
    ///   does not build the same graph in time;
    /// * [`Error::OutOfMemory`](crate::Error::OutOfMemory) and [`Error::Cuda`](crate::Error::Cuda) from the device.
    pub fn build(self) -> Result<Graph> {
        self.define()?.build()
    }

    /// Checks the graph, without making it executable: [`Definition::instantiate`] does that, once or several times.
    ///
    /// # Errors
    /// As [`GraphBuilder::build`], but for those from the device: [`Definition::instantiate`] returns these.
    pub fn define(mut self) -> Result<Definition> {
        self.device.backend.check()?;
        self.findings.check_complete()?;
        self.order_between_iterations();
        let views = self.views();
        self.infer_edges(&views);
        self.order_iterations();
        let rngs = self.advance_rngs();
        self.check_names_and_edges();
        self.apply_attributes();
        let variables = self.find_constants();
        if !variables.is_empty() {
            self.infer_edges(&views); // kernels access variables by their names
        }
        let outcome = views.through(&mut self.draft, |draft| graph_plan::check_errors(draft));
        self.check_programmatic(&outcome.order);
        let Self {
            device,
            id,
            named,
            mut draft,
            mut program,
            memory,
            params,
            position,
            kernels: _,
            attributes: _,
            auto: _,
            mut findings,
            communicators: _,
            driver,
            arguments,
        } = self;
        let DeclaredMemory {
            layouts,
            shared,
            rngs: _,
            constants: _,
            scratch,
            unique,
        } = memory;
        let shared = shared
            .into_iter()
            .map(|shared| (shared.resource, shared.memory, shared.mutable));
        let shared = SharedResources::new(&draft, shared);
        findings.mistakes(outcome.errors.iter().cloned());
        findings.mistakes(shared.overlaps(&draft, &device.backend));
        findings.mistakes(fixed_views::mistakes(&draft, &program, &views));
        findings.mistakes(first_reads(&draft, &outcome, &program));
        let (arrays, mistaken) = array::forms(&draft, &program);
        findings.mistakes(mistaken);
        findings.check(&draft)?;
        if tracing::enabled!(target: "graph_runtime", tracing::Level::DEBUG) {
            for warning in graph_plan::warnings(&draft, &outcome) {
                tracing::debug!(target: "graph_runtime", graph = %draft.name, "{warning}");
            }
        }
        shared.check(&draft, &device.backend)?;
        program.enabled = draft.nodes.iter().map(|node| !node.disabled).collect();
        named.set_nodes(draft.nodes.iter().map(|node| &node.name));
        let arena = scratch.arena(&draft, &layouts, &outcome.order);
        let (after, programmatic) = (predecessors(&draft, &outcome), Programmatic::of(&draft, &program));
        if program.enabled.contains(&false) {
            draft.nodes.iter_mut().for_each(|node| node.disabled = false); // `program.enabled` says so from now on
        }
        let debug = debug_options(&device)?;
        let data = GraphData {
            device,
            builders: Builders::new(id, named),
            draft,
            arguments: arguments.into(),
            layouts,
            shared,
            arena,
            program,
            declared_nodes: position.into_declared(),
            rngs,
            variables,
            params,
        };
        Ok(Definition::new(Checked {
            data,
            order: outcome.order,
            after,
            programmatic,
            arrays,
            unique,
            debug,
            driver,
        }))
    }
}
