//! The addresses that a register may hold, and arithmetic on them.

use super::sets::{Set, Sets};
use super::source::Source;

/// The alternatives for a value. The lattice's bottom is "no value yet", the default; joins are unions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Value {
    /// It may be an address inside one of these, reached by adding to a pointer.
    pub(super) base: Set,
    /// Bits of these addresses went into it in some other way: a difference, a product, a half.
    pub(super) taint: Set,
    /// It may be the value of one of these by-value parameters, plus something.
    pub(super) by_value: Set,
    /// It may be a number about which nothing is known: loaded, or calculated from loaded numbers.
    pub(super) opaque: bool,
    /// It may be a number made of literals and thread indices only.
    pub(super) number: bool,
    /// It may be a literal zero: a null pointer, or nothing to add.
    pub(super) null: bool,
    /// The place that it points to if it points to local memory, `None` if that may be any place.
    pub(super) spot: Option<Spot>,
}

/// A place in local memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    /// The number of a variable of one context.
    pub(super) variable: u32,
    /// The bytes from its beginning.
    pub(super) offset: i64,
}

impl Value {
    /// No value yet.
    pub(super) const BOTTOM: Value = Value {
        base: Set::EMPTY,
        taint: Set::EMPTY,
        by_value: Set::EMPTY,
        opaque: false,
        number: false,
        null: false,
        spot: None,
    };
    pub(super) const OPAQUE: Value = Value {
        opaque: true,
        ..Value::BOTTOM
    };
    pub(super) const NUMBER: Value = Value {
        number: true,
        ..Value::BOTTOM
    };
    pub(super) const NULL: Value = Value {
        null: true,
        ..Value::BOTTOM
    };

    /// An address inside `base`.
    pub(super) fn pointer(base: Set) -> Value {
        Value { base, ..Value::BOTTOM }
    }

    /// The value of by-value parameters.
    pub(super) fn by_value(by_value: Set) -> Value {
        Value {
            by_value,
            ..Value::BOTTOM
        }
    }

    /// The same, `bytes` further on.
    pub(super) fn moved(self, bytes: i64) -> Value {
        let spot = self.spot.and_then(|spot| {
            let offset = spot.offset.checked_add(bytes)?;
            Some(Spot { offset, ..spot })
        });
        Value { spot, ..self }
    }

    pub(super) fn is_bottom(self) -> bool {
        self == Value::BOTTOM
    }

    /// Whether it may be something that is not an address by itself.
    fn may_be_index(self) -> bool {
        self.opaque || self.number || self.null || !self.by_value.is_empty()
    }

    /// Whether it is certainly a number made of literals and thread indices.
    pub(super) fn is_plain_number(self) -> bool {
        let known = Value {
            number: self.number,
            null: self.null,
            ..Value::BOTTOM
        };
        !self.is_bottom() && self == known
    }
}

impl Sets {
    /// Either of two values.
    pub(super) fn join(&mut self, a: Value, b: Value) -> Value {
        let local = |value: Value| self.contains(value.base, Source::Local);
        let spot = match (local(a), local(b)) {
            (false, _) => b.spot,
            (true, false) => a.spot,
            (true, true) => a.spot.filter(|_| a.spot == b.spot),
        };
        Value {
            base: self.union(a.base, b.base),
            taint: self.union(a.taint, b.taint),
            by_value: self.union(a.by_value, b.by_value),
            opaque: a.opaque || b.opaque,
            number: a.number || b.number,
            null: a.null || b.null,
            spot,
        }
    }

    /// Returns `a + b`. A pointer plus an index is that pointer, whatever the index is. If the index has bits of
    /// addresses, the sum may itself be an index (`p + (q - p)`, `q + -p`), so it is both. The sum of two pointers is
    /// no pointer.
    pub(super) fn add(&mut self, a: Value, b: Value) -> Value {
        if a.is_bottom() || b.is_bottom() {
            return Value::BOTTOM;
        }
        let (a_index, b_index) = (a.may_be_index(), b.may_be_index());
        let when = |condition: bool, set: Set| if condition { set } else { Set::EMPTY };
        let two_pointers = !a.base.is_empty() && !b.base.is_empty();
        let tainted = |pointer: Value, index: Value| !pointer.base.is_empty() && !index.taint.is_empty();
        let tainted = tainted(a, b) || tainted(b, a);
        let taint = self.union(a.taint, b.taint);
        let bases = self.union(a.base, b.base);
        Value {
            base: self.union(when(b_index, a.base), when(a_index, b.base)),
            taint: self.union(taint, when(two_pointers, bases)),
            by_value: self.union(when(b_index, a.by_value), when(a_index, b.by_value)),
            opaque: two_pointers || tainted || (a.opaque && b_index) || (b.opaque && a_index),
            number: (a.number && (b.number || b.null)) || (a.null && b.number),
            null: a.null && b.null,
            spot: None,
        }
    }

    /// Returns `a - b`. Only the bits of `b` count: the difference of two pointers is an index; it is a pointer too
    /// only if the second may be an index.
    pub(super) fn subtract(&mut self, a: Value, b: Value) -> Value {
        if a.is_bottom() || b.is_bottom() {
            return Value::BOTTOM;
        }
        if b.is_plain_number() {
            return self.add(a, b);
        }
        let negated = self.mix(&[b]);
        let difference = self.add(a, negated);
        if b.may_be_index() {
            return difference;
        }
        let bits = self.bits(difference);
        Value {
            taint: bits,
            ..Value::OPAQUE
        }
    }

    /// A bit operation: with a plain number it moves a pointer inside its object (alignment), else it mixes.
    pub(super) fn combine(&mut self, a: Value, b: Value) -> Value {
        if a.is_plain_number() || b.is_plain_number() {
            self.add(a, b)
        } else {
            self.mix(&[a, b])
        }
    }

    /// Any other function of the values: not an address, but it has bits of addresses.
    pub(super) fn mix(&mut self, values: &[Value]) -> Value {
        if values.iter().any(|value| value.is_bottom()) {
            return Value::BOTTOM;
        }
        if values.iter().all(|value| value.is_plain_number()) {
            return Value::NUMBER;
        }
        let mut taint = Set::EMPTY;
        for value in values {
            let bits = self.bits(*value);
            taint = self.union(taint, bits);
        }
        Value { taint, ..Value::OPAQUE }
    }

    /// All addresses whose bits are in a value.
    pub(super) fn bits(&mut self, value: Value) -> Set {
        self.union(value.base, value.taint)
    }
}
