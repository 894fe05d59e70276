//! Whether a kernel can be declared `safe`: the conditions under which it is proved to stay within its memory.

use graph_ptx::ast::Module;
use graph_ptx::proof::{self, Effort, Kind, Race, Races, Verdict, prove, weakest};

use super::kernel::Kernel;

/// The verdict on a kernel.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Proof {
    /// It is proved under this contract, which is empty if it needs none.
    Under {
        contract: String,
        /// Two of its threads that race.
        race: Option<Box<Race>>,
        /// The parameters whose memory it reads, but only what it has written.
        initialises: Vec<String>,
    },
    /// It is not proved: the reason, and the line of the PTX.
    Open(String, Option<u32>),
}

/// The verdict on each kernel.
pub(super) fn of_all(module: &Module, kernels: &[Kernel]) -> Vec<Proof> {
    let proofs = kernels.iter().map(|kernel| match other_elements(kernel) {
        Some(open) => open,
        None => of_kernel(module, kernel),
    });
    proofs.collect()
}

/// The reason why a kernel is not `safe` that updates elements of another size than those of its declaration.
fn other_elements(kernel: &Kernel) -> Option<Proof> {
    let params = kernel.params.iter().zip(&kernel.summary.params);
    let mut atomics = params.filter_map(|(param, facts)| {
        let element = param.ty.as_deref()?.split("Atomic<").nth(1)?.split('>').next()?;
        Some((param, size(element), facts.access.atomic_sizes))
    });
    let (param, ..) = atomics.find(|(_, element, sizes)| {
        let mut updated = [2, 4, 8, 16].into_iter().zip(sizes).filter(|(_, line)| line.is_some());
        updated.any(|(bytes, _)| *element != Some(bytes))
    })?;
    Some(Proof::Open(
        format!("it updates elements of another size of `{}`", param.name),
        None,
    ))
}

fn of_kernel(module: &Module, shown: &Kernel) -> Proof {
    let entry = &shown.summary.name;
    let described = shown.params.iter().map(|param| proof::Param {
        name: param.name.clone(),
        kind: param.ty.as_deref().map_or(Kind::Other, kind),
    });
    let mut kernel = proof::Kernel {
        entry: entry.clone(),
        params: described.collect(),
        requires: Vec::new(),
        unwritten: Vec::new(),
    };
    if let Some(conditions) = weakest(module, &kernel, &Effort::FULL) {
        let texts: Vec<&str> = conditions.iter().map(|condition| condition.text.as_str()).collect();
        let contract = texts.join(" && ");
        kernel
            .requires
            .extend(conditions.into_iter().map(|condition| condition.term));
        let race = match proof::races(module, &kernel, &Effort::FULL) {
            Races::Found(race) => Some(race),
            Races::Free | Races::Unknown(_) => None,
        };
        let params = shown.summary.params.iter().enumerate();
        let changed = params.filter(|(_, facts)| facts.access.loaded.is_some() && facts.access.plain.is_some());
        let changed: Vec<usize> = changed.map(|(index, _)| index).collect();
        let initialised = changed.into_iter().filter(|&param| {
            kernel.unwritten = vec![param];
            prove(module, &kernel, &Effort::FULL) == Verdict::Proved
        });
        let initialises = initialised.map(|param| shown.params[param].name.clone()).collect();
        return Proof::Under {
            contract,
            race,
            initialises,
        };
    }
    match prove(module, &kernel, &Effort::FULL) {
        Verdict::Proved => Proof::Under {
            contract: String::new(),
            race: None,
            initialises: Vec::new(),
        },
        Verdict::Refuted(witness) => Proof::Open(
            format!("the access to `{}` is not bounded by a simple contract", witness.memory),
            Some(witness.line),
        ),
        Verdict::Unknown(reasons) => match reasons.first() {
            Some(first) => Proof::Open(first.text(), Some(first.line)),
            None => Proof::Open("nothing is known of it".to_owned(), None),
        },
    }
}

/// The kind of a parameter of this type.
fn kind(ty: &str) -> Kind {
    if let Some(memory) = ty.strip_prefix("&mut ").or_else(|| ty.strip_prefix('&')) {
        if memory.contains("Texel<") || memory.contains("Surfel<") {
            return Kind::Handle;
        }
        return match memory.strip_prefix('[').and_then(|slice| slice.strip_suffix(']')) {
            Some(array)
                if array
                    .rsplit_once("; ")
                    .is_some_and(|(_, len)| len.parse::<u64>().is_ok()) =>
            {
                let (unit, len) = array.rsplit_once("; ").unwrap_or((array, ""));
                Kind::Memory {
                    unit: size(unit),
                    len: len.parse().ok(),
                }
            }
            Some(unit) => Kind::Memory {
                unit: size(unit),
                len: None,
            },
            None => Kind::Memory {
                unit: size(memory),
                len: Some(1),
            },
        };
    }
    let integer = |signed: bool, bits: &str| match bits.parse() {
        Ok(bits @ (8 | 16 | 32 | 64)) => Kind::Integer { bits, signed },
        _ => Kind::Other,
    };
    match ty.split_at_checked(1) {
        Some(("u", bits)) => integer(false, bits),
        Some(("i", bits)) => integer(true, bits),
        _ => Kind::Other,
    }
}

/// The bytes of a type, of numbers and arrays of them.
fn size(ty: &str) -> Option<u64> {
    if let Some(inner) = ty.strip_prefix("Atomic<").and_then(|inner| inner.strip_suffix('>')) {
        return size(inner);
    }
    if let Some(array) = ty.strip_prefix('[').and_then(|array| array.strip_suffix(']')) {
        let (unit, len) = array.rsplit_once("; ")?;
        return size(unit)?.checked_mul(len.parse().ok()?);
    }
    let bits: u64 = ty.strip_prefix(['u', 'i', 'f'])?.parse().ok()?;
    matches!(bits, 8 | 16 | 32 | 64).then_some(bits / 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_tell_sizes() {
        let memory = |unit, len| Kind::Memory { unit, len };
        assert_eq!(kind("&mut [f32]"), memory(Some(4), None));
        assert_eq!(kind("&[Atomic<u64>]"), memory(Some(8), None));
        assert_eq!(kind("&[[f32; 4]]"), memory(Some(16), None));
        assert_eq!(kind("&[f32; 4]"), memory(Some(4), Some(4)));
        assert_eq!(kind("&[T]"), memory(None, None));
        assert_eq!(kind("i32"), Kind::Integer { bits: 32, signed: true });
        assert_eq!(kind("f32"), Kind::Other);
        assert_eq!(kind("&[[Texel<f32>; 1]]"), Kind::Handle);
    }
}
