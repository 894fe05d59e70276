//! Users cannot implement `Rows`: references into memory rely on what a place's type says of its parts.
use graph_runtime::Rows;

struct Bytes([u8; 9]);

impl Rows for Bytes {
    type Row = u64;
}

fn main() {}
