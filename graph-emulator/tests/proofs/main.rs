//! The emulator judges [`graph_ptx::proof`]: a proved kernel runs without a fault on memory that is as small as its
//! contract allows; a mutant of it that leaves its memory is not proved; a refuted kernel faults as its witness says.
//!
//! `PROOF_MUTANTS=20000 cargo test -p graph-emulator --test proofs mutants -- --nocapture` tries more mutants.
//! `PROOF_FILES`, a list of PTX files with `:` between them, has the kernels of these judged, counted and mutated, too.

#[path = "../common/random.rs"]
mod random;

mod judge;

mod generated;
mod mutants;
mod proved;
mod races;
mod refuted;
mod unwritten;
