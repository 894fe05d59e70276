//! Matrix products of cuBLAS, in `capture` nodes and captured graphs.

use cudarc::cublas::sys::cublasOperation_t::CUBLAS_OP_N;
use cudarc::cublas::sys::{cublasSetWorkspace_v2, is_culib_present};
use cudarc::cublas::{CudaBlas, Gemm, GemmConfig};
use graph_runtime::{BoxError, CaptureStream, Device, OnDevice, Pointer, PointerMut, Result};
use std::sync::Arc;

/// Builds a graph that captures cuBLAS. On the emulator, [`multiply`] stands for it.
///
/// # Errors
/// If cuBLAS is not on this machine: the message says how it is found. Any error of `build`.
pub fn built<G>(device: &Device, build: impl FnOnce() -> Result<G>) -> Result<G, BoxError> {
    // SAFETY: loading cuBLAS runs its initialisers, which are made for that.
    if !device.is_emulator() && !unsafe { is_culib_present() } {
        return Err("cuBLAS (libcublas) was not found on this machine; put its folder into LD_LIBRARY_PATH".into());
    }
    Ok(build()?)
}

/// Returns a handle of cuBLAS for the stream of a `capture` node, with a workspace of its own. The graph keeps both.
///
/// # Safety
/// As for [`CaptureStream::cudarc`]: the handle, and the stream in it, queue only work that touches memory that the
/// node declares, as it declares it.
unsafe fn handle<K>(stream: &CaptureStream<'_, K>) -> Result<Arc<CudaBlas>, BoxError> {
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
/// If the device has too little memory for the workspace, or if cuBLAS refuses.
///
/// # Safety
/// The three matrices are memory of the closure that has the stream: `a` and `b` to be read, `out` to be written.
pub unsafe fn gemm<'n, K, const M: usize, const N: usize>(
    stream: &CaptureStream<'n, K>,
    a: &Pointer<'n, [[f32; N]; M], OnDevice>,
    b: &Pointer<'n, [[f32; N]; N], OnDevice>,
    out: &PointerMut<'n, [[f32; N]; M], OnDevice>,
) -> Result<(), BoxError> {
    // SAFETY: the handle queues nothing but the product below.
    let blas = unsafe { handle(stream) }?;
    // cuBLAS counts by columns: it takes `b` and `a` for their transposes, and multiplies these to the transpose of
    // `a b`.
    let config = GemmConfig {
        transa: CUBLAS_OP_N,
        transb: CUBLAS_OP_N,
        m: N as i32,
        n: M as i32,
        k: N as i32,
        alpha: 1.0,
        lda: N as i32,
        ldb: N as i32,
        beta: 0.0,
        ldc: N as i32,
    };
    // SAFETY: all three are used on their closure's stream.
    let first = unsafe { stream.slice(b) };
    // SAFETY: as above.
    let second = unsafe { stream.slice(a) };
    // SAFETY: as above.
    let mut product = unsafe { stream.slice_mut(out) };
    // SAFETY: the sizes are those of the types; the rest is the caller's promise.
    unsafe { blas.gemm(config, &first, &second, &mut product) }?;
    Ok(())
}

/// `out = a b`, in plain Rust: this stands for [`gemm`] where there is no CUDA.
pub fn multiply<const M: usize, const N: usize>(a: &[[f32; N]; M], b: &[[f32; N]; N], out: &mut [[f32; N]; M]) {
    for (row, sums) in a.iter().zip(out) {
        sums.fill(0.0);
        for (factor, others) in row.iter().zip(b) {
            let others = sums.iter_mut().zip(others);
            others.for_each(|(sum, other)| *sum += factor * other);
        }
    }
}

/// Small whole numbers: every sum of their products is exact, in any order, and also if a GPU multiplies TF32.
pub fn whole_numbers(seed: usize, numbers: &mut [f32]) {
    for (index, number) in numbers.iter_mut().enumerate() {
        *number = (index * (7 + seed) % 13) as f32 - 6.0;
    }
}

/// `factor a b`, row by row, in plain Rust.
pub fn product<const N: usize>(factor: f32, a: &[[f32; N]], b: &[[f32; N]]) -> Vec<f32> {
    let element = |row: &[f32; N], column: usize| row.iter().zip(b).map(|(x, others)| x * others[column]).sum::<f32>();
    let row = |row| (0..N).map(move |column| factor * element(row, column));
    a.iter().flat_map(row).collect()
}
