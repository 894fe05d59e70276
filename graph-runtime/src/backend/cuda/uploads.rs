//! The choice between the two forms of copies from the host: copy nodes, or kernels that read the host's memory.
//!
//! A copy node hands its work to a copy engine, which costs more than a few bytes do. A kernel reads page-locked memory
//! at the address that it has on the host: `cuMemHostAlloc` has made it, which maps it there for every device. The
//! order of nodes is that of the graph's edges in either form: a copy engine orders nothing that edges do not, and what
//! comes before a kernel has ended, with all that it wrote, when the kernel begins, be it a copy, a kernel, or a
//! function of the host.
//!
//! Memory that graphs share with others stays with copy nodes: other memory of the host may take its place, which the
//! device need not reach at the same address.

use super::forms::MAX_BYTES;
use super::prices::Prices;
use crate::devices::uploads::{UploadForm, Uploads};
use crate::ownership::blueprint::Blueprint;
use crate::program::{MemcpyOp, Op, Work};
use graph_plan::Memory;

/// The form of each copy from the host, by node.
pub(super) fn choose(blueprint: &Blueprint<'_>, prices: &Prices) -> Vec<(usize, UploadForm)> {
    let mut forms = Vec::new();
    for (node, op) in blueprint.program.ops.iter().enumerate() {
        let Op::Work(Work::Memcpy(copy)) = op else { continue };
        let from = copy.from.part().resource as usize;
        if blueprint.draft.resources[from].memory != Memory::Host {
            continue;
        }
        let (kernel, reason) = match bytes(blueprint, node, copy) {
            Err(reason) => (false, reason),
            Ok(_) if blueprint.uploads == Uploads::Copies => (false, "the device asks for it".to_owned()),
            Ok(_) if blueprint.uploads == Uploads::Kernels => (true, "the device asks for it".to_owned()),
            Ok(bytes) => {
                let (most, device) = (prices.upload_bytes, prices.device);
                let reason =
                    format!("it copies {bytes} bytes, and kernels cost less up to {most} (prices of {device})");
                (bytes <= most, reason)
            }
        };
        let form = UploadForm {
            node: blueprint.draft.nodes[node].name.to_string(),
            kernel,
            reason,
        };
        forms.push((node, form));
    }
    forms
}

/// The most bytes that a copy from the host may have, or what stands in the way of a kernel.
fn bytes(blueprint: &Blueprint<'_>, node: usize, copy: &MemcpyOp) -> Result<usize, String> {
    let Blueprint {
        draft, program, shared, ..
    } = blueprint;
    let reach = program.reach(node);
    let to = reach.map_or(&copy.to, |reach| &reach.to);
    let resources = [copy.from.part().resource, to.part().resource].map(|resource| resource as usize);
    let [from, target] = resources.map(|resource| &draft.resources[resource]);
    if shared.find(resources[0]).is_some() {
        return Err(format!("`{}` is memory that graphs share", from.name));
    }
    if !target.memory.is_plain_device() {
        return Err(format!("`{}` is {}", target.name, target.memory.described()));
    }
    let bytes = to.part().bytes;
    if bytes == 0 {
        return Err("it copies nothing".to_owned());
    }
    if bytes > MAX_BYTES {
        return Err(format!("it copies {bytes} bytes"));
    }
    Ok(bytes)
}
