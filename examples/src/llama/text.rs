//! The text that a graph of a Llama writes, on one device or as one of several ranks.

use super::graph::{Decode, RankDecode};
use graph_runtime::{AnyGraph, MappedHost, Result};

/// A graph that writes a text, in which it is at some place.
pub trait Writer: AnyGraph {
    /// Prepares the next launch: a text that begins with `given` tokens, at least one, and has `end` of them, or fewer
    /// if one of `stops` comes. Ranks have the same text.
    ///
    /// # Errors
    /// If the context has no room for `given`.
    fn begin_text(&mut self, given: &[u32], end: usize, stops: [u32; 4]) -> Result<()>;

    /// Goes to a place whose tokens before are in the text, and ends the next launch at place `end`. A launch makes at
    /// least one token.
    ///
    /// # Errors
    /// If the device has failed.
    fn seek(&mut self, place: usize, end: usize) -> Result<()>;

    /// The text up to the current place.
    ///
    /// # Errors
    /// If the device has failed.
    fn written(&self) -> Result<Vec<u32>>;

    /// Each token and one, as soon as it is chosen; 0 before.
    ///
    /// # Errors
    /// If the device has failed.
    fn tokens(&self) -> Result<MappedHost<u32>>;

    /// The logits after the last token, of the tokens that this rank scores.
    ///
    /// # Errors
    /// If the device has failed.
    fn scores(&self) -> Result<Vec<f32>>;
}

macro_rules! writers {
    ($($graph:ty),*) => {$(
        impl Writer for $graph {
            fn begin_text(&mut self, given: &[u32], end: usize, stops: [u32; 4]) -> Result<()> {
                let mut text = self.text_mut()?;
                let end = end.min(text.read_vec()?.len() - 1);
                text.rows_mut(..given.len())?.copy_from(given)?;
                let stream = self.stream()?;
                (0..stream.len()).try_for_each(|index| stream.store(index, 0))?;
                let mut state = [1, 0, given.len() as u32, end as u32 - 1, 0, 0, 0, 0];
                state[4..].copy_from_slice(&stops);
                self.state_mut()?.copy_from(&state)
            }

            fn seek(&mut self, place: usize, end: usize) -> Result<()> {
                let mut state = self.state()?.read()?;
                (state[1], state[3]) = (place as u32, end as u32);
                self.state_mut()?.copy_from(&state)
            }

            fn written(&self) -> Result<Vec<u32>> {
                let place = self.state()?.read()?[1] as usize;
                self.text()?.rows(..=place)?.read_vec()
            }

            fn tokens(&self) -> Result<MappedHost<u32>> {
                self.stream()
            }

            fn scores(&self) -> Result<Vec<f32>> {
                self.logits()?.read_vec()
            }
        }
    )*};
}

writers!(Decode, RankDecode);
