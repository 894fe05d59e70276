//! Graphs of one kind for several sizes.

use crate::any_graph::AnyGraph;
use crate::device::Device;
use crate::error::Result;
use crate::memory::Pool;
use std::fmt;

/// Graphs of one kind for several sizes, such as batches of 1, 2, 4 and 8 requests: each amount of work runs as the
/// smallest graph that has room for it. The graph is padded: what it computes for the rest of its size is for nobody.
///
/// All graphs have their scratch memory in one pool, so that it takes no more than that of the largest. They share
/// weights if these are build arguments.
///
/// ```
/// use graph_runtime::{AnyGraph, Buckets, Device, cuda_graph};
///
/// cuda_graph! {
///     graph Batch(n: usize, weights: device [f32; 4]) {
///         host input: [[f32; 4]; n];
///         scratch rows: [[f32; 4]; n];
///         host output: [[f32; 4]; n];
///         memcpy upload   = input -> rows;
///         memcpy first    = weights -> rows[0] after upload;
///         memcpy download = rows -> output after first;
///     }
/// }
///
/// let device = Device::emulator();
/// let weights = device.alloc::<[f32; 4]>()?;
/// let mut buckets = Buckets::build(&device, [1, 2, 4], |device, n| Batch::build(device, n, &weights))?;
///
/// let requests = [[1.0; 4], [2.0; 4], [3.0; 4]];
/// let (size, graph) = buckets.fitting(requests.len()).expect("three are no more than four");
/// graph.input_mut()?[..3].copy_from_slice(&requests);
/// graph.launch()?;
/// assert_eq!((size, &graph.output()?[1..3]), (4, &requests[1..]));
/// assert!(buckets.fitting(5).is_none());
/// # Ok::<(), graph_runtime::Error>(())
/// ```
pub struct Buckets<G> {
    /// The sizes, ascending, with their graphs.
    graphs: Vec<(usize, G)>,
    pool: Pool,
}

impl<G: AnyGraph> Buckets<G> {
    /// Builds a graph for each of the sizes, which may come in any order. `build` gets the device, with the pool of all
    /// graphs, and the size.
    ///
    /// # Errors
    /// The first error of `build`.
    pub fn build(
        device: &Device,
        sizes: impl IntoIterator<Item = usize>,
        mut build: impl FnMut(&Device, usize) -> Result<G>,
    ) -> Result<Self> {
        let pool = device.pool();
        let pooled = device.with_pool(&pool);
        let mut sizes: Vec<usize> = sizes.into_iter().collect();
        sizes.sort_unstable();
        sizes.dedup();
        // The largest first, so that the pool has room for the others.
        let largest_first = sizes.into_iter().rev();
        let built = largest_first.map(|size| Ok((size, build(&pooled, size)?)));
        let mut graphs = built.collect::<Result<Vec<_>>>()?;
        graphs.reverse();
        Ok(Self { graphs, pool })
    }

    /// The smallest graph with room for `amount`, and its size; `None` if even the largest has too little.
    pub fn fitting(&mut self, amount: usize) -> Option<(usize, &mut G)> {
        let first = self.graphs.partition_point(|(size, _)| *size < amount);
        self.graphs.get_mut(first).map(|(size, graph)| (*size, graph))
    }

    /// The largest amount that a graph has room for; 0 if there is no graph.
    pub fn largest(&self) -> usize {
        self.graphs.last().map_or(0, |(size, _)| *size)
    }

    /// The sizes, ascending, and their graphs.
    pub fn graphs(&self) -> impl ExactSizeIterator<Item = (usize, &G)> + DoubleEndedIterator {
        self.graphs.iter().map(|(size, graph)| (*size, graph))
    }

    /// The pool in which all graphs have their scratch memory.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }
}

impl<G> fmt::Debug for Buckets<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes = self.graphs.iter().map(|(size, _)| size);
        f.write_str("Buckets")?;
        f.debug_list().entries(sizes).finish()
    }
}
