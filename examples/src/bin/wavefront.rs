//! A wavefront: the edit distances between all beginnings of two texts, as a table of 64 x 64 blocks.
//!
//! A block needs the blocks above it and to its left. `each` in `each` says only that, so all blocks of a diagonal can
//! run at the same time. It runs on the first CUDA device, or on the CPU emulator if there is none.

use examples::program::{random, start};
use graph_runtime::{BoxError, cuda_graph, cuda_kernels};

/// Letters of each text in a block.
const SIDE: usize = 16;
/// Blocks in a row and in a column.
const BLOCKS: usize = 64;
/// Blocks in a row and in a column, with the margin: its blocks belong to no letters.
const WIDTH: usize = BLOCKS + 1;
/// Letters of each text.
const LETTERS: usize = BLOCKS * SIDE;

#[cuda_kernels("kernels/wavefront.ptx")]
unsafe extern "C" {
    /// The edit distances in a block of the table, from the blocks above it, to its left and above that; a thread for
    /// each row
    #[requires(threads == 16 && block.x == 16)]
    safe fn distances(
        above: &[[u32; 16]; 16],
        left: &[[u32; 16]; 16],
        corner: &[[u32; 16]; 16],
        a: &[u8; 16],
        b: &[u8; 16],
        cells: &mut [[u32; 16]; 16],
    );
}

cuda_graph! {
    /// The edit distances between all beginnings of `text_a` and `text_b`.
    graph Wavefront {
        host   text_a: [[u8; SIDE]; BLOCKS];
        host   text_b: [[u8; SIDE]; BLOCKS];
        host   top:    [[[u32; SIDE]; SIDE]; WIDTH];
        host   side:   [[[[u32; SIDE]; SIDE]; 1]; BLOCKS];
        host   output: [[[[u32; SIDE]; SIDE]; WIDTH]; WIDTH];
        device a:      [[u8; SIDE]; BLOCKS];
        device b:      [[u8; SIDE]; BLOCKS];
        device table:  [[[[u32; SIDE]; SIDE]; WIDTH]; WIDTH];

        memcpy upload_a    = text_a -> a;
        memcpy upload_b    = text_b -> b;
        memcpy upload_top  = top -> table[0];
        memcpy upload_side = side -> table[1..][..1];
        join   start       after upload_a, upload_b, upload_top, upload_side;
        each i in 1..WIDTH {
            each j in 1..WIDTH {
                kernel block = distances<<<1, SIDE>>>(&table[i - 1][j], &table[i][j - 1], &table[i - 1][j - 1], &a[i - 1], &b[j - 1], &mut table[i][j])
                    after start, block(i - 1, j), block(i, j - 1);
            }
        }
        memcpy download = table -> output  after block;
    }
}

fn main() -> Result<(), BoxError> {
    let device = start(&[Wavefront::PLAN])?;
    let mut graph = Wavefront::build(&device)?;
    let [a, b] = [7, 11].map(text);
    graph.text_a_mut()?.as_flattened_mut().copy_from_slice(&a);
    graph.text_b_mut()?.as_flattened_mut().copy_from_slice(&b);
    // The distance between an empty text and another is the other's length.
    for (block, rows) in graph.top_mut()?.iter_mut().enumerate() {
        for (column, cell) in rows[SIDE - 1].iter_mut().enumerate() {
            *cell = before(block, column);
        }
    }
    for (block, [rows]) in (1..).zip(graph.side_mut()?.iter_mut()) {
        for (row, cells) in rows.iter_mut().enumerate() {
            cells[SIDE - 1] = before(block, row);
        }
    }
    graph.launch()?;

    let (expected, output) = (distances_on_the_cpu(&a, &b), graph.output()?);
    for (row, distances) in expected.iter().enumerate() {
        for (column, &distance) in distances.iter().enumerate() {
            let block = &output[row / SIDE + 1][column / SIDE + 1];
            let found = block[row % SIDE][column % SIDE];
            if found != distance {
                return Err(format!("the distance at {row}, {column} is {found}, expected {distance}").into());
            }
        }
    }
    println!(
        "check:   {} blocks of edit distances, all as on the CPU; that of the texts is {}",
        BLOCKS * BLOCKS,
        expected[LETTERS - 1][LETTERS - 1]
    );
    Ok(())
}

/// The number of letters up to a row or column of a block, which is counted from that of the margin.
fn before(block: usize, index: usize) -> u32 {
    (block * SIDE + index + 1).saturating_sub(SIDE) as u32
}

/// A text of four letters.
fn text(seed: u32) -> Vec<u8> {
    let mut random = random(seed);
    (0..LETTERS).map(|_| b"ACGT"[(2.0 * random() + 2.0) as usize]).collect()
}

/// The table, row by row, in plain Rust.
fn distances_on_the_cpu(a: &[u8], b: &[u8]) -> Vec<Vec<u32>> {
    let mut above: Vec<u32> = (0..=b.len() as u32).collect();
    let mut table = Vec::new();
    for (row, letter) in (1..).zip(a) {
        let mut distances = vec![row];
        for (column, other) in b.iter().enumerate() {
            let both = above[column] + u32::from(letter != other);
            distances.push(both.min(above[column + 1] + 1).min(distances[column] + 1));
        }
        table.push(distances[1..].to_vec());
        above = distances;
    }
    table
}
