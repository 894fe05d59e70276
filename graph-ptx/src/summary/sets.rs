//! Interned sets of sources: small numbers to hand around, with unions remembered.

use std::collections::HashMap;

use super::source::Source;

/// The most sources of a set. Larger sets become [`Set::ALL`], so that hostile text cannot ask for quadratic memory.
const MAX_SIZE: usize = 64;

/// A set of sources, by number; the default is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Set(u32);

impl Set {
    /// No source.
    pub(super) const EMPTY: Set = Set(0);
    /// Any source at all.
    pub(super) const ALL: Set = Set(1);

    pub(super) fn is_empty(self) -> bool {
        self == Set::EMPTY
    }
}

/// All sets of an analysis.
#[derive(Debug)]
pub(super) struct Sets {
    members: Vec<Box<[Source]>>,
    numbers: HashMap<Box<[Source]>, Set>,
    unions: HashMap<(Set, Set), Set>,
}

impl Sets {
    pub(super) fn new() -> Self {
        let none: Box<[Source]> = Box::new([]);
        // The members of `ALL` are not listed.
        let members = vec![none.clone(), none.clone()];
        Sets {
            members,
            numbers: HashMap::from([(none, Set::EMPTY)]),
            unions: HashMap::new(),
        }
    }

    /// The set of one source.
    pub(super) fn single(&mut self, source: Source) -> Set {
        self.intern(vec![source])
    }

    /// The sources of a set in order; of [`Set::ALL`] none.
    pub(super) fn members(&self, set: Set) -> &[Source] {
        &self.members[set.0 as usize]
    }

    pub(super) fn is_all(&self, set: Set) -> bool {
        set == Set::ALL
    }

    pub(super) fn contains(&self, set: Set, source: Source) -> bool {
        set == Set::ALL || self.members(set).binary_search(&source).is_ok()
    }

    pub(super) fn union(&mut self, a: Set, b: Set) -> Set {
        if a == b || b.is_empty() {
            return a;
        }
        if a.is_empty() {
            return b;
        }
        if a == Set::ALL || b == Set::ALL {
            return Set::ALL;
        }
        let key = (a.min(b), a.max(b));
        if let Some(&union) = self.unions.get(&key) {
            return union;
        }
        let mut members: Vec<Source> = self.members(a).iter().chain(self.members(b)).copied().collect();
        members.sort_unstable();
        members.dedup();
        let union = self.intern(members);
        self.unions.insert(key, union);
        union
    }

    /// The number of a set given by its members in order.
    fn intern(&mut self, members: Vec<Source>) -> Set {
        if members.len() > MAX_SIZE {
            return Set::ALL;
        }
        let members = members.into_boxed_slice();
        if let Some(&set) = self.numbers.get(&members) {
            return set;
        }
        let set = Set(u32::try_from(self.members.len()).unwrap_or(1));
        self.members.push(members.clone());
        self.numbers.insert(members, set);
        set
    }
}
