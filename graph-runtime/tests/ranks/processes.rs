//! Ranks that are processes: as a launcher starts them, with its variables. Each test runs once more in them.

use crate::common::random::Random;
use crate::common::{is_software, wants_cuda};
use graph_runtime::{
    Communicator, CommunicatorOptions, Device, Error, Exchange, Graph, GraphBuilder, Reduction, Result,
};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The variable that tells a process that it is a rank.
const IS_RANK: &str = "CUDA_GRAPH_TEST_IS_RANK";
/// The variable with the milliseconds for which ranks wait for each other.
const TIMEOUT: &str = "CUDA_GRAPH_TEST_TIMEOUT";
/// The time after which ranks give up, where they need not: far more than they take on any machine.
const HANGS: Duration = Duration::from_secs(600);
/// The line of a rank that has launched its graph.
const READY: &str = "this rank launches";
/// The variables of launchers, of which tests may run in.
const OF_LAUNCHERS: [&str; 8] = [
    "RANK",
    "WORLD_SIZE",
    "LOCAL_RANK",
    "MASTER_ADDR",
    "MASTER_PORT",
    "SLURM_PROCID",
    "OMPI_COMM_WORLD_RANK",
    "PMI_RANK",
];

/// A process that is a rank. It ends with this, if it has not before.
struct Rank {
    child: Child,
    stdout: BufReader<ChildStdout>,
}

impl Rank {
    /// Waits for the end. Returns whether all is well, and what the process has written since it was last asked.
    fn end(&mut self) -> (bool, String) {
        let mut written = String::new();
        self.stdout.read_to_string(&mut written).unwrap();
        let mut errors = self.child.stderr.take().unwrap();
        errors.read_to_string(&mut written).unwrap();
        (self.child.wait().unwrap().success(), written)
    }

    /// The output of a process, which ends well.
    fn succeed(mut self) -> String {
        let (is_well, written) = self.end();
        assert!(is_well, "{written}");
        written
    }
}

impl Drop for Rank {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The processes of a test.
struct Job {
    test: &'static str,
    ranks: usize,
    /// The port is free when the job is made, and another job may get it before rank 0 does.
    port: u16,
    /// The number tells the job from those.
    number: u64,
    timeout: Duration,
}

impl Job {
    /// The job of a test, whose ranks wait for each other for so long; `None` in a process that is a rank.
    fn new(test: &'static str, ranks: usize, timeout: Duration) -> Option<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        if std::env::var_os(IS_RANK).is_some() {
            return None;
        }
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port().min(65_000);
        Some(Self {
            test,
            ranks,
            port,
            number: COUNT.fetch_add(1, Ordering::Relaxed),
            timeout,
        })
    }

    /// Starts a rank, with more variables.
    fn start(&self, rank: usize, more: &[(&str, &str)]) -> Rank {
        let mut child = Command::new(std::env::current_exe().unwrap());
        OF_LAUNCHERS.iter().for_each(|name| _ = child.env_remove(name));
        child
            .args(["--exact", self.test, "--nocapture", "--include-ignored"])
            .env(IS_RANK, "1")
            .env(TIMEOUT, self.timeout.as_millis().to_string())
            .env("RANK", rank.to_string())
            .env("WORLD_SIZE", self.ranks.to_string())
            .env("MASTER_ADDR", "127.0.0.1")
            .env("TORCHELASTIC_RUN_ID", format!("{} {}", std::process::id(), self.number))
            .env("MASTER_PORT", self.port.to_string())
            .envs(more.iter().copied())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = child.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Rank { child, stdout }
    }

    /// Starts all ranks.
    fn start_all(&self) -> Vec<Rank> {
        (0..self.ranks).map(|rank| self.start(rank, &[])).collect()
    }

    /// Runs all ranks to their end.
    fn run(&self) {
        self.start_all().into_iter().for_each(|rank| _ = rank.succeed());
    }
}

/// Whether ranks are GPUs, which take seconds to begin.
fn on_gpus() -> bool {
    wants_cuda() && !is_software()
}

/// The device of this rank, and its communicator.
fn join() -> Result<(Device, Communicator)> {
    let number = |name: &str| std::env::var(name).ok().and_then(|number| number.parse::<u64>().ok());
    let rank = number("RANK").unwrap_or_default() as usize;
    let device = if on_gpus() {
        // The GPU of its number or, where there are fewer, the last one.
        let found = (0..=rank).rev().find_map(|ordinal| Device::cuda(ordinal).ok());
        found.expect("CUDA_GRAPH_TEST_DEVICE=cuda needs a CUDA device")
    } else {
        Device::emulator()
    };
    // `Duration::MAX` has more milliseconds than a `u64` holds.
    let timeout = number(TIMEOUT).map_or(Duration::MAX, Duration::from_millis);
    let world = Communicator::from_env_by(&device, super::transport(), CommunicatorOptions { timeout })?;
    Ok((device, world))
}

/// A graph of all statements. It is other in kind on a rank that is told `other`.
fn build(device: &Device, world: &Communicator, other: bool) -> Result<Graph> {
    let ranks = world.size();
    let mut builder = GraphBuilder::new(device, "Step");
    let mut x = builder.device::<[f32; 4]>("x");
    let mut y = builder.device::<[f32; 4]>("y");
    let mut all = builder.device_slice::<[f32; 4]>("all", ranks);
    let set = builder.memset("set", &mut x, world.rank() as f32);
    let moves = [
        Exchange::send(&x, world.next()),
        Exchange::recv(&mut y, world.previous()),
    ];
    let ring = builder.exchange("ring", moves, world);
    builder.after(ring, &[set]);
    let kind = if other { Reduction::Max } else { Reduction::Sum };
    let sum = builder.all_reduce("sum", kind, &mut x, world);
    builder.after(sum, &[ring]);
    let table = builder.all_gather("table", &y, &mut all, world);
    builder.after(table, &[sum]);
    let first = builder.broadcast("first", &mut y, 0, world);
    builder.after(first, &[table]);
    let mut graph = builder.build()?;
    for _ in 0..3 {
        graph.launch()?;
        let sum = (0..ranks).sum::<usize>() as f32;
        assert_eq!(*graph.device(&x)?.read()?, [sum; 4]);
        let previous = |rank: usize| [(rank + ranks - 1) % ranks; 4].map(|rank| rank as f32);
        assert_eq!(*graph.device(&y)?.read()?, previous(0));
        let expected: Vec<[f32; 4]> = (0..ranks).map(previous).collect();
        assert_eq!(graph.device(&all)?.read_vec()?, expected);
    }
    Ok(graph)
}

/// Launches until that fails.
fn live(device: &Device, world: &Communicator) -> Result<()> {
    let mut graph = build(device, world, false)?;
    println!("\n{READY}");
    loop {
        graph.launch()?;
        graph.synchronize()?;
    }
}

#[test]
fn processes_meet() {
    let test = "processes::processes_meet";
    let ranks = if wants_cuda() { 2 } else { 3 };
    if let Some(job) = Job::new(test, ranks, Duration::MAX) {
        job.run();
        return;
    }
    let (device, world) = join().unwrap();
    assert_eq!(world.size(), ranks);
    let graph = build(&device, &world, false).unwrap();
    // Ranks in the opposite order, and each alone.
    let reversed = world.split(0, world.size() - world.rank()).unwrap();
    assert_eq!(reversed.rank(), world.size() - 1 - world.rank());
    build(&device, &reversed, false).unwrap();
    let alone = world.split(world.rank(), 0).unwrap();
    assert_eq!((alone.rank(), alone.size()), (0, 1));
    build(&device, &alone, false).unwrap();
    // A second communicator of the same processes.
    let (device, again) = join().unwrap();
    build(&device, &again, false).unwrap();
    drop(graph);
}

/// `mpirun` gives no address: the processes are on one machine, and the job has a name.
#[test]
fn processes_of_mpirun_meet() {
    let test = "processes::processes_of_mpirun_meet";
    if let Some(job) = Job::new(test, 2, HANGS) {
        let name = format!("prterun-{}", job.port);
        let start = |rank: &str| {
            // Variables without a value are not set.
            let none = ["RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"].map(|name| (name, ""));
            let size = ["OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"].map(|name| (name, "2"));
            let own = [("OMPI_COMM_WORLD_RANK", rank), ("PMIX_NAMESPACE", &*name)];
            job.start(0, &[&none[..], &size, &own].concat())
        };
        let ranks = ["0", "1"].map(start);
        ranks.into_iter().for_each(|rank| _ = rank.succeed());
        return;
    }
    let (device, world) = join().unwrap();
    assert_eq!(world.size(), 2);
    build(&device, &world, false).unwrap();
}

#[test]
fn plans_that_differ_are_refused() {
    let test = "processes::plans_that_differ_are_refused";
    if let Some(job) = Job::new(test, 2, HANGS) {
        job.run();
        return;
    }
    let (device, world) = join().unwrap();
    let error = build(&device, &world, world.rank() == 1).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("builds another graph: on rank"), "{message}");
    assert!(message.contains("node `sum` is all_reduce max of 4 f32"), "{message}");
}

/// Each process finds the circle in its own copy of what all ranks do. On GPUs, kernels find it.
#[test]
fn ranks_that_wait_for_each_other_are_told() {
    let test = "processes::ranks_that_wait_for_each_other_are_told";
    if let Some(job) = Job::new(test, 2, HANGS) {
        let begin = Instant::now();
        job.run();
        assert!(begin.elapsed() < HANGS, "{:?}", begin.elapsed());
        return;
    }
    let (device, world) = join().unwrap();
    let graphs = ["One", "Two"].map(|name| {
        let mut builder = GraphBuilder::new(&device, name);
        let mut x = builder.device::<[f32; 4]>("x");
        let set = builder.memset("set", &mut x, 1.0_f32);
        let sum = builder.all_reduce("sum", Reduction::Sum, &mut x, &world);
        builder.after(sum, &[set]);
        builder.build().unwrap()
    });
    let [mut one, mut two] = graphs;
    let first = if world.rank() == 0 { &mut one } else { &mut two };
    let error = first.launch().and_then(|()| first.synchronize()).unwrap_err();
    let message = error.to_string();
    let told: &[&str] = match on_gpus() {
        true => &["it runs another collective", "another rank has waited for it in vain"],
        false => &["rank 1 waits at node `sum` of graph `Two` for rank 0"],
    };
    assert!(told.iter().any(|told| message.contains(told)), "{message}");
}

#[test]
fn a_rank_that_does_not_come_is_named() {
    let test = "processes::a_rank_that_does_not_come_is_named";
    if let Some(job) = Job::new(test, 4, Duration::from_millis(4500)) {
        let children = [0, 2].map(|rank| job.start(rank, &[]));
        children.into_iter().for_each(|rank| _ = rank.succeed());
        return;
    }
    let error = join().unwrap_err();
    let message = error.to_string();
    assert!(matches!(error, Error::Peer { rank: 1, .. }), "{message}");
    assert!(message.contains("ranks 1, 3 have not come to 127.0.0.1:"), "{message}");
    assert!(message.contains("within 4.5s"), "{message}");
}

#[test]
fn variables_that_are_missing_are_named() {
    let test = "processes::variables_that_are_missing_are_named";
    if let Some(job) = Job::new(test, 2, Duration::from_secs(1)) {
        job.start(0, &[("MASTER_PORT", "none")]).succeed();
        return;
    }
    let error = join().unwrap_err();
    assert!(matches!(error, Error::Launcher { .. }), "{error}");
    assert!(error.to_string().starts_with("`MASTER_PORT` is no port"), "{error}");
}

/// Others on the port, silent ones and a process that does not know the secret, neither join nor hinder the job.
#[test]
fn strangers_do_not_join() {
    let test = "processes::strangers_do_not_join";
    if let Some(job) = Job::new(test, 2, HANGS) {
        let begin = Instant::now();
        let secret = ("CUDA_GRAPH_SECRET", "open sesame");
        let first = job.start(0, &[secret]);
        let mut silent = loop {
            match TcpStream::connect(("127.0.0.1", job.port)) {
                Ok(stream) => break stream,
                Err(_) => thread::sleep(Duration::from_millis(5)),
            }
            assert!(begin.elapsed() < HANGS, "nobody listens");
        };
        let mut noisy = silent.try_clone().unwrap();
        // It tries until its time is over. Rank 0 is there as long: its job is not complete before.
        let stranger = [
            ("CUDA_GRAPH_SECRET", "guessed"),
            ("CUDA_GRAPH_TEST_IS_STRANGER", "1"),
            (TIMEOUT, "10000"),
        ];
        let message = job.start(1, &stranger).succeed();
        let second = job.start(1, &[secret]);
        first.succeed();
        second.succeed();
        assert!(message.contains("another `CUDA_GRAPH_SECRET`"), "{message}");
        let _ = noisy.write_all(b"GET / HTTP/1.1\r\n\r\n");
        let _ = silent.read(&mut [0]);
        return;
    }
    if std::env::var_os("CUDA_GRAPH_TEST_IS_STRANGER").is_some() {
        let error = join().unwrap_err();
        assert!(matches!(error, Error::Peer { rank: 0, .. }), "{error}");
        println!("{error}");
        return;
    }
    let (device, world) = join().unwrap();
    build(&device, &world, false).unwrap();
}

#[test]
fn a_killed_process_is_an_error_of_the_others() {
    let test = "processes::a_killed_process_is_an_error_of_the_others";
    if Job::new(test, 0, HANGS).is_none() {
        let error = join().and_then(|(device, world)| live(&device, &world)).unwrap_err();
        match &error {
            Error::Peer { rank, .. } => println!("\nfailed because of rank {rank}: {error}"),
            _ => panic!("{error}"),
        }
        return;
    }
    // Several at a time, since processes on GPUs begin slowly.
    let (lanes, most) = if on_gpus() { (4, 2) } else { (2, 3) };
    thread::scope(|scope| {
        for lane in 0..lanes {
            scope.spawn(move || {
                let mut random = Random(lane);
                for _ in 0..20 / lanes {
                    let mut job = Job::new(test, 2 + random.below(most - 1), HANGS).unwrap();
                    kill_one(&mut job, &mut random);
                }
            });
        }
    });
}

/// Starts the ranks of a job, kills one of them, and asserts that the others have an error that names it.
fn kill_one(job: &mut Job, random: &mut Random) {
    let dead = random.below(job.ranks);
    // While they start and meet, or while they launch. The others are told that a rank has ended, but not of one that
    // has never come.
    let is_early = !on_gpus() && random.chance(50);
    if is_early {
        job.timeout = Duration::from_secs(10);
    }
    let mut ranks = job.start_all();
    if !is_early {
        for rank in &mut ranks {
            let mut lines = rank.stdout.by_ref().lines().map_while(Result::<_, std::io::Error>::ok);
            assert!(lines.any(|line| line == READY), "a rank does not launch");
        }
    }
    let moment = Duration::from_micros(random.below(300_000) as u64);
    thread::sleep(moment);
    ranks[dead].child.kill().unwrap();
    let begin = Instant::now();
    for (number, rank) in ranks.iter_mut().enumerate() {
        let (is_well, message) = rank.end();
        let cause = format!("failed because of rank {dead}: ");
        let is_right = number == dead || is_well && message.contains(&cause);
        assert!(is_right, "{moment:?}, early: {is_early}: {message}");
    }
    let limit = if is_early { HANGS } else { job.timeout };
    assert!(
        begin.elapsed() < limit,
        "{moment:?}, early: {is_early}: {:?}",
        begin.elapsed()
    );
}
