//! The rules over the whole workspace, and planted faults that each must find.

use super::{Report, arrows, columns, manifests, promises, reports, source::Source, widths};
use crate::workspace::{self, Member};
use serde_json::json;
use std::path::Path;

#[test]
fn every_crate_is_in_order() {
    let reports = reports(&workspace::root().expect("a workspace")).expect("readable sources");
    let amiss: Vec<&Report> = reports.iter().filter(|report| !report.findings.is_empty()).collect();
    let messages: Vec<&str> = amiss
        .iter()
        .flat_map(|report| report.findings.values().flatten())
        .map(|(_, text)| &**text)
        .collect();
    assert!(
        messages.is_empty(),
        "{}\n`cargo xtask house` says it in groups",
        messages.join("\n")
    );
}

/// A build for GPUs alone compiles neither the emulator nor what only it depends on.
#[test]
fn a_build_without_the_emulator_has_none_of_its_crates() {
    let crates = |features: &[&str]| {
        let always = [
            "tree",
            "--offline",
            "--package=graph-runtime",
            "--edges=normal",
            "--prefix=none",
        ];
        let root = workspace::root().expect("a workspace");
        let tree = workspace::cargo(&root, &[&always, features].concat()).expect("cargo tree");
        let names = tree.lines().filter_map(|line| line.split(' ').next());
        names.map(str::to_owned).collect::<std::collections::BTreeSet<_>>()
    };
    let (with, without) = (crates(&[]), crates(&["--no-default-features", "--features=cudarc"]));
    for name in ["graph-emulator", "rayon"] {
        assert!(with.contains(name) && !without.contains(name), "{name}: {without:?}");
    }
}

/// A crate of planted files; `src/lib.rs` is its root.
fn planted(files: &[(&str, &str)]) -> Source {
    let open = |path: &Path| {
        files
            .iter()
            .find(|(name, _)| Path::new("src").join(name) == path)
            .map(|(_, text)| (*text).to_owned())
    };
    Source::read(Path::new("src/lib.rs"), &open).expect("planted files that parse")
}

/// The messages about arrows that run up.
fn rising(files: &[(&str, &str)]) -> Vec<String> {
    let source = planted(files);
    arrows::rising(&source, &arrows::arrows(&source))
        .into_iter()
        .map(|(_, text)| text)
        .collect()
}

/// [`rising`] of the lower of two modules, if it has this text.
fn rising_from_bottom(text: &str) -> Vec<String> {
    let top = ("top.rs", "pub struct Name;");
    rising(&[("lib.rs", "mod top;\nmod bottom;"), top, ("bottom.rs", text)])
}

#[test]
fn an_upward_import_is_found_with_both_files_and_the_name() {
    let messages = rising_from_bottom("\nuse crate::top::Name;\n");
    let expected = ["src/bottom.rs:2: `crate::top::Name` is in src/top.rs; `top` is above `bottom` in src/lib.rs"];
    assert_eq!(messages, expected);
}

#[test]
fn a_downward_import_is_in_order() {
    let files = [
        ("lib.rs", "mod top;\nmod bottom;\npub use top::Name;"),
        (
            "top.rs",
            "use crate::bottom::{Other, function};\nuse super::bottom;\npub struct Name(bottom::Third);",
        ),
        ("bottom.rs", "pub struct Other; pub struct Third; pub fn function() {}"),
    ];
    assert!(rising(&files).is_empty());
}

#[test]
fn a_circle_is_found_with_the_way_round() {
    let source = planted(&[
        ("lib.rs", "mod a;\nmod b;\nmod c;\nmod apart;"),
        ("a.rs", "use crate::b::B; use crate::apart::D; pub struct A;"),
        ("b.rs", "use crate::c::C; pub struct B;"),
        ("c.rs", "fn f(_: crate::a::A) {}\npub struct C;"),
        ("apart.rs", "pub struct D;"),
    ]);
    let arrows = arrows::arrows(&source);
    let [circle] = &arrows::circles(&source, &arrows)[..] else {
        panic!("one circle")
    };
    let start = "src/lib.rs: 3 modules use each other in a circle:";
    assert!(circle.starts_with(start), "{circle}");
    for tie in [
        "src/a.rs:1 -> src/b.rs: `crate::b::B`",
        "src/b.rs:1 -> src/c.rs: `crate::c::C`",
    ] {
        assert!(circle.contains(tie), "{circle}");
    }
    assert!(circle.contains("src/c.rs:1 -> src/a.rs: `crate::a::A`"), "{circle}");
}

#[test]
fn every_way_to_write_a_path_is_read() {
    let ways = [
        "use crate::top::Name;",
        "use super::top::Name;",
        "use crate::{top::{Name as Other}};",
        "use crate::top;\nfn f() -> top::Name { loop {} }",
        "use crate::top::*;",
        "fn f() { let _ = crate::top::Name; }",
        "fn f(x: Vec<super::top::Name>) {}",
        "fn f() { use super::top::Name; }",
        "fn f() { assert_eq!(1, crate::top::Name); }",
        "macro_rules! m { () => { $crate::top::Name } }",
        "fn f() { quote_spanned!(crate::top::Name=> a b) }",
        "mod inner { use super::super::top::Name; }",
        "#[cfg(not(test))]\nuse crate::top::Name;",
    ];
    for way in ways {
        assert!(!rising_from_bottom(way).is_empty(), "not found: {way}");
    }
}

#[test]
fn test_code_and_other_crates_code_are_left_out() {
    let ways = [
        "#[cfg(test)]\nuse crate::top::Name;",
        "#[cfg(test)]\nmod tests { use crate::top::Name; }",
        "#[cfg(all(test, unix))]\nfn f(_: crate::top::Name) {}",
        "use elsewhere::top::Name;",
        "fn f() { quote!(crate::top::Name) }",
        "/// [`crate::top::Name`]\nfn f() {}",
        "fn f() -> &'static str { \"crate::top::Name\" }",
    ];
    for way in ways {
        assert_eq!(rising_from_bottom(way), [""; 0], "{way}");
    }
}

#[test]
fn a_re_export_ties_to_the_file_that_defines_the_name() {
    // `folder/mod.rs` re-exports `Name` of `upper`, and `lib.rs` once more.
    let files = |lower| {
        [
            ("lib.rs", "mod folder;\npub use folder::Name;"),
            ("folder/mod.rs", "mod upper;\nmod lower;\npub use upper::*;"),
            ("folder/upper.rs", "pub struct Name;"),
            ("folder/lower.rs", lower),
        ]
    };
    for way in ["use super::Name;", "use crate::folder::Name;", "use crate::Name;"] {
        let [message] = &rising(&files(way))[..] else {
            panic!("one arrow: {way}")
        };
        assert!(message.ends_with("is in src/folder/upper.rs; `upper` is above `lower` in src/folder/mod.rs"));
    }
}

#[test]
fn a_child_uses_its_folders_types_and_no_functions() {
    let folder = |child| {
        [
            ("lib.rs", "mod folder;"),
            (
                "folder.rs",
                "mod child;\npub struct Type; pub const MAX: u8 = 1; pub fn function() { child::f(); }
                 macro_rules! call { () => {} } use call;",
            ),
            ("folder/child.rs", child),
        ]
    };
    let right = "use super::{Type, MAX, call}; pub fn f() { super::Type::new(); }";
    assert_eq!(rising(&folder(right)), [""; 0]);
    for way in [
        "use super::function;",
        "fn f() { crate::folder::function() }",
        "use super::*;",
    ] {
        assert_eq!(rising(&folder(way)).len(), 1, "{way}");
    }
}

#[test]
fn a_name_of_a_module_and_a_function_is_what_it_is_used_as() {
    let files = |child| {
        [
            ("lib.rs", "mod folder;"),
            ("folder.rs", "mod above;\nmod child;\nmod both;\npub fn both() {}"),
            ("folder/above.rs", ""),
            ("folder/child.rs", child),
            ("folder/both.rs", "pub struct Type;"),
        ]
    };
    assert_eq!(rising(&files("use super::both;\nfn f(_: both::Type) {}")), [""; 0]);
    assert_eq!(rising(&files("use super::both;\nfn f() { both() }")).len(), 1);
}

#[test]
fn a_comment_of_130_columns_is_found() {
    let long = "word ".repeat(26);
    assert_eq!(long.len(), 130);
    let fits = "word ".repeat(24);
    let wide = |name: &str, text: String| columns::wide(Path::new(name), &text);
    assert_eq!(wide("a.rs", format!("fn f() {{}}\n// {}", &long[3..])), [2]);
    assert_eq!(wide("a.rs", format!("/// {}\nfn f() {{}}", &long[4..])), [1]);
    assert_eq!(wide("a.rs", format!("/* a\n{long}\n*/")), [2]);
    assert_eq!(wide("a.rs", format!("fn f() {{}} // {long}")), [1]);
    assert_eq!(wide("a.rs", format!("#[doc = \"{long}\"]")), [1]);
    assert_eq!(wide("a.toml", format!("a = 1\n# {long}")), [2]);
    assert_eq!(wide("a.md", format!("{fits}\n{long}")), [2]);
    assert_eq!(wide("a.md", fits.trim_end().to_owned()), [0; 0]);
}

#[test]
fn tables_code_and_unbreakable_lines_may_be_wide() {
    let long = "word ".repeat(26);
    let wide = |name: &str, text: String| columns::wide(Path::new(name), &text);
    let literals = format!("const A: &str = \"// {long}\"; let b = r#\"// \" {long}\"#;");
    assert_eq!(wide("a.rs", literals), [0; 0]);
    let characters = format!("fn f<'a>(x: char) {{ x == '\"' }} // a\nf(\"{long}\")");
    assert_eq!(wide("a.rs", characters), [0; 0]);
    assert_eq!(wide("a.rs", format!("/// ```\n/// {long}\n/// ```")), [0; 0]);
    assert_eq!(wide("a.rs", format!("/// | {long} |")), [0; 0]);
    assert_eq!(wide("a.rs", format!("// https://{}", "x".repeat(130))), [0; 0]);
    let page = format!("```text\n{long}\n```\n| {long} |\n[a]: https://{}", "x".repeat(130));
    assert_eq!(wide("a.md", page), [0; 0]);
    assert_eq!(wide("a.md", format!("```text\n```\n{long}")), [3]);
    assert_eq!(wide("a.stderr", long), [0; 0]);
}

#[test]
fn broken_promises_are_found() {
    let member = |name: &str, dependency: &str| Member {
        name: name.to_owned(),
        folder: "".into(),
        roots: Vec::new(),
        without_unit_tests: Some("a/src".into()),
        dependencies: vec![dependency.to_owned()],
    };
    assert_eq!(promises::of_dependencies(&member("graph-plan", "syn")).len(), 1);
    assert_eq!(promises::of_dependencies(&member("graph-plan", "graph-ptx")).len(), 1);
    let right = member("graph-runtime", "graph-plan");
    assert_eq!(promises::of_dependencies(&right).len(), 0);
    let has_lost_tests = |file: &str, text: &str| promises::has_lost_tests(&right, file.as_ref(), text);
    assert!(has_lost_tests(
        "a/src/b/c.rs",
        "mod tests {\n    #[test]\n    fn f() {}\n}"
    ));
    assert!(!has_lost_tests("a/src/b.rs", "/// `#[test]`\nfn f() {}") && !has_lost_tests("a/tests/b.rs", "#[test]"));

    let names: Vec<String> = (0..16).map(|room| format!("room{room}.rs")).collect();
    let rooms: String = (0..16).map(|room| format!("mod room{room};\n")).collect();
    let root = format!("//! Doc\n{rooms}mod inner {{}}");
    let files: Vec<(&str, &str)> = names.iter().map(|name| (&**name, "//! Doc")).collect();
    let source = planted(&[&[("lib.rs", &*root)], &files[..]].concat());
    let expected = ["src/lib.rs: 16 modules; at most 15 are easy to know"];
    assert_eq!(promises::of_modules("graph-runtime", &source), expected);
    let faults = [
        "fn f() { unsafe { sys::cuGraphCreate() } }",
        "use cudarc::driver::sys::culib;",
        "use graph_emulator::Memory;",
        "use crate::backend::cuda::Context;",
    ];
    for fault in faults {
        let text = format!("//! Doc\n{fault}");
        let root = "//! Doc\nmod other;\nmod backend { pub mod cuda { pub struct Context; } }";
        let source = planted(&[("lib.rs", root), ("other.rs", &text)]);
        assert_eq!(promises::of_modules("graph-runtime", &source).len(), 1, "{fault}");
        assert_eq!(promises::of_modules("graph-plan", &source).len(), 0, "{fault}");
    }
}

#[test]
fn the_tour_lists_modules_in_their_order() {
    let source = planted(&[
        ("lib.rs", "mod top;\nmod bottom;\nmod inner {}"),
        ("top.rs", ""),
        ("bottom.rs", ""),
    ]);
    let tour = |rows: &str| {
        let page = format!("| in `a/src/` | |\n| --- | --- |\n{rows}\n\ntext");
        promises::of_tour("a", &source, &page)
    };
    assert_eq!(tour("| `top.rs`, `bottom/` | both |"), None);
    assert_eq!(tour("| `top.rs` | one |\n| `bottom.rs` | another |"), None);
    assert!(tour("| `bottom.rs` | one |\n| `top.rs` | another |").is_some());
    assert!(tour("| `top.rs` | one |").is_some());
}

#[test]
fn a_new_name_across_a_rooms_wall_is_found() {
    let widths = |top: &str, private: &str| {
        let source = planted(&[
            (
                "lib.rs",
                &format!("mod top; mod bottom; pub mod private {{ pub use crate::top::{{{private}}}; }}"),
            ),
            ("top.rs", top),
            ("bottom.rs", "pub mod inner;"),
            ("bottom/inner.rs", "pub struct A; pub struct B; pub fn f() {}"),
        ]);
        widths::widths("a", &source, &arrows::arrows(&source))
    };
    let before = widths("use crate::bottom::inner::A; fn g(_: A) {}", "C");
    let table = widths::parse(&widths::to_text(&before));
    assert_eq!(table, before);
    assert_eq!(widths::grown(&before, &table), [""; 0]);
    // Another name in the place of one that is not used any more, and the same name twice.
    let other = widths("use crate::bottom; fn g(_: bottom::inner::B) { bottom::inner::B }", "D");
    assert_eq!(widths::grown(&other, &table), [""; 0]);
    let wider = widths("use crate::bottom::inner::{self, A}; fn g(_: A) { inner::f() }", "C");
    let expected = ["a: top -> bottom: 2 names, but 1 in xtask/src/house/widths.txt; new: bottom::inner::f"];
    assert_eq!(widths::grown(&wider, &table), expected);
    let protocol = widths("use crate::bottom::inner::A;", "C, D");
    let expected = ["a: macros -> private: 2 names, but 1 in xtask/src/house/widths.txt; new: D"];
    assert_eq!(widths::grown(&protocol, &table), expected);
    let new = widths::grown(&before, &widths::Widths::new());
    assert!(new[1].ends_with("new: bottom::inner::A"), "{new:?}");
}

#[test]
fn an_incomplete_manifest_is_found() {
    let manifest = workspace::root().expect("a workspace").join("graph-plan/Cargo.toml");
    let package = json!({
        "name": "a", "manifest_path": manifest, "description": "Text.", "license": "MIT", "rust_version": "1.88",
        "keywords": ["cuda"], "categories": ["science"], "metadata": {"docs": {"rs": {}}}, "repository": null,
    });
    assert_eq!(manifests::of_package(&package), [""; 0]);
    let faults = [
        ("description", json!(""), "a description"),
        ("license", json!(null), "a licence"),
        ("rust_version", json!(null), "the oldest Rust that compiles it"),
        ("keywords", json!([]), "one to five keywords"),
        ("keywords", json!(vec!["a"; 6]), "one to five keywords"),
        ("keywords", json!(["a-keyword-of-21-chars"]), "one to five keywords"),
        ("categories", json!([]), "categories"),
        ("metadata", json!(null), "a table for docs.rs"),
        (
            "repository",
            json!("https://example.com"),
            "no `repository`, as long as there is no public one",
        ),
    ];
    for (field, value, rule) in faults {
        let mut package = package.clone();
        package[field] = value;
        assert_eq!(manifests::of_package(&package), [format!("a: needs {rule}")]);
    }
    let mut elsewhere = package;
    elsewhere["manifest_path"] = json!("/nowhere/Cargo.toml");
    let expected = ["a: needs a README.md", "a: needs the texts of its licences"];
    assert_eq!(manifests::of_package(&elsewhere), expected);
}

#[test]
fn a_dependency_that_needs_a_newer_rust_is_found() {
    let package = |name: &str, rust: &str| json!({"name": name, "version": "1.2.3", "rust_version": rust});
    let packages = [
        package("graph-runtime", "1.88"),
        package("old", "1.87.1"),
        package("same", "1.88.0"),
        json!({"name": "silent", "version": "1.0.0", "rust_version": null}),
        package("newer", "1.88.1"),
        package("newest", "1.100"),
    ];
    let newer = manifests::newer(&packages).expect("graph-runtime is there");
    assert_eq!(
        newer,
        [
            "newer 1.2.3 needs Rust 1.88.1, newer than `rust-version` states",
            "newest 1.2.3 needs Rust 1.100, newer than `rust-version` states"
        ]
    );
    assert!(manifests::newer(&packages[1..]).is_err());
}
