//! Textures and surfaces against the results of an H200 for the same cases, which `kernels/texels.cpp` ran. `TEXELS`
//! names another table of results.

use std::fmt::Write as _;

use crate::common::{Gpu, buffer, download};
use graph_emulator::{Access, Addressing, Allocation, Channel, Extent, Filter, Launch, Options, Surface, Texture};

/// A line of `texels.txt` that names a kernel, and the words that follow.
struct Case<'a> {
    line: &'a str,
    fields: Vec<&'a str>,
    expected: Vec<u32>,
}

impl Case<'_> {
    fn number(&self, field: usize) -> usize {
        self.fields[field].parse().unwrap()
    }

    fn channel(&self) -> Channel {
        match self.fields[2] {
            "u8" => Channel::U8,
            "i8" => Channel::I8,
            "u16" => Channel::U16,
            "i16" => Channel::I16,
            "u32" => Channel::U32,
            "i32" => Channel::I32,
            "f32" => Channel::F32,
            other => panic!("{other}"),
        }
    }

    fn channel_bytes(&self) -> usize {
        self.fields[2][1..].parse::<usize>().unwrap() / 8
    }

    fn texel_bytes(&self) -> usize {
        self.number(3) * self.channel_bytes()
    }

    fn extent(&self) -> Extent {
        let [width, height, depth, layers] = [4, 5, 6, 7].map(|field| self.number(field));
        let layers = (layers > 0).then_some(layers);
        match (self.fields[1], height, depth) {
            ("linear", ..) => Extent::Linear { texels: width },
            (_, 0, _) => Extent::Line { width, layers },
            (_, _, 0) => Extent::Plane { width, height, layers },
            _ => Extent::Volume { width, height, depth },
        }
    }

    /// The bytes of its memory, in whole words.
    fn memory(&self) -> Vec<u8> {
        let sides = [4, 5].map(|field| self.number(field).max(1));
        let slices = self.number(6).max(self.number(7)).max(1);
        let (bytes, count) = (self.channel_bytes(), sides[0] * sides[1] * slices * self.number(3));
        let channels = (0..count as u32).flat_map(|number| {
            let bits = channel_bits(self.fields[12], number).to_le_bytes();
            bits.into_iter().take(bytes)
        });
        let mut memory: Vec<u8> = channels.collect();
        memory.resize(memory.len().next_multiple_of(4), 0);
        memory
    }

    fn texture(&self, memory: &Allocation) -> Texture {
        Texture {
            address: memory.address(),
            channel: self.channel(),
            channels: self.number(3) as u8,
            extent: self.extent(),
            filter: match self.fields[8] {
                "linear" => Filter::Linear,
                _ => Filter::Nearest,
            },
            addressing: match self.fields[9] {
                "border" => Addressing::Border,
                "wrap" => Addressing::Wrap,
                "mirror" => Addressing::Mirror,
                _ => Addressing::Clamp,
            },
            normalized_coordinates: self.fields[10] == "normalized",
            normalized_values: self.fields[11] == "unit",
        }
    }

    /// The words that its kernel writes.
    fn run(&self, gpu: &Gpu) -> Vec<u32> {
        let memory = gpu.upload("memory", &self.memory());
        let is_surface = self.fields[1] == "surface";
        let stores = self.fields[0].starts_with("sust");
        let (threads, words) = (self.number(14), self.number(15));
        let out = gpu.upload("out", &vec![0u32; threads * words]);
        // A surface's width counts the elements that are accessed.
        let width = match self.number(13) {
            0 => self.number(4),
            unit => self.number(4) * self.texel_bytes() / unit,
        };
        let normalized = usize::from(self.fields[10] == "normalized");
        let sides = [width, self.number(5), self.number(6), self.number(7), normalized, words];
        let sides: Vec<u8> = sides.iter().flat_map(|&side| (side as u32).to_le_bytes()).collect();
        let surface = Surface {
            address: memory.address(),
            channel: self.channel(),
            channels: self.number(3) as u8,
            extent: self.extent(),
        };
        let (handle, textures, surfaces) = match is_surface {
            true => (Surface::handle(0), vec![], vec![surface]),
            false => (Texture::handle(0), vec![self.texture(&memory)], vec![]),
        };
        let (blocks, block) = if stores {
            (1, 1)
        } else {
            (threads.div_ceil(32), threads.min(32))
        };
        let access = if stores { Access::ReadWrite } else { Access::Read };
        let launch = Launch {
            grid: [blocks as u32, 1, 1],
            block: [block as u32, 1, 1],
            shared_bytes: 0,
            arguments: &[&handle.to_le_bytes(), &out.address().to_le_bytes(), &sides],
            buffers: &[
                buffer("memory", &memory, access),
                buffer("out", &out, Access::ReadWrite),
            ],
            textures: &textures,
            surfaces: &surfaces,
            options: &Options::default(),
        };
        let ran = gpu.module.launch(self.fields[0], &launch);
        ran.unwrap_or_else(|fault| panic!("{}: {fault}", self.line));
        download(if stores { &memory } else { &out })
    }
}

fn mix(mut x: u32) -> u32 {
    x ^= x >> 16;
    x = x.wrapping_mul(0x7feb_352d);
    x ^= x >> 15;
    x = x.wrapping_mul(0x846c_a68b);
    x ^ x >> 16
}

/// The channel with this number of memory of a kind.
fn channel_bits(kind: &str, number: u32) -> u32 {
    let any = mix(number + 1);
    let value = match kind {
        "bits" => return any,
        "wild" => return (any & 0x807f_ffff) | (107 + mix(any) % 40) << 23,
        "denormal" => return any & 0x807f_ffff,
        "one" => f32::from(u8::from(number == 1)),
        "edge" => {
            return match (any % 2, any % 3) {
                (1, _) => 0x8000,
                (_, 0) => any,
                _ => 0x80,
            };
        }
        "inf" if number == 1 => f32::INFINITY,
        "nan" if number == 1 => return 0xffc1_2345,
        "inf" | "nan" => 1.0,
        // The smallest numbers, with some that are not normal.
        "tiny" => return (any & 0x807f_ffff) | (mix(any) % 10) << 23,
        "noise" => any.cast_signed() as f32 / 2_147_483_648.0,
        _ => number as f32,
    };
    value.to_bits()
}

fn cases(text: &str) -> Vec<Case<'_>> {
    let mut cases: Vec<Case<'_>> = Vec::new();
    for line in text.lines() {
        let words: Option<Vec<u32>> = line.split(' ').map(|word| u32::from_str_radix(word, 16).ok()).collect();
        match (words, cases.last_mut()) {
            (Some(words), Some(case)) => case.expected.extend(words),
            _ => cases.push(Case {
                line,
                fields: line.split(' ').collect(),
                expected: Vec::new(),
            }),
        }
    }
    cases
}

#[test]
fn texels_are_those_of_the_hardware() {
    let gpu = Gpu::new(include_str!("../kernels/texels.ptx"));
    let other = std::env::var("TEXELS")
        .ok()
        .map(|path| std::fs::read_to_string(path).unwrap());
    let cases = cases(other.as_deref().unwrap_or(include_str!("../kernels/texels.txt")));
    assert!(cases.len() >= 60);
    let mut wrong = String::new();
    for case in cases {
        let got = case.run(&gpu);
        assert!(!got.is_empty() && got.len() == case.expected.len(), "{}", case.line);
        let differ = || (0..got.len()).filter(|&index| got[index] != case.expected[index]);
        for index in differ().take(4) {
            // Writing to a string cannot fail.
            let _ = writeln!(
                wrong,
                "{}: [{index}] is {:08x}, but {:08x} on the GPU",
                case.line, got[index], case.expected[index]
            );
        }
        if differ().count() > 4 {
            let _ = writeln!(wrong, "{} of {} words differ", differ().count(), got.len());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
