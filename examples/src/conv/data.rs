//! The images that the net learns.

use super::PIXELS;
use crate::digits::{self, digits};

/// The digits to train with, enlarged to 16 x 16: each pixel is four.
pub struct Data {
    /// The images, row by row.
    pub images: Vec<[f32; PIXELS]>,
    /// The digit of each.
    pub labels: Vec<u32>,
}

impl Data {
    /// Reads the data.
    ///
    /// # Errors
    /// If their file has a line that is no image.
    pub fn read() -> Result<Self, String> {
        let (digits, _) = digits()?;
        Ok(Self {
            images: digits.iter().map(|digit| enlarged(&digit.image)).collect(),
            labels: digits.iter().map(|digit| digit.label).collect(),
        })
    }
}

fn enlarged(image: &[f32; digits::PIXELS]) -> [f32; PIXELS] {
    std::array::from_fn(|pixel| image[pixel / 32 * 8 + pixel % 16 / 2])
}
