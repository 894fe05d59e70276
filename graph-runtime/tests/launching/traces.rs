//! The events of `tracing` that the emulator emits: docs/bugs.md lists them.

use crate::common::listener::Listener;
use crate::common::*;
use std::fmt::{self, Write};
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::subscriber::with_default;
use tracing::{Dispatch, Event};

/// Collects events as lines: the level, the message, the other fields.
#[derive(Default)]
pub(crate) struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    /// A subscriber that collects events here.
    pub(crate) fn listener(&self) -> Listener<impl Fn(&Event<'_>) + 'static> {
        let lines = self.0.clone();
        Listener(move |event: &Event<'_>| {
            let mut line = Line::default();
            event.record(&mut line);
            let line = format!("{} {}:{}", event.metadata().level(), line.message, line.fields);
            lines.lock().unwrap().push(line);
        })
    }

    pub(crate) fn take(&self) -> Vec<String> {
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

fn graph(device: &Device) -> Result<Graph> {
    let mut builder = GraphBuilder::new(device, "Traced");
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
    let _second = Dispatch::new(Lines::default().listener());
    with_default(lines.listener(), || {
        let device = Device::emulator();
        let mut graph = graph(&device)?;
        let loaded = lines.take();
        let parsed = |lines: &[String]| lines.iter().filter(|line| line.starts_with("TRACE parse")).count();
        assert_eq!(parsed(&loaded), 1, "{loaded:?}");
        self::graph(&device.clone())?.launch()?;
        let loaded_again = lines.take();
        assert_eq!(
            parsed(&loaded_again),
            0,
            "a device parses a file once: {loaded_again:?}"
        );
        let tells = |line: &String| line.starts_with("TRACE load on the CPU emulator: graph=Traced path=");
        assert!(loaded.iter().any(tells), "{loaded:?}");
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
