//! Modules that several graphs of a context launch kernels of.

use crate::driver::LoadedModule;
use crate::in_flight::lock::Lock;
use std::collections::HashMap;
use std::sync::{Arc, Weak};

/// The modules that graphs of a context share, by the addresses of their PTX, which is a `static`.
///
/// A graph shares a module if its kernels write no variable of it, and no variable is memory of the graph. So nothing
/// that one graph does is seen by another.
#[derive(Default)]
pub(crate) struct SharedModules(Lock<HashMap<Text, Weak<SharedModule>>>);

/// The address and the length of a text.
type Text = (usize, usize);

fn key(text: &'static str) -> Text {
    (text.as_ptr().addr(), text.len())
}

/// A module that several graphs have. The last one unloads it.
pub(crate) struct SharedModule {
    pub(crate) loaded: LoadedModule,
    pub(crate) limits: Arc<SharedLimits>,
}

/// The most dynamic shared memory that functions of a shared module are set up for, in bytes, by their addresses. It
/// only grows, since another graph may need what one has set.
pub(crate) type SharedLimits = Lock<HashMap<usize, u32>>;

// SAFETY: driver handles are not bound to threads (D2 of `docs/safety.md`).
unsafe impl Send for SharedModule {}
// SAFETY: as above.
unsafe impl Sync for SharedModule {}

impl SharedModules {
    /// The module of this text, if a graph has it.
    pub(crate) fn find(&self, text: &'static str) -> Option<Arc<SharedModule>> {
        self.0.lock().get(&key(text))?.upgrade()
    }

    /// Takes a module that was loaded of this text, for further graphs.
    pub(crate) fn add(&self, text: &'static str, loaded: LoadedModule) -> Arc<SharedModule> {
        let limits = Arc::default();
        let module = Arc::new(SharedModule { loaded, limits });
        self.0.lock().insert(key(text), Arc::downgrade(&module));
        module
    }
}
