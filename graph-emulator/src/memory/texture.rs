//! Textures: memory with a form of texels, and the way in which a kernel reads it by `tex`.

/// Memory that a kernel reads through a texture. The kernel gets its [handle](Texture::handle).
///
/// A launch must name the memory among its buffers, too: each texel is checked as a load is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Texture {
    /// The address of its first texel.
    pub address: u64,
    /// The type of a channel.
    pub channel: Channel,
    /// The channels of a texel: 1, 2 or 4.
    pub channels: u8,
    /// The texels of a row, which follow each other, or of all memory that has no rows.
    pub width: usize,
    /// The rows, which follow each other. If there are none, the memory is read by the number of a texel.
    pub height: Option<usize>,
    /// The result of reading between texels.
    pub filter: Filter,
    /// The result of reading outside the texels.
    pub addressing: Addressing,
    /// Whether coordinates go from 0 to 1.
    pub normalized_coordinates: bool,
    /// Whether integers are read as numbers from 0 to 1, or from -1 to 1.
    pub normalized_values: bool,
}

/// The type of a channel of a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of Rust's types")]
pub enum Channel {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    F32,
}

impl Channel {
    /// Its size in bytes.
    pub const fn bytes(self) -> u8 {
        match self {
            Channel::U8 | Channel::I8 => 1,
            Channel::U16 | Channel::I16 => 2,
            Channel::U32 | Channel::I32 | Channel::F32 => 4,
        }
    }
}

/// The result of reading a texture between texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// The texel that the coordinates are in.
    Nearest,
    /// The mean of the four nearest texels, by their distance. Weights are multiples of 1/256.
    Linear,
}

/// The result of reading a texture outside its texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addressing {
    /// The nearest texel at the border.
    Clamp,
    /// Zero.
    Border,
    /// The texels again. Coordinates must be normalised.
    Wrap,
    /// The texels again, each time in reverse. Coordinates must be normalised.
    Mirror,
}

/// The handle of the first texture of a launch: no address of memory.
const FIRST_HANDLE: u64 = 0x7e57 << 48;

impl Texture {
    /// The handle of number `index` of [`Launch::textures`](crate::Launch::textures), which is passed as an argument.
    pub const fn handle(index: usize) -> u64 {
        FIRST_HANDLE + index as u64
    }

    /// The texture of a handle.
    pub(crate) fn find(textures: &[Texture], handle: u64) -> Result<&Texture, String> {
        let index = handle
            .checked_sub(FIRST_HANDLE)
            .and_then(|index| usize::try_from(index).ok());
        let found = index.and_then(|index| textures.get(index));
        found.ok_or_else(|| format!("{handle:#x} is no handle of a texture of this launch"))
    }

    /// The reason that there cannot be such a texture, if there is one.
    pub(crate) fn mistake(&self) -> Option<&'static str> {
        let is_integer = self.channel != Channel::F32;
        if !matches!(self.channels, 1 | 2 | 4) {
            Some("a texel has 1, 2 or 4 channels")
        } else if !self.address.is_multiple_of(self.channel.bytes().into()) {
            Some("its address is no multiple of a channel's size")
        } else if self.normalized_values && (!is_integer || self.channel.bytes() == 4) {
            Some("only integers of 8 and 16 bits are read as normalised numbers")
        } else if self.filter == Filter::Linear && (is_integer && !self.normalized_values || self.height.is_none()) {
            Some("linear filters need rows of numbers with fractions")
        } else if matches!(self.addressing, Addressing::Wrap | Addressing::Mirror) && !self.normalized_coordinates {
            Some("only normalised coordinates wrap")
        } else if self.height.is_none() && self.normalized_coordinates {
            Some("memory without rows is read by the number of a texel")
        } else {
            None
        }
    }

    /// The bytes of a texel.
    pub(crate) fn texel_bytes(&self) -> u32 {
        u32::from(self.channels) * u32::from(self.channel.bytes())
    }

    /// The address of a texel.
    pub(crate) fn texel(&self, column: usize, row: usize) -> u64 {
        let index = row.wrapping_mul(self.width).wrapping_add(column) as u64;
        self.address.wrapping_add(index.wrapping_mul(self.texel_bytes().into()))
    }
}
