//! The images: shapes for now.

use super::PIXELS;

/// Images of 16 x 16 numbers from 0 to 1, and the digit of each.
pub fn digits() -> (Vec<[f32; PIXELS]>, Vec<u32>) {
    let labels: Vec<u32> = (0..1797).map(|image| (image * 7 + image / 10) % 10).collect();
    let image = |(number, label): (usize, &u32)| {
        std::array::from_fn(|pixel| {
            let (row, column) = (pixel / 16 + number % 3, pixel % 16 + number % 2);
            let on = (row * (*label as usize + 1) + column * 3) % 11 < 4;
            f32::from(u8::from(on))
        })
    };
    (labels.iter().enumerate().map(image).collect(), labels)
}
