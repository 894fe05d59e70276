//! The corpus: ordinary CUDA kernels, whose results on the device under test are compared with those of an H200.
//!
//! `kernels/*.cu` are the kernels, by topic, with the PTX that `cargo xtask ptx` makes of them. The module of the same
//! name declares them and runs each on inputs that a seed makes, special values included. `results/*.bin` hold, by the
//! same topics, the bytes of all outputs of each test, one after the other, as the H200 left them. How near a result
//! must come to them each output says itself: [`Bound`](bound::Bound), with the document that promises it; integers and
//! IEEE operations agree in every bit.
//!
//! The device is the emulator, or the GPU with `CUDA_GRAPH_TEST_DEVICE=cuda`. To record the results of new kernels, run
//! this there with `CORPUS_RECORD=1`: the files of their topics are written to the folder `$OUT`, to be checked in
//! under `results/`, and nothing is compared. What other tests left is kept in them.

#[macro_use]
mod trial;

#[path = "../common/random.rs"]
#[expect(dead_code, reason = "the corpus draws numbers in ways of its own, see `data`")]
mod generator;

mod bound;
mod data;
mod results;

mod approximate;
mod asynchronous;
mod atomics;
mod bfloat;
mod control;
mod convert;
mod fast_math;
mod fourier;
mod groups;
mod half;
mod histogram;
mod hopper;
mod integer;
mod linear;
mod math32;
mod math64;
mod memory;
mod neural;
mod print;
mod random;
mod reduce;
mod rounding;
mod scan;
mod science;
mod sort;
mod stencil;
mod tensor;
mod warp;
