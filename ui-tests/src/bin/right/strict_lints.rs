//! The expansion needs no `unsafe` of its own and warns of nothing, whatever its user is strict about.
#![forbid(unsafe_code)]
#![deny(
    warnings,
    unused,
    missing_docs,
    missing_debug_implementations,
    non_camel_case_types,
    rust_2018_idioms
)]
#![deny(
    trivial_casts,
    trivial_numeric_casts,
    unreachable_pub,
    unused_lifetimes,
    unused_qualifications,
    unused_results
)]
#![deny(
    let_underscore_drop,
    single_use_lifetimes,
    unnameable_types,
    variant_size_differences
)]

use graph_runtime::{Device, DeviceBuffer, Event, Result, cuda_graph};
use ui_tests::{read, scaled};

const FIRST: usize = 0;

cuda_graph! {
    /// Documented.
    pub graph Test<T: graph_runtime::Element, const N: usize> {
        host input: [f32; N];
        device data: [f32; N];
        device pairs: [[f32; N]; 2];
        device input_rows: [[f32; N]; 2];
        host output: [f32; N];
        host flag: T;
        device flags: T;
        param factor: f32 = 1.0;
        param count: u32 = 4;
        memcpy flag_upload = flag -> flags;
        memcpy upload = input -> data;
        kernel scale = scaled<<<count, 1>>>(&mut data, factor, count) after upload;
        kernel copy = read<<<1, N>>>(&data, &mut pairs[0]) after scale;
        memset clear = pairs[1..] <- factor;
        memset first = input_rows[FIRST] <- factor;
        join all after copy, clear;
        memcpy download = pairs[0] -> output after all;
    }
}

cuda_graph! {
    /// The argument of `build`.
    pub graph Arguments(n: usize, value: f32, names: &[&str], w: mut device [f32; n], out: mut host [f32; 4]) {
        device data: [f32; 4];
        param factor: f32 = value;
        memset clear = w[..n] <- factor * value;
        memset zeros = data <- names.len() as f32;
        memcpy download = data -> out after zeros;
    }
}

cuda_graph! {
    /// Closures and events.
    pub graph Closures<const N: usize>(ready: Event, n: usize, names: Vec<String>) {
        host input: [f32; N];
        device data: [f32; N];
        device parts: [[f32; N]; 2];
        wait start = &ready;
        call fill = |&mut input| {
            input.fill(n as f32);
            let _count = names.len();
        } after start;
        call check = |&input| assert!(input.len() >= n) after fill;
        capture library = (&data, &mut parts[0], 3) |stream| {
            assert!(!stream.cu_stream().is_null() && data.bytes() == parts.bytes());
        };
        capture several = (&parts[0], &mut parts[1]) |stream| {
            let (_from, _to) = stream.memory();
            Ok(())
        } after library;
        record end = ready after check;
    }
}

/// Moves `w` into the graph.
///
/// # Errors
/// The errors of building and launching.
pub fn expression(device: &Device, w: DeviceBuffer<[f32]>, n: usize, value: f32) -> Result<usize> {
    let count = 4;
    let mut graph = cuda_graph! { device =>
        device data: [f32; n];
        param factor: f32 = value;
        memset clear = data <- factor;
        memset ones = w <- 1.0;
        kernel scale = scaled<<<count, 1>>>(&mut data, factor * value, count) after clear;
    }?;
    graph.set_factor(2.0)?;
    graph.launch()?;
    Ok(graph.into_parts()?.w.len())
}
