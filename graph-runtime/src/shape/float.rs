//! Floating-point elements of memory.

use std::any::type_name;

/// A type of floating-point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Float {
    F64,
    F32,
    F16,
    Bf16,
}

impl Float {
    /// The type of the elements of a shape, if they are floating-point numbers, those of the crate `half` included.
    pub(crate) fn of<S: ?Sized>() -> Option<Self> {
        Self::named(type_name::<S>())
    }

    fn named(shape: &str) -> Option<Self> {
        let elements = match shape.split_once("::Table<") {
            Some((path, elements)) if path.starts_with("graph_runtime::") => elements,
            _ => shape,
        };
        let element = elements.trim_start_matches('[');
        let end = element.find([';', ']', ',', '>']).unwrap_or(element.len());
        Some(match &element[..end] {
            "f64" => Self::F64,
            "f32" => Self::F32,
            "half::binary16::f16" => Self::F16,
            "half::bfloat::bf16" => Self::Bf16,
            _ => return None,
        })
    }

    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::F64 => 8,
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
        }
    }

    /// The bits of a number, and those of its mantissa.
    pub(crate) fn layout(self) -> (u32, u32) {
        match self {
            Self::F64 => (64, 52),
            Self::F32 => (32, 23),
            Self::F16 => (16, 10),
            Self::Bf16 => (16, 7),
        }
    }

    /// The text of a value that is not finite; `None` if it is finite.
    fn not_finite(self, element: &[u8]) -> Option<&'static str> {
        let bits = element
            .iter()
            .rev()
            .fold(0_u64, |bits, &byte| bits << 8 | u64::from(byte));
        let (size, mantissa) = self.layout();
        let exponent = (1_u64 << (size - 1 - mantissa)) - 1;
        if bits >> mantissa & exponent != exponent {
            return None;
        }
        Some(match (bits & ((1 << mantissa) - 1), bits >> (size - 1)) {
            (0, 0) => "inf",
            (0, _) => "-inf",
            _ => "NaN",
        })
    }

    /// The first element that is not finite and has other bits than the one in its place before, if there was one.
    pub(crate) fn first_not_finite(self, contents: &[u8], before: &[u8]) -> Option<(usize, &'static str)> {
        let size = self.bytes();
        let mut elements = contents.chunks_exact(size).enumerate();
        elements.find_map(|(index, element)| {
            let value = self.not_finite(element)?;
            let is_new = before.get(index * size..(index + 1) * size) != Some(element);
            is_new.then_some((index, value))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::table::Table;

    #[test]
    fn elements_are_told_by_the_type() {
        assert_eq!(Float::of::<[f32]>(), Some(Float::F32));
        assert_eq!(Float::of::<[[f64; 4]; 2]>(), Some(Float::F64));
        assert_eq!(Float::of::<f32>(), Some(Float::F32));
        assert_eq!(Float::of::<Table<f32, 2>>(), Some(Float::F32));
        assert_eq!(Float::named("[[half::bfloat::bf16; 4]]"), Some(Float::Bf16));
        assert_eq!(Float::named("half::binary16::f16"), Some(Float::F16));
        assert_eq!(Float::of::<[u32; 4]>(), None);
        assert_eq!(Float::of::<(f32, u32)>(), None);
        assert_eq!(Float::named("other::Table<f32>"), None);
    }

    #[test]
    fn values_that_are_not_finite_are_found() {
        let bytes = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        let values = bytes(&[1.0, f32::MAX, f32::NEG_INFINITY, f32::NAN]);
        assert_eq!(Float::F32.first_not_finite(&values, &[]), Some((2, "-inf")));
        assert_eq!(
            Float::F32.first_not_finite(&values, &bytes(&[0.0, 0.0, f32::NEG_INFINITY, 0.0])),
            Some((3, "NaN"))
        );
        assert_eq!(Float::F32.first_not_finite(&values, &values), None);
        assert_eq!(
            Float::F64.first_not_finite(&f64::INFINITY.to_le_bytes(), &[]),
            Some((0, "inf"))
        );
        assert_eq!(
            Float::F16.first_not_finite(&[0, 0x7c, 0xff, 0x7b], &[]),
            Some((0, "inf"))
        );
        assert_eq!(
            Float::Bf16.first_not_finite(&[0x7f, 0x7f, 0xc0, 0xff], &[]),
            Some((1, "NaN"))
        );
    }
}
