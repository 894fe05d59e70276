//! The order of the house: the direction and the width of arrows between modules, the columns of comments and Markdown,
//! and the other promises of `docs/architecture.md`. `cargo xtask house` prints what is amiss, and `cargo test` fails
//! on it.

mod widths;
mod arrows;
mod manifests;
mod promises;
mod resolve;
mod source;
mod columns;

#[cfg(test)]
mod tests;

use crate::Result;
use crate::workspace::{self, Member};
use source::Source;
use std::collections::BTreeMap;
use std::path::Path;
use widths::Widths;

/// The rule that a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rule {
    Rises,
    Circle,
    Width,
    Promise,
    Wide,
}

/// The findings in a crate, or in the files that belong to no crate.
struct Report {
    name: String,
    /// For each rule, the messages, each with the group that it is printed in.
    findings: BTreeMap<Rule, Vec<(String, String)>>,
    /// The names of the arrows between rooms.
    widths: Widths,
}

impl Report {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            findings: BTreeMap::new(),
            widths: Widths::new(),
        }
    }

    fn add(&mut self, rule: Rule, messages: impl IntoIterator<Item = String>) {
        self.add_in_groups(rule, messages.into_iter().map(|message| (String::new(), message)));
    }

    fn add_in_groups(&mut self, rule: Rule, messages: impl IntoIterator<Item = (String, String)>) {
        let mut messages = messages.into_iter().peekable();
        if messages.peek().is_some() {
            self.findings.entry(rule).or_default().extend(messages);
        }
    }

    fn count(&self, rule: Rule) -> usize {
        self.findings.get(&rule).map_or(0, Vec::len)
    }

    /// Every message, in groups, the largest first.
    fn print(&self) {
        for (rule, findings) in &self.findings {
            let title = match rule {
                Rule::Rises => "arrows that run up",
                Rule::Circle => "circles",
                Rule::Width => "arrows that have grown",
                Rule::Promise => "broken promises of docs/architecture.md",
                Rule::Wide => "comments and Markdown past column 120",
            };
            println!("{}: {title}: {}", self.name, findings.len());
            let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
            for (group, message) in findings {
                groups.entry(group).or_default().push(message);
            }
            let mut groups: Vec<_> = groups.into_iter().collect();
            groups.sort_by_key(|(_, messages)| std::cmp::Reverse(messages.len()));
            for (group, messages) in groups {
                if !group.is_empty() {
                    println!("  {group}: {}", messages.len());
                }
                messages.iter().for_each(|message| println!("    {message}"));
            }
        }
    }
}

/// Prints the findings in `crates`, or all if none are given; `files` is the name for the files that are in no crate.
///
/// # Errors
/// If anything is amiss, or if a file cannot be read.
pub(crate) fn check(root: &Path, crates: &[&str]) -> Result<()> {
    let mut reports = reports(root)?;
    if let Some(unknown) = crates
        .iter()
        .find(|name| reports.iter().all(|report| report.name != **name))
    {
        let known: Vec<&str> = reports.iter().map(|report| report.name.as_str()).collect();
        return Err(format!("no crate is called `{unknown}`; there are {}", known.join(", ")).into());
    }
    reports.retain(|report| crates.is_empty() || crates.contains(&report.name.as_str()));
    reports.iter().for_each(Report::print);
    println!(
        "\n{:16}{:>8}{:>9}{:>8}{:>10}{:>8}",
        "", "rising", "circles", "grown", "promises", "wide"
    );
    for report in &reports {
        let count = |rule| report.count(rule);
        println!(
            "{:16}{:>8}{:>9}{:>8}{:>10}{:>8}",
            report.name,
            count(Rule::Rises),
            count(Rule::Circle),
            count(Rule::Width),
            count(Rule::Promise),
            count(Rule::Wide)
        );
    }
    match reports.iter().filter(|report| !report.findings.is_empty()).count() {
        0 => Ok(()),
        amiss => Err(format!("{amiss} of {} are not in order", reports.len()).into()),
    }
}

/// Writes the table of the widths of arrows as they are, and prints which have grown.
///
/// # Errors
/// If a file cannot be read or written.
pub(crate) fn write_widths(root: &Path) -> Result<()> {
    let reports = reports(root)?;
    for report in &reports {
        let grown = report.findings.get(&Rule::Width).into_iter().flatten();
        grown.for_each(|(_, message)| println!("{message}"));
    }
    let widths: Widths = reports.into_iter().flat_map(|report| report.widths).collect();
    Ok(std::fs::write(root.join(widths::TABLE), widths::to_text(&widths))?)
}

/// A report for each crate of the workspace in `root`, and one for the files outside of them.
fn reports(root: &Path) -> Result<Vec<Report>> {
    let members = workspace::members(root)?;
    let table = widths::parse(&std::fs::read_to_string(root.join(widths::TABLE))?);
    let mut reports = Vec::new();
    for member in &members {
        let mut report = report(root, member)?;
        report.add(Rule::Width, widths::grown(&report.widths, &table));
        reports.push(report);
    }
    let mut outside = Report::new("files");
    outside.add(Rule::Promise, manifests::missing(root)?);
    outside.add(Rule::Promise, manifests::too_new(root)?);
    for file in columns::files(root)? {
        let owner = members.iter().position(|member| file.starts_with(&member.folder));
        let name = workspace::relative(root, &file).to_string();
        let text = std::fs::read_to_string(&file)?;
        let wide = columns::wide(&file, &text);
        let report = owner.map_or(&mut outside, |owner| &mut reports[owner]);
        report.add(Rule::Wide, wide.into_iter().map(|line| format!("{name}:{line}")));
        if owner.is_some_and(|owner| promises::has_lost_tests(&members[owner], &file, &text)) {
            let message = format!("{name}: has unit tests, which never run: its Cargo.toml says `test = false`");
            report.add(Rule::Promise, [message]);
        }
    }
    reports.push(outside);
    Ok(reports)
}

/// Returns the findings in the modules and dependencies of `member`.
fn report(root: &Path, member: &Member) -> Result<Report> {
    let tour = std::fs::read_to_string(root.join("docs/architecture.md"))?;
    let mut report = Report::new(&member.name);
    for file in &member.roots {
        let file = file.strip_prefix(root)?;
        let source = Source::read(file, &|path| std::fs::read_to_string(root.join(path)).ok())?;
        let arrows = arrows::arrows(&source);
        report.add_in_groups(Rule::Rises, arrows::rising(&source, &arrows));
        report.add(Rule::Circle, arrows::circles(&source, &arrows));
        report.add(Rule::Promise, promises::of_modules(&member.name, &source));
        report.add(Rule::Promise, promises::of_tour(&member.name, &source, &tour));
        for (arrow, names) in widths::widths(&member.name, &source, &arrows) {
            report.widths.entry(arrow).or_default().extend(names);
        }
    }
    report.add(Rule::Promise, promises::of_dependencies(member));
    Ok(report)
}
