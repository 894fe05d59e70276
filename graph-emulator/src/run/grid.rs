//! The blocks of a launch, and the host threads that run them.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use super::block::Block;
use crate::fault::Fault;
use crate::sanitize::global::GlobalSanitizer;
use crate::state::Context;

/// The blocks of a launch, which are handed out in order.
pub(super) struct Grid<'a> {
    context: &'a Context<'a>,
    sanitizer: Option<&'a GlobalSanitizer<'a>>,
    blocks: u64,
    /// The number of blocks that are handed out at once.
    batch: u64,
    next: AtomicU64,
    /// The first block that is known to be at fault. Later ones need not run.
    limit: AtomicU64,
    fault: Mutex<Option<(u64, Box<Fault>)>>,
}

impl<'a> Grid<'a> {
    pub(super) fn new(context: &'a Context<'a>, sanitizer: Option<&'a GlobalSanitizer<'a>>) -> Grid<'a> {
        let blocks = context.grid.iter().map(|&count| u64::from(count)).product();
        let (next, limit) = (AtomicU64::new(0), AtomicU64::new(u64::MAX));
        Grid {
            context,
            sanitizer,
            blocks,
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
        let workers = available.min(self.blocks);
        self.batch = (self.blocks / (workers * 32)).clamp(1, 256);
        if self.context.options.cooperative {
            let begun = (0..self.blocks).map(|index| (index, self.begin(index))).collect();
            let waiting = Mutex::new(begun);
            spread(workers, || self.take_turns(&waiting));
        } else {
            spread(workers, || self.work());
        }
        match self.fault.into_inner().unwrap_or_else(PoisonError::into_inner) {
            None => Ok(()),
            Some((_, fault)) => Err(fault),
        }
    }

    /// A block that has begun.
    fn begin(&self, index: u64) -> Block<'a> {
        let mut block = Block::new(self.context, self.sanitizer);
        block.begin(self.position(index));
        block
    }

    /// Gives turns to blocks that may wait for each other, until none is left without a worker, or one is at fault.
    fn take_turns(&self, waiting: &Mutex<VecDeque<(u64, Block<'a>)>>) {
        let queue = || waiting.lock().unwrap_or_else(PoisonError::into_inner);
        while self.limit.load(Relaxed) == u64::MAX {
            let Some((index, mut block)) = queue().pop_front() else {
                return;
            };
            match block.round() {
                Ok(true) => queue().push_back((index, block)),
                Ok(false) => {}
                Err(fault) => return self.report(index, fault),
            }
        }
    }

    /// Runs batches of blocks until none is left.
    fn work(&self) {
        let mut block = Block::new(self.context, self.sanitizer);
        loop {
            let start = self.next.fetch_add(self.batch, Relaxed);
            for index in start..(start + self.batch).min(self.blocks) {
                if index >= self.limit.load(Relaxed) {
                    return;
                }
                if let Err(fault) = block.run(self.position(index)) {
                    return self.report(index, fault);
                }
            }
            if start + self.batch >= self.blocks {
                return;
            }
        }
    }

    /// Keeps a fault if it is the first in the order of blocks.
    fn report(&self, index: u64, fault: Box<Fault>) {
        self.limit.fetch_min(index, Relaxed);
        let mut first = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        if first.as_ref().is_none_or(|(known, _)| index < *known) {
            *first = Some((index, fault));
        }
    }

    fn position(&self, index: u64) -> [u32; 3] {
        let [x, y, _] = self.context.grid.map(u64::from);
        [(index % x) as u32, (index / x % y) as u32, (index / x / y) as u32]
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
