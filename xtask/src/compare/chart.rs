//! The figures of a visit as a drawing: one line for each row, one dot for each way, on a logarithmic axis.

use super::figures::{Visit, Way};
use std::fmt::Write as _;

const WIDTH: f64 = 860.0;
/// The width of the rows' names, left of the axis.
const LEFT: f64 = 190.0;
const RIGHT: f64 = 30.0;
/// The height of the legend, above the axis.
const TOP: f64 = 64.0;
const ROW: f64 = 34.0;

/// The drawing as SVG; of an empty visit it has no rows.
pub(crate) fn svg(visit: &Visit) -> String {
    let rows = visit.rows();
    let medians = |row| {
        Way::ALL
            .into_iter()
            .filter_map(move |way| Some((way, visit.times(row, way)?.median)))
    };
    let all = || rows.iter().flat_map(|row| medians(row)).map(|(_, median)| median);
    let decade = |number: f64| number.max(0.01).log10();
    let first = decade(all().fold(f64::INFINITY, f64::min).min(1e6)).floor();
    let last = decade(all().fold(10.0, f64::max)).ceil().max(first + 1.0);
    let x = |number: f64| LEFT + (decade(number) - first) / (last - first) * (WIDTH - LEFT - RIGHT);
    let bottom = TOP + ROW * rows.len() as f64;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" \
         font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
        height = bottom + 44.0
    );
    let mut at = LEFT;
    for way in Way::ALL {
        let _ = writeln!(
            out,
            "<circle cx=\"{at:.1}\" cy=\"22\" r=\"6\" fill=\"{}\"/><text x=\"{:.1}\" y=\"26.5\">{}</text>",
            color(way),
            at + 11.0,
            way.title()
        );
        at += 42.0 + 7.0 * way.title().len() as f64;
    }
    for power in first as i32..=last as i32 {
        let (number, at) = (10.0_f64.powi(power), x(10.0_f64.powi(power)));
        let _ = writeln!(
            out,
            "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{y:.1}\" y2=\"{bottom:.1}\" stroke=\"#ccc\"/><text x=\"{at:.1}\" \
             y=\"{label:.1}\" text-anchor=\"middle\" fill=\"#555\">{number} us</text>",
            y = TOP - 16.0,
            label = bottom + 22.0
        );
    }
    for (index, row) in rows.iter().enumerate() {
        let y = TOP + ROW * index as f64;
        let found: Vec<(Way, f64)> = medians(row).collect();
        let ends = |fold: fn(f64, f64) -> f64, start| x(found.iter().map(|found| found.1).fold(start, fold));
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 14.0,
            y + 4.5,
            escape(row)
        );
        let _ = writeln!(
            out,
            "<line x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#888\"/>",
            ends(f64::min, f64::INFINITY),
            ends(f64::max, 0.0)
        );
        // Ours last: above the others.
        for (way, median) in found.iter().rev() {
            let _ = writeln!(
                out,
                "<circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"{}\" fill=\"{}\"><title>{}: {median:.2} us</title></circle>",
                x(*median),
                if *way == Way::Ours { 7 } else { 6 },
                color(*way),
                way.title()
            );
        }
    }
    out + "</svg>\n"
}

/// The colour of a way; they can be told apart without seeing red or green.
const fn color(way: Way) -> &'static str {
    match way {
        Way::Ours => "#d55e00",
        Way::Bare => "#f0c040",
        Way::Eager => "#999999",
        Way::Replay => "#56b4e9",
        Way::Compiled => "#0072b2",
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::super::figures::Times;
    use super::*;

    #[test]
    fn each_figure_is_a_dot() {
        let mut visit = Visit::default();
        for (row, way, median) in [
            ("infer", Way::Ours, 5.0),
            ("infer", Way::Eager, 106.0),
            ("a < b", Way::Ours, 50.0),
        ] {
            let (low, high) = (median, median);
            visit.add(row, way, Times { median, low, high });
        }
        let svg = svg(&visit);
        assert_eq!(svg.matches("<title>").count(), 3, "{svg}");
        assert!(svg.contains(">a &lt; b<"), "{svg}");
        assert!(svg.contains(">1 us<"), "{svg}");
        assert!(svg.contains(">1000 us<"), "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{svg}");
    }

    #[test]
    fn a_visit_without_figures_is_drawn() {
        let svg = svg(&Visit::default());
        assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN"), "{svg}");
    }
}
