//! `#[requires(..)]`: the program that it becomes, and expressions that it may not contain.

use super::{block, messages, squeezed};

/// The program of a contract of `fill(out, value)` in short, with its text.
fn compiled(contract: &str) -> String {
    let text = squeezed(&block(&format!(
        "#[requires({contract})] safe fn fill(out: &mut [u32], value: u32);"
    )));
    let start = text
        .find("Contract{text:")
        .unwrap_or_else(|| panic!("no contract in {text}"));
    let end = text[start..].find("]}").unwrap();
    text[start + 14..start + end].replace("::graph_runtime::private::plan::Op::", "")
}

fn faults(contract: &str) -> Vec<String> {
    let declaration = "safe fn copy(from: &[u32], to: &mut [u32], x: f32, p: Params);";
    messages(block(&format!("#[requires({contract})] {declaration}")))
}

#[test]
fn contracts_become_postfix_programs() {
    let expected = "\"threads<=out.len()\",code:&[Threads,Len(0u8),Le";
    assert_eq!(compiled("threads<=out.len()"), expected);
    let expected = "\"grid.x*block.y+1>=(valueasu64-2)%3\",code:&[Grid(0),Block(1),Mul,Int(1i128),Add,Value(1u8),Cast{bits:64u8,signed:false},Int(2i128),Sub,\
         Int(3i128),Rem,Ge";
    assert_eq!(compiled("grid.x * block.y + 1 >= (value as u64 - 2) % 3"), expected);
    assert_eq!(
        compiled("!(shared == 0) || block.is_power_of_two() && -1 < grid.min(4).div_ceil(2)"),
        "\"!(shared==0)||block.is_power_of_two()&&-1<grid.min(4).div_ceil(2)\",code:&[Shared,Int(0i128),Eq,Not,Block(3),\
         IsPowerOfTwo,Int(1i128),Neg,Grid(3),Int(4i128),Min,Int(2i128),DivCeil,Lt,And,Or"
    );
    assert_eq!(
        compiled("crate::LIMIT << 1 > threads"),
        "\"crate::LIMIT<<1>threads\",code:&[Int(::graph_runtime::private::integer(crate::LIMIT)),Int(1i128),Shl,Threads,Gt"
    );
    assert_eq!(compiled("0.5 < 1e3"), "\"0.5<1e3\",code:&[Float(0.5),Float(1000.0),Lt");
}

#[test]
fn the_text_has_the_usual_spaces() {
    let tokens = block("#[requires(threads<=out . len( )&&value!=0)] safe fn fill(out: &mut [u32], value: u32);");
    let part = "\"threads <= out.len() && value != 0\"";
    assert!(tokens.to_string().contains(part), "{tokens}");
}

#[test]
fn only_what_can_be_evaluated_is_allowed() {
    let first = |contract: &str| faults(contract)[0].lines().next().unwrap_or_default().to_owned();
    let expected = "a contract is a condition, but this is a number [contract]";
    assert_eq!(first("threads"), expected);
    let expected = "`&&` cannot be applied to an integer and a condition [contract]";
    assert_eq!(first("threads && true"), expected);
    let expected = "`<<` cannot be applied to a floating-point number and an integer [contract]";
    assert_eq!(first("x << 1 == 2"), expected);
    assert_eq!(first("threads.pow(2) > 1"), "a contract has no method `pow` [contract]");
    assert_eq!(first("f(threads)"), "this cannot be part of a contract [contract]");
    let expected = "a contract only casts integers to integers [contract]";
    assert_eq!(first("threads as f32 > 1"), expected);
    assert_eq!(first("grid.w > 1"), "`grid` has no such dimension [contract]");
    assert_eq!(first("threads = 1"), "this cannot be part of a contract [contract]");
    assert_eq!(faults("from.len() > p && to > 1").len(), 2, "all at once");
    let nested = "1 + (".repeat(40) + "1" + &")".repeat(40) + " > 1";
    assert_eq!(first(&nested), "this contract nests too deeply [contract]");
    assert_eq!(faults("").len(), 1);
}
