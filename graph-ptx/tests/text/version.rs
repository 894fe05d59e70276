//! The version of the analysis counts every file.

use std::fs;
use std::path::{Path, PathBuf};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else {
            found.push(path);
        }
    }
}

#[test]
fn every_file_counts() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let counted = fs::read_to_string(root.join("proof/version.rs")).unwrap();
    let mut found = Vec::new();
    sources(&root, &mut found);
    for path in found {
        let name = path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
        let is_itself_or_for_compilers = name == "proof/version.rs" || name.starts_with("host_headers/");
        assert!(
            is_itself_or_for_compilers || counted.contains(&format!("\"../{name}\",")),
            "`{name}` is not among the files of the version"
        );
    }
}
