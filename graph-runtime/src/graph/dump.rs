//! Writes a graph as a DOT file.

use crate::backend::executable::Executable;
use crate::error::{Error, Result, Site};
use crate::graph::{Graph, GraphData};
use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::path::Path;

impl Graph {
    /// Writes the graph as a DOT file: on CUDA with all that the driver knows of its nodes (`cuGraphDebugDotPrint`,
    /// verbose), else as [`Plan::to_dot`](crate::Plan::to_dot) draws it. Changes in place (params, rebinding, disabled
    /// nodes) are not in CUDA's file, since they are changes of the executable graph.
    ///
    /// # Errors
    /// [`Error::File`] if the file cannot be written; [`Error::Cuda`] from the driver.
    pub fn debug_dump(&self, path: impl AsRef<Path>) -> Result<()> {
        dump(&self.executable, &self.data, path.as_ref())
    }
}

/// Writes the graph of an executable that may not be instantiated yet.
pub(crate) fn dump(executable: &Executable, data: &GraphData, path: &Path) -> Result<()> {
    let site = Site::graph(&data.draft.name);
    let failed = |error: io::Error| Error::File {
        site: site.clone(),
        path: path.display().to_string(),
        message: error.to_string(),
    };
    // CUDA does not say why it cannot write a file, so the file is made here.
    let name = CString::new(path.as_os_str().as_encoded_bytes()).map_err(|error| failed(error.into()))?;
    File::create(path).map_err(failed)?;
    if executable.print(&site, &name)? {
        return Ok(());
    }
    fs::write(path, data.plan().to_dot()).map_err(failed)
}
