//! Affine forms: sums of variables of loops, and of remainders of such sums, with literal coefficients; and the
//! variables' ranges.

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

/// An affine form: a literal, and variables and remainders with literal coefficients, such as `4 * i + j % 2 + 1`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Affine {
    constant: i64,
    /// Ascending by the number of the loop. No coefficient is 0.
    terms: Vec<(Arc<Variable>, i64)>,
    /// No coefficient is 0, and no remainder is there twice.
    remainders: Vec<(Arc<Remainder>, i64)>,
}

/// The remainder of a form that is divided by a literal: `(i + 1) % 2`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Remainder {
    pub(crate) dividend: Affine,
    /// At least 1.
    pub(crate) divisor: i64,
}

impl Affine {
    /// A literal; `None` if it is too large. All operations return `None` if a number of the result is too large.
    pub fn literal(value: i128) -> Option<Self> {
        let constant = i64::try_from(value).ok()?;
        Self {
            constant,
            terms: Vec::new(),
            remainders: Vec::new(),
        }
        .limited()
    }

    /// A variable.
    pub fn variable(variable: &Arc<Variable>) -> Self {
        Self {
            constant: 0,
            terms: vec![(Arc::clone(variable), 1)],
            remainders: Vec::new(),
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
        for (remainder, coefficient) in &other.remainders {
            match self.remainders.iter_mut().find(|(own, _)| own == remainder) {
                Some((_, own)) => *own = own.checked_add(*coefficient)?,
                None => self.remainders.push((Arc::clone(remainder), *coefficient)),
            }
        }
        self.limited()
    }

    /// The remainder of the form divided by a literal. `None` if that is not positive, or if the value is a negative
    /// literal: indices are not negative.
    pub fn modulo(self, divisor: i64) -> Option<Self> {
        if !(1..=MAX_COEFFICIENT).contains(&divisor) {
            return None;
        }
        if let Some(value) = self.value() {
            return (value >= 0).then(|| Self::literal(i128::from(value % divisor)))?;
        }
        let dividend = self;
        Some(Self {
            constant: 0,
            terms: Vec::new(),
            remainders: vec![(Arc::new(Remainder { dividend, divisor }), 1)],
        })
    }

    /// The form times a literal.
    pub fn times(mut self, factor: i64) -> Option<Self> {
        self.constant = self.constant.checked_mul(factor)?;
        let terms = self.terms.iter_mut().map(|(_, coefficient)| coefficient);
        for coefficient in terms.chain(self.remainders.iter_mut().map(|(_, coefficient)| coefficient)) {
            *coefficient = coefficient.checked_mul(factor)?;
        }
        self.limited()
    }

    /// The value of a form without variables; `None` if it has variables.
    pub fn value(&self) -> Option<i64> {
        (self.terms.is_empty() && self.is_linear()).then_some(self.constant)
    }

    /// Whether it has no remainders.
    pub fn is_linear(&self) -> bool {
        self.remainders.is_empty()
    }

    /// The constant.
    pub(crate) fn constant(&self) -> i64 {
        self.constant
    }

    /// The variables outside of remainders, with their coefficients.
    pub(crate) fn terms(&self) -> &[(Arc<Variable>, i64)] {
        &self.terms
    }

    /// The remainders, with their coefficients.
    pub(crate) fn remainders(&self) -> &[(Arc<Remainder>, i64)] {
        &self.remainders
    }

    /// All variables that it mentions, in remainders too.
    pub(crate) fn variables(&self) -> Vec<&Arc<Variable>> {
        let inside = self
            .remainders
            .iter()
            .flat_map(|(remainder, _)| remainder.dividend.variables());
        self.terms.iter().map(|(variable, _)| variable).chain(inside).collect()
    }

    /// The value where each variable has the value that `of` gives for its loop.
    pub(crate) fn evaluate(&self, of: &dyn Fn(&Arc<Variable>) -> i128) -> i128 {
        let terms = self.terms.iter();
        let terms = terms.map(|(variable, coefficient)| i128::from(*coefficient) * of(variable));
        let remainders = self.remainders.iter().map(|(remainder, coefficient)| {
            let dividend = remainder.dividend.evaluate(of);
            i128::from(*coefficient) * dividend.rem_euclid(i128::from(remainder.divisor))
        });
        i128::from(self.constant) + terms.sum::<i128>() + remainders.sum::<i128>()
    }

    fn limited(mut self) -> Option<Self> {
        self.terms.retain(|(_, coefficient)| *coefficient != 0);
        self.terms.sort_by_key(|(variable, _)| variable.number);
        self.remainders.retain(|(_, coefficient)| *coefficient != 0);
        let terms = self.terms.iter().map(|(_, coefficient)| *coefficient);
        let remainders = self.remainders.iter().map(|(_, coefficient)| *coefficient);
        let mut all = terms.chain(remainders).chain([self.constant]);
        all.all(|number| number.checked_abs().is_some_and(|size| size <= MAX_COEFFICIENT))
            .then_some(self)
    }
}

/// `i % 2` or `(i + 1) % 2`
impl fmt::Display for Remainder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (
            &self.dividend.terms[..],
            &self.dividend.remainders[..],
            self.dividend.constant,
        ) {
            ([(variable, 1)], [], 0) => write!(f, "{} % {}", variable.name, self.divisor),
            _ => write!(f, "({}) % {}", self.dividend, self.divisor),
        }
    }
}

/// `4 * i + j % 2 - 1`
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
        for (remainder, coefficient) in &self.remainders {
            let is_first = self.terms.is_empty() && remainder == &self.remainders[0].0;
            sign(f, *coefficient)?;
            match coefficient.unsigned_abs() {
                1 if *coefficient > 0 || !is_first => write!(f, "{remainder}")?,
                1 => write!(f, "({remainder})")?,
                size => write!(f, "{size} * ({remainder})")?,
            }
        }
        if self.constant != 0 || self.terms.is_empty() && self.is_linear() {
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
        assert_eq!((literal(0).to_string(), i.clone().times(0).unwrap().value()), expected);
        let modulo = |form: &Affine, divisor| form.clone().modulo(divisor).unwrap();
        let parity = modulo(&i, 2);
        assert_eq!(parity.to_string(), "i % 2");
        let next = modulo(&sum, 3).times(-4).and_then(|next| next.plus(&parity)).unwrap();
        assert_eq!(next.to_string(), "-4 * ((4 * i + j - 1) % 3) + i % 2");
        assert_eq!(parity.clone().times(-1).unwrap().to_string(), "-(i % 2)");
        let again = modulo(&parity.clone().plus(&j).unwrap(), 5).plus(&literal(2)).unwrap();
        assert_eq!(again.to_string(), "(j + i % 2) % 5 + 2");
        assert_eq!(parity.clone().plus(&parity).unwrap().to_string(), "2 * (i % 2)");
        assert_eq!(modulo(&literal(7), 4).value(), Some(3));
        assert_eq!((literal(-1).modulo(2), i.clone().modulo(0)), (None, None));
        assert_eq!(
            parity
                .plus(&i.clone().modulo(2).unwrap().times(-1).unwrap())
                .unwrap()
                .value(),
            Some(0)
        );
        assert_eq!(Affine::literal(1 << 41), None);
        assert_eq!(j.times(i64::MAX), None);
    }
}
