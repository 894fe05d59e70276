//! Queuing work on streams, or recording it into the graphs that they are captured into.

use crate::capture::{Capture, Captured, Capturing};
use crate::code::{
    CAPTURE_INVALIDATED, CAPTURE_ISOLATION, CAPTURE_MERGE, CAPTURE_UNJOINED, CAPTURE_UNMATCHED, CAPTURE_UNSUPPORTED,
    CAPTURE_WRONG_THREAD, Done, ILLEGAL_STATE, fail, refuse,
};
use crate::graph::Graph;
use crate::handle::Handle;
use crate::module::Attributes;
use crate::perform::attempt;
use crate::queue::Mark;
use crate::state::{MODE, Object, State};
use crate::work::{Conditions, Work};
use std::thread;

/// The fate of work.
pub(crate) enum Queued {
    /// It is a node.
    Captured,
    /// It runs, up to there.
    Runs(Mark),
}

impl State {
    /// Begins a capture of a stream, into a graph if one is given.
    pub(crate) fn begin_capture(&mut self, stream: Handle, mode: u32, into: Option<(Handle, Vec<Handle>)>) -> Done {
        if mode > 2 {
            return refuse(format!("there is no mode {mode} of captures"));
        }
        let handle = self.stream_handle(stream)?;
        let found = self.real_stream(handle)?;
        if found.capturing.is_some() {
            return fail(ILLEGAL_STATE, "the stream is being captured");
        }
        if stream < 2 {
            return fail(CAPTURE_UNSUPPORTED, "the null stream cannot be captured");
        }
        let is_given = into.is_some();
        let (graph, after) = match into {
            Some(into) => into,
            None => (self.add(Object::Graph(Graph::default())), Vec::new()),
        };
        let id = self
            .captures
            .last_key_value()
            .map_or(1, |(last, _)| last + 1)
            .max(self.last_capture + 1);
        self.last_capture = id;
        let capture = Capture {
            graph,
            is_given,
            mode,
            thread: thread::current().id(),
            origin: handle,
            is_invalid: false,
        };
        self.captures.insert(id, capture);
        self.real_stream_mut(handle)?.capturing = Some(Capturing { capture: id, after });
        Ok(())
    }

    /// Ends the capture of a stream. Returns the graph, or the reason that there is none.
    pub(crate) fn end_capture(&mut self, stream: Handle) -> Done<Handle> {
        let handle = self.stream_handle(stream)?;
        let Some(capturing) = self.real_stream(handle)?.capturing.clone() else {
            return fail(ILLEGAL_STATE, "the stream is not being captured");
        };
        let Some(capture) = self.captures.get(&capturing.capture) else {
            return fail(ILLEGAL_STATE, "the capture is gone");
        };
        if capture.origin != handle {
            self.invalidate(capturing.capture);
            return fail(CAPTURE_UNMATCHED, "the capture began on another stream");
        }
        if capture.mode < 2 && capture.thread != thread::current().id() {
            return fail(CAPTURE_WRONG_THREAD, "the capture began on another thread");
        }
        let (graph, is_given, is_invalid) = (capture.graph, capture.is_given, capture.is_invalid);
        let reached = self.ancestors(&capturing.after);
        let is_unjoined = self
            .members(capturing.capture)
            .into_iter()
            .any(|(member, after)| member != handle && !after.iter().all(|node| reached.contains(node)));
        for (member, _) in self.members(capturing.capture) {
            self.real_stream_mut(member)?.capturing = None;
        }
        self.captures.remove(&capturing.capture);
        if is_invalid || is_unjoined {
            if !is_given {
                self.destroy_graph(graph)?;
            }
            return match is_invalid {
                true => fail(CAPTURE_INVALIDATED, "a call has made the capture invalid"),
                false => fail(CAPTURE_UNJOINED, "work was forked to a stream that was not joined"),
            };
        }
        Ok(graph)
    }

    /// The streams of a capture, with the nodes that they come after.
    fn members(&self, capture: u64) -> Vec<(Handle, Vec<Handle>)> {
        let all = self.all_streams().filter_map(|(handle, stream)| {
            let capturing = stream.capturing.as_ref()?;
            (capturing.capture == capture).then(|| (handle, capturing.after.clone()))
        });
        all.collect()
    }

    /// Whether a stream is being captured: 0, 1, or 2 if the capture is invalid. Also the capture's number.
    pub(crate) fn capture_status(&mut self, stream: Handle) -> Done<(u32, u64)> {
        let handle = self.stream_handle(stream)?;
        self.check_implicit(handle)?;
        let Some(capturing) = &self.real_stream(handle)?.capturing else {
            return Ok((0, 0));
        };
        let is_invalid = self
            .captures
            .get(&capturing.capture)
            .is_none_or(|capture| capture.is_invalid);
        Ok((1 + u32::from(is_invalid), capturing.capture))
    }

    /// Refuses to wait for a stream that is being captured, which makes the capture invalid.
    pub(crate) fn check_not_capturing(&mut self, handle: Handle) -> Done {
        let Some(capturing) = &self.real_stream(handle)?.capturing else {
            return Ok(());
        };
        let capture = capturing.capture;
        let was_invalid = self.captures.get(&capture).is_some_and(|capture| capture.is_invalid);
        self.invalidate(capture);
        match was_invalid {
            true => fail(CAPTURE_INVALIDATED, "a call has made the capture invalid"),
            false => fail(CAPTURE_UNSUPPORTED, "the stream is being captured"),
        }
    }

    /// Queues work on a stream, or adds it to the graph that the stream is captured into.
    pub(crate) fn queue(&mut self, stream: Handle, work: Work, attributes: Attributes) -> Done<Queued> {
        let handle = self.stream_handle(stream)?;
        self.check_implicit(handle)?;
        let found = self.real_stream(handle)?;
        if let Some(capturing) = found.capturing.clone() {
            let Some(capture) = self
                .captures
                .get(&capturing.capture)
                .filter(|capture| !capture.is_invalid)
            else {
                return fail(CAPTURE_INVALIDATED, "a call has made the capture invalid");
            };
            let graph = capture.graph;
            let node = self.add_node(graph, &capturing.after, work, attributes)?;
            let capturing = Capturing {
                after: vec![node],
                ..capturing
            };
            self.real_stream_mut(handle)?.capturing = Some(capturing);
            return Ok(Queued::Captured);
        }
        let context = found.context;
        self.check_context(context)?;
        let after = self.before(handle)?;
        let queue = self.real_stream(handle)?.queue.clone();
        let is_late = !matches!(work, Work::Record(_));
        let mark = queue.push(after, is_late, move || {
            attempt(context, || work.run(&attributes, &Conditions::default()));
        });
        Ok(Queued::Runs(mark))
    }

    /// Records an event.
    pub(crate) fn record(&mut self, event: Handle, stream: Handle) -> Done {
        self.event(event)?;
        let handle = self.stream_handle(stream)?;
        self.check_implicit(handle)?;
        let found = self.real_stream(handle)?;
        if let Some(Capturing { capture, after }) = found.capturing.clone() {
            if self.captures.get(&capture).is_none_or(|capture| capture.is_invalid) {
                return fail(CAPTURE_INVALIDATED, "a call has made the capture invalid");
            }
            let event = self.event_mut(event)?;
            event.captured = Some(Captured { capture, after });
            return Ok(());
        }
        self.check_context(found.context)?;
        // An event on the null stream stands for the work of the streams that it waits for, too.
        let marked = self.queue(handle, Work::Record(event), Attributes::new())?;
        let event = self.event_mut(event)?;
        event.captured = None;
        if let Queued::Runs(mark) = marked {
            event.mark = Some(mark);
        }
        Ok(())
    }

    /// Makes a stream wait for an event.
    pub(crate) fn wait_event(&mut self, stream: Handle, event: Handle) -> Done {
        let handle = self.stream_handle(stream)?;
        self.check_implicit(handle)?;
        let (captured, mark) = {
            let event = self.event(event)?;
            (event.captured.clone(), event.mark.clone())
        };
        let found = self.real_stream(handle)?;
        match (found.capturing.clone(), captured) {
            (Some(mut capturing), Some(captured)) => {
                if capturing.capture != captured.capture {
                    self.invalidate(capturing.capture);
                    return fail(CAPTURE_MERGE, "the event is of another capture");
                }
                let new = captured
                    .after
                    .into_iter()
                    .filter(|node| !capturing.after.contains(node));
                let new: Vec<Handle> = new.collect();
                capturing.after.extend(new);
                self.real_stream_mut(handle)?.capturing = Some(capturing);
            }
            (Some(capturing), None) => {
                if mark.is_some() {
                    self.invalidate(capturing.capture);
                    return fail(CAPTURE_ISOLATION, "the event was recorded outside of the capture");
                }
            }
            (None, Some(Captured { capture, after })) => {
                let Some(known) = self.captures.get(&capture) else {
                    return refuse("the event was recorded in a capture that has ended");
                };
                if known.is_invalid {
                    return fail(CAPTURE_INVALIDATED, "a call has made the capture invalid");
                }
                self.real_stream_mut(handle)?.capturing = Some(Capturing { capture, after });
            }
            (None, None) => {
                let mut before = self.before(handle)?;
                before.extend(mark);
                self.real_stream(handle)?.queue.push(before, false, || ());
            }
        }
        Ok(())
    }
}

/// Sets this thread's mode, and returns the one before.
pub(crate) fn exchange_mode(mode: u32) -> Done<u32> {
    if mode > 2 {
        return refuse(format!("there is no mode {mode} of captures"));
    }
    Ok(MODE.replace(mode))
}
