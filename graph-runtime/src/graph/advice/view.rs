//! A graph with the times of its nodes, as the rules need it.

use super::path::longest;
use super::prices;
use crate::devices::uploads::{UploadForm, Uploads};
use crate::graph::{Graph, GraphData};
use crate::program::{Op, Structure, Work};
use graph_plan::{LaunchConfig, Memory, Mode, NodeKind, Plan, Space};

/// A graph that hints are about.
pub(super) struct View<'a> {
    pub(super) data: &'a GraphData,
    pub(super) plan: Plan,
    /// The forms of copies from the host; none on the emulator.
    uploads: &'a [UploadForm],
    /// The microseconds that each node takes in one launch, alone.
    pub(super) times: Vec<f64>,
    /// Whether these were measured.
    pub(super) measured: bool,
    /// The processors of the device.
    pub(super) processors: u32,
    /// The nodes of the longest path, and its length in microseconds.
    pub(super) path: Vec<usize>,
    pub(super) length: f64,
}

impl<'a> View<'a> {
    pub(super) fn new(graph: &'a Graph) -> Self {
        let data = &graph.data;
        let plan = data.plan();
        let profile = graph
            .profiled
            .as_deref()
            .filter(|profile| profile.is_of_gpu() && profile.nodes().len() == plan.nodes.len());
        let mut view = Self {
            data,
            plan,
            uploads: graph.upload_forms(),
            times: Vec::new(),
            measured: profile.is_some(),
            processors: data.device.backend.processors().unwrap_or(prices::PROCESSORS),
            path: Vec::new(),
            length: 0.0,
        };
        let times = (0..view.plan.nodes.len()).map(|node| {
            let estimated = view.estimate(node);
            match profile {
                // A profile measures no edges and no conditions.
                Some(profile) if view.data.program.ops[node].work().is_some() => {
                    let calls = profile.nodes()[node].calls as f64 / profile.launches() as f64;
                    let measured = profile.nodes()[node].launch.as_secs_f64() * 1e6;
                    measured.max(if view.plan.nodes[node].kind == NodeKind::Join {
                        0.0
                    } else {
                        prices::KERNEL * calls
                    })
                }
                _ => estimated,
            }
        });
        view.times = times.collect();
        let after: Vec<Vec<usize>> = view.plan.nodes.iter().map(|node| node.after.to_vec()).collect();
        (view.length, view.path) = longest(&view.plan, &after, &view.times, view.measured);
        view
    }

    /// The microseconds that a node takes by its kind and its bytes; 0 for work of others, of which nothing is known.
    fn estimate(&self, node: usize) -> f64 {
        let bytes = self.bytes(node);
        match &self.data.program.ops[node] {
            Op::Work(Work::Kernel(_) | Work::Memset(_)) => prices::KERNEL + self.at_full_speed(bytes),
            Op::Work(Work::Memcpy(_)) if self.is_upload_by_kernel(node) => prices::upload(bytes / 2.0),
            Op::Work(Work::Memcpy(_)) if self.is_between_host_and_device(node) => prices::host_copy(bytes / 2.0),
            Op::Work(Work::Memcpy(_)) => prices::DEVICE_COPY + self.at_full_speed(bytes),
            Op::Structure(Structure::Conditional(_)) => match self.plan.nodes[node].kind {
                NodeKind::While => prices::ITERATION,
                _ => prices::CONDITIONAL,
            },
            Op::Work(Work::Join) | Op::Structure(Structure::Child(_)) | Op::External(_) => 0.0,
        }
    }

    /// The bytes that a node is given, as far as they are known.
    pub(super) fn bytes(&self, node: usize) -> f64 {
        self.data.program.bytes(node).unwrap_or(0) as f64
    }

    /// The microseconds that the device takes to move so many bytes.
    pub(super) fn at_full_speed(&self, bytes: f64) -> f64 {
        bytes / prices::MEMORY
    }

    /// The part of the device's processors that have blocks of a launch.
    pub(super) fn filled(&self, config: &LaunchConfig) -> f64 {
        (config.blocks() as f64 / f64::from(self.processors)).clamp(f64::MIN_POSITIVE, 1.0)
    }

    /// Whether a node copies from memory of the host.
    pub(super) fn is_upload(&self, node: usize) -> bool {
        self.plan.nodes[node].kind == NodeKind::Memcpy
            && self.is_between_host_and_device(node)
            && self.read_on_host(node).is_some()
    }

    /// The memory of the host that a node reads.
    fn read_on_host(&self, node: usize) -> Option<usize> {
        let mut accesses = self.plan.nodes[node].accesses.iter();
        let read = accesses
            .find(|access| access.mode == Mode::Read && self.plan.resources[access.resource].memory == Memory::Host);
        read.map(|access| access.resource)
    }

    /// Whether a copy from the host is a kernel. On the emulator, which has neither form: whether it would be.
    pub(super) fn is_upload_by_kernel(&self, node: usize) -> bool {
        let name = &self.data.draft.nodes[node].name;
        let form = self.uploads.iter().find(|form| form.node == **name);
        let asked = || self.data.device.uploads != Uploads::Copies && self.may_be_kernel(node);
        form.map_or_else(asked, |form| form.kernel)
    }

    /// Whether a copy from the host may be a kernel.
    pub(super) fn may_be_kernel(&self, node: usize) -> bool {
        let mut written = self.plan.nodes[node].accesses.iter();
        self.read_on_host(node)
            .is_some_and(|from| self.data.shared.find(from).is_none())
            && written.all(|access| {
                let memory = self.plan.resources[access.resource].memory;
                memory == Memory::Host || memory.is_plain_device()
            })
    }

    /// Whether a copy has one side on the host, and one on the device.
    pub(super) fn is_between_host_and_device(&self, node: usize) -> bool {
        let accesses = self.plan.nodes[node].accesses.iter();
        let spaces = accesses.map(|access| self.plan.resources[access.resource].memory.space());
        let (host, device): (Vec<Space>, Vec<Space>) = spaces.partition(|space| *space == Space::Host);
        !host.is_empty() && !device.is_empty()
    }

    /// The names of nodes, each once; all iterations of a loop have one name.
    pub(super) fn names(&self, nodes: &[usize]) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for &node in nodes {
            let name = self.name(node);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The name of a node, for a hint.
    pub(super) fn name(&self, node: usize) -> String {
        let (name, numbers) = self.data.draft.name_and_numbers(node);
        match numbers {
            "" => name.to_owned(),
            _ => format!("{name}[..]"),
        }
    }
}
