//! Damaged PTX: neither the parser nor the summaries may panic or run away.

use graph_ptx::{kernel_summaries, parse};
use proptest::prelude::*;
use proptest::sample::Index;

const TEXTS: [&str; 3] = [
    include_str!("../data/pointers.sm_70.ptx"),
    include_str!("../data/features_debug.sm_70.ptx"),
    include_str!("../data/hopper.sm_90.ptx"),
];
/// Numbers at the ends of the types that the parser computes in.
const NUMBERS: [&str; 10] = [
    "0",
    "-1",
    "65535",
    "2147483648",
    "4294967295",
    "4294967296",
    "0x7fffffffffffffff",
    "-9223372036854775808",
    "18446744073709551615",
    "340282366920938463463374607431768211455",
];

/// One kind of damage.
#[derive(Clone, Debug)]
enum Damage {
    Delete(Index, usize),
    Duplicate(Index, usize),
    Replace(Index, u8),
    SwapLines(Index, Index),
    CopyWord(Index, Index),
    Number(Index, usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let place = any::<Index>;
    prop_oneof![
        (place(), 1..40_usize).prop_map(|(at, length)| Damage::Delete(at, length)),
        (place(), 1..400_usize).prop_map(|(at, length)| Damage::Duplicate(at, length)),
        (place(), prop_oneof![32..127_u8, Just(b'\n'), Just(b'{'), Just(b'}')])
            .prop_map(|(at, byte)| Damage::Replace(at, byte)),
        (place(), place()).prop_map(|(from, to)| Damage::SwapLines(from, to)),
        (place(), place()).prop_map(|(from, to)| Damage::CopyWord(from, to)),
        (place(), 0..NUMBERS.len()).prop_map(|(at, number)| Damage::Number(at, number)),
    ]
}

fn apply(text: &mut Vec<u8>, damage: &Damage) {
    if text.is_empty() {
        return;
    }
    let length = text.len();
    match damage {
        Damage::Delete(at, count) => {
            let at = at.index(length);
            text.drain(at..length.min(at + count));
        }
        Damage::Duplicate(at, count) => {
            let at = at.index(length);
            let copy = text[at..length.min(at + count)].to_vec();
            text.splice(at..at, copy);
        }
        Damage::Replace(at, byte) => text[at.index(length)] = *byte,
        Damage::SwapLines(from, to) => {
            let mut lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
            let (from, to) = (from.index(lines.len()), to.index(lines.len()));
            lines.swap(from, to);
            *text = lines.join(&b'\n');
        }
        Damage::CopyWord(from, to) => {
            let words: Vec<&[u8]> = text.split(|byte| b" \t\n,;".contains(byte)).collect();
            let word = words[from.index(words.len())].to_vec();
            let to = to.index(length);
            text.splice(to..to, word);
        }
        Damage::Number(at, number) => {
            let digit = |place: usize| text.get(place).is_some_and(u8::is_ascii_digit);
            let starts: Vec<usize> = (0..length)
                .filter(|&place| digit(place) && !place.checked_sub(1).is_some_and(digit))
                .collect();
            if !starts.is_empty() {
                let start = starts[at.index(starts.len())];
                let end = (start..=length).find(|&place| !digit(place)).unwrap_or(length);
                text.splice(start..end, NUMBERS[*number].bytes());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn damaged_ptx_is_parsed_or_refused(which in 0..TEXTS.len(), damages in prop::collection::vec(damage(), 1..6)) {
        let mut text = TEXTS[which].as_bytes().to_vec();
        for damage in &damages {
            apply(&mut text, damage);
        }
        let text = String::from_utf8_lossy(&text);
        match parse(&text) {
            Ok(module) => drop(kernel_summaries(&module)),
            Err(error) => {
                prop_assert!(error.line >= 1 && error.column >= 1);
                prop_assert!(error.line as usize <= text.split('\n').count());
                prop_assert!(!error.message.is_empty());
            }
        }
    }

    /// Single instructions swapped keep most texts parseable, so that the summaries get to see nonsense.
    #[test]
    fn shuffled_instructions_are_summarised(swaps in prop::collection::vec((any::<Index>(), any::<Index>()), 1..30)) {
        let mut lines: Vec<&str> = TEXTS[0].lines().collect();
        let places: Vec<usize> = (0..lines.len()).filter(|&line| lines[line].ends_with(';') && lines[line].contains('%')).collect();
        for (from, to) in &swaps {
            lines.swap(places[from.index(places.len())], places[to.index(places.len())]);
        }
        if let Ok(module) = parse(&lines.join("\n")) {
            prop_assert!(!kernel_summaries(&module).is_empty());
        }
    }
}
