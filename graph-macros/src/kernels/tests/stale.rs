//! PTX whose source has changed since.

use super::attributed;
use graph_ptx::origin::{Origin, OriginFile};
use std::fs;
use std::path::PathBuf;

const SOURCE: &str = "// cuda-graph: --use_fast_math\n#include \"factor.h\"\n__global__ void f() {}\n";
const HEADER: &str = "#define FACTOR 2\n";
const PTX: &str = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry f() {\nret;\n}\n";

/// A folder that is there until the test ends.
struct Folder(PathBuf);

impl Folder {
    /// A folder with PTX that was made of [`SOURCE`] and [`HEADER`].
    fn new(name: &str) -> Self {
        let folder = Self(std::env::temp_dir().join(format!("graph-macros-stale-{}-{name}", std::process::id())));
        fs::create_dir_all(&folder.0).unwrap();
        let files = [("f.cu", SOURCE), ("factor.h", HEADER)];
        let origin = Origin {
            files: files.map(|(path, text)| OriginFile::new(path, text.as_bytes())).into(),
            by: "NVRTC 12.4 with --use_fast_math".to_owned(),
            again: "cargo cuda-graph ptx --arch=80".to_owned(),
        };
        folder.write("f.ptx", &format!("{PTX}{origin}"));
        for (path, text) in files {
            folder.write(path, text);
        }
        folder
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.0.join(path), text).unwrap();
    }

    /// The file that has changed, as the message about a block of the PTX says, and the command in its help.
    fn stale(&self) -> Option<(String, String)> {
        let path = format!("{:?}", self.0.join("f.ptx"));
        let tokens = attributed(&path, "unsafe extern \"C\" { fn f(); }").to_string();
        let (before, after) = tokens.split_once("` has changed since `")?;
        assert!(after.contains("f.ptx` was made of it [stale-ptx]"), "{after}");
        let command = after.split("help: `").nth(1)?.split('`').next()?;
        let command = command.replace(&format!("{}/", self.0.display()), "");
        let file = before.rsplit(['/', '`']).next()?;
        Some((file.to_owned(), command))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn stale(file: &str) -> Option<(String, String)> {
    let command = "cargo cuda-graph ptx --arch=80 f.cu";
    Some((file.to_owned(), command.to_owned()))
}

#[test]
fn a_change_is_told() {
    let folder = Folder::new("changed");
    assert_eq!(folder.stale(), None);
    for (path, text) in [("f.cu", SOURCE), ("factor.h", HEADER)] {
        folder.write(path, &text.replace('\n', "\r\n"));
        assert_eq!(folder.stale(), None, "Git may write other ends of lines");
        folder.write(path, &format!("{text}// more\n"));
        assert_eq!(folder.stale(), stale(path));
        folder.write(path, text);
    }
    folder.write("f.cu", &SOURCE.replace("--use_fast_math", "--fmad=false"));
    assert_eq!(folder.stale(), stale("f.cu"), "options are part of the source");
}

#[test]
fn what_is_not_there_cannot_have_changed() {
    let folder = Folder::new("gone");
    folder.write("factor.h", "");
    fs::remove_file(folder.0.join("f.cu")).unwrap();
    assert_eq!(folder.stale(), None, "PTX without its source");
    folder.write("f.cu", "");
    folder.write("f.ptx", PTX);
    assert_eq!(folder.stale(), None, "PTX of another tool");
}

/// The expansion names the files, so that cargo compiles the crate again when they change.
#[test]
fn the_files_are_watched() {
    let folder = Folder::new("watched");
    let path = format!("{:?}", folder.0.join("f.ptx"));
    let tokens = attributed(&path, "unsafe extern \"C\" { fn f(); }").to_string();
    for file in ["f.cu", "factor.h"] {
        let file = folder.0.join(file);
        assert!(tokens.contains(&format!("include_bytes ! ({file:?})")), "{tokens}");
    }
    let missing = attributed("\"no.ptx\"", "unsafe extern \"C\" { fn f(); }").to_string();
    assert!(!missing.contains("include_bytes"));
}
