//! The cost of bodies in either form, in microseconds, by the kind of device.

/// The prices of a kind of device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prices {
    /// The device that they were measured on.
    pub(super) device: &'static str,
    /// A conditional node with the kernel that sets its condition, if it runs a body, without that.
    pub(super) taken: f64,
    /// The same if it runs no body.
    pub(super) skipped: f64,
    /// An iteration of a `while` node, without its body.
    pub(super) iteration: f64,
    /// A predicated kernel more than the kernel.
    pub(super) test: f64,
    /// The same in a later pass of a `while`, if it tests while it loads memory or is one block.
    pub(super) test_beside: f64,
    /// A ticket that the blocks of a kernel take to decide alike, where it has several.
    pub(super) ticket: f64,
    /// A predicated kernel of few blocks that returns at once, or another kernel that does next to nothing.
    pub(super) kernel: f64,
    /// A block of a predicated kernel that returns at once.
    pub(super) block: f64,
    /// The most bytes that a kernel copies from the host for less than a copy node.
    pub(super) upload_bytes: usize,
    /// A kernel of one thread beside others: what remains in the loop of two kernels in `benches/bodies.rs`.
    pub(super) beside: f64,
}

/// Measured on an H200 with driver 580, in one-site chains (`benches/bodies.rs` measures them again).
const H200: Prices = Prices {
    device: "an H200",
    taken: 7.35,
    skipped: 3.7,
    iteration: 4.15,
    test: 0.17,
    test_beside: 0.02,
    ticket: 0.95,
    kernel: 0.76,
    block: 0.0005,
    // The bench `uploads`: a kernel costs less up to 64 KiB, at least.
    upload_bytes: 64 << 10,
    beside: 0.2,
};

/// The prices of devices of this compute capability and newer ones, the newest first. Devices that are older than all
/// of them have the last prices.
const TABLE: &[((i32, i32), Prices)] = &[((9, 0), H200)];

/// The cost of the choices of a conditional besides the nodes that run, in microseconds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Costs {
    /// If it runs a body, for each body; of a `while`, for an iteration.
    pub(super) runs: Vec<f64>,
    /// If it runs none, any more.
    pub(super) rests: f64,
}

impl Costs {
    /// The nanoseconds if the body of this position runs, or none.
    pub(super) fn nanoseconds(&self, body: Option<usize>) -> u64 {
        let cost = body.map_or(Some(&self.rests), |body| self.runs.get(body));
        (cost.copied().unwrap_or(0.0) * 1e3) as u64
    }
}

impl Prices {
    /// The costs of a conditional node with this number of bodies.
    pub(super) fn of_node(&self, bodies: usize, is_while: bool) -> Costs {
        Costs {
            runs: vec![if is_while { self.iteration } else { self.taken }; bodies],
            rests: self.skipped,
        }
    }

    /// The prices of a device of this compute capability.
    pub(super) fn of(capability: (i32, i32)) -> &'static Self {
        let known = TABLE.iter().find(|(from, _)| capability >= *from);
        &known.unwrap_or(&TABLE[TABLE.len() - 1]).1
    }

    /// A predicated kernel of this many blocks that returns at once.
    pub(super) fn returned(&self, blocks: f64) -> f64 {
        self.kernel + self.block * blocks
    }
}
