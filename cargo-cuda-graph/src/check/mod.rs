//! `check`: the kernels of CUDA and PTX files, what they do, and how Rust declares them.

mod report;
mod paste;
mod proof;
mod programmatic;
mod kernel;
mod needs;
mod lines;
mod source;
mod mangled;
mod cpp;
mod ident;

#[cfg(test)]
mod tests;

use std::fs;
use std::path::Path;

use cuda_graph_build::Compiler;
use graph_ptx::ast::Module;
use graph_ptx::origin::Origin;

use crate::Result;
use crate::arguments::{Arguments, manifest_folder};
use kernel::Kernel;
use lines::Lines;

/// A file that was read, and compiled if it is CUDA C++.
struct Subject {
    /// Its path as it was given.
    shown: String,
    /// The path of its PTX as an attribute names it, relative to the crate's manifest.
    attribute: String,
    /// The words and signs of the CUDA source: of the file itself, or of the one beside a PTX file that has its name.
    /// They only tell names and types.
    words: Option<Vec<String>>,
    /// Whether the PTX is still to be written.
    is_compiled: bool,
    /// The command that writes PTX, without the path of the source.
    command: String,
    /// The message that the PTX beside a source, or this PTX itself, is not of its source.
    stale: Option<String>,
    ptx: String,
    module: Module,
}

/// Reports on each file. Returns whether nothing in them is refused.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    arguments.existing(&["cu", "ptx"])?;
    let mut compiler = arguments.compiler()?;
    let mut is_accepted = true;
    for (index, file) in arguments.files.iter().enumerate() {
        if index > 0 {
            println!();
        }
        match load(file, &mut compiler) {
            Ok(subject) => is_accepted &= report(&subject),
            Err(error) => {
                is_accepted = false;
                eprintln!("error: {error}");
            }
        }
    }
    Ok(is_accepted)
}

fn load(file: &Path, compiler: &mut Compiler) -> Result<Subject> {
    let shown = file.display().to_string();
    let is_source = file.extension().is_some_and(|extension| extension == "cu");
    let read = || {
        let bytes = fs::read(file).map_err(|error| format!("cannot read {shown}: {error}"))?;
        String::from_utf8(bytes).map_err(|_| format!("{shown} is not a text file: it is not UTF-8"))
    };
    let text = read()?;
    let (source, ptx) = if is_source {
        (Some(text), compiler.compile(file)?.ptx)
    } else {
        (fs::read_to_string(file.with_extension("cu")).ok(), text)
    };
    let words = source.map(|text| compiler.words(&file.with_extension("cu"), &text));
    let subject = Subject::new(shown, attribute(file), words, ptx)?;
    Ok(Subject {
        is_compiled: is_source,
        command: compiler.command(),
        stale: stale(&file.with_extension("ptx")),
        ..subject
    })
}

/// The message that a PTX file is not of its source, if so it is.
fn stale(ptx: &Path) -> Option<String> {
    let origin = Origin::of(&fs::read_to_string(ptx).ok()?)?;
    let beside = |path: &str| ptx.with_file_name(path);
    let changed = beside(origin.changed(|path| fs::read(beside(path)).ok())?);
    Some(format!(
        "{} has changed since {} was made of it [stale-ptx]\nhelp: `{} {}` makes it again",
        changed.display(),
        ptx.display(),
        origin.again,
        beside(origin.source()?).display()
    ))
}

impl Subject {
    fn new(shown: String, attribute: String, words: Option<Vec<String>>, ptx: String) -> Result<Self> {
        let module = graph_ptx::parse(&ptx).map_err(|fault| format!("{shown} is not valid PTX: {fault}"))?;
        if module.address_size != 64 {
            return Err(format!("{shown} is PTX with addresses of {} bits, not 64", module.address_size).into());
        }
        Ok(Self {
            shown,
            attribute,
            words,
            is_compiled: false,
            command: String::new(),
            stale: None,
            ptx,
            module,
        })
    }
}

/// The path of a file's PTX, relative to the folder of the nearest manifest.
fn attribute(file: &Path) -> String {
    let ptx = file.with_extension("ptx");
    let relative = manifest_folder(file).and_then(|folder| {
        let absolute = std::path::absolute(&ptx).ok()?;
        Some(absolute.strip_prefix(folder).ok()?.to_owned())
    });
    relative.unwrap_or(ptx).display().to_string().replace('\\', "/")
}

/// Prints the report on a file, and the declarations to paste. Returns whether nothing is refused.
fn report(subject: &Subject) -> bool {
    let kernels = kernel::all(subject);
    let proofs = proof::of_all(&subject.module, &kernels);
    let lines = Lines::new(&subject.module);
    print!("{}", report::text(subject, &kernels, &proofs, &lines));
    if !kernels.is_empty() {
        println!("\n{}", paste::text(&subject.attribute, &kernels, &proofs));
    }
    if let Some(stale) = &subject.stale {
        println!("\n{stale}");
    } else if subject.is_compiled && !kernels.is_empty() {
        println!("\n`{} {}` writes the PTX.", subject.command, subject.shown);
    }
    let entries = subject.module.functions.iter().filter(|function| function.entry);
    let unreadable: Vec<_> = entries
        .filter_map(|entry| Some((&entry.name, entry.fault()?)))
        .collect();
    for (name, fault) in &unreadable {
        println!("\nthe kernel `{name}` cannot be used: {fault}");
    }
    let is_refused = subject.stale.is_some() && !subject.is_compiled;
    !is_refused && unreadable.is_empty() && kernels.iter().all(Kernel::is_accepted)
}
