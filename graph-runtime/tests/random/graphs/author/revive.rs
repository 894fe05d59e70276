//! Scratch memory that is begun anew, or is not quite.

use super::super::program::{Action, Area, Body, COLUMNS, Part, REVIVED, ROWS};
use super::{At, Author};

impl Author {
    /// Two scratch memories in turn, all in a row by what it hands on: the first, the second, the first again. Before
    /// that something is copied to it; so the two may share addresses if that writes all of it and is sure to run.
    pub(super) fn revive(&mut self, body: &mut Body, parts: &mut Vec<Part>, at: At<'_>) {
        let first = self.random.below(REVIVED.len());
        let second = (first + 1 + self.random.below(REVIVED.len() - 1)) % REVIVED.len();
        let [first, second] = [first, second].map(|index| Area::whole(REVIVED.start + index));
        let hand = Area::whole(self.random.below(2));
        let other = Action::Set {
            to: hand,
            value: self.random.below(1 << 30) as u32,
            pattern: true,
        };
        let copy = |from, to| Action::Copy { from, to };
        let steps = [
            copy(hand, first),
            copy(first, hand),
            other,
            copy(hand, second),
            copy(second, hand),
        ];
        for step in steps {
            self.push(body, parts, at, step, true);
        }
        self.renew(body, parts, at, hand, first);
        self.push(body, parts, at, copy(first, hand), true);
    }

    fn renew(&mut self, body: &mut Body, parts: &mut Vec<Part>, at: At<'_>, from: Area, to: Area) {
        let choice = self.random.below(6);
        if choice == 0 && self.flags < ROWS * COLUMNS {
            let flag = self.condition(body, parts, at, 2);
            let mut then = Body {
                id: self.bodies,
                ..Body::default()
            };
            self.bodies += 1;
            let inside = At {
                depth: at.depth + 1,
                conditional: true,
                place: &[],
            };
            let mut inner = Vec::new();
            self.push(&mut then, &mut inner, inside, Action::Copy { from, to }, true);
            then.parts = inner;
            let bodies = vec![then];
            return self.push(body, parts, at, Action::If { flag, bodies }, true);
        }
        let rows = if choice == 1 { ROWS / 2 } else { ROWS };
        let [from, to] = [from, to].map(|area| Area { rows, ..area });
        self.push(body, parts, at, Action::Copy { from, to }, choice != 2);
    }
}
