//! The times of nodes that run in a row, as one graph, with kernels between them that write down the GPU's clock.
//!
//! A node adds to such a row, besides a kernel that takes the time, what it adds to a launch: the time that it runs,
//! and the step from the node before. Kernels that programmatic edges join have no such kernel between them, which
//! would keep them from overlapping, so they are measured together. In a launch that [divides](Recorder::is_divided)
//! their time, each has one beside the kernel after it.

use super::{Clock, Piece, Run, Steps};
use crate::backend::cuda::add_nodes::Single;
use crate::backend::cuda::delay;
use crate::backend::cuda::failure::Failure;
use crate::backend::cuda::predicated::Guard;
use crate::devices::cuda::Cuda;
use crate::devices::cuda_memory::CudaMemory;
use crate::driver::{CUgraph, CUgraphExec, CUgraphNode};
use crate::error::{At, CudaError, Result, Site};
use crate::program::recorder::Recorder;
use crate::program::rows::Rows;
use crate::program::{Program, Work};
use graph_plan::Draft;
use std::collections::HashMap;
use std::sync::Arc;

/// The kernels in a row whose times are compared to find out what one adds.
const CHAIN: usize = 17;
/// The launches of which the median counts.
const LAUNCHES: usize = 11;
/// The time for which a GPU that was idle is kept busy first, in nanoseconds: its clock is slow until then.
const WARM_UP: u64 = 50_000_000;
/// The time for which it is kept busy while the host launches a row, in nanoseconds.
const LEAD_IN: u64 = 50_000;

/// The clock of one launch.
pub(super) struct Stamps<'a> {
    rows: &'a Rows,
    /// The times that kernels write, in nanoseconds: before the first node of a row, and after each.
    memory: CudaMemory,
    /// The graphs of rows, by the first node of each.
    pieces: HashMap<usize, RowGraphs>,
}

/// The graphs of a row, to be launched one after the other.
struct RowGraphs {
    /// The copy that a row begins a launch with, if it does, once more, so that the copy engine is awake, and the first
    /// time. So the copy is measured as in launches that follow each other: a kernel before it in its own graph would
    /// hand over to the copy engine, which nothing does in a launch. No other node changes what it copies before it has
    /// run, so the copy that counts does the same.
    lead_in: Option<Piece>,
    row: Piece,
}

/// Nodes of one body that run one after the other.
struct Row<'a> {
    /// Each group's last node is measured.
    groups: Vec<Vec<usize>>,
    stamps: &'a Stamps<'a>,
    /// Whether all nodes are measured.
    is_divided: bool,
    /// Whether the first node is a copy that a launch begins with. Then the graph before takes the first time.
    begins_with_copy: bool,
}

impl<'a> Stamps<'a> {
    /// A clock for rows. The context is current.
    pub(super) fn new(cuda: &Arc<Cuda>, rows: &'a Rows) -> Result<Self, CudaError> {
        let longest = rows.bodies.iter().map(Vec::len).max().unwrap_or(0);
        Ok(Self {
            rows,
            memory: CudaMemory::zeroed(cuda, 8 * (longest + 1).max(CHAIN))?,
            pieces: HashMap::new(),
        })
    }

    /// The address of a time.
    fn address(&self, index: usize) -> u64 {
        self.memory.address() + 8 * index as u64
    }

    /// Reads the first times. Nothing writes them now.
    fn times(&self, count: usize) -> Result<Vec<u64>, CudaError> {
        let mut bytes = vec![0; 8 * count];
        self.memory.read(0, &mut bytes)?;
        let words = bytes
            .chunks_exact(8)
            .map(|word| word.try_into().map_or(0, u64::from_le_bytes));
        Ok(words.collect())
    }
}

impl Steps<'_> {
    /// Runs nodes of one body that have no bodies, and takes down their times.
    pub(super) fn row(&mut self, nodes: &[usize], run: &mut Run<'_>) -> Result<()> {
        let program = run.program;
        let runs = |node: &usize| {
            let idle = program.ops[*node].work().is_some_and(Work::is_idle);
            program.enabled[*node] && !idle && Single::of(&program.ops[*node]).is_some()
        };
        let running: Vec<usize> = nodes.iter().copied().filter(runs).collect();
        let mut times = HashMap::new();
        if let (Some(first), Some((recorder, Clock::Stamps(stamps)))) = (running.first(), &mut run.measured) {
            let groups = match self.parts.programmatic {
                true => stamps.rows.groups(&running),
                false => running.iter().map(|&node| vec![node]).collect(),
            };
            let is_copy =
                matches!(program.ops[*first].work(), Some(Work::Memcpy(_))) && !self.parts.adder.forms.has(*first);
            let begins_with_copy = is_copy && stamps.rows.after[*first].is_empty() && run.around.is_empty();
            if !stamps.pieces.contains_key(first) {
                let row = Row {
                    begins_with_copy,
                    groups: groups.clone(),
                    stamps,
                    is_divided: recorder.is_divided(),
                };
                let graphs = self.row_graphs(&row, run.draft, program);
                let graphs = graphs.map_err(|failure| failure.error(run.draft))?;
                if let Err(error) = self.upload_row(&graphs) {
                    if self.state.over {
                        std::mem::forget(graphs); // the device may use them (fact 2)
                    }
                    return Err(error).at(|| Site::graph(&run.draft.name));
                }
                stamps.pieces.insert(*first, graphs);
            }
            let RowGraphs { lead_in, row } = &stamps.pieces[first];
            let execs = lead_in.iter().chain([row]).map(|piece| piece.exec);
            let launched = self.launch_row(execs);
            if launched.is_err() && self.state.over {
                stamps.pieces.drain().for_each(|(_, piece)| std::mem::forget(piece)); // they may run (fact 2)
            }
            let graph = || Site::graph(&run.draft.name);
            launched.at(graph)?;
            let stamped = stamps.times(running.len() + 1).at(graph)?;
            times = divided(&groups, &stamped, recorder);
        }
        for &node in nodes {
            run.record(|recorder| match times.get(&node) {
                Some(&time) => recorder.call_without_overhead(node, time, None),
                None => recorder.skip(node),
            });
        }
        Ok(())
    }

    /// Uploads the graphs of a row, and waits for that: only their first launch is measured. The context is current.
    fn upload_row(&mut self, graphs: &RowGraphs) -> Result<(), CudaError> {
        let mut pieces = graphs.lead_in.iter().chain([&graphs.row]);
        let uploaded = pieces.try_for_each(|piece| {
            // SAFETY: the piece was instantiated in this context; the stream lives.
            unsafe { self.parts.cuda.api().upload(piece.exec, self.parts.stream) }
        });
        self.finish(uploaded)
    }

    /// Launches graphs, one after the other, and waits for them. The context is current.
    fn launch_row(&mut self, execs: impl IntoIterator<Item = CUgraphExec>) -> Result<(), CudaError> {
        let launched = execs.into_iter().try_for_each(|exec| {
            // SAFETY: the piece was instantiated in this context, and `parts` has what it uses (fact 1 of `Steps`); its
            // stream lives.
            unsafe { self.parts.cuda.api().launch(exec, self.parts.stream) }
        });
        self.finish(launched)
    }

    /// Waits for what was queued. If that failed, notes whether the device may still be at it.
    fn finish(&mut self, queued: Result<(), CudaError>) -> Result<(), CudaError> {
        let ended = queued.and_then(|()| self.drain());
        self.state.over = ended.is_err() && self.drain().is_err();
        ended
    }

    /// Makes the graphs of a row. The context is current.
    fn row_graphs(&mut self, row: &Row<'_>, draft: &Draft, program: &Program) -> Result<RowGraphs, Failure> {
        let lead_in = match row.begins_with_copy {
            true => Some(self.lead_in(row, draft, program)?),
            false => None,
        };
        let row = self.row_piece(row, draft, program)?;
        Ok(RowGraphs { lead_in, row })
    }

    /// Makes the graph before a row that begins with a copy. The context is current.
    fn lead_in(&mut self, row: &Row<'_>, draft: &Draft, program: &Program) -> Result<Piece, Failure> {
        let first = row.groups[0][0];
        let at_first = |error: CudaError| (first, error);
        let api = self.parts.cuda.api();
        let mut piece = Piece::empty(api);
        // SAFETY: the driver is initialised.
        piece.graph = unsafe { api.create() }.map_err(at_first)?;
        let copy = match Single::of(&program.ops[first]) {
            Some(single) => vec![self.add_to_row(draft, program, (piece.graph, first, single), &[], &[])?],
            None => Vec::new(), // `row` has left it out
        };
        let (cuda, kernels) = (&self.parts.cuda, &self.parts.kernels);
        // SAFETY: the graph and its node were just made in the current context, in which the kernels are; they outlive
        // the piece (fact 2 of `Steps`).
        let busy = unsafe { delay::add_delay(cuda, piece.graph, &copy, kernels, LEAD_IN) }.map_err(at_first)?;
        // SAFETY: as above, and so does the memory.
        unsafe { delay::add_stamp(cuda, piece.graph, &[busy], kernels, row.stamps.address(0)) }.map_err(at_first)?;
        // SAFETY: the graph was made above.
        let exec = unsafe { api.instantiate(piece.graph, 0) };
        piece.exec = exec.map_err(|failed| at_first(failed.error))?;
        Ok(piece)
    }

    /// Makes the graph of a row's nodes. The context is current.
    fn row_piece(&mut self, row: &Row<'_>, draft: &Draft, program: &Program) -> Result<Piece, Failure> {
        let first = row.groups[0][0];
        let at_first = |error: CudaError| (first, error);
        self.parts.cuda.bind().map_err(at_first)?;
        let api = self.parts.cuda.api();
        let mut piece = Piece::empty(api);
        // SAFETY: the driver is initialised.
        piece.graph = unsafe { api.create() }.map_err(at_first)?;
        let graph = piece.graph;
        let stamp = |steps: &Self, after: &[CUgraphNode], index: usize| {
            let (cuda, kernels) = (&steps.parts.cuda, &steps.parts.kernels);
            // SAFETY: the graph and its nodes were just made in the current context, in which the kernels are; both
            // they and the memory outlive the piece (fact 2 of `Steps`).
            unsafe { delay::add_stamp(cuda, graph, after, kernels, row.stamps.address(index)) }
        };
        let mut last = match row.begins_with_copy {
            true => None,
            false => Some(stamp(self, &[], 0).map_err(at_first)?),
        };
        let mut index = 0;
        for group in &row.groups {
            let mut handles: HashMap<usize, CUgraphNode> = HashMap::new();
            for (position, &node) in group.iter().enumerate() {
                let Some(single) = Single::of(&program.ops[node]) else {
                    continue; // `row` has left it out
                };
                let inner = row.stamps.rows.after[node].iter();
                let inner = inner.filter_map(|(from, early)| Some((*handles.get(from)?, *early)));
                let (early, mut after): (Vec<_>, Vec<_>) = inner.partition(|(_, early)| *early);
                if position == 0 {
                    after.extend(last.map(|last| (last, false)));
                }
                let ends = |edges: Vec<(CUgraphNode, bool)>| -> Vec<CUgraphNode> {
                    edges.into_iter().map(|(from, _)| from).collect()
                };
                let (early, after) = (ends(early), ends(after));
                let handle = self.add_to_row(draft, program, (graph, node, single), &after, &early)?;
                handles.insert(node, handle);
                index += 1;
                if position + 1 == group.len() {
                    last = Some(stamp(self, &[handle], index).map_err(|error| (node, error))?);
                } else if row.is_divided {
                    stamp(self, &[handle], index).map_err(|error| (node, error))?;
                }
            }
        }
        // SAFETY: the graph was made above.
        let exec = unsafe { api.instantiate(piece.graph, 0) };
        piece.exec = exec.map_err(|failed| at_first(failed.error))?;
        Ok(piece)
    }

    /// Adds a node that has no bodies to the graph of a row, after some nodes, and by programmatic edges after others.
    fn add_to_row(
        &mut self,
        draft: &Draft,
        program: &Program,
        (graph, node, single): (CUgraph, usize, Single<'_>),
        after: &[CUgraphNode],
        early: &[CUgraphNode],
    ) -> Result<CUgraphNode, Failure> {
        let work = (single, &Guard::default());
        // SAFETY: the graph and its nodes were just made in the context of `parts`; fact 2 of `Steps`.
        let handle = unsafe { self.parts.add_one(draft, program, graph, after, node, work) }?;
        if !early.is_empty() {
            // SAFETY: as above; both ends are kernel nodes (the plan's rule), between which no edge was added.
            unsafe { self.parts.cuda.api().add_programmatic(graph, early, handle) }.map_err(|error| (node, error))?;
        }
        Ok(handle)
    }

    /// Keeps the GPU busy until its clock is as fast as it gets. The built-in kernels are loaded, and the context is
    /// current.
    fn warm_up(&mut self) -> Result<(), CudaError> {
        let api = self.parts.cuda.api();
        let mut piece = Piece::empty(api);
        // SAFETY: the driver is initialised.
        piece.graph = unsafe { api.create() }?;
        let (cuda, kernels) = (&self.parts.cuda, &self.parts.kernels);
        // SAFETY: the graph was just made, and the kernels outlive the piece (fact 2).
        unsafe { delay::add_delay(cuda, piece.graph, &[], kernels, WARM_UP) }?;
        // SAFETY: as above.
        piece.exec = unsafe { api.instantiate(piece.graph, 0) }.map_err(|failed| failed.error)?;
        let ran = self.launch_row([piece.exec]);
        if self.state.over {
            std::mem::forget(piece); // it may still run
        }
        ran
    }

    /// The nanoseconds that a kernel which takes the time adds to a chain of such kernels: the median. The built-in
    /// kernels are loaded, and the context is current.
    pub(super) fn stamp_overhead(&mut self, stamps: &Stamps<'_>) -> Result<u64, CudaError> {
        self.warm_up()?;
        let api = self.parts.cuda.api();
        let mut piece = Piece::empty(api);
        // SAFETY: the driver is initialised.
        piece.graph = unsafe { api.create() }?;
        let mut last = Vec::new();
        for index in 0..CHAIN {
            let (cuda, kernels) = (&self.parts.cuda, &self.parts.kernels);
            // SAFETY: the graph was just made, and so was the node; kernels and memory outlive the piece (fact 2).
            let stamp = unsafe { delay::add_stamp(cuda, piece.graph, &last, kernels, stamps.address(index)) }?;
            last = vec![stamp];
        }
        // SAFETY: as above.
        piece.exec = unsafe { api.instantiate(piece.graph, 0) }.map_err(|failed| failed.error)?;
        let mut steps = Vec::new();
        for _ in 0..LAUNCHES {
            if let Err(error) = self.launch_row([piece.exec]) {
                if self.state.over {
                    std::mem::forget(piece); // it may still run
                }
                return Err(error);
            }
            let times = stamps.times(CHAIN)?;
            steps.extend(times.windows(2).map(|pair| pair[1].saturating_sub(pair[0])));
        }
        steps.sort_unstable();
        Ok(steps[steps.len() / 2])
    }
}

/// The time of each node, from the times before the first and after each, of which only the last one of a group is
/// given if the launch divides none. Then the times of earlier launches divide the group's.
fn divided(groups: &[Vec<usize>], stamped: &[u64], recorder: &Recorder) -> HashMap<usize, u64> {
    let overhead = recorder.overhead().unwrap_or(0);
    let mut times = HashMap::new();
    let (mut begin, mut index) = (stamped[0], 0);
    for group in groups {
        let own = &stamped[index + 1..=index + group.len()];
        let end = stamped[index + group.len()];
        let whole = end.saturating_sub(begin).saturating_sub(overhead);
        // A kernel that takes the time beside another one may be late.
        let mut ends: Vec<u64> = own.iter().map(|&time| time.max(begin + overhead).min(end)).collect();
        if !recorder.is_divided() {
            let known = group.iter().scan(begin + overhead, |sum, &node| {
                *sum += recorder.nodes()[node].divided;
                Some(*sum)
            });
            ends = known.collect();
        }
        let parts = ends.iter().scan(begin + overhead, |before, &end| {
            let part = end.saturating_sub(*before);
            *before = end.max(*before);
            Some(part)
        });
        let parts: Vec<u64> = parts.collect();
        let all: u64 = parts.iter().sum();
        for (&node, &part) in group.iter().zip(&parts) {
            let share = if all == 0 {
                1.0 / group.len() as f64
            } else {
                part as f64 / all as f64
            };
            times.insert(node, (whole as f64 * share).round() as u64);
        }
        (begin, index) = (end, index + group.len());
    }
    times
}
