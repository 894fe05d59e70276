//! The times of a graph's nodes: [`Profile`], its table and its trace.

mod table;
mod path;
mod trace;
mod schedule;

use crate::error::{Error, Result, Site};
use crate::program::recorder::{Recorder, Step, Times, median};
use graph_plan::NodeKind;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;
use std::time::Duration;

/// The times of a graph's nodes, which [`Graph::profile`](crate::Graph::profile) measures. Shown as text, it is a table
/// of at most 120 columns, the nodes that take longest first, with all
/// iterations of a loop in one row.
///
/// The nodes run one after the other and are measured alone, so what the GPU gains by running several at once is not in
/// these times. The step from one node to the next is, and so is what kernels gain that programmatic edges join. On a
/// GPU, nodes of predicated bodies ([`Graph::body_forms`](crate::Graph::body_forms)) are measured as predicated
/// kernels, and those that return at once are in the time of the node with the bodies. What a conditional node itself
/// costs is a price of an H200, and is in its time, too. [`Profile::write_trace`] says how long a launch takes if nodes
/// start as soon as the graph's edges allow, and none slows down another one.
///
/// On a GPU, if there are at least four launches and the graph has no nodes with bodies, some of the launches run all
/// nodes as the graph's edges allow, and take down when paths end and meet: [`Profile::critical_path`] and
/// [`Profile::critical_time`] are those of such launches, in which nodes wait for others, and for a place on the GPU.
#[derive(Clone, Debug)]
pub struct Profile {
    graph: String,
    is_of_gpu: bool,
    launches: usize,
    overhead: Duration,
    /// The nanoseconds from the end of a node to the beginning of the next one, if they were measured.
    step: Option<u64>,
    nodes: Vec<NodeProfile>,
    by_declaration: Vec<NodeProfile>,
    shape: Vec<ProfiledNode>,
    bodies: usize,
    /// The nanoseconds that each node with bodies takes in one launch besides these.
    own: Vec<u64>,
    /// The nanoseconds after which nodes end in a launch of the whole graph, counted from the end of the launch before,
    /// if they were measured: of those at which paths end or meet.
    ends: Vec<Option<u64>>,
    course: Vec<Step>,
}

/// The times of one node of a graph: see [`Profile`]. Times are without [`Profile::overhead`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NodeProfile {
    /// The node's name. An iteration of a loop has nodes of its own, `step[3]`, as in
    /// [`Graph::plan`](crate::Graph::plan).
    pub name: String,
    /// The node's kind.
    pub kind: NodeKind,
    /// The Rust name of its kernel, if it is a kernel node.
    pub kernel: Option<String>,
    /// The number of times that it ran in all launches. In the body of a `while` it runs in each iteration.
    pub calls: u64,
    /// The median of the times of its calls. For a node with bodies, it is `total` divided by `calls`.
    pub median: Duration,
    /// The sum of the times of its calls. For a node with bodies: the sum of all nodes in them, and of what the choices
    /// between bodies cost.
    pub total: Duration,
    /// The time of all its calls in one launch: the median over the launches, so that a slow first one, in which
    /// memory and code are not in caches yet, does not count. For a node with bodies: the sum, as in `total`.
    pub launch: Duration,
    /// `launch` as a part of the time of all nodes, from 0 to 1. A node in a body counts for the node around it, too.
    pub share: f64,
    /// The bytes of memory that one call is given, if it is known: of a copy what it reads and what it writes, of a
    /// memset what it writes, of a kernel the memory of its arguments. A kernel may touch less of it, or touch it
    /// several times.
    pub bytes: Option<u64>,
    /// The instructions that warps executed in all calls, if it is a kernel that ran on the emulator.
    pub instructions: Option<u64>,
    /// The times that shared memory had to move words again in all calls, since an instruction of a warp accessed
    /// several words in one of the 32 banks (n - 1 for an n-way conflict), if it is a kernel that ran on the emulator.
    pub bank_conflicts: Option<u64>,
    /// The branches in all calls that some lanes of a warp took and others did not, if it is a kernel that ran on the
    /// emulator. They are those of the PTX: a compiler makes short ones predicates.
    pub divergent_branches: Option<u64>,
}

/// Nanoseconds of nodes: in all launches, and in one, the median of them.
#[derive(Clone, Copy, Default)]
struct Sum {
    total: u64,
    launch: u64,
}

impl Sum {
    fn of(times: &Times) -> Self {
        Self {
            total: times.launches.iter().sum(),
            launch: median(times.launches.clone()),
        }
    }
}

impl std::iter::Sum for Sum {
    fn sum<I: Iterator<Item = Self>>(sums: I) -> Self {
        sums.fold(Self::default(), |one, other| Self {
            total: one.total + other.total,
            launch: one.launch + other.launch,
        })
    }
}

impl NodeProfile {
    /// The sum of some nodes of one declaration, given all nodes with their times and sums, and the sum of them all.
    fn new(name: String, nodes: &[usize], (shape, times, sums): (&[ProfiledNode], &[Times], &[Sum]), all: Sum) -> Self {
        let first = &shape[nodes[0]];
        let Sum { total, launch } = nodes.iter().map(|&node| sums[node]).sum();
        let entered: u64 = nodes.iter().map(|&node| times[node].entered).sum();
        let all_calls: Vec<u64> = nodes.iter().flat_map(|&node| &times[node].calls).copied().collect();
        let calls = all_calls.len() as u64 + entered;
        let counted = nodes.iter().filter_map(|&node| times[node].counts);
        let counts = counted.reduce(|mut all, counts| {
            all += counts;
            all
        });
        Self {
            name,
            kind: first.kind,
            kernel: first.kernel.clone(),
            calls,
            median: Duration::from_nanos(match first.bodies.is_empty() {
                true => median(all_calls),
                false => total.checked_div(calls).unwrap_or(0),
            }),
            total: Duration::from_nanos(total),
            launch: Duration::from_nanos(launch),
            share: launch as f64 / all.launch.max(1) as f64,
            bytes: first
                .bytes
                .filter(|_| nodes.iter().all(|&node| shape[node].bytes == first.bytes)),
            instructions: counts.map(|counts| counts.instructions),
            bank_conflicts: counts.map(|counts| counts.bank_conflicts),
            divergent_branches: counts.map(|counts| counts.divergent_branches),
        }
    }

    /// The bytes of one call divided by its median time, if both are known.
    pub fn bytes_per_second(&self) -> Option<f64> {
        let seconds = self.median.as_secs_f64();
        (seconds > 0.0).then(|| Some(self.bytes? as f64 / seconds)).flatten()
    }
}

/// A node as a profile needs it.
#[derive(Clone, Debug)]
pub(crate) struct ProfiledNode {
    pub(crate) name: String,
    pub(crate) kind: NodeKind,
    pub(crate) kernel: Option<String>,
    pub(crate) bytes: Option<u64>,
    /// The nodes of its body that it runs directly after.
    pub(crate) after: Vec<usize>,
    /// The length of the longest path that ends here, in edges.
    pub(crate) level: usize,
    /// The body that it is in.
    pub(crate) body: usize,
    /// Its own bodies.
    pub(crate) bodies: Vec<usize>,
}

impl ProfiledNode {
    /// The name without the numbers of iterations.
    fn declared_name(&self) -> &str {
        let mut name = &*self.name;
        while let Some((rest, number)) = name.strip_suffix(']').and_then(|name| name.rsplit_once('[')) {
            if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
                break;
            }
            name = rest;
        }
        name
    }

    /// The declaration that it comes from: nodes with equal ones are iterations of a loop.
    fn declaration(&self) -> (&str, &'static str, Option<&str>, usize) {
        (
            self.declared_name(),
            self.kind.keyword(),
            self.kernel.as_deref(),
            self.body,
        )
    }
}

impl Profile {
    /// The profile of a graph with these nodes, on a GPU or on the emulator.
    pub(crate) fn new(graph: String, is_of_gpu: bool, shape: Vec<ProfiledNode>, recorder: &Recorder) -> Self {
        let mut sums: Vec<Sum> = recorder.nodes().iter().map(Sum::of).collect();
        let bodies = shape
            .iter()
            .flat_map(|node| &node.bodies)
            .max()
            .map_or(1, |last| last + 1);
        let own = sums.iter().map(|sum| sum.launch).collect();
        let mut members = vec![Sum::default(); bodies];
        // The nodes of a body come after the node whose body it is.
        for (index, node) in shape.iter().enumerate().rev() {
            let inner = node.bodies.iter().map(|&body| members[body]);
            sums[index] = inner.chain([sums[index]]).sum();
            members[node.body] = [members[node.body], sums[index]].into_iter().sum();
        }
        let all = members[0];
        let times = recorder.nodes();
        let of = |name: String, nodes: &[usize]| NodeProfile::new(name, nodes, (&shape, times, &sums), all);
        let nodes = shape
            .iter()
            .enumerate()
            .map(|(index, node)| of(node.name.clone(), &[index]));
        let nodes = nodes.collect();
        let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut known = HashMap::new();
        for (index, node) in shape.iter().enumerate() {
            let first = *known.entry(node.declaration()).or_insert(index);
            groups.entry(first).or_default().push(index);
        }
        let by_declaration = groups.values().map(|group| match group[..] {
            [only] => of(shape[only].name.clone(), group),
            _ => of(format!("{}[..]", shape[group[0]].declared_name()), group),
        });
        let by_declaration = by_declaration.collect();
        Self {
            graph,
            is_of_gpu,
            launches: recorder.launches(),
            overhead: Duration::from_nanos(recorder.overhead().unwrap_or(0)),
            step: recorder.step(),
            nodes,
            by_declaration,
            shape,
            bodies,
            own,
            ends: (0..times.len()).map(|node| recorder.end_of(node)).collect(),
            course: recorder.course().to_vec(),
        }
    }

    /// Whether it was measured on a GPU. If not, it was on the emulator, and the times are those of the CPU.
    pub fn is_of_gpu(&self) -> bool {
        self.is_of_gpu
    }

    fn device(&self) -> &'static str {
        if self.is_of_gpu { "CUDA" } else { "the emulator" }
    }

    /// The number of launches that were measured.
    pub fn launches(&self) -> usize {
        self.launches
    }

    /// The time that measuring adds to each call of a node, which is already subtracted: on a GPU, what a kernel that
    /// takes the time adds to a chain of such kernels; on the emulator, what reading the clock takes. So times are what
    /// nodes add to a launch, with the step from the node before. In debug mode and for a captured graph, it is what
    /// two events around a kernel that does nothing measure more than the kernel adds to a chain of such kernels.
    pub fn overhead(&self) -> Duration {
        self.overhead
    }

    /// The nodes, in order of declaration, as in [`Graph::plan`](crate::Graph::plan). Nodes that did not run have no
    /// calls.
    pub fn nodes(&self) -> &[NodeProfile] {
        &self.nodes
    }

    /// As [`Profile::nodes`], with the iterations of each `for` and `each` summed: `step[..]`.
    pub fn by_declaration(&self) -> &[NodeProfile] {
        &self.by_declaration
    }

    /// The time of all nodes in all launches, as they ran: one after the other.
    pub fn total(&self) -> Duration {
        let outermost = self.nodes.iter().zip(&self.shape).filter(|(_, node)| node.body == 0);
        outermost.map(|(node, _)| node.total).sum()
    }

    /// The time of one launch whose nodes run one after the other: the sum of [`NodeProfile::launch`].
    pub fn serial_time(&self) -> Duration {
        let outermost = self.nodes.iter().zip(&self.shape).filter(|(_, node)| node.body == 0);
        outermost.map(|(node, _)| node.launch).sum()
    }

    /// The nodes that determine how long a launch takes, in the order in which they run: the path along the graph's
    /// edges that ends last or, if ends were not measured (see [`Profile`]), the one with the largest sum of
    /// [`NodeProfile::launch`]. Where it goes through a node with bodies, the nodes of the path through each of its
    /// bodies stand for it, and what the choices cost counts, too.
    pub fn critical_path(&self) -> Vec<&NodeProfile> {
        let (_, path) = path::critical(self);
        path.into_iter().map(|node| &self.nodes[node]).collect()
    }

    /// The time of one launch: from the end of the launch before to the end of [`Profile::critical_path`] or, if ends
    /// were not measured (see [`Profile`]), the sum along the path, which is the time of a launch if every node starts
    /// as soon as the graph's edges allow.
    pub fn critical_time(&self) -> Duration {
        let (sum, _) = path::critical(self);
        Duration::from_nanos(sum)
    }

    /// The part of [`Profile::critical_time`] in which no node of the path runs: steps from each node to the next, each
    /// at least as long as a kernel that does next to nothing adds to a chain of such kernels; what conditional nodes
    /// themselves cost; and, if ends were measured (see [`Profile`]), the step from the launch before, and times in
    /// which nodes wait for a place on the GPU. `None` on the emulator, which has no such steps, in debug mode, and for
    /// a captured graph, whose steps are not measured.
    pub fn idle_time(&self) -> Option<Duration> {
        let step = self.step?;
        let (time, path) = path::critical(self);
        let running = path.into_iter().map(|node| {
            let NodeProfile { calls, launch, .. } = self.nodes[node];
            let steps = step * calls / self.launches as u64;
            (launch.as_nanos() as u64).saturating_sub(steps)
        });
        Some(Duration::from_nanos(time.saturating_sub(running.sum())))
    }

    /// Writes the last launch as a trace that [Perfetto](https://ui.perfetto.dev) and `chrome://tracing` open. Each
    /// node is as long as it was measured, and starts as soon as the nodes that it runs after have ended. Nodes that
    /// run at the same time are on tracks of their own, and so are nodes with bodies; the spans of a track do not
    /// overlap.
    ///
    /// # Errors
    /// [`Error::File`] if the file cannot be written.
    pub fn write_trace(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        fs::write(path, trace::json(self)).map_err(|error| Error::File {
            site: Site::graph(&self.graph),
            path: path.display().to_string(),
            message: error.to_string(),
        })
    }
}

#[cfg(test)]
mod tests;
