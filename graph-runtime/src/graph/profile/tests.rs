use super::schedule::{lanes, spans};
use super::*;
use crate::program::recorder::Counts;

fn node(name: &str, after: &[usize], level: usize) -> ProfiledNode {
    ProfiledNode {
        name: name.to_owned(),
        kind: NodeKind::Kernel,
        kernel: Some("scale".to_owned()),
        bytes: Some(4000),
        after: after.to_vec(),
        level,
        body: 0,
        bodies: Vec::new(),
    }
}

fn counts(instructions: u64, bank_conflicts: u64, divergent_branches: u64) -> Counts {
    Counts {
        instructions,
        bank_conflicts,
        divergent_branches,
    }
}

/// `a`, then `b` and `c`, then `d`; in two launches.
fn diamond() -> Profile {
    let shape = vec![
        node("a", &[], 0),
        node("b", &[0], 1),
        node("c", &[0], 1),
        node("d", &[1, 2], 2),
    ];
    let mut recorder = Recorder::new(4, 2);
    recorder.set_overhead(5);
    for scale in [1, 3] {
        recorder.launch();
        for (node, time) in [100, 500, 200, 50].into_iter().enumerate() {
            recorder.call(node, time * scale + 5, Some(counts(64, 7, 1)));
        }
    }
    Profile::new("Diamond".to_owned(), false, shape, &recorder)
}

/// `set`, then a `while` of three iterations of `step` and, beside it, `idle`, which is disabled.
fn nested() -> Profile {
    let mut train = node("train", &[0], 1);
    train.bodies = vec![1];
    let mut step = node("step", &[], 0);
    step.body = 1;
    let mut idle = node("idle", &[], 0);
    idle.body = 1;
    let shape = vec![node("set", &[], 0), train, step, idle];
    let mut recorder = Recorder::new(4, 1);
    recorder.launch();
    recorder.call(0, 10, None);
    recorder.enter(1);
    for time in [20, 30, 40] {
        recorder.body();
        recorder.call(2, time, None);
        recorder.skip(3);
    }
    recorder.leave();
    Profile::new("Nested".to_owned(), true, shape, &recorder)
}

/// No step is longer than the node with it.
#[test]
fn nothing_runs_between_nodes() {
    let mut profile = diamond();
    assert_eq!(profile.idle_time(), None);
    profile.step = Some(150);
    assert_eq!(profile.idle_time(), Some(Duration::from_nanos(150 + 150 + 100)));
    let told = "1.30 us along the critical path (400 ns between nodes), 1.70 us node by node";
    assert!(profile.to_string().contains(told), "{profile}");
}

/// `c` ends after `b` here, although it is shorter alone. The path takes longer than its nodes, since `c` waits.
#[test]
fn the_path_ends_last_where_all_nodes_run() {
    let mut profile = diamond();
    profile.step = Some(50);
    profile.ends = vec![None, Some(1200), Some(1500), Some(1900)];
    let path: Vec<&str> = profile.critical_path().iter().map(|node| &*node.name).collect();
    assert_eq!(path, ["a", "c", "d"]);
    assert_eq!(profile.critical_time(), Duration::from_nanos(1900));
    let running = (200 - 50) + (400 - 50) + (100 - 50);
    assert_eq!(profile.idle_time(), Some(Duration::from_nanos(1900 - running)));
}

/// The first two of ten launches divide, and each second one after them runs all nodes. The first of these is slow.
#[test]
fn launches_in_place_count_with_earlier_times() {
    let mut recorder = Recorder::new(1, 10);
    let mut in_place = Vec::new();
    for launch in 1..=10 {
        recorder.launch();
        if recorder.is_in_place() {
            in_place.push(launch);
            recorder.call_again(0);
            recorder.end(0, 500 / launch);
        } else {
            recorder.call(0, 100, None);
        }
    }
    assert_eq!(in_place, [4, 6, 8, 10]);
    let profile = Profile::new("One".to_owned(), true, vec![node("a", &[], 0)], &recorder);
    let only = &profile.nodes()[0];
    assert_eq!((only.calls, only.total), (10, Duration::from_nanos(1000)));
    assert_eq!(profile.critical_time(), Duration::from_nanos(500 / 8));
    let mut few = Recorder::new(1, 3);
    for _ in 0..3 {
        few.launch();
        assert!(!few.is_in_place());
    }
}

#[test]
fn times_are_without_overhead() {
    let profile = diamond();
    let [a, b, ..] = profile.nodes() else {
        panic!("it has four nodes");
    };
    assert_eq!(
        (a.calls, a.median, a.total),
        (2, Duration::from_nanos(200), Duration::from_nanos(400))
    );
    assert_eq!((b.median, b.instructions), (Duration::from_nanos(1000), Some(128)));
    assert_eq!((b.bank_conflicts, b.divergent_branches), (Some(14), Some(2)));
    assert_eq!(b.bytes_per_second(), Some(4e9));
    assert_eq!(profile.overhead(), Duration::from_nanos(5));
    assert_eq!(profile.total(), Duration::from_nanos(3400));
    let shares: f64 = profile.nodes().iter().map(|node| node.share).sum();
    assert!((shares - 1.0).abs() < 1e-9);
}

#[test]
fn the_critical_path_is_the_longest_one() {
    let profile = diamond();
    let names: Vec<&str> = profile.critical_path().iter().map(|node| &*node.name).collect();
    assert_eq!(names, ["a", "b", "d"]);
    assert_eq!(profile.critical_time(), Duration::from_nanos(1300));
    let profile = nested();
    let names: Vec<&str> = profile.critical_path().iter().map(|node| &*node.name).collect();
    assert_eq!(names, ["set", "step"]);
    assert_eq!(profile.critical_time(), Duration::from_nanos(100));
}

#[test]
fn a_slow_first_launch_does_not_count() {
    let mut recorder = Recorder::new(2, 3);
    for (first, second) in [(9000, 10), (20, 100), (30, 90)] {
        recorder.launch();
        recorder.call(0, first, None);
        recorder.call(1, second, None);
    }
    let shape = vec![node("a", &[], 0), node("b", &[], 0)];
    let profile = Profile::new("Two".to_owned(), true, shape, &recorder);
    let names: Vec<&str> = profile.critical_path().iter().map(|node| &*node.name).collect();
    assert_eq!(names, ["b"]);
    assert_eq!(
        (profile.critical_time(), profile.serial_time(), profile.total()),
        (
            Duration::from_nanos(90),
            Duration::from_nanos(120),
            Duration::from_nanos(9250)
        )
    );
    assert_eq!(profile.nodes()[1].share, 0.75);
    assert!(
        profile
            .to_string()
            .lines()
            .nth(2)
            .is_some_and(|row| row.starts_with("b ")),
        "{profile}"
    );
}

#[test]
fn bodies_count_for_the_node_around_them() {
    let profile = nested();
    let [_, train, step, idle] = profile.nodes() else {
        panic!("it has four nodes");
    };
    assert_eq!((train.calls, train.total), (1, Duration::from_nanos(90)));
    assert_eq!(
        (step.calls, step.median, step.share),
        (3, Duration::from_nanos(30), 0.9)
    );
    assert_eq!((idle.calls, idle.total), (0, Duration::ZERO));
    assert_eq!(profile.total(), Duration::from_nanos(100));
}

#[test]
fn nodes_start_when_those_before_have_ended() {
    let span = |node, start, end| schedule::Span { node, start, end };
    let expected = [
        span(0, 0, 300),
        span(1, 300, 1800),
        span(2, 300, 900),
        span(3, 1800, 1950),
    ];
    let mut found = spans(&diamond());
    assert_eq!(found, expected);
    assert_eq!(lanes(&mut found), [0, 0, 1, 0]);
    let iterations = [
        span(0, 0, 10),
        span(2, 10, 30),
        span(2, 30, 60),
        span(2, 60, 100),
        span(1, 10, 100),
    ];
    assert_eq!(spans(&nested()), iterations);
}

#[test]
fn a_profile_is_a_table() {
    let expected = "\
profile of `Diamond`: 2 launches on the emulator
node                     kind     kernel              calls   median  share    bytes       instr.  conflicts diverging
b                        kernel   scale                   2  1.00 us  58.8%  4.00 kB          128         14         2
c                        kernel   scale                   2   400 ns  23.5%  4.00 kB          128         14         2
a                        kernel   scale                   2   200 ns  11.8%  4.00 kB          128         14         2
d                        kernel   scale                   2   100 ns   5.9%  4.00 kB          128         14         2
critical path: a > b > d
a launch: 1.30 us along the critical path, 1.70 us node by node; 5 ns of measuring left out";
    assert_eq!(diamond().to_string(), expected);
}

#[test]
fn tables_fit_into_120_columns() {
    let long = "n".repeat(200);
    let shape: Vec<ProfiledNode> = (0..40)
        .map(|index| {
            let before: Vec<usize> = (index > 0).then(|| index - 1).into_iter().collect();
            let mut node = node(&format!("{index}{long}"), &before, index);
            node.kernel = Some(long.clone());
            node.bytes = Some(u64::MAX);
            node
        })
        .collect();
    let mut recorder = Recorder::new(40, 1);
    recorder.launch();
    (0..39).for_each(|node| {
        recorder.call(
            node,
            123_456_789_012,
            Some(counts(999_999_999_999, 9_999_999_999, 999_999_999)),
        )
    });
    recorder.skip(39);
    for is_of_gpu in [false, true] {
        let table = Profile::new(long.clone(), is_of_gpu, shape.clone(), &recorder).to_string();
        assert!(table.lines().all(|line| line.chars().count() <= 120), "{table}");
        assert!(table.contains(" more\n"), "{table}");
        assert!(table.contains("(1 more did not run)"), "{table}");
        let [head, row] = [1, 2].map(|line| table.lines().nth(line).unwrap_or_default().chars().count());
        assert_eq!(head, row, "{table}");
    }
}
