//! The table of a visit: as text for a terminal, and as a part of `docs/performance.md`.

use super::figures::{Visit, Way};
use crate::Result;
use std::fmt::Write as _;

/// The lines of a page around the part that is written.
const BEGIN: &str = "<!-- begin: cargo xtask compare --write -->";
const END: &str = "<!-- end -->";

/// The table for a terminal.
pub(crate) fn text(visit: &Visit) -> String {
    let mut out = format!("{:<24}", "row (us)");
    for title in Way::ALL.map(Way::title) {
        let _ = write!(out, "{title:>17}");
    }
    let _ = writeln!(out, "{:>9}{:>9}", "ratio", "wanted");
    for row in visit.rows() {
        let _ = write!(out, "{row:<24}");
        for way in Way::ALL {
            let times = visit
                .times(row, way)
                .map_or("-".to_owned(), |times| number(times.median));
            let _ = write!(out, "{times:>17}");
        }
        let ratio = ratio(visit, row).map_or("-".to_owned(), |ratio| format!("{ratio:.2}"));
        let (wanted, verdict) = match visit.verdict(row) {
            Some((bound, true)) => (number(bound), "pass"),
            Some((bound, false)) => (number(bound), "FAIL"),
            None => ("-".to_owned(), ""),
        };
        let _ = writeln!(out, "{ratio:>9}{wanted:>9}  {verdict}");
    }
    out
}

/// The table in Markdown, after the facts about the visit.
pub(crate) fn markdown(visit: &Visit) -> String {
    let mut out = String::new();
    let facts: Vec<String> = visit
        .about
        .iter()
        .map(|(name, fact)| format!("{name} {fact}"))
        .collect();
    let _ = writeln!(out, "{}\n", wrapped(&format!("{}.", facts.join("; "))));
    let _ = write!(out, "| row |");
    for title in Way::ALL.map(Way::title) {
        let _ = write!(out, " {title} |");
    }
    let _ = writeln!(out, " here / best of PyTorch | wanted |");
    let _ = writeln!(out, "| --- |{}", " ---: |".repeat(Way::ALL.len() + 2));
    for row in visit.rows() {
        let _ = write!(out, "| `{row}` |");
        for way in Way::ALL {
            let times = visit.times(row, way).map(|times| match way {
                Way::Ours => format!("**{}** us", number(times.median)),
                Way::Bare | Way::Eager | Way::Replay | Way::Compiled => format!("{} us", number(times.median)),
            });
            let _ = write!(out, " {} |", times.unwrap_or_default());
        }
        let ratio = ratio(visit, row).map_or(String::new(), |ratio| format!("{ratio:.2}"));
        let wanted = match visit.verdict(row) {
            Some((bound, true)) => format!("{} us", number(bound)),
            Some((bound, false)) => format!("{} us (not reached)", number(bound)),
            None => String::new(),
        };
        let _ = writeln!(out, " {ratio} | {wanted} |");
    }
    let ways = visit.rows().into_iter().filter_map(|row| {
        let (_, way) = best_of_pytorch(visit, row)?;
        Some(wrapped(&format!("* `{row}`: {}", visit.fastest(row, way)?)))
    });
    let ways: Vec<String> = ways.collect();
    if !ways.is_empty() {
        let _ = writeln!(
            out,
            "\nThe best of PyTorch, where a script has several ways:\n\n{}",
            ways.join("\n")
        );
    }
    let _ = writeln!(out, "\n![The table as a drawing](performance.svg)");
    out
}

/// The rows with a figure of PyTorch, each with the best of these, in Markdown.
pub(crate) fn summary(visit: &Visit) -> String {
    let mut out = "| program | here | best of PyTorch | ratio |\n| --- | ---: | ---: | ---: |\n".to_owned();
    for row in visit.rows() {
        if let (Some(ours), Some((best, way))) = (visit.times(row, Way::Ours), best_of_pytorch(visit, row)) {
            let (ours, ratio) = (number(ours.median), ours.median / best);
            let (best, way) = (number(best), way.word());
            let _ = writeln!(out, "| `{row}` | {ours} us | {best} us, {way} | {ratio:.2} |");
        }
    }
    out
}

/// Puts a text into a page, between its markers.
///
/// # Errors
/// If the page has no markers.
pub(crate) fn replace(page: &str, text: &str) -> Result<String> {
    let parts = page
        .split_once(BEGIN)
        .and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) = parts.ok_or_else(|| format!("the page has no `{BEGIN}` and `{END}`"))?;
    Ok(format!("{before}{BEGIN}\n\n{text}\n{END}{after}"))
}

/// Our time by the shortest of PyTorch's.
fn ratio(visit: &Visit, row: &str) -> Option<f64> {
    Some(visit.times(row, Way::Ours)?.median / best_of_pytorch(visit, row)?.0)
}

/// The shortest of PyTorch's times.
fn best_of_pytorch(visit: &Visit, row: &str) -> Option<(f64, Way)> {
    let theirs = [Way::Eager, Way::Replay, Way::Compiled].into_iter();
    let theirs = theirs.filter_map(|way| Some((visit.times(row, way)?.median, way)));
    theirs.min_by(|a, b| a.0.total_cmp(&b.0))
}

/// Three digits, or all of those before the point.
fn number(microseconds: f64) -> String {
    match microseconds {
        ..10.0 => format!("{microseconds:.2}"),
        ..100.0 => format!("{microseconds:.1}"),
        _ => format!("{microseconds:.0}"),
    }
}

/// The text in lines of at most 120 columns.
fn wrapped(text: &str) -> String {
    let mut out = String::new();
    let mut column = 0;
    for word in text.split(' ') {
        let width = word.chars().count();
        if column > 0 && column + 1 + width > 120 {
            out.push('\n');
            column = 0;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += width;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::figures::Times;
    use super::*;

    fn visit() -> Visit {
        let mut visit = Visit::default();
        let about = [("GPU:", "NVIDIA H200"), ("command:", "`x`")];
        visit
            .about
            .extend(about.map(|(name, fact)| (name.to_owned(), fact.to_owned())));
        for (row, way, median) in [
            ("infer", Way::Ours, 6.5),
            ("infer", Way::Eager, 106.4),
            ("infer", Way::Replay, 13.0),
            ("overlap plain", Way::Ours, 28.31),
        ] {
            let (low, high) = (median, median);
            visit.add(row, way, Times { median, low, high });
        }
        visit
    }

    #[test]
    fn the_table_has_all_columns() {
        let table = markdown(&visit());
        assert!(!table.contains("fastest"), "{table}");
        let page = replace(&format!("# T\n\n{BEGIN}\nold\n{END}\n\nmore\n"), &table).expect("markers");
        let expected = format!(
            "# T\n\n{BEGIN}\n\nGPU: NVIDIA H200; command: `x`.\n\n\
             | row | here | bare calls | PyTorch eager | replay | compile + replay | here / best of PyTorch | wanted |\n\
             | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n\
             | `infer` | **6.50** us |  | 106 us | 13.0 us |  | 0.50 | 6.00 us (not reached) |\n\
             | `overlap plain` | **28.3** us |  |  |  |  |  | 30.0 us |\n\n\
             ![The table as a drawing](performance.svg)\n\n{END}\n\nmore\n"
        );
        assert_eq!(page, expected);
        assert_eq!(replace(&page, &table).expect("markers"), expected);
        assert!(replace("no markers", &table).is_err());
    }

    #[test]
    fn the_table_names_the_fastest_ways() {
        let mut visit = visit();
        visit.add_fastest(("infer".to_owned(), Way::Eager, "slow".to_owned()));
        visit.add_fastest(("infer".to_owned(), Way::Replay, "beside".to_owned()));
        let expected = "\n\nThe best of PyTorch, where a script has several ways:\n\n* `infer`: beside\n\n![";
        assert!(markdown(&visit).contains(expected), "{}", markdown(&visit));
    }

    #[test]
    fn the_summary_has_what_is_compared() {
        let lines = summary(&visit());
        let expected = "| `infer` | 6.50 us | 13.0 us, replay | 0.50 |";
        assert_eq!(lines.lines().skip(2).collect::<Vec<_>>(), [expected]);
    }

    #[test]
    fn the_terminal_says_what_passes() {
        let text = text(&visit());
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].starts_with("infer "), "{text}");
        assert!(lines[1].ends_with("0.50     6.00  FAIL"), "{text}");
        assert!(lines[2].ends_with("-     30.0  pass"), "{text}");
    }

    #[test]
    fn long_texts_are_wrapped() {
        let text = wrapped(&"word ".repeat(60));
        assert!(text.lines().all(|line| line.len() <= 120), "{text}");
        assert!(text.lines().count() == 3, "{text}");
    }
}
