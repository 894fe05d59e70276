//! The parts of the sample that `forward_backward` and `forward_backward_eager` share.

use crate::compare::close;
use graph_runtime::cuda_kernels;
use std::path::Path;

#[cuda_kernels("kernels/forward_backward.ptx", prove)]
unsafe extern "C" {
    /// `data[i] *= 2`, one thread for each element
    #[requires(threads <= data.len())]
    pub safe fn kernel_forward(data: &mut [f32]);
    /// `data[i] /= 2`, one thread for each element
    #[requires(threads <= data.len())]
    pub safe fn kernel_backward(data: &mut [f32]);
}

/// Fills `numbers` from a file with one number a line, again from its start if there are fewer; without a file, with 0,
/// 1, 2, ...
///
/// # Errors
///
/// If the file cannot be read, has no number, or has a line that is not a number: the message names the file and the
/// line.
pub fn fill(numbers: &mut [f32], file: Option<&Path>) -> Result<(), String> {
    let Some(file) = file else {
        numbers
            .iter_mut()
            .enumerate()
            .for_each(|(index, number)| *number = index as f32);
        return Ok(());
    };
    let name = file.display();
    let text = std::fs::read_to_string(file).map_err(|error| format!("{name}: {error}"))?;
    let mut read = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let number = line.trim().parse::<f32>();
        read.push(number.map_err(|_| format!("{name}, line {}: `{}` is no number", index + 1, line.trim()))?);
    }
    if read.is_empty() {
        return Err(format!("{name}: no numbers"));
    }
    numbers
        .iter_mut()
        .zip(read.iter().cycle())
        .for_each(|(number, value)| *number = *value);
    Ok(())
}

/// Prints the first results and compares all of them with `expected`.
///
/// # Errors
/// If a result differs: the message names the first one.
pub fn check(results: &[f32], expected: &[f32]) -> Result<(), String> {
    println!("results: {:?} ...", &results[..results.len().min(8)]);
    close("doubled and halved", results, expected, 0.0)?;
    println!(
        "check:   {} numbers doubled and halved, all as they were",
        results.len()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_and_repeated() {
        let file = std::env::temp_dir().join(format!("cuda-graph-numbers-{}", std::process::id()));
        std::fs::write(&file, "1.5\n\n -2\n").unwrap();
        let mut numbers = [0.0; 5];
        fill(&mut numbers, Some(&file)).unwrap();
        assert_eq!(numbers, [1.5, -2.0, 1.5, -2.0, 1.5]);
        std::fs::write(&file, "1\nx\n").unwrap();
        let end = "line 2: `x` is no number";
        assert!(fill(&mut numbers, Some(&file)).unwrap_err().ends_with(end));
        std::fs::write(&file, "\n").unwrap();
        assert!(fill(&mut numbers, Some(&file)).unwrap_err().ends_with("no numbers"));
        std::fs::remove_file(&file).unwrap();
        assert!(fill(&mut numbers, Some(&file)).is_err());
    }
}
