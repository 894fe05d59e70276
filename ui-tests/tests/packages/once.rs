//! rustc tells each mistake in a graph once: also with `--message-format=json`, by which editors and other tools count.

use crate::package::Package;

/// A right graph, as far as the macro can tell, with mistakes that only rustc finds: each on a line of its own.
const GRAPH: &str = r#"
graph_runtime::cuda_graph! {
    pub graph Wrong<const N: usize>(n: usize, rate: f32) {
        device data:  [f32; N];
        device rows:  [f32; n.rows()];
        device words: [u64; 64];
        param  factor: f32 = true;
        param  other:  f32 = rate + "x";
        memset one = data <- missing;
        memset two = words <- 1.5 after one;
        memset three = data <- factor + other + 1u8 after two;
        kernel four = ui_tests::write<<<1, n.threads>>>(&mut data) after three;
        kernel five = ui_tests::write<<<1, 32>>>(&mut words) after four;
        for i in 0..false { memset six = data[0] <- 1.0 after five; }
        memset seven = rows <- "seven";
    }
}
"#;

#[test]
fn rustc_tells_each_mistake_once() {
    let package = Package::new("once", None).expect("a package in the target folder");
    let mut check = package
        .cargo("check", "src/lib.rs", GRAPH)
        .expect("the source can be written");
    let output = check.arg("--message-format=json").output().expect("cargo runs");
    let json = String::from_utf8_lossy(&output.stdout);
    let mut lines: Vec<usize> = json.lines().filter_map(line_of_error).collect();
    lines.sort_unstable();
    let wrong = |line: &(usize, &str)| {
        let words = [
            "n.rows",
            "true",
            "\"x\"",
            "missing",
            "1.5",
            "1u8",
            "n.threads",
            "&mut words",
            "false",
            "\"seven\"",
        ];
        words.iter().any(|word| line.1.contains(word))
    };
    let expected: Vec<usize> = (1..).zip(GRAPH.lines()).filter(wrong).map(|(line, _)| line).collect();
    assert_eq!(lines, expected, "the lines of rustc's errors");
}

/// The line that an error is about; `None` for other messages and for the closing one.
fn line_of_error(message: &str) -> Option<usize> {
    let (_, rendered) = message.split_once("\"rendered\":\"error")?;
    let (_, place) = rendered.split_once("--> src/lib.rs:")?;
    place.split_once(':')?.0.parse().ok()
}
