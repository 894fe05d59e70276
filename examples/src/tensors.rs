//! Tensors in files of safetensors.

use bytemuck::{Pod, cast_slice, pod_collect_to_vec};
use graph_runtime::BoxError;
use half::{bf16, f16};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensorError, SafeTensors};
use std::collections::HashMap;
use std::path::Path;

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

/// The numbers of a tensor in f32, f16 or bf16; `None` if they are of another type.
pub fn floats(tensor: &TensorView<'_>) -> Option<Vec<f32>> {
    let data = tensor.data();
    match tensor.dtype() {
        Dtype::F32 => Some(pod_collect_to_vec(data)),
        Dtype::F16 => Some(pod_collect_to_vec::<_, f16>(data).into_iter().map(f32::from).collect()),
        Dtype::BF16 => Some(pod_collect_to_vec::<_, bf16>(data).into_iter().map(f32::from).collect()),
        _ => None,
    }
}

/// A tensor, to be written to a file.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// Its name.
    pub name: String,
    /// Its lengths, outermost first.
    pub shape: Vec<usize>,
    /// Its numbers.
    pub numbers: Vec<f32>,
}

impl Tensor {
    /// A tensor of one dimension.
    pub fn list(name: &str, numbers: Vec<f32>) -> Self {
        Self {
            name: name.to_owned(),
            shape: vec![numbers.len()],
            numbers,
        }
    }
}

/// Writes a file of safetensors, in f32.
///
/// # Errors
/// If it cannot be written, or if a shape is not that of its numbers.
pub fn write(path: &Path, tensors: &[Tensor]) -> Result<(), BoxError> {
    write_with(path, tensors, None)
}

/// As [`write()`], with entries of metadata.
///
/// # Errors
/// As [`write()`].
pub fn write_with(path: &Path, tensors: &[Tensor], metadata: Option<HashMap<String, String>>) -> Result<(), BoxError> {
    let views = tensors.iter().map(|tensor| {
        let data = cast_slice(&tensor.numbers);
        let view = TensorView::new(Dtype::F32, tensor.shape.clone(), data)?;
        Ok((&tensor.name, view))
    });
    let views = views.collect::<Result<Vec<_>, SafeTensorError>>()?;
    Ok(safetensors::serialize_to_file(views, metadata, path)?)
}
