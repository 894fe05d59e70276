//! Prices in microseconds, measured on an H200 with driver 580 and CUDA 13.0.

/// A small kernel after another one, with the edge between them.
pub(super) const KERNEL: f64 = 0.87;
/// The part of it that a programmatic edge saves.
pub(super) const PROGRAMMATIC: f64 = 0.34;
/// A copy of a few KiB within the device.
pub(super) const DEVICE_COPY: f64 = 2.0;
/// A conditional node that runs a body, with the kernel that sets its condition.
pub(super) const CONDITIONAL: f64 = 7.35;
/// An iteration of a `while` node.
pub(super) const ITERATION: f64 = 4.25;
/// A predicated kernel more than the kernel: the programmatic edge to it saves more than its test takes.
pub(super) const TEST: f64 = -0.13;
/// Bytes that the device's memory moves in a microsecond.
pub(super) const MEMORY: f64 = 4.8e6;
/// Bytes that copies between host and device move in a microsecond, if they are long (PCI Express 5.0, 16 lanes).
const LINK: f64 = 50e3;
/// The processors of an H200.
pub(super) const PROCESSORS: u32 = 132;
/// The nodes of the graphs that [`WIDTHS`] are about.
const WIDTH_NODES: f64 = 128.0;
/// The time of the CPU for a launch of 128 kernels in so many parallel chains.
const WIDTHS: [(f64, f64); 5] = [(1.0, 2.1), (2.0, 3.1), (4.0, 5.7), (8.0, 13.0), (16.0, 28.0)];
/// The time of the GPU for them.
const RUNS: [(f64, f64); 5] = [(1.0, 102.0), (2.0, 52.0), (4.0, 34.0), (8.0, 29.0), (16.0, 30.0)];
/// Copy nodes from page-locked memory of so many bytes, between kernels (`benches/uploads.rs`).
const HOST_COPIES: [(f64, f64); 3] = [(1024.0, 3.1), (2048.0, 7.6), (65536.0, 9.4)];

/// Kernels that copy so many bytes from there.
const UPLOADS: [(f64, f64); 3] = [(1024.0, 2.1), (16384.0, 2.7), (65536.0, 3.7)];

/// A kernel that copies from the host.
pub(super) fn upload(bytes: f64) -> f64 {
    interpolated(&UPLOADS, bytes)
}

/// A copy between host and device.
pub(super) fn host_copy(bytes: f64) -> f64 {
    let (most, _) = HOST_COPIES[HOST_COPIES.len() - 1];
    interpolated(&HOST_COPIES, bytes.min(most)) + (bytes - most).max(0.0) / LINK
}

/// The time of the CPU for a launch of a graph with this number of nodes, this many side by side.
pub(super) fn launch(nodes: usize, width: usize) -> f64 {
    let (_, least) = WIDTHS[0];
    let of_many = interpolated(&WIDTHS, width as f64);
    least + (of_many - least) * (nodes as f64 / WIDTH_NODES).min(1.0)
}

/// The time of the GPU for a graph with this number of small kernels, this many side by side.
pub(super) fn run(nodes: usize, width: usize) -> f64 {
    let (most, _) = RUNS[RUNS.len() - 1];
    interpolated(&RUNS, (width as f64).min(most)) * nodes as f64 / WIDTH_NODES
}

/// The value at a place, from known ones: a line between two of them, and beyond the last, that of the last two.
fn interpolated(known: &[(f64, f64)], at: f64) -> f64 {
    let place = known.iter().position(|(place, _)| *place >= at);
    let last = place.unwrap_or(known.len() - 1).max(1);
    let ((from, low), (to, high)) = (known[last - 1], known[last]);
    low + (at.max(known[0].0) - from) / (to - from) * (high - low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_those_that_were_measured_and_lines_between() {
        assert_eq!([512.0, 1024.0, 2048.0, 65536.0].map(host_copy), [3.1, 3.1, 7.6, 9.4]);
        assert_eq!(
            (host_copy(65536.0 + 50e3), upload(16.0), upload(65536.0)),
            (10.4, 2.1, 3.7)
        );
        assert_eq!(
            [1, 3, 16].map(|width| (launch(128, width) * 10.0).round()),
            [21.0, 44.0, 280.0]
        );
        assert_eq!((launch(128, 32) * 10.0).round(), 580.0);
        assert_eq!((launch(64, 16) * 10.0).round(), 151.0);
        assert_eq!(
            [(128, 16), (128, 32), (64, 4)].map(|(nodes, width)| run(nodes, width)),
            [30.0, 30.0, 17.0]
        );
    }
}
