//! The comparison of results with what is expected. A number that is none, or infinite, is never right.

/// Compares results with the expected ones, and returns the largest difference.
///
/// # Errors
/// If there are more or fewer, or if one is not finite, or if a difference is larger than `tolerance`. The message
/// begins with `name`, and has the first such result.
pub fn close(name: &str, results: &[f32], expected: &[f32], tolerance: f32) -> Result<f32, String> {
    let worst = near(name, results, expected, |_| tolerance.into())?;
    Ok(worst as f32)
}

/// Compares results with the expected ones as [`close`] does. `tolerance` is computed from the expected number.
///
/// # Errors
/// As [`close`].
pub fn near<T: Copy + Into<f64>>(
    name: &str,
    results: &[T],
    expected: &[T],
    tolerance: impl Fn(f64) -> f64,
) -> Result<f64, String> {
    let (count, wanted) = (results.len(), expected.len());
    if count != wanted {
        return Err(format!("{name}: {count} results, expected {wanted}"));
    }
    let mut worst = 0.0_f64;
    for (index, (&result, &expected)) in results.iter().zip(expected).enumerate() {
        let (result, expected): (f64, f64) = (result.into(), expected.into());
        let difference = (result - expected).abs();
        let is_near = difference <= tolerance(expected); // not if one of the two is no number
        if !is_near || !result.is_finite() || !expected.is_finite() {
            return Err(format!("{name}: result {index} is {result}, expected {expected}"));
        }
        worst = worst.max(difference);
    }
    Ok(worst)
}

/// Fails unless a loss has fallen to at most this share of what it was at first.
///
/// # Errors
/// If it has not, or is not finite: the message has both losses.
pub fn learnt(first: f32, last: f32, share: f32) -> Result<(), String> {
    if first.is_finite() && last.is_finite() && last <= share * first {
        return Ok(());
    }
    Err(format!(
        "it has learnt too little: the loss goes from {first} to {last}"
    ))
}

/// The largest absolute value.
pub fn largest(numbers: &[f32]) -> f32 {
    numbers.iter().fold(0.0, |largest, number| largest.max(number.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_result_is_named() {
        let wrong = |results: &[f32]| close("x", results, &[1.0, 3.0], 0.5).unwrap_err();
        assert_eq!(wrong(&[1.0, 2.0]), "x: result 1 is 2, expected 3");
        assert_eq!(wrong(&[f32::NAN, 3.0]), "x: result 0 is NaN, expected 1");
        assert_eq!(wrong(&[1.0]), "x: 1 results, expected 2");
        assert_eq!(close("x", &[1.25, 3.5], &[1.0, 3.0], 0.5), Ok(0.5));
    }

    #[test]
    fn what_is_not_finite_is_never_right() {
        for (result, expected) in [
            (f32::NAN, f32::NAN),
            (f32::INFINITY, f32::INFINITY),
            (1.0, f32::INFINITY),
        ] {
            let tolerance = |expected: f64| 0.5 * expected.abs();
            assert!(
                near("x", &[result], &[expected], tolerance).is_err(),
                "{result} {expected}"
            );
        }
        assert!(learnt(4.0, 1.0, 0.25).is_ok());
        for (first, last) in [(4.0, 1.1), (4.0, f32::NAN), (f32::NAN, 1.0), (f32::INFINITY, 1.0)] {
            assert!(learnt(first, last, 0.25).is_err(), "{first} {last}");
        }
    }
}
