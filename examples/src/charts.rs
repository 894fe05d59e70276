//! Charts as SVG files.

use graph_runtime::BoxError;
use plotters::prelude::*;
use std::path::Path;

/// Draws what a training has come to: `loss.svg`, the mean loss of each epoch, and `confusion.svg`.
///
/// # Errors
/// If the folder cannot be made, or a file in it cannot be written.
pub fn training<const N: usize>(folder: &Path, losses: &[f32], counts: &[[u32; N]; N]) -> Result<(), BoxError> {
    std::fs::create_dir_all(folder)?;
    curve(&folder.join("loss.svg"), "Training loss", losses)?;
    confusion(&folder.join("confusion.svg"), counts)
}

/// Draws numbers as a curve, one for each epoch.
///
/// # Errors
/// If the file cannot be written.
pub fn curve(path: &Path, title: &str, values: &[f32]) -> Result<(), BoxError> {
    let root = SVGBackend::new(path, (720, 400)).into_drawing_area();
    root.fill(&WHITE)?;
    let top = values.iter().copied().fold(f32::MIN_POSITIVE, f32::max) * 1.05;
    let mut chart = ChartBuilder::on(&root)
        .caption(title, ("sans-serif", 20))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(56)
        .build_cartesian_2d(1..values.len().max(2), 0.0..top)?;
    chart.configure_mesh().x_desc("epoch").y_desc("mean loss").draw()?;
    chart.draw_series(LineSeries::new((1..).zip(values.iter().copied()), BLUE.stroke_width(2)))?;
    root.present()?;
    Ok(())
}

/// Draws a table of how often `right` (rows) was taken for `found` (columns): `counts[right][found]`.
///
/// # Errors
/// If the file cannot be written.
pub fn confusion<const N: usize>(path: &Path, counts: &[[u32; N]; N]) -> Result<(), BoxError> {
    const CELL: i32 = 40;
    let side = CELL * (N as i32 + 1);
    let root = SVGBackend::new(path, (side as u32, side as u32)).into_drawing_area();
    root.fill(&WHITE)?;
    let text = |text: String, row: i32, column: i32, color: &RGBColor| {
        let style = ("sans-serif", 16).into_font().color(color);
        Text::new(text, (column * CELL + CELL / 3, row * CELL + CELL / 3), style)
    };
    for (right, row) in (1..).zip(counts) {
        let all = row.iter().sum::<u32>().max(1);
        root.draw(&text((right - 1).to_string(), right, 0, &BLUE))?;
        root.draw(&text((right - 1).to_string(), 0, right, &BLUE))?;
        for (found, count) in (1..).zip(row) {
            let shade = 255 - (count * 200 / all) as u8;
            let corners = [(found * CELL, right * CELL), (found * CELL + CELL, right * CELL + CELL)];
            root.draw(&Rectangle::new(corners, RGBColor(shade, shade, 255).filled()))?;
            if *count > 0 {
                root.draw(&text(
                    count.to_string(),
                    right,
                    found,
                    if shade < 128 { &WHITE } else { &BLACK },
                ))?;
            }
        }
    }
    root.present()?;
    Ok(())
}
