//! The examples of the language reference, the tutorial and other pages, as doctests: each is a whole program that a
//! reader can paste, with the kernels of `kernels/`.

/// The examples of `language.md`: one for each statement, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../language.md")]
struct Language;

/// The programs of `tutorial.md`, step by step.
#[cfg(doctest)]
#[doc = include_str!("../tutorial.md")]
struct Tutorial;

/// The program of `bugs.md`, which finds them.
#[cfg(doctest)]
#[doc = include_str!("../bugs.md")]
struct Bugs;

/// The programs of `for-engines.md`, one for each seam.
#[cfg(doctest)]
#[doc = include_str!("../for-engines.md")]
struct ForEngines;

/// The program on the front page of graph-runtime's package.
#[cfg(doctest)]
#[doc = include_str!("../../graph-runtime/README.md")]
struct Package;
