//! The code that examples share: kernels, and the lines that they print.

pub mod conv;
pub mod bare;
pub mod bench;
pub mod charts;
pub mod cudnn;
pub mod trainer;
pub mod decoder;
pub mod digits;
pub mod linear;
pub mod memory;

use cudarc::cublas::sys::cublasOperation_t::CUBLAS_OP_N;
use cudarc::cublas::sys::{cublasSetWorkspace_v2, is_culib_present};
use cudarc::cublas::{CudaBlas, Gemm, GemmConfig};
use graph_runtime::{BoxError, CaptureStream, Device, OnDevice, Pointer, PointerMut, cuda_kernels};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

#[cuda_kernels("kernels/forward_backward.ptx")]
unsafe extern "C" {
    /// `data[i] *= 2`, one thread for each element
    #[requires(threads <= data.len())]
    pub safe fn kernel_forward(data: &mut [f32]);
    /// `data[i] /= 2`, one thread for each element
    #[requires(threads <= data.len())]
    pub safe fn kernel_backward(data: &mut [f32]);
}

/// Shows the driver calls of building on stderr if `RUST_LOG` asks for it: `RUST_LOG=graph_runtime=trace`.
pub fn log() {
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .with_writer(std::io::stderr)
        .init();
}

/// Returns the argument of the program that comes after the argument `name`.
pub fn argument(name: &str) -> Option<String> {
    std::env::args().skip_while(|argument| argument != name).nth(1)
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

/// Fails if `device` is a GPU, and cuBLAS is not on this machine. (The emulator refuses library calls by itself.)
///
/// # Errors
/// The message says how cuBLAS is found.
pub fn check_cublas(device: &Device) -> Result<(), &'static str> {
    // SAFETY: loading cuBLAS runs its initialisers, which are made for that.
    if device.is_emulator() || unsafe { is_culib_present() } {
        return Ok(());
    }
    Err("cuBLAS (libcublas) was not found on this machine; put its folder into LD_LIBRARY_PATH")
}

/// Returns a handle of cuBLAS for the stream of a `capture` node, with a workspace of its own. The graph keeps both.
///
/// # Errors
/// If the device has too little memory for the workspace, or if cuBLAS refuses.
///
/// # Safety
/// As for [`CaptureStream::cudarc`]: the handle, and the stream in it, queue only work that touches memory that the
/// node declares, as it declares it.
pub unsafe fn cublas<K>(stream: &CaptureStream<'_, K>) -> Result<Arc<CudaBlas>, BoxError> {
    /// The size that NVIDIA recommends for Hopper, in bytes; other devices need less.
    const WORKSPACE: usize = 32 << 20;
    let workspace = stream.workspace(WORKSPACE)?;
    // Creating a handle allocates, and dropping it waits. Neither may happen in the capture, so `prepare` makes the
    // handle, and the graph keeps it.
    stream.prepare(|| {
        // SAFETY: by the caller's promise.
        let blas = CudaBlas::new(unsafe { stream.cudarc() }.clone())?;
        // SAFETY: the workspace lives as long as the handle, and nothing else uses it. (Creating the handle has set its
        // stream; setting it later would take the workspace away.)
        unsafe { cublasSetWorkspace_v2(*blas.handle(), workspace.address() as *mut _, workspace.bytes()) }.result()?;
        Ok(blas)
    })
}

/// `out = a b`, by cuBLAS, on the stream of a `capture` node or a captured graph.
///
/// # Errors
/// As [`cublas`].
///
/// # Safety
/// The three matrices are memory of the closure that has the stream: `a` and `b` to be read, `out` to be written.
pub unsafe fn gemm<'n, K, const N: usize>(
    stream: &CaptureStream<'n, K>,
    a: &Pointer<'n, [[f32; N]; N], OnDevice>,
    b: &Pointer<'n, [[f32; N]; N], OnDevice>,
    out: &PointerMut<'n, [[f32; N]; N], OnDevice>,
) -> Result<(), BoxError> {
    // SAFETY: the handle queues nothing but the product below.
    let blas = unsafe { cublas(stream) }?;
    let size = N as i32;
    let config = GemmConfig {
        transa: CUBLAS_OP_N,
        transb: CUBLAS_OP_N,
        m: size,
        n: size,
        k: size,
        alpha: 1.0,
        lda: size,
        ldb: size,
        beta: 0.0,
        ldc: size,
    };
    // cuBLAS counts by columns: it takes `b` and `a` for their transposes, and multiplies these to the transpose of `a
    // b`.
    //
    // SAFETY: all three are used on their closure's stream.
    let first = unsafe { stream.slice(b) };
    // SAFETY: as above.
    let second = unsafe { stream.slice(a) };
    // SAFETY: as above.
    let mut product = unsafe { stream.slice_mut(out) };
    // SAFETY: three matrices of `N` by `N`; by the caller's promise.
    unsafe { blas.gemm(config, &first, &second, &mut product) }?;
    Ok(())
}

/// Runs `run` a hundred times and prints the median time of a run.
///
/// # Errors
/// If `run` fails, its error.
pub fn time<E>(mut run: impl FnMut() -> Result<(), E>) -> Result<(), E> {
    let mut times = Vec::new();
    for _ in 0..100 {
        let start = Instant::now();
        run()?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    println!(
        "time:    {:.1} us a run, upload to download (median of {})",
        times[50].as_secs_f64() * 1e6,
        times.len()
    );
    Ok(())
}

/// Prints the first results and compares all of them with `expected`.
///
/// # Errors
///
/// If a result differs: the message names the first one.
pub fn check(results: &[f32], expected: &[f32]) -> Result<(), String> {
    println!("results: {:?} ...", &results[..results.len().min(8)]);
    let differs = |(result, expected): &(&f32, &f32)| result.to_bits() != expected.to_bits();
    match results.iter().zip(expected).enumerate().find(|(_, pair)| differs(pair)) {
        None => {
            println!(
                "check:   {} numbers doubled and halved, all as they were",
                results.len()
            );
            Ok(())
        }
        Some((index, (result, expected))) => Err(format!("result {index} is {result}, expected {expected}")),
    }
}

/// The README's sample compiles and runs as it is.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

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
        assert!(
            fill(&mut numbers, Some(&file))
                .unwrap_err()
                .ends_with("line 2: `x` is no number")
        );
        std::fs::write(&file, "\n").unwrap();
        assert!(fill(&mut numbers, Some(&file)).unwrap_err().ends_with("no numbers"));
        std::fs::remove_file(&file).unwrap();
        assert!(fill(&mut numbers, Some(&file)).is_err());
    }

    #[test]
    fn a_wrong_result_is_named() {
        assert_eq!(
            check(&[1.0, 2.0], &[1.0, 3.0]),
            Err("result 1 is 2, expected 3".to_owned())
        );
        assert_eq!(check(&[1.0, 2.0], &[1.0, 2.0]), Ok(()));
    }
}
