//! Mistakes in a block, and in a declaration compared with its PTX.

use super::{Ptx, attributed, block, block_of, firsts, messages, squeezed};

#[test]
fn right_declarations_have_no_mistakes() {
    let tokens = block(
        "#[requires(1 <= out.len())] pub safe fn fill(out: &mut [u32], value: u32);
         #[allow(needless_mut, kernel_bounds)] safe fn copy(from: &[u32], to: &mut [[u32; 4]; 4], x: f32, p: Params);
         #[requires(1 <= a.len())] safe fn either(a: &mut [u32], b: &mut u32, which: u32);
         fn chase(list: &[u64]);",
    );
    assert_eq!(messages(tokens), [""; 0]);
}

#[test]
fn a_missing_file_is_one_error_and_the_kernels_are_there() {
    let tokens = attributed(
        "\"no/such.ptx\"",
        "unsafe extern \"C\" { safe fn a(x: &mut [f32]); fn b(n: u32); }",
    );
    let text = squeezed(&tokens);
    assert!(text.contains("enuma{}") && text.contains("enumb{}"), "{text}");
    let messages = messages(tokens);
    assert_eq!(messages.len(), 1);
    let start = "there is no file `no/such.ptx` [ptx-file]\nnote: looked for `";
    assert!(messages[0].starts_with(start), "{}", messages[0]);
}

#[test]
fn a_bad_file_is_one_error() {
    let tokens = block_of(&Ptx::new([0xff, 0xfe]), "fn a();");
    assert_eq!(firsts(tokens), ["`PTX` is not a text file: it is not UTF-8 [ptx-file]"]);
    let messages = firsts(block_of(&Ptx::new(".version 8.4\n.target sm_70\nnonsense"), "fn a();"));
    assert_eq!(messages.len(), 1);
    let start = "`PTX` is not valid PTX: line 3: ";
    assert!(messages[0].starts_with(start), "{}", messages[0]);
}

#[test]
fn a_kernel_may_have_another_name() {
    let named = block("#[allow(needless_mut)] #[link_name = \"_Z6doublePf\"] safe fn double(x: &mut [f32]);");
    assert_eq!(messages(named), [""; 0]);
}

#[test]
fn parameters_must_be_the_ones_of_the_ptx() {
    let expected = ["the kernel `fill` takes 2 parameters, but 1 is declared [signature]\n\
         note: on line 8 of `PTX`: `.u64 p0`, `.u32 p1`\nhelp: declare it `fn fill(out: &mut [u32], p1: u32);`"];
    assert_eq!(messages(block("fn fill(out: &mut [u32]);")), expected);
    let first = |declaration: &str| firsts(block(declaration)).join("\n");
    let expected = "`out` is `u32`, of 4 bytes, but the kernel takes 8 bytes [signature]\n\
         `value` is `u64`, of 8 bytes, but the kernel takes 4 bytes [signature]";
    assert_eq!(first("fn fill(out: u32, value: u64);"), expected);
    let expected = "`value` is `f32`, but the kernel takes an integer [signature]";
    assert_eq!(first("fn fill(out: u64, value: f32);"), expected);
    let expected = "`value` is memory, but the kernel takes 4 bytes by value [signature]";
    assert_eq!(first("fn fill(out: &[u32], value: &mut [u32]);"), expected);
    let copy = messages(block("fn copy(a: &[u32], b: &mut [u32], x: i32, p: &[u32]);"));
    let expected = [
        "`x` is `i32`, but the kernel takes a floating-point number [signature]\nnote: it is `.f32 p2` of `copy` in `PTX`\n\
             help: declare it `x: f32`",
        "`p` is memory, but the kernel takes 12 bytes by value [signature]\nnote: it is `.align 4 .b8 p3[12]` of `copy` in \
             `PTX`\nhelp: declare it as a `#[repr(C)]` struct of 12 bytes, aligned to 4",
    ];
    assert_eq!(copy, expected);
}

#[test]
fn host_types_are_replaced_by_types_of_the_size_that_the_kernel_takes() {
    let help = |declaration: &str| {
        let messages = messages(block(declaration));
        let [message] = &messages[..] else {
            panic!("{messages:?}")
        };
        message.lines().last().unwrap().to_owned()
    };
    assert_eq!(help("fn fill(out: &mut [u32], value: usize);"), "help: use `u32`");
    assert_eq!(help("fn fill(out: &mut [u32], value: isize);"), "help: use `i32`");
    assert_eq!(help("fn fill(out: &mut [u32], value: char);"), "help: use `u32`");
    let expected = "help: declare it `out: &mut [T]`: the kernel writes to the memory at this address";
    assert_eq!(help("fn fill(out: usize, value: u32);"), expected);
    let unknown = "help: use `u64` for 8 bytes (`size_t`), `u32` for 4 (`unsigned`)";
    let messages = messages(block("fn other(out: &mut [u32], value: usize);"));
    assert!(
        messages.iter().any(|message| message.ends_with(unknown)),
        "{messages:?}"
    );
}

#[test]
fn access_that_is_certain_is_compared_always() {
    assert_eq!(
        firsts(block("fn either(a: &mut [u32], b: &[u32], which: u32);")),
        [""; 0],
        "trusted"
    );
    let certain = firsts(block("fn either(a: &[u32], b: &[u32], which: u32);"));
    assert_eq!(certain.len(), 2);
}

#[test]
fn kernels_that_are_not_safe_may_use_any_address() {
    assert_eq!(firsts(block("fn fill(out: u64, value: u32);")), [""; 0]);
}

#[test]
fn needless_mut_is_a_warning() {
    let copy = |attribute: &str| {
        block(&format!(
            "{attribute} fn copy(from: &mut [u32], to: &mut [u32], x: f32, p: Params);"
        ))
    };
    let expected = [
        "the kernel `copy` never writes to `from`, which is declared `&mut` [needless-mut]\nnote: `#[allow(needless_mut)]` on \
          the kernel silences this warning\nhelp: declare it `from: &[u32]`",
    ];
    assert_eq!(messages(copy("")), expected);
    assert_eq!(firsts(copy("#[allow(needless_mut, dead_code)]")), [""; 0]);
    let kept = squeezed(&copy("#[allow(needless_mut, clippy::all)]"));
    assert!(kept.contains("#[allow(clippy::all)]"), "{kept}");
    assert!(!kept.contains("needless_mut"), "{kept}");
}

#[test]
fn what_does_not_parse_still_declares_its_kernel() {
    let tokens = block("pub(crate) safe fn fill(a: &mut [u32], b: , c: u32); fn chase(list: &[u64]);");
    let text = squeezed(&tokens);
    assert!(text.contains("pub(crate)enumfill{}"), "{text}");
    assert!(text.contains("enumchase{}"), "{text}");
    let part = "fncall<__Shape0,__Shape1,__Shape2>(argument0:__Shape0,";
    assert!(text.contains(part), "{text}");
    let part = "unsafeextern\"C\"{pub(crate)safefnfill(";
    assert!(text.contains(part), "rustc says what is wrong: {text}");
}

#[test]
fn a_kernel_under_cfg_has_its_mistakes_under_cfg() {
    let text = squeezed(&block("#[cfg(test)] fn nothing();"));
    assert!(text.contains("#[cfg(test)]const_:()={::core::compile_error!"), "{text}");
    assert_eq!(text.matches("#[cfg(test)]").count(), 4);
    let both = firsts(block(
        "#[cfg(a)] fn chase(x: &[u64]); #[cfg(not(a))] fn chase(x: &[u64]);",
    ));
    assert_eq!(both, [""; 0]);
}
