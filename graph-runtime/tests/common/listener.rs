//! A subscriber of `tracing` that is a function.

use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Subscriber;
use tracing::{Event, Metadata};

/// A subscriber that calls a function with each event of this library.
pub(crate) struct Listener<F>(pub(crate) F);

impl<F: Fn(&Event<'_>) + 'static> Subscriber for Listener<F> {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "graph_runtime"
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        (self.0)(event);
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}
