//! Cooperative launches whose blocks meet by CUDA's cooperative groups.

use crate::common::*;

const N: usize = 1000;
const ROUNDS: u32 = 5;

cuda_graph! {
    graph Ring(blocks: usize) {
        host   input: [u32; N];
        device a:     [u32; N];
        device b:     [u32; N];

        memcpy up = input -> a;
        #[cooperative]
        kernel k = rounds<<<blocks, 96>>>(&mut a, &mut b, N as u32, ROUNDS) after up;
    }
}

fn expected() -> Vec<u32> {
    let mut a: Vec<u32> = (0..N as u32).collect();
    for round in 0..ROUNDS {
        let sum = |i: usize| a[(i + 1) % N].wrapping_add(a[(i + N - 1) % N]);
        a = (0..N).map(|i| sum(i).wrapping_mul(3).wrapping_add(round)).collect();
    }
    a
}

#[test]
fn blocks_of_a_grid_meet_and_know_whether_they_can() -> Result<()> {
    for blocks in [1, 2, 7, 64] {
        let mut graph = Ring::build(&device(), blocks)?;
        for _ in 0..2 {
            *graph.input_mut()? = std::array::from_fn(|i| i as u32);
            graph.launch()?;
            assert_eq!(graph.a()?.read()?[..], expected(), "{blocks} blocks");
        }
    }

    let graph = launched(Ranks::build(&device()))?;
    let facts = |valid: u32| std::array::from_fn(|i| valid * 1_000_000 + i as u32 / 32 * 10_000 + 3000 + i as u32);
    assert_eq!(*graph.alone()?.read()?, facts(0));
    assert_eq!(*graph.together()?.read()?, facts(1));
    let expected = std::array::from_fn(|i| (i * 7 + (95 - i) * (95 - i)) as u32);
    assert_eq!(*graph.out()?.read()?, expected);
    Ok(())
}

cuda_graph! {
    graph Ranks {
        device alone:    [u32; 96];
        device together: [u32; 96];
        device numbers:  [u32; 96];
        device out:      [u32; 96];

        kernel apart = ranks<<<3, 32>>>(&mut alone);
        #[cooperative]
        kernel joint = ranks<<<3, 32>>>(&mut together);
        #[cooperative]
        kernel split = arrive_and_wait<<<3, 32>>>(&mut numbers, &mut out);
    }
}
