//! The visit itself, on the GPU machine: runs programs and scripts in turns and collects their lines.
//!
//! The scripts are started first, all at once: they take long to compile, and then wait until they are asked to
//! measure. A round measures each program and then its script, so that ours and PyTorch's are measured within seconds.

use super::figures::{Visit, Way, parse, parse_fastest, programs};
use crate::Result;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The rounds of a visit, if there is time for them.
const ROUNDS: usize = 5;
/// The time until all scripts must be ready: a script that is not is left out.
const PREPARATION: Duration = Duration::from_secs(200);
/// The time in which a script may compile in other modes than the default one.
const COMPILING: Duration = Duration::from_secs(150);
/// The time after which no other round begins.
const LAST_ROUND: Duration = Duration::from_secs(280);
/// The time that one program or script may take to measure.
const LIMIT: Duration = Duration::from_secs(60);

/// A script of `examples/pytorch`, which prepares its figures and then waits.
struct Script {
    name: &'static str,
    child: Child,
    /// A line asks for a measurement. Closed, it ends the script.
    input: Option<ChildStdin>,
    output: Receiver<String>,
}

/// Measures the programs in `bin` and the scripts in `pytorch`, both in the folder `here`, and returns the figures and
/// what failed. `only` has the names of the programs that are wanted; all, if it is empty.
pub(crate) fn measure(here: &Path, only: &[&str]) -> Result<(Visit, Vec<String>)> {
    let start = Instant::now();
    let mut visit = Visit::default();
    let mut failures = Vec::new();
    let device = output_of(
        "nvidia-smi",
        &["--query-gpu=name,driver_version", "--format=csv,noheader"],
    )?;
    visit
        .about
        .push(("Measured on".to_owned(), output_of("date", &["+%-d %B %Y"])?));
    visit.about.push(("GPU and driver:".to_owned(), device));
    let names: Vec<&str> = programs()
        .into_iter()
        .filter(|name| only.is_empty() || only.contains(name))
        .collect();
    let mut scripts: Vec<Script> = Vec::new();
    for name in &names {
        match here.join("data/examples/pytorch").join(format!("{name}.py")).is_file() {
            true => scripts.push(Script::start(here, name)?),
            false => failures.push(format!("{name}: there is no script in examples/pytorch")),
        }
    }
    scripts.retain_mut(
        |script| match script.lines_until("ready", PREPARATION.saturating_sub(start.elapsed())) {
            Ok(lines) => {
                let versions = lines
                    .iter()
                    .find_map(|line| Some(line.strip_prefix("device:")?.split_once(", ")?.1));
                if let (Some(versions), 2) = (versions, visit.about.len()) {
                    visit.about.push(("with".to_owned(), versions.to_owned()));
                }
                println!("{:.0} s: {}.py is ready", start.elapsed().as_secs_f64(), script.name);
                lines
                    .iter()
                    .filter(|line| line.starts_with("note:"))
                    .for_each(|line| println!("{line}"));
                true
            }
            Err(error) => {
                failures.push(error);
                false
            }
        },
    );
    let mut rounds = 0;
    while rounds < ROUNDS && (rounds == 0 || start.elapsed() < LAST_ROUND) {
        for name in &names {
            let mut lines = Vec::new();
            match run_program(here, name) {
                Ok(printed) => lines.extend(printed),
                Err(error) if rounds == 0 => failures.push(error),
                Err(_) => {}
            }
            if let Some(index) = scripts.iter().position(|script| script.name == *name) {
                match scripts[index].measure() {
                    Ok(printed) => lines.extend(printed),
                    Err(error) => {
                        failures.push(error);
                        drop(scripts.remove(index));
                    }
                }
            }
            lines
                .iter()
                .filter(|line| line.starts_with("note:"))
                .for_each(|line| println!("{line}"));
            for (row, way, times) in lines.iter().filter_map(|line| parse(line)) {
                visit.add(&row, way, times);
            }
            lines
                .iter()
                .filter_map(|line| parse_fastest(line))
                .for_each(|fastest| visit.add_fastest(fastest));
        }
        rounds += 1;
        println!("{:.0} s: round {rounds}", start.elapsed().as_secs_f64());
    }
    let command = match only {
        [] => "cargo xtask compare".to_owned(),
        only => format!("cargo xtask compare --only {}", only.join(",")),
    };
    visit.about.push(("by".to_owned(), format!("`{command}`")));
    visit.about.push(("rounds in turns:".to_owned(), rounds.to_string()));
    Ok((visit, failures))
}

/// Runs a program with `--bench` and returns its lines.
fn run_program(here: &Path, name: &str) -> Result<Vec<String>, String> {
    let program = here.join("bin").join(name);
    if !program.is_file() {
        return Err(format!("{name}: the program was not packed"));
    }
    let output = Command::new("timeout")
        .arg(LIMIT.as_secs().to_string())
        .arg(&program)
        .arg("--bench")
        .current_dir(here.join("data/examples"))
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{name}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{name}: {}\n{text}{errors}", output.status));
    }
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    match lines
        .iter()
        .any(|line| parse(line).is_some_and(|(_, way, _)| way == Way::Ours))
    {
        true => Ok(lines),
        false => Err(format!("{name} --bench printed no figure:\n{text}")),
    }
}

impl Script {
    fn start(here: &Path, name: &'static str) -> Result<Self> {
        let mut child = Command::new("python3")
            .arg(format!("{name}.py"))
            .args(["--serve", "--limit", &COMPILING.as_secs().to_string()])
            .current_dir(here.join("data/examples/pytorch"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log(here, name)?)
            .spawn()
            .map_err(|error| format!("cannot run python3: {error}"))?;
        let (sender, output) = channel();
        let (input, stdout) = (child.stdin.take(), child.stdout.take());
        std::thread::spawn(move || {
            let lines = stdout.into_iter().flat_map(|stdout| BufReader::new(stdout).lines());
            // The receiver is gone when the script is no longer wanted.
            lines.map_while(|line| sender.send(line.ok()?).ok()).for_each(drop);
        });
        Ok(Self {
            name,
            child,
            input,
            output,
        })
    }

    /// The lines up to `last`.
    fn lines_until(&mut self, last: &str, limit: Duration) -> Result<Vec<String>, String> {
        let deadline = Instant::now() + limit;
        let mut lines = Vec::new();
        loop {
            match self
                .output
                .recv_timeout(deadline.saturating_duration_since(Instant::now()))
            {
                Ok(line) if line == last => return Ok(lines),
                Ok(line) => lines.push(line),
                Err(RecvTimeoutError::Timeout) => {
                    return Err(format!("{}.py: no `{last}` within {} s", self.name, limit.as_secs()));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let text = lines.join("\n");
                    return Err(format!("{}.py ended; its log is in the output\n{text}", self.name));
                }
            }
        }
    }

    /// Lets the script measure once.
    fn measure(&mut self) -> Result<Vec<String>, String> {
        if let Some(input) = &mut self.input {
            input
                .write_all(b"\n")
                .map_err(|error| format!("{}.py: {error}", self.name))?;
        }
        self.lines_until("done", LIMIT)
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        drop(self.input.take()); // it ends when its input does
        let deadline = Instant::now() + Duration::from_secs(5);
        while Instant::now() < deadline {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The folder that the results are written to.
pub(crate) fn results(here: &Path) -> PathBuf {
    std::env::var_os("OUT").map_or_else(|| here.to_owned(), PathBuf::from)
}

/// A new file for what a script writes to standard error.
fn log(here: &Path, name: &str) -> Result<std::fs::File> {
    let path = results(here).join(format!("{name}.log"));
    std::fs::File::create(&path).map_err(|error| format!("cannot write {}: {error}", path.display()).into())
}

/// The first line that a command prints.
fn output_of(command: &str, arguments: &[&str]) -> Result<String> {
    let output = Command::new(command)
        .args(arguments)
        .env("LC_ALL", "C")
        .output()
        .map_err(|error| format!("cannot run {command}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{command} ended with {}", output.status).into());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().next().unwrap_or_default().to_owned())
}
