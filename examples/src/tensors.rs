//! Tensors in files of safetensors.

use bytemuck::{Pod, pod_collect_to_vec};
use graph_runtime::BoxError;
use safetensors::{Dtype, SafeTensors};

/// Reads the numbers of a tensor. If `shape` is given, the tensor must have it.
///
/// # Errors
/// If there is no tensor of this name, type and shape: the message has all three.
pub fn numbers<T: Pod>(
    file: &SafeTensors<'_>,
    name: &str,
    dtype: Dtype,
    shape: Option<&[usize]>,
) -> Result<Vec<T>, BoxError> {
    let tensor = file.tensor(name)?;
    let (found, lengths) = (tensor.dtype(), tensor.shape());
    if found != dtype || shape.is_some_and(|shape| shape != lengths) {
        return Err(format!("tensor `{name}` is {found:?} {lengths:?}, not {dtype:?} {shape:?}").into());
    }
    Ok(pod_collect_to_vec(tensor.data()))
}
