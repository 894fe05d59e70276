//! Two regions in iterations of the loops around: the inequalities that hold where they meet.
//!
//! Inequalities with remainders are not linear. But where the residue of each unknown is given, its remainder in steps
//! of a common multiple of the divisors, they are: every remainder is a number then. So the system is solved once for
//! each choice of residues, and the answer is as exact as without remainders.

use super::{Bound, Region};
use crate::affine::{Affine, Variable};
use crate::linear::{MAX_VALUE, Residue, Solution, System, gcd};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// The most choices of residues that are looked at.
const MAX_RESIDUES: i128 = 1 << 12;

/// Two instances of nodes, in iterations that are unknown, and the inequalities about these.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meeting {
    /// The inequalities without remainders.
    system: System,
    /// The inequalities with remainders: each sum is at least 0.
    with_remainders: Vec<Linear>,
    /// For each of the two instances, its loops and their numbers.
    sides: [Vec<(Arc<Variable>, Linear)>; 2],
}

/// A sum of unknowns of a system, remainders and a constant.
#[derive(Clone, Debug, Default)]
struct Linear {
    terms: Vec<(usize, i128)>,
    remainders: Vec<(Rc<Remainder>, i128)>,
    constant: i128,
}

/// The remainder of a sum that is divided by a number.
#[derive(Debug)]
struct Remainder {
    dividend: Linear,
    divisor: i128,
}

impl Linear {
    fn constant(value: impl Into<i128>) -> Self {
        Self {
            constant: value.into(),
            ..Self::default()
        }
    }

    fn sum(terms: Vec<(usize, i128)>) -> Self {
        Self {
            terms,
            ..Self::default()
        }
    }

    /// Adds a sum times a factor.
    fn add(&mut self, other: &Linear, factor: i128) {
        self.constant += factor * other.constant;
        let terms = other.terms.iter().map(|&(unknown, own)| (unknown, factor * own));
        self.terms.extend(terms);
        let remainders = other
            .remainders
            .iter()
            .map(|(remainder, own)| (Rc::clone(remainder), factor * own));
        self.remainders.extend(remainders);
    }

    /// The value of the remainders and the constant, where the unknowns in remainders have these residues.
    fn known(&self, residues: &[Residue]) -> i128 {
        let remainders = self.remainders.iter().map(|(remainder, factor)| {
            let Remainder { dividend, divisor } = &**remainder;
            let terms = dividend.terms.iter().map(|&(unknown, factor)| {
                let residue = residues.iter().find(|residue| residue.variable == unknown);
                factor * residue.map_or(0, |residue| residue.residue)
            });
            factor * (dividend.known(residues) + terms.sum::<i128>()).rem_euclid(*divisor)
        });
        self.constant + remainders.sum::<i128>()
    }

    /// Adds to `periods` a number for each unknown in remainders. If it is added to the unknown, no remainder changes.
    /// `outer` is a common multiple of the divisors of the remainders around this sum. `None` if a number is too large.
    fn periods(&self, outer: i128, periods: &mut BTreeMap<usize, i128>) -> Option<()> {
        for (remainder, _) in &self.remainders {
            let Remainder { dividend, divisor } = &**remainder;
            let common = multiple(outer, *divisor)?;
            for &(unknown, factor) in &dividend.terms {
                let period = periods.entry(unknown).or_insert(1);
                *period = multiple(*period, common / gcd(common, factor))?;
            }
            dividend.periods(common, periods)?;
        }
        Some(())
    }

    /// The value of a sum without remainders.
    fn value(&self, unknowns: &[i128]) -> i128 {
        let term = |&(unknown, coefficient): &(usize, i128)| coefficient * unknowns[unknown];
        self.constant + self.terms.iter().map(term).sum::<i128>()
    }
}

/// The least common multiple of two positive numbers; `None` if it is too large.
fn multiple(a: i128, b: i128) -> Option<i128> {
    Some(a / gcd(a, b) * b).filter(|&multiple| multiple <= MAX_RESIDUES)
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
            sum.add(linear, i128::from(*coefficient));
        }
        for (remainder, coefficient) in form.remainders() {
            let remainder = Remainder {
                dividend: self.linear(side, &remainder.dividend),
                divisor: remainder.divisor.into(),
            };
            sum.remainders.push((Rc::new(remainder), i128::from(*coefficient)));
        }
        sum
    }

    /// Adds `a + distance <= b`.
    fn at_most(&mut self, a: &Linear, b: &Linear, distance: i128) {
        let mut difference = b.clone();
        difference.add(a, -1);
        difference.constant -= distance;
        match difference.remainders.is_empty() {
            true => self.system.at_least(difference.terms, -difference.constant),
            false => self.with_remainders.push(difference),
        }
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
        if self.with_remainders.is_empty() {
            return self.found(self.system.solve(), &[]);
        }
        let mut result = Err(Solution::None);
        for residues in self.residues().ok_or(Solution::Unknown)? {
            match self.found(self.system_in(&residues).solve(), &residues) {
                Ok(met) => return Ok(met),
                Err(Solution::None) => {}
                unknown => result = unknown,
            }
        }
        result
    }

    /// Searches for iterations in which all that was added holds and that `accept` accepts. Some iterations for each
    /// choice of residues come first.
    pub(crate) fn solve_with(&self, mut accept: impl FnMut(&Met) -> bool) -> Result<Met, Solution> {
        if self.with_remainders.is_empty() {
            let solution = self.system.solve_with(&mut |unknowns| accept(&self.met(unknowns)));
            return self.found(solution, &[]);
        }
        let mut accept = |values: &[i128], residues: &[Residue]| accept(&self.met(&unknowns(values, residues)));
        let mut open: Vec<(System, Vec<Residue>)> = Vec::new();
        for residues in self.residues().ok_or(Solution::Unknown)? {
            let system = self.system_in(&residues);
            if system.solve().is_none() {
                continue;
            }
            match system.solve_near(&mut |values| accept(values, &residues)) {
                (Solution::None, false) => {}
                (solution @ Solution::Found(_), _) => return self.found(solution, &residues),
                (Solution::None | Solution::Unknown, _) => open.push((system, residues)),
            }
        }
        let mut result = Err(Solution::None);
        for (system, residues) in open {
            match self.found(system.solve_far(&mut |values| accept(values, &residues)), &residues) {
                Ok(met) => return Ok(met),
                Err(Solution::None) => {}
                unknown => result = unknown,
            }
        }
        result
    }

    /// All choices of residues of the unknowns in remainders; `None` if there are too many.
    fn residues(&self) -> Option<impl Iterator<Item = Vec<Residue>> + use<>> {
        let mut periods = BTreeMap::new();
        for sum in &self.with_remainders {
            sum.periods(1, &mut periods)?;
        }
        let product = periods
            .values()
            .try_fold(1, |product: i128, period| product.checked_mul(*period));
        let choices = product.filter(|&choices| choices <= MAX_RESIDUES)?;
        Some((0..choices).map(move |choice| {
            let mut rest = choice;
            let residue = |(&variable, &period): (&usize, &i128)| {
                let residue = rest % period;
                rest /= period;
                Residue {
                    variable,
                    period,
                    residue,
                }
            };
            periods.iter().map(residue).collect()
        }))
    }

    /// The system where the unknowns in remainders have these residues.
    fn system_in(&self, residues: &[Residue]) -> System {
        let mut system = self.system.in_residues(residues);
        for sum in &self.with_remainders {
            system.at_least_in_residues(residues, &sum.terms, -sum.known(residues));
        }
        system
    }

    fn found(&self, solution: Solution, residues: &[Residue]) -> Result<Met, Solution> {
        match solution {
            Solution::Found(values) => Ok(self.met(&unknowns(&values, residues))),
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

/// The unknowns, from the values of a system's variables in these residues.
fn unknowns(values: &[i128], residues: &[Residue]) -> Vec<i128> {
    let mut unknowns = values.to_vec();
    for residue in residues {
        unknowns[residue.variable] = residue.period * values[residue.variable] + residue.residue;
    }
    unknowns
}

/// The parts of a region, one for each dimension that it selects from.
fn dimensions(region: &Region) -> Vec<&Region> {
    match region {
        Region::Whole => Vec::new(),
        Region::Parts(parts) => parts.iter().collect(),
        Region::Index(_) | Region::Range(..) | Region::Rectangle(_) => vec![region],
    }
}
