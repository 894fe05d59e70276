//! The heads of graphs and of their statements.

use super::{body, item, items, parsed, text};
use crate::graph::ast::{BuildArgument, Input, NodeAttribute, Statement};
use crate::graph::expand;

#[test]
fn attributes_of_nodes() {
    let statements = body(
        "#[priority(-2)] #[cluster(2, 1)] #[cooperative] #[disabled] kernel k = f<<<1, 1>>>(); #[disabled] memset m = x <- 0;",
    );
    let [Statement::Node(kernel), Statement::Node(memset)] = &statements[..] else {
        panic!()
    };
    let attributes = &kernel.attributes.node;
    let is_there = |&attribute: &NodeAttribute| attributes.span(attribute).is_some();
    assert!(NodeAttribute::ALL.iter().all(is_there));
    let (_, priority) = attributes.priority.as_ref().unwrap();
    assert_eq!(text(priority), "- 2");
    let (_, extent) = attributes.cluster.as_ref().unwrap();
    assert_eq!(extent.parts.len(), 2);
    assert!(memset.attributes.node.disabled.is_some());
}

#[test]
fn visibilities_of_statements() {
    let found = body(
        "pub device a: f32; pub(self) host b: f32; pub(in a::b) param p: f32 = 1.0; #[disabled] pub(crate) memset m = a <- 0;
         pub(super) rng r = 1, draws 1; join j; if i = c { pub join k; };",
    );
    let attributes = |statement: &Statement| match statement {
        Statement::Resource(resource) => text(&resource.attributes.visibility),
        Statement::Param(param) => text(&param.attributes.visibility),
        Statement::Let(value) => text(&value.attributes.visibility),
        Statement::Node(node) => text(&node.attributes.visibility),
        Statement::For(for_loop) => text(&for_loop.attributes.visibility),
    };
    let found: Vec<String> = found.iter().map(attributes).collect();
    let all = "pub, pub (self), pub (in a :: b), pub (crate), pub (super), , ";
    assert_eq!(found.join(", "), all);
}

#[test]
fn the_runtime_may_have_another_path() {
    let expanded = |text: &str| {
        let text = expand(text.parse().unwrap()).to_string();
        text.split_whitespace().collect::<String>()
    };
    for path in ["facade::rt", "crate::rt", "::gpu", "self::rt", "super::rt"] {
        let found = expanded(&format!(
            "#![crate = {path}] graph A {{ rng r = 1, draws 1; device x: [f32; 4]; }}"
        ));
        assert!(found.contains(&format!("use{path}as__runtime_of_A;")), "{found}");
        let part = "use__runtime_of_A::{selfas__g,privateas__p};";
        assert!(found.contains(part), "{found}");
        assert!(!found.contains("::graph_runtime"), "{found}");
        let found = expanded(&format!(
            "#![crate = {path}] &device => host x: f32; memset m = x <- 1.0;"
        ));
        assert!(!found.contains("::graph_runtime"), "{found}");
    }
    let form =
        "expected `#![crate = path]`, with the path of `graph_runtime` or of a module that has its items [syntax]";
    for wrong in [
        "#![crate]",
        "#![crate = \"rt\"]",
        "#![crate = 3]",
        "#![crate = a b]",
        "#![crate(rt)]",
    ] {
        let found = expanded(&format!("{wrong} graph A {{ }}"));
        let form: String = form.split_whitespace().collect();
        assert!(found.contains(&form) && found.contains("structA"), "{found}");
    }
    let (input, messages) = parsed("graph A {} #![crate = rt] graph B {}");
    assert_eq!(items(input).len(), 2);
    let expected = [
        "expected a graph: it is documented by `///` before it, and only `#![crate = path]` may come first in \
                     the macro [syntax]",
    ];
    assert_eq!(messages, expected);
}

#[test]
fn build_arguments() {
    let item = item(
        "graph Test<const D: usize>(n: usize, d: device::Size, w: device [[f32; D]; n], out: mut host f32, a: &graph_runtime::Communicator, b: &mut Communicator) where [(); D]: Sized {}",
    );
    let described: Vec<String> = item
        .arguments
        .iter()
        .map(|argument| match argument {
            BuildArgument::Value { name, ty } => format!("{name}: {}", text(ty)),
            BuildArgument::Communicator { name, ty } => format!("{name}: communicator {}", text(ty)),
            BuildArgument::Unknown(name) => format!("{name}: ?"),
            BuildArgument::Group(group) => format!("{}: {} groups", group.name, text(&group.length)),
            BuildArgument::Memory(memory) => {
                format!("{}: {:?} of {}", memory.name, memory.kind, memory.shape.lengths.len())
            }
        })
        .collect();
    assert_eq!(
        described,
        [
            "n: usize",
            "d: device :: Size",
            "w: Shared { space: Device, mutable: false } of 2",
            "out: Shared { space: Host, mutable: true } of 0",
            "a: communicator graph_runtime :: Communicator",
            "b: & mut Communicator"
        ]
    );
    assert!(item.generics.where_clause.is_some());

    for (arguments, message) in [
        ("n", "expected `: type` or `: device shape` after `n`"),
        (
            "mut w: device f32",
            "expected a name: `mut` stands before `device` or `host`, as in `data: mut device [f32; 4]`",
        ),
        ("w: mut [f32; 4]", "expected `device` or `host` after `mut`"),
        ("w: device", "expected a type such as `f32` or `[f32; 1024]`"),
        ("w: ", "expected a type such as `usize`, or `device` and a shape"),
        ("w: scratch [f32; 4]", "expected `,` after the build argument"),
        ("3", "expected the name of a build argument"),
    ] {
        let (input, messages) = parsed(&format!("graph Test({arguments}, last: usize) {{ join a; }}"));
        assert_eq!(messages, [format!("{message} [syntax]")], "{arguments}");
        let [item] = &items(input)[..] else {
            panic!("{arguments}")
        };
        assert_eq!((item.arguments.len(), item.statements.len()), (2, 1), "{arguments}");
    }
}

#[test]
fn expressions() {
    for (source, device) in [
        ("&device => join a; join b after a;", "& device"),
        ("device => join a; join b;", "device"),
        ("graph.device() => join a; join b;", "graph . device ()"),
        ("match x { a => &a } => join a; join b;", "match x { a => & a }"),
    ] {
        match parsed(source) {
            (Some(Input::Expression(graph)), messages) => {
                assert_eq!(messages, [] as [&str; 0], "{source}");
                assert_eq!((text(&graph.device).as_str(), graph.statements.len()), (device, 2));
            }
            other => panic!("{source}: {other:?}"),
        }
    }
    for (source, message) in [
        ("&device join a; join b;", "expected `=> statements` after the device"),
        (
            "&device, => join a; join b;",
            "expected `=> statements` after the device",
        ),
        ("&device. => join a; join b;", "expected identifier"),
        ("=> join a; join b;", "expected an expression"),
        ("&device => memset a = b; join a; join b;", "expected `<- value`"),
    ] {
        match parsed(source) {
            (Some(Input::Expression(graph)), messages) => {
                assert_eq!(messages.len(), 1, "{source}: {messages:?}");
                assert!(messages[0].starts_with(message), "{source}: {messages:?}");
                assert_eq!(graph.statements.len(), 2, "{source}");
            }
            other => panic!("{source}: {other:?}"),
        }
    }
    let (input, messages) = parsed("device join a;");
    assert!(items(input).is_empty());
    let wanted = ["expected a declaration such as `pub graph Name { .. }` [syntax]"];
    assert_eq!(messages, wanted);
}

#[test]
fn several_graphs() {
    let names = |text: &str| {
        let (input, messages) = parsed(text);
        let names: Vec<String> = items(input).iter().map(|item| item.name.to_string()).collect();
        (names.join(" "), messages)
    };
    assert_eq!(
        names("/// One.\n graph A { join a; } pub(crate) graph B<T> { } graph C(n: usize) { join a; }"),
        ("A B C".to_owned(), vec![])
    );
    let declaration = "expected a declaration such as `pub graph Name { .. }` [syntax]";
    let (found, messages) = names("graph A { blah } struct B; graph { } pub graph C { } x");
    assert_eq!(found, "A C");
    let statement = "expected a statement, found `blah` [syntax]";
    assert_eq!(messages, [statement, declaration, declaration]);
}
