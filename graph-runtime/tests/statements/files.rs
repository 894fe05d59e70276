//! Graphs that are saved as files and opened again: what the tests in `files/` share.

mod binding;
pub(crate) mod cubins;
mod proved;
mod refused;
mod same_bits;

use crate::common::*;
use graph_runtime::private::plan::{FileArgument, FileWork, GraphFile};
use std::env;
use std::fs;
use std::path::PathBuf;
use std::process;

/// A file that is deleted when it is not needed any more.
struct Saved(PathBuf);

impl Saved {
    fn new(name: &str) -> Self {
        Self(env::temp_dir().join(format!("{name}-{}.cugraph", process::id())))
    }

    fn of(name: &str, plan: &Plan) -> Self {
        let saved = Self::new(name);
        plan.save(&saved.0).unwrap();
        saved
    }

    fn bytes(&self) -> Vec<u8> {
        fs::read(&self.0).unwrap()
    }

    fn file(&self) -> GraphFile {
        GraphFile::decode(&self.bytes()).unwrap()
    }

    /// Changes the file.
    fn change(&self, change: impl FnOnce(&mut GraphFile)) {
        let mut file = self.file();
        change(&mut file);
        fs::write(&self.0, file.encode()).unwrap();
    }

    /// The error of opening it on the emulator.
    fn refused(&self) -> String {
        let refused = Loaded::open(&Device::emulator(), &self.0).unwrap_err().to_string();
        refused.replace(&self.0.display().to_string(), "x.cugraph")
    }
}

impl Drop for Saved {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Opens a file. The kernels of these tests are declared `safe`, or keep what their declarations ask for.
fn open(device: &Device, saved: &Saved) -> Loaded {
    // SAFETY: the graphs were saved by these tests, whose kernels stay within their memory as they are called there.
    unsafe { Loaded::open_trusted(device, &saved.0) }.unwrap()
}

#[cuda_kernels("tests/kernels/constants.ptx")]
unsafe extern "C" {
    /// `data[i] *= table[i % 4]`
    #[requires(threads <= data.len())]
    safe fn weigh(data: &mut [f32]);
}

#[cuda_kernels("tests/kernels/mapped.ptx")]
unsafe extern "C" {
    #[requires(threads <= values.len())]
    safe fn fill(values: &[Mapped<u64>], first: u64);
}

cuda_graph! {
    graph Everything(w: device [f32; 64], out: mut device [u32; 32], n: usize) {
        host     input:  [f32; 64];
        host     result: [f32; 64];
        device   data:   [f32; 64];
        scratch  spare:  [f32; 64];
        constant table:  [f32; 4] = "table";
        device   count:  [u32; 4];
        device   more:   u32;
        device   pick:   u32;
        device   bins:   [u32; 8];
        device   early:  [u32; 32];
        device   late:   [u32; 32];
        mapped   words:  [u64; 4];
        param    factor: f32 = 2.0;

        memcpy up    = input -> data;
        memset some  = table[0..2] <- 3.0;
        #[priority(-1)]
        kernel scale = scale<<<2, 32>>>(&mut data, factor, 64) after up;
        kernel weigh = weigh<<<2, 32>>>(&mut data) after scale, some;
        memcpy keep  = data -> spare after weigh;
        kernel sum   = add<<<2, 32>>>(&spare, &w, &mut data, 64) after keep;
        memcpy down  = data -> result after sum;

        memset zero  = count <- 0;
        memset go    = more <- 1;
        while repeat = more {
            kernel add  = add_to<<<1, 4>>>(&mut count, 1);
            kernel test = is_below<<<1, 1>>>(&count, 5, &mut more) after add;
        } after go, zero;
        if maybe = more {
            memset one = out[0..4] <- 1;
        } else {
            memset two = out[0..4] <- 2;
        } after repeat;
        memset choice = pick <- 1;
        switch choose = pick {
            { memset first  = out[4..8] <- 10; }
            { memset second = out[4..8] <- 20; }
        } after choice;
        #[disabled]
        memset never = out[8..12] <- 9;

        kernel left  = add_all<<<1, 8>>>(&bins, 3);
        kernel right = add_all<<<1, 8>>>(&bins, 4);
        for i in 0..n {
            memset step = out[12 + i] <- 7;
        }
        kernel write = slow_write<<<1, 32>>>(&mut early, 5, 10);
        kernel read  = slow_step<<<1, 32>>>(&early, &mut late, 10) after programmatic(write);
        kernel words_of = fill<<<1, 4>>>(&words, 100);
    }
}

fn everything(device: &Device, name: &str) -> Saved {
    let (weights, out) = (
        device.alloc::<[f32; 64]>().unwrap(),
        device.alloc::<[u32; 32]>().unwrap(),
    );
    Saved::of(name, &Everything::build(device, &weights, &out, 3).unwrap().plan())
}

/// The bytes of a file with nodes of many kinds.
pub(crate) fn original(device: &Device) -> Vec<u8> {
    everything(device, "original").bytes()
}

fn node<'f>(file: &'f mut GraphFile, name: &str) -> &'f mut FileWork {
    let mut nodes = file.nodes.iter_mut();
    &mut nodes.find(|node| node.name == name).unwrap().work
}

/// An argument of a kernel node.
fn argument<'f>(file: &'f mut GraphFile, name: &str, index: usize) -> &'f mut FileArgument {
    match node(file, name) {
        FileWork::Kernel(kernel) => &mut kernel.arguments[index],
        _ => panic!("`{name}` is no kernel"),
    }
}
