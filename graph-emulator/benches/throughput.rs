//! Throughput of the emulator against the same loops in Rust: `cargo bench -p graph-emulator`.

use std::hint::black_box;
use std::time::Instant;

use graph_emulator::{Access, Allocation, Buffer, Launch, Memory, Module, Options};

#[path = "../tests/common/modules.rs"]
mod modules;

const BASIC: &str = include_str!("../tests/kernels/basic.ptx");

fn main() {
    let memory = Memory::new();
    let module = Module::load(&memory, BASIC).expect("the module is valid");
    let load = best(|| drop(black_box(Module::load(&memory, BASIC))));
    let speed = BASIC.len() as f64 / load / 1e3;
    println!(
        "loading {} kB of PTX: {load:.2} ms, {speed:.0} MB/s",
        BASIC.len() / 1000
    );
    many_kernels(&memory);
    let threads = [1, 2];
    saxpy(&memory, &module, &threads);
    matmul(&memory, &module, &threads);
}

/// Loads a module of 500 kernels, which is as long as real ones.
fn many_kernels(memory: &Memory) {
    let text = modules::many_kernels(500, 5_000_000);
    let load = best(|| drop(black_box(Module::load(memory, &text).expect("the module is valid"))));
    println!("loading {:.1} MB of 500 kernels: {load:.0} ms", text.len() as f64 / 1e6);
}

/// The best of five runs, in milliseconds.
fn best(mut run: impl FnMut()) -> f64 {
    let times = (0..5).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64() * 1e3
    });
    times.fold(f64::INFINITY, f64::min)
}

fn buffer(allocation: &Allocation, access: Access) -> Buffer<'_> {
    Buffer {
        name: "buffer",
        address: allocation.address(),
        len: allocation.len(),
        access,
    }
}

fn saxpy(memory: &Memory, module: &Module, threads: &[usize]) {
    let n = 16usize << 20;
    let (mut x, mut y) = (vec![1f32; n], vec![2f32; n]);
    let rust = best(|| {
        for (y, x) in y.iter_mut().zip(black_box(&mut x).iter()) {
            *y += 3.0 * x;
        }
        black_box(&mut y);
    });
    let x = memory.allocate("x", 4 * n).expect("there is memory");
    let y = memory.allocate("y", 4 * n).expect("there is memory");
    let buffers = [buffer(&x, Access::Read), buffer(&y, Access::ReadWrite)];
    let (px, py) = (x.address().to_le_bytes(), y.address().to_le_bytes());
    let (a, count) = (3f32.to_le_bytes(), (n as i32).to_le_bytes());
    for &threads in threads {
        let options = Options {
            threads: Some(threads),
            ..Options::default()
        };
        let launch = Launch {
            grid: [(n / 256) as u32, 1, 1],
            block: [256, 1, 1],
            shared_bytes: 0,
            arguments: &[&a, &px, &py, &count],
            buffers: &buffers,
            textures: &[],
            surfaces: &[],
            options: &options,
        };
        let emulated = best(|| module.launch("saxpy", &launch).expect("the kernel is right"));
        println!(
            "saxpy 16M, {threads} threads: {emulated:.1} ms, {:.1} times Rust's {rust:.1} ms",
            emulated / rust
        );
    }
}

fn matmul(memory: &Memory, module: &Module, threads: &[usize]) {
    let n = 512usize;
    let (a, b, mut c) = (vec![1f32; n * n], vec![2f32; n * n], vec![0f32; n * n]);
    let rust = best(|| {
        let (a, b) = (black_box(&a), black_box(&b));
        c.fill(0.0);
        for i in 0..n {
            for k in 0..n {
                let factor = a[i * n + k];
                for (c, b) in c[i * n..][..n].iter_mut().zip(&b[k * n..][..n]) {
                    *c += factor * b;
                }
            }
        }
        black_box(&mut c);
    });
    let allocate = |name| memory.allocate(name, 4 * n * n).expect("there is memory");
    let (a, b, c) = (allocate("a"), allocate("b"), allocate("c"));
    let buffers = [
        buffer(&a, Access::Read),
        buffer(&b, Access::Read),
        buffer(&c, Access::ReadWrite),
    ];
    let addresses = [&a, &b, &c].map(|allocation| allocation.address().to_le_bytes());
    let count = (n as i32).to_le_bytes();
    for (kernel, tile) in [("matmul", 16), ("matmul32", 32)] {
        for &threads in threads {
            let options = Options {
                threads: Some(threads),
                ..Options::default()
            };
            let launch = Launch {
                grid: [n as u32 / tile, n as u32 / tile, 1],
                block: [tile, tile, 1],
                shared_bytes: 0,
                arguments: &[&addresses[0], &addresses[1], &addresses[2], &count],
                buffers: &buffers,
                textures: &[],
                surfaces: &[],
                options: &options,
            };
            let emulated = best(|| module.launch(kernel, &launch).expect("the kernel is right"));
            let gflops = 2.0 * (n * n * n) as f64 / emulated / 1e6;
            println!(
                "{kernel} 512, {threads} threads: {emulated:.0} ms, {gflops:.2} GFLOP/s, {:.1} times Rust's {rust:.0} ms",
                emulated / rust
            );
        }
    }
}
