//! The texts that go into the compiler and come out: the first line of a source, and PTX that is the same on every
//! machine.

/// The beginning of a first line that is meant for this crate.
const DIRECTIVE: &str = "// cuda-graph:";
/// Our own option: the PTX version that the `.ptx` asks for.
const PTX_VERSION: &str = "--ptx-version=";
/// The oldest GPUs supported (Volta); the driver translates for newer ones.
const DEFAULT_ARCHITECTURE: &str = "--gpu-architecture=compute_70";

/// Returns the options that a source asks for on its first line, `// cuda-graph: --gpu-architecture=compute_90`:
/// options of NVRTC, and `--ptx-version=6.0`, which lowers the version that the PTX asks for, so that older drivers
/// take it.
pub fn directive(source: &str) -> Option<&str> {
    source.lines().next()?.strip_prefix(DIRECTIVE).map(str::trim)
}

/// The options to compile `source` with: those of its first line, then `given`, then defaults.
pub(crate) fn options(source: &str, given: &[String]) -> Vec<String> {
    let own = directive(source).unwrap_or("").split_whitespace();
    let mut options: Vec<String> = own
        .filter(|word| !word.starts_with(PTX_VERSION))
        .map(str::to_owned)
        .collect();
    let names = |options: &[String], names: &[&str]| {
        let named = |option: &String| names.iter().any(|name| option.starts_with(name));
        options.iter().any(named)
    };
    const ARCHITECTURE: [&str; 2] = ["--gpu-architecture", "-arch"];
    let is_fixed = names(&options, &ARCHITECTURE);
    let is_architecture = |option: &String| names(std::slice::from_ref(option), &ARCHITECTURE);
    options.extend(
        given
            .iter()
            .filter(|option| !(is_fixed && is_architecture(option)))
            .cloned(),
    );
    if !names(&options, &ARCHITECTURE) {
        options.push(DEFAULT_ARCHITECTURE.to_owned());
    }
    if !names(&options, &["--std", "-std"]) {
        options.push("--std=c++17".to_owned());
    }
    options
}

/// The PTX as it is kept. NVRTC names sources in line tables by absolute paths, which differ from machine to machine:
/// the `folders` that they begin with are cut off.
pub(crate) fn tidied(ptx: &str, source: &str, folders: &[String]) -> String {
    let mut ptx = renumbered(ptx);
    for folder in folders {
        ptx = ptx.replace(&format!(" \"{folder}/"), " \"");
        ptx = ptx.replace(&format!("\t\"{folder}/"), "\t\"");
    }
    lowered(&ptx, source)
}

/// The text with the version that `source` asks for, if it asks for one.
fn lowered(ptx: &str, source: &str) -> String {
    let mut words = directive(source).unwrap_or("").split_whitespace();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_may_lower_the_version() {
        let made = ".version 8.4\n.target sm_70\n";
        let asks = "// cuda-graph: --ptx-version=6.0\n";
        assert_eq!(lowered(made, asks), ".version 6.0\n.target sm_70\n");
        assert_eq!(lowered(made, "// cuda-graph: -G\n"), made);
        assert!(!options(asks, &[]).iter().any(|option| option.contains("ptx-version")));
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
        let plain = options("__global__ void f() {}", &[]);
        assert_eq!(plain, [DEFAULT_ARCHITECTURE, "--std=c++17"]);
        let hopper = "// cuda-graph: --gpu-architecture=compute_90 --use_fast_math\n";
        let own = ["--gpu-architecture=compute_90", "--use_fast_math", "--std=c++17"];
        assert_eq!(options(hopper, &[]), own);
        assert_eq!(
            options(hopper, &given(&["--gpu-architecture=compute_80"])),
            own,
            "a source knows best which architecture it needs"
        );
        assert_eq!(
            options("", &given(&["--gpu-architecture=compute_80", "-std=c++20"])),
            ["--gpu-architecture=compute_80", "-std=c++20"]
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
