//! Ways out of expressions: `?` is an error of `build`, and one that a macro hides never makes a wrong graph.

use crate::common::{add_to, device, has};
use graph_runtime::{Error, Result, cuda_graph};

/// Hidden from `cuda_graph!`, which refuses these words in an expression.
macro_rules! skip {
    () => {
        continue
    };
}
macro_rules! end {
    () => {
        break
    };
}
macro_rules! leave {
    () => {
        return Ok(())
    };
}

cuda_graph! {
    graph Skipped(at: usize) {
        device data: [u32; 4];
        for i in 0..4 {
            memset first = data[i] <- if i == at { skip!() } else { 1 };
            memset second = data[i] <- 2 after first;
        }
        memset last = data <- 3 after second;
    }

    graph Ended(at: usize) {
        device data: [u32; 4];
        for i in 0..4 {
            memset first = data[i] <- 1;
            memset second = data[i] <- if i == at { end!() } else { 2 } after first;
        }
        memset last = data <- 3 after second;
    }

    /// The priority comes with the last node of a body, at the end of an iteration.
    graph OpenBody(at: usize) {
        device data: [u32; 4];
        device flag: u32;
        for i in 0..4 {
            if maybe = flag {
                #[priority(if i == at { skip!() } else { -1 })]
                kernel first = add_to<<<1, 1>>>(&mut data[i..i + 1], 1);
            };
        }
        memset last = data <- 3 after maybe;
    }

    graph Left(leaves: bool) {
        device data: [u32; 4];
        param value: u32 = 5;
        memset first = data <- if leaves { leave!() } else { value };
        memset last = data <- 3 after first;
    }

    graph Parent(leaves: bool) {
        device data: [u32; 4];
        graph left = Left(data: &mut data, leaves: leaves);
    }

    /// It leaves the function of a node only if `value` is large, so it can be built.
    graph LeftBySetter {
        device data: [u32; 4];
        param value: u32 = 5;
        memset first = data <- 1;
        memset second = data <- if value > 5 { leave!() } else { value } after first;
        memset third = data[3] <- value + 1 after second;
    }

    graph LeftBySetterInLoop {
        device data: [u32; 4];
        param value: u32 = 5;
        for i in 0..4 {
            memset set = data[i] <- if value > 5 && i == 2 { leave!() } else { value };
        }
    }

    graph ParentOfLeft {
        device data: [u32; 4];
        param outer: u32 = 5;
        graph left = LeftBySetter(data: &mut data, value: if outer == 7 { leave!() } else { outer });
    }

    graph Failing(text: &str) {
        device data: [u32; 4];
        memset first = data <- 1;
        for i in 0..2 {
            memset second = data[i] <- number(text)? after first;
        }
    }

    graph FailingParent(text: &str) {
        device data: [u32; 4];
        graph failing = Failing(data: &mut data, text: text);
        memset last = data <- 1 after failing;
    }
}

fn number(text: &str) -> Result<u32> {
    text.parse().map_err(|_| Error::NoDriver)
}

fn message<G>(built: Result<G>) -> String {
    built.map(drop).expect_err("nodes are missing").to_string()
}

#[test]
fn hidden_continue_in_a_loop() -> Result<()> {
    Skipped::build(&device(), 4)?;
    let message = message(Skipped::build(&device(), 2));
    let part = "iteration 2 of the `for` around `first` declares 2 nodes, but adds 0 [syntax]";
    assert!(message.contains(part), "{message}");
    Ok(())
}

#[test]
fn hidden_break_in_a_loop() -> Result<()> {
    Ended::build(&device(), 4)?;
    for at in 0..4 {
        let message = message(Ended::build(&device(), at));
        let expected = format!("iteration {at} of the `for` around `first` declares 2 nodes, but adds 1 [syntax]");
        assert!(message.contains(&expected), "{message}");
    }
    Ok(())
}

#[test]
fn hidden_continue_that_leaves_a_body_open() -> Result<()> {
    OpenBody::build(&device(), 4)?;
    for at in 0..4 {
        let message = message(OpenBody::build(&device(), at));
        assert!(message.contains("`for` around `maybe`"), "{message}");
    }
    Ok(())
}

#[test]
fn hidden_return_of_a_nodes_function() -> Result<()> {
    Left::build(&device(), false)?;
    let built = message(Left::build(&device(), true));
    let part = "graph `Left` declares 2 nodes, but adds 1 [syntax]";
    assert!(built.contains(part), "{built}");
    Parent::build(&device(), false)?;
    let built = message(Parent::build(&device(), true));
    let part = "child `left` declares 2 nodes, but adds 1 [syntax]";
    assert!(built.contains(part), "{built}");
    Ok(())
}

#[test]
fn hidden_return_of_a_nodes_function_in_a_setter() -> Result<()> {
    let mut graph = LeftBySetter::build(&device())?;
    let error = message(graph.set_value(6));
    has(&error, &["`LeftBySetter`", "node `second` is left out"]);
    assert_eq!(graph.value(), 5);
    graph.launch()?;
    assert_eq!(*graph.data()?.read()?, [5, 5, 5, 6], "nothing is changed");
    graph.set_value(4)?;
    graph.launch()?;
    assert_eq!(*graph.data()?.read()?, [4, 4, 4, 5]);

    let mut graph = LeftBySetterInLoop::build(&device())?;
    let error = message(graph.set_value(6));
    assert!(error.contains("node `set[2]` is left out"), "{error}");
    graph.set_value(4)?;

    let mut graph = ParentOfLeft::build(&device())?;
    let error = message(graph.set_outer(6));
    assert!(error.contains("node `left.second` is left out"), "{error}");
    let error = message(graph.set_outer(7));
    assert!(error.contains("node `left` is left out"), "{error}");
    assert_eq!(graph.outer(), 5);
    graph.set_outer(4)?;
    graph.launch()?;
    assert_eq!(*graph.data()?.read()?, [4, 4, 4, 5]);

    let mut graph = cuda_graph! { &device() =>
        device data: [u32; 4];
        param value: u32 = 5;
        memset first = data <- if value > 5 { leave!() } else { value };
        for i in 0..3 {
            memset second = data[i] <- if value == 3 && i == 1 { leave!() } else { value } after first;
        }
    }?;
    let error = message(graph.set_value(6));
    assert!(error.contains("node `first` is left out"), "{error}");
    let error = message(graph.set_value(3));
    assert!(error.contains("node `second[1]` is left out"), "{error}");
    assert_eq!(graph.value(), 5);
    graph.set_value(4)
}

#[test]
fn question_marks_end_build() -> Result<()> {
    Failing::build(&device(), "7")?;
    assert!(matches!(Failing::build(&device(), "seven"), Err(Error::NoDriver)));
    FailingParent::build(&device(), "7")?;
    assert!(matches!(FailingParent::build(&device(), "seven"), Err(Error::NoDriver)));
    Ok(())
}

#[test]
fn question_marks_and_hidden_exits_in_an_expression() -> Result<()> {
    let build = |text: &'static str, leaves: bool| {
        cuda_graph!(&device() =>
            device data: [u32; 4];
            param value: u32 = 5;
            memset first = data <- value + number(text)?;
            memset second = data <- if leaves { leave!() } else { value } after first;
            memset last = data <- 3 after second;
        )
    };
    build("7", false)?;
    assert!(matches!(build("seven", false), Err(Error::NoDriver)));
    let message = message(build("7", true));
    assert!(message.contains("declares 3 nodes, but adds 2 [syntax]"), "{message}");
    Ok(())
}
