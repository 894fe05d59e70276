//! The texts that go into the compiler and come out: the first lines of a source, and PTX that is the same on every
//! machine.

use std::path::{Path, PathBuf};

/// The beginning of a first line that is meant for this crate: options follow, for the PTX of this target if one is
/// named.
const DIRECTIVE: &str = "// cuda-graph";
/// Our own option: the PTX version that the `.ptx` asks for.
const PTX_VERSION: &str = "--ptx-version=";
/// Our own option: CUDA's own headers are fetched if they are included.
const WITH_HEADERS: &str = "--with-headers";

/// Returns the options that a source asks for on its first line, `// cuda-graph: --gpu-architecture=compute_90`:
/// options of NVRTC, `--ptx-version=6.0`, which lowers the version that the PTX asks for, so that older drivers take
/// it, and `--with-headers`, which fetches CUDA's own headers when they are included.
pub fn directive(source: &str) -> Option<&str> {
    let (_, options) = directives(source).find(|(target, _)| target.is_empty())?;
    Some(options)
}

/// Returns the targets that a source has tuned PTX for: each first line `// cuda-graph sm_90: <options>` asks for the
/// file `x.sm_90.ptx` besides `x.ptx`.
pub(crate) fn targets(source: &str) -> impl Iterator<Item = &str> {
    directives(source)
        .map(|(target, _)| target)
        .filter(|target| !target.is_empty())
}

/// The first lines that are meant for this crate: the target, or nothing, and the options.
fn directives(source: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = source.lines().map_while(|line| line.strip_prefix(DIRECTIVE));
    let parts = lines.map_while(|line| line.split_once(':'));
    parts.map(|(target, options)| (target.trim(), options.trim()))
}

/// The options for the PTX of a target, or for the PTX of all devices.
pub(crate) fn options_for<'s>(source: &'s str, target: Option<&str>) -> &'s str {
    let of_target = directives(source).find(|(name, _)| *name == target.unwrap_or(""));
    of_target.map_or("", |(_, options)| options)
}

/// Whether the source asks for CUDA's own headers on its first line.
pub(crate) fn wants_headers(source: &str) -> bool {
    options_for(source, None)
        .split_whitespace()
        .any(|word| word == WITH_HEADERS)
}

/// The options that choose the GPUs.
const ARCHITECTURE: [&str; 2] = ["--gpu-architecture", "-arch"];

/// Whether one of the options chooses the GPUs.
pub(crate) fn has_architecture(options: &str) -> bool {
    let mut words = options.split_whitespace();
    words.any(|word| ARCHITECTURE.iter().any(|name| word.starts_with(name)))
}

/// Replaces the GPUs that options choose by those of an architecture, such as `90a`.
pub(crate) fn set_architecture(options: &mut Vec<String>, architecture: &str) {
    options.retain(|option| !has_architecture(option));
    options.push(format!("{}=compute_{architecture}", ARCHITECTURE[0]));
}

/// The options to compile `source` with, for `target` or for all devices: those of its first lines, then `given`, then
/// defaults: among them the `oldest` GPUs, since the driver translates for newer ones.
pub(crate) fn options(source: &str, target: Option<&str>, given: &[String], oldest: &str) -> Vec<String> {
    let own = options_for(source, target).split_whitespace();
    let mut options: Vec<String> = own
        .filter(|word| !word.starts_with(PTX_VERSION) && *word != WITH_HEADERS)
        .map(str::to_owned)
        .collect();
    let names = |options: &[String], names: &[&str]| {
        let named = |option: &String| names.iter().any(|name| option.starts_with(name));
        options.iter().any(named)
    };
    if let Some(target) = target.filter(|_| !names(&options, &ARCHITECTURE)) {
        let number = target.strip_prefix("sm_").unwrap_or(target);
        options.push(format!("--gpu-architecture=compute_{number}"));
    }
    let is_fixed = names(&options, &ARCHITECTURE);
    let is_architecture = |option: &String| names(std::slice::from_ref(option), &ARCHITECTURE);
    options.extend(
        given
            .iter()
            .filter(|option| !(is_fixed && is_architecture(option)))
            .cloned(),
    );
    if !names(&options, &ARCHITECTURE) {
        options.push(format!("--gpu-architecture={oldest}"));
    }
    if !names(&options, &["--std", "-std"]) {
        options.push("--std=c++17".to_owned());
    }
    options
}

/// Adds the option by which PTX names lines of the source, unless one of the options says so already, or debugs. Not if
/// the source's own options ask for an older PTX version, which may not have all forms of these lines.
pub(crate) fn add_lines(options: &mut Vec<String>, own: &str) {
    const LINES: [&str; 4] = ["--generate-line-info", "-lineinfo", "--device-debug", "-G"];
    let is_decided = options.iter().any(|option| LINES.contains(&option.as_str()));
    if !is_decided && !own.contains(PTX_VERSION) {
        options.push(LINES[0].to_owned());
    }
}

/// The PTX as it is kept, given the options of the source's first lines. NVRTC names sources in line tables by absolute
/// paths, which differ from machine to machine: the `folders` that they begin with are cut off.
pub(crate) fn tidied(ptx: &str, options: &str, folders: &[String]) -> String {
    let mut ptx = renumbered(ptx);
    for folder in folders {
        ptx = ptx.replace(&format!(" \"{folder}/"), " \"");
        ptx = ptx.replace(&format!("\t\"{folder}/"), "\t\"");
    }
    lowered(&ptx, options)
}

/// The file that the first error of a log is in.
pub(crate) fn first_error(log: &str) -> Option<&str> {
    let (place, _) = log.lines().find_map(|line| line.split_once("): error: "))?;
    place.rsplit_once('(').map(|(file, _)| file)
}

/// A log without warnings about files in `folders`: those are about headers of others.
pub(crate) fn without_warnings_in(log: &str, folders: &[PathBuf]) -> String {
    const REMARK: &str = "Remark: The warnings can be suppressed";
    let is_in_them = |part: &&str| {
        let file = part
            .split_once("): warning")
            .map_or("", |(place, _)| place.trim_start());
        folders.iter().any(|folder| Path::new(file).starts_with(folder))
    };
    let parts: Vec<&str> = log.split("\n\n").filter(|part| !is_in_them(part)).collect();
    match parts.iter().all(|part| part.trim_start().starts_with(REMARK)) {
        true => String::new(),
        false => parts.join("\n\n"),
    }
}

/// The text with the version that the options ask for, if they ask for one.
fn lowered(ptx: &str, options: &str) -> String {
    let mut words = options.split_whitespace();
    let Some(version) = words.find_map(|word| word.strip_prefix(PTX_VERSION)) else {
        return ptx.to_owned();
    };
    let lines = ptx
        .split_inclusive('\n')
        .map(|line| match line.starts_with(".version ") {
            true => format!(".version {version}\n"),
            false => line.to_owned(),
        });
    lines.collect()
}

/// Returns the text with its call sequences (comments, and prototypes named after them) counted from 0: NVRTC does not
/// start again at 0 for the next compilation.
fn renumbered(ptx: &str) -> String {
    const MARKS: [&str; 2] = ["// callseq ", "prototype_"];
    let mut seen: Vec<&str> = Vec::new();
    let mut out = String::with_capacity(ptx.len());
    let mut rest = ptx;
    while let Some(start) = MARKS
        .iter()
        .filter_map(|mark| Some(rest.find(mark)? + mark.len()))
        .min()
    {
        let (before, after) = rest.split_at(start);
        let end = after
            .find(|letter: char| !letter.is_ascii_digit())
            .unwrap_or(after.len());
        let (number, behind) = after.split_at(end);
        let position = seen.iter().position(|other| *other == number).unwrap_or_else(|| {
            seen.push(number);
            seen.len() - 1
        });
        out.push_str(before);
        out.push_str(&position.to_string());
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// A word as a shell takes it.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_=./,:+@%".contains(char);
    if word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULT_ARCHITECTURE: &str = "--gpu-architecture=compute_70";

    fn options(source: &str, target: Option<&str>, given: &[String]) -> Vec<String> {
        super::options(source, target, given, "compute_70")
    }

    #[test]
    fn a_source_may_lower_the_version() {
        let made = ".version 8.4\n.target sm_70\n";
        assert_eq!(lowered(made, "--ptx-version=6.0"), ".version 6.0\n.target sm_70\n");
        assert_eq!(lowered(made, "-G"), made);
        let asks = "// cuda-graph: --ptx-version=6.0 --with-headers\n";
        let expected = [DEFAULT_ARCHITECTURE, "--std=c++17"];
        assert_eq!(options(asks, None, &[]), expected, "they are ours, not NVRTC's");
        assert!(wants_headers(asks) && !wants_headers("// --with-headers"));
    }

    #[test]
    fn warnings_about_headers_of_others_are_dropped() {
        let folders = [PathBuf::from("/cache/w")];
        let other = "/cache/w/cuda/std/cmath(341): warning #47-D: incompatible\n  #  define\n  ^\n";
        let remark = "\nRemark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n";
        assert_eq!(without_warnings_in(&format!("{other}{remark}"), &folders), "");
        let own = "x.cu(1): warning #177-D: variable\n  int x;\n";
        let expected = format!("{own}{remark}");
        assert_eq!(without_warnings_in(&expected, &folders), expected);
        assert_eq!(without_warnings_in(&format!("{other}\n{own}"), &folders), own);
    }

    #[test]
    fn call_sequences_count_from_zero() {
        let text = "{ // callseq 6, 0\ncall, prototype_6;\n} // callseq 6\n{ // callseq 7, 0\n} // callseq 7\n";
        let expected = "{ // callseq 0, 0\ncall, prototype_0;\n} // callseq 0\n{ // callseq 1, 0\n} // callseq 1\n";
        assert_eq!(renumbered(text), expected);
    }

    #[test]
    fn options_have_defaults_that_others_replace() {
        let given = |options: &[&str]| options.iter().map(|&option| option.to_owned()).collect::<Vec<_>>();
        let plain = options("__global__ void f() {}", None, &[]);
        assert_eq!(plain, [DEFAULT_ARCHITECTURE, "--std=c++17"]);
        let hopper = "// cuda-graph: --gpu-architecture=compute_90 --use_fast_math\n";
        let own = ["--gpu-architecture=compute_90", "--use_fast_math", "--std=c++17"];
        assert_eq!(options(hopper, None, &[]), own);
        assert_eq!(
            options(hopper, None, &given(&["--gpu-architecture=compute_80"])),
            own,
            "a source knows best which architecture it needs"
        );
        assert_eq!(
            options("", None, &given(&["--gpu-architecture=compute_80", "-std=c++20"])),
            ["--gpu-architecture=compute_80", "-std=c++20"]
        );
    }

    #[test]
    fn lines_are_named_unless_options_decide() {
        let added = |own: &str| {
            let mut options: Vec<String> = own.split_whitespace().map(str::to_owned).collect();
            add_lines(&mut options, own);
            options.join(" ")
        };
        assert_eq!(added("--use_fast_math"), "--use_fast_math --generate-line-info");
        for own in ["-G", "-lineinfo --use_fast_math", "--ptx-version=6.0"] {
            assert_eq!(added(own), own);
        }
    }

    #[test]
    fn a_source_may_ask_for_several_targets() {
        let source =
            "// cuda-graph: --use_fast_math\n// cuda-graph sm_90a: -DWIDE\n// cuda-graph sm_100: -arch=x\n// m\n";
        assert_eq!(targets(source).collect::<Vec<_>>(), ["sm_90a", "sm_100"]);
        assert_eq!(directive(source), Some("--use_fast_math"));
        let given = ["--gpu-architecture=compute_80".to_owned()];
        let expected = ["-DWIDE", "--gpu-architecture=compute_90a", "--std=c++17"];
        assert_eq!(options(source, Some("sm_90a"), &given), expected);
        assert_eq!(options(source, Some("sm_100"), &given), ["-arch=x", "--std=c++17"]);
        assert_eq!(targets("// m\n// cuda-graph sm_90: -G\n").count(), 0);
        assert_eq!(
            (targets("// cuda-graphs are\n").count(), directive("// cuda-graphs")),
            (0, None)
        );
    }

    #[test]
    fn line_tables_name_no_folder_of_this_machine() {
        let made = "\t.file\t1 \"/home/me/crate/kernels/x.cu\"\n\t.file\t2 \"/cache/w/include/cuda_fp16.hpp\"\n";
        let kept = "\t.file\t1 \"kernels/x.cu\"\n\t.file\t2 \"include/cuda_fp16.hpp\"\n";
        assert_eq!(
            tidied(made, "", &["/home/me/crate".to_owned(), "/cache/w".to_owned()]),
            kept
        );
    }
}
