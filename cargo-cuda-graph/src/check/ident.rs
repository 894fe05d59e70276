//! Names of PTX and C++ as identifiers of Rust.

const KEYWORDS: [&str; 46] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else", "enum",
    "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move",
    "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where",
];
/// Words that no `r#` makes identifiers.
const RESERVED: [&str; 8] = ["self", "Self", "super", "crate", "_", "while", "yield", "safe"];

/// The identifier that is most like `name`.
pub(super) fn ident(name: &str) -> String {
    let is_part = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let mut ident: String = name
        .chars()
        .map(|char| if is_part(char) { char } else { '_' })
        .collect();
    if !ident.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
        ident.insert(0, '_');
    }
    match ident.as_str() {
        word if KEYWORDS.contains(&word) => format!("r#{word}"),
        word if RESERVED.contains(&word) || word.chars().all(|char| char == '_') => format!("{word}_0"),
        _ => ident,
    }
}

/// An identifier for `name` that is not in `taken`, and is added to it.
pub(super) fn unique(name: &str, taken: &mut Vec<String>) -> String {
    let plain = ident(name);
    let numbered = (2..).map(|number| format!("{}_{number}", plain.trim_start_matches("r#")));
    let free = std::iter::once(plain.clone())
        .chain(numbered)
        .find(|one| !taken.contains(one));
    let free = free.unwrap_or(plain);
    taken.push(free.clone());
    free
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_identifiers() {
        for (name, expected) in [
            ("scale", "scale"),
            ("type", "r#type"),
            ("self", "self_0"),
            ("_", "__0"),
            ("a$b.c", "a_b_c"),
            ("9", "_9"),
            ("", "__0"),
        ] {
            assert_eq!(ident(name), expected);
        }
        let mut taken = Vec::new();
        let named: Vec<String> = ["x", "x", "type", "type"].map(|name| unique(name, &mut taken)).into();
        assert_eq!(named, ["x", "x_2", "r#type", "type_2"]);
    }
}
