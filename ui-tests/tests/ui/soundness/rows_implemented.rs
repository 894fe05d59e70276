//! What a place's type says of its parts cannot be changed from outside: references into memory rest on it.
use graph_runtime::Rows;

struct Bytes([u8; 9]);

impl Rows for Bytes {
    type Row = u64;
}

fn main() {}
