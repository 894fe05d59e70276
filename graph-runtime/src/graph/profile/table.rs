//! A profile as a table.

use super::{NodeProfile, Profile};
use std::cmp::Reverse;
use std::fmt;
use std::time::Duration;

/// The columns of a line, at most.
const WIDTH: usize = 120;
/// The heads of the columns.
const GPU_COLUMNS: &str = "node                                 kind     kernel                      calls    median     total  share    bytes/s";
const EMULATOR_COLUMNS: &str = "node                     kind     kernel              calls   median  share    bytes       instr.  conflicts diverging";

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let launches = match self.launches {
            1 => "1 launch".to_owned(),
            count => format!("{count} launches"),
        };
        let graph = cut(&self.graph, 80);
        writeln!(f, "profile of `{graph}`: {launches} on {}", self.device())?;
        f.write_str(if self.is_of_gpu { GPU_COLUMNS } else { EMULATOR_COLUMNS })?;
        let mut nodes: Vec<&NodeProfile> = self.by_declaration.iter().filter(|node| node.calls > 0).collect();
        nodes.sort_by_key(|node| Reverse(node.launch));
        nodes.into_iter().try_for_each(|node| row(f, node, self.is_of_gpu))?;
        let idle = self.by_declaration.iter().filter(|node| node.calls == 0).count();
        if idle > 0 {
            write!(f, "\n({idle} more did not run)")?;
        }
        write!(f, "\ncritical path: {}", self.path_text())?;
        let idle = self.idle_time().map(|idle| format!(" ({} between nodes)", time(idle)));
        write!(
            f,
            "\na launch: {} along the critical path{}, {} node by node; {} of measuring left out",
            time(self.critical_time()),
            idle.unwrap_or_default(),
            time(self.serial_time()),
            time(self.overhead)
        )
    }
}

impl Profile {
    /// The names of the nodes on the critical path, as many as fit into a line.
    fn path_text(&self) -> String {
        let room = WIDTH - "critical path:  > 10000000 more".len();
        let path = self.critical_path();
        let mut text = String::new();
        for (index, node) in path.iter().enumerate() {
            let name = cut(&node.name, 30);
            if index > 0 && text.chars().count() + name.chars().count() + 3 > room {
                return format!("{text} > {} more", path.len() - index);
            }
            if index > 0 {
                text.push_str(" > ");
            }
            text.push_str(&name);
        }
        text
    }
}

fn row(f: &mut fmt::Formatter<'_>, node: &NodeProfile, is_of_gpu: bool) -> fmt::Result {
    let kernel = node.kernel.as_deref().unwrap_or("");
    let (kind, calls, median) = (node.kind.keyword(), node.calls, time(node.median));
    let share = node.share * 100.0;
    let row = if is_of_gpu {
        let rate = node.bytes_per_second().map(|rate| scaled(rate, "B"));
        let (name, kernel, rate) = (cut(&node.name, 36), cut(kernel, 24), rate.unwrap_or_default());
        let total = time(node.total);
        format!("{name:<36} {kind:<8} {kernel:<24} {calls:>8} {median:>9} {total:>9} {share:>5.1}% {rate:>10}")
    } else {
        let count = |count: Option<u64>| count.map(|count| count.to_string()).unwrap_or_default();
        let (name, kernel, bytes) = (
            cut(&node.name, 24),
            cut(kernel, 16),
            node.bytes.map(|bytes| scaled(bytes as f64, "B")),
        );
        let (bytes, instructions) = (bytes.unwrap_or_default(), count(node.instructions));
        let (conflicts, diverging) = (count(node.bank_conflicts), count(node.divergent_branches));
        format!(
            "{name:<24} {kind:<8} {kernel:<16} {calls:>8} {median:>8} {share:>5.1}% {bytes:>8} {instructions:>12} {conflicts:>10} {diverging:>9}"
        )
    };
    write!(f, "\n{}", row.trim_end())
}

/// A text of at most `most` characters; `…` stands for those that are left out.
fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most - 1).collect();
    format!("{kept}…")
}

/// A time with three digits and its unit.
fn time(time: Duration) -> String {
    let nanoseconds = time.as_nanos() as f64;
    match nanoseconds {
        _ if nanoseconds < 1e3 => format!("{nanoseconds:.0} ns"),
        _ if nanoseconds < 1e6 => format!("{} us", digits(nanoseconds / 1e3)),
        _ if nanoseconds < 1e9 => format!("{} ms", digits(nanoseconds / 1e6)),
        _ => format!("{} s", digits(nanoseconds / 1e9)),
    }
}

/// A number with three digits, the prefix of a power of 1000, and a unit.
fn scaled(number: f64, unit: &str) -> String {
    let prefixes = ["", "k", "M", "G", "T", "P"];
    let mut rest = number;
    let mut prefix = 0;
    while rest >= 999.5 && prefix + 1 < prefixes.len() {
        rest /= 1000.0;
        prefix += 1;
    }
    format!("{} {}{unit}", digits(rest), prefixes[prefix])
}

/// A number with three digits.
fn digits(number: f64) -> String {
    match number {
        _ if number < 9.995 => format!("{number:.2}"),
        _ if number < 99.95 => format!("{number:.1}"),
        _ => format!("{number:.0}"),
    }
}
