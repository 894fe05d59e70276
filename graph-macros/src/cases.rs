//! The tables of `ui-tests/cases/`: each program's macro calls have exactly the messages that stand below it.
//!
//! `CASES=overwrite cargo test -p graph-macros cases` writes the messages anew; read the difference before you check it
//! in. A test of `ui-tests` shows that rustc says the same, and nothing more.

#[path = "../../ui-tests/cases/table.rs"]
mod table;

use crate::calls::{calls, is, root, word};
use graph_plan::Code;
use proc_macro2::{LineColumn, TokenStream, TokenTree};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use table::{Case, Message, tables};

/// The messages of a program's macro calls, in the order of their places.
fn messages(program: &str, folder: &Path) -> Vec<Message> {
    let tokens: TokenStream = program.parse().expect("tokens of Rust");
    let mut found = Vec::new();
    for call in calls(tokens, folder) {
        collect(call.expand(), &mut found);
    }
    // Only the name of the file is the same on every machine.
    let prefix = format!("{}/", folder.parent().expect("ui-tests").display());
    for message in &mut found {
        message.text = message.text.replace(&prefix, "");
    }
    found.sort();
    found.dedup();
    found
}

/// Adds each `compile_error!` of an expansion, and each deprecated macro, which is a warning.
fn collect(tokens: TokenStream, found: &mut Vec<Message>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (index, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else { continue };
        let before = &tokens[..index];
        if let [.., name, mark] = before
            && let Some(name) = word(name, "compile_error")
            && is(mark, "!")
        {
            found.push(Message {
                start: place(name.span().start()),
                end: place(group.span().end()),
                text: string(group.stream()),
            });
        } else if let Some(note) = deprecation(group.stream())
            && let [keyword, _, TokenTree::Ident(name), ..] = &tokens[index + 1..]
            && is(keyword, "macro_rules")
        {
            found.push(Message {
                start: place(name.span().start()),
                end: place(name.span().end()),
                text: note,
            });
        } else {
            collect(group.stream(), found);
        }
    }
}

/// The note of `deprecated(note = "..")`.
fn deprecation(attribute: TokenStream) -> Option<String> {
    let mut tokens = attribute.into_iter();
    let (name, arguments) = (tokens.next()?, tokens.next()?);
    let TokenTree::Group(arguments) = arguments else {
        return None;
    };
    word(&name, "deprecated")?;
    Some(string(arguments.stream().into_iter().skip(2).collect()))
}

fn string(literal: TokenStream) -> String {
    syn::parse2::<syn::LitStr>(literal).expect("a string").value()
}

/// A position whose column begins at 1, as rustc shows it.
fn place(position: LineColumn) -> (usize, usize) {
    (position.line, position.column + 1)
}

/// The lines that a case has and should not have, and the other way round.
fn difference(expected: &[Message], found: &[Message]) -> String {
    let mut text = String::new();
    let lists = [("-", expected, found), ("+", found, expected)];
    for (sign, list, other) in lists {
        for message in list.iter().filter(|message| !other.contains(message)) {
            for line in message.to_string().lines() {
                let _ = writeln!(text, "{sign} {line}");
            }
        }
    }
    text
}

/// The fault of a case; none if `difference` is empty and it belongs to the table of this code, or has no message.
fn mistake(case: &Case, code: &str, difference: String) -> Option<String> {
    let code = format!("[{code}]");
    let first = case.messages.iter().map(|message| &message.text).next();
    if !difference.is_empty() {
        Some(difference)
    } else if first.is_some_and(|text| !text.lines().next().is_some_and(|line| line.ends_with(&code))) {
        Some(format!("its first message is not of {code}\n"))
    } else {
        None
    }
}

#[test]
fn messages_are_as_in_the_tables() {
    let overwrites = std::env::var_os("CASES").is_some_and(|value| value == "overwrite");
    let folder = root().join("ui-tests/cases");
    let mut mistakes = String::new();
    let mut headings = Vec::new();
    for mut table in tables(&folder).expect("the tables can be read") {
        let code = table.code();
        let path = table.path.clone();
        assert!(
            Code::ALL.iter().any(|known| known.as_str() == code),
            "{}: `{code}` is no code",
            path.display()
        );
        assert!(!table.cases.is_empty(), "{} has no cases", path.display());
        for case in &mut table.cases {
            let found = messages(&case.program, &folder);
            let difference = difference(&case.messages, &found);
            if overwrites {
                case.messages = found;
            } else if let Some(mistake) = mistake(case, &code, difference) {
                let (path, line) = (path.display(), case.line);
                let _ = writeln!(mistakes, "{path}:{line}: {}\n{mistake}", case.heading);
            }
            headings.push(format!("{code}: {}", case.heading));
        }
        let text = table.to_string();
        if overwrites {
            fs::write(&path, text).expect("the table can be written");
        } else if mistakes.is_empty() {
            let written = fs::read_to_string(&path).expect("the table can be read");
            assert!(
                text == written,
                "{} is not as `CASES=overwrite` writes it",
                path.display()
            );
        }
    }
    assert!(
        mistakes.is_empty(),
        "\n{mistakes}`CASES=overwrite cargo test -p graph-macros cases` writes these messages anew"
    );
    headings.sort();
    let twice = headings.windows(2).find(|pair| pair[0] == pair[1]);
    assert_eq!(twice, None, "two cases have one heading");
    assert!(headings.len() > 400, "only {} cases were found", headings.len());
}
