//! Nodes with bodies, loops, and how parsing goes on in them.

use super::{body, items, mistakes, node, parsed, text};
use crate::graph::ast::{Action, Conditional, Statement};

#[test]
fn conditionals() {
    let (Action::Conditional(condition), after) =
        node("if i = flags[2] { join a; for k in 0..2 { join b; } } else { while w = more { join c; }; } after x;")
    else {
        panic!()
    };
    let expected = ("flags".to_owned(), "x".to_owned());
    assert_eq!((condition.condition.name.to_string(), after), expected);
    let counts = |conditional: &Conditional| -> Vec<usize> {
        let bodies = conditional.bodies.iter();
        bodies.map(|(_, body)| body.statements.len()).collect()
    };
    assert_eq!(counts(&condition), [2, 1]);
    let (Action::Conditional(switch), _) = node("switch s = which { { join a; } {} { join b; } };") else {
        panic!()
    };
    assert_eq!(counts(&switch), [1, 0, 1]);
}

#[test]
fn loops() {
    let statements =
        body("for layer in 0..N { kernel k = f<<<1, 1>>>(&w[layer]); for j in 0..2 { join a; }; } join b;");
    let [Statement::For(for_loop), Statement::Node(_)] = &statements[..] else {
        panic!("{statements:?}")
    };
    let expected = ("layer".into(), "0 .. N".into());
    assert_eq!((for_loop.variable.to_string(), text(&for_loop.range)), expected);
    assert_eq!(for_loop.statements.len(), 2);
}

#[test]
fn parsing_goes_on_inside_bodies() {
    let text = "graph Test {
        if i = flag { memcpy m = a; blah; join j after m; } else { join; join k; };
        for n in 0..2 { memset s = b; join l after s; }
    }";
    let (input, messages) = parsed(text);
    assert_eq!(
        messages,
        [
            "expected `-> destination` [syntax]",
            "expected a statement, found `blah` [syntax]",
            "expected a name after `join` [syntax]",
            "expected `<- value` [syntax]",
        ]
    );
    let [item] = &items(input)[..] else { panic!() };
    assert_eq!(item.unparsed, ["m", "s"]);
    let [Statement::Node(node), Statement::For(for_loop)] = &item.statements[..] else {
        panic!()
    };
    let Action::Conditional(condition) = &node.action else {
        panic!()
    };
    let [(_, then), (_, otherwise)] = &condition.bodies[..] else {
        panic!()
    };
    assert_eq!((then.unparsed.len(), then.statements.len()), (1, 1));
    assert_eq!(otherwise.statements.len(), 1);
    assert_eq!(for_loop.statements.len(), 1);
}

#[test]
fn keywords_inside_expressions_start_no_statement() {
    assert_eq!(
        mistakes("kernel k = f<<<1, 1>>>(if a { 1 } else { 2 }) 3; join j after k;").len(),
        1
    );
    assert_eq!(mistakes("call k = 3 if a == b { f() }; join j after k;").len(), 1);
}
