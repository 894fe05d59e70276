//! The images that the net learns.

use super::PIXELS;

/// Images of 16 x 16 numbers from 0 to 1, and the digit of each.
pub struct Data {
    /// The images, row by row.
    pub images: Vec<[f32; PIXELS]>,
    /// The digits.
    pub labels: Vec<u32>,
}

impl Data {
    /// Returns shapes.
    pub fn new() -> Self {
        let labels: Vec<u32> = (0..1438).map(|image| (image * 7 + image / 10) % 10).collect();
        let image = |(number, label): (usize, &u32)| {
            std::array::from_fn(|pixel| {
                let (row, column) = (pixel / 16 + number % 3, pixel % 16 + number % 2);
                let on = (row * (*label as usize + 1) + column * 3) % 11 < 4;
                f32::from(u8::from(on))
            })
        };
        Self {
            images: labels.iter().enumerate().map(image).collect(),
            labels,
        }
    }
}
