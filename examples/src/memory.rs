//! A table of the memory that a program holds at each of its stages.

use graph_runtime::Device;
use std::fmt;

/// The memory of one run of a program, stage by stage.
#[derive(Clone, Debug)]
pub struct Stages {
    device: Device,
    /// The bytes that were free on the device before the first stage.
    free: Option<usize>,
    allocated: usize,
    rows: Vec<Stage>,
}

#[derive(Clone, Debug)]
struct Stage {
    name: String,
    /// The bytes that the program has asked for.
    allocated: usize,
    /// The bytes that the device has less than at the start; `None` on the emulator.
    taken: Option<usize>,
}

impl Stages {
    /// Begins to count, with nothing allocated.
    pub fn new(device: &Device) -> Self {
        Self {
            device: device.clone(),
            free: free(device),
            allocated: 0,
            rows: Vec::new(),
        }
    }

    /// Ends a stage in which the program asked for `more` bytes of device memory.
    pub fn end(&mut self, name: &str, more: usize) {
        self.allocated += more;
        let taken = self.free.zip(free(&self.device));
        self.rows.push(Stage {
            name: name.to_owned(),
            allocated: self.allocated,
            taken: taken.map(|(before, now)| before.saturating_sub(now)),
        });
    }

    /// Fails if the last stage has more memory than the one whose name begins with a digit first: `50 steps`.
    ///
    /// # Errors
    /// The message has both.
    pub fn check_steady(&self) -> Result<(), String> {
        let mut steady = self
            .rows
            .iter()
            .filter(|stage| stage.name.starts_with(|first: char| first.is_ascii_digit()));
        let (Some(first), Some(last)) = (steady.next(), self.rows.last()) else {
            return Err("no steps were counted".to_owned());
        };
        if last.allocated > first.allocated || last.taken > first.taken {
            return Err(format!("memory grows: {first:?}, and then {last:?}"));
        }
        Ok(())
    }
}

/// The free bytes of a GPU.
fn free(device: &Device) -> Option<usize> {
    Some(device.context()?.mem_get_info().ok()?.0)
}

/// Several runs side by side, each with a heading. The stages are those of the first.
pub struct Table<'a>(pub &'a [(&'a str, Stages)]);

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "memory:  {:<18}", "KiB")?;
        for (heading, _) in self.0 {
            write!(f, "{heading:>28}")?;
        }
        write!(f, "\n         {:<18}", "")?;
        for _ in self.0 {
            write!(f, "{:>16}{:>12}", "allocated", "taken")?;
        }
        let Some((_, first)) = self.0.first() else {
            return Ok(());
        };
        for (index, stage) in first.rows.iter().enumerate() {
            write!(f, "\n         {:<18}", stage.name)?;
            for (_, stages) in self.0 {
                let Some(stage) = stages.rows.get(index) else {
                    continue;
                };
                let taken = stage
                    .taken
                    .map_or("-".to_owned(), |bytes| bytes.div_ceil(1024).to_string());
                write!(f, "{:>16}{taken:>12}", stage.allocated.div_ceil(1024))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_add_up() {
        let mut stages = Stages::new(&Device::emulator());
        stages.end("data ready", 2048);
        stages.end("graph built", 1);
        stages.end("50 steps", 0);
        assert_eq!(stages.check_steady(), Ok(()));
        let text = Table(&[("here", stages.clone())]).to_string();
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(
            rows[2..],
            [
                ["data", "ready", "2", "-"],
                ["graph", "built", "3", "-"],
                ["50", "steps", "3", "-"]
            ]
        );
        stages.end("100 steps", 1024);
        assert!(stages.check_steady().is_err());
    }
}
