//! Text that can be put together in a `const fn`, for messages of compile-time assertions.

/// A string of at most [`Text::CAPACITY`] bytes. A part that does not fit is left out.
#[derive(Clone, Copy)]
pub struct Text {
    bytes: [u8; Text::CAPACITY],
    len: usize,
}

impl Text {
    /// The most bytes a text holds.
    pub const CAPACITY: usize = 768;

    /// The empty text.
    pub const fn new() -> Self {
        Self {
            bytes: [0; Text::CAPACITY],
            len: 0,
        }
    }

    /// The template, in which `{0}` is replaced by the first part, `{1}` by the second one, and so on.
    pub const fn filled(template: &str, parts: &[&str]) -> Self {
        let (template, mut text, mut index) = (template.as_bytes(), Self::new(), 0);
        while index < template.len() {
            let is_place = template[index] == b'{' && index + 2 < template.len() && template[index + 2] == b'}';
            if is_place && template[index + 1].is_ascii_digit() {
                text = text.str(parts[(template[index + 1] - b'0') as usize]);
                index += 3;
                continue;
            }
            if text.len < Text::CAPACITY {
                text.bytes[text.len] = template[index];
                text.len += 1;
            }
            index += 1;
        }
        text
    }

    /// A number in decimal.
    pub const fn number(value: usize) -> Self {
        Self::new().int(value as i128)
    }

    /// Appends a string, or nothing if it does not fit whole.
    pub const fn str(mut self, text: &str) -> Self {
        let text = text.as_bytes();
        if text.len() > Text::CAPACITY - self.len {
            return self;
        }
        let mut index = 0;
        while index < text.len() {
            self.bytes[self.len + index] = text[index];
            index += 1;
        }
        self.len += text.len();
        self
    }

    /// Appends a number in decimal.
    pub const fn int(mut self, value: i128) -> Self {
        let mut digits = [0_u8; 40];
        let mut start = digits.len();
        let mut rest = value.unsigned_abs();
        loop {
            start -= 1;
            digits[start] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if value < 0 {
            start -= 1;
            digits[start] = b'-';
        }
        if digits.len() - start > Text::CAPACITY - self.len {
            return self;
        }
        while start < digits.len() {
            self.bytes[self.len] = digits[start];
            self.len += 1;
            start += 1;
        }
        self
    }

    /// Appends three lengths: `(16, 1, 1)`.
    pub const fn sides(self, [x, y, z]: [u32; 3]) -> Self {
        let text = self.str("(").int(x as i128).str(", ").int(y as i128);
        text.str(", ").int(z as i128).str(")")
    }

    /// The text.
    pub const fn as_str(&self) -> &str {
        let (text, _) = self.bytes.split_at(self.len);
        match core::str::from_utf8(text) {
            Ok(text) => text,
            Err(_) => "",
        }
    }
}

impl Default for Text {
    fn default() -> Self {
        Self::new()
    }
}

/// Whether the two texts are equal.
pub const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut index = 0;
    while index < a.len() && index < b.len() && a[index] == b[index] {
        index += 1;
    }
    a.len() == b.len() && index == a.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_put_together_at_compile_time() {
        const TEXT: Text = Text::new().str("from ").int(-12).str(" to ").int(i128::MAX).int(0);
        assert_eq!(TEXT.as_str(), "from -12 to 1701411834604692317316873037158841057270");
        assert_eq!(Text::new().int(i128::MIN).as_str(), i128::MIN.to_string());
    }

    #[test]
    fn what_does_not_fit_is_left_out() {
        let long = "x".repeat(Text::CAPACITY);
        assert_eq!(Text::new().str("a").str(&long).str("b").as_str(), "ab");
        assert_eq!(Text::new().str(&long).int(5).as_str(), long);
    }
}
