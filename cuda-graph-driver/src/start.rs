//! Launching executable graphs.

use crate::code::{CAPTURE_INVALIDATED, CAPTURE_UNSUPPORTED, Done, fail};
use crate::graph::Body;
use crate::handle::Handle;
use crate::memory::Kind;
use crate::module::Attributes;
use crate::perform::{Launched, attempt};
use crate::record::Queued;
use crate::settings::SETTINGS;
use crate::state::{State, state};
use crate::work::Work;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::Duration;

/// The time after which a launch begins that nobody waits for: see [`State::launch`].
const UNAWAITED: Duration = Duration::from_millis(3);

impl State {
    /// Launches an executable graph, or makes it a part of a capture if `captures` says that this driver does so.
    ///
    /// With a memset node that is disabled, nobody waits for the launch: so driver 580 does (`xtask/faults.cpp`).
    pub(crate) fn launch(&mut self, exec: Handle, stream: Handle, captures: bool) -> Done {
        let handle = self.stream_handle(stream)?;
        self.check_implicit(handle)?;
        let root = self.exec(exec)?.root;
        let found = self.real_stream(handle)?;
        let context = found.context;
        if let Some(capturing) = &found.capturing {
            let capture = capturing.capture;
            if self.captures.get(&capture).is_none_or(|capture| capture.is_invalid) {
                return fail(CAPTURE_INVALIDATED, "a call has made the capture invalid");
            }
            if !captures || self.graph_if_there(root).is_none() {
                self.invalidate(capture);
                return fail(
                    CAPTURE_UNSUPPORTED,
                    "a graph cannot be launched on a stream that is being captured",
                );
            }
            let child = self.clone_graph(root, None)?;
            return match self.queue(handle, Work::Child(child), Attributes::new())? {
                Queued::Captured | Queued::Runs(_) => Ok(()),
            };
        }
        self.check_context(context)?;
        let mut after = self.before(handle)?;
        let queue = self.real_stream(handle)?.queue.clone();
        let launched = self.exec_mut(exec)?;
        after.extend(launched.last.take());
        let (bodies, conditions) = (launched.bodies.clone(), launched.conditions.clone());
        let (defaults, frees) = (launched.defaults.clone(), launched.frees);
        let steps = || bodies.values().flat_map(|body| &body.nodes).filter(|step| step.enabled);
        // A node waits for what its event stood for when the graph was launched, and so does all of the launch.
        let awaited = steps().filter_map(|step| match step.work {
            Work::Wait(event) => self.event(event).ok()?.mark.clone(),
            _ => None,
        });
        after.extend(awaited);
        let recorded = steps().filter_map(|step| match step.work {
            Work::Record(event) => Some(event),
            _ => None,
        });
        let recorded: Vec<Handle> = recorded.collect();
        let is_unawaited = bodies.values().any(|body| {
            let mut fills = body.nodes.iter().filter(|step| matches!(step.work, Work::Fill(_)));
            fills.any(|step| !step.enabled)
        });
        let run = move || {
            while SETTINGS.is_stuck && state().check_context(context).is_ok() {
                thread::sleep(UNAWAITED);
            }
            attempt(context, || {
                conditions
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .extend(defaults);
                if frees {
                    free_left(&bodies);
                }
                Launched::new(&bodies, &conditions).run(root)
            });
        };
        let mark = match is_unawaited {
            false => queue.push(after, true, run),
            true => queue.push(after, true, move || {
                thread::spawn(move || {
                    thread::sleep(UNAWAITED);
                    run();
                });
            }),
        };
        // An event of a node has come when the launch has ended.
        for event in recorded {
            if let Ok(event) = self.event_mut(event) {
                (event.mark, event.captured) = (Some(mark.clone()), None);
            }
        }
        self.exec_mut(exec)?.last = Some(mark);
        Ok(())
    }
}

/// Frees what the nodes of an earlier launch have allocated and left.
fn free_left(bodies: &HashMap<Handle, Arc<Body>>) {
    let steps = bodies.values().flat_map(|body| &body.nodes);
    let mut state = state();
    for step in steps {
        if let Work::Allocate(block) = &step.work {
            state.blocks.remove(block.address, &[Kind::Device]);
        }
    }
}
