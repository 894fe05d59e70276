//! Two regions in iterations of the loops around: the inequalities that hold where they meet.

use super::{Bound, Region};
use crate::affine::{Affine, Variable};
use crate::linear::{MAX_VALUE, Solution, System};
use std::sync::Arc;

/// Two instances of nodes, in iterations that are unknown, and the inequalities about these.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meeting {
    system: System,
    /// For each of the two instances, its loops and their numbers.
    sides: [Vec<(Arc<Variable>, Linear)>; 2],
}

/// A sum of unknowns of a system and a constant.
#[derive(Clone, Debug, Default)]
struct Linear {
    terms: Vec<(usize, i128)>,
    constant: i128,
}

impl Linear {
    fn constant(value: impl Into<i128>) -> Self {
        Self {
            terms: Vec::new(),
            constant: value.into(),
        }
    }

    fn sum(terms: Vec<(usize, i128)>) -> Self {
        Self { terms, constant: 0 }
    }

    fn value(&self, unknowns: &[i128]) -> i128 {
        let term = |&(unknown, coefficient): &(usize, i128)| coefficient * unknowns[unknown];
        self.constant + self.terms.iter().map(term).sum::<i128>()
    }
}

/// The iterations of two instances: for each, the values of its loops' variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Met {
    pub(crate) sides: [Vec<(Arc<Variable>, i128)>; 2],
}

impl Met {
    /// The value of a loop's variable on one of the two sides.
    pub(crate) fn value(&self, side: usize, number: usize) -> Option<i128> {
        let mut values = self.sides[side].iter();
        let found = values.find(|(variable, _)| variable.number == number);
        found.map(|(_, value)| *value)
    }
}

impl Meeting {
    /// Adds that both instances are in the same iteration of a loop.
    pub(crate) fn share(&mut self, variable: &Arc<Variable>) {
        let unknown = self.system.variable(0, MAX_VALUE);
        for side in &mut self.sides {
            side.push((Arc::clone(variable), Linear::sum(vec![(unknown, 1)])));
        }
        self.limit(0, variable);
        if !variable.is_rectangular() {
            self.limit(1, variable);
        }
    }

    /// Adds that the second instance is in a later iteration of a loop than the first, or in an earlier one.
    pub(crate) fn apart(&mut self, variable: &Arc<Variable>, later: bool) {
        let (unknown, distance) = (self.system.variable(0, MAX_VALUE), self.system.changing(1, MAX_VALUE));
        let sign = if later { 1 } else { -1 };
        let terms = [vec![(unknown, 1)], vec![(unknown, 1), (distance, sign)]];
        for (side, terms) in self.sides.iter_mut().zip(terms) {
            side.push((Arc::clone(variable), Linear::sum(terms)));
        }
        self.limit(0, variable);
        self.limit(1, variable);
    }

    /// Adds that an instance is in some iteration of a loop.
    pub(crate) fn enter(&mut self, side: usize, variable: &Arc<Variable>) {
        let unknown = self.system.variable(0, MAX_VALUE);
        self.sides[side].push((Arc::clone(variable), Linear::sum(vec![(unknown, 1)])));
        self.limit(side, variable);
    }

    /// Adds that the number of a loop is in the loop's range.
    fn limit(&mut self, side: usize, variable: &Arc<Variable>) {
        let number = self.linear(side, &Affine::variable(variable));
        let first = variable.first.as_ref().map(|first| self.linear(side, first));
        self.at_most(&first.unwrap_or_default(), &number, 0);
        if let Some(last) = &variable.last {
            let last = self.linear(side, last);
            self.at_most(&number, &last, 0);
        }
    }

    /// The value of a form for one of the instances. Enters loops that the form mentions and the instance is not in
    /// yet.
    fn linear(&mut self, side: usize, form: &Affine) -> Linear {
        let mut sum = Linear::constant(form.constant());
        for (variable, coefficient) in form.terms() {
            let is_known = |(known, _): &(Arc<Variable>, Linear)| known.number == variable.number;
            if !self.sides[side].iter().any(is_known) {
                self.enter(side, variable);
            }
            let known = self.sides[side].iter().find(|known| is_known(known));
            let Some((_, linear)) = known else { continue };
            let coefficient = i128::from(*coefficient);
            sum.constant += coefficient * linear.constant;
            sum.terms
                .extend(linear.terms.iter().map(|&(unknown, own)| (unknown, coefficient * own)));
        }
        sum
    }

    /// Adds `a + distance <= b`.
    fn at_most(&mut self, a: &Linear, b: &Linear, distance: i128) {
        let terms = b.terms.iter().copied();
        let terms = terms.chain(a.terms.iter().map(|&(unknown, coefficient)| (unknown, -coefficient)));
        self.system.at_least(terms, distance + a.constant - b.constant);
    }

    /// Adds that the region `a` of one instance and the region `b` of another have something in common. Ends that are
    /// not numbers are left out.
    pub(crate) fn touch(&mut self, (a, side): (&Region, usize), (b, other): (&Region, usize)) {
        let (a, b) = (dimensions(a), dimensions(b));
        for dimension in 0..a.len().max(b.len()) {
            let mut ends = |part: Option<&&Region>, side: usize| {
                let (start, end) = part.map_or((None, None), |part| self.ends(part, side));
                if let (Some(start), Some(end)) = (&start, &end) {
                    self.at_most(start, end, 1);
                }
                (start, end)
            };
            let (start, end) = ends(a.get(dimension), side);
            let (other_start, other_end) = ends(b.get(dimension), other);
            for (start, end) in [(start, other_end), (other_start, end)] {
                if let (Some(start), Some(end)) = (start, end) {
                    self.at_most(&start, &end, 1);
                }
            }
        }
    }

    /// Whether the end `a` of an instance is at most its end `b` in each iteration, and whether there is an iteration.
    pub(super) fn is_at_most(a: &Bound, b: &Bound) -> bool {
        let (mut at_most, mut greater) = (Self::default(), Self::default());
        let numbers = |meeting: &mut Self| Some((meeting.number(a, 0)?, meeting.number(b, 0)?));
        let (Some(ends), Some(others)) = (numbers(&mut at_most), numbers(&mut greater)) else {
            return false;
        };
        at_most.at_most(&ends.0, &ends.1, 0);
        greater.at_most(&others.1, &others.0, 1);
        greater.solve() == Err(Solution::None) && at_most.solve().is_ok()
    }

    fn number(&mut self, bound: &Bound, side: usize) -> Option<Linear> {
        match bound {
            Bound::Known(value) => Some(Linear::constant(*value)),
            Bound::Affine(form) => Some(self.linear(side, form)),
            Bound::Symbol(_) | Bound::Iteration(_) | Bound::Unknown | Bound::End => None,
        }
    }

    /// Start and exclusive end of a region of one dimension, if they are numbers.
    fn ends(&mut self, region: &Region, side: usize) -> (Option<Linear>, Option<Linear>) {
        match region {
            Region::Whole | Region::Parts(_) | Region::Rectangle(_) => (None, None),
            Region::Index(index) => {
                let start = self.number(index, side);
                let end = start.clone().map(|mut end| {
                    end.constant += 1;
                    end
                });
                (start, end)
            }
            Region::Range(start, end) => (self.number(start, side), self.number(end, side)),
        }
    }

    /// Searches for iterations in which all that was added holds.
    pub(crate) fn solve(&self) -> Result<Met, Solution> {
        match self.system.solve() {
            Solution::Found(unknowns) => Ok(self.met(&unknowns)),
            other => Err(other),
        }
    }

    /// Searches for iterations in which all that was added holds and that `accept` accepts.
    pub(crate) fn solve_with(&self, mut accept: impl FnMut(&Met) -> bool) -> Result<Met, Solution> {
        match self.system.solve_with(&mut |unknowns| accept(&self.met(unknowns))) {
            Solution::Found(unknowns) => Ok(self.met(&unknowns)),
            other => Err(other),
        }
    }

    fn met(&self, unknowns: &[i128]) -> Met {
        let value = |(variable, linear): &(Arc<Variable>, Linear)| (Arc::clone(variable), linear.value(unknowns));
        Met {
            sides: self.sides.each_ref().map(|side| side.iter().map(value).collect()),
        }
    }
}

/// The parts of a region, one for each dimension that it selects from.
fn dimensions(region: &Region) -> Vec<&Region> {
    match region {
        Region::Whole => Vec::new(),
        Region::Parts(parts) => parts.iter().collect(),
        Region::Index(_) | Region::Range(..) | Region::Rectangle(_) => vec![region],
    }
}
