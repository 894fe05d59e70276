//! A package of its own that depends on the macros, made in the target folder and given to cargo.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};
use target_tuple::TARGET;

/// The usual dependencies of a package.
const DEPENDENCIES: &str =
    "graph-runtime = { path = 'WORKSPACE/graph-runtime' }\nui-tests = { path = 'WORKSPACE/ui-tests' }";

/// The flags that trybuild has for rustc. trybuild allows code that nothing uses, and so do packages unless their
/// source says otherwise.
const FLAGS: &str = "--cfg trybuild --verbose -A dead_code --diagnostic-width=140";

/// A package with a library or a program. All such packages share trybuild's target folder, its flags and its way to
/// name the target: what they depend on is compiled once for all of them and for trybuild.
pub(crate) struct Package {
    folder: PathBuf,
    /// Whether it depends on other crates than the workspace does, which cargo may have to fetch.
    fetches: bool,
}

impl Package {
    /// Makes the package, with an empty `src` folder. Its dependencies are these lines and further tables, or the usual
    /// ones; in them, `WORKSPACE` stands for the folder of this workspace.
    pub(crate) fn new(name: &str, dependencies: Option<&str>) -> io::Result<Self> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(folder.join("src"))?;
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .expect("a package of the workspace");
        let dependencies = dependencies
            .unwrap_or(DEPENDENCIES)
            .replace("WORKSPACE", &workspace.display().to_string());
        let manifest = format!(
            "[package]\nname = {name:?}\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n\
             [workspace]\n\n[dependencies]\n{dependencies}\n",
        );
        fs::write(folder.join("Cargo.toml"), manifest)?;
        fs::copy(workspace.join("Cargo.lock"), folder.join("Cargo.lock"))?;
        let fetches = dependencies.contains("version = ");
        Ok(Self { folder, fetches })
    }

    /// Writes a file of the package and returns the cargo command `name` for it; arguments may follow.
    pub(crate) fn cargo(&self, name: &str, file: &str, text: &str) -> io::Result<Command> {
        self.write(file, text.as_bytes())?;
        let mut command = Command::new(env!("CARGO"));
        command
            .args([name, "--quiet", "--target", TARGET])
            .args((!self.fetches).then_some("--offline"))
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", self.folder.join("../../tests/trybuild"))
            .env("CARGO_INCREMENTAL", "0")
            .env("RUSTFLAGS", FLAGS);
        Ok(command)
    }

    /// Writes a file of the package.
    pub(crate) fn write(&self, file: &str, text: &[u8]) -> io::Result<()> {
        let file = self.folder.join(file);
        file.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(file, text)
    }
}
