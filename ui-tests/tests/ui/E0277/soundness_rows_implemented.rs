//! Users cannot implement `Rows`: references into memory rely on what a place's type says of its parts.
use graph_runtime::{Rows, Table};

struct Bytes([u8; 9]);

impl Rows for Bytes {
    type Row = u64;
    type Several = [u64];
    type Exactly<const LEN: usize> = [u64; LEN];
    type Stack = Table<u64>;
    type StackOf<const COLUMNS: usize> = [[u64; COLUMNS]];
    type StackExactly<const PARTS: usize, const COLUMNS: usize> = [[u64; COLUMNS]; PARTS];
}

fn main() {}
