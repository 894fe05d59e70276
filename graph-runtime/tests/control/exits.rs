//! Ways out of expressions: `?` is an error of `build`, and one that a macro hides never makes a wrong graph.

use crate::common::*;

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

#[test]
fn hidden_exits_in_a_loop() -> Result<()> {
    Skipped::build(&device(), 4)?;
    refused(Skipped::build(&device(), 2))
        .says("iteration 2 of the `for` around `first` declares 2 nodes, but adds 0 [syntax]");

    Ended::build(&device(), 4)?;
    for at in 0..4 {
        let expected = format!("iteration {at} of the `for` around `first` declares 2 nodes, but adds 1 [syntax]");
        refused(Ended::build(&device(), at)).says(&expected);
    }

    OpenBody::build(&device(), 4)?;
    for at in 0..4 {
        refused(OpenBody::build(&device(), at)).says("`for` around `maybe`");
    }
    Ok(())
}

#[test]
fn hidden_return_of_a_nodes_function() -> Result<()> {
    Left::build(&device(), false)?;
    refused(Left::build(&device(), true)).says("graph `Left` declares 2 nodes, but adds 1 [syntax]");
    Parent::build(&device(), false)?;
    refused(Parent::build(&device(), true)).says("child `left` declares 2 nodes, but adds 1 [syntax]");
    Ok(())
}

#[test]
fn hidden_return_of_a_nodes_function_in_a_setter() -> Result<()> {
    let mut graph = LeftBySetter::build(&device())?;
    has(
        refused(graph.set_value(6)),
        &["`LeftBySetter`", "node `second` is left out"],
    );
    assert_eq!(graph.value(), 5);
    graph.launch()?;
    assert_eq!(*graph.data()?.read()?, [5, 5, 5, 6], "nothing is changed");
    graph.set_value(4)?;
    graph.launch()?;
    assert_eq!(*graph.data()?.read()?, [4, 4, 4, 5]);

    let mut graph = cuda_graph! { &device() =>
        device data: [u32; 4];
        param value: u32 = 5;
        for i in 0..4 {
            memset set = data[i] <- if value > 5 && i == 2 { leave!() } else { value };
        }
    }?;
    refused(graph.set_value(6)).says("node `set[2]` is left out");
    graph.set_value(4)?;

    let mut graph = cuda_graph! { &device() =>
        device data: [u32; 4];
        param outer: u32 = 5;
        graph left = LeftBySetter(data: &mut data, value: if outer == 7 { leave!() } else { outer });
    }?;
    refused(graph.set_outer(6)).says("node `left.second` is left out");
    refused(graph.set_outer(7)).says("node `left` is left out");
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
    refused(graph.set_value(6)).says("node `first` is left out");
    refused(graph.set_value(3)).says("node `second[1]` is left out");
    assert_eq!(graph.value(), 5);
    graph.set_value(4)
}

#[test]
fn question_marks_and_hidden_exits_end_build() -> Result<()> {
    Failing::build(&device(), "7")?;
    assert!(matches!(Failing::build(&device(), "seven"), Err(Error::NoDriver)));
    FailingParent::build(&device(), "7")?;
    assert!(matches!(FailingParent::build(&device(), "seven"), Err(Error::NoDriver)));

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
    refused(build("7", true)).says("declares 3 nodes, but adds 2 [syntax]");
    Ok(())
}
