//! Running one test of the corpus: a graph of uploads by hand, kernels in a row, and outputs that are compared or
//! recorded.

use crate::bound::{Bound, Number};
use crate::results;
use graph_runtime::{Device, Element, Graph, GraphBuilder, KernelCall, Launch, NodeId, OnDevice, Place, bytemuck};
use std::fmt::Write as _;
use std::panic::Location;

/// Adds a launch to a trial.
///
/// The safety argument of all of them: each launch below is of the size for which the buffers that it is passed were
/// made; where it were not, the emulator would say so.
macro_rules! launch {
    ($trial:ident, $kernel:ident<<<$grid:tt, $block:tt $(, $shared:tt)?>>>($($argument:expr),* $(,)?)) => {{
        // SAFETY: see the macro.
        let call = unsafe { $kernel::call($($argument),*) };
        $trial.launch(graph_runtime::Launch::new($grid, $block)$(.shared($shared))?, call);
    }};
}

/// Runs the kernel on inputs, and compares its outputs, each of which a method of [`Trial`] adds. Scalars come last.
/// The results are recorded under the kernel's name.
macro_rules! trial {
    ($kernel:ident<<<$($launch:tt),*>>>(
        $($input:ident: $data:expr),*
        => $($output:ident: $method:ident$(::<$ty:ty>)?($($argument:expr),*)),+ $(; $($scalar:expr),+)?
    )) => {{
        let mut trial = $crate::trial::Trial::new(stringify!($kernel));
        $(let $input = trial.input(stringify!($input), $data);)*
        $(let mut $output = trial.$method$(::<$ty>)?(stringify!($output), $($argument),*);)+
        launch!(trial, $kernel<<<$($launch),*>>>($(&$input,)* $(&mut $output,)+ $($($scalar),+)?));
        trial.run();
    }};
}

/// Tests of one [`trial!`] each, whose names are those of the kernels.
macro_rules! trials {
    ($($kernel:ident<<<$($launch:tt),*>>>($($trial:tt)*);)+) => {
        $(#[test]
        fn $kernel() {
            trial!($kernel<<<$($launch),*>>>($($trial)*));
        })+
    };
}

/// A test under construction.
pub(crate) struct Trial {
    name: &'static str,
    /// The source file of the test.
    file: &'static str,
    device: Device,
    builder: GraphBuilder,
    last: Option<NodeId>,
    uploads: Vec<Upload>,
    outputs: Vec<Box<dyn Output>>,
    /// Complaints: where results differ from those computed on the host.
    checks: Vec<Check>,
    launches: usize,
}

/// Memory whose contents are compared.
struct Compared<T> {
    name: &'static str,
    place: Place<[T], OnDevice>,
    /// For each row a name, and how near it must come. All rows are equally long.
    rows: Vec<(&'static str, Bound)>,
}

type Upload = Box<dyn FnOnce(&mut Graph)>;
type Check = Box<dyn Fn(&Graph) -> String>;

/// A [`Compared`] of any type.
trait Output {
    /// Its bytes.
    fn bytes(&self, graph: &Graph) -> Vec<u8>;
    /// Takes its part off the front of `recorded`; says where it differs from that.
    fn compare(&self, graph: &Graph, recorded: &mut &[u8]) -> String;
}

impl Trial {
    /// A trial of this name, under which the results of its file hold its own.
    #[track_caller]
    pub(crate) fn new(name: &'static str) -> Self {
        let device = match std::env::var("CUDA_GRAPH_TEST_DEVICE").as_deref() {
            Ok("cuda") => Device::cuda(0).expect("CUDA_GRAPH_TEST_DEVICE=cuda needs a CUDA device"),
            _ => Device::emulator(),
        };
        Self {
            name,
            file: Location::caller().file(),
            builder: GraphBuilder::new(&device, name),
            device,
            last: None,
            uploads: Vec::new(),
            outputs: Vec::new(),
            checks: Vec::new(),
            launches: 1,
        }
    }

    /// Memory that holds `data` at the start.
    pub(crate) fn input<T: Element>(&mut self, name: &'static str, data: Vec<T>) -> Place<[T], OnDevice> {
        let place = self.builder.device_slice::<T>(name, data.len());
        self.uploads.push(Box::new(move |graph| {
            let mut memory = graph.device_mut(&place).expect("memory of this graph");
            memory.copy_from(&data).expect("an upload");
        }));
        place
    }

    /// Zeroed memory that is not compared.
    pub(crate) fn scratch<T: Element>(&mut self, name: &'static str, len: usize) -> Place<[T], OnDevice> {
        self.builder.device_slice::<T>(name, len)
    }

    /// Zeroed memory that is compared in the end.
    pub(crate) fn output<T: Number>(&mut self, name: &'static str, len: usize, bound: Bound) -> Place<[T], OnDevice> {
        let place = self.builder.device_slice::<T>(name, len);
        self.compared(name, place, vec![("", bound)]);
        place
    }

    /// Zeroed memory of rows of `len`, compared in the end, each as it says.
    pub(crate) fn rows<T: Number>(
        &mut self,
        name: &'static str,
        len: usize,
        rows: &[(&'static str, Bound)],
    ) -> Place<[T], OnDevice> {
        let place = self.builder.device_slice::<T>(name, len * rows.len());
        self.compared(name, place, rows.to_vec());
        place
    }

    /// Memory that holds `data` at the start and is compared in the end.
    pub(crate) fn changed<T: Number>(
        &mut self,
        name: &'static str,
        data: Vec<T>,
        bound: Bound,
    ) -> Place<[T], OnDevice> {
        let place = self.input(name, data);
        self.compared(name, place, vec![("", bound)]);
        place
    }

    /// Zeroed memory that must become `expected`, on every device, and be within the same bound of the H200's.
    pub(crate) fn expect<T: Number>(
        &mut self,
        name: &'static str,
        expected: Vec<T>,
        bound: Bound,
    ) -> Place<[T], OnDevice> {
        self.expect_within(name, expected, bound, bound)
    }

    /// As above, where the host cannot compute the value as exactly: `near` is its bound.
    pub(crate) fn expect_within<T: Number>(
        &mut self,
        name: &'static str,
        expected: Vec<T>,
        near: Bound,
        bound: Bound,
    ) -> Place<[T], OnDevice> {
        let place = self.output::<T>(name, expected.len(), bound);
        self.check(&place, expected, near);
        place
    }

    /// Holds what is in memory in the end, or its start, against what the host computed, too.
    pub(crate) fn check<T: Number>(&mut self, place: &Place<[T], OnDevice>, expected: Vec<T>, near: Bound) {
        let place = place.rows(..expected.len());
        self.checks.push(Box::new(move |graph| {
            differences("the host's", &[("", near)], &expected, &values(graph, &place))
        }));
    }

    /// Compares a part of memory in the end.
    pub(crate) fn compare<T: Number>(&mut self, name: &'static str, place: Place<[T], OnDevice>, bound: Bound) {
        self.compared(name, place, vec![("", bound)]);
    }

    /// Holds the sum of some integers against what it must be, where only that is sure.
    pub(crate) fn check_sum<T: Number>(&mut self, place: Place<[T], OnDevice>, expected: i64) {
        self.checks.push(Box::new(move |graph| {
            let sum: i64 = values(graph, &place).into_iter().map(Number::ordered).sum();
            if sum == expected {
                String::new()
            } else {
                format!("  a sum is {sum}, not {expected}\n")
            }
        }));
    }

    fn compared<T: Number>(
        &mut self,
        name: &'static str,
        place: Place<[T], OnDevice>,
        rows: Vec<(&'static str, Bound)>,
    ) {
        self.outputs.push(Box::new(Compared { name, place, rows }));
    }

    /// Adds a launch after those before: see `launch!`.
    pub(crate) fn launch<const N: usize>(&mut self, launch: Launch, call: KernelCall<N>) {
        let name = self
            .last
            .map_or_else(|| "k0".to_owned(), |last| format!("k{}", last.index() + 1));
        let node = self.builder.kernel(name, launch, call);
        self.builder.after(node, &self.last.into_iter().collect::<Vec<_>>());
        self.last = Some(node);
    }

    /// Launches the graph this number of times.
    pub(crate) fn repeat(mut self, launches: usize) -> Self {
        self.launches = launches;
        self
    }

    /// Runs the graph, and compares or records what came out.
    pub(crate) fn run(self) {
        let mut graph = self.builder.build().unwrap_or_else(|error| panic!("{error}"));
        for upload in self.uploads {
            upload(&mut graph);
        }
        for _ in 0..self.launches {
            graph.launch().unwrap_or_else(|error| panic!("{error}"));
        }
        graph.synchronize().unwrap_or_else(|error| panic!("{error}"));

        let bytes: Vec<u8> = self.outputs.iter().flat_map(|output| output.bytes(&graph)).collect();
        let mut complaints: String = self.checks.iter().map(|check| check(&graph)).collect();
        if std::env::var_os("CORPUS_RECORD").is_some() {
            results::record(self.file, self.name, bytes);
        } else {
            let recorded = results::recorded(self.file, self.name);
            let mut rest = &recorded[..];
            assert_eq!(
                rest.len(),
                bytes.len(),
                "the outputs are of another size than the recorded ones"
            );
            complaints.extend(self.outputs.iter().map(|output| output.compare(&graph, &mut rest)));
        }
        assert!(
            complaints.is_empty(),
            "{} on {}:\n{complaints}",
            self.name,
            self.device.name()
        );
    }
}

impl<T: Number> Output for Compared<T> {
    fn bytes(&self, graph: &Graph) -> Vec<u8> {
        bytemuck::cast_slice(&values(graph, &self.place)).to_vec()
    }

    fn compare(&self, graph: &Graph, recorded: &mut &[u8]) -> String {
        let (own, rest) = recorded.split_at(self.place.bytes());
        *recorded = rest;
        let wanted: Vec<T> = own
            .chunks_exact(size_of::<T>())
            .map(bytemuck::pod_read_unaligned)
            .collect();
        let text = differences("the H200's", &self.rows, &wanted, &values(graph, &self.place));
        if text.is_empty() {
            text
        } else {
            format!("`{}`:\n{text}", self.name)
        }
    }
}

fn values<T: Number>(graph: &Graph, place: &Place<[T], OnDevice>) -> Vec<T> {
    let values = graph.device(place).and_then(|memory| memory.read_vec());
    values.unwrap_or_else(|error| panic!("{error}"))
}

/// The elements of `got` that are too far from `wanted`, row by row.
fn differences<T: Number>(whose: &str, rows: &[(&'static str, Bound)], wanted: &[T], got: &[T]) -> String {
    const SHOWN: usize = 4;
    let mut text = String::new();
    let len = wanted.len() / rows.len();
    for (row, &(label, bound)) in rows.iter().enumerate() {
        let places = row * len..(row + 1) * len;
        let wrong: Vec<usize> = places.filter(|&i| !bound.admits(wanted[i], got[i])).collect();
        if wrong.is_empty() {
            continue;
        }
        let _ = writeln!(
            text,
            "  row {row} {label}: {} of {len} not within {bound:?} of {whose}",
            wrong.len()
        );
        for &i in wrong.iter().take(SHOWN) {
            let (wanted, got, at) = (wanted[i], got[i], i - row * len);
            let _ = writeln!(
                text,
                "    [{at}]: {wanted:?} ({}), got {got:?} ({})",
                hex(wanted),
                hex(got)
            );
        }
    }
    text
}

fn hex<T: Number>(value: T) -> String {
    let bytes = bytemuck::bytes_of(&value).iter().rev();
    bytes.map(|byte| format!("{byte:02x}")).collect()
}
