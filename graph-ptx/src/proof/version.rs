//! The version of the analysis: a number that changes with its code, so that verdicts of other versions are not taken
//! for its own.

/// The files of this crate, and their hash.
macro_rules! files {
    ($($file:literal,)*) => {
        const HASHES: &[u64] = &[$({
            const HASH: u64 = hash(include_bytes!($file));
            HASH
        }),*];
    };
}

files![
    "../ast.rs",
    "../callers.rs",
    "../declaration.rs",
    "../declaration/access.rs",
    "../declaration/missing.rs",
    "../declaration/proposal.rs",
    "../declaration/signature.rs",
    "../declaration/text.rs",
    "../error.rs",
    "../geometry.rs",
    "../header.rs",
    "../host_headers.rs",
    "../lexer.rs",
    "../lib.rs",
    "../location.rs",
    "../origin.rs",
    "../parser.rs",
    "../parser/body.rs",
    "../parser/constant.rs",
    "../parser/function.rs",
    "../parser/initializer.rs",
    "../parser/operand.rs",
    "../parser/scope.rs",
    "../parser/target.rs",
    "../parser/variable.rs",
    "../predicate.rs",
    "../predicate/beginning.rs",
    "../predicate/guard.rs",
    "../proof.rs",
    "../proof/access.rs",
    "../proof/analysis.rs",
    "../proof/arithmetic.rs",
    "../proof/choice.rs",
    "../proof/concrete.rs",
    "../proof/convert.rs",
    "../proof/facts.rs",
    "../proof/fixed.rs",
    "../proof/flow.rs",
    "../proof/hash.rs",
    "../proof/machine.rs",
    "../proof/opcode.rs",
    "../proof/poly.rs",
    "../proof/race.rs",
    "../proof/search.rs",
    "../proof/step.rs",
    "../proof/term.rs",
    "../proof/unwritten.rs",
    "../proof/value.rs",
    "../proof/walk.rs",
    "../proof/weakest.rs",
    "../proof/witness.rs",
    "../proof/words.rs",
    "../summary.rs",
    "../summary/blocks.rs",
    "../summary/call.rs",
    "../summary/dependency.rs",
    "../summary/flow.rs",
    "../summary/forward.rs",
    "../summary/opcode.rs",
    "../summary/program.rs",
    "../summary/report.rs",
    "../summary/sets.rs",
    "../summary/shared.rs",
    "../summary/source.rs",
    "../summary/transfer.rs",
    "../summary/value.rs",
    "../summary/webs.rs",
    "../summary/workspace.rs",
];

/// Another number whenever the code that finds verdicts, or reads PTX, is another one.
pub const VERSION: u64 = {
    let (mut all, mut index) = (HASHES.len() as u64, 0);
    while index < HASHES.len() {
        all = mixed(all, HASHES[index]);
        index += 1;
    }
    all
};

const fn mixed(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(29) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// A hash of bytes, eight at a time: it is computed when this crate is compiled.
const fn hash(mut bytes: &[u8]) -> u64 {
    let mut hash = bytes.len() as u64;
    while let Some((word, rest)) = bytes.split_first_chunk() {
        hash = mixed(hash, u64::from_le_bytes(*word));
        bytes = rest;
    }
    while let Some((byte, rest)) = bytes.split_first() {
        hash = mixed(hash, *byte as u64);
        bytes = rest;
    }
    hash
}

const _: () = assert!(hash(b"proof of bounds") != hash(b"proof or bounds"));
const _: () = assert!(hash(b"a") != hash(b"a\0"));
