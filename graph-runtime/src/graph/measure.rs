//! Measures the nodes of a graph.

use crate::error::{Error, Result};
use crate::graph::profile::{Profile, ProfiledNode};
use crate::graph::{Graph, GraphData};
use crate::in_flight::uses::Patience;
use crate::program::recorder::Recorder;
use crate::program::rows::Rows;
use std::sync::Arc;

impl Graph {
    /// Launches the graph `launches` times, one after the other, and measures each node. It waits for earlier launches
    /// and for these. They are launches like others: they read and write the graph's memory, and call host functions.
    ///
    /// Nodes run one at a time, in an order that the graph allows. On CUDA they are in one graph, with kernels that
    /// take the time between them; only kernels that programmatic edges join overlap, and how their time divides among
    /// them is measured in the first launches. If there are at least four launches and no nodes with bodies, some
    /// launches run all nodes as the graph's edges allow, and measure when paths end and meet; in these, a node counts
    /// with the median of its earlier times. On the emulator the time is that of the CPU, and the instructions of
    /// kernels are counted. Params, rebound memory and disabled nodes are as in launches. Other launches cost nothing
    /// more.
    ///
    /// ```
    /// use graph_runtime::{AnyGraph, Device, cuda_graph};
    ///
    /// let device = Device::emulator();
    /// let mut graph = cuda_graph! { &device =>
    ///     device data: [f32; 1024];
    ///     host   output: [f32; 1024];
    ///     memset fill = data <- 1.0;
    ///     memcpy down = data -> output after fill;
    /// }?;
    /// let profile = graph.profile(10)?;
    /// println!("{profile}");                                   // a table
    /// assert_eq!(profile.nodes()[0].calls, 10);
    /// assert_eq!(profile.nodes()[1].bytes, Some(8192));        // it reads 4096, and writes 4096
    /// let path: Vec<&str> = profile.critical_path().iter().map(|node| &*node.name).collect();
    /// assert_eq!(path, ["fill", "down"]);
    /// # let file = std::env::temp_dir().join(format!("profile-{}.json", std::process::id()));
    /// profile.write_trace(&file)?;                             // for https://ui.perfetto.dev
    /// # std::fs::remove_file(&file).expect("it was written");
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// * [`Error::Unsupported`] for 0 launches; on CUDA for a graph with `raw` nodes, unless it was built in [debug
    ///   mode](crate::Device::with_debug), and for one that [`Definition::change`](crate::Definition::change) has
    ///   changed;
    /// * as [`Graph::launch`] and [`Graph::synchronize`].
    pub fn profile(&mut self, launches: usize) -> Result<Profile> {
        if launches == 0 {
            return Err(Error::Unsupported {
                site: self.site(),
                message: "a profile of 0 launches measures nothing: ask for 1 at least",
            });
        }
        if !self.is_whole() {
            return Err(self.refusal());
        }
        self.executable.restart(&self.data.draft)?; // as for a launch, an earlier one may have failed
        let rows = Arc::new(Rows::of(&self.data.plan()));
        let shape = shape(&self.data);
        let mut recorder = Recorder::new(shape.len(), launches);
        let mut clock = None;
        for _ in 0..launches {
            recorder.launch();
            let GraphData {
                draft, program, shared, ..
            } = &self.data;
            let claims = shared.claim(draft, Patience::of_this_thread())?;
            let measured = (&mut recorder, &mut clock);
            self.executable.profile(draft, program, &rows, &claims, measured)?;
            drop(claims);
            self.synchronize()?;
        }
        let is_of_gpu = !self.data.device.is_emulator();
        let profile = Profile::new(self.data.label(), is_of_gpu, shape, &recorder);
        self.profiled = Some(Box::new(profile.clone()));
        Ok(profile)
    }
}

/// The nodes of a graph.
fn shape(data: &GraphData) -> Vec<ProfiledNode> {
    let plan = data.plan();
    let mut bodies = vec![Vec::new(); plan.nodes.len()];
    for (index, body) in plan.bodies.iter().enumerate() {
        if let Some(node) = body.node {
            bodies[node].push(index);
        }
    }
    let nodes = plan.nodes.iter().zip(bodies).enumerate();
    let shape = nodes.map(|(index, (node, bodies))| ProfiledNode {
        name: node.name.to_string(),
        kind: node.kind,
        kernel: node.launch.as_ref().map(|launch| launch.kernel.to_string()),
        bytes: data.program.bytes(index),
        after: node.after.to_vec(),
        level: node.level,
        body: node.body,
        bodies,
    });
    shape.collect()
}
