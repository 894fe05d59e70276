//! Parts of a resource, and when two of them cannot overlap.

mod coverage;
mod meeting;
mod rectangle;

use crate::affine::Affine;
use crate::linear::Solution;
pub(crate) use meeting::{Meeting, Met};
pub use rectangle::Rectangle;
use std::fmt;

/// One end of a range, in units of the resource's outermost dimension (the macro) or in bytes (the builder).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Bound {
    /// A number known to the analysis.
    Known(u64),
    /// A path such as a constant or a const generic: equal text means equal value.
    Symbol(String),
    /// An expression of the variable of a `for`, with the index of the `for`: equal text means equal value within one
    /// iteration. Boxed because it is rare, and graphs have very many bounds.
    Iteration(Box<(String, usize)>),
    /// A sum of variables of loops with literal coefficients. Boxed likewise.
    Affine(Box<Affine>),
    /// An expression whose value the analysis does not follow.
    Unknown,
    /// The end of the resource.
    End,
}

impl Bound {
    /// An expression of the variable of the `for` with this index.
    pub fn iteration(text: impl Into<String>, variable: usize) -> Self {
        Bound::Iteration(Box::new((text.into(), variable)))
    }

    /// Whether `self <= other` is certain.
    fn certainly_at_most(&self, other: &Bound) -> bool {
        match (self, other) {
            (Bound::Known(a), Bound::Known(b)) => a <= b,
            (Bound::Known(0), _) | (_, Bound::End) => true,
            (Bound::Symbol(_) | Bound::Iteration(..), _) => self == other,
            (Bound::Affine(_), _) | (_, Bound::Affine(_)) => {
                // If there are no iterations, no region contains another. So a region that contains another one also
                // meets everything that the other one meets.
                self == other || Meeting::is_at_most(self, other)
            }
            _ => false,
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Known(value) => write!(f, "{value}"),
            Bound::Symbol(text) => f.write_str(text),
            Bound::Iteration(iteration) => f.write_str(&iteration.0),
            Bound::Affine(form) => form.fmt(f),
            Bound::Unknown => f.write_str("_"),
            Bound::End => Ok(()),
        }
    }
}

/// The part of a resource that a node touches.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Region {
    /// All of it: `x`.
    Whole,
    /// One element of the outermost dimension: `x[i]`.
    Index(Bound),
    /// Elements of the outermost dimension: `x[start..end]`.
    Range(Bound, Bound),
    /// A part of the outermost dimension, and a part of the next: `x[start..end][i]`. Both are one of the above.
    Parts(Box<[Region; 2]>),
    /// Several rows of bytes that lie apart. The builder uses it in place of `Parts`.
    Rectangle(Rectangle),
}

impl Region {
    /// The range of bytes (or elements) from `start` up to, not including, `end`.
    pub fn span(start: u64, end: u64) -> Self {
        Region::Range(Bound::Known(start), Bound::Known(end))
    }

    /// The start, if it is known.
    pub fn start(&self) -> Option<usize> {
        match self.ends().0 {
            Bound::Known(start) => usize::try_from(start).ok(),
            _ => None,
        }
    }

    /// Start and exclusive end.
    fn ends(&self) -> (Bound, Bound) {
        match self {
            Region::Whole => (Bound::Known(0), Bound::End),
            Region::Index(Bound::Known(index)) => (Bound::Known(*index), Bound::Known(index.saturating_add(1))),
            Region::Index(Bound::Affine(index)) => {
                let next = Affine::literal(1).and_then(|one| one.plus(index));
                let next = next.map_or(Bound::Unknown, |next| Bound::Affine(Box::new(next)));
                (Bound::Affine(index.clone()), next)
            }
            Region::Index(bound) => (bound.clone(), Bound::Unknown),
            Region::Range(start, end) => (start.clone(), end.clone()),
            Region::Parts(parts) => parts[0].ends(),
            Region::Rectangle(rows) => {
                let (start, end) = rows.around();
                (Bound::Known(start), Bound::Known(end))
            }
        }
    }

    /// Whether the two may touch the same memory. Only provably disjoint regions do not: distinct known indices, known
    /// ranges that do not meet, ranges split at the same symbol, and empty ranges. Two dimensions are disjoint if one
    /// of them is. Affine indices and ranges are compared exactly, within one iteration of each loop that both are in.
    pub fn overlaps(&self, other: &Region) -> bool {
        if let (Region::Range(Bound::Known(a), Bound::Known(b)), Region::Range(Bound::Known(c), Bound::Known(d))) =
            (self, other)
        {
            return a.max(c) < b.min(d);
        }
        if self.is_affine() || other.is_affine() {
            return self.by_names(true).overlaps(&other.by_names(true))
                && self.meeting(other, true).solve() != Err(Solution::None);
        }
        match (self, other) {
            (Region::Whole, Region::Whole) => return true,
            (Region::Parts(a), Region::Parts(b)) => return a[0].overlaps(&b[0]) && a[1].overlaps(&b[1]),
            // The region without parts has all of the second dimension, which meets any part that is not empty.
            (Region::Parts(parts), other) | (other, Region::Parts(parts)) => {
                return parts[0].overlaps(other) && parts[1].overlaps(&Region::Whole);
            }
            (Region::Rectangle(a), Region::Rectangle(b)) => return a.overlaps(b),
            (Region::Rectangle(rows), Region::Range(Bound::Known(start), Bound::Known(end)))
            | (Region::Range(Bound::Known(start), Bound::Known(end)), Region::Rectangle(rows)) => {
                return rows.meets(*start, *end);
            }
            (
                Region::Whole | Region::Index(_) | Region::Range(..) | Region::Rectangle(_),
                Region::Whole | Region::Index(_) | Region::Range(..) | Region::Rectangle(_),
            ) => {}
        }
        let ((start, end), (other_start, other_end)) = (self.ends(), other.ends());
        let apart = end.certainly_at_most(&other_start)
            || other_end.certainly_at_most(&start)
            || self.is_empty()
            || other.is_empty();
        !apart
    }

    /// The length of the range that two ranges have in common, if all ends are known.
    pub(crate) fn common(&self, other: &Region) -> Option<u64> {
        let known = |region: &Region| match region {
            Region::Range(Bound::Known(start), Bound::Known(end)) => Some((*start, *end)),
            Region::Whole | Region::Index(_) | Region::Range(..) | Region::Parts(_) | Region::Rectangle(_) => None,
        };
        let ((a, b), (c, d)) = (known(self)?, known(other)?);
        Some(b.min(d).saturating_sub(a.max(c)))
    }

    /// Whether it is certainly empty.
    pub fn is_empty(&self) -> bool {
        match self {
            Region::Parts(parts) => parts.iter().any(Region::is_empty),
            Region::Rectangle(rows) => rows.is_empty(),
            Region::Whole | Region::Index(_) | Region::Range(..) => match self.ends() {
                (Bound::Known(start), Bound::Known(end)) => start >= end,
                (start @ (Bound::Symbol(_) | Bound::Iteration(..) | Bound::Affine(_)), end) => start == end,
                _ => false,
            },
        }
    }

    /// Whether the analysis follows the values of all bounds.
    pub(crate) fn is_known(&self) -> bool {
        match self {
            Region::Whole | Region::Rectangle(_) => true,
            Region::Index(index) => *index != Bound::Unknown,
            Region::Range(start, end) => *start != Bound::Unknown && *end != Bound::Unknown,
            Region::Parts(parts) => parts.iter().all(Region::is_known),
        }
    }

    /// Whether the two may touch the same memory in any iterations of the loops around them.
    pub fn overlaps_in_some_iterations(&self, other: &Region) -> bool {
        self.by_names(false).overlaps(&other.by_names(false))
            && (!(self.is_affine() || other.is_affine()) || self.meeting(other, false).solve() != Err(Solution::None))
    }

    /// The inequalities that hold where the two meet, `in_one` iteration of the loops that both are in or else in any
    /// two iterations.
    pub(crate) fn meeting(&self, other: &Region, in_one: bool) -> Meeting {
        let mut meeting = Meeting::default();
        meeting.touch((self, 0), (other, usize::from(!in_one)));
        meeting
    }

    /// Whether one of its bounds is affine.
    pub(crate) fn is_affine(&self) -> bool {
        self.any_bound(&|bound| matches!(bound, Bound::Affine(_)))
    }

    /// Whether one of its bounds fulfils the condition.
    fn any_bound(&self, condition: &dyn Fn(&Bound) -> bool) -> bool {
        match self {
            Region::Whole | Region::Rectangle(_) => false,
            Region::Index(index) => condition(index),
            Region::Range(start, end) => condition(start) || condition(end),
            Region::Parts(parts) => parts.iter().any(|part| part.any_bound(condition)),
        }
    }

    /// The region with all affine bounds replaced by unknown ones. Unless both regions are `in_one` iteration, bounds
    /// that are known within one iteration only are replaced too.
    fn by_names(&self, in_one: bool) -> Region {
        self.map(&|bound| match bound {
            Bound::Affine(_) => Bound::Unknown,
            Bound::Iteration(..) if !in_one => Bound::Unknown,
            bound => bound.clone(),
        })
    }

    /// The region with unknown bounds in place of expressions of a loop's variable, unless `keep` is true for that
    /// loop.
    pub(crate) fn in_iterations_of(&self, keep: impl Fn(usize) -> bool) -> Region {
        self.map(&|bound| match bound {
            Bound::Iteration(iteration) if !keep(iteration.1) => Bound::Unknown,
            bound => bound.clone(),
        })
    }

    /// Whether the two may overlap, as far as the texts of their bounds tell: affine bounds count as unknown.
    pub(crate) fn overlaps_by_names(&self, other: &Region) -> bool {
        self.by_names(true).overlaps(&other.by_names(true))
    }

    fn map(&self, to: &dyn Fn(&Bound) -> Bound) -> Region {
        match self {
            Region::Whole => Region::Whole,
            Region::Index(index) => Region::Index(to(index)),
            Region::Range(start, end) => Region::Range(to(start), to(end)),
            Region::Parts(parts) => Region::Parts(Box::new(parts.each_ref().map(|part| part.map(to)))),
            Region::Rectangle(rows) => Region::Rectangle(*rows),
        }
    }

    /// The region with the value of each affine bound, where `of` gives the numbers of all loops that it mentions.
    pub(crate) fn evaluated(&self, of: &dyn Fn(usize) -> Option<i128>) -> Region {
        self.map(&|bound| match bound {
            Bound::Affine(form) if form.variables().iter().all(|variable| of(variable.number).is_some()) => {
                let value = form.evaluate(&|variable| of(variable.number).unwrap_or_default());
                u64::try_from(value).map_or(Bound::Unknown, Bound::Known)
            }
            bound => bound.clone(),
        })
    }

    /// The first part of this region of a resource of length `extent` that certainly none of `others` touches, in any
    /// iterations of the loops around. `None` if there may be no such part, for example since an end is not known.
    pub(crate) fn first_gap<'r>(
        &self,
        others: impl Iterator<Item = &'r Region>,
        extent: Option<u64>,
    ) -> Option<Region> {
        let mut touched = Vec::new();
        for other in others {
            touched.extend(coverage::at_most(other)?);
        }
        coverage::first_gap(coverage::exactly(self, extent)?, touched).map(|(start, end)| Region::span(start, end))
    }

    /// Whether `self` certainly contains all of `other`.
    pub fn covers(&self, other: &Region) -> bool {
        if matches!(self, Region::Whole) || self == other {
            return true;
        }
        match (self, other) {
            (Region::Parts(a), Region::Parts(b)) => return a[0].covers(&b[0]) && a[1].covers(&b[1]),
            (Region::Parts(_) | Region::Rectangle(_), _) => return false,
            (Region::Whole | Region::Index(_) | Region::Range(..), _) => {}
        }
        let ((start, end), (other_start, other_end)) = (self.ends(), other.ends());
        start.certainly_at_most(&other_start) && other_end.certainly_at_most(&end)
    }
}

/// The overlap of two regions that [`Region::overlaps`] cannot tell apart, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Overlap {
    /// The two are the same region.
    Same,
    /// One of them contains the other.
    Part,
    /// The two share this region.
    Known(Region),
    /// The two meet in these iterations of the loops around.
    In(Met),
    /// The two may be apart, since an end of one and the beginning of the other are not compared: their texts, if they
    /// have any.
    Uncompared(Option<(String, String)>),
}

impl Overlap {
    /// The overlap of two regions of one resource.
    pub(crate) fn of(a: &Region, b: &Region) -> Self {
        if a == b {
            return if a.is_known() {
                Overlap::Same
            } else {
                Overlap::Uncompared(None)
            };
        }
        if a.is_affine() || b.is_affine() {
            let named = |region: &Region| {
                region.any_bound(&|bound| matches!(bound, Bound::Symbol(_) | Bound::Iteration(_) | Bound::Unknown))
            };
            return match a.meeting(b, true).solve() {
                _ if a.covers(b) || b.covers(a) => Overlap::Part,
                Ok(met) if !named(a) && !named(b) => Overlap::In(met),
                Ok(_) | Err(_) => Overlap::Uncompared(None),
            };
        }
        if let (Region::Parts(a), Region::Parts(b)) = (a, b) {
            let first = Self::of(&a[0], &b[0]);
            return if first.is_certain() {
                Self::of(&a[1], &b[1]).within_parts()
            } else {
                first
            };
        }
        let ((start, end), (other_start, other_end)) = (a.ends(), b.ends());
        let known = |bound: &Bound| matches!(bound, Bound::Known(_));
        if a.covers(b) || b.covers(a) {
            return Overlap::Part;
        }
        let ends = [(a, &end, b, &other_start), (b, &other_end, a, &start)];
        let uncompared = ends.into_iter().find(|(_, end, _, start)| {
            let never = matches!(end, Bound::End) || matches!(start, Bound::Known(0));
            !(never || known(end) && known(start))
        });
        if let Some((of_end, end, of_start, start)) = uncompared {
            let written = |region: &Region, bound: &Bound| match (region, bound) {
                (Region::Index(index), Bound::Unknown) => Some(index.to_string()),
                (_, Bound::Unknown) => None,
                (_, bound) => Some(bound.to_string()),
            };
            return Overlap::Uncompared(written(of_end, end).zip(written(of_start, start)));
        }
        let is_plain = |region: &Region| !matches!(region, Region::Rectangle(_) | Region::Parts(_));
        let end = match (end, other_end) {
            (Bound::Known(a), Bound::Known(b)) => a.min(b),
            (Bound::Known(end), Bound::End) | (Bound::End, Bound::Known(end)) => end,
            _ => return Overlap::Part,
        };
        match (start, other_start) {
            (Bound::Known(start), Bound::Known(other)) if is_plain(a) && is_plain(b) => {
                let start = start.max(other);
                Overlap::Known(match end - start {
                    1 => Region::Index(Bound::Known(start)),
                    _ => Region::span(start, end),
                })
            }
            _ => Overlap::Part,
        }
    }

    /// The overlap of two regions, from this overlap in their second dimension.
    fn within_parts(self) -> Self {
        match self {
            Overlap::Known(_) => Overlap::Part,
            Overlap::Same | Overlap::Part | Overlap::In(_) | Overlap::Uncompared(_) => self,
        }
    }

    /// Whether the two certainly share memory.
    pub(crate) fn is_certain(&self) -> bool {
        match self {
            Overlap::Same | Overlap::Part | Overlap::Known(_) | Overlap::In(_) => true,
            Overlap::Uncompared(_) => false,
        }
    }
}

/// The text after a resource's name: nothing, `[3]`, `[2..8]`, `[..M]`, `[2..8][3]`.
impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Region::Whole => Ok(()),
            Region::Index(index) => write!(f, "[{index}]"),
            Region::Range(Bound::Known(0), end) if !matches!(end, Bound::Known(_)) => write!(f, "[..{end}]"),
            Region::Range(start, end) => write!(f, "[{start}..{end}]"),
            Region::Parts(parts) => parts.iter().try_for_each(|part| match part {
                Region::Whole => f.write_str("[..]"),
                part => part.fmt(f),
            }),
            Region::Rectangle(Rectangle {
                start,
                width,
                pitch,
                rows,
            }) => write!(
                f,
                "[{start}..{}, and so on: {rows} rows {pitch} bytes apart]",
                start.saturating_add(*width)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Variable;
    use proptest::prelude::*;
    use std::sync::Arc;

    fn symbol(text: &str) -> Bound {
        Bound::Symbol(text.into())
    }

    #[test]
    fn regions_that_are_not_compared_to_the_end_overlap() {
        let variables = [0, 1].map(|number| {
            Affine::variable(&Arc::new(Variable {
                first: Affine::literal(0),
                last: Affine::literal(20_001),
                ..Variable::new(number, "i")
            }))
        });
        let [i, j] = variables;
        let index = |index: Affine| Region::Index(Bound::Affine(Box::new(index)));
        let known = |index| Region::Index(Bound::Known(index));
        let minus = j.clone().times(-1).unwrap();
        let indices = [i.clone().plus(&j).unwrap(), i.plus(&minus).unwrap()];
        let element = Region::Parts(Box::new(indices.map(index)));
        let odd = Region::Parts(Box::new([known(20_001), known(0)]));
        assert_eq!(element.meeting(&odd, true).solve(), Err(Solution::Unknown));
        assert!(element.overlaps(&odd) && element.overlaps_in_some_iterations(&odd));
    }

    /// Variables `i`, and `j` in a loop inside that of `i`. Their ends are known or not.
    fn nested(ends: Option<[i64; 2]>) -> [Affine; 2] {
        let variable = |number: usize| {
            let end = |of: fn([i64; 2]) -> [i64; 2]| Affine::literal(of(ends?)[number].into());
            Affine::variable(&Arc::new(Variable {
                first: Affine::literal(0),
                last: end(|ends| ends.map(|end| end - 1)),
                ..Variable::new(number, ["i", "j"][number])
            }))
        };
        [0, 1].map(variable)
    }

    /// A form `(c * i + e * j + d) % m`, plus `p * i`.
    type Sketch = ([i64; 2], i64, i64, i64);

    fn form(variables: &[Affine; 2], ([c, e], d, m, p): Sketch) -> Affine {
        let literal = |value: i64| Affine::literal(value.into()).unwrap();
        let times = |form: &Affine, factor| form.clone().times(factor).unwrap();
        let [i, j] = variables;
        let dividend = times(i, c).plus(&times(j, e)).and_then(|sum| sum.plus(&literal(d)));
        dividend.and_then(|sum| sum.modulo(m)?.plus(&times(i, p))).unwrap()
    }

    fn value(([c, e], d, m, p): Sketch, i: i64, j: i64) -> i64 {
        (c * i + e * j + d) % m + p * i
    }

    fn sketch() -> impl Strategy<Value = Sketch> {
        (
            [0_i64..5, 0_i64..5],
            0_i64..9,
            1_i64..7,
            prop_oneof![3 => Just(0), 1 => 0_i64..3],
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]
        #[test]
        fn remainders_overlap_as_the_oracle_says(a in sketch(), b in sketch(), ends in [1_i64..7, 1_i64..5], len in 1_i64..4) {
            let variables = nested(Some(ends));
            let index = |form: Affine| Region::Index(Bound::Affine(Box::new(form)));
            let range = |form: Affine| {
                let end = form.clone().plus(&Affine::literal(len.into()).unwrap()).unwrap();
                Region::Range(Bound::Affine(Box::new(form)), Bound::Affine(Box::new(end)))
            };
            let (first, second) = (index(form(&variables, a)), range(form(&variables, b)));
            let all = || (0..ends[0]).flat_map(|i| (0..ends[1]).map(move |j| (i, j)));
            let meet = |(i, j): (i64, i64), (k, l): (i64, i64)| {
                (value(b, k, l)..value(b, k, l) + len).contains(&value(a, i, j))
            };
            prop_assert_eq!(first.overlaps(&second), all().any(|at| meet(at, at)), "{} {}", first, second);
            let any = all().any(|at| all().any(|other| meet(at, other)));
            prop_assert_eq!(first.overlaps_in_some_iterations(&second), any, "{} {}", first, second);
            if second.covers(&first) {
                prop_assert!(all().all(|at| meet(at, at)), "{} {}", first, second);
            }
        }
    }

    #[test]
    fn places_that_alternate_are_apart_in_loops_without_an_end() {
        let [i, j] = nested(None);
        let literal = |value| Affine::literal(value).unwrap();
        let plus = |form: &Affine, value| form.clone().plus(&literal(value)).unwrap();
        let index = |form: Affine| Region::Index(Bound::Affine(Box::new(form)));
        let modulo = |form: &Affine, divisor| form.clone().modulo(divisor).unwrap();
        let (this, other) = (index(modulo(&i, 2)), index(modulo(&plus(&i, 1), 2)));
        assert!(!this.overlaps(&other) && this.overlaps(&this) && this.overlaps_in_some_iterations(&other));
        assert_eq!(other.to_string(), "[(i + 1) % 2]");
        for (step, apart) in [(1, true), (2, true), (3, true), (4, false), (8, false)] {
            let later = index(modulo(&plus(&i, step), 4));
            assert_eq!(!index(modulo(&i, 4)).overlaps(&later), apart, "{step}");
        }
        let high = index(plus(&modulo(&j, 2), 2));
        assert!(!this.overlaps_in_some_iterations(&high), "0 and 1 are not 2 and 3");
        let inner = index(modulo(&modulo(&i, 6), 2));
        assert!(!inner.overlaps(&other) && inner.overlaps(&this));
        let row = |slot: Affine, row: Affine| Region::Parts(Box::new([index(slot), index(row)]));
        let of_row = row(modulo(&i, 2), i.clone());
        assert!(
            !of_row.overlaps_in_some_iterations(&row(modulo(&plus(&j, 1), 2), j)),
            "of one row, both are apart"
        );
        // The least common multiple of the divisors is too large to look at each residue.
        let (large, larger) = (modulo(&i, 4093), modulo(&plus(&i, 1), 4091));
        assert!(index(large).overlaps(&index(larger)));
    }

    #[test]
    fn known_ranges_overlap_exactly_when_they_meet() {
        for (a, b) in [(0u64, 0u64), (0, 3), (2, 5), (3, 6), (5, 5)] {
            for (c, d) in [(0u64, 0u64), (0, 3), (2, 5), (3, 6), (5, 5)] {
                let meet = (a..b).any(|x| (c..d).contains(&x));
                let found = Region::span(a, b).overlaps(&Region::span(c, d));
                assert_eq!(found, meet, "{a}..{b} {c}..{d}");
            }
        }
    }

    #[test]
    fn nothing_is_in_ranges_that_end_where_they_begin() {
        let range = |start, end| Region::Range(start, end);
        let rows = |width| {
            Region::Rectangle(Rectangle {
                start: 4,
                width,
                pitch: 8,
                rows: 2,
            })
        };
        assert!(Region::span(3, 3).is_empty() && range(symbol("mid"), symbol("mid")).is_empty() && rows(0).is_empty());
        assert!(Region::Parts(Box::new([Region::Whole, Region::span(2, 2)])).is_empty());
        let unknown = [range(Bound::Unknown, Bound::Unknown), Region::Index(symbol("mid"))];
        let not = [
            Region::Whole,
            Region::span(3, 4),
            range(symbol("a"), symbol("b")),
            rows(1),
        ];
        assert!(!unknown.iter().chain(&not).any(Region::is_empty));
    }

    #[test]
    fn indices_are_ranges_of_one() {
        assert!(!Region::Index(Bound::Known(0)).overlaps(&Region::Index(Bound::Known(1))));
        assert!(Region::Index(Bound::Known(3)).overlaps(&Region::span(2, 8)));
        assert!(!Region::Index(Bound::Known(8)).overlaps(&Region::span(2, 8)));
        assert!(Region::Index(Bound::Known(8)).overlaps(&Region::Whole));
    }

    #[test]
    fn a_split_at_the_same_symbol_is_disjoint() {
        let low = Region::Range(Bound::Known(0), symbol("mid"));
        let high = Region::Range(symbol("mid"), Bound::End);
        assert!(!low.overlaps(&high) && !high.overlaps(&low));
        assert!(!low.overlaps(&Region::Index(symbol("mid"))));
        assert!(low.overlaps(&Region::Range(symbol("other"), Bound::End)));
        assert!(Region::Index(symbol("i")).overlaps(&Region::Index(symbol("j"))));
        assert!(Region::Index(symbol("i")).overlaps(&Region::Index(symbol("i"))));
        let unknown = Region::Range(Bound::Known(0), Bound::Unknown);
        assert!(
            unknown.overlaps(&Region::Range(Bound::Unknown, Bound::End)),
            "two unknowns need not be equal"
        );
    }

    #[test]
    fn variables_of_two_loops_are_not_equal() {
        let split = |of| Bound::iteration("i", of);
        let (before, after) = (Region::Range(Bound::Known(0), split(0)), |of| {
            Region::Range(split(of), Bound::End)
        });
        assert!(!before.overlaps(&after(0)));
        assert!(before.overlaps(&after(1)));
        assert!(before.overlaps_in_some_iterations(&after(0)));
        assert!(before.overlaps(&Region::Range(symbol("i"), Bound::End)));
        assert!(Region::Index(split(0)).overlaps(&Region::Index(Bound::iteration("i + 1", 0))));
        assert_eq!(Region::Index(split(0)).to_string(), "[i]");
    }

    #[test]
    fn two_dimensions_are_disjoint_where_one_is() {
        let parts = |rows: Region, columns: Region| Region::Parts(Box::new([rows, columns]));
        let (low, high) = (Region::span(0, 4), Region::span(4, 8));
        let corner = parts(low.clone(), low.clone());
        assert!(!corner.overlaps(&parts(low.clone(), high.clone())));
        assert!(!corner.overlaps(&parts(high.clone(), low.clone())));
        assert!(corner.overlaps(&parts(Region::span(3, 5), Region::span(3, 5))));
        assert!(corner.overlaps(&Region::Index(Bound::Known(3))) && !corner.overlaps(&Region::Index(Bound::Known(4))));
        assert!(corner.overlaps(&Region::Whole) && Region::Whole.overlaps(&corner));
        assert!(!parts(low.clone(), Region::span(3, 3)).overlaps(&Region::Whole));
        let split = |start, end| parts(Region::Whole, Region::Range(start, end));
        let left = split(Bound::Known(0), symbol("MID"));
        assert!(!left.overlaps(&split(symbol("MID"), Bound::End)));
        assert!(Region::Whole.covers(&corner) && low.covers(&corner) && !corner.covers(&low));
        assert!(left.covers(&parts(low, Region::Range(Bound::Known(0), symbol("MID")))));
        assert!(!high.covers(&corner));
        assert_eq!(left.to_string(), "[..][..MID]");
        assert_eq!(
            parts(Region::Index(symbol("i")), Region::span(1, 2)).to_string(),
            "[i][1..2]"
        );
    }

    #[test]
    fn rows_that_lie_apart_leave_room_between_them() {
        let rows = |start| {
            Region::Rectangle(Rectangle {
                start,
                width: 8,
                pitch: 32,
                rows: 4,
            })
        };
        assert!(!rows(0).overlaps(&rows(8)) && rows(0).overlaps(&rows(4)));
        assert!(rows(0).overlaps(&Region::Whole) && Region::Whole.covers(&rows(0)));
        assert!(!rows(0).overlaps(&Region::span(8, 32)) && Region::span(40, 97).overlaps(&rows(0)));
        assert!(Region::span(0, 104).covers(&rows(0)) && !Region::span(0, 103).covers(&rows(0)));
        assert!(!rows(0).covers(&Region::span(0, 8)) && rows(0).covers(&rows(0)));
        assert_eq!(rows(4).to_string(), "[4..12, and so on: 4 rows 32 bytes apart]");
    }

    #[test]
    fn overlaps_say_what_is_shared_and_what_is_not_compared() {
        let of = |a: Region, b: Region| Overlap::of(&a, &b);
        let split = |end: &str, start: &str| {
            let low = Region::Range(Bound::Known(0), symbol(end));
            of(low, Region::Range(symbol(start), Bound::End))
        };
        assert_eq!(of(Region::Whole, Region::Whole), Overlap::Same);
        assert_eq!(of(Region::Whole, Region::span(2, 4)), Overlap::Part);
        let expected = Overlap::Known(Region::Index(Bound::Known(128)));
        assert_eq!(of(Region::span(0, 129), Region::span(128, 4096)), expected);
        let expected = Overlap::Known(Region::span(4, 8));
        assert_eq!(of(Region::span(0, 8), Region::span(4, 12)), expected);
        assert_eq!(split("M", "K"), Overlap::Uncompared(Some(("M".into(), "K".into()))));
        let indices = of(Region::Index(symbol("i")), Region::Index(symbol("j")));
        assert_eq!(indices, Overlap::Uncompared(Some(("i".into(), "j".into()))));
        let open = of(Region::span(0, 4), Region::Range(Bound::Known(3), Bound::End));
        assert_eq!(open, Overlap::Known(Region::Index(Bound::Known(3))));
        let unknown = || Region::Index(Bound::Unknown);
        assert_eq!(of(unknown(), unknown()), Overlap::Uncompared(None));
        assert_eq!(Region::Range(Bound::Known(0), symbol("M")).to_string(), "[..M]");
    }

    #[test]
    fn cover_is_certain_containment() {
        assert!(Region::Whole.covers(&Region::Index(symbol("i"))));
        assert!(Region::span(0, 8).covers(&Region::Index(Bound::Known(7))));
        assert!(!Region::span(0, 8).covers(&Region::Index(symbol("i"))));
        assert!(!Region::span(0, 8).covers(&Region::span(4, 9)));
        assert!(!Region::span(1, 8).covers(&Region::Whole));
    }
}
