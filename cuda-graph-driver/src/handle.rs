//! Handles of objects.

/// A handle. It is no address, so that nobody can read through it.
pub(crate) type Handle = usize;
