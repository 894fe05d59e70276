//! The units that a region touches in all iterations of the loops around: whether several regions cover another one.

use super::{Bound, Region};
use crate::affine::{Affine, Variable};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most iterations and rows that are listed.
const MAX_LISTED: usize = 1 << 12;

/// Start and exclusive end.
type Span = (u64, u64);

/// Spans that contain all that the region touches; `None` if an end is not known.
pub(super) fn at_most(region: &Region) -> Option<Vec<Span>> {
    match region {
        // Which elements of the next dimension it touches is not looked at.
        Region::Parts(parts) => at_most(&parts[0]),
        Region::Rectangle(_) | Region::Whole | Region::Index(_) | Region::Range(..) => exactly(region, Some(u64::MAX)),
    }
}

/// The spans that the region touches; of a region of two dimensions, those in the outermost one.
pub(super) fn exactly(region: &Region, extent: Option<u64>) -> Option<Vec<Span>> {
    if region.is_empty() {
        return Some(Vec::new());
    }
    match region {
        Region::Whole => Some(vec![(0, extent?)]),
        Region::Parts(parts) => exactly(&parts[0], extent),
        Region::Rectangle(rows) => {
            let listed = usize::try_from(rows.rows).ok().filter(|&rows| rows <= MAX_LISTED)?;
            let mut spans = Vec::with_capacity(listed);
            for row in 0..rows.rows {
                let start = rows.start.checked_add(row.checked_mul(rows.pitch)?)?;
                spans.push((start, start.checked_add(rows.width)?));
            }
            Some(spans)
        }
        Region::Index(_) | Region::Range(..) => {
            let (start, end) = region.ends();
            let iterations = iterations(&[&start, &end])?;
            let span =
                |values: &BTreeMap<usize, i128>| Some((value(&start, values, extent)?, value(&end, values, extent)?));
            iterations.iter().map(span).collect()
        }
    }
}

/// The value of an end in one iteration.
fn value(end: &Bound, values: &BTreeMap<usize, i128>, extent: Option<u64>) -> Option<u64> {
    match end {
        Bound::Known(value) => Some(*value),
        Bound::Affine(form) => {
            let value = form.evaluate(&|variable| values.get(&variable.number).copied().unwrap_or_default());
            u64::try_from(value).ok()
        }
        Bound::End => extent,
        Bound::Symbol(_) | Bound::Iteration(_) | Bound::Unknown => None,
    }
}

/// All values of the variables of loops that ends mention, by the number of the loop. `None` if there may be others, or
/// if there are too many.
fn iterations(ends: &[&Bound]) -> Option<Vec<BTreeMap<usize, i128>>> {
    let mut variables: BTreeMap<usize, &Arc<Variable>> = BTreeMap::new();
    let mut mentioned: Vec<&Arc<Variable>> = Vec::new();
    for end in ends {
        if let Bound::Affine(form) = end {
            mentioned.extend(form.variables());
        }
    }
    while let Some(variable) = mentioned.pop() {
        if variables.insert(variable.number, variable).is_none() {
            let ranges = [variable.first.as_ref()?, variable.last.as_ref()?];
            mentioned.extend(ranges.into_iter().flat_map(Affine::variables));
        }
    }
    // A loop has a greater number than the loops around it, so the variables of its ends come first.
    let mut found = vec![BTreeMap::new()];
    for (number, variable) in variables {
        let mut next = Vec::new();
        for values in &found {
            let known = |variable: &Arc<Variable>| values.get(&variable.number).copied().unwrap_or_default();
            let first = variable.first.as_ref()?.evaluate(&known);
            let last = variable.last.as_ref()?.evaluate(&known);
            if last - first >= MAX_LISTED as i128 {
                return None;
            }
            for value in first..=last {
                let mut values = values.clone();
                values.insert(number, value);
                next.push(values);
            }
            if next.len() > MAX_LISTED {
                return None;
            }
        }
        found = next;
    }
    Some(found)
}

/// The first part of the `wanted` spans that no `touched` span has.
pub(super) fn first_gap(mut wanted: Vec<Span>, mut touched: Vec<Span>) -> Option<Span> {
    wanted.sort_unstable();
    touched.sort_unstable();
    let mut touched = touched.into_iter().filter(|(start, end)| start < end).peekable();
    // All that is wanted before this has been touched.
    let mut reached = 0;
    for (start, end) in wanted {
        reached = reached.max(start);
        while reached < end {
            match touched.peek() {
                Some(&(from, to)) if from <= reached => {
                    reached = reached.max(to);
                    touched.next();
                }
                Some(&(from, _)) => return Some((reached, end.min(from))),
                None => return Some((reached, end)),
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spans() -> impl Strategy<Value = Vec<Span>> {
        prop::collection::vec(
            (0_u64..30, 0_u64..8).prop_map(|(start, len)| (start, start + len)),
            0..6,
        )
    }

    proptest! {
        #[test]
        fn a_gap_is_the_first_unit_that_is_not_touched(wanted in spans(), touched in spans()) {
            let has = |spans: &[Span], unit| spans.iter().any(|&(start, end)| (start..end).contains(&unit));
            let missing = |unit: &u64| has(&wanted, *unit) && !has(&touched, *unit);
            let gap = first_gap(wanted.clone(), touched.clone());
            prop_assert_eq!(gap.map(|(start, _)| start), (0..40).find(missing));
            prop_assert!(gap.is_none_or(|(start, end)| (start..end).all(|unit| missing(&unit))));
        }
    }
}
