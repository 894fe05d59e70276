//! Many short lists in one piece of memory.

/// A list of values for each key, in compressed rows: no list has an allocation of its own.
#[derive(Clone, Debug)]
pub struct Lists<T> {
    /// The beginning of each list in `values`, and the end of the last.
    starts: Vec<u32>,
    values: Vec<T>,
}

impl<T: Copy + Default> Lists<T> {
    /// The lists of the keys below `keys`, which have the values of `pairs` in their order. `pairs` is called twice
    /// and must give the same pairs.
    pub fn new<I: Iterator<Item = (usize, T)>>(keys: usize, pairs: impl Fn() -> I) -> Self {
        Self::of_ascending(keys, pairs()).unwrap_or_else(|| Self::of_any(keys, pairs))
    }

    /// The lists if keys ascend, as they mostly do. Then the values are in their places.
    fn of_ascending(keys: usize, pairs: impl Iterator<Item = (usize, T)>) -> Option<Self> {
        let (mut starts, mut values) = (Vec::with_capacity(keys + 1), Vec::with_capacity(pairs.size_hint().0));
        for (key, value) in pairs {
            if key + 1 < starts.len() {
                return None;
            }
            while starts.len() <= key {
                starts.push(values.len() as u32);
            }
            values.push(value);
        }
        starts.resize(keys + 1, values.len() as u32);
        Some(Self { starts, values })
    }

    fn of_any<I: Iterator<Item = (usize, T)>>(keys: usize, pairs: impl Fn() -> I) -> Self {
        let mut starts = vec![0_u32; keys + 2];
        pairs().for_each(|(key, _)| starts[key + 2] += 1);
        for key in 2..starts.len() {
            starts[key] += starts[key - 1];
        }
        // `starts[key + 1]` is now where the list of `key` begins; filling moves it to where the list ends.
        let mut values = vec![T::default(); starts[keys + 1] as usize];
        for (key, value) in pairs() {
            let next = &mut starts[key + 1];
            values[*next as usize] = value;
            *next += 1;
        }
        Self { starts, values }
    }

    /// The list of a key.
    pub fn of(&self, key: usize) -> &[T] {
        &self.values[self.starts[key] as usize..self.starts[key + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_order_within_a_list() {
        let pairs = [(2, 'a'), (0, 'b'), (2, 'c'), (3, 'd')];
        let lists = Lists::new(5, || pairs.into_iter());
        let found: Vec<&[char]> = (0..5).map(|key| lists.of(key)).collect();
        assert_eq!(found, [&['b'][..], &[], &['a', 'c'], &['d'], &[]]);
        assert_eq!(Lists::<u32>::new(0, || [].into_iter()).values.len(), 0);
    }
}
