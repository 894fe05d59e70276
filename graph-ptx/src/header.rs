//! The directives at the beginning of a text, and newer ones in their place.

use crate::lexer::{Kind, Lexer};
use std::borrow::Cow;
use std::ops::Range;

/// The first version of PTX and the first target that have `griddepcontrol`: with it, kernels wait for the kernels
/// before them, and let those after them go.
const PROGRAMMATIC_VERSION: &str = "7.8";
const PROGRAMMATIC_TARGET: &str = "sm_90";

/// The directives at the beginning of a text.
pub(crate) struct Header {
    /// Whether the text has `griddepcontrol`, or means the same in a version and for a target that do.
    pub(crate) can_be_programmatic: bool,
    /// The version and the target, if they are older than `griddepcontrol`, and what replaces them.
    older: Vec<(Range<usize>, &'static str)>,
}

impl Header {
    /// Reads the version and the target; `None` if the text does not begin with them.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let mut lexer = Lexer::new(text);
        let mut directive = |name: &str| {
            let is_it = lexer.next().ok()?.kind == Kind::Dotted(name);
            let token = lexer.next().ok().filter(|_| is_it)?;
            match token.kind {
                Kind::Number(value) | Kind::Word(value) => Some((token.start..token.start + value.len(), value)),
                _ => None,
            }
        };
        let (at_version, version) = directive("version")?;
        let (major, minor) = version.split_once('.')?;
        let version: (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
        let (at_target, target) = directive("target")?;
        let number = target.strip_prefix("sm_")?;
        let digits = number.bytes().take_while(u8::is_ascii_digit).count();
        let target: u32 = number[..digits].parse().ok()?;
        let is_for_later = digits == number.len(); // not `sm_90a`
        let older = [
            (version < (7, 8)).then_some((at_version, PROGRAMMATIC_VERSION)),
            (target < 90).then_some((at_target, PROGRAMMATIC_TARGET)),
        ];
        Some(Self {
            can_be_programmatic: version >= (6, 0) && (target >= 90 || (target >= 70 && is_for_later)),
            older: older.into_iter().flatten().collect(),
        })
    }

    /// Writes the beginning of the text, with what `griddepcontrol` needs. Returns the place from which on the text
    /// stays.
    pub(crate) fn raise(&self, text: &str, written: &mut String) -> usize {
        let mut from = 0;
        for (older, newer) in &self.older {
            written.push_str(&text[from..older.start]);
            written.push_str(newer);
            from = older.end;
        }
        from
    }
}

/// Returns the text with a version and a target that have `griddepcontrol`, if its own are older; `None` if it would
/// mean something else then.
pub fn raised_for_programmatic(text: &str) -> Option<Cow<'_, str>> {
    let header = Header::of(text).filter(|header| header.can_be_programmatic)?;
    if header.older.is_empty() {
        return Some(Cow::Borrowed(text));
    }
    let mut written = String::with_capacity(text.len());
    let from = header.raise(text, &mut written);
    written.push_str(&text[from..]);
    Some(Cow::Owned(written))
}
