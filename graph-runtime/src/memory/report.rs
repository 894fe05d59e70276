//! The sizes of memory, as tables.

use std::fmt;

/// The memory that a graph uses, in bytes, by kind: [`Graph::memory_report`](crate::Graph::memory_report) returns it.
/// Shown as text, it is a table.
///
/// The driver's own memory for the graph, its nodes and its kernels is not counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryReport {
    /// The name of the graph, with the numbers and texts among its build arguments: `Sums(n = 1024)`.
    pub graph: String,
    /// The graph's own `device` memory, with the states of its random numbers.
    pub device: usize,
    /// The graph's scratch memory: its own, or its part of `pool`.
    pub scratch: usize,
    /// Memory of `capture` nodes, by [`CaptureStream::workspace`](crate::CaptureStream::workspace).
    pub workspaces: usize,
    /// Variables of modules that the graph declares as `constant`.
    pub variables: usize,
    /// The graph's own host memory, page-locked on CUDA.
    pub host: usize,
    /// Device memory that others may use as well.
    pub shared_device: usize,
    /// Host memory that others may use as well.
    pub shared_host: usize,
    /// The pool with the scratch memory, if it is in one.
    pub pool: Option<PoolReport>,
}

impl MemoryReport {
    /// The device memory that is there for this graph alone, in bytes: all but shared memory and the pool.
    pub fn own_device(&self) -> usize {
        let scratch = if self.pool.is_some() { 0 } else { self.scratch };
        self.device + scratch + self.workspaces + self.variables
    }
}

/// The memory of a [`Pool`](crate::Pool), in bytes. Shown as text, it is a table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolReport {
    /// The graphs that are built on the pool, from the oldest.
    pub graphs: Vec<PoolUser>,
    /// The bytes of device memory that the pool holds.
    pub held: usize,
}

/// A graph that is built on a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolUser {
    /// The name of the graph, as in [`MemoryReport::graph`].
    pub graph: String,
    /// The bytes that it needs.
    pub bytes: usize,
}

impl PoolReport {
    /// The bytes that the graphs would need without the pool.
    pub fn needed(&self) -> usize {
        self.graphs.iter().map(|user| user.bytes).sum()
    }

    /// The bytes that the pool saves.
    pub fn saved(&self) -> usize {
        self.needed().saturating_sub(self.held)
    }
}

impl fmt::Display for MemoryReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scratch = match self.pool {
            Some(_) => "scratch, in the pool",
            None => "scratch",
        };
        let rows = [
            ("device", self.device),
            (scratch, self.scratch),
            ("workspaces", self.workspaces),
            ("variables of modules", self.variables),
            ("host", self.host),
            ("shared, device", self.shared_device),
            ("shared, host", self.shared_host),
        ];
        let rows = rows.into_iter().filter(|(_, bytes)| *bytes > 0);
        table(f, &format!("graph `{}`", self.graph), rows)?;
        match &self.pool {
            Some(pool) => write!(f, "\n{pool}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for PoolReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let users = self.graphs.iter().map(|user| (user.graph.as_str(), user.bytes));
        let sums = [("sum", self.needed()), ("held", self.held), ("saved", self.saved())];
        let graphs = match self.graphs.len() {
            1 => "1 graph".to_owned(),
            count => format!("{count} graphs"),
        };
        table(f, &format!("pool of {graphs}"), users.chain(sums))
    }
}

/// Writes a heading and rows of names and bytes, without a line feed at the end.
fn table<'a>(f: &mut fmt::Formatter<'_>, heading: &str, rows: impl Iterator<Item = (&'a str, usize)>) -> fmt::Result {
    write!(f, "{heading:<28} {:>18}", "bytes")?;
    for (name, bytes) in rows {
        write!(f, "\n  {name:<26} {:>18}", grouped(bytes))?;
    }
    Ok(())
}

/// A number with a comma before every third digit from the end.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool() -> PoolReport {
        let user = |bytes| PoolUser {
            graph: "Infer".to_owned(),
            bytes,
        };
        PoolReport {
            graphs: vec![user(1 << 20), user(512)],
            held: 1 << 20,
        }
    }

    #[test]
    fn pools_are_tables() {
        let expected = "pool of 2 graphs                          bytes\n  \
                        Infer                               1,048,576\n  \
                        Infer                                     512\n  \
                        sum                                 1,049,088\n  \
                        held                                1,048,576\n  \
                        saved                                     512";
        assert_eq!(pool().to_string(), expected);
    }

    #[test]
    fn graphs_are_tables_of_what_they_have() {
        let mut report = MemoryReport {
            graph: "Infer".to_owned(),
            device: 12,
            scratch: 512,
            workspaces: 0,
            variables: 0,
            host: 1000,
            shared_device: 0,
            shared_host: 0,
            pool: None,
        };
        let expected = "graph `Infer`                             bytes\n  \
                        device                                     12\n  \
                        scratch                                   512\n  \
                        host                                    1,000";
        assert_eq!(report.to_string(), expected);
        assert_eq!(report.own_device(), 524);
        report.pool = Some(pool());
        assert_eq!(report.own_device(), 12);
        assert!(report.to_string().contains("scratch, in the pool"));
        assert!(report.to_string().contains("\npool of 2 graphs"));
    }
}
