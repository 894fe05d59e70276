//! Clusters of several blocks: their registers, the shared memory of other blocks, and the barriers between them.

use crate::common::*;

#[cuda_kernels("tests/kernels/clusters.ptx")]
unsafe extern "C" {
    #[requires(grid <= out.len())]
    safe fn positions(out: &mut [u32]);
    #[requires(block == 64 && threads <= numbers.len() && grid <= out.len())]
    safe fn sums(out: &mut [f32], numbers: &[f32]);
    #[requires(block == 64 && threads <= out.len())]
    safe fn ring(out: &mut [u32]);
    #[requires(block == 1 && grid <= 8 * out.len())]
    safe fn arrivals(out: &mut [u32]);
    fn too_early(out: &mut [u32]);
    fn too_late(out: &mut [u32]);
}

/// The emulator with all checks, or the GPU.
fn checking() -> Device {
    let device = device();
    if !device.is_emulator() {
        return device;
    }
    emulator_with(|options| (options.check_uninitialized, options.check_shared_races) = (true, true))
}

cuda_graph! {
    graph Clusters {
        device places: [u32; 32];
        device alone: [u32; 4];
        device numbers: [f32; 1024];
        device totals: [f32; 16];
        device around: [u32; 1024];
        device arrived: [u32; 4];

        memset ones = numbers <- 1.0;
        memset two = numbers[512..514] <- 2.0 after ones;
        #[cluster(2, 1, 2)]
        kernel placed = positions<<<(4, 2, 4), 32>>>(&mut places);
        kernel lonely = positions<<<4, 32>>>(&mut alone);
        #[cluster(4)]
        kernel added = sums<<<16, 64>>>(&mut totals, &numbers) after two;
        #[cluster(8)]
        kernel passed = ring<<<16, 64>>>(&mut around);
        #[cluster(8)]
        #[cooperative]
        kernel waited = arrivals<<<32, 1>>>(&mut arrived);
    }
}

#[test]
fn blocks_of_a_cluster_use_each_other() -> Result<()> {
    for device in [device(), checking()] {
        let mut graph = Clusters::build(&device)?;
        for _ in 0..2 {
            graph.launch()?;
            let place = |b: u32| {
                let (x, y, z) = (b % 4, b / 4 % 2, b / 8);
                let (inside, sides) = ([x % 2, 0, z % 2], [2, 1, 2]);
                let digits = [inside, sides, [x / 2, y, 2]].concat();
                digits.iter().rev().fold(0, |number, digit| 10 * number + digit)
            };
            assert_eq!(*graph.places()?.read()?, std::array::from_fn(|b| place(b as u32)));
            let lonely = |b: usize| 400_000_000 + 1_000_000 * b as u32 + 111_000;
            assert_eq!(*graph.alone()?.read()?, std::array::from_fn(lonely));
            assert_eq!(graph.totals()?.read()?[..4], [256.0, 256.0, 258.0, 256.0]);
            let two_before = |i: u32| {
                let (block, t) = (i / 64, i % 64);
                (block / 8 * 8 + (block % 8 + 6) % 8) * 64 + 63 - t
            };
            let expected: [u32; 1024] = std::array::from_fn(|i| two_before(i as u32));
            assert_eq!(*graph.around()?.read()?, expected);
            assert_eq!(*graph.arrived()?.read()?, [28; 4]);
        }
    }
    Ok(())
}

cuda_graph! {
    graph Early {
        device out: [u32; 4];
        // SAFETY: it is launched on the emulator alone, which refuses what it does.
        #[cluster(2)]
        kernel k = unsafe too_early<<<4, 32>>>(&mut out);
    }

    graph Late {
        device out: [u32; 4];
        // SAFETY: it is launched on the emulator alone, which refuses what it does.
        #[cluster(2)]
        kernel k = unsafe too_late<<<4, 32>>>(&mut out);
    }
}

#[test]
fn the_emulator_finds_what_blocks_of_a_cluster_do_wrong() {
    fn fault(built: Result<impl AnyGraph>) -> Error {
        refused(launched(built).and_then(|graph| graph.synchronize()))
    }
    fault(Early::build(&emulator_with(|options| {
        options.check_uninitialized = true
    })))
    .says("load of 4 bytes at offset 0 of shared memory, which nothing has written");
    let race = fault(Early::build(&emulator_with(|options| {
        options.check_shared_races = true
    })));
    has(
        race,
        &["of shared memory races with a", "of block 0 of the cluster, PTX line"],
    );
    fault(Late::build(&Device::emulator())).says("of shared memory of a block of the cluster that has come to its end");
}
