//! The times of nodes, as a launch takes them down node by node.

/// The times of all nodes in several launches, and the course of the last launch.
///
/// A launch tells it about each node: [`Recorder::call`] of a node without bodies, [`Recorder::skip`] of one that does
/// not run, [`Recorder::enter`] and [`Recorder::leave`] around the bodies of one that has some, [`Recorder::cost`] of
/// each choice between them, and [`Recorder::body`] before each run of a body. In a body, every node comes after those
/// that it runs after.
pub(crate) struct Recorder {
    nodes: Vec<Times>,
    launches: usize,
    /// The number of launches, those to come included.
    planned: usize,
    /// The course of the last launch.
    course: Vec<Step>,
    /// The time that an empty call measures, in nanoseconds, once it is known. It is subtracted from each call.
    overhead: Option<u64>,
    /// The same of calls that programmatic edges join with what takes the time.
    joined_overhead: u64,
    /// The nanoseconds from the end of a node to the beginning of the next one, if they are known.
    step: Option<u64>,
}

/// What the emulator counts of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// The instructions that warps executed.
    pub(crate) instructions: u64,
    /// The times that shared memory moved words again, since several were in one bank.
    pub(crate) bank_conflicts: u64,
    /// The branches at which lanes of a warp parted.
    pub(crate) divergent_branches: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.instructions += other.instructions;
        self.bank_conflicts += other.bank_conflicts;
        self.divergent_branches += other.divergent_branches;
    }
}

/// The calls of one node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times {
    /// The nanoseconds of each call.
    pub(crate) calls: Vec<u64>,
    /// The sum of the calls of each launch.
    pub(crate) launches: Vec<u64>,
    /// The nanoseconds from the end of the launch before to the node's end, in launches [in
    /// place](Recorder::is_in_place).
    pub(crate) ends: Vec<u64>,
    /// The number of times that a node with bodies was entered.
    pub(crate) entered: u64,
    /// The time of the last call in a launch that [`Recorder::is_divided`].
    pub(crate) divided: u64,
    /// The counts of all calls, if the emulator counted.
    pub(crate) counts: Option<Counts>,
}

/// A step of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A node without bodies ran, for so many nanoseconds.
    Call(usize, u64),
    /// A node did not run, or did nothing.
    Skip(usize),
    /// A node with bodies begins.
    Enter(usize),
    /// A body of the node that was entered last begins.
    Body,
    /// The node that was entered last takes so many nanoseconds of its own.
    Cost(u64),
    /// The node that was entered last has ended.
    Leave,
}

impl Recorder {
    /// For so many launches of a graph of so many nodes.
    pub(crate) fn new(nodes: usize, planned: usize) -> Self {
        Self {
            nodes: vec![Times::default(); nodes],
            launches: 0,
            planned,
            course: Vec::new(),
            overhead: None,
            joined_overhead: 0,
            step: None,
        }
    }

    /// The nanoseconds by which the time of each call is too long; `None` if that has not been measured yet.
    pub(crate) fn overhead(&self) -> Option<u64> {
        self.overhead
    }

    /// The same for calls that programmatic edges join with what takes the time.
    pub(crate) fn joined_overhead(&self) -> u64 {
        self.joined_overhead
    }

    /// Subtracts so many nanoseconds from each call from now on.
    pub(crate) fn set_overhead(&mut self, overhead: u64) {
        self.overhead = Some(overhead);
    }

    /// The nanoseconds from the end of a node to the beginning of the next one, if they are known.
    pub(crate) fn step(&self) -> Option<u64> {
        self.step
    }

    pub(crate) fn set_step(&mut self, step: u64) {
        self.step = Some(step);
    }

    pub(crate) fn set_joined_overhead(&mut self, overhead: u64) {
        self.joined_overhead = overhead;
    }

    /// Begins a launch.
    pub(crate) fn launch(&mut self) {
        self.launches += 1;
        self.nodes.iter_mut().for_each(|times| times.launches.push(0));
        self.course.clear();
    }

    /// The number of launches that divide the time of kernels which programmatic edges join.
    fn divided(&self) -> usize {
        if self.planned < 5 { 1 } else { 2 }
    }

    /// Whether kernels that programmatic edges join are measured each in this launch, rather than together: the first
    /// launches say how the time of all divides, and the others how long it is.
    pub(crate) fn is_divided(&self) -> bool {
        self.launches <= self.divided()
    }

    /// Whether this launch is one in place, which runs all nodes along their edges, if the graph allows it: of four
    /// launches or more, each second one after those that divide.
    pub(crate) fn is_in_place(&self) -> bool {
        let others = self.launches.saturating_sub(self.divided());
        self.planned >= 4 && others > 0 && others.is_multiple_of(2)
    }

    /// The nanoseconds from the end of the launch before to the end of a node, if it was measured. A first launch in
    /// place, which brings what it needs into caches, does not count beside others.
    pub(crate) fn end_of(&self, node: usize) -> Option<u64> {
        let ends = &self.nodes[node].ends;
        let warm = ends.get(1..).filter(|others| !others.is_empty()).unwrap_or(ends);
        (!warm.is_empty()).then(|| median(warm.to_vec()))
    }

    /// Notes a call of a node without bodies: the nanoseconds that were measured, and the counts, if there are some.
    pub(crate) fn call(&mut self, node: usize, measured: u64, counts: Option<Counts>) {
        self.call_without_overhead(node, measured.saturating_sub(self.overhead.unwrap_or(0)), counts);
    }

    /// Notes a call as [`Recorder::call`] does, of a time that has no overhead.
    pub(crate) fn call_without_overhead(&mut self, node: usize, time: u64, counts: Option<Counts>) {
        if self.is_divided() {
            self.nodes[node].divided = time;
        }
        let times = &mut self.nodes[node];
        times.calls.push(time);
        if let Some(sum) = times.launches.last_mut() {
            *sum += time;
        }
        if let Some(counts) = counts {
            *times.counts.get_or_insert_default() += counts;
        }
        self.course.push(Step::Call(node, time));
    }

    /// Notes a call of a node that was not measured alone in this launch. It counts with the median of earlier calls.
    pub(crate) fn call_again(&mut self, node: usize) {
        let time = median(self.nodes[node].calls.clone());
        self.call_without_overhead(node, time, None);
    }

    /// Notes when a node has ended in a launch in place.
    pub(crate) fn end(&mut self, node: usize, measured: u64) {
        let time = measured.saturating_sub(self.overhead.unwrap_or(0));
        self.nodes[node].ends.push(time);
    }

    /// Notes that a node does not run, or does nothing.
    pub(crate) fn skip(&mut self, node: usize) {
        self.course.push(Step::Skip(node));
    }

    /// Notes that a node with bodies begins.
    pub(crate) fn enter(&mut self, node: usize) {
        self.nodes[node].entered += 1;
        self.course.push(Step::Enter(node));
    }

    /// Notes that a body of the node that was entered last begins.
    pub(crate) fn body(&mut self) {
        self.course.push(Step::Body);
    }

    /// Notes the nanoseconds that a node with bodies, the one that was entered last, takes besides its bodies.
    pub(crate) fn cost(&mut self, node: usize, time: u64) {
        if let Some(sum) = self.nodes[node].launches.last_mut() {
            *sum += time;
        }
        self.course.push(Step::Cost(time));
    }

    /// Notes that the node that was entered last has ended.
    pub(crate) fn leave(&mut self) {
        self.course.push(Step::Leave);
    }

    pub(crate) fn nodes(&self) -> &[Times] {
        &self.nodes
    }

    pub(crate) fn launches(&self) -> usize {
        self.launches
    }

    pub(crate) fn course(&self) -> &[Step] {
        &self.course
    }
}

/// The median of some times: of an even number of them, the mean of the two in the middle.
pub(crate) fn median(mut times: Vec<u64>) -> u64 {
    times.sort_unstable();
    match times.len() {
        0 => 0,
        len if len % 2 == 1 => times[len / 2],
        len => times[len / 2 - 1].midpoint(times[len / 2]),
    }
}
