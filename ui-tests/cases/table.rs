//! Tables of cases, as text: what the macros say about programs with mistakes.
//!
//! A table has the name of a diagnostic code and the cases whose first message has that code. A case is a heading, a
//! program, a line of dashes, and the messages:
//!
//! ```text
//! ## The heading.
//! cuda_graph! { .. }
//! ----
//! 4:9-13 the message [code]
//!     note: ..
//! ```
//!
//! `4:9-13` are the line and the columns of the tokens that rustc underlines, with the first column after them. If they
//! end on another line, it stands before that column: `4:9-6:2`. Two unit tests include this file: the one of
//! `graph-macros` expands the programs, the one of `ui-tests` gives them all to rustc.

use std::fmt::{self, Write};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The line between a program and its messages.
const DASHES: &str = "----";
/// The beginning of a heading.
const HEADING: &str = "## ";
/// The indentation of a message's further lines.
const INDENT: &str = "    ";

/// The cases of one file.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) path: PathBuf,
    pub(crate) cases: Vec<Case>,
}

/// A program with mistakes, and the messages about them.
#[derive(Debug)]
pub(crate) struct Case {
    /// The line of the heading in the file.
    pub(crate) line: usize,
    pub(crate) heading: String,
    pub(crate) program: String,
    /// The messages in the order of their places.
    pub(crate) messages: Vec<Message>,
}

/// A message and its place. Lines and columns begin at 1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Message {
    pub(crate) start: (usize, usize),
    pub(crate) end: (usize, usize),
    pub(crate) text: String,
}

/// All tables, sorted by their paths.
pub(crate) fn tables(folder: &Path) -> io::Result<Vec<Table>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "txt") {
            paths.push(path);
        }
    }
    paths.sort();
    paths.into_iter().map(Table::read).collect()
}

impl Table {
    fn read(path: PathBuf) -> io::Result<Self> {
        let text = fs::read_to_string(&path)?;
        let cases = cases(&text).map_err(|(line, reason)| {
            let place = format!("{}:{line}: {reason}", path.display());
            io::Error::new(io::ErrorKind::InvalidData, place)
        })?;
        Ok(Self { path, cases })
    }

    /// The code whose table it is, which is the name of the file.
    pub(crate) fn code(&self) -> String {
        let name = self.path.file_stem().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, case) in self.cases.iter().enumerate() {
            let gap = if index == 0 { "" } else { "\n" };
            writeln!(f, "{gap}{HEADING}{}\n{}{DASHES}", case.heading, case.program)?;
            for message in &case.messages {
                writeln!(f, "{message}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (start, end) = (self.start, self.end);
        write!(f, "{}:{}-", start.0, start.1)?;
        if end.0 != start.0 {
            write!(f, "{}:", end.0)?;
        }
        write!(f, "{} {}", end.1, self.text.replace('\n', &format!("\n{INDENT}")))
    }
}

/// A line with a mistake, and what is wrong with it.
type Wrong = (usize, &'static str);

fn cases(text: &str) -> Result<Vec<Case>, Wrong> {
    let mut cases: Vec<Case> = Vec::new();
    let mut in_program = false;
    for (line, content) in (1..).zip(text.lines()) {
        if let Some(heading) = content.strip_prefix(HEADING) {
            cases.push(Case {
                line,
                heading: heading.to_owned(),
                program: String::new(),
                messages: Vec::new(),
            });
            in_program = true;
            continue;
        }
        let case = cases.last_mut().ok_or((line, "expected a heading"))?;
        if content == DASHES {
            in_program = false;
        } else if in_program {
            let _ = writeln!(case.program, "{content}");
        } else if let Some(further) = content.strip_prefix(INDENT) {
            let message = case.messages.last_mut().ok_or((line, "expected a message"))?;
            let _ = write!(message.text, "\n{further}");
        } else if !content.is_empty() {
            let message = message(content).ok_or((line, "expected `line:column-column message`"))?;
            case.messages.push(message);
        }
    }
    Ok(cases)
}

/// The first line of a message.
fn message(line: &str) -> Option<Message> {
    let (place, text) = line.split_once(' ')?;
    let (start, end) = place.split_once('-')?;
    let start = position(start)?;
    let end = match end.parse() {
        Ok(column) => (start.0, column),
        Err(_) => position(end)?,
    };
    let text = text.to_owned();
    Some(Message { start, end, text })
}

fn position(text: &str) -> Option<(usize, usize)> {
    let (line, column) = text.split_once(':')?;
    Some((line.parse().ok()?, column.parse().ok()?))
}
