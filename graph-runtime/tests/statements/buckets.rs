//! Graphs of one kind for several sizes.

use crate::common::device;
use graph_runtime::{AnyGraph, Buckets, Error, Result, cuda_graph};

cuda_graph! {
    graph Batch(n: usize) {
        host input: [u32; n];
        scratch data: [u32; n];
        host output: [u32; n];
        memcpy upload   = input -> data;
        memcpy download = data -> output after upload;
    }
}

#[test]
fn each_amount_runs_as_the_smallest_graph_with_room() -> Result<()> {
    let mut buckets = Buckets::build(&device(), [4, 1, 8, 4], Batch::build)?;
    let sizes: Vec<usize> = buckets.graphs().map(|(size, _)| size).collect();
    assert_eq!((sizes, buckets.largest()), (vec![1, 4, 8], 8));
    assert_eq!(format!("{buckets:?}"), "Buckets[1, 4, 8]");
    for (amount, expected) in [(0, 1), (1, 1), (2, 4), (4, 4), (5, 8), (8, 8)] {
        let (size, graph) = buckets.fitting(amount).expect("there is room for 8");
        assert_eq!(size, expected);
        graph.input_mut()?.fill(amount as u32);
        graph.launch()?;
        assert_eq!(graph.output()?, vec![amount as u32; size]);
    }
    assert!(buckets.fitting(9).is_none());
    Ok(())
}

#[test]
fn all_have_one_pool_of_the_size_of_the_largest() -> Result<()> {
    let buckets = Buckets::build(&device(), [1024, 256], Batch::build)?;
    let report = buckets.pool().memory_report();
    let needed: Vec<usize> = report.graphs.iter().map(|user| user.bytes).collect();
    assert_eq!(needed, [4096, 1024]);
    // A GPU gives memory in steps.
    assert!(
        report.held == 4096 || report.held >= 4096 && !device().is_emulator(),
        "{}",
        report.held
    );
    assert!(buckets.graphs().all(|(_, graph)| graph.pool().is_some()));
    Ok(())
}

#[test]
fn there_may_be_none_and_the_first_error_ends_it() -> Result<()> {
    let mut none = Buckets::build(&device(), [], Batch::build)?;
    assert_eq!((none.largest(), none.fitting(0).is_none()), (0, true));
    let mut tried = Vec::new();
    let failed = Buckets::build(&device(), [1, 2, 3], |device, n| {
        tried.push(n);
        Batch::build(device, if n == 2 { usize::MAX } else { n })
    });
    let error = failed.unwrap_err();
    assert!(!matches!(error, Error::Fault { .. }), "{error}");
    assert_eq!(tried, [3, 2]);
    Ok(())
}
