//! NVIDIA's tools from PyPI: their files and hashes, and how they get into `.wheels/`.
//!
//! NVIDIA's licence lets only NVIDIA distribute `ptxas`, so the wheels are fetched and never checked in.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;

/// One file on PyPI, pinned.
pub(crate) struct Wheel {
    /// The project's name on PyPI.
    project: &'static str,
    version: &'static str,
    /// The hash of the file for one of [`PLATFORMS`].
    sha256: &'static str,
}

/// The compiler. 12.4 writes PTX 8.4, which drivers from 550 on accept.
pub(crate) const NVRTC: Wheel = Wheel {
    project: "nvidia-cuda-nvrtc-cu12",
    version: "12.4.127",
    sha256: "a178759ebb095827bd30ef56598ec182b85547f1508941a3d560eb7ea1fbf338",
};

/// The headers, such as `cuda_fp16.h`.
pub(crate) const RUNTIME: Wheel = Wheel {
    project: "nvidia-cuda-runtime-cu12",
    version: "12.4.127",
    sha256: "64403288fa2136ee8e467cdc9c9427e0434110899d07c779f25b5c068934faa5",
};

/// The C++ library for device code, such as `cuda/barrier`.
pub(crate) const CCCL: Wheel = Wheel {
    project: "nvidia-cuda-cccl-cu12",
    version: "12.4.127.post1",
    sha256: "2027fa5fc75fbee703bf24e8275a40a605cf94a3e8fef8a7187897d49b34facb",
};

/// The assembler, `ptxas`.
pub(crate) const NVCC: Wheel = Wheel {
    project: "nvidia-cuda-nvcc-cu12",
    version: "12.4.131",
    sha256: "e4c9a35435c3b0e36c6397c5696334c9ea6650e524736cbd1c5d345ea099bb04",
};

/// The assembler of a later CUDA, for PTX that the earlier one does not read.
pub(crate) const NVCC_13: Wheel = Wheel {
    project: "nvidia-cuda-nvcc",
    version: "13.5.37",
    sha256: "f5c4f7ead5d964fb4af42bbf1e6d3ec3c1e6e9d83b53749f691d387e7fcaa3a7",
};

/// compute-sanitizer. The version of CUDA 13.0 fails more often on conditional nodes; its racecheck loses track of
/// their kernels, and takes named barriers for races (`gpu.sh` lists what the newer version still cannot do).
pub(crate) const SANITIZER: Wheel = Wheel {
    project: "nvidia-cuda-sanitizer-api",
    version: "13.5.25",
    sha256: "5df2efbdf605a812c6bac07600dd3d801cb9d334a30376113a6f1e2bc0679f54",
};

/// The names, for pip, of Linux on x86-64 with the C libraries that NVIDIA's files are built for.
const PLATFORMS: [&str; 2] = ["--platform=manylinux2014_x86_64", "--platform=manylinux_2_25_x86_64"];

impl Wheel {
    /// The path of `file` within this wheel, which is fetched and unpacked first unless it has been already.
    pub(crate) fn file(&self, root: &Path, file: &str) -> Result<PathBuf> {
        let folder = root.join(".wheels");
        let unpacked = folder.join(format!("{}-{}", self.project, self.version));
        if !unpacked.is_dir() {
            self.fetch(
                &folder.join(format!("part-{}-{}", self.project, std::process::id())),
                &unpacked,
            )?;
        }
        let path = unpacked.join(file);
        if path.exists() {
            Ok(path)
        } else {
            Err(format!(
                "{} has no {file}; delete {} and try again",
                self.project,
                unpacked.display()
            )
            .into())
        }
    }

    /// Lets pip download, verify and unpack the wheel in `staging`, which is then renamed, so that `unpacked` is never
    /// seen half-filled.
    fn fetch(&self, staging: &Path, unpacked: &Path) -> Result<()> {
        if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            return Err("NVIDIA's wheels are pinned for Linux on x86-64 only; run this command there".into());
        }
        eprintln!("fetching {} {} from PyPI", self.project, self.version);
        std::fs::create_dir_all(staging).map_err(|error| format!("cannot create {}: {error}", staging.display()))?;
        let outcome = self.unpack_into(staging).and_then(|()| {
            std::fs::rename(staging, unpacked)
                .map_err(|error| format!("cannot rename {}: {error}", staging.display()).into())
        });
        if outcome.is_err() {
            // A leftover would be git-ignored and used by nothing, so a failure here does no harm.
            let _ = std::fs::remove_dir_all(staging);
        }
        outcome
    }

    fn unpack_into(&self, staging: &Path) -> Result<()> {
        let requirements = staging.join("requirements.txt");
        std::fs::write(&requirements, self.requirement())
            .map_err(|error| format!("cannot write {}: {error}", requirements.display()))?;
        let status = Command::new("python3")
            .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--no-compile"])
            .args(["--no-deps", "--only-binary=:all:", "--require-hashes"])
            .args(PLATFORMS)
            .arg("--target")
            .arg(staging)
            .arg("--requirement")
            .arg(&requirements)
            .env("PIP_ROOT_USER_ACTION", "ignore") // the target is our own folder
            .status()
            .map_err(|error| {
                format!(
                    "cannot run python3 ({error}): NVIDIA's tools are fetched with `python3 -m pip`; install Python 3 with \
                     pip and try again (building, testing and using this workspace needs none of them)"
                )
            })?;
        if status.success() {
            Ok(())
        } else {
            Err(format!(
                "`python3 -m pip install` of {} {} failed ({status}): its message is above; Python 3 with pip and access \
                 to PyPI are needed",
                self.project, self.version
            )
            .into())
        }
    }

    /// The line of a requirements file that accepts this file and no other.
    fn requirement(&self) -> String {
        format!("{}=={} --hash=sha256:{}\n", self.project, self.version, self.sha256)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requirement_pins_version_and_hash() {
        for wheel in [NVRTC, RUNTIME, CCCL, NVCC, NVCC_13, SANITIZER] {
            assert_eq!(wheel.sha256.len(), 64, "{}", wheel.project);
            assert!(
                wheel
                    .requirement()
                    .starts_with(&format!("{}=={} --hash=sha256:", wheel.project, wheel.version))
            );
        }
    }
}
