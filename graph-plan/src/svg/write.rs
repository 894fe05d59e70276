//! Pieces of SVG as text.

use super::layered::{Size, Stop};
use std::fmt::{self, Write as _};

/// The width of a character of a text of height 1, in the monospace fonts that [`STYLE`](super::style::STYLE) names.
const ADVANCE: f64 = 0.605;

/// The width of a text. Letters that are not ASCII may be twice as wide as others.
pub(super) fn width(text: &str, height: f64) -> f64 {
    let columns: usize = text.chars().map(|letter| if letter.is_ascii() { 1 } else { 2 }).sum();
    columns as f64 * height * ADVANCE
}

/// A text without what means something else in XML, and without line breaks that would end HTML in Markdown.
pub(super) struct Escaped<'t>(pub(super) &'t str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in self.0.chars() {
            match letter {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\n' => f.write_str("&#10;")?,
                letter if letter.is_control() => f.write_char(' ')?,
                letter => f.write_char(letter)?,
            }
        }
        Ok(())
    }
}

/// Text with at most `limit` letters: the middle of longer text is left out.
pub(super) fn shortened(text: &str, limit: usize) -> String {
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= limit {
        return text.to_owned();
    }
    let first = (limit - 1).div_ceil(2);
    let last = limit - 1 - first;
    let (start, end) = (&letters[..first], &letters[letters.len() - last..]);
    start.iter().chain(&['…']).chain(end).collect()
}

/// Names in lines of at most `limit` letters, at most `lines` of them; the last says how many names are left out.
pub(super) fn listed(names: &[&str], limit: usize, lines: usize) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let name = shortened(name, limit - 6);
        let (left, full) = (names.len() - index, found.len() == lines);
        match found.last_mut() {
            Some(line) if line.chars().count() + 2 + name.chars().count() + 6 <= limit => {
                line.push_str(", ");
                line.push_str(&name);
            }
            Some(line) if full => {
                line.push_str(&format!(", +{left}"));
                break;
            }
            _ => {
                if let Some(line) = found.last_mut() {
                    line.push(',');
                }
                found.push(name);
            }
        }
    }
    found
}

/// A line of text whose left end, or middle, is at `x`.
pub(super) fn text(class: &str, x: f64, y: f64, text: &str) -> String {
    format!(
        "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>\n",
        Escaped(text)
    )
}

/// A rectangle.
pub(super) fn rectangle(class: &str, (x, y): (f64, f64), size: Size, rest: &str) -> String {
    let Size { width, height } = size;
    format!(
        "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"5\"{rest}/>\n"
    )
}

/// Contents, moved.
pub(super) fn moved((x, y): (f64, f64), contents: &str) -> String {
    format!("<g transform=\"translate({x:.1} {y:.1})\">\n{contents}</g>\n")
}

/// The path of a line: vertical in rows, curved between them.
pub(super) fn path(stops: &[Stop]) -> String {
    let mut path = String::new();
    let mut before: Option<&Stop> = None;
    for stop in stops {
        let Stop { x, top, bottom } = stop;
        match before {
            None => path.push_str(&format!("M{x:.1} {top:.1}")),
            Some(before) if (before.x - x).abs() < 0.05 => path.push_str(&format!("V{top:.1}")),
            Some(before) => {
                let middle = f64::midpoint(before.bottom, *top);
                path.push_str(&format!(
                    "C{:.1} {middle:.1} {x:.1} {middle:.1} {x:.1} {top:.1}",
                    before.x
                ));
            }
        }
        if bottom > top {
            path.push_str(&format!("V{bottom:.1}"));
        }
        before = Some(stop);
    }
    path
}

/// An arrowhead at the end of a line that leads down, or up.
pub(super) fn arrowhead(x: f64, y: f64, is_upward: bool) -> String {
    let back = if is_upward { 7 } else { -7 };
    format!("<path class=\"head\" d=\"M{x:.1} {y:.1}l-3.5 {back}h7z\"/>\n")
}
