//! Mapped memory of a built graph.

use super::Graph;
use crate::error::{Error, Result};
use crate::kernel::mapped::Word;
use crate::memory::MappedHost;
use crate::ownership::storage::Storage;
use crate::shape::ArrayOf;
use crate::shape::place::{OnMapped, Place};

impl Graph {
    /// Returns a handle to [mapped](crate::GraphBuilder::mapped) memory, by which the host accesses it while the graph
    /// runs. Waits for nothing.
    ///
    /// # Errors
    /// [`Error::ForeignPlace`] if the place is another graph's, [`Error::OutOfBounds`] if it reaches outside.
    pub fn mapped<T: Word, S: ?Sized + ArrayOf<T>>(&self, place: &Place<S, OnMapped>) -> Result<MappedHost<T>> {
        let site = self.check_place(place.span)?;
        if align_of::<T>() != size_of::<T>() {
            let message = "this machine does not align words of 8 bytes, so they are not loaded as one";
            return Err(Error::Unsupported { site, message });
        }
        match &self.executable.storage()[place.span.resource] {
            Storage::Mapped(memory) => Ok(MappedHost::new(memory, place.span.start, place.span.bytes, site)),
            _ => Err(Error::ForeignPlace { site }),
        }
    }
}
