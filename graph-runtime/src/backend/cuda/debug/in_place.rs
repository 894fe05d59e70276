//! Launches of all nodes as the graph's edges allow, with kernels beside some of them that write down the GPU's clock.
//!
//! They say when nodes end that wait for others, and for a place on the GPU. A kernel that takes the time runs after
//! one node, and before none, so it is in nobody's way but for its own short turn.

use super::row::{Key, Measured, Stamps, is_running};
use super::{Clock, Piece, Run, Steps};
use crate::backend::cuda::add_nodes::Single;
use crate::backend::cuda::failure::Failure;
use crate::backend::cuda::predicated::Guard;
use crate::backend::cuda::{attribute, delay};
use crate::devices::options::InstantiateOptions;
use crate::driver::CUgraphNode;
use crate::error::{At, CudaError, Result, Site};
use crate::program::Program;
use graph_plan::Draft;
use std::collections::HashMap;

impl Steps<'_> {
    /// Runs all nodes, none of which has bodies, and takes down when paths end and meet.
    pub(super) fn in_place(&mut self, run: &mut Run<'_>) -> Result<()> {
        let Some((recorder, Clock::Stamps(stamps))) = &mut run.measured else {
            return Ok(());
        };
        let graph = || Site::graph(&run.draft.name);
        let meeting = stamps.rows.meeting();
        if !stamps.has(Key::InPlace) {
            let graphs = self.graphs_in_place(stamps, &meeting, run.draft, run.program);
            let graphs = graphs.map_err(|failure| failure.error(run.draft))?;
            self.keep(stamps, Key::InPlace, graphs).at(graph)?;
        }
        self.launch_kept(stamps, Key::InPlace).at(graph)?;
        let times = stamps.times(1 + meeting.len()).at(graph)?;
        for (&node, &end) in meeting.iter().zip(&times[1..]) {
            recorder.end(node, end.saturating_sub(times[0]));
        }
        for &node in &self.state.bodies[0] {
            match is_running(run.program, node) {
                true => recorder.call_again(node),
                false => recorder.skip(node),
            }
        }
        Ok(())
    }

    /// Makes the graph of all nodes, and the one before it. The context is current.
    fn graphs_in_place(
        &mut self,
        stamps: &Stamps,
        meeting: &[usize],
        draft: &Draft,
        program: &Program,
    ) -> Result<Measured, Failure> {
        let nodes = self.state.bodies[0].clone();
        let first = nodes[0];
        let at_first = |error: CudaError| (first, error);
        let copies = nodes.iter().copied();
        let copies: Vec<usize> = copies
            .filter(|&node| self.begins_with_copy(program, node, &stamps.rows))
            .collect();
        let lead_in = self.lead_in(stamps, &copies, (draft, program, first))?;
        let api = self.parts.cuda.api();
        let mut piece = Piece::create(api).map_err(at_first)?;
        let mut handles: HashMap<usize, CUgraphNode> = HashMap::new();
        for node in nodes {
            let [mut after, mut early] = [Vec::new(), Vec::new()];
            for &(from, is_early) in &stamps.rows.after[node] {
                // Nodes that do nothing are empty ones here, which have no programmatic edges.
                let is_early = is_early && is_running(program, from) && is_running(program, node);
                if is_early { &mut early } else { &mut after }.push(handles[&from]);
            }
            let handle = match Single::of(&program.ops[node]).filter(|_| is_running(program, node)) {
                Some(single) => {
                    let work = (single, &Guard::default());
                    self.add_between(draft, program, (piece.graph, node), work, [&after, &early])?
                }
                // SAFETY: the graph and its nodes were just made.
                None => unsafe { api.add_empty_node(piece.graph, &after) }.map_err(|error| (node, error))?,
            };
            handles.insert(node, handle);
        }
        for (index, node) in meeting.iter().enumerate() {
            let (cuda, kernels) = (&self.parts.cuda, &self.parts.kernels);
            let stamp = stamps.stamp(1 + index, false);
            // SAFETY: the graph and its nodes were just made in the current context, in which the kernels are; both
            // they and the memory outlive the piece (fact 2 of `Steps`).
            unsafe { delay::add_stamp(cuda, piece.graph, Some(handles[node]), kernels, stamp) }
                .map_err(|error| (*node, error))?;
        }
        // With the priorities of nodes, as in a launch. No kernel launches it.
        let options = InstantiateOptions {
            device_launch: false,
            ..self.parts.options
        };
        let instantiated = piece.instantiate(attribute::flags(program, options));
        instantiated.map_err(at_first)?;
        Ok(Measured {
            lead_in: Some(lead_in),
            graph: piece,
        })
    }
}
