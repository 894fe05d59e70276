//! Times, and the line that each figure is printed as: `bench:   <row>: <median> us (<low> to <high>)`.
//!
//! `cargo xtask compare` reads these lines. The scripts in `examples/pytorch` print the same ones.

use crate::bare::Bare;
use crate::program::has_argument;
use graph_runtime::{AnyGraph, BoxError, Device};
use std::fmt;
use std::time::{Duration, Instant};

/// The rounds before the measured ones: clocks rise, caches fill.
const WARM_UP: usize = 10;

/// The launches of a profile.
const PROFILED: usize = 5;

/// Whether the program has the argument `--bench`, and its device is a GPU.
pub fn is_wanted(device: &Device) -> bool {
    has_argument("--bench") && !device.is_emulator()
}

/// A figure to measure: the time of one step, in microseconds.
#[derive(Clone, Copy, Debug)]
pub struct Figure<'a> {
    /// The name of the figure, as in the table of `docs/performance.md`.
    row: &'a str,
    rounds: usize,
    launches: usize,
    steps: usize,
    is_silent: bool,
}

impl<'a> Figure<'a> {
    /// A figure of `rounds` (at least one), each of `launches` in a row and one wait. At most about 1,000 launches
    /// should be in flight: CUDA's queue is no longer.
    pub const fn new(row: &'a str, rounds: usize, launches: usize) -> Self {
        Self {
            row,
            rounds,
            launches,
            steps: 1,
            is_silent: false,
        }
    }

    /// [`Figure::time`] prints nothing if `is_silent`: another rank, which makes the same launches, prints the figure.
    #[must_use]
    pub const fn silent(self, is_silent: bool) -> Self {
        Self { is_silent, ..self }
    }

    /// A launch has this number of steps: the figure is the time of one.
    pub const fn steps(self, steps: usize) -> Self {
        Self { steps, ..self }
    }

    /// Prints the time of a graph, from the first launch of a round to the end of the last one; and that of the same
    /// nodes in a graph of bare driver calls, unless it has nodes that take part in control flow. Rounds of both are in
    /// turns. Then it prints the sum along the critical path that a profile finds beside the time of a launch.
    ///
    /// # Errors
    /// Any error of a launch.
    pub fn graph<G: AnyGraph>(self, graph: &mut G) -> Result<(), BoxError> {
        let time = self.beside(graph, false)?;
        let row = self.row;
        match graph.profile(PROFILED) {
            Err(error) => println!("profile: {row}: {error}"),
            Ok(profile) => {
                let path = profile.critical_time().as_secs_f64() * 1e6;
                let ratio = path / time;
                println!("profile: {row}: {path:.2} us along the critical path, {time:.2} us a launch: {ratio:.2}");
            }
        }
        Ok(())
    }

    /// Prints the CPU time of a launch, of a graph and of the same nodes in a graph of bare driver calls, in turns.
    /// There should be few launches in a round, so that none waits for room in CUDA's queue.
    ///
    /// # Errors
    /// Any error of a launch.
    pub fn cpu<G: AnyGraph>(self, graph: &mut G) -> Result<(), BoxError> {
        self.beside(graph, true).map(drop)
    }

    /// Measures a graph and its bare twin, if it has one. The time of a round ends with its last launch if
    /// `is_cpu_time`, else when all launches have ended. Returns the microseconds of a launch of the graph.
    fn beside<G: AnyGraph>(self, graph: &mut G, is_cpu_time: bool) -> Result<f64, BoxError> {
        // SAFETY: the graph is borrowed until the other one has run. Each round of either waits for its launches.
        let mut bare = unsafe { Bare::of(graph) }?;
        let mut own_times = Vec::new();
        let mut bare_times = Vec::new();
        for _ in 0..self.all_rounds() {
            own_times.push(self.round(graph, G::launch, |graph| graph.synchronize(), is_cpu_time)?);
            if let Some(bare) = &mut bare {
                bare_times.push(self.round(bare, Bare::launch, |bare| bare.synchronize(), is_cpu_time)?);
            }
        }
        let times = self.times(self.row.to_owned(), own_times);
        println!("{times}");
        if bare.is_some() {
            println!("{}", self.times(format!("{} bare", self.row), bare_times));
        }
        let [_, median, _] = times.quartiles;
        Ok(median * self.steps as f64)
    }

    /// Prints the time from the first of the launches to the end of the last one. `subject` is what both closures need:
    /// the graph, or a tuple of a graph and more. `launch` starts it, and `wait` waits for all launches.
    ///
    /// # Errors
    /// The first error of `launch` or `wait`.
    pub fn time<T: ?Sized, E>(
        self,
        subject: &mut T,
        launch: impl FnMut(&mut T) -> Result<(), E>,
        wait: impl FnMut(&mut T) -> Result<(), E>,
    ) -> Result<(), E> {
        let times = self.measure(subject, launch, wait)?;
        if !self.is_silent {
            println!("{times}");
        }
        Ok(())
    }

    /// Returns the time that [`time`](Self::time) prints, the median in microseconds.
    ///
    /// # Errors
    /// As [`time`](Self::time).
    pub fn median<T: ?Sized, E>(
        self,
        subject: &mut T,
        launch: impl FnMut(&mut T) -> Result<(), E>,
        wait: impl FnMut(&mut T) -> Result<(), E>,
    ) -> Result<f64, E> {
        Ok(self.measure(subject, launch, wait)?.quartiles[1])
    }

    fn measure<T: ?Sized, E>(
        self,
        subject: &mut T,
        mut launch: impl FnMut(&mut T) -> Result<(), E>,
        mut wait: impl FnMut(&mut T) -> Result<(), E>,
    ) -> Result<Times, E> {
        let rounds = (0..self.all_rounds()).map(|_| self.round(subject, &mut launch, &mut wait, false));
        Ok(self.times(self.row.to_owned(), rounds.collect::<Result<Vec<_>, E>>()?))
    }

    /// The number of rounds, with those that are not measured.
    fn all_rounds(self) -> usize {
        WARM_UP + self.rounds.max(1)
    }

    /// Makes a round, and returns its time.
    fn round<T: ?Sized, E>(
        self,
        subject: &mut T,
        mut launch: impl FnMut(&mut T) -> Result<(), E>,
        mut wait: impl FnMut(&mut T) -> Result<(), E>,
        is_cpu_time: bool,
    ) -> Result<Duration, E> {
        let start = Instant::now();
        for _ in 0..self.launches {
            launch(subject)?;
        }
        let launched = start.elapsed();
        wait(subject)?;
        Ok(if is_cpu_time { launched } else { start.elapsed() })
    }

    /// The times of a step, of all rounds.
    fn times(self, row: String, rounds: Vec<Duration>) -> Times {
        let steps = (self.launches * self.steps).max(1) as u32;
        let mut times: Vec<Duration> = rounds.into_iter().skip(WARM_UP).map(|time| time / steps).collect();
        let quartiles = percentiles(&mut times, [25, 50, 75]);
        Times { row, quartiles }
    }
}

/// The microseconds of a step: of the rounds, the lower quartile, the median and the upper quartile.
#[derive(Clone, Debug, PartialEq)]
struct Times {
    row: String,
    quartiles: [f64; 3],
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = &self.row;
        let [low, median, high] = self.quartiles;
        write!(f, "bench:   {row}: {median:.2} us ({low:.2} to {high:.2})")
    }
}

/// Prints percentiles of the times from a question to its answer.
pub fn print_latency(name: &str, times: &mut [Duration]) {
    let [p50, p90, p99] = percentiles(times, [50, 90, 99]);
    println!("latency: {name:<14} p50 {p50:.1} us, p90 {p90:.1} us, p99 {p99:.1} us");
}

/// Sorts times, and returns their percentiles in microseconds; NaN if there are none.
fn percentiles<const N: usize>(times: &mut [Duration], percents: [usize; N]) -> [f64; N] {
    times.sort_unstable();
    let at = |percent| times.get(times.len().saturating_sub(1) * percent / 100);
    percents.map(|percent| at(percent).map_or(f64::NAN, |time| time.as_secs_f64() * 1e6))
}

/// Launches a graph as [`runs`] does, and waits for each launch.
///
/// # Errors
/// Any error of a launch.
pub fn launches(graph: &mut impl AnyGraph) -> graph_runtime::Result<()> {
    runs(|| {
        graph.launch()?;
        graph.synchronize()
    })
}

/// Runs `run` a hundred times and prints the median time of a run.
///
/// # Errors
/// If `run` fails, its error.
pub fn runs<E>(mut run: impl FnMut() -> Result<(), E>) -> Result<(), E> {
    let mut times = Vec::new();
    for _ in 0..100 {
        let start = Instant::now();
        run()?;
        times.push(start.elapsed());
    }
    let [median] = percentiles(&mut times, [50]);
    println!(
        "time:    {median:.1} us a run, upload to download (median of {})",
        times.len()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_one_line() {
        let times = Times {
            row: "overlap plain".to_owned(),
            quartiles: [28.0, 28.304, 29.5],
        };
        assert_eq!(times.to_string(), "bench:   overlap plain: 28.30 us (28.00 to 29.50)");
    }

    #[test]
    fn each_round_waits_once() {
        let mut counts = [0; 2];
        let launch = |counts: &mut [usize; 2]| {
            counts[0] += 1;
            Ok::<(), String>(())
        };
        let wait = |counts: &mut [usize; 2]| {
            counts[1] += 1;
            Ok(())
        };
        Figure::new("row", 3, 4).time(&mut counts, launch, wait).unwrap();
        assert_eq!(counts, [(WARM_UP + 3) * 4, WARM_UP + 3]);
    }

    #[test]
    fn a_figure_is_the_time_of_a_step() {
        let rounds = [9; WARM_UP].into_iter().chain([1; 3]).map(Duration::from_millis);
        let times = Figure::new("row", 3, 4)
            .steps(5)
            .times("row".to_owned(), rounds.collect());
        assert_eq!(times.quartiles, [50.0; 3]);
    }

    #[test]
    fn the_time_of_the_cpu_ends_with_the_last_launch() {
        let figure = Figure::new("row", 1, 1);
        // The time of a round, that until its wait begins, and that from its launch to the end of its wait.
        let round = |is_cpu_time| {
            let begun = Instant::now();
            let mut times = [begun; 3];
            let launch = |times: &mut [Instant; 3]| {
                times[0] = Instant::now();
                Ok::<(), String>(())
            };
            let end = |times: &mut [Instant; 3]| {
                times[1] = Instant::now();
                std::thread::sleep(Duration::from_millis(2));
                times[2] = Instant::now();
                Ok(())
            };
            let time = figure.round(&mut times, launch, end, is_cpu_time).unwrap();
            (time, times[1] - begun, times[2] - times[0])
        };
        let (time, until_wait, _) = round(true);
        assert!(time <= until_wait, "{time:?}, {until_wait:?}");
        let (time, _, whole) = round(false);
        assert!(time >= whole, "{time:?}, {whole:?}");
    }

    #[test]
    fn an_error_ends_the_measurement() {
        let failing = Figure::new("row", 1, 1).time(&mut (), |()| Err("no"), |()| Ok(()));
        assert_eq!(failing, Err("no"));
    }
}
