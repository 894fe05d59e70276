//! Nodes without bodies.

use super::super::program::{Action, Area, COLUMNS, CONSTANT, HOST, MEMORIES, RNGS, ROWS, SHARED, TABLES, Window};
use super::Author;

impl Author {
    /// A node without bodies.
    pub(super) fn simple(&mut self, choice: usize, conditional: bool) -> Action {
        match choice {
            0 | 1 => self.mix(),
            2 => {
                let memory = self.writable();
                let (to, value) = (self.segment(memory), self.random.below(1 << 30) as u32);
                Action::Start { to, value }
            }
            3 => Action::Update {
                to: self.changed_lately(),
                by: self.random.below(1000) as u32,
            },
            4 | 5 => {
                let from = self.readable(false);
                let to = self.like(from);
                self.step(from, to)
            }
            6 => Action::Bump {
                to: self.changed_lately(),
                by: self.random.below(1000) as u32,
            },
            7 => self.weigh(),
            8 => {
                let (rng, memory) = (self.random.below(RNGS.len()), self.writable());
                let to = Area {
                    column: 2 * self.random.below(COLUMNS / 2),
                    columns: 2,
                    ..self.segment(memory)
                };
                self.uses[rng] += 1;
                let number = self.uses[rng] - 1;
                Action::Draw { rng, number, to }
            }
            9 if !conditional => {
                let [from, to] = self.hosts();
                Action::Call { from, to }
            }
            10 if !conditional => [Action::Record, Action::Wait][self.random.below(2)].clone(),
            11 if self.random.chance(50) => Action::Join,
            // The variable is in the module of a kernel that counts.
            10 | 11 if self.counts && self.random.chance(35) => Action::Store {
                from: Area {
                    columns: 1,
                    ..self.readable(false)
                },
            },
            10 | 11 => {
                let memory = self.writable();
                let to = self.segment(memory);
                let to = Area { columns: 1, ..to };
                if self.counts && self.random.chance(40) {
                    return Action::Load { to };
                }
                self.counts = true;
                Action::Count { to }
            }
            12..=14 => {
                let (to, value) = (self.settable(), self.random.below(1 << 30) as u32);
                // The pattern is a row whose type is known, so the memory is no table.
                let fits = to.columns == COLUMNS && MEMORIES[to.memory].size == 4 && !TABLES.contains(&to.memory);
                let pattern = fits && self.random.chance(30);
                if !pattern && self.random.chance(25) {
                    let part = Window::of(&mut self.random, &to);
                    return Action::SetPart { to, value, part };
                }
                Action::Set { to, value, pattern }
            }
            _ => self.copy(),
        }
    }

    /// A step, which updates may give more memory than it has.
    fn step(&self, from: Area, to: Area) -> Action {
        const OTHERS: [usize; 4] = [0, 1, CONSTANT, SHARED[0]];
        let more = Area {
            memory: OTHERS[self.nodes % OTHERS.len()],
            row: self.nodes / OTHERS.len() % ROWS,
            ..from
        };
        match self.nodes.is_multiple_of(3) || more.meets(&to) {
            true => Action::Step { from, to },
            false => Action::StepWith {
                from,
                more,
                given: false,
                to,
            },
        }
    }

    fn mix(&mut self) -> Action {
        loop {
            let (from, to) = (self.readable(false), self.changeable());
            let to = Area {
                columns: from.columns,
                column: to.column.min(COLUMNS - from.columns),
                ..to
            };
            let known = self.written[to.memory] & to.mask() == to.mask();
            if known && !from.meets(&to) {
                return Action::Mix { from, to };
            }
        }
    }

    fn weigh(&mut self) -> Action {
        let from = self.readable(false);
        let weights = if self.random.chance(80) { CONSTANT } else { 0 };
        let weights = Area {
            memory: weights,
            row: self.random.below(ROWS),
            ..from
        };
        loop {
            let to = self.like(from);
            if !to.meets(&weights) {
                return Action::Weigh { weights, from, to };
            }
        }
    }

    fn copy(&mut self) -> Action {
        const OF_SIZES: [&[usize]; 3] = [&[0, 1, 12, 20, 21], &[13, 14], &[15, 16]];
        loop {
            let choice = self.random.below(7).min(3);
            let (from, to) = if choice == 3 {
                let (from, any) = (self.readable(true), self.random.of(OF_SIZES[0]));
                let memory = if self.random.chance(50) { self.writable() } else { any };
                (from, Area { memory, ..from })
            } else {
                let memories = OF_SIZES[choice];
                let (from, to) = (self.random.of(memories), self.random.of(memories));
                (
                    self.rectangle(from),
                    Area {
                        memory: to,
                        ..self.rectangle(from)
                    },
                )
            };
            let from = if self.random.chance(2) {
                Area { columns: 0, ..from }
            } else {
                from
            };
            let to = Area {
                row: self.random.below(ROWS - from.rows + 1),
                column: self.random.below(COLUMNS - from.columns + 1),
                rows: from.rows,
                columns: from.columns,
                ..to
            };
            if self.written[from.memory] & from.mask() == from.mask() && !from.meets(&to) {
                if self.random.chance(25) {
                    let part = Window::of(&mut self.random, &to);
                    return Action::CopyPart { from, to, part };
                }
                return Action::Copy { from, to };
            }
        }
    }

    /// Host memory to read, and other host memory to change.
    fn hosts(&mut self) -> [Area; 2] {
        loop {
            let areas = [(); 2].map(|()| {
                let memory = self.random.of(&[HOST, SHARED[1]]);
                self.segment(memory)
            });
            let to = Area {
                columns: areas[0].columns,
                column: areas[1].column.min(COLUMNS - areas[0].columns),
                ..areas[1]
            };
            if !areas[0].meets(&to) {
                return [areas[0], to];
            }
        }
    }
}
