//! The declarations to paste.

use std::fmt::Write as _;

use super::kernel::{Kernel, Param};
use super::proof::Proof;

/// The width to which a declaration may grow before each parameter gets a line.
const MAX_WIDTH: usize = 100;

/// The block that declares the kernels of the PTX file at `path`.
pub(super) fn text(path: &str, kernels: &[Kernel], proofs: &[Proof]) -> String {
    let declared = kernels.iter().filter(|kernel| kernel.is_declarable());
    let types = declared.flat_map(|kernel| kernel.params.iter().filter_map(|param| param.ty.as_deref()));
    let uses = |wrapper: &&str| types.clone().any(|ty| ty.contains(&format!("{wrapper}<")));
    let wrappers: Vec<&str> = ["Atomic", "Layered", "Surfel", "Texel"]
        .into_iter()
        .filter(uses)
        .collect();
    let imports = match wrappers.is_empty() {
        true => "cuda_kernels".to_owned(),
        false => format!("{{{}, cuda_kernels}}", wrappers.join(", ")),
    };
    let mut text = format!("use graph_runtime::{imports};\n\n#[cuda_kernels({path:?})]\nunsafe extern \"C\" {{\n");
    text.push_str(
        "    // Graphs launch kernels that are not `safe` by `unsafe`. Each `safe fn` here is proved, and `prove` after the\n    \
         // path keeps it so. Make others `safe` if `#[requires(..)]`s keep them within their memory.\n",
    );
    for (index, kernel) in kernels.iter().enumerate() {
        if kernels[..index].iter().any(|before| is_sibling(before, kernel)) {
            continue;
        }
        let siblings: Vec<(&Kernel, &Proof)> = kernels[index..]
            .iter()
            .zip(&proofs[index..])
            .filter(|(other, _)| is_sibling(kernel, other))
            .collect();
        let pasted = if siblings.len() < 2 {
            declaration(kernel, &proofs[index])
        } else {
            let alike = siblings.iter().all(|(_, proof)| *proof == &proofs[index]);
            let siblings: Vec<&Kernel> = siblings.iter().map(|(kernel, _)| *kernel).collect();
            for_each(&siblings, Some(&proofs[index]).filter(|_| alike))
        };
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{pasted}");
    }
    text.push('}');
    text
}

/// Whether two kernels are instances of one template, alike but for its type. A kernel is its own sibling only if it is
/// an instance.
fn is_sibling(one: &Kernel, other: &Kernel) -> bool {
    let (Some((name, _)), Some((other_name, _))) = (&one.instance, &other.instance) else {
        return false;
    };
    name == other_name && generic(one).is_some() && generic(one) == generic(other)
}

/// The parameters of an instance with `T` in place of its type; `None` if one is not known.
fn generic(kernel: &Kernel) -> Option<Vec<String>> {
    let (_, ty) = kernel.instance.as_ref()?;
    let param = |param: &Param| Some(format!("{}: {}", param.name, param.ty.as_ref()?.replace(ty, "T")));
    kernel.params.iter().map(param).collect()
}

/// The instances of a template as one declaration.
fn for_each(instances: &[&Kernel], proof: Option<&Proof>) -> String {
    let types = instances.iter().filter_map(|kernel| {
        let (_, ty) = kernel.instance.as_ref()?;
        Some(format!("{ty} => {:?}", kernel.summary.name))
    });
    let types: Vec<String> = types.collect();
    let params = generic(instances[0]).unwrap_or_default();
    let name = &instances[0].name;
    let (contract, safe) = proof.map_or((String::new(), ""), safety);
    format!(
        "    #[for_each(T = {})]\n{contract}    {safe}fn {name}<T>({});\n",
        types.join(", "),
        params.join(", ")
    )
}

/// The contract of a kernel that is proved under it, on a line of its own, and the word `safe`.
fn safety(proof: &Proof) -> (String, &'static str) {
    match proof {
        Proof::Open(..) => (String::new(), ""),
        Proof::Under { contract, .. } if contract.is_empty() => (String::new(), "safe "),
        Proof::Under { contract, .. } => (format!("    #[requires({contract})]\n"), "safe "),
    }
}

/// One kernel: on one line if it fits and leaves nothing to decide.
fn declaration(kernel: &Kernel, proof: &Proof) -> String {
    let mut text = String::new();
    if !kernel.is_declarable() {
        let odd = kernel.params.iter().find(|param| param.ty.is_none());
        let name = odd.map_or("", |param| param.name.as_str());
        let why = odd.and_then(|param| param.decide.as_deref()).unwrap_or_default();
        return format!(
            "    // `{}` needs a type of yours for `{name}`: {why}\n",
            kernel.summary.name
        );
    }
    if kernel.name.trim_start_matches("r#") != kernel.summary.name {
        let _ = writeln!(text, "    #[link_name = {:?}]", kernel.summary.name);
    }
    let (contract, safe) = safety(proof);
    text.push_str(&contract);
    let param = |param: &Param| format!("{}: {}", param.name, param.ty.as_deref().unwrap_or_default());
    let params: Vec<String> = kernel.params.iter().map(param).collect();
    let line = format!("    {safe}fn {}({});", kernel.name, params.join(", "));
    let decides = kernel.params.iter().any(|param| param.decide.is_some());
    if line.len() <= MAX_WIDTH && !decides {
        let _ = writeln!(text, "{line}");
        return text;
    }
    let _ = writeln!(text, "    {safe}fn {}(", kernel.name);
    for (param, shown) in kernel.params.iter().zip(params) {
        let decide = param.decide.as_deref().map(|choice| format!(" // decide: {choice}"));
        let _ = writeln!(text, "        {shown},{}", decide.unwrap_or_default());
    }
    text.push_str("    );\n");
    text
}
