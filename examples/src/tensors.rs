//! Tensors in files of safetensors.

use bytemuck::{Pod, cast_slice, pod_collect_to_vec};
use graph_runtime::BoxError;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensorError, SafeTensors};
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
    let views = tensors.iter().map(|tensor| {
        let data = cast_slice(&tensor.numbers);
        let view = TensorView::new(Dtype::F32, tensor.shape.clone(), data)?;
        Ok((&tensor.name, view))
    });
    let views = views.collect::<Result<Vec<_>, SafeTensorError>>()?;
    Ok(safetensors::serialize_to_file(views, None, path)?)
}
