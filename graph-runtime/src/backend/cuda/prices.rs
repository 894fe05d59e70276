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
    /// Predicated kernels that plain edges lead to.
    plain: Predicated,
    /// Kernels that wait for those before them, so that programmatic edges lead to them.
    joined: Predicated,
    /// A ticket that the blocks of a kernel take to decide alike, where it has several.
    pub(super) ticket: f64,
    /// A kernel of one thread that copies a condition.
    pub(super) latch: f64,
    /// The most bytes that a kernel copies from the host for less than a copy node.
    pub(super) upload_bytes: usize,
    /// A kernel of one thread beside others: what remains in the loop of two kernels in `benches/bodies.rs`.
    pub(super) beside: f64,
}

/// The prices of predicated kernels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Predicated {
    /// More than the kernel; less if the edge saves more than the test takes.
    pub(super) test: f64,
    /// The same in a later pass of a `while`, if it tests while it loads memory or is one block.
    pub(super) test_beside: f64,
    /// If it returns at once.
    returned: f64,
    /// A block of one that does.
    block: f64,
}

impl Predicated {
    /// One of this many blocks that returns at once.
    pub(super) fn rests(&self, blocks: f64) -> f64 {
        self.returned + self.block * blocks
    }
}

/// Measured on an H200 with driver 580, in one-site chains (`benches/bodies.rs` measures them again).
const H200: Prices = Prices {
    device: "an H200",
    taken: 7.35,
    skipped: 3.7,
    iteration: 4.25,
    plain: Predicated {
        test: 0.17,
        test_beside: 0.02,
        returned: 0.76,
        block: 0.0005,
    },
    joined: Predicated {
        test: -0.13,
        test_beside: -0.26,
        returned: 0.5,
        block: 0.001,
    },
    ticket: 0.95,
    latch: 0.76,
    // The bench `uploads`: a kernel costs less up to 64 KiB, at least.
    upload_bytes: 64 << 10,
    beside: 0.2,
};

/// The prices of devices of this compute capability and newer ones, the newest first. Devices that are older than all
/// of them have the last prices.
const TABLE: &[((i32, i32), Prices)] = &[((9, 0), H200)];

impl Prices {
    /// A choice of a conditional node, which runs a body or does not.
    pub(super) fn of_node(&self, is_while: bool, runs: bool) -> f64 {
        match (is_while, runs) {
            (_, false) => self.skipped,
            (true, true) => self.iteration,
            (false, true) => self.taken,
        }
    }

    /// The prices of a device of this compute capability.
    pub(super) fn of(capability: (i32, i32)) -> &'static Self {
        let known = TABLE.iter().find(|(from, _)| capability >= *from);
        &known.unwrap_or(&TABLE[TABLE.len() - 1]).1
    }

    /// The prices of predicated kernels which wait for those before them, or do not.
    pub(super) fn predicated(&self, waits: bool) -> &Predicated {
        if waits { &self.joined } else { &self.plain }
    }
}
