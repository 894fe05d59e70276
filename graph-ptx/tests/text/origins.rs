//! The lines that say what PTX was made of.

use graph_ptx::origin::{Origin, OriginFile, included};

fn origin() -> Origin {
    Origin {
        files: vec![OriginFile::new("a b.cu", b"x\ny\n"), OriginFile::new("h/f.h", b"1")],
        by: "NVRTC 12.4 with -DA=\"a b\"".to_owned(),
        again: "cargo cuda-graph ptx --arch 80".to_owned(),
    }
}

#[test]
fn the_lines_are_read_as_they_are_written() {
    let text = format!(".version 7.0\n\n{}", origin());
    assert_eq!(Origin::of(&text), Some(origin()));
    assert_eq!(Origin::of(&text.replace('\n', "\r\n")), Some(origin()));
    for other in [
        "",
        ".version 7.0\n",
        "// cuda-graph: made of x.cu\n",
        "// cuda-graph: made of x.cu z\n",
    ] {
        assert_eq!(Origin::of(other), None, "{other}");
    }
}

#[test]
fn a_change_is_found_by_its_file() {
    let changed = |source: Option<&'static str>, header: Option<&'static str>| {
        let origin = origin();
        let read = |path: &str| if path == "a b.cu" { source } else { header }.map(|text| text.as_bytes().to_vec());
        origin.changed(read).map(str::to_owned)
    };
    assert_eq!(changed(Some("x\ny\n"), Some("1")), None);
    assert_eq!(
        changed(Some("x\r\ny\r\n"), Some("1")),
        None,
        "Git may write other ends of lines"
    );
    assert_eq!(changed(Some("x\nz\n"), Some("1")), Some("a b.cu".to_owned()));
    assert_eq!(changed(Some("x\ny\n"), Some("2")), Some("h/f.h".to_owned()));
    assert_eq!(changed(Some("x\ny\n"), None), None, "a header elsewhere");
    assert_eq!(changed(None, Some("2")), None, "PTX without its source");
}

#[test]
fn includes_are_found() {
    assert_eq!(included("#include \"a/b.h\" // why"), Some(("a/b.h", true)));
    assert_eq!(included("  #  include\"b.h\""), Some(("b.h", true)));
    assert_eq!(included("#include <b.h>"), Some(("b.h", false)));
    for other in ["#includes \"b.h", "// #include \"b.h\"", "#include NAME", "#include"] {
        assert_eq!(included(other), None, "{other}");
    }
}
