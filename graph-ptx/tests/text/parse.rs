//! The parser on hand-written PTX: what it makes of each form, and what it says of mistakes.

use graph_ptx::ast::{Base, Body, Module, Operand, Reg, Space, Type};
use graph_ptx::{location, parse};

const HEADER: &str = ".version 8.4\n.target sm_90a, debug\n.address_size 64\n";

fn module(text: &str) -> Module {
    parse(&format!("{HEADER}{text}")).unwrap_or_else(|error| panic!("{error}"))
}

fn body(statements: &str) -> Body {
    let module = module(&format!(".visible .entry k(.param .u64 a) {{ {statements} }}"));
    module
        .functions
        .into_iter()
        .next()
        .and_then(|function| function.body)
        .unwrap()
        .unwrap_or_else(|fault| panic!("{fault}"))
}

/// The error of a kernel body, without the lines of the header.
fn error(statements: &str) -> String {
    let text = format!("{HEADER}.entry k() {{\n{statements}\n}}\n");
    let error = parse(&text).map_or_else(|error| error, |module| module.functions[0].fault().unwrap().clone());
    format!("{}: {}", error.line - 4, error.message)
}

#[test]
fn headers_are_read() {
    let module = module(".file 1 \"x.cu\", 12, 34\n.file 2 \"y.h\"\n.alias other, f;");
    let expected = ((8, 4), "sm_90a", 64);
    assert_eq!((module.version, module.target.as_str(), module.address_size), expected);
    assert_eq!(module.files, [(1, "x.cu".to_owned()), (2, "y.h".to_owned())]);
    assert_eq!(module.aliases, [("other".to_owned(), "f".to_owned())]);
}

#[test]
fn functions_have_parameters_and_bounds() {
    let module = module(
        ".visible .entry k(.param .u64 .ptr .global .align 16 a, .param .align 8 .b8 s[24])
         .maxntid 128, 2\n.reqntid 64\n.minnctapersm 2 .explicitcluster .reqnctapercluster 2, 1, 1 .pragma \"nounroll\"; { ret; }
         .extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v) ;
         .weak .func (.reg .u32 out) old (.reg .u32 in) .noreturn { mov.u32 out, in; }",
    );
    let [kernel, external, old] = &module.functions[..] else {
        panic!("three functions")
    };
    assert_eq!(kernel.max_block, Some([128, 2, 1]));
    assert_eq!(kernel.required_block, Some([64, 1, 1]));
    let pointer = kernel.params[0].pointer.unwrap();
    assert_eq!((pointer.space, pointer.align), (Some(Space::Global), 16));
    assert_eq!((kernel.params[1].size, kernel.params[1].align), (24, 8));
    assert!(external.body.is_none() && external.results.len() == 1);
    let move_out = &old.code().unwrap().instructions[0];
    let expected = [Operand::Register(Reg(0)), Operand::Register(Reg(1))];
    assert_eq!(move_out.operands, expected);
}

#[test]
fn operands_of_every_form() {
    let body = body(
        ".reg .b32 %r<5>; .reg .pred p, q; .reg .v2 .f32 v; .shared .f32 tile[4];
         @!p ld.global.v2.f32 {v.x, _}, [%r1+-8];
         setp.lt.and.u32 p|q, %r1, -1, !p;
         mov.b64 %r2, {%r3, %r4};
         mov.u32 %r3, %tid.x;
         mov.u64 %r1, tile+4;
         tex.2d.v4.f32.s32 {%r1, %r2, %r3, %r4}, [image, {%r1, %r2}];
         st.shared.f32 [tile+8], 0f3F800000;
         ld.u32 %r1, [0x10];
         shfl.sync.idx.b32 %r1|p, %r2, WARP_SZ, 31, 0d3FF0000000000000;",
    );
    let register = |index| Operand::Register(Reg(index));
    let of = |index: usize| &body.instructions[index].operands[..];
    let name = |operand: &Operand| match operand {
        Operand::Register(register) => body.registers[register.0 as usize].name.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(body.instructions[0].guard, Some((Reg(0), true)));
    assert_eq!(body.instructions[0].modifiers, ["global", "v2", "f32"]);
    assert_eq!(of(0)[0], Operand::Vector(vec![register(2), Operand::Discard]));
    assert!(matches!(of(0)[1], Operand::Address(Base::Register(_), -8)));
    assert_eq!(of(1)[0], Operand::Pair(Box::new(register(0)), Box::new(register(1))));
    assert_eq!(of(1)[2..], [Operand::Integer(-1), Operand::NotPredicate(Reg(0))]);
    assert_eq!(name(&of(2)[0]), "%r2");
    assert_eq!(of(3)[1], Operand::Special("%tid.x".to_owned()));
    assert_eq!(of(4)[1], Operand::Symbol("tile".to_owned(), 4));
    let Operand::Vector(texture) = &of(5)[1] else {
        panic!("{:?}", of(5))
    };
    assert_eq!(texture[0], Operand::Address(Base::Symbol("image".to_owned()), 0));
    let address = Operand::Address(Base::Symbol("tile".to_owned()), 8);
    assert_eq!(of(6), [address, Operand::F32(0x3F80_0000)]);
    assert_eq!(of(7)[1], Operand::Address(Base::Absolute, 16));
    let one = Operand::F64(1.0_f64.to_bits());
    assert_eq!(of(8)[2..], [Operand::Integer(32), Operand::Integer(31), one]);
}

/// The operand that this text is, as a register's new value.
fn constant(text: &str) -> Operand {
    let mut body = body(&format!(".reg .b64 x; mov.b64 x, {text};"));
    body.instructions.remove(0).operands.remove(1)
}

#[test]
fn literals_of_every_kind() {
    for (text, value) in [
        ("0x1F", 31),
        ("0b101U", 5),
        ("017", 15),
        ("0U", 0),
        ("18446744073709551615", u64::MAX.into()),
    ] {
        assert_eq!(constant(text), Operand::Integer(value), "{text}");
    }
    // A literal with a `U` is unsigned, and what is compared with it.
    assert_eq!(constant("(-1 < 0)"), Operand::Integer(1));
    assert_eq!(constant("(-1 < 0U)"), Operand::Integer(0));
    assert_eq!(constant("0f3F800000"), Operand::F32(0x3F80_0000));
    for (text, value) in [
        ("0dBFF0000000000000", -1.0_f64),
        ("2.5e-1", 0.25),
        ("1.", 1.0),
        (".5", 0.5),
        (".5E-1", 0.05),
        ("1.e5", 1e5),
        ("1.e+5", 1e5),
        ("1e5", 1e5),
    ] {
        assert_eq!(constant(text), Operand::F64(value.to_bits()), "{text}");
    }
    for malformed in ["0f3F80", "0x", "0xG", "09", "12ab", "0b2"] {
        let expected = format!("1: invalid number `{malformed}`");
        assert_eq!(error(&format!(".reg .b64 x; mov.b64 x, {malformed};")), expected);
    }
}

#[test]
fn dots_belong_to_numbers_or_begin_modifiers() {
    let modifiers = |text: &str| body(&format!("{text};")).instructions.remove(0).modifiers;
    assert_eq!(modifiers("ld.shared::cluster.v2.f32"), ["shared::cluster", "v2", "f32"]);
    assert_eq!(modifiers("tex.1d .16x256b /* c */ // end\n"), ["1d", "16x256b"]);
    for (text, modifier) in [("1.f", ".f"), ("mov .1e", ".1e")] {
        let found = error(&format!(".reg .b64 x; mov.b64 x, {text};"));
        assert!(found.ends_with(&format!("found `{modifier}`")), "{found}");
    }
}

#[test]
fn strings_keep_their_escapes_and_must_end() {
    assert_eq!(module(r#".file 1 "a\"b""#).files, [(1, r#"a\"b"#.to_owned())]);
    let error = parse("\n  \"abc\n\"").unwrap_err();
    assert_eq!((error.line, error.column), (2, 3));
}

#[test]
fn only_registers_in_use_are_made() {
    let body = body(".reg .b64 %rd<1000000000>; mov.u64 %rd999999999, %rd7;");
    let names: Vec<&str> = body.registers.iter().map(|register| register.name.as_str()).collect();
    assert_eq!(names, ["%rd999999999", "%rd7"]);
    let expected = "1: register `%r5` is not declared";
    assert_eq!(error(".reg .b32 %r<5>; mov.u32 %r5, 1;"), expected);
    let expected = "1: register `%r01` is not declared";
    assert_eq!(error(".reg .b32 %r<5>; mov.u32 %r01, 1;"), expected);
}

#[test]
fn scopes_are_flattened_and_names_kept_apart() {
    let body = body(
        ".reg .b32 x;
         { .reg .b64 x; .param .b32 p; DONE: mov.u64 x, 1; bra DONE; }
         { .param .b32 p; bra DONE; DONE: st.param.b32 [p], x; bra OUT; }
         OUT: ret;",
    );
    let names: Vec<&str> = body.registers.iter().map(|register| register.name.as_str()).collect();
    assert_eq!(names, ["x", "x@2"]);
    assert_eq!(body.registers[1].ty, Type::B64);
    let variables: Vec<&str> = body.variables.iter().map(|variable| variable.name.as_str()).collect();
    assert_eq!(variables, ["p", "p@2"]);
    let target = |index: usize| body.instructions[index].operands[0].clone();
    assert_eq!(target(1), Operand::Label("DONE".to_owned()));
    assert_eq!(target(2), Operand::Label("DONE@2".to_owned()));
    assert_eq!(target(3), Operand::Address(Base::Symbol("p@2".to_owned()), 0));
    assert_eq!(target(4), Operand::Label("OUT".to_owned()));
    let expected = [("DONE".to_owned(), 0), ("DONE@2".to_owned(), 3), ("OUT".to_owned(), 5)];
    assert_eq!(body.labels, expected);
}

#[test]
fn calls_and_target_lists() {
    let body = body(
        ".reg .b64 %rd<3>; .reg .b32 %r<2>; .param .b64 r0;
         call f; call.uni (r0), g, (%r1, 5); call (r0), %rd1, (r0), proto;
         proto: .callprototype (.param .b64 _) _ (.param .b64 _, .param .b64 _);
         list: .branchtargets A, B;
         brx.idx %r1, list;
         A: B: exit;",
    );
    let of = |index: usize| &body.instructions[index].operands[..];
    assert_eq!(of(0), [Operand::Symbol("f".to_owned(), 0)]);
    assert_eq!(of(1)[1], Operand::Symbol("g".to_owned(), 0));
    assert!(matches!(&of(1)[2], Operand::Vector(arguments) if arguments[1] == Operand::Integer(5)));
    assert_eq!(of(2)[3], Operand::Label("proto".to_owned()));
    assert_eq!(
        (body.prototypes[0].name.as_str(), body.prototypes[0].params.len()),
        ("proto", 2)
    );
    let expected = [("list".to_owned(), vec!["A".to_owned(), "B".to_owned()])];
    assert_eq!(body.target_lists, expected);
    assert_eq!(of(3)[1], Operand::Label("list".to_owned()));
    assert_eq!(body.labels, [("A".to_owned(), 4), ("B".to_owned(), 4)]);
}

#[test]
fn initialisers() {
    let module = module(
        ".global .align 8 .u64 table[3] = {generic(x)+8, f, 5};
         .const .b8 text[] = \"ab\\n\"; .global .s16 rows[2][3] = {{1}, {-2, 3}};
         .global .f32 one = 1.0, two = 0f40000000; .global .v2 .u8 pair = {1, 2};
         .global .b8 packed[10] = {7, 0, 0xFF(x), 0xFF00(x), 0xFF0000(x)};
         .visible .global .attribute(.managed) .b32 flag; .extern .shared .align 16 .b8 window[];
         .global .texref image;",
    );
    let of = |name: &str| module.variables.iter().find(|variable| variable.name == name).unwrap();
    let expected = [(0, "x".to_owned(), 8), (8, "f".to_owned(), 0)];
    assert_eq!(of("table").relocations, expected);
    assert_eq!((of("table").size, of("table").initial[16]), (24, 5));
    assert_eq!((of("text").size, &of("text").initial[..]), (4, &b"ab\n\0"[..]));
    assert_eq!(of("rows").initial, [1, 0, 0, 0, 0, 0, 0xFE, 0xFF, 3, 0]);
    assert_eq!(of("one").initial, 1.0_f32.to_le_bytes());
    assert_eq!(of("two").initial, 2.0_f32.to_le_bytes());
    assert_eq!((of("pair").size, of("pair").vector), (2, 2));
    assert_eq!(of("packed").relocations, [(2, "x".to_owned(), 0)]);
    let expected = (0, true, 16);
    assert_eq!((of("window").size, of("window").external, of("window").align), expected);
    assert_eq!((of("flag").size, of("image").ty), (4, Type::Opaque));
}

#[test]
fn debugging_information_is_skipped_and_lines_kept() {
    let module = module(
        ".entry k() {\n.loc 1 20 3, function_name $L__info_string0, inlined_at 1 4 2\nret;\n}
         .section .debug_str { $L__info_string0: .b8 95, 0\n.b64 .debug_line + 4\n.b32 a-b }
         @@DWARF .byte 1, 2\n# 1 \"x.cu\"\n@dwarf .byte 3\n.global .u32 last;",
    );
    let ret = &module.functions[0].code().unwrap().instructions[0];
    assert_eq!((ret.line, ret.source), (6, Some((1, 20))));
    assert_eq!(module.variables[0].name, "last");
}

#[test]
fn lines_have_places() {
    let text = ".version 8.0
        .target sm_70
        .address_size 64
        .visible .entry k() {
            .loc 1 12 5
            bar.sync 0;
            .loc 2 3 1, function_name name, inlined_at 1 14 9
            bar.sync 0;
            ret;
        }
        .file 1 \"x.cu\"
        .file 2 \"x.h\"";
    let module = parse(text).unwrap();
    let place = |line| location(&module, line).map(|place| place.to_string());
    assert_eq!(place(6).as_deref(), Some("`x.cu:12`"));
    assert_eq!(place(8).as_deref(), Some("`x.h:3`, inlined at `x.cu:14`"));
    assert_eq!(place(4), None);
}

#[test]
fn mistakes_are_named() {
    let expected = "line 1: expected `.version`, found the end of the text";
    assert_eq!(parse("").unwrap_err().to_string(), expected);
    let expected = "the text has no `.target`";
    assert_eq!(parse(".version 8.0\n").unwrap_err().message, expected);
    assert_eq!(error("ret,"), "1: expected an operand, found `,`");
    assert_eq!(error(".reg .b32 a;\nadd.u32 a, a, 1"), "3: expected `;`, found `}`");
    assert_eq!(error("\nmov.u32 %r1, 1;"), "2: register `%r1` is not declared");
    assert_eq!(error("bra L; L: L: ret;"), "1: label `L` is declared twice");
    assert_eq!(error("{ L: }\nbra L; ret;"), "2: label `L` is not declared");
    assert_eq!(error(".reg .b33 x;"), "1: unknown type `.b33`");
    let expected = "1: the alignment is not a power of two";
    assert_eq!(error(".shared .align 3 .b8 x;"), expected);
    assert_eq!(error(".bogus;"), "1: unknown directive `.bogus`");
}

#[test]
fn a_mistake_costs_its_function_and_those_that_name_it() {
    let module = module(
        ".func bad() { .global .u32 state; .pragma \"}\"; { add.bogus é } %; }
         .func middle() { call bad; ret; }
         .global .u64 table[1] = { middle };
         .entry by_table() { .reg .b64 %rd<2>; mov.u64 %rd1, table; ret; }
         .entry by_register() { .reg .b64 %rd<2>; call %rd1, (), list; list: .calltargets middle; }
         .entry alone() { .global .u32 state; ret; }
         .entry typo() { .reg .b32 %r<2>; mov.u32 %r9, 1; }",
    );
    let fault = |name: &str| {
        let function = module.functions.iter().find(|function| function.name == name).unwrap();
        function.fault().map(|fault| (fault.line - 3, fault.message.as_str()))
    };
    for name in ["bad", "middle", "by_table", "by_register"] {
        assert_eq!(fault(name), Some((1, "unexpected character `é`")), "{name}");
    }
    assert_eq!(fault("alone"), None);
    assert_eq!(fault("typo"), Some((7, "register `%r9` is not declared")));
    let variables: Vec<&str> = module.variables.iter().map(|variable| variable.name.as_str()).collect();
    assert_eq!(variables, ["table", "alone@state"]);
    assert_eq!(graph_ptx::summarize(&module, "typo", &[]), None);
    // Without its brace, nobody knows where the function ends.
    let open = format!("{HEADER}.entry k() {{ bogus! \n.entry l() {{ ret; }}");
    assert_eq!(parse(&open).unwrap_err().line, 5);
}

#[test]
fn sums_are_instructions_before_their_own() {
    let body = body(".reg .b64 %rd<4>; A: st.u64 [%rd1], %rd2 + 1; bra A;");
    assert_eq!(body.instructions[0].opcode, "add");
    assert_eq!(body.instructions[0].modifiers, ["u64"]);
    assert_eq!(body.instructions[1].operands[1], body.instructions[0].operands[0]);
    assert_eq!(body.labels, [("A".to_owned(), 0)]);
    assert_eq!(body.instructions[2].operands, [Operand::Label("A".to_owned())]);
    let expected = "1: an offset goes only with an integer register of 16, 32 or 64 bits";
    assert_eq!(error(".reg .f32 %f<3>; mov.f32 %f1, %f2+1;"), expected);
}

#[test]
fn hostile_text_is_refused_cheaply() {
    assert!(error(&"{".repeat(100_000)).ends_with("scopes are nested too deeply"));
    assert!(error(&format!("mov {};", "{".repeat(100_000))).ends_with("operands are nested too deeply"));
    let header = |text: &str| parse(&format!("{HEADER}{text}")).unwrap_err().message;
    let expected = "the initialiser is nested too deeply";
    assert_eq!(header(&format!(".global .b8 x = {};", "{".repeat(100_000))), expected);
    let expected = "the variable is too large";
    assert_eq!(header(".global .b8 x[18446744073709551615][3];"), expected);
    let expected = "the variable is too large";
    assert_eq!(header(".global .b8 x[][4294967295][2147483647] = {{}, {}};"), expected);
    let expected = "the initialiser is too large";
    assert_eq!(header(".global .b8 x[4][1000000000000] = {{1}, {2}};"), expected);
    let expected = "the initialiser is longer than the variable";
    assert_eq!(header(".global .b8 x[2] = {1, 2, 3};"), expected);
    parse(&format!(
        "{HEADER}.entry k() {{ .reg .b32 x; mov.u32 x, {}1; }}",
        "-".repeat(100_000)
    ))
    .unwrap();
    let nested = format!("mov.u32 %r1, {}1{};", "(".repeat(100_000), ")".repeat(100_000));
    assert!(error(&format!(".reg .b32 %r1; {nested}")).ends_with("the expression is nested too deeply"));
    assert!(error(&format!(".reg .b32 %r1; mov.u32 %r1, {}1;", "1?2:".repeat(100_000))).ends_with("nested too deeply"));
    parse(&format!("{HEADER}{}", ".section .s { } ".repeat(10_000))).unwrap();
}
