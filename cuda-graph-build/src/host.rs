//! Code of the host in CUDA sources, which NVRTC refuses: it is left out where the compiler's log says what it is.
//!
//! A function of the host in a namespace is cut out. One that is `constexpr`, or is in a class, becomes one of the
//! device as well, so that neither constants nor the layout of classes change. Lines keep their numbers.

use std::fs;
use std::ops::Range;
use std::path::PathBuf;

use graph_ptx::host_headers;

use crate::includes::Header;
use crate::source::items::{Item, items};
use crate::source::macros::Macros;
use crate::source::tokens::{Token, one_branch, tokens};

/// Words that make a function one of the device.
const DEVICE: [&str; 2] = ["__device__", "__global__"];

/// A place of a source, and what the compiler says about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Complaint<'l> {
    pub(crate) file: &'l str,
    /// The line, from 1.
    pub(crate) line: usize,
    /// The column, from 0, if it is known.
    column: Option<usize>,
}

/// A complaint of a log about code of the host.
pub(crate) fn complaints(log: &str) -> Vec<Complaint<'_>> {
    let lines: Vec<&str> = log.lines().collect();
    let read = |(index, line): (usize, &&'_ str)| -> Option<(usize, usize, usize, usize)> {
        let (place, message) = line.split_once("): error: ")?;
        let (file, number) = place.rsplit_once('(')?;
        host_headers::is_about_host(message).then_some(())?;
        Some((index, file.len(), number.parse().ok()?, 0))
    };
    let found = lines.iter().enumerate().filter_map(read);
    found
        .map(|(index, file, line, _)| {
            // The compiler shows the line, indented by two, and a mark below the place.
            let mark = lines.get(index + 2).filter(|mark| mark.trim() == "^");
            let shown = lines.get(index + 1).filter(|shown| !shown.contains('\t'));
            let column = mark.zip(shown).and_then(|(mark, _)| mark.find('^')?.checked_sub(2));
            Complaint {
                file: &lines[index][..file],
                line,
                column,
            }
        })
        .collect()
}

/// A function of the host that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// Its name, or that of the macro whose call makes it.
    pub(crate) name: String,
    pub(crate) file: String,
    pub(crate) line: usize,
}

impl LeftOut {
    /// The note that functions were left out, if there are any.
    pub(crate) fn note(all: &[Self]) -> Option<String> {
        let mut names: Vec<(&Self, usize)> = Vec::new();
        for one in all {
            match names
                .iter_mut()
                .find(|(known, _)| known.name == one.name && known.file == one.file)
            {
                Some((_, more)) => *more += 1,
                None => names.push((one, 0)),
            }
        }
        let shown = names.iter().map(|(one, more)| {
            let more = if *more == 0 {
                String::new()
            } else {
                format!(" and {more} more")
            };
            format!("`{}` ({}:{}{more})", one.name, one.file, one.line)
        });
        let shown: Vec<String> = shown.collect();
        (!shown.is_empty()).then(|| format!("note: functions of the host are left out: {}", shown.join(", ")))
    }
}

/// A source and its headers, as they are compiled.
#[derive(Debug)]
pub(crate) struct Sources {
    name: String,
    text: String,
    headers: Vec<Header>,
    /// The headers that replace files or stand for what is in none, by name.
    given: Vec<(String, String)>,
    /// The folders of headers that were replaced: these may include what is beside them.
    folders: Vec<PathBuf>,
    left_out: Vec<LeftOut>,
}

impl Sources {
    pub(crate) fn new(name: &str, text: &str, headers: Vec<Header>) -> Self {
        let mut sources = Self {
            name: name.to_owned(),
            text: text.to_owned(),
            headers,
            given: Vec::new(),
            folders: Vec::new(),
            left_out: Vec::new(),
        };
        if let Some(text) = host_headers::text(host_headers::ALWAYS) {
            sources.give(host_headers::ALWAYS, &text);
        }
        sources
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn given(&self) -> &[(String, String)] {
        &self.given
    }

    pub(crate) fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    pub(crate) fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// Gives the compiler this text for a header. Returns whether it had another one, or none.
    pub(crate) fn give(&mut self, name: &str, text: &str) -> bool {
        match self.given.iter_mut().find(|(given, _)| given == name) {
            Some((_, old)) if old == text => return false,
            Some((_, old)) => *old = text.to_owned(),
            None => self.given.push((name.to_owned(), text.to_owned())),
        }
        true
    }

    /// Leaves out code of the host that a log is about. Returns whether there was any.
    pub(crate) fn leave_out(&mut self, log: &str) -> bool {
        let complaints = complaints(log);
        let mut files: Vec<&str> = complaints.iter().map(|complaint| complaint.file).collect();
        files.dedup();
        let mut is_changed = false;
        for file in files {
            let own: Vec<Complaint<'_>> = complaints.iter().filter(|one| one.file == file).cloned().collect();
            is_changed |= self.leave_out_of(file, &own);
        }
        is_changed
    }

    fn leave_out_of(&mut self, file: &str, complaints: &[Complaint<'_>]) -> bool {
        let header = self.header(file);
        let Some(text) = self.text_of(file) else { return false };
        let Some(without) = without(&text, complaints, self.macros(header)) else {
            return false;
        };
        self.left_out
            .extend(without.names.into_iter().map(|(name, line)| LeftOut {
                name,
                file: file.to_owned(),
                line,
            }));
        let Some(header) = header else {
            self.text = without.text;
            return true;
        };
        // Messages and line tables go on naming the file.
        let Header { names, path, bytes, .. } = &mut self.headers[header];
        *bytes = without.text.into_bytes();
        self.folders.extend(path.parent().map(PathBuf::from));
        let text = format!("#line 1 \"{}\"\n{}", path.display(), String::from_utf8_lossy(bytes));
        for name in names.clone() {
            self.give(&name, &text);
        }
        true
    }

    /// The header that a log names by this path.
    fn header(&self, file: &str) -> Option<usize> {
        let path = fs::canonicalize(file).ok()?;
        self.headers.iter().position(|header| header.path == path)
    }

    /// The text of a file that a log names.
    fn text_of(&self, file: &str) -> Option<String> {
        if file == self.name {
            return Some(self.text.clone());
        }
        let header = &self.headers[self.header(file)?];
        String::from_utf8(header.bytes.clone()).ok()
    }

    /// The macros of all headers but one.
    fn macros(&self, but: Option<usize>) -> Macros {
        let mut macros = Macros::default();
        let others = self.headers.iter().enumerate().filter(|(index, _)| Some(*index) != but);
        for (_, header) in others {
            for line in tokens(&String::from_utf8_lossy(&header.bytes)) {
                if line.is_directive() {
                    macros.directive(&line.text);
                }
            }
        }
        macros
    }

    /// The advice about code of the host that could not be left out, or that a kernel calls.
    pub(crate) fn help(&self, log: &str) -> String {
        let mut help = String::new();
        if let Some(complaint) = complaints(log).first() {
            let text = self.text_of(complaint.file).unwrap_or_default();
            let (first, last) = lines(&text, complaint).unwrap_or((complaint.line, complaint.line));
            help = format!(
                "\nhelp: NVRTC compiles code of the device alone, and line {} of {} is code of the host: write `#ifndef \
                 __CUDACC_RTC__` before line {first} and `#endif` after line {last}, or `__device__` if kernels use it",
                complaint.line, complaint.file
            );
        }
        if let Some(note) = LeftOut::note(&self.left_out) {
            help.push_str(&format!(
                "\n{note}\nhelp: write `__device__` before those that kernels call"
            ));
        }
        help
    }
}

/// A source without code of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Without {
    pub(crate) text: String,
    /// The functions that were cut out, by name and line.
    pub(crate) names: Vec<(String, usize)>,
}

/// Leaves out of a source what `complaints` are about. `macros` are those of its headers. `None` if nothing can be left
/// out.
pub(crate) fn without(text: &str, complaints: &[Complaint<'_>], mut macros: Macros) -> Option<Without> {
    let all = tokens(text);
    for line in all.iter().filter(|token| token.is_directive()) {
        macros.directive(&line.text);
    }
    let (tokens, items) = declarations(text, &all, complaints, &macros)?;
    let mut named: Vec<usize> = complaints
        .iter()
        .filter_map(|complaint| item_at(text, &tokens, &items, complaint))
        .collect();
    named.sort_unstable();
    named.dedup();
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    let mut names: Vec<(String, usize)> = Vec::new();
    for &index in &named {
        let item = &items[index];
        let own = &tokens[item.start..item.end];
        let range = own[0].start..own.last()?.end;
        if !is_whole(&all, &range) {
            continue;
        }
        let kept = if item.is_call {
            kept_of_call(own, &mut macros)
        } else if item.is_member || is_constant(&tokens, item) {
            let at = tokens[item.specifiers].start;
            let is_of_host = own.iter().any(|token| token.text == "__host__");
            let words = if is_of_host {
                "__device__ "
            } else {
                "__host__ __device__ "
            };
            let is_done = own.iter().any(|token| token.text == "__device__");
            edits.extend((!is_done).then(|| (at..at, words.to_owned())));
            continue;
        } else {
            Some(String::new())
        };
        let Some(kept) = kept else { continue };
        let line = text[..range.start].matches('\n').count() + 1;
        let name = item.function.map_or(own[0].text.as_str(), |name| &tokens[name].text);
        let is_variable = item.function.is_none() && !item.is_call;
        names.extend((!is_variable).then(|| (name.to_owned(), line)));
        let blank = blank(&text[range.clone()]);
        edits.push((range, kept + &blank));
    }
    // Instances of templates that are left out.
    let is_left_out = |token: &Token| names.iter().any(|(name, _)| *name == token.text);
    for (index, item) in items.iter().enumerate() {
        let own = &tokens[item.start..item.end];
        let is_instance = own[0].text == "template" && own.get(1).is_some_and(|next| next.text != "<");
        if is_instance && !named.contains(&index) && own.iter().any(is_left_out) {
            let range = own[0].start..own.last()?.end;
            edits.push((range.clone(), blank(&text[range])));
        }
    }
    if edits.is_empty() {
        return None;
    }
    edits.sort_by_key(|(range, _)| range.start);
    let mut out = text.to_owned();
    for (range, new) in edits.into_iter().rev() {
        out.replace_range(range, &new);
    }
    Some(Without { text: out, names })
}

/// The first and the last line of the declaration that a complaint is about.
pub(crate) fn lines(text: &str, complaint: &Complaint<'_>) -> Option<(usize, usize)> {
    let (tokens, items) = declarations(text, &tokens(text), std::slice::from_ref(complaint), &Macros::default())?;
    let item = &items[item_at(text, &tokens, &items, complaint)?];
    let line = |place: usize| text[..place].matches('\n').count() + 1;
    Some((line(tokens[item.start].start), line(tokens[item.end - 1].end)))
}

/// The declarations of a source, and the tokens that they are made of. If branches of `#if`s have brackets that match
/// only one by one, those are the tokens of the branches that the complaints are about.
fn declarations(
    text: &str,
    all: &[Token],
    complaints: &[Complaint<'_>],
    macros: &Macros,
) -> Option<(Vec<Token>, Vec<Item>)> {
    let places = complaints
        .iter()
        .filter_map(|complaint| Some(line_of(text, complaint)?.end));
    let places: Vec<usize> = places.collect();
    [all.to_vec(), one_branch(all, &places)].into_iter().find_map(|tokens| {
        let items = items(&tokens, macros)?;
        Some((tokens, items))
    })
}

/// The places of the line of a complaint.
fn line_of(text: &str, complaint: &Complaint<'_>) -> Option<Range<usize>> {
    let before = text.split_inclusive('\n').take(complaint.line.checked_sub(1)?);
    let start: usize = before.map(str::len).sum();
    let end = text[start..].find('\n').map_or(text.len(), |length| start + length);
    Some(start..end)
}

/// Whether each `#if` in a part of a source ends in it.
fn is_whole(all: &[Token], range: &Range<usize>) -> bool {
    let inside = all.iter().filter(|token| range.contains(&token.start));
    let mut depth = 0;
    let mut branches = inside.filter_map(Token::branch);
    let is_inside = branches.all(|change| {
        let is_inside = depth > 0 || change > 0;
        depth += change;
        is_inside
    });
    is_inside && depth == 0
}

/// The declaration at a place.
fn item_at(text: &str, tokens: &[Token], items: &[Item], complaint: &Complaint<'_>) -> Option<usize> {
    let Range { start, end } = line_of(text, complaint)?;
    let range = |item: &Item| tokens[item.start].start..tokens[item.end - 1].end;
    let exact = complaint.column.map(|column| start + column);
    let at = exact.and_then(|exact| items.iter().position(|item| range(item).contains(&exact)));
    let overlapping = |item: &Item| range(item).start < end && range(item).end > start;
    at.or_else(|| {
        let mut candidates = items.iter().enumerate().filter(|(_, item)| overlapping(item));
        let (only, _) = candidates.next()?;
        candidates.next().is_none().then_some(only)
    })
}

/// Whether a declaration is of a function for constants.
fn is_constant(tokens: &[Token], item: &Item) -> bool {
    let is_constant = |token: &Token| token.text == "constexpr" || token.text == "consteval";
    let head = item.function.map(|name| &tokens[item.specifiers..name]);
    head.is_some_and(|head| head.iter().any(is_constant))
}

/// The text that a call of a macro makes besides functions of the host, on one line; `None` if that is not clear.
fn kept_of_call(call: &[Token], macros: &mut Macros) -> Option<String> {
    let made = macros.expanded(call);
    let inside = items(&made, &Macros::default())?;
    let mut kept = String::new();
    for item in &inside {
        let head = &made[item.specifiers..item.function?];
        if head.iter().any(|token| DEVICE.contains(&token.text.as_str())) {
            for token in &made[item.start..item.end] {
                kept.push_str(&token.text);
                kept.push(' ');
            }
        } else if head.iter().any(is_unknown) {
            return None;
        }
    }
    Some(kept)
}

/// Whether a word may be a macro of CUDA's headers, and so may make a function one of the device.
fn is_unknown(token: &Token) -> bool {
    token.is_word() && token.text.len() > 2 && !token.text.contains(|char: char| char.is_lowercase())
}

/// A text as long and with as many lines, but nothing in it.
fn blank(text: &str) -> String {
    text.chars().map(|char| if char == '\n' { '\n' } else { ' ' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(line: usize, column: Option<usize>) -> Complaint<'static> {
        Complaint {
            file: "x.cu",
            line,
            column,
        }
    }

    fn left(text: &str, complaints: &[Complaint<'_>]) -> Option<String> {
        Some(without(text, complaints, Macros::default())?.text)
    }

    #[test]
    fn logs_name_places() {
        let log = "x.cu(3): error: A function without annotations is considered a host function, and so on\n  \
                   int f(int a){return a;}\n      ^\n\nx.cu(4): error: identifier \"v\" is undefined\n  v\n  ^\n\n\
                   a(1)/y.h(7): error: A function explicitly marked as a __host__ function is not allowed in JIT mode\n";
        let expected = [
            complaint(3, Some(4)),
            Complaint {
                file: "a(1)/y.h",
                ..complaint(7, None)
            },
        ];
        assert_eq!(complaints(log), expected);
    }

    #[test]
    fn functions_of_the_host_are_cut_out() {
        let text = "__global__ void k() {}\nint main()\n{ k<<<1, 2>>>(); }\nint x; int f(int); // a\n";
        let expected = "__global__ void k() {}\n          \n                  \nint x;             // a\n";
        let found = without(
            text,
            &[complaint(2, Some(4)), complaint(4, Some(11))],
            Macros::default(),
        )
        .unwrap();
        assert_eq!(found.text, expected);
        assert_eq!(found.names, [("main".to_owned(), 2), ("f".to_owned(), 4)]);
        let host = "template <class T>\nvoid launch(T *x) {}\ntemplate void launch<int>(int *);\n";
        assert_eq!(left(host, &[complaint(2, None)]).unwrap().trim(), "");
        assert_eq!(
            left("void f() {} void g() {}\n", &[complaint(1, None)]),
            None,
            "it is not clear which"
        );
    }

    #[test]
    fn branches_of_one_declaration_are_left_alone() {
        let text = "void g() {\n#if A\nif (x) {\n#else\nif (y) {\n#endif\n} }\n#if A\nvoid f(int x) {\n#else\nvoid f() {\n#endif\n}\n";
        assert_eq!(left(text, &[complaint(9, Some(5))]), None);
        let left = left(text, &[complaint(1, Some(5))]).unwrap();
        assert_eq!(left.trim_start(), &text[text.find("#if A\nvoid").unwrap()..]);
        assert_eq!(left.lines().count(), text.lines().count());
    }

    #[test]
    fn members_and_constants_become_code_of_the_device() {
        let text = "struct S { S(int a) : a(a) {} int a; };\ntemplate <int N> constexpr int n() { return N; }\n";
        let expected = "struct S { __host__ __device__ S(int a) : a(a) {} int a; };\n\
                        template <int N> __host__ __device__ constexpr int n() { return N; }\n";
        assert_eq!(
            left(text, &[complaint(1, Some(11)), complaint(2, Some(32))]).unwrap(),
            expected
        );
    }

    #[test]
    fn calls_of_macros_keep_what_is_not_of_the_host() {
        let define = "#define DEVICE __device__\n#define MAKE(f) DEVICE int f##_one() { return 1; } \\\n  \
                      void f() { k<<<1, 1>>>(f##_one()); }\n#define HOST(f) void f() {}\n";
        let text = format!("{define}MAKE(a)\nHOST(b)\nint x;\n");
        let found = left(&text, &[complaint(5, Some(0)), complaint(6, Some(0))]).unwrap();
        let made = found.strip_prefix(define).unwrap();
        assert_eq!(
            made,
            "__device__ int a_one ( ) { return 1 ; }        \n       \nint x;\n"
        );
        let text = "#define MAKE(f) UNKNOWN int f() { return 1; }\nMAKE(a)\n";
        assert_eq!(left(text, &[complaint(2, Some(0))]), None);
    }
}
