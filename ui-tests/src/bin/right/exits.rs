//! `return`, `break` and `continue` that stay in the expression, and `?`, which is an error of `build`.
use graph_runtime::{Error, Result, cuda_graph};

fn number(text: &str) -> Result<u32> {
    text.parse().map_err(|_| Error::NoDriver)
}

cuda_graph! {
    graph Test(text: &str) {
        host   seen: u32;
        device data: [u32; 4];
        memset first = data <- number(text)?;
        for i in 0..4 {
            memset closure = data[i] <- (|| { if i > 2 { return 1 } 2 })() after first;
            memset inner = data[i] <- { fn one() -> u32 { return 1 } one() } after closure;
            memset looped = data[i] <- loop { if i > 2 { break 1 } else { break 2 } } after inner;
            memset next = data[i] <- { let mut sum = 0; for k in 0..9 { if k == 3 { continue } sum += k } sum } after looped;
            memset label = data[i] <- 'found: { if i == 1 { break 'found 7 } 8 } after next;
            memset quoted = data[i] <- stringify!(x).len() as u32 + { vec![1, 2].len() as u32 } after label;
        }
        call look = |&mut seen| { if *seen > 2 { return } *seen += 1; } after quoted;
    }
}
