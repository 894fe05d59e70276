//! The events of `tracing` that the emulator emits: docs/bugs.md lists them.

use crate::common::*;
use graph_runtime::{Device, Graph, GraphBuilder, Launch, Result};
use std::fmt::{self, Write};
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{Subscriber, with_default};
use tracing::{Dispatch, Event, Metadata};

/// Collects events as lines: the level, the message, the other fields.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

#[derive(Default)]
struct Line {
    message: String,
    fields: String,
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            "message" => self.message = format!("{value:?}"),
            name => write!(self.fields, " {name}={value:?}").expect("it is a string"),
        }
    }
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "graph_runtime"
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line::default();
        event.record(&mut line);
        let line = format!("{} {}:{}", event.metadata().level(), line.message, line.fields);
        self.0.lock().unwrap().push(line);
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

fn graph() -> Result<Graph> {
    let mut builder = GraphBuilder::new(&Device::emulator(), "Traced");
    let mut data = builder.device::<[u32; 4]>("data");
    let clear = builder.memset("clear", &mut data, 1_u32);
    let add = builder.kernel("add", Launch::new(1, 4), add_to::call(&mut data, 1));
    builder.after(add, &[clear]);
    builder.build()
}

#[test]
fn the_emulator_tells_what_it_loads_and_runs() -> Result<()> {
    let lines = Lines::default();
    // While there is one subscriber, `tracing` asks that of the thread which comes to an event first, perhaps of
    // another test, whether anybody wants it.
    let _second = Dispatch::new(Lines::default());
    with_default(lines.clone(), || {
        let mut graph = graph()?;
        let loaded = lines.take();
        assert!(
            loaded
                .iter()
                .any(|line| line.starts_with("TRACE load on the CPU emulator: graph=Traced path=")),
            "{loaded:?}"
        );
        let expected = [
            "TRACE launch on the CPU emulator: graph=Traced",
            "TRACE memset: node=clear",
            "TRACE kernel: node=add",
            "TRACE launch: entry=\"add_to\" grid=[1, 1, 1] block=[4, 1, 1] shared=0",
        ];
        graph.launch()?;
        assert_eq!(lines.take(), expected);
        block_on(graph.launch_async()?)?;
        assert_eq!(lines.take(), expected, "on the thread of the launch, too");
        Ok(())
    })
}
