//! Times, and the line that each figure is printed as: `bench:   <row>: <median> us (<low> to <high>)`.
//!
//! `cargo xtask compare` reads these lines. The scripts in `examples/pytorch` print the same ones.

use std::fmt;
use std::time::{Duration, Instant};

/// The rounds before the measured ones: clocks rise, caches fill.
const WARM_UP: usize = 10;

/// The time of one launch, in microseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Times {
    /// The name of the figure, as in the table of `docs/performance.md`.
    pub row: String,
    /// The median of all rounds.
    pub median: f64,
    /// The lower quartile.
    pub low: f64,
    /// The upper quartile.
    pub high: f64,
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { row, median, low, high } = self;
        write!(f, "bench:   {row}: {median:.2} us ({low:.2} to {high:.2})")
    }
}

/// Measures the time from the first of `batch` launches to the end of the last one, divided by `batch`. `subject` is
/// what both closures need: the graph, or a tuple of a graph and more. `launch` starts it, and `wait` waits for all
/// launches. At most about 1,000 launches should be in flight: CUDA's queue is no longer.
///
/// # Errors
/// The first error of `launch` or `wait`.
pub fn time<T: ?Sized, E>(
    row: &str,
    rounds: usize,
    batch: usize,
    subject: &mut T,
    launch: impl FnMut(&mut T) -> Result<(), E>,
    mut wait: impl FnMut(&mut T) -> Result<(), E>,
) -> Result<Times, E> {
    measure(row, rounds, batch, subject, launch, |subject, start| {
        wait(subject)?;
        Ok(start.elapsed())
    })
}

/// Measures the CPU time of `launch` alone, as the mean over `batch` launches in a row; `wait` comes after, unmeasured.
/// The batch should be small, so that no launch waits for room in CUDA's queue.
///
/// # Errors
/// The first error of `launch` or `wait`.
pub fn cpu_time<T: ?Sized, E>(
    row: &str,
    rounds: usize,
    batch: usize,
    subject: &mut T,
    launch: impl FnMut(&mut T) -> Result<(), E>,
    mut wait: impl FnMut(&mut T) -> Result<(), E>,
) -> Result<Times, E> {
    measure(row, rounds, batch, subject, launch, |subject, start| {
        let time = start.elapsed();
        wait(subject)?;
        Ok(time)
    })
}

/// Makes some rounds unmeasured, then `rounds` (at least one), each of `batch` launches. `end` ends a round that began
/// at an instant, and returns its time, which is divided by `batch`.
fn measure<T: ?Sized, E>(
    row: &str,
    rounds: usize,
    batch: usize,
    subject: &mut T,
    mut launch: impl FnMut(&mut T) -> Result<(), E>,
    mut end: impl FnMut(&mut T, Instant) -> Result<Duration, E>,
) -> Result<Times, E> {
    let mut times = Vec::new();
    for number in 0..WARM_UP + rounds.max(1) {
        let start = Instant::now();
        for _ in 0..batch {
            launch(subject)?;
        }
        let time = end(subject, start)?.as_secs_f64() * 1e6 / batch.max(1) as f64;
        if number >= WARM_UP {
            times.push(time);
        }
    }
    times.sort_unstable_by(f64::total_cmp);
    let [low, median, high] = [1, 2, 3].map(|quarter| times[times.len() * quarter / 4]);
    Ok(Times {
        row: row.to_owned(),
        median,
        low,
        high,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_one_line() {
        let times = Times {
            row: "overlap plain".to_owned(),
            median: 28.304,
            low: 28.0,
            high: 29.5,
        };
        assert_eq!(times.to_string(), "bench:   overlap plain: 28.30 us (28.00 to 29.50)");
    }

    #[test]
    fn each_round_waits_once() {
        let mut counts = [0; 2];
        let times = time(
            "row",
            3,
            4,
            &mut counts,
            |counts| {
                counts[0] += 1;
                Ok::<(), String>(())
            },
            |counts| {
                counts[1] += 1;
                Ok(())
            },
        );
        assert!(times.is_ok_and(|times| times.low <= times.median && times.median <= times.high));
        assert_eq!(counts, [(WARM_UP + 3) * 4, WARM_UP + 3]);
    }

    #[test]
    fn an_error_ends_the_measurement() {
        let failing = cpu_time("row", 1, 1, &mut (), |()| Err("no"), |()| Ok(()));
        assert_eq!(failing, Err("no"));
    }
}
