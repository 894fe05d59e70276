//! The times of nodes that run in a row, as one graph, with kernels between them that write down the GPU's clock.
//!
//! A node adds to such a row, besides a kernel that takes the time, what it adds to a launch: the time that it runs,
//! and the step from the node before. Kernels that programmatic edges join have no such kernel between them, which
//! would keep them from overlapping, so they are measured together. In a launch that [divides](Recorder::is_divided)
//! their time, each has one beside the kernel after it.
//!
//! Nodes of predicated bodies are their predicated kernels, whose tests are decided before. Programmatic edges lead to
//! those that wait where they do in a launch, and what takes the time after them waits as well. Such kernels begin to
//! do something only when all before them is over, so each adds what it adds to a launch here, too.

use super::{Clock, Piece, Run, Steps};
use crate::backend::cuda::add_nodes::Single;
use crate::backend::cuda::delay;
use crate::backend::cuda::delay::Stamp;
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

/// The clock of the launches of a profile.
pub(super) struct Stamps {
    cuda: Arc<Cuda>,
    pub(super) rows: Arc<Rows>,
    /// Graphs with kernels that take the time. They are kept for later launches, so that most are measured as launches
    /// that follow each other are: the first one brings what it needs into caches, which takes longer.
    kept: HashMap<Key, Measured>,
    /// The times that kernels write, in nanoseconds: before the first node of a row, and after each. Then a word that
    /// is always 0.
    memory: CudaMemory,
}

/// How the nodes of a row are made.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Form {
    /// Whether each node is measured, and not only each group, where groups have several.
    is_divided: bool,
    /// Whether nodes in predicated bodies are of a pass of their `while` after the first one of an iteration of its
    /// node.
    repeats: bool,
    /// Whether nodes in predicated bodies run, or return at once.
    runs: bool,
}

/// The nodes that graphs of a clock are made of.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// A row, by its first node.
    Row(usize, Form),
    /// All nodes along their edges.
    InPlace,
}

/// Nodes between two times.
#[derive(Clone)]
struct Group {
    nodes: Vec<usize>,
    /// Whether programmatic edges lead to the first one from what is before it, in a launch.
    joined: bool,
    /// Whether the last one lets what waits for it begin early, so that what takes the time after it does.
    waits: bool,
}

/// Graphs to be launched one after the other.
pub(super) struct Measured {
    /// Takes the first time, if the graph does not. Copies that begin a launch are here once more, so that the copy
    /// engine is awake. So a copy is measured as in launches that follow each other: a kernel before it in its
    /// own graph would hand over to the copy engine, which nothing does in a launch. No other node changes what it
    /// copies before it has run, so the copy that counts does the same.
    pub(super) lead_in: Option<Piece>,
    pub(super) graph: Piece,
}

impl Measured {
    /// In the order in which they are launched.
    fn pieces(&self) -> impl Iterator<Item = &Piece> {
        self.lead_in.iter().chain([&self.graph])
    }
}

/// Where nodes are in a launch.
struct Place<'a> {
    draft: &'a Draft,
    rows: &'a Rows,
    /// As in [`Form`].
    repeats: bool,
}

/// Nodes of one body that run one after the other.
struct Row<'a> {
    /// Each group's last node is measured.
    groups: Vec<Group>,
    /// Whether what is before the row in a launch waits.
    enters_waiting: bool,
    form: Form,
    stamps: &'a Stamps,
    /// Whether the first node is a copy that a launch begins with. Then the graph before takes the first time.
    begins_with_copy: bool,
}

impl Stamps {
    /// A clock for rows. The context is current.
    pub(super) fn new(cuda: &Arc<Cuda>, rows: &Arc<Rows>) -> Result<Self, CudaError> {
        Ok(Self {
            cuda: cuda.clone(),
            rows: rows.clone(),
            kept: HashMap::new(),
            memory: CudaMemory::zeroed(cuda, 8 * (Self::most(rows) + 1))?,
        })
    }

    /// The most times of a row.
    fn most(rows: &Rows) -> usize {
        (rows.after.len() + 1).max(CHAIN)
    }

    /// Whether there are such graphs.
    pub(super) fn has(&self, key: Key) -> bool {
        self.kept.contains_key(&key)
    }

    /// The address of a word that is always 0.
    fn zero(&self) -> u64 {
        self.memory.address() + 8 * Self::most(&self.rows) as u64
    }

    /// The kernel that takes a time.
    pub(super) fn stamp(&self, index: usize, waits: bool) -> Stamp {
        Stamp {
            address: self.memory.address() + 8 * index as u64,
            waits: waits.then(|| self.zero()),
        }
    }

    /// Leaks the graphs, which the device may use (fact 2 of [`Steps`]).
    fn forget(&mut self) {
        self.kept.drain().for_each(|(_, graphs)| std::mem::forget(graphs));
    }

    /// Reads the first times. Nothing writes them now.
    pub(super) fn times(&self, count: usize) -> Result<Vec<u64>, CudaError> {
        let mut bytes = vec![0; 8 * count];
        self.memory.read(0, &mut bytes)?;
        let words = bytes
            .chunks_exact(8)
            .map(|word| word.try_into().map_or(0, u64::from_le_bytes));
        Ok(words.collect())
    }
}

/// Nothing of it runs: fact 2 of [`Steps`].
impl Drop for Stamps {
    fn drop(&mut self) {
        if self.cuda.bind_to_free().is_err() {
            self.forget();
        }
    }
}

impl Steps<'_> {
    /// Runs nodes of one body that have no bodies, and takes down their times.
    pub(super) fn row(&mut self, nodes: &[usize], run: &mut Run<'_>) -> Result<()> {
        let times = self.times(nodes, true, run)?;
        for &node in nodes {
            run.record(|recorder| match times.get(&node) {
                Some(&time) => recorder.call_without_overhead(node, time, None),
                None => recorder.skip(node),
            });
        }
        Ok(())
    }

    /// Runs the predicated kernels of some bodies so that they return at once, and returns the nanoseconds that they
    /// take.
    pub(super) fn rest(&mut self, bodies: &[usize], run: &mut Run<'_>) -> Result<u64> {
        let program = run.program;
        let (mut bodies, mut nodes) = (bodies.to_vec(), Vec::new());
        while let Some(body) = bodies.pop() {
            for &node in &self.state.bodies[body] {
                match program.ops[node].conditional() {
                    Some(conditional) => bodies.extend(&conditional.bodies),
                    None => nodes.push(node),
                }
            }
        }
        Ok(self.times(&nodes, false, run)?.values().sum())
    }

    /// Runs nodes that have no bodies in a row, and returns their times. If they do not run, they return at once: all
    /// are in predicated bodies.
    fn times(&mut self, nodes: &[usize], runs: bool, run: &mut Run<'_>) -> Result<HashMap<usize, u64>> {
        let program = run.program;
        let repeats = run.repeats;
        let graph = || Site::graph(&run.draft.name);
        let running: Vec<usize> = nodes
            .iter()
            .copied()
            .filter(|&node| is_running(program, node))
            .collect();
        let mut times = HashMap::new();
        if let (Some(first), Some((recorder, Clock::Stamps(stamps)))) = (running.first(), &mut run.measured) {
            let form = Form {
                is_divided: self.parts.programmatic && recorder.is_divided(),
                repeats,
                runs,
            };
            let groups = match self.parts.programmatic {
                true => stamps.rows.groups(&running),
                false => running.iter().map(|&node| vec![node]).collect(),
            };
            let place = Place {
                draft: run.draft,
                rows: &stamps.rows,
                repeats: form.repeats,
            };
            let groups: Vec<Group> = groups.into_iter().map(|nodes| self.group(nodes, &place)).collect();
            let begins_with_copy = run.around.is_empty() && self.begins_with_copy(program, *first, &stamps.rows);
            let key = Key::Row(*first, form);
            if !stamps.has(key) {
                let before = self.before(*first, &place);
                let row = Row {
                    begins_with_copy,
                    groups: groups.clone(),
                    enters_waiting: before.iter().any(|node| self.waits(*node)),
                    form,
                    stamps,
                };
                let graphs = self.row_graphs(&row, run.draft, program);
                let graphs = graphs.map_err(|failure| failure.error(run.draft))?;
                self.keep(stamps, key, graphs).at(graph)?;
            }
            self.launch_kept(stamps, key).at(graph)?;
            let stamped = stamps.times(running.len() + 1).at(graph)?;
            times = divided(&groups, &stamped, recorder);
        }
        Ok(times)
    }

    /// Whether the node, of the whole graph, is a copy by a copy engine that runs after no other.
    pub(super) fn begins_with_copy(&self, program: &Program, node: usize, rows: &Rows) -> bool {
        let is_copy = matches!(program.ops[node].work(), Some(Work::Memcpy(_))) && !self.parts.adder.forms.has(node);
        is_copy && is_running(program, node) && rows.after[node].is_empty()
    }

    /// The nodes of a group, with what joins them in a launch.
    fn group(&self, nodes: Vec<usize>, place: &Place<'_>) -> Group {
        let predicated = &self.parts.predicated;
        // If its predicated kernels wait, and let others begin early, so does that of this place.
        let is_joinable = |node: usize| {
            let placed = self.parts.placed(node, place.repeats);
            placed.is_some_and(|placed| placed.guard.waits && predicated.early.contains(&placed.handle))
        };
        let before = self.before(nodes[0], place);
        let is_early = !before.is_empty() && before.iter().all(|node| predicated.early.contains(node));
        Group {
            joined: is_joinable(nodes[0]) && is_early,
            waits: nodes.last().is_some_and(|&last| is_joinable(last)),
            nodes,
        }
    }

    /// The last nodes of CUDA before a node of a predicated body; none if the body begins with it and what is before
    /// that is not of the same graph of CUDA's.
    fn before(&self, node: usize, place: &Place<'_>) -> Vec<CUgraphNode> {
        let rows = place.rows;
        let last = |nodes: Vec<usize>| -> Vec<CUgraphNode> {
            nodes
                .into_iter()
                .flat_map(|node| self.parts.last_of(node))
                .copied()
                .collect()
        };
        if !rows.after[node].is_empty() {
            return last(rows.after[node].iter().map(|(before, _)| *before).collect());
        }
        let body = place.draft.bodies_around(node).next();
        let Some(around) = body.and_then(|body| place.draft.bodies[body].node) else {
            return Vec::new();
        };
        if self.parts.adder.forms.is_predicated(around) {
            let latch = self.parts.predicated.latches.iter().find(|latch| latch.owner == around);
            return latch.map_or_else(|| self.before(around, place), |latch| vec![latch.handle]);
        }
        match body {
            Some(body) if place.repeats => last(rows.last(body)),
            _ => Vec::new(),
        }
    }

    /// Whether a node of CUDA is a predicated kernel that waits for those before it.
    fn waits(&self, handle: CUgraphNode) -> bool {
        let mut placed = self.parts.predicated.placed.values().flatten();
        placed.any(|placed| placed.handle == handle && placed.guard.waits)
    }

    /// Uploads graphs, so that only their first launch is measured, and waits for that. Then keeps them. The context is
    /// current.
    pub(super) fn keep(&mut self, stamps: &mut Stamps, key: Key, graphs: Measured) -> Result<(), CudaError> {
        let execs: Vec<CUgraphExec> = graphs.pieces().map(|piece| piece.exec).collect();
        let uploaded = execs.into_iter().try_for_each(|exec| {
            // SAFETY: the piece was instantiated in this context; the stream lives.
            unsafe { self.parts.cuda.api().upload(exec, self.parts.stream) }
        });
        let uploaded = self.finish(uploaded);
        stamps.kept.insert(key, graphs);
        if self.state.over {
            stamps.forget();
        }
        uploaded
    }

    /// Launches graphs that are kept, and waits for them. The context is current.
    pub(super) fn launch_kept(&mut self, stamps: &mut Stamps, key: Key) -> Result<(), CudaError> {
        let launched = self.launch_row(stamps.kept[&key].pieces().map(|piece| piece.exec));
        if self.state.over {
            stamps.forget();
        }
        launched
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
    fn row_graphs(&mut self, row: &Row<'_>, draft: &Draft, program: &Program) -> Result<Measured, Failure> {
        let first = row.groups[0].nodes[0];
        let lead_in = row
            .begins_with_copy
            .then(|| self.lead_in(row.stamps, &[first], (draft, program, first)));
        Ok(Measured {
            lead_in: lead_in.transpose()?,
            graph: self.row_piece(row, draft, program)?,
        })
    }

    /// Makes the graph that takes the first time: after copies that no other node runs before, and then a while. An
    /// error of its own kernels is that of a node. The context is current.
    pub(super) fn lead_in(
        &mut self,
        stamps: &Stamps,
        copies: &[usize],
        (draft, program, node): (&Draft, &Program, usize),
    ) -> Result<Piece, Failure> {
        let at_node = |error: CudaError| (node, error);
        let mut piece = Piece::create(self.parts.cuda.api()).map_err(at_node)?;
        let mut last = Vec::new();
        for &copy in copies {
            if let Some(single) = Single::of(&program.ops[copy]) {
                let work = (single, &Guard::default());
                last = vec![self.add_between(draft, program, (piece.graph, copy), work, [&last, &[]])?];
            }
        }
        let (cuda, kernels) = (&self.parts.cuda, &self.parts.kernels);
        // SAFETY: the graph and its nodes were just made in the current context, in which the kernels are; they outlive
        // the piece (fact 2 of `Steps`).
        let busy = unsafe { delay::add_delay(cuda, piece.graph, &last, kernels, LEAD_IN) }.map_err(at_node)?;
        // SAFETY: as above, and so does the memory.
        unsafe { delay::add_stamp(cuda, piece.graph, Some(busy), kernels, stamps.stamp(0, false)) }.map_err(at_node)?;
        piece.instantiate(0).map_err(at_node)?;
        Ok(piece)
    }

    /// Makes the graph of a row's nodes. The context is current.
    fn row_piece(&mut self, row: &Row<'_>, draft: &Draft, program: &Program) -> Result<Piece, Failure> {
        let first = row.groups[0].nodes[0];
        let at_first = |error: CudaError| (first, error);
        self.parts.cuda.bind().map_err(at_first)?;
        let mut piece = Piece::create(self.parts.cuda.api()).map_err(at_first)?;
        let graph = piece.graph;
        let stamp = |steps: &Self, after: Option<CUgraphNode>, index: usize, waits: bool| {
            let (cuda, kernels) = (&steps.parts.cuda, &steps.parts.kernels);
            let stamp = row.stamps.stamp(index, waits);
            // SAFETY: the graph and its nodes were just made in the current context, in which the kernels are; both
            // they and the memory outlive the piece (fact 2 of `Steps`). A node before one that waits is a kernel.
            unsafe { delay::add_stamp(cuda, graph, after, kernels, stamp) }
        };
        let mut last = match row.begins_with_copy {
            true => None,
            false => Some(stamp(self, None, 0, row.enters_waiting).map_err(at_first)?),
        };
        let mut index = 0;
        for group in &row.groups {
            let mut handles: HashMap<usize, CUgraphNode> = HashMap::new();
            for (position, &node) in group.nodes.iter().enumerate() {
                let Some(single) = Single::of(&program.ops[node]) else {
                    continue; // `row` has left it out
                };
                let inner = row.stamps.rows.after[node].iter();
                let inner = inner.filter_map(|(from, early)| Some((*handles.get(from)?, *early)));
                let (mut early, mut after): (Vec<_>, Vec<_>) = inner.partition(|(_, early)| *early);
                if let (0, Some(last)) = (position, last) {
                    let edges = if group.joined { &mut early } else { &mut after };
                    edges.push((last, group.joined));
                }
                let ends = |edges: Vec<(CUgraphNode, bool)>| -> Vec<CUgraphNode> {
                    edges.into_iter().map(|(from, _)| from).collect()
                };
                let (early, after) = (ends(early), ends(after));
                let handle = self.add_to_row(draft, program, row, (graph, node, single), [&after, &early])?;
                handles.insert(node, handle);
                index += 1;
                if position + 1 == group.nodes.len() {
                    last = Some(stamp(self, Some(handle), index, group.waits).map_err(|error| (node, error))?);
                } else if row.form.is_divided {
                    stamp(self, Some(handle), index, false).map_err(|error| (node, error))?;
                }
            }
        }
        piece.instantiate(0).map_err(at_first)?;
        Ok(piece)
    }

    /// Adds a node that has no bodies to the graph of a row, after some nodes, and by programmatic edges after others.
    fn add_to_row(
        &mut self,
        draft: &Draft,
        program: &Program,
        row: &Row<'_>,
        (graph, node, single): (CUgraph, usize, Single<'_>),
        [after, early]: [&[CUgraphNode]; 2],
    ) -> Result<CUgraphNode, Failure> {
        let placed = self.parts.placed(node, row.form.repeats);
        let guard = placed.map_or_else(Guard::default, |placed| {
            placed.guard.decided(row.stamps.zero(), row.form.runs)
        });
        self.add_between(draft, program, (graph, node), (single, &guard), [after, early])
    }

    /// Adds a node that has no bodies, after some nodes, and by programmatic edges after others. The graph and its
    /// nodes were just made in the context of `parts`, which is current.
    pub(super) fn add_between(
        &mut self,
        draft: &Draft,
        program: &Program,
        (graph, node): (CUgraph, usize),
        work: (Single<'_>, &Guard),
        [after, early]: [&[CUgraphNode]; 2],
    ) -> Result<CUgraphNode, Failure> {
        // SAFETY: the graph and its nodes were just made in the context of `parts`; fact 2 of `Steps`.
        let handle = unsafe { self.parts.add_one(draft, program, graph, after, node, work) }?;
        if !early.is_empty() {
            // SAFETY: as above; both ends are kernel nodes (the plan's rule, or what `early` of `Predicated` says),
            // between which no edge was added.
            unsafe { self.parts.cuda.api().add_programmatic(graph, early, handle) }.map_err(|error| (node, error))?;
        }
        Ok(handle)
    }

    /// Keeps the GPU busy until its clock is as fast as it gets. The built-in kernels are loaded, and the context is
    /// current.
    fn warm_up(&mut self) -> Result<(), CudaError> {
        let mut piece = Piece::create(self.parts.cuda.api())?;
        let (cuda, kernels) = (&self.parts.cuda, &self.parts.kernels);
        // SAFETY: the graph was just made, and the kernels outlive the piece (fact 2).
        unsafe { delay::add_delay(cuda, piece.graph, &[], kernels, WARM_UP) }?;
        piece.instantiate(0)?;
        let ran = self.launch_row([piece.exec]);
        if self.state.over {
            std::mem::forget(piece); // it may still run
        }
        ran
    }

    /// The nanoseconds that a kernel which takes the time adds to a chain of such kernels, which wait or do not: the
    /// median. The built-in kernels are loaded, and the context is current.
    pub(super) fn stamp_overhead(&mut self, stamps: &Stamps, waits: bool) -> Result<u64, CudaError> {
        self.warm_up()?;
        let mut piece = Piece::create(self.parts.cuda.api())?;
        let mut last: Option<CUgraphNode> = None;
        for index in 0..CHAIN {
            let (cuda, kernels) = (&self.parts.cuda, &self.parts.kernels);
            let stamp = stamps.stamp(index, waits);
            // SAFETY: the graph was just made, and so was the node; kernels and memory outlive the piece (fact 2).
            last = Some(unsafe { delay::add_stamp(cuda, piece.graph, last, kernels, stamp) }?);
        }
        piece.instantiate(0)?;
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

/// Whether the node has no bodies, and does something.
pub(super) fn is_running(program: &Program, node: usize) -> bool {
    let is_idle = program.ops[node].work().is_some_and(Work::is_idle);
    program.enabled[node] && !is_idle && Single::of(&program.ops[node]).is_some()
}

/// The time of each node, from the times before the first and after each, of which only the last one of a group is
/// given if the launch divides none. Then the times of earlier launches divide the group's.
fn divided(groups: &[Group], stamped: &[u64], recorder: &Recorder) -> HashMap<usize, u64> {
    let mut times = HashMap::new();
    let (mut begin, mut index) = (stamped[0], 0);
    for Group {
        nodes: group, waits, ..
    } in groups
    {
        let overhead = match waits {
            true => recorder.joined_overhead(),
            false => recorder.overhead().unwrap_or(0),
        };
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
