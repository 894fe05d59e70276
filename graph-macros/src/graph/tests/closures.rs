//! The names that closures may use.

use super::assert_heads;

#[test]
fn closures_use_what_they_borrow() {
    assert_heads(
        "host x: f32; host y: f32; device d: f32;
         call a = |&x| f(*x, y);
         call b = |&y| drop(y) after a;
         capture c = (&d) |stream| g(stream, d, x);
         raw e = unsafe (&d, x) |graph, after| h(graph, after, d);",
        &[
            "call node `a` uses `y` without borrowing it [unknown-resource]",
            "capture node `c` uses `x` without borrowing it [unknown-resource]",
            "resource `x` is passed by value [syntax]",
        ],
    );
}

#[test]
fn names_that_closures_bind_are_theirs() {
    assert_heads(
        "host x: f32; host y: f32; host graph: f32; device d: [f32; 4]; param p: f32 = 1.0; memset s = d <- p;
         call a = |&x| { let (y, Some(p)) = f(x) else { return }; g(y, p) };
         call b = |&x| v.iter().for_each(|y| h(*y)) after a;
         call c = |&x, &y, &graph| match x { y => y.graph, p @ 1.0 => p } after b;
         raw e = unsafe (&d) |graph, after| i(graph, after) after s;
         call f = || { y::g(); self::p(); y(); p!(p); m.y(1).p } after c;",
        &[],
    );
}

#[test]
fn params_change_and_closures_do_not() {
    assert_heads(
        "host x: f32; device d: f32; param p: f32 = 1.0; memset s = d <- p;
         call a = |&x| f(*x * p, p);
         capture c = (&d, p) |stream| g(stream) after s;
         record r = p;
         wait w = events[x];",
        &[
            "call node `a` uses the `param` `p` [syntax]",
            "capture node `c` uses the `param` `p` [syntax]",
            "record node `r` uses the `param` `p`, which is no event [syntax]",
            "wait node `w` uses the memory `x`, which is no event [syntax]",
        ],
    );
}

#[test]
fn a_name_of_several_parts_is_nobodys() {
    assert_heads(
        "device d: [[f32; 4]; 2];
         capture a = (&d[0], &mut d[1]) |stream| f(stream, d);
         capture b = (&d[0], &mut d[1]) |stream| { let (c, d) = stream.memory(); f(c, d) } after a;",
        &["capture node `a` uses `d`, of which it borrows several parts [syntax]"],
    );
    assert_heads(
        "host h: [f32; 4]; call a = |&h, &h| f(h);",
        &["call node `a` uses `h`, which it borrows twice [syntax]"],
    );
}
