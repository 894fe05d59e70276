//! `ptx` and `fetch`: the `.ptx` files beside CUDA sources, and the compiler that makes them.

use crate::Result;
use crate::arguments::Arguments;

/// Writes the `.ptx` beside each source, or compares them.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    arguments.existing(&["cu"])?;
    let mut compiler = arguments.compiler()?;
    if arguments.compares {
        Ok(cuda_graph_build::check(&mut compiler, &arguments.files)?)
    } else {
        Ok(cuda_graph_build::update(&mut compiler, &arguments.files)?)
    }
}

/// Puts the compiler into the cache.
pub(crate) fn fetch(arguments: &Arguments) -> Result<()> {
    arguments.compiler()?.fetch_all()?;
    println!("the compiler is in {}", cuda_graph_build::cache()?.display());
    Ok(())
}
