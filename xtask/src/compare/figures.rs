//! Figures: the rows of the table, the lines that programs print, and the file of a visit.

use crate::Result;
use serde_json::{Value, json};

/// A row of the table.
#[derive(Debug)]
pub(crate) struct Row {
    /// Its name, as programs print it. The first word is not always the program.
    pub(crate) name: &'static str,
    /// The program in `examples`, and the script in `examples/pytorch` if there is one of this name.
    pub(crate) program: &'static str,
    /// The row whose figures of PyTorch are shown here, if it is another.
    beside: Option<&'static str>,
    wanted: Wanted,
}

/// The bound that issue 13 sets for a row.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wanted {
    /// There is none.
    Anything,
    /// At most so many microseconds.
    Microseconds(f64),
    /// At most half of PyTorch's replay.
    HalfOfReplay,
}

impl Row {
    const fn new(name: &'static str, program: &'static str, wanted: Wanted) -> Self {
        Self {
            name,
            program,
            beside: None,
            wanted,
        }
    }

    const fn beside(self, row: &'static str) -> Self {
        Self {
            beside: Some(row),
            ..self
        }
    }
}

/// The rows in the order of the table. Other rows that their programs print come after these.
pub(crate) const ROWS: &[Row] = {
    use Wanted::{Anything, HalfOfReplay, Microseconds};
    &[
        Row::new("train_linear f32", "train_linear", Microseconds(14.0)),
        Row::new("train_linear tf32", "train_linear", Microseconds(11.0)),
        Row::new("train_digits", "train_digits", Anything),
        Row::new("train_conv own", "train_conv", Anything).beside("train_conv"),
        Row::new("train_conv cudnn", "train_conv", Anything).beside("train_conv"),
        Row::new("train_text bf16, 8 texts", "train_text", Anything),
        Row::new("train_text bf16, 32 texts", "train_text", Anything),
        Row::new("transformer_block tf32", "transformer_block", Microseconds(55.0)),
        Row::new("transformer_block bf16", "transformer_block", Microseconds(33.0)),
        Row::new("generate bf16", "generate", Microseconds(200.0)),
        Row::new("llama bf16", "llama", Microseconds(760.0)),
        Row::new("infer", "infer", Microseconds(6.0)),
        Row::new("overlap plain", "overlap", Microseconds(30.0)),
        Row::new("overlap programmatic", "overlap", Microseconds(27.0)).beside("overlap plain"),
        Row::new("launch", "overlap", HalfOfReplay),
    ]
};

/// The programs of the rows, each once.
pub(crate) fn programs() -> Vec<&'static str> {
    let mut programs: Vec<&str> = ROWS.iter().map(|row| row.program).collect();
    programs.dedup();
    programs
}

/// The ways in which a row is measured: the columns of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Way {
    /// The graph of `cuda_graph!`.
    Ours,
    /// Driver or runtime calls without this project.
    Bare,
    /// PyTorch as it is.
    Eager,
    /// PyTorch, captured and replayed.
    Replay,
    /// `torch.compile`, captured and replayed.
    Compiled,
}

impl Way {
    pub(crate) const ALL: [Self; 5] = [Self::Ours, Self::Bare, Self::Eager, Self::Replay, Self::Compiled];

    /// The word that ends a row's name in a line; none for ours.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Ours => "",
            Self::Bare => "bare",
            Self::Eager => "eager",
            Self::Replay => "replay",
            Self::Compiled => "compiled",
        }
    }

    /// The title of the column.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Ours => "here",
            Self::Bare => "bare calls",
            Self::Eager => "PyTorch eager",
            Self::Replay => "replay",
            Self::Compiled => "compile + replay",
        }
    }
}

/// Microseconds: the median, and the quartiles (or of several rounds, the lowest and the highest quartile).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Times {
    pub(crate) median: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// Reads `bench:   <row>[ <way>]: <median> us (<low> to <high>)`; `None` if the line is another.
pub(crate) fn parse(line: &str) -> Option<(String, Way, Times)> {
    let (name, times) = line.strip_prefix("bench:")?.rsplit_once(": ")?;
    let (median, range) = times.trim().split_once(" us (")?;
    let (low, high) = range.strip_suffix(')')?.split_once(" to ")?;
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    let times = Times {
        median: number(median)?,
        low: number(low)?,
        high: number(high)?,
    };
    let (row, way) = named(name.trim());
    (!row.is_empty()).then_some((row, way, times))
}

/// Reads `way:     <row>[ <way>]: <name>`, the name of the fastest of several ways; `None` if the line is another.
pub(crate) fn parse_fastest(line: &str) -> Option<(String, Way, String)> {
    let (name, fastest) = line.strip_prefix("way:")?.split_once(": ")?;
    let (row, way) = named(name.trim());
    Some((row, way, fastest.to_owned()))
}

/// The row and the way that a line names.
fn named(name: &str) -> (String, Way) {
    let named = Way::ALL.iter().filter(|way| **way != Way::Ours).find_map(|&way| {
        let row = name.strip_suffix(way.word())?.strip_suffix(' ')?;
        Some((row.to_owned(), way))
    });
    named.unwrap_or_else(|| (name.to_owned(), Way::Ours))
}

/// The row that has the figures of a way: of PyTorch, it may be another one.
fn measured(row: &str, way: Way) -> &str {
    let known = ROWS.iter().find(|known| known.name == row);
    match way {
        Way::Ours | Way::Bare => row,
        Way::Eager | Way::Replay | Way::Compiled => known.and_then(|known| known.beside).unwrap_or(row),
    }
}

/// All figures of a visit to a GPU machine.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Visit {
    /// The facts about it: the day, the GPU, the versions, the command; each with its name.
    pub(crate) about: Vec<(String, String)>,
    /// The figures: row, way, and the times of each round.
    figures: Vec<(String, Way, Vec<Times>)>,
    /// The names of the fastest ways: row, way, and the name, where a script has measured several.
    fastest: Vec<(String, Way, String)>,
}

impl Visit {
    /// Adds the figure of a round.
    pub(crate) fn add(&mut self, row: &str, way: Way, times: Times) {
        let same = |figure: &&mut (String, Way, Vec<Times>)| (figure.0.as_str(), figure.1) == (row, way);
        match self.figures.iter_mut().find(same) {
            Some((.., rounds)) => rounds.push(times),
            None => self.figures.push((row.to_owned(), way, vec![times])),
        }
    }

    /// Adds the name of the fastest way. The first one of a row is kept: a script chooses in its first round.
    pub(crate) fn add_fastest(&mut self, (row, way, name): (String, Way, String)) {
        if !self.fastest.iter().any(|known| (&known.0, known.1) == (&row, way)) {
            self.fastest.push((row, way, name));
        }
    }

    /// The figure of a row: the median of the rounds' medians, and their whole range.
    pub(crate) fn times(&self, row: &str, way: Way) -> Option<Times> {
        let row = measured(row, way);
        let (.., rounds) = self
            .figures
            .iter()
            .find(|figure| (figure.0.as_str(), figure.1) == (row, way))?;
        let mut medians: Vec<f64> = rounds.iter().map(|times| times.median).collect();
        medians.sort_unstable_by(f64::total_cmp);
        Some(Times {
            median: medians[medians.len() / 2],
            low: rounds.iter().map(|times| times.low).fold(f64::INFINITY, f64::min),
            high: rounds.iter().map(|times| times.high).fold(0.0, f64::max),
        })
    }

    /// The name of the fastest of several ways.
    pub(crate) fn fastest(&self, row: &str, way: Way) -> Option<&str> {
        let row = measured(row, way);
        let found = self
            .fastest
            .iter()
            .find(|known| (known.0.as_str(), known.1) == (row, way));
        found.map(|(.., name)| name.as_str())
    }

    /// The names of all rows with a figure: those of [`ROWS`], then the others in the order in which they came.
    pub(crate) fn rows(&self) -> Vec<&str> {
        let has_figure = |name: &&str| self.figures.iter().any(|(row, ..)| row == name);
        let mut rows: Vec<&str> = ROWS.iter().map(|row| row.name).filter(has_figure).collect();
        for (row, ..) in &self.figures {
            let is_beside = ROWS.iter().any(|known| known.beside == Some(row));
            if !rows.contains(&row.as_str()) && !is_beside {
                rows.push(row);
            }
        }
        rows
    }

    /// The bound of a row in microseconds, and whether the row keeps it. `None` without a bound, or without a figure to
    /// compare.
    pub(crate) fn verdict(&self, row: &str) -> Option<(f64, bool)> {
        let wanted = ROWS.iter().find(|wanted| wanted.name == row)?.wanted;
        let bound = match wanted {
            Wanted::Anything => return None,
            Wanted::Microseconds(bound) => bound,
            Wanted::HalfOfReplay => self.times(row, Way::Replay)?.median / 2.0,
        };
        Some((bound, self.times(row, Way::Ours)?.median <= bound))
    }

    /// The text of `performance.json`.
    pub(crate) fn to_json(&self) -> String {
        let lines = |items: Vec<Value>| items.iter().map(Value::to_string).collect::<Vec<_>>().join(",\n  ");
        let about = self.about.iter().map(|(name, fact)| json!([name, fact]));
        let figures = self.figures.iter().map(|(row, way, rounds)| {
            let rounds: Vec<_> = rounds.iter().map(|it| json!([it.median, it.low, it.high])).collect();
            json!({ "row": row, "way": way.word(), "rounds": rounds })
        });
        let fastest = self
            .fastest
            .iter()
            .map(|(row, way, name)| json!([row, way.word(), name]));
        format!(
            "{{\"about\": [\n  {}\n], \"figures\": [\n  {}\n], \"fastest\": [\n  {}\n]}}\n",
            lines(about.collect()),
            lines(figures.collect()),
            lines(fastest.collect())
        )
    }

    /// Reads the text of `performance.json`.
    ///
    /// # Errors
    /// If it is no such file.
    pub(crate) fn from_json(text: &str) -> Result<Self> {
        let value: Value = serde_json::from_str(text)?;
        Self::read(&value).ok_or_else(|| "it is no `performance.json` of `cargo xtask compare`".into())
    }

    fn read(value: &Value) -> Option<Self> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let mut visit = Self::default();
        for fact in value["about"].as_array()? {
            visit.about.push((text(&fact[0])?, text(&fact[1])?));
        }
        let way = |value: &Value| {
            let word = value.as_str()?;
            Way::ALL.into_iter().find(|way| way.word() == word)
        };
        for fastest in value["fastest"].as_array()? {
            visit.add_fastest((text(&fastest[0])?, way(&fastest[1])?, text(&fastest[2])?));
        }
        for figure in value["figures"].as_array()? {
            let way = way(&figure["way"])?;
            for round in figure["rounds"].as_array()? {
                let times = Times {
                    median: round[0].as_f64()?,
                    low: round[1].as_f64()?,
                    high: round[2].as_f64()?,
                };
                visit.add(figure["row"].as_str()?, way, times);
            }
        }
        Some(visit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: Times = Times {
        median: 28.3,
        low: 28.0,
        high: 29.5,
    };

    #[test]
    fn lines_name_a_row_and_a_way() {
        let row = |text: &str| parse(text).map(|(row, way, _)| (row, way));
        let line = "bench:   overlap plain: 28.30 us (28.00 to 29.50)";
        assert_eq!(parse(line), Some(("overlap plain".to_owned(), Way::Ours, TIMES)));
        let compiled = "bench:   train_linear tf32 compiled: 22.1 us (22 to 23)";
        assert_eq!(row(compiled), Some(("train_linear tf32".to_owned(), Way::Compiled)));
        let expected = Some(("launch".to_owned(), Way::Bare));
        assert_eq!(row("bench:   launch bare: 1.0 us (1 to 1)"), expected);
        // A row whose name only ends like a way.
        let expected = Some(("threadbare".to_owned(), Way::Ours));
        assert_eq!(row("bench:   threadbare: 1.0 us (1 to 1)"), expected);
    }

    #[test]
    fn lines_name_the_fastest_way() {
        let line = "way:     generate bf16 compiled: default, modules, a cache for each layer";
        let fastest = parse_fastest(line).expect("a line of a script");
        let name = "default, modules, a cache for each layer".to_owned();
        assert_eq!(fastest, ("generate bf16".to_owned(), Way::Compiled, name));
        assert_eq!(parse_fastest("note:    x: 1 us"), None);
        let mut visit = Visit::default();
        visit.add_fastest(fastest.clone());
        visit.add_fastest((fastest.0.clone(), fastest.1, "another".to_owned()));
        assert_eq!(visit.fastest, [fastest]);
    }

    #[test]
    fn other_lines_are_passed_over() {
        for line in [
            "device:  CPU emulator",
            "bench:   there is no GPU",
            "bench:   x: fast us (1 to 2)",
            "bench:   x: inf us (1 to 2)",
            "bench:   x: 1 us (1 to 2",
            "bench:   : 1 us (1 to 2)",
        ] {
            assert_eq!(parse(line), None, "{line}");
        }
    }

    fn visit() -> Visit {
        let mut visit = Visit {
            about: vec![("GPU".to_owned(), "NVIDIA H200".to_owned())],
            ..Visit::default()
        };
        let at = |median| Times {
            median,
            low: median - 1.0,
            high: median + 1.0,
        };
        for median in [31.0, 28.0, 29.0] {
            visit.add("overlap plain", Way::Ours, at(median));
        }
        visit.add("other", Way::Ours, at(5.0));
        visit.add("launch", Way::Ours, at(1.5));
        visit.add("launch", Way::Replay, at(3.0));
        visit.add("infer", Way::Ours, at(6.5));
        visit.add("train_conv", Way::Replay, at(90.0));
        visit.add_fastest(("train_conv".to_owned(), Way::Replay, "one way".to_owned()));
        visit
    }

    #[test]
    fn figures_of_pytorch_stand_beside_several_rows() {
        let mut visit = visit();
        for row in ["train_conv own", "train_conv cudnn"] {
            assert_eq!(visit.times(row, Way::Replay).map(|times| times.median), Some(90.0));
            visit.add(row, Way::Ours, TIMES);
        }
        let rows = visit.rows();
        assert_eq!(rows[..2], ["train_conv own", "train_conv cudnn"]);
        assert!(!rows.contains(&"train_conv"));
    }

    #[test]
    fn rounds_become_one_figure() {
        let visit = visit();
        let times = visit.times("overlap plain", Way::Ours).expect("a figure");
        assert_eq!((times.median, times.low, times.high), (29.0, 27.0, 32.0));
        assert_eq!(visit.rows(), ["infer", "overlap plain", "launch", "other"]);
    }

    #[test]
    fn bounds_are_compared() {
        let visit = visit();
        assert_eq!(visit.verdict("overlap plain"), Some((30.0, true)));
        assert_eq!(visit.verdict("launch"), Some((1.5, true)));
        assert_eq!(visit.verdict("infer"), Some((6.0, false)));
        let expected = (None, None);
        assert_eq!((visit.verdict("other"), visit.verdict("train_linear f32")), expected);
    }

    #[test]
    fn the_file_is_read_as_it_was_written() {
        let visit = visit();
        assert_eq!(Visit::from_json(&visit.to_json()).expect("its own text"), visit);
        assert!(Visit::from_json("{}").is_err() && Visit::from_json("no").is_err());
    }

    #[test]
    fn a_program_with_several_rows_is_there_once() {
        let programs = programs();
        let mut sorted = programs.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), programs.len());
    }
}
