//! Systems of linear inequalities over integers: whether they have a solution, and which.

/// The greatest value of a variable that has no other bound. Iterations are counted by `usize`s; the products of all
/// coefficients with it fit into 128 bits.
pub(crate) const MAX_VALUE: i128 = 1 << 62;

/// The most values of variables that one search tries.
const MAX_TRIALS: usize = 1 << 13;

/// The number of values of each variable that [`System::solve_with`] tries before it tries all values of one.
const NEAR_VALUES: i128 = 4;

/// The most rounds in which bounds are narrowed before the search takes the next variable.
const MAX_ROUNDS: usize = 16;

/// A system of linear inequalities. Its variables are numbered from 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct System {
    /// The least and the greatest value of each variable.
    ranges: Vec<(i128, i128)>,
    /// The variables that change first in [`System::solve_with`].
    first: Vec<usize>,
    constraints: Vec<Constraint>,
    /// Whether two inequalities contradict each other.
    contradiction: bool,
}

/// `low <= sum of terms <= high`
#[derive(Clone, Debug)]
struct Constraint {
    /// Variables, ascending, with coefficients that are not 0, the first of which is positive.
    terms: Vec<(usize, i128)>,
    low: i128,
    high: i128,
}

/// A variable that is `residue` more than a multiple of `period`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Residue {
    pub(crate) variable: usize,
    pub(crate) period: i128,
    pub(crate) residue: i128,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Solution {
    /// The values of the variables.
    Found(Vec<i128>),
    /// There is none.
    None,
    /// The search was given up.
    Unknown,
}

impl Solution {
    /// Whether there is certainly no solution.
    pub(crate) fn is_none(&self) -> bool {
        *self == Solution::None
    }
}

impl System {
    /// Adds a variable and returns its number.
    pub(crate) fn variable(&mut self, low: i128, high: i128) -> usize {
        self.ranges.push((low, high));
        self.contradiction |= low > high;
        self.ranges.len() - 1
    }

    /// Adds a variable that changes first in [`System::solve_with`], and returns its number.
    pub(crate) fn changing(&mut self, low: i128, high: i128) -> usize {
        let variable = self.variable(low, high);
        self.first.push(variable);
        variable
    }

    /// Adds the inequality that the sum of terms, in any order, is at least `low`.
    pub(crate) fn at_least(&mut self, terms: impl IntoIterator<Item = (usize, i128)>, low: i128) {
        let mut collected: Vec<(usize, i128)> = Vec::new();
        for (variable, coefficient) in terms {
            match collected.iter_mut().find(|(other, _)| *other == variable) {
                Some((_, sum)) => *sum += coefficient,
                None => collected.push((variable, coefficient)),
            }
        }
        collected.retain(|(_, coefficient)| *coefficient != 0);
        collected.sort_unstable();
        let Some(&(_, first)) = collected.first() else {
            self.contradiction |= low > 0;
            return;
        };
        let divisor = collected.iter().fold(0, |divisor, (_, next)| gcd(divisor, *next));
        // The sum is a multiple of the divisor, so the bound moves to the next one.
        let low = ceil(low, divisor);
        let sign = first.signum();
        let divided = collected
            .into_iter()
            .map(|(variable, next)| (variable, sign * next / divisor));
        let terms: Vec<_> = divided.collect();
        let index = self.constraints.iter().position(|known| known.terms == terms);
        let index = index.unwrap_or(self.constraints.len());
        if index == self.constraints.len() {
            let (low, high) = (i128::MIN, i128::MAX);
            self.constraints.push(Constraint { terms, low, high });
        }
        let known = &mut self.constraints[index];
        match sign {
            1 => known.low = known.low.max(low),
            _ => known.high = known.high.min(-low),
        }
        self.contradiction |= known.low > known.high;
    }

    /// The system in which some variables are `residue` more than a multiple of their `period`. Its own variable in
    /// place of each is the number of periods.
    pub(crate) fn in_residues(&self, residues: &[Residue]) -> System {
        let mut split = System {
            ranges: self.ranges.clone(),
            first: self.first.clone(),
            constraints: Vec::new(),
            contradiction: self.contradiction,
        };
        for residue in residues {
            let (low, high) = &mut split.ranges[residue.variable];
            *low = ceil(*low - residue.residue, residue.period);
            *high = (*high - residue.residue).div_euclid(residue.period);
            split.contradiction |= low > high;
        }
        for Constraint { terms, low, high } in &self.constraints {
            if *low > i128::MIN {
                split.at_least_in_residues(residues, terms, *low);
            }
            if *high < i128::MAX {
                let terms: Vec<_> = terms.iter().map(|&(variable, next)| (variable, -next)).collect();
                split.at_least_in_residues(residues, &terms, -*high);
            }
        }
        split
    }

    /// As [`System::at_least`], where the terms are of the variables before they were [split](System::in_residues).
    pub(crate) fn at_least_in_residues(&mut self, residues: &[Residue], terms: &[(usize, i128)], low: i128) {
        let mut known = 0;
        let split = terms.iter().map(|&(variable, coefficient)| {
            let residue = residues.iter().find(|residue| residue.variable == variable);
            residue.map_or((variable, coefficient), |residue| {
                known += coefficient * residue.residue;
                (variable, coefficient * residue.period)
            })
        });
        let split: Vec<(usize, i128)> = split.collect();
        self.at_least(split, low - known);
    }

    /// Searches for a solution, in small values first.
    pub(crate) fn solve(&self) -> Solution {
        self.search(false, MAX_VALUE, &mut |_| true).0
    }

    /// Searches for a solution that `accept` accepts. Some values of every variable are tried first. So a caller that
    /// gives up after some solutions has seen more than one value of each variable, even if another has no bound.
    pub(crate) fn solve_with(&self, accept: &mut dyn FnMut(&[i128]) -> bool) -> Solution {
        if self.solve().is_none() {
            return Solution::None;
        }
        match self.solve_near(accept) {
            (Solution::None | Solution::Unknown, true) => self.solve_far(accept),
            (solution, _) => solution,
        }
    }

    /// The first part of [`System::solve_with`]: tries some values of every variable. Returns whether there are more.
    pub(crate) fn solve_near(&self, accept: &mut dyn FnMut(&[i128]) -> bool) -> (Solution, bool) {
        self.search(true, NEAR_VALUES, accept)
    }

    /// The second part of [`System::solve_with`]: tries all values.
    pub(crate) fn solve_far(&self, accept: &mut dyn FnMut(&[i128]) -> bool) -> Solution {
        self.search(true, MAX_VALUE, accept).0
    }

    /// Searches among the `width` least values of each variable that earlier variables allow. Returns whether there are
    /// more values, too.
    fn search(&self, in_order: bool, width: i128, accept: &mut dyn FnMut(&[i128]) -> bool) -> (Solution, bool) {
        if self.contradiction {
            return (Solution::None, false);
        }
        let mut search = Search {
            system: self,
            in_order,
            width,
            has_more: false,
            accept,
            left: MAX_TRIALS,
        };
        let solution = match search.branch(self.ranges.clone()) {
            Some(found) => Solution::Found(found),
            None if search.left == 0 => Solution::Unknown,
            None => Solution::None,
        };
        (solution, search.has_more)
    }
}

struct Search<'a> {
    system: &'a System,
    /// Whether the variables are tried in order, rather than the one with the fewest values first.
    in_order: bool,
    /// The number of values of each variable that are tried.
    width: i128,
    /// Whether a variable has more values than that.
    has_more: bool,
    accept: &'a mut dyn FnMut(&[i128]) -> bool,
    left: usize,
}

impl Search<'_> {
    /// A solution within these ranges.
    fn branch(&mut self, mut ranges: Vec<(i128, i128)>) -> Option<Vec<i128>> {
        if !self.narrow(&mut ranges) {
            return None;
        }
        let open = (0..ranges.len()).filter(|&variable| ranges[variable].0 != ranges[variable].1);
        let next = if self.in_order {
            open.min_by_key(|variable| self.system.first.contains(variable))
        } else {
            open.min_by_key(|&variable| ranges[variable].1 - ranges[variable].0)
        };
        let Some(variable) = next else {
            let values: Vec<i128> = ranges.iter().map(|(value, _)| *value).collect();
            return (self.accept)(&values).then_some(values);
        };
        let (low, high) = ranges[variable];
        let last = high.min(low + (self.width - 1));
        self.has_more |= last < high;
        for value in low..=last {
            self.left = self.left.checked_sub(1)?;
            let mut chosen = ranges.clone();
            chosen[variable] = (value, value);
            let found = self.branch(chosen);
            if found.is_some() || self.left == 0 {
                return found;
            }
        }
        None
    }

    /// Narrows the ranges by the inequalities. Returns false if one of these cannot hold.
    fn narrow(&self, ranges: &mut [(i128, i128)]) -> bool {
        for _ in 0..MAX_ROUNDS {
            let mut changed = false;
            for constraint in &self.system.constraints {
                match constraint.narrow(ranges) {
                    Some(narrowed) => changed |= narrowed,
                    None => return false,
                }
            }
            if !changed {
                break;
            }
        }
        true
    }
}

impl Constraint {
    /// Narrows the ranges of its variables. Returns whether one has changed, and `None` if the inequality cannot hold.
    fn narrow(&self, ranges: &mut [(i128, i128)]) -> Option<bool> {
        let ends = |&(variable, coefficient): &(usize, i128), ranges: &[(i128, i128)]| {
            let (low, high) = ranges[variable];
            if coefficient > 0 {
                (coefficient * low, coefficient * high)
            } else {
                (coefficient * high, coefficient * low)
            }
        };
        let sum = |ranges: &[(i128, i128)]| {
            let ends = self.terms.iter().map(|term| ends(term, ranges));
            ends.fold((0, 0), |(least, most), (low, high)| (least + low, most + high))
        };
        let (mut least, mut most) = sum(ranges);
        if least > self.high || most < self.low {
            return None;
        }
        if least >= self.low && most <= self.high {
            return Some(false);
        }
        let mut changed = false;
        for term in &self.terms {
            let &(variable, coefficient) = term;
            let (low, high) = ends(term, ranges);
            // The other terms are at least `least - low` and at most `most - high`.
            let min = self.low.saturating_sub(most - high);
            let max = self.high.saturating_sub(least - low);
            let (min, max) = match coefficient > 0 {
                true => (min, max),
                false => (-max.max(-i128::MAX), -min.max(-i128::MAX)),
            };
            let from = ceil(min, coefficient.abs());
            let to = max.div_euclid(coefficient.abs());
            let range = &mut ranges[variable];
            let narrowed = (range.0.max(from), range.1.min(to));
            if narrowed.0 > narrowed.1 {
                return None;
            }
            if narrowed != *range {
                *range = narrowed;
                changed = true;
                (least, most) = sum(ranges);
            }
        }
        Some(changed)
    }
}

/// The quotient, rounded up. `divisor` is positive.
fn ceil(value: i128, divisor: i128) -> i128 {
    value.div_euclid(divisor) + i128::from(value.rem_euclid(divisor) != 0)
}

/// The greatest common divisor, which is positive unless both are 0.
pub(crate) fn gcd(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn inequalities() -> impl Strategy<Value = Vec<([i128; 3], i128)>> {
        let coefficient = || -4_i128..5;
        prop::collection::vec(([coefficient(), coefficient(), coefficient()], -9_i128..10), 0..5)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]
        #[test]
        fn solutions_equal_the_oracle(inequalities in inequalities(), ends in [0_i128..5, 0_i128..5, 0_i128..5]) {
            let mut system = System::default();
            for end in ends {
                system.variable(0, end);
            }
            for (terms, low) in &inequalities {
                system.at_least(terms.iter().copied().enumerate(), *low);
            }
            let holds = |values: &[i128]| inequalities.iter().all(|(terms, low)| {
                terms.iter().zip(values).map(|(term, value)| term * value).sum::<i128>() >= *low
            });
            let any = (0..=ends[0]).any(|a| (0..=ends[1]).any(|b| (0..=ends[2]).any(|c| holds(&[a, b, c]))));
            match system.solve() {
                Solution::Found(values) => prop_assert!(holds(&values)),
                Solution::None => prop_assert!(!any),
                Solution::Unknown => prop_assert!(false, "there are fewer values than trials"),
            }
            let mut tried = 0;
            let refused = system.solve_with(&mut |values| {
                assert!(holds(values));
                tried += 1;
                false
            });
            prop_assert_eq!(refused, Solution::None);
            prop_assert_eq!(tried > 0, any);
        }
    }

    /// `a + b == sum` and `a == b`, for `a` and `b` up to `last`. With an odd sum there is no solution, but no range
    /// can be narrowed, so all values of a variable are tried.
    fn halves(last: i128, sum: i128) -> System {
        let mut system = System::default();
        let [a, b] = [0, 1].map(|_| system.variable(0, last));
        system.at_least([(a, 1), (b, 1)], sum);
        system.at_least([(a, -1), (b, -1)], -sum);
        system.at_least([(a, 1), (b, -1)], 0);
        system.at_least([(a, -1), (b, 1)], 0);
        system
    }

    #[test]
    fn a_search_that_is_given_up_knows_nothing() {
        let refuse = &mut |_: &[i128]| false;
        assert_eq!(halves(2001, 2001).solve(), Solution::None);
        assert_eq!(halves(2001, 2001).solve_with(refuse), Solution::None);
        assert_eq!(halves(20001, 20001).solve(), Solution::Unknown);
        assert_eq!(halves(20001, 20001).solve_with(refuse), Solution::Unknown);
        assert_eq!(halves(20001, 2000).solve(), Solution::Found(vec![1000, 1000]));
    }

    #[test]
    fn two_contradictions_are_none_the_less_one() {
        let mut system = System::default();
        let a = system.variable(0, 4);
        system.at_least([(a, 0)], 1);
        system.at_least([(a, 0)], 1);
        assert_eq!(system.solve(), Solution::None);
    }

    #[test]
    fn each_solution_is_offered_once_if_there_are_few() {
        let mut system = System::default();
        let [a, b] = [0, 1].map(|_| system.variable(0, NEAR_VALUES - 1));
        system.at_least([(a, 1), (b, 1)], 1);
        let mut offered = 0;
        system.solve_with(&mut |_| {
            offered += 1;
            false
        });
        assert_eq!(offered, NEAR_VALUES * NEAR_VALUES - 1);
    }

    #[test]
    fn every_variable_changes_before_one_has_had_all_its_values() {
        let mut system = System::default();
        let [bounded, endless] = [1, MAX_VALUE].map(|high| system.variable(0, high));
        let mut tried = 0;
        let found = system.solve_with(&mut |values| {
            tried += 1;
            values[bounded] == 1 && values[endless] > 2
        });
        assert_eq!((found, tried), (Solution::Found(vec![1, 3]), 8));
        let mut tried = 0;
        let far = system.solve_with(&mut |values| {
            tried += 1;
            values[endless] == 100
        });
        assert_eq!((far, tried), (Solution::Found(vec![0, 100]), 8 + 101));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn large_searches_are_right_or_given_up(last in 1_i128..30_000, sum in 0_i128..60_000) {
            let any = sum % 2 == 0 && sum / 2 <= last;
            match halves(last, sum).solve() {
                Solution::Found(values) => prop_assert_eq!(values, vec![sum / 2; 2]),
                Solution::None => prop_assert!(!any),
                Solution::Unknown => prop_assert!(last.min(sum) + 1 >= MAX_TRIALS as i128),
            }
        }
    }

    #[test]
    fn ranges_without_an_end_are_decided_where_a_divisor_or_a_bound_tells() {
        let mut even_is_odd = System::default();
        let [a, b] = [0, 1].map(|_| even_is_odd.variable(0, MAX_VALUE));
        even_is_odd.at_least([(a, 2), (b, -2)], 1);
        even_is_odd.at_least([(a, -2), (b, 2)], -1);
        assert_eq!(even_is_odd.solve(), Solution::None);
        let mut blocks = System::default();
        let (block, inside) = (blocks.variable(1, MAX_VALUE), blocks.variable(-63, 63));
        blocks.at_least([(block, 64), (inside, 1)], 0);
        blocks.at_least([(block, -64), (inside, -1)], 0);
        assert_eq!(blocks.solve(), Solution::None);
        let mut twice = System::default();
        let [a, b] = [1, 0].map(|low| twice.variable(low, MAX_VALUE));
        twice.at_least([(a, 2), (b, -3)], 1);
        twice.at_least([(a, -2), (b, 3)], -1);
        assert_eq!(twice.solve(), Solution::Found(vec![2, 1]));
    }
}
