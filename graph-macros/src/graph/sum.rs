//! Lengths and bounds that only build knows, as far as the text tells: a name, plus or minus a literal.

use super::constant::{bare, value};
use std::fmt;
use syn::{BinOp, Expr, Ident};

/// The value of a name plus a number, or a number alone. Equal names have equal values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sum {
    name: Option<String>,
    number: i128,
}

impl Sum {
    pub(crate) fn number(number: i128) -> Self {
        Self { name: None, number }
    }

    /// The value, if it is a number alone.
    pub(crate) fn known(&self) -> Option<i128> {
        match self.name {
            Some(_) => None,
            None => Some(self.number),
        }
    }

    /// The expression as a sum; `None` if it is not one. `is_variable` is true for names that have one value, which
    /// only build knows.
    pub(crate) fn of(expr: &Expr, is_variable: &dyn Fn(&Ident) -> bool) -> Option<Self> {
        if let Some(number) = value(expr) {
            return Some(Self::number(number));
        }
        match bare(expr) {
            Expr::Path(path) => {
                let name = path.path.get_ident().filter(|name| is_variable(name))?;
                let name = Some(name.to_string());
                Some(Self { name, number: 0 })
            }
            Expr::Binary(binary) => {
                let left = Self::of(&binary.left, is_variable)?;
                let right = Self::of(&binary.right, is_variable)?;
                match binary.op {
                    BinOp::Add(_) => left.plus(right),
                    BinOp::Sub(_) => left.minus(&right),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn plus(self, other: Self) -> Option<Self> {
        let number = self.number.checked_add(other.number)?;
        let name = match (self.name, other.name) {
            (Some(_), Some(_)) => return None,
            (name, other) => name.or(other),
        };
        Some(Self { name, number })
    }

    /// The difference; `None` if it is not a sum.
    pub(crate) fn minus(&self, other: &Self) -> Option<Self> {
        let number = self.number.checked_sub(other.number)?;
        match (&self.name, &other.name) {
            (name, None) => Some(Self {
                name: name.clone(),
                number,
            }),
            (name, other) if name == other => Some(Self::number(number)),
            _ => None,
        }
    }

    /// The number by which this sum is greater than the other, negative if it is less; `None` if that is not certain.
    pub(crate) fn exceeds(&self, other: &Self) -> Option<i128> {
        self.minus(other)?.known()
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.name, self.number) {
            (None, number) => write!(f, "{number}"),
            (Some(name), 0) => f.write_str(name),
            (Some(name), number) if number < 0 => write!(f, "{name} - {}", number.unsigned_abs()),
            (Some(name), number) => write!(f, "{name} + {number}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(text: &str) -> Option<Sum> {
        Sum::of(&syn::parse_str(text).unwrap(), &|name| name != "N")
    }

    #[test]
    fn names_and_literals_are_sums() {
        let text = |text: &str| sum(text).map(|sum| sum.to_string());
        for (expr, expected) in [
            ("n", "n"),
            ("(n - 1) + 3", "n + 2"),
            ("2 * 3", "6"),
            ("i + 4 - i", "4"),
            ("n - 5", "n - 5"),
        ] {
            assert_eq!(text(expr).as_deref(), Some(expected), "{expr}");
        }
        for expr in ["n + m", "2 * n", "N", "5 - n", "n.len()"] {
            assert_eq!(sum(expr), None, "{expr}");
        }
        assert_eq!(sum("n + 1").unwrap().exceeds(&sum("n").unwrap()), Some(1));
        assert_eq!(sum("n").unwrap().exceeds(&sum("m").unwrap()), None);
        assert_eq!(sum("n").unwrap().exceeds(&sum("4").unwrap()), None);
    }
}
