//! The ids by which NVIDIA's tools know the nodes of a graph: [`ToolId`].

use crate::error::{Error, Result, Site};
use crate::graph::Graph;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// The ids by which NVIDIA's tools know a node: [`Graph::tool_ids`] returns them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolId {
    /// The name of the node.
    pub node: String,
    /// The id of the node in the graph as it was built: `cuGraphNodeGetToolsId`. Nsight Systems exports it as
    /// `originalGraphNodeId` of `CUDA_GRAPH_NODE_EVENTS`.
    pub id: u64,
    /// The id of the node in the executable graph, which the records of CUPTI have as `graphNodeId`. `None` for nodes
    /// of child graphs and of bodies, whose ids in the executable graph CUDA does not tell. A change for which the
    /// graph must be instantiated again gives other ids, so ask after the launch that follows the change.
    pub executable: Option<u64>,
}

impl Graph {
    /// Lists the ids by which NVIDIA's tools know the nodes. The list has a node several times if CUDA has several
    /// nodes for it, and lacks a node if CUDA has none.
    ///
    /// # Errors
    /// [`Error::Unsupported`] on the emulator, in debug mode, and with a driver before CUDA 13.1; [`Error::Cuda`] from
    /// the driver.
    pub fn tool_ids(&self) -> Result<Vec<ToolId>> {
        let ids = self
            .executable
            .tool_ids(&Site::graph(&self.data.draft.name))?
            .into_iter();
        let named = ids.map(|(node, id, executable)| ToolId {
            node: self.data.draft.nodes[node].name.to_string(),
            id,
            executable,
        });
        Ok(named.collect())
    }

    /// Writes [`Graph::tool_ids`] as a table (CSV) with the columns `node`, `id` and `executable`, which joins with the
    /// tables that `nsys export` writes.
    ///
    /// # Errors
    /// As [`Graph::tool_ids`]; [`Error::File`] if the file cannot be written.
    pub fn write_tool_ids(&self, path: impl AsRef<Path>) -> Result<()> {
        let mut text = "node,id,executable\n".to_owned();
        for ToolId { node, id, executable } in self.tool_ids()? {
            let executable = executable.map(|id| id.to_string()).unwrap_or_default();
            let _ = writeln!(text, "\"{}\",{id},{executable}", node.replace('"', "\"\""));
        }
        let path = path.as_ref();
        fs::write(path, text).map_err(|error| Error::File {
            site: Site::graph(&self.data.draft.name),
            path: path.display().to_string(),
            message: error.to_string(),
        })
    }
}
