//! CUB's primitives of blocks and warps on the emulator, compared with plain Rust. NVRTC compiles them with the headers
//! that `--with-headers` fetches.

use graph_runtime::{Device, Result, cuda_graph, cuda_kernels};

const BLOCKS: usize = 3;
const THREADS: usize = 128;
const ITEMS: usize = 4;

#[cuda_kernels("tests/kernels/cub.ptx")]
unsafe extern "C" {
    /// The sum of each block's numbers
    #[requires(block == block.x && block.x == 128 && threads <= numbers.len() && grid <= out.len())]
    safe fn block_sum(numbers: &[i32], out: &mut [i32]);
    /// The sums of each block's numbers up to each thread
    #[requires(block == block.x && block.x == 128 && threads <= numbers.len() && threads <= out.len())]
    safe fn block_scan(numbers: &[i32], out: &mut [i32]);
    /// Each block's numbers in order, four of each thread
    #[requires(block == block.x && block.x == 128 && 4 * threads <= numbers.len() && 4 * threads <= out.len())]
    safe fn block_sort(numbers: &[u32], out: &mut [u32]);
    /// The sum of each warp's numbers
    #[requires(block == block.x && block.x == 128 && threads <= numbers.len() && 4 * grid <= out.len())]
    safe fn warp_sum(numbers: &[f32], out: &mut [f32]);
}

cuda_graph! {
    graph Primitives {
        device numbers: [i32; BLOCKS * THREADS];
        device keys:    [u32; BLOCKS * THREADS * ITEMS];
        device floats:  [f32; BLOCKS * THREADS];
        device sums:    [i32; BLOCKS];
        device scans:   [i32; BLOCKS * THREADS];
        device sorted:  [u32; BLOCKS * THREADS * ITEMS];
        device warps:   [f32; BLOCKS * THREADS / 32];

        kernel sum   = block_sum<<<BLOCKS, THREADS>>>(&numbers, &mut sums);
        kernel scan  = block_scan<<<BLOCKS, THREADS>>>(&numbers, &mut scans);
        kernel sort  = block_sort<<<BLOCKS, THREADS>>>(&keys, &mut sorted);
        kernel warp  = warp_sum<<<BLOCKS, THREADS>>>(&floats, &mut warps);
    }
}

#[test]
fn primitives_of_cub_are_those_of_plain_rust() -> Result<()> {
    let mixed = |index: usize| (index as u32).wrapping_mul(2_654_435_761).rotate_left(13);
    let numbers: Vec<i32> = (0..BLOCKS * THREADS).map(|index| mixed(index) as i32 % 1000).collect();
    let keys: Vec<u32> = (0..BLOCKS * THREADS * ITEMS).map(mixed).collect();
    let floats: Vec<f32> = numbers.iter().map(|number| *number as f32).collect(); // sums of these are exact
    let mut graph = Primitives::build(&Device::emulator())?;
    graph.numbers_mut()?.copy_from(numbers.as_slice().try_into().unwrap())?;
    graph.keys_mut()?.copy_from(keys.as_slice().try_into().unwrap())?;
    graph.floats_mut()?.copy_from(floats.as_slice().try_into().unwrap())?;
    graph.launch()?;
    for (block, numbers) in numbers.chunks(THREADS).enumerate() {
        assert_eq!(graph.sums()?.read()?[block], numbers.iter().sum::<i32>());
        let mut sum = 0;
        let scanned: Vec<i32> = numbers
            .iter()
            .map(|number| {
                sum += number;
                sum
            })
            .collect();
        assert_eq!(graph.scans()?.read()?[block * THREADS..][..THREADS], scanned);
        let place = block * THREADS * ITEMS;
        let mut keys = keys[place..][..THREADS * ITEMS].to_vec();
        keys.sort_unstable();
        assert_eq!(graph.sorted()?.read()?[place..][..THREADS * ITEMS], keys);
    }
    let warps: Vec<f32> = floats.chunks(32).map(|warp| warp.iter().sum()).collect();
    assert_eq!(graph.warps()?.read()?[..], warps);
    Ok(())
}
