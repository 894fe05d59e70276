//! Pools on CUDA: the device memory that they need, as the driver counts it, and scratch memory of libraries in them.

use crate::common::*;
use crate::turn::cuda;
use graph_runtime::cudarc::driver::result::{memcpy_dtod_async, memset_d8_async};

cuda_graph! {
    /// A model's graph for a batch of `n / 64`.
    graph Bucket(n: usize) {
        host    output: [u32; 64];
        param   value:  u32 = 1;
        scratch hidden: [u32; n];

        memset fill = hidden <- value;
        kernel more = add_to<<<1, 64>>>(&mut hidden[n - 64..], 1) after fill;
        memcpy down = hidden[n - 64..] -> output                 after more;
    }

    /// A copy whose length is changed in place, from and to a pool.
    graph Copies {
        host    input:  [u32; 64];
        host    output: [u32; 64];
        param   some:   usize = 64;
        scratch hidden: [u32; 64];

        memset clear = hidden <- 0;
        memcpy up    = input[..some] -> hidden[..some]  after clear;
        memcpy down  = hidden -> output                 after up;
    }
}

/// The words of scratch memory of the largest bucket: 512 MiB.
const LARGEST: usize = 128 << 20;

fn free(device: &Device) -> usize {
    context(device).mem_get_info().expect("the driver knows").0
}

#[test]
#[ignore = "needs a CUDA device"]
fn nine_buckets_need_the_largest_ones_memory() -> Result<()> {
    let (device, _turn) = cuda();
    drop(Bucket::build(&device, 64)?); // the driver's own memory is there now
    for ascending in [false, true] {
        let before = free(&device);
        let pooled = device.with_pool(&device.pool());
        let shift = |bucket: usize| if ascending { 8 - bucket } else { bucket };
        let graphs = (0..9).map(|bucket| Bucket::build(&pooled, LARGEST >> shift(bucket)));
        let mut graphs = graphs.collect::<Result<Vec<_>>>()?;
        let used = before - free(&device);
        let largest = 4 * LARGEST;
        println!("pools: 9 buckets, ascending {ascending}: {used} bytes, the largest needs {largest}");
        assert!(used as f64 <= 1.1 * largest as f64);
        for (index, graph) in graphs.iter_mut().enumerate() {
            graph.set_value(index as u32)?;
            graph.launch()?;
        }
        for (index, graph) in graphs.iter().enumerate() {
            assert_eq!(*graph.output()?, [index as u32 + 1; 64]);
        }
        drop((graphs, pooled));
        let lost = before.saturating_sub(free(&device));
        assert!(lost <= 16 << 20, "{lost} bytes are not given back");
    }
    Ok(())
}

#[test]
#[ignore = "needs a CUDA device"]
fn copies_to_memory_of_a_pool_are_changed_in_place() -> Result<()> {
    let (device, _turn) = cuda();
    let pooled = device.with_pool(&device.pool());
    let mut graph = Copies::build(&pooled)?;
    drop(Bucket::build(&pooled, 4 << 20)?); // the memory grows: the second piece is never needed by `graph`
    *graph.input_mut()? = [7; 64];
    for some in [64, 1, 0, 33] {
        graph.set_some(some)?;
        graph.launch()?;
        let expected = std::array::from_fn(|index| if index < some { 7 } else { 0 });
        assert_eq!(*graph.output()?, expected);
    }
    Ok(())
}

/// The node's scratch memory and workspaces are apart, and from the graph's; those of two graphs are shared.
#[test]
#[ignore = "needs a CUDA device"]
fn libraries_have_scratch_memory_of_the_pool() -> Result<()> {
    let (device, _turn) = cuda();
    let pool = device.pool();
    let pooled = device.with_pool(&pool);
    let outputs = [device.alloc_slice::<u32>(64)?, device.alloc_slice::<u32>(64)?];
    let mut graphs = Vec::new();
    for (number, output) in outputs.iter().enumerate() {
        graphs.push(cuda_graph! { &pooled =>
            param   value: u32 = 5;
            scratch hidden: [u32; 64];
            memset  fill  = hidden <- value;
            capture both  = (&hidden, &mut output) |stream| {
                let [first, second] = [stream.scratch(128)?, stream.scratch(100)?];
                let workspace = stream.workspace(64)?;
                assert_ne!(first.address(), second.address());
                assert_ne!(first.address(), hidden.address());
                let queue = stream.cu_stream();
                // SAFETY: all have so many bytes; the node declares that it reads and writes them.
                let set = |address, value, bytes| unsafe { memset_d8_async(address, value, bytes, queue) };
                // SAFETY: as above.
                let copy = |to, from| unsafe { memcpy_dtod_async(to, from, 128, queue) };
                set(first.address(), 1 + number as u8, 128)?;
                set(second.address(), 8, 100)?;
                set(workspace.address(), 9, 64)?;
                copy(output.address(), hidden.address())?;
                copy(output.address() + 128, first.address())?;
                Ok::<(), BoxError>(())
            } after fill;
        }?);
    }
    for graph in &mut graphs {
        graph.launch()?;
    }
    let stream = new_stream(&device);
    for (number, graph) in graphs.into_iter().enumerate() {
        graph.synchronize()?;
        let found = read_by_cudarc(&outputs[number], &stream)?;
        assert_eq!((found[0], found[31]), (5, 5));
        assert_eq!(found[32..], [0x0101_0101 * (1 + number as u32); 32]);
    }
    Ok(())
}
