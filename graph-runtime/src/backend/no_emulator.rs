//! The stand-in for graphs on the emulator, in builds without the feature `emulator`. No value of it exists.

use crate::backend::host_calls::HostCalls;
use crate::backend::launch_end::LaunchEnd;
use crate::devices::Emulated;
use crate::error::{Error, Result};
use crate::ownership::blueprint::Blueprint;
use crate::ownership::shared_resources::SharedResources;
use crate::ownership::storage::Storage;
use crate::program::recorder::Recorder;
use crate::program::{Program, Work};
use graph_plan::Draft;
use std::convert::Infallible;

/// A graph made for the emulator.
pub(crate) struct EmulatorExecutable(Infallible);

impl EmulatorExecutable {
    /// Refuses the graph.
    pub(crate) fn build(_: &Emulated, _: &Blueprint<'_>) -> Result<Self> {
        Err(Error::NoEmulator { cuda: None })
    }

    pub(crate) fn launch(&mut self, _: &Draft, _: &Program) -> Result<()> {
        match self.0 {}
    }

    pub(crate) fn profile(&mut self, _: &Draft, _: &Program, _: &mut Recorder) -> Result<()> {
        match self.0 {}
    }

    pub(crate) fn launch_on_thread(&mut self, _: &Draft, _: &Program, _: &SharedResources) -> Result<LaunchEnd> {
        match self.0 {}
    }

    pub(crate) fn wait(&self) -> Result<()> {
        match self.0 {}
    }

    pub(crate) fn restart(&mut self) -> Result<()> {
        match self.0 {}
    }

    pub(crate) fn storage(&self) -> &[Storage] {
        match self.0 {}
    }

    pub(crate) fn calls(&self) -> &HostCalls {
        match self.0 {}
    }

    pub(crate) fn check_change(&self, _: &Draft, _: &Program, _: usize, _: &Work) -> Result<()> {
        match self.0 {}
    }

    pub(crate) fn apply(&mut self, _: usize) {
        match self.0 {}
    }

    pub(crate) fn rebind(&mut self, _: usize, _: Storage) {
        match self.0 {}
    }
}
