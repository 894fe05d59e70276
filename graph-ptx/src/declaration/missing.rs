//! The message about a missing kernel, with the names that the PTX has instead.

use super::proposal::declaration;
use super::text::list;
use super::{Mistake, Place, Rule};
use crate::ast::{Function, Module};

pub(super) fn missing(
    entry: &str,
    module: &Module,
    path: &str,
    nearest: impl Fn(&str, &[&str]) -> Option<String>,
) -> Mistake {
    let functions = || module.functions.iter().filter(|function| function.body.is_some());
    let names: Vec<&str> = functions()
        .filter(|function| function.entry)
        .map(|function| &*function.name)
        .collect();
    let mistake = |message: String| Mistake::new(Rule::MissingKernel, Place::Kernel, message);
    let named = functions().find(|function| function.entry && function.name == entry);
    if let Some(reason) = named.and_then(Function::fault) {
        return mistake(format!("the kernel `{entry}` in `{path}` cannot be used: {reason}"))
            .note("its PTX is read no further than that, so nothing is known of its accesses");
    }
    let fault = mistake(format!("`{path}` has no kernel `{entry}`"));
    if functions().any(|function| function.name == entry) {
        return fault
            .note(format!("`{entry}` is a function there, not a kernel"))
            .help("declare it `__global__` in the CUDA source");
    }
    let mangled = format!("{}{entry}", entry.len());
    if let Some(name) = names
        .iter()
        .find(|name| name.starts_with("_Z") && name.contains(&mangled))
    {
        return fault
            .note(format!("`{name}` is there: the name as C++ mangles it"))
            .help(format!(
                "declare it `extern \"C\"` in the CUDA source, or add `#[link_name = \"{name}\"]` here"
            ));
    }
    if let Some(near) = nearest(entry, &names) {
        return fault
            .note(format!(
                "the kernel `{near}` is `{}`",
                declaration(&near, &near, module, &[])
            ))
            .help(format!("did you mean `{near}`?"));
    }
    fault.note(if names.is_empty() {
        "it has no kernels at all".to_owned()
    } else {
        format!("it has {}", list(&names))
    })
}
