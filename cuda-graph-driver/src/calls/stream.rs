//! Streams, events, and captures.

use super::calls;
use crate::argument::{In, Out};
use crate::code::refuse;
use crate::code::{CAPTURED_EVENT, Done, NOT_READY, fail};
use crate::graph::EdgeData;
use crate::handle::Handle;
use crate::state::{Event, Object, Stream, current, state};

/// Waits for a stream, or asks whether its work has ended.
fn wait(stream: Handle, waits: bool) -> Done {
    let (context, before, end) = {
        let mut state = state();
        let handle = state.stream_handle(stream)?;
        state.check_implicit(handle)?;
        state.check_not_capturing(handle)?;
        let context = state.real_stream(handle)?.context;
        (context, state.before(handle)?, state.real_stream(handle)?.queue.end())
    };
    let is_null = stream < 3;
    let marks = before.iter().filter(|_| is_null).chain([&end]);
    for mark in marks {
        if waits {
            mark.wait();
        } else if !mark.has_come() {
            return fail(NOT_READY, "there is work");
        }
    }
    state().check_context(context)
}

/// The mark of an event, if the host may ask for it.
fn mark(event: Handle) -> Done<Option<crate::queue::Mark>> {
    let state = state();
    let event = state.event(event)?;
    match event.captured {
        Some(_) => fail(CAPTURED_EVENT, "the event was recorded in a capture"),
        None => Ok(event.mark.clone()),
    }
}

fn lost() -> Done {
    current().map_or(Ok(()), |context| state().check_context(context))
}

fn create(out: Out<Handle>, flags: u32, priority: i32) -> Done {
    if flags > 1 {
        return refuse(format!("there are no flags {flags} of streams"));
    }
    let Some(context) = current() else {
        return fail(crate::code::INVALID_CONTEXT, "no context is current");
    };
    let stream = Stream {
        priority: priority.clamp(-5, 0),
        ..Stream::new(context, flags & 1 == 0)
    };
    out.put(state().add(Object::Stream(stream)))
}

/// Tells about the capture of a stream.
fn capture_info(
    stream: Handle,
    status: Out<u32>,
    id: Out<u64>,
    graph: Out<Handle>,
    dependencies: Out<*const Handle>,
    count: Out<usize>,
) -> Done {
    let mut state = state();
    let (found, number) = state.capture_status(stream)?;
    status.put(found)?;
    if found != 1 {
        return Ok(());
    }
    id.offer(number)?;
    let handle = state.stream_handle(stream)?;
    let after = state
        .real_stream(handle)?
        .capturing
        .as_ref()
        .map(|capturing| capturing.after.clone());
    graph.offer(state.captures.get(&number).map_or(0, |capture| capture.graph))?;
    let after = after.unwrap_or_default();
    count.offer(after.len())?;
    if !dependencies.is_null() {
        dependencies.put(Vec::leak(after).as_ptr())?; // CUDA tells an address, and not for how long
    }
    Ok(())
}

calls! {
    Context cuStreamCreate(out: Out<Handle>, flags: u32) { create(out, flags, 0) }
    Context cuStreamCreateWithPriority(out: Out<Handle>, flags: u32, priority: i32) { create(out, flags, priority) }
    AnyContext cuStreamDestroy_v2(stream: Handle) {
        let mut state = state();
        let capturing = state.real_stream(stream)?.capturing.clone();
        capturing.into_iter().for_each(|capturing| state.invalidate(capturing.capture));
        let (context, end) = (state.real_stream(stream)?.context, state.real_stream(stream)?.queue.end());
        state.context_mut(context)?.left.push(end);
        state.remove(stream);
        Ok(())
    }
    Context cuStreamGetId(stream: Handle, out: Out<u64>) {
        let handle = state().stream_handle(stream)?;
        out.put(handle as u64)
    }
    Context cuStreamGetFlags(stream: Handle, out: Out<u32>) { out.put(state().stream(stream)?.flags) }
    Context cuStreamGetPriority(stream: Handle, out: Out<i32>) { out.put(state().stream(stream)?.priority) }
    Context cuStreamGetCtx(stream: Handle, out: Out<Handle>) { out.put(state().stream(stream)?.context) }
    Context cuStreamGetDevice(stream: Handle, out: Out<i32>) {
        state().stream(stream)?;
        out.put(0)
    }
    Context cuStreamSynchronize(stream: Handle) { wait(stream, true) }
    Context cuStreamQuery(stream: Handle) { wait(stream, false) }
    Context cuStreamWaitEvent(stream: Handle, event: Handle, _flags: u32) { state().wait_event(stream, event) }
    Context cuStreamIsCapturing(stream: Handle, out: Out<u32>) {
        let (status, _) = state().capture_status(stream)?;
        out.put(status)
    }
    Context cuStreamGetCaptureInfo_v2(
        stream: Handle, status: Out<u32>, id: Out<u64>, graph: Out<Handle>, dependencies: Out<*const Handle>,
        count: Out<usize>,
    ) {
        capture_info(stream, status, id, graph, dependencies, count)
    }
    Context cuStreamGetCaptureInfo_v3(
        stream: Handle, status: Out<u32>, id: Out<u64>, graph: Out<Handle>, dependencies: Out<*const Handle>,
        data: Out<*const EdgeData>, count: Out<usize>,
    ) {
        data.offer(std::ptr::null())?;
        capture_info(stream, status, id, graph, dependencies, count)
    }
    Context cuStreamUpdateCaptureDependencies(stream: Handle, nodes: In<Handle>, count: usize, flags: u32) {
        let nodes = nodes.list(count)?;
        let mut state = state();
        let handle = state.stream_handle(stream)?;
        match &mut state.real_stream_mut(handle)?.capturing {
            Some(capturing) if flags & 1 == 1 => capturing.after = nodes,
            Some(capturing) => capturing.after.extend(nodes),
            None => return fail(crate::code::ILLEGAL_STATE, "the stream is not being captured"),
        }
        Ok(())
    }
    Context cuStreamBeginCapture_v2(stream: Handle, mode: u32) { state().begin_capture(stream, mode, None) }
    Context cuStreamBeginCaptureToGraph(
        stream: Handle, graph: Handle, after: In<Handle>, _data: In<EdgeData>, count: usize, mode: u32,
    ) {
        let after = after.list(count)?;
        let mut state = state();
        state.graph(graph)?;
        state.begin_capture(stream, mode, Some((graph, after)))
    }
    Context cuStreamEndCapture(stream: Handle, out: Out<Handle>) {
        let ended = state().end_capture(stream);
        out.put(*ended.as_ref().unwrap_or(&0))?;
        ended.map(drop)
    }

    Context cuEventCreate(out: Out<Handle>, flags: u32) {
        if flags > 7 {
            return refuse(format!("there are no flags {flags} of events"));
        }
        out.put(state().add(Object::Event(Event::default())))
    }
    AnyContext cuEventDestroy_v2(event: Handle) {
        let mut state = state();
        state.event(event)?;
        state.remove(event);
        Ok(())
    }
    Context cuEventRecord(event: Handle, stream: Handle) { state().record(event, stream) }
    Context cuEventRecordWithFlags(event: Handle, stream: Handle, _flags: u32) { state().record(event, stream) }
    Context cuEventQuery(event: Handle) {
        let mark = mark(event)?;
        state().check_unsafe()?;
        match mark {
            Some(mark) if !mark.has_come() => fail(NOT_READY, "there is work"),
            _ => lost(),
        }
    }
    Context cuEventSynchronize(event: Handle) {
        let mark = mark(event)?;
        state().check_unsafe()?;
        mark.iter().for_each(crate::queue::Mark::wait);
        lost()
    }
    Context cuEventElapsedTime(out: Out<f32>, start: Handle, end: Handle) {
        let state = state();
        let (start, end) = (state.event(start)?.recorded_at, state.event(end)?.recorded_at);
        match (start, end) {
            (Some(start), Some(end)) => out.put(end.saturating_duration_since(start).as_secs_f32() * 1000.0),
            _ => fail(NOT_READY, "the events have not come"),
        }
    }
    Context cuEventElapsedTime_v2(out: Out<f32>, start: Handle, end: Handle) {
        let state = state();
        let (start, end) = (state.event(start)?.recorded_at, state.event(end)?.recorded_at);
        match (start, end) {
            (Some(start), Some(end)) => out.put(end.saturating_duration_since(start).as_secs_f32() * 1000.0),
            _ => fail(NOT_READY, "the events have not come"),
        }
    }
}
