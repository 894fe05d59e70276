//! One mistake, in words.

use crate::Code;
use std::fmt;

/// The subject of a [`Diagnostic`], as an index into the [`Draft`](crate::Draft); the macro turns it into a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// A resource.
    Resource(usize),
    /// A node.
    Node(usize),
    /// An `after` edge.
    Edge(usize),
    /// An `after` edge between iterations.
    Shift(usize),
    /// A node's access to a resource.
    Access(usize),
}

/// One mistake: the cause is the message, facts are notes, and the help says how to mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The rule that was broken.
    pub code: Code,
    /// The place to point at.
    pub subject: Subject,
    /// One line, lower case, without full stop and without the code.
    pub message: String,
    /// Facts, one line each.
    pub notes: Vec<String>,
    /// A way to mend it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A diagnostic without notes or help.
    pub fn new(code: Code, subject: Subject, message: impl Into<String>) -> Self {
        Self {
            code,
            subject,
            message: message.into(),
            notes: Vec::new(),
            help: None,
        }
    }

    /// Reads a diagnostic from the text of a `const fn`, which has the form that [`Display`](fmt::Display) writes.
    #[cold]
    pub fn parse(subject: Subject, text: &str) -> Self {
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        let coded = |code: &Code| Some((first.strip_suffix(&format!(" [{code}]"))?, *code));
        let (message, code) = Code::ALL.iter().find_map(coded).unwrap_or((first, Code::LaunchConfig));
        let diagnostic = Self::new(code, subject, message);
        lines.fold(diagnostic, |diagnostic, line| match line.split_once(": ") {
            Some(("note", note)) => diagnostic.note(note),
            Some(("help", help)) => diagnostic.help(help),
            Some(_) | None => diagnostic,
        })
    }

    /// Adds a fact.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Sets the help.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// The message and its code, then one line for each note and the help.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", self.message, self.code)?;
        for note in &self.notes {
            write!(f, "\nnote: {note}")?;
        }
        match &self.help {
            Some(help) => write!(f, "\nhelp: {help}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_faults_become_diagnostics() {
        let text = "node `a`: kernel `k` requires `x` [contract]\nnote: here x = 1: 2\nhelp: y: z";
        let diagnostic = Diagnostic::parse(Subject::Node(0), text);
        assert_eq!(diagnostic.code, Code::Contract);
        assert_eq!(diagnostic.notes, ["here x = 1: 2"]);
        assert_eq!(diagnostic.to_string(), text);
    }
}
