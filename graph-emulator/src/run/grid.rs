//! The blocks of a launch, or its clusters of several, and the host threads that run them.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use super::block::Block;
use super::team::Team;
use crate::fault::Fault;
use crate::sanitize::global::GlobalSanitizer;
use crate::state::Context;

/// The units of a launch, which are handed out in order: blocks, or clusters of several blocks.
pub(super) struct Grid<'a> {
    context: &'a Context<'a>,
    sanitizer: Option<&'a GlobalSanitizer<'a>>,
    units: u64,
    /// The number of units that are handed out at once.
    batch: u64,
    next: AtomicU64,
    /// The first unit that is known to be at fault. Later ones need not run.
    limit: AtomicU64,
    fault: Mutex<Option<(u64, Box<Fault>)>>,
}

impl<'a> Grid<'a> {
    pub(super) fn new(context: &'a Context<'a>, sanitizer: Option<&'a GlobalSanitizer<'a>>) -> Grid<'a> {
        let units = context.grid.iter().zip(context.cluster);
        let units = units.map(|(&grid, cluster)| u64::from(grid / cluster)).product();
        let (next, limit) = (AtomicU64::new(0), AtomicU64::new(u64::MAX));
        Grid {
            context,
            sanitizer,
            units,
            batch: 1,
            next,
            limit,
            fault: Mutex::new(None),
        }
    }

    pub(super) fn run(mut self) -> Result<(), Box<Fault>> {
        let available = self
            .context
            .options
            .threads
            .unwrap_or_else(rayon::current_num_threads)
            .max(1) as u64;
        let workers = available.min(self.units);
        self.batch = (self.units / (workers * 32)).clamp(1, 256);
        let (cooperative, clusters) = (self.context.options.cooperative, self.context.cluster_blocks() > 1);
        match (cooperative, clusters) {
            (true, false) => self.together(workers, Block::new, Block::begin, Block::goes_on),
            (true, true) => self.together(workers, Team::new, Team::begin, Team::goes_on),
            (false, false) => spread(workers, || self.work(Block::new, Block::run)),
            (false, true) => spread(workers, || self.work(Team::new, Team::run)),
        }
        match self.fault.into_inner().unwrap_or_else(PoisonError::into_inner) {
            None => Ok(()),
            Some((_, fault)) => Err(fault),
        }
    }

    /// Runs all units at the same time: they take turns.
    fn together<U: Send>(
        &self,
        workers: u64,
        new: impl Fn(&'a Context<'a>, Option<&'a GlobalSanitizer<'a>>) -> U,
        begin: impl Fn(&mut U, [u32; 3]),
        goes_on: impl Fn(&mut U) -> Result<bool, Box<Fault>> + Sync,
    ) {
        let begun = (0..self.units).map(|index| {
            let mut unit = new(self.context, self.sanitizer);
            begin(&mut unit, self.position(index));
            (index, unit)
        });
        let waiting = Mutex::new(begun.collect());
        spread(workers, || self.take_turns(&waiting, &goes_on));
    }

    /// Gives turns to units that may wait for each other, until none is left without a worker, or one is at fault.
    fn take_turns<U>(&self, waiting: &Mutex<VecDeque<(u64, U)>>, goes_on: impl Fn(&mut U) -> Result<bool, Box<Fault>>) {
        let queue = || waiting.lock().unwrap_or_else(PoisonError::into_inner);
        while self.limit.load(Relaxed) == u64::MAX {
            let Some((index, mut unit)) = queue().pop_front() else {
                return;
            };
            match goes_on(&mut unit) {
                Ok(true) => queue().push_back((index, unit)),
                Ok(false) => {}
                Err(fault) => return self.report(index, fault),
            }
        }
    }

    /// Runs batches of units until none is left.
    fn work<U>(
        &self,
        new: impl Fn(&'a Context<'a>, Option<&'a GlobalSanitizer<'a>>) -> U,
        run: impl Fn(&mut U, [u32; 3]) -> Result<(), Box<Fault>>,
    ) {
        let mut unit = new(self.context, self.sanitizer);
        loop {
            let start = self.next.fetch_add(self.batch, Relaxed);
            for index in start..(start + self.batch).min(self.units) {
                if index >= self.limit.load(Relaxed) {
                    return;
                }
                if let Err(fault) = run(&mut unit, self.position(index)) {
                    return self.report(index, fault);
                }
            }
            if start + self.batch >= self.units {
                return;
            }
        }
    }

    /// Keeps a fault if it is the first in the order of units.
    fn report(&self, index: u64, fault: Box<Fault>) {
        self.limit.fetch_min(index, Relaxed);
        let mut first = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        if first.as_ref().is_none_or(|(known, _)| index < *known) {
            *first = Some((index, fault));
        }
    }

    /// The position of a block, or of the first block of a cluster.
    fn position(&self, index: u64) -> [u32; 3] {
        let cluster = self.context.cluster;
        let [x, y, _] = [0, 1, 2].map(|axis| u64::from(self.context.grid[axis] / cluster[axis]));
        let of_unit = [index % x, index / x % y, index / x / y];
        [0, 1, 2].map(|axis| of_unit[axis] as u32 * cluster[axis])
    }
}

/// Lets host threads, `workers` of them, each do some work.
fn spread(workers: u64, work: impl Fn() + Sync) {
    if workers == 1 {
        return work();
    }
    rayon::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|_| work());
        }
    });
}
