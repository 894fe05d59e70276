//! A profile in the trace event format of Chrome, which Perfetto reads, too (Google, "Trace Event Format").

use super::Profile;
use super::schedule::{Span, lanes, spans};
use std::fmt::Write;

/// The last launch as JSON.
pub(super) fn json(profile: &Profile) -> String {
    let (mut nodes, mut around): (Vec<Span>, Vec<Span>) = spans(profile)
        .into_iter()
        .partition(|span| profile.shape[span.node].bodies.is_empty());
    let mut events = vec![format!(
        r#"{{"name":"process_name","ph":"M","pid":1,"args":{{"name":{}}}}}"#,
        text(&format!("graph `{}` on {}", profile.graph, profile.device()))
    )];
    let around_lanes = lanes(&mut around);
    let node_lanes = lanes(&mut nodes);
    let bodies = around_lanes.iter().max().map_or(0, |last| last + 1);
    let tracks = bodies + node_lanes.iter().max().map_or(0, |last| last + 1);
    for track in 0..tracks {
        let name = match track.checked_sub(bodies) {
            Some(lane) => format!("lane {lane}"),
            None => format!("bodies {track}"),
        };
        events.push(format!(
            r#"{{"name":"thread_name","ph":"M","pid":1,"tid":{track},"args":{{"name":{}}}}}"#,
            text(&name)
        ));
        events.push(format!(
            r#"{{"name":"thread_sort_index","ph":"M","pid":1,"tid":{track},"args":{{"sort_index":{track}}}}}"#
        ));
    }
    let around = around.iter().zip(around_lanes);
    let nodes = nodes.iter().zip(node_lanes.into_iter().map(|lane| bodies + lane));
    events.extend(around.chain(nodes).map(|(span, track)| event(profile, span, track)));
    format!(
        "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{}\n]}}\n",
        events.join(",\n")
    )
}

/// A span as a complete event.
fn event(profile: &Profile, span: &Span, track: usize) -> String {
    let node = &profile.nodes[span.node];
    let mut event = format!(
        r#"{{"name":{},"cat":{},"ph":"X","pid":1,"tid":{track},"ts":{},"dur":{},"args":{{"#,
        text(&node.name),
        text(node.kind.keyword()),
        microseconds(span.start),
        microseconds(span.end - span.start)
    );
    let _ = write!(event, r#""calls":{}"#, node.calls);
    if let Some(kernel) = &node.kernel {
        let _ = write!(event, r#","kernel":{}"#, text(kernel));
    }
    if let Some(bytes) = node.bytes {
        let _ = write!(event, r#","bytes":{bytes}"#);
    }
    event.push_str("}}");
    event
}

/// Nanoseconds as microseconds, exactly.
fn microseconds(nanoseconds: u64) -> String {
    format!("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000)
}

/// A text as JSON.
fn text(text: &str) -> String {
    let mut json = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            control if control < ' ' => {
                let _ = write!(json, "\\u{:04x}", u32::from(control));
            }
            other => json.push(other),
        }
    }
    json.push('"');
    json
}
