//! The search for the first value that is not finite: debug mode and the emulator compare what a node writes with what
//! was there before.

use crate::ownership::blueprint::Blueprint;
use crate::shape::float::Float;
use graph_plan::{Draft, Memory, Mode, Space};

/// The floating-point memory of a graph.
pub(super) struct Finite {
    /// The type and the bytes of each resource that is floating-point device memory.
    floats: Vec<Option<(Float, usize)>>,
}

/// The first element that a node has written and that is not finite.
pub(super) struct Finding {
    pub(super) message: String,
    /// The notes about what the node was given.
    pub(super) notes: String,
    /// The resource, and the byte in it.
    #[cfg_attr(not(feature = "emulator"), expect(dead_code, reason = "only the emulator asks"))]
    pub(super) place: (usize, usize),
}

/// The contents of resources before a node runs.
pub(super) type Before = Vec<(usize, Vec<u8>)>;

impl Finite {
    pub(super) fn new(blueprint: &Blueprint<'_>) -> Self {
        let draft = blueprint.draft;
        let is_searched = |memory: Memory| memory.space() == Space::Device && memory != Memory::Mapped;
        let resources = draft.resources.iter().zip(blueprint.layouts);
        let floats = resources.map(|(resource, layout)| {
            let layout = layout.filter(|_| is_searched(resource.memory))?;
            Some((layout.float?, layout.bytes))
        });
        Self {
            floats: floats.collect(),
        }
    }

    /// The floating-point memory that a node touches in one of two ways. An update may give it other memory.
    fn touched(&self, draft: &Draft, node: usize, touches: impl Fn(Mode) -> bool) -> Vec<usize> {
        let mut found = Vec::new();
        for access in draft.accesses.iter().filter(|access| access.node == node) {
            let is_searched = touches(access.mode) && self.floats[access.resource].is_some();
            if is_searched && !found.contains(&access.resource) {
                found.push(access.resource);
            }
        }
        found
    }

    /// The contents of all floating-point memory that a node may write. `read` fills a list with the first bytes of a
    /// resource, and says whether that worked.
    pub(super) fn before(&self, draft: &Draft, node: usize, read: impl Fn(usize, &mut [u8]) -> bool) -> Before {
        let written = self.touched(draft, node, Mode::writes).into_iter();
        let contents = written.map(|resource| (resource, self.contents(resource, &read)));
        contents.collect()
    }

    /// The first element that a node has written and that is not finite, if there is one; elements that were the same
    /// before do not count.
    pub(super) fn finding(
        &self,
        draft: &Draft,
        node: usize,
        before: &Before,
        read: impl Fn(usize, &mut [u8]) -> bool,
    ) -> Option<Finding> {
        let (place, index, value) = before.iter().find_map(|(resource, before)| {
            let (float, _) = self.floats[*resource]?;
            let after = self.contents(*resource, &read);
            let (index, value) = float.first_not_finite(&after, before)?;
            Some(((*resource, index * float.bytes()), index, value))
        })?;
        let name = |resource: usize| &draft.resources[resource].name;
        let message = format!(
            "wrote {value} to element {index} of `{}`: the first value of the launch that is not finite",
            name(place.0)
        );
        let mut notes = String::new();
        for input in self.touched(draft, node, Mode::reads) {
            let Some((float, _)) = self.floats[input] else {
                continue;
            };
            // Its own writes say nothing about the numbers that it was given.
            let given = before.iter().find(|(written, _)| *written == input);
            let given = given.map_or_else(|| self.contents(input, &read), |(_, before)| before.clone());
            if let Some((index, value)) = float.first_not_finite(&given, &[]) {
                let name = name(input);
                notes.push_str(&format!(
                    "\nnote: it was given `{name}`, of which element {index} was {value} before"
                ));
            }
        }
        Some(Finding { message, notes, place })
    }

    /// The floating-point memory that a node may write, with its type and its bytes.
    #[cfg(feature = "emulator")]
    pub(super) fn written(&self, draft: &Draft, node: usize) -> impl Iterator<Item = (usize, Float, usize)> {
        let floats = self.touched(draft, node, Mode::writes).into_iter();
        floats.filter_map(|resource| self.floats[resource].map(|(float, bytes)| (resource, float, bytes)))
    }

    /// The bytes of a resource; none if they cannot be read.
    fn contents(&self, resource: usize, read: impl Fn(usize, &mut [u8]) -> bool) -> Vec<u8> {
        let bytes = self.floats[resource].map_or(0, |(_, bytes)| bytes);
        let mut contents = vec![0; bytes];
        if !read(resource, &mut contents) {
            contents.clear();
        }
        contents
    }
}
