//! NVIDIA's tools from PyPI: their files and hashes, and how they get into a folder.
//!
//! NVIDIA's licence lets only NVIDIA distribute some of them, so wheels are fetched and never checked in.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Error, Result};

/// One file on PyPI, pinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wheel {
    /// The project's name on PyPI.
    pub project: &'static str,
    /// Its version.
    pub version: &'static str,
    /// The SHA-256 of the file for Linux on x86-64, in hexadecimal digits.
    pub sha256: &'static str,
}

/// The compiler. 12.4 writes PTX 8.4, which drivers from 550 on accept.
pub(crate) const NVRTC: Wheel = Wheel {
    project: "nvidia-cuda-nvrtc-cu12",
    version: "12.4.127",
    sha256: "a178759ebb095827bd30ef56598ec182b85547f1508941a3d560eb7ea1fbf338",
};

/// The headers of the runtime, such as `cuda_fp16.h` and `cooperative_groups.h`, and its library.
pub const RUNTIME: Wheel = Wheel {
    project: "nvidia-cuda-runtime-cu12",
    version: "12.4.127",
    sha256: "64403288fa2136ee8e467cdc9c9427e0434110899d07c779f25b5c068934faa5",
};

/// The assembler, `ptxas`, and the headers in `crt/`, which `mma.h` includes.
pub const NVCC: Wheel = Wheel {
    project: "nvidia-cuda-nvcc-cu12",
    version: "12.4.131",
    sha256: "e4c9a35435c3b0e36c6397c5696334c9ea6650e524736cbd1c5d345ea099bb04",
};

/// The headers of CUDA's C++ libraries: `cuda/std`, `cuda/barrier`, CUB. Those of 12.4 include headers of the host,
/// which NVRTC does not have.
pub(crate) const CCCL: Wheel = Wheel {
    project: "nvidia-cuda-cccl-cu12",
    version: "12.9.27",
    sha256: "37869e17ce2e1ecec6eddf1927cca0f8c34e64fd848d40453df559091e2d7117",
};

/// `curand_kernel.h` and its kin. The wheel has 56 MB, since the library is in it too.
pub(crate) const CURAND: Wheel = Wheel {
    project: "nvidia-curand-cu12",
    version: "10.3.5.147",
    sha256: "a88f583d4e0bb643c49743469964103aa59f7f708d862c3ddb0fc07f851e3b8b",
};

/// The last compiler of CUDA 12.
pub(crate) const NVRTC_12: Wheel = Wheel {
    project: "nvidia-cuda-nvrtc-cu12",
    version: "12.9.86",
    sha256: "210cf05005a447e29214e9ce50851e83fc5f4358df8b453155d5e1918094dcb4",
};

/// As [`RUNTIME`], for [`NVRTC_12`].
pub(crate) const RUNTIME_12: Wheel = Wheel {
    project: "nvidia-cuda-runtime-cu12",
    version: "12.9.79",
    sha256: "25bba2dfb01d48a9b59ca474a1ac43c6ebf7011f1b0b8cc44f54eb6ac48a96c3",
};

/// As [`NVCC`], for [`NVRTC_12`].
pub(crate) const NVCC_12: Wheel = Wheel {
    project: "nvidia-cuda-nvcc-cu12",
    version: "12.9.86",
    sha256: "5d6a0d32fdc7ea39917c20065614ae93add6f577d840233237ff08e9a38f58f0",
};

/// A compiler of CUDA 13, which has no GPUs older than `compute_75`.
pub(crate) const NVRTC_13: Wheel = Wheel {
    project: "nvidia-cuda-nvrtc",
    version: "13.5.37",
    sha256: "86b4d68058807988b7d9af5b44917a0601e9c337f35ccd657bfb3c759ff8d8bc",
};

/// As [`RUNTIME`], for [`NVRTC_13`].
pub(crate) const RUNTIME_13: Wheel = Wheel {
    project: "nvidia-cuda-runtime",
    version: "13.5.37",
    sha256: "df2b79a8852f10d1fef8c848489c49eebb5754051bf870202a862831412b179d",
};

/// As [`CCCL`], for [`NVRTC_13`].
pub(crate) const CCCL_13: Wheel = Wheel {
    project: "nvidia-cuda-cccl",
    version: "13.3.5.0.6",
    sha256: "d5230098fa2df5021e1a00c0c4eee41797671a91119d31e892463e5ccf3ee326",
};

/// The headers in `crt/`, for [`NVRTC_13`].
pub(crate) const CRT_13: Wheel = Wheel {
    project: "nvidia-cuda-crt",
    version: "13.5.37",
    sha256: "e898b7f73d3035fa89915a3f7bf3b54a73e90249746111aed295822c4729bb29",
};

/// The names, for pip, of Linux on x86-64 with the C libraries that NVIDIA's files are built for.
const PLATFORMS: [&str; 2] = ["--platform=manylinux2014_x86_64", "--platform=manylinux_2_25_x86_64"];

/// The names under which pip may be on a machine.
const PIPS: [&[&str]; 4] = [&["python3", "-m", "pip"], &["python", "-m", "pip"], &["pip3"], &["pip"]];

/// Returns the folder of fetched wheels for this user: `wheels` in `CUDA_GRAPH_CACHE_DIR`, or in `cuda-graph` below the
/// user's cache.
///
/// # Errors
/// If the environment names no such folder.
pub fn cache() -> Result<PathBuf> {
    let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    let folder = chosen(&variable).ok_or_else(|| {
        Error::new(
            "there is no folder for NVIDIA's compiler: set `CUDA_GRAPH_CACHE_DIR` (neither it nor `HOME` is set)",
        )
    })?;
    Ok(folder.join("wheels"))
}

/// The cache's folder that the environment names. graph-runtime's cache of PTX is in the same folder.
fn chosen(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let below = |name: &str, path: &str| Some(PathBuf::from(variable(name)?).join(path));
    let own = variable("CUDA_GRAPH_CACHE_DIR").map(PathBuf::from);
    own.or_else(|| below("XDG_CACHE_HOME", "cuda-graph"))
        .or_else(|| below("HOME", ".cache/cuda-graph"))
        .or_else(|| below("LOCALAPPDATA", "cuda-graph"))
}

impl Wheel {
    /// Returns the path of `file` within this wheel below `folder`. If the wheel is not there yet, it is fetched and
    /// unpacked first.
    ///
    /// # Errors
    /// If it cannot be fetched, or has no such file.
    pub fn file(&self, folder: &Path, file: &str) -> Result<PathBuf> {
        let unpacked = self.unpacked(folder);
        if !unpacked.is_dir() {
            self.fetch(folder, &unpacked)?;
        }
        self.present(folder, file).ok_or_else(|| {
            let (project, unpacked) = (self.project, unpacked.display());
            Error::new(format!("{project} has no {file}; delete {unpacked} and try again"))
        })
    }

    /// The path of `file` within this wheel below `folder`, if it is there already.
    pub(crate) fn present(&self, folder: &Path, file: &str) -> Option<PathBuf> {
        let path = self.unpacked(folder).join(file);
        path.exists().then_some(path)
    }

    fn unpacked(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}-{}", self.project, self.version))
    }

    /// Lets pip download, verify and unpack the wheel in a folder of its own, which is then renamed, so that `unpacked`
    /// is never seen half-filled.
    fn fetch(&self, folder: &Path, unpacked: &Path) -> Result<()> {
        let (project, version) = (self.project, self.version);
        if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            let message = format!("{project} is pinned for Linux on x86-64 only, and this is another system");
            return Err(Error::new(message));
        }
        eprintln!("fetching {project} {version} from PyPI into {}", folder.display());
        let staging = folder.join(format!("part-{project}-{}", std::process::id()));
        std::fs::create_dir_all(&staging)
            .map_err(|error| Error::new(format!("cannot create {}: {error}", staging.display())))?;
        let outcome = self.unpack_into(&staging).and_then(|()| {
            let renamed = std::fs::rename(&staging, unpacked);
            // Another process may have been faster; it has put the same files there.
            match renamed {
                Err(error) if !unpacked.is_dir() => {
                    Err(Error::new(format!("cannot rename {}: {error}", staging.display())))
                }
                _ => Ok(()),
            }
        });
        // After a success there is nothing left, or what another process has too. No leftover is ever used.
        let _ = std::fs::remove_dir_all(&staging);
        outcome
    }

    fn unpack_into(&self, staging: &Path) -> Result<()> {
        let requirements = staging.join("requirements.txt");
        std::fs::write(&requirements, self.requirement())
            .map_err(|error| Error::new(format!("cannot write {}: {error}", requirements.display())))?;
        let pip = pip().ok_or_else(|| {
            Error::new(format!(
                "cannot fetch {} {}: it is downloaded by pip, and neither `python3 -m pip` nor `pip` runs here\n\
                 help: install Python 3 with pip, or copy the folder {} from a machine that has it",
                self.project,
                self.version,
                staging.parent().unwrap_or(staging).display(),
            ))
        })?;
        let status = Command::new(pip[0])
            .args(&pip[1..])
            .args([
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "--no-input",
                "--no-compile",
            ])
            .args(["--no-deps", "--only-binary=:all:", "--require-hashes"])
            .args(PLATFORMS)
            .arg("--target")
            .arg(staging)
            .arg("--requirement")
            .arg(&requirements)
            .env("PIP_ROOT_USER_ACTION", "ignore") // the target is our own folder
            .status()
            .map_err(|error| Error::new(format!("cannot run {}: {error}", pip[0])))?;
        if status.success() {
            return Ok(());
        }
        Err(Error::new(format!(
            "`{} install` of {} {} failed ({status}); its own message is above\n\
             help: it needs PyPI or a mirror of it; without network, put the wheel into a folder, and set \
             `PIP_NO_INDEX=1 PIP_FIND_LINKS=folder`",
            pip.join(" "),
            self.project,
            self.version
        )))
    }

    /// The line of a requirements file that accepts this file and no other.
    fn requirement(&self) -> String {
        format!("{}=={} --hash=sha256:{}\n", self.project, self.version, self.sha256)
    }
}

/// The first way to call pip that works here.
fn pip() -> Option<&'static [&'static str]> {
    let works = |pip: &&[&str]| {
        let output = Command::new(pip[0]).args(&pip[1..]).arg("--version").output();
        output.is_ok_and(|output| output.status.success())
    };
    PIPS.into_iter().find(works)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requirement_pins_version_and_hash() {
        for wheel in [NVRTC, RUNTIME, NVCC, CCCL, CURAND, NVRTC_12, NVRTC_13] {
            assert_eq!(wheel.sha256.len(), 64, "{}", wheel.project);
            assert!(
                wheel
                    .requirement()
                    .starts_with(&format!("{}=={} --hash=sha256:", wheel.project, wheel.version))
            );
        }
    }

    #[test]
    fn the_environment_says_where_wheels_are() {
        let with = |set: &'static [(&str, &str)]| {
            chosen(&move |name: &str| {
                let found = set.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| value.into())
            })
        };
        assert_eq!(
            with(&[("HOME", "/home/me"), ("CUDA_GRAPH_CACHE_DIR", "/own")]),
            Some("/own".into())
        );
        let expected = Some("/xdg/cuda-graph".into());
        assert_eq!(with(&[("HOME", "/home/me"), ("XDG_CACHE_HOME", "/xdg")]), expected);
        assert_eq!(with(&[("HOME", "/home/me")]), Some("/home/me/.cache/cuda-graph".into()));
        assert_eq!(with(&[("LOCALAPPDATA", "/local")]), Some("/local/cuda-graph".into()));
        assert_eq!(with(&[]), None);
    }
}
