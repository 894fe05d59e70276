//! Affine forms: sums of variables of loops with literal coefficients, and the variables' ranges.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// The greatest coefficient and the greatest constant of a form.
const MAX_COEFFICIENT: i64 = 1 << 40;

/// The variable that counts the iterations of a loop.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Variable {
    /// The index of the loop in [`Draft::loops`](crate::Draft::loops).
    pub number: usize,
    /// Its name.
    pub name: Cow<'static, str>,
    /// The first iteration, if it is known. It may depend on the variables of loops around.
    pub first: Option<Affine>,
    /// The last iteration, likewise; less than the first if there are no iterations.
    pub last: Option<Affine>,
    /// Whether an end that is not known may differ between iterations of the loops around.
    pub ragged: bool,
}

impl Variable {
    /// A variable of any range.
    pub fn new(number: usize, name: impl Into<Cow<'static, str>>) -> Self {
        Self {
            number,
            name: name.into(),
            first: None,
            last: None,
            ragged: false,
        }
    }

    /// Whether both ends are the same in all iterations of the loops around, as far as they are known.
    pub(crate) fn is_rectangular(&self) -> bool {
        [&self.first, &self.last]
            .into_iter()
            .flatten()
            .all(|form| form.terms.is_empty())
    }
}

/// An affine form: a literal, and variables with literal coefficients, such as `4 * i + j + 1`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Affine {
    constant: i64,
    /// Ascending by the number of the loop. No coefficient is 0.
    terms: Vec<(Arc<Variable>, i64)>,
}

impl Affine {
    /// A literal; `None` if it is too large. All operations return `None` if a number of the result is too large.
    pub fn literal(value: i128) -> Option<Self> {
        let constant = i64::try_from(value).ok()?;
        Self {
            constant,
            terms: Vec::new(),
        }
        .limited()
    }

    /// A variable.
    pub fn variable(variable: &Arc<Variable>) -> Self {
        Self {
            constant: 0,
            terms: vec![(Arc::clone(variable), 1)],
        }
    }

    /// The sum of two forms.
    pub fn plus(mut self, other: &Affine) -> Option<Self> {
        self.constant = self.constant.checked_add(other.constant)?;
        for (variable, coefficient) in &other.terms {
            match self.terms.iter_mut().find(|(own, _)| own.number == variable.number) {
                Some((_, own)) => *own = own.checked_add(*coefficient)?,
                None => self.terms.push((Arc::clone(variable), *coefficient)),
            }
        }
        self.limited()
    }

    /// The form times a literal.
    pub fn times(mut self, factor: i64) -> Option<Self> {
        self.constant = self.constant.checked_mul(factor)?;
        for (_, coefficient) in &mut self.terms {
            *coefficient = coefficient.checked_mul(factor)?;
        }
        self.limited()
    }

    /// The value of a form without variables; `None` if it has variables.
    pub fn value(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The constant.
    pub(crate) fn constant(&self) -> i64 {
        self.constant
    }

    /// The variables, with their coefficients.
    pub(crate) fn terms(&self) -> &[(Arc<Variable>, i64)] {
        &self.terms
    }

    /// The value where each variable has the value that `of` gives for its loop.
    pub(crate) fn evaluate(&self, of: impl Fn(&Arc<Variable>) -> i128) -> i128 {
        let terms = self.terms.iter();
        let terms = terms.map(|(variable, coefficient)| i128::from(*coefficient) * of(variable));
        i128::from(self.constant) + terms.sum::<i128>()
    }

    fn limited(mut self) -> Option<Self> {
        self.terms.retain(|(_, coefficient)| *coefficient != 0);
        self.terms.sort_by_key(|(variable, _)| variable.number);
        let mut all = self
            .terms
            .iter()
            .map(|(_, coefficient)| *coefficient)
            .chain([self.constant]);
        all.all(|number| number.checked_abs().is_some_and(|size| size <= MAX_COEFFICIENT))
            .then_some(self)
    }
}

/// `4 * i + j - 1`
impl fmt::Display for Affine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut begun = false;
        let mut sign = |f: &mut fmt::Formatter<'_>, number: i64| {
            let sign = match (std::mem::replace(&mut begun, true), number < 0) {
                (false, false) => "",
                (false, true) => "-",
                (true, false) => " + ",
                (true, true) => " - ",
            };
            f.write_str(sign)
        };
        for (variable, coefficient) in &self.terms {
            sign(f, *coefficient)?;
            match coefficient.unsigned_abs() {
                1 => write!(f, "{}", variable.name)?,
                size => write!(f, "{size} * {}", variable.name)?,
            }
        }
        if self.constant != 0 || self.terms.is_empty() {
            sign(f, self.constant)?;
            write!(f, "{}", self.constant.unsigned_abs())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_written_as_sums() {
        let [i, j] =
            [(0, "i"), (1, "j")].map(|(number, name)| Affine::variable(&Arc::new(Variable::new(number, name))));
        let literal = |value| Affine::literal(value).unwrap();
        let sum = i
            .clone()
            .times(4)
            .unwrap()
            .plus(&j)
            .unwrap()
            .plus(&literal(-1))
            .unwrap();
        assert_eq!(sum.to_string(), "4 * i + j - 1");
        assert_eq!(j.clone().plus(&i).unwrap().to_string(), "i + j");
        assert_eq!(
            i.clone().times(-1).unwrap().plus(&literal(3)).unwrap().to_string(),
            "-i + 3"
        );
        let expected = ("0".into(), Some(0));
        assert_eq!((literal(0).to_string(), i.times(0).unwrap().value()), expected);
        assert_eq!(Affine::literal(1 << 41), None);
        assert_eq!(j.times(i64::MAX), None);
    }
}
