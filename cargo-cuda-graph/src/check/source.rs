//! The signatures of `__global__` functions in CUDA sources. This is no parser of C++: what it does not understand, it
//! leaves out, and PTX tells the rest.

use super::cpp::Cpp;

/// A kernel as its source declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Signature {
    pub(super) name: String,
    pub(super) params: Vec<Parameter>,
}

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parameter {
    /// Its name, if it has one.
    pub(super) name: Option<String>,
    pub(super) ty: Cpp,
}

/// Words of a type that change nothing here.
const QUALIFIERS: [&str; 10] = [
    "const",
    "volatile",
    "restrict",
    "__restrict__",
    "__restrict",
    "__grid_constant__",
    "struct",
    "typename",
    "register",
    "constexpr",
];
/// Words that make up the names of C++'s own types.
const BUILTIN: [&str; 9] = [
    "unsigned", "signed", "long", "short", "int", "char", "float", "double", "bool",
];
/// Attributes with an argument, between `__global__` and the name.
const ATTRIBUTES: [&str; 7] = [
    "__launch_bounds__",
    "__cluster_dims__",
    "__maxnreg__",
    "__block_size__",
    "__attribute__",
    "alignas",
    "__declspec",
];

/// The kernels that a source declares, in order, given its words and signs after the preprocessor.
pub(super) fn signatures(tokens: &[String]) -> Vec<Signature> {
    let mut signatures = Vec::new();
    let mut rest = tokens;
    while let Some(start) = rest.iter().position(|token| token == "__global__") {
        rest = &rest[start + 1..];
        signatures.extend(signature(rest));
    }
    signatures
}

/// The signature in the tokens after `__global__`.
fn signature(tokens: &[String]) -> Option<Signature> {
    let mut index = 0;
    let open = loop {
        match tokens.get(index)?.as_str() {
            "(" => break index,
            ";" | "{" | "}" => return None,
            word if ATTRIBUTES.contains(&word) && tokens.get(index + 1).is_some_and(|next| next == "(") => {
                index = closing(tokens, index + 1)? + 1;
            }
            _ => index += 1,
        }
    };
    let name = tokens.get(open.checked_sub(1)?)?;
    let inside = &tokens[open + 1..closing(tokens, open)?];
    let params = split(inside);
    Some(Signature {
        name: name.clone(),
        params: params.into_iter().map(parameter).collect::<Option<_>>()?,
    })
}

/// The index of the parenthesis that closes the one at `open`.
fn closing(tokens: &[String], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        match token.as_str() {
            "(" => depth += 1,
            ")" if depth == 1 => return Some(index),
            ")" => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The parts between commas that are in no brackets.
fn split(tokens: &[String]) -> Vec<&[String]> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_i32, 0);
    for (index, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "(" | "[" | "{" | "<" => depth += 1,
            ")" | "]" | "}" | ">" => depth -= 1,
            "," if depth == 0 => {
                parts.push(&tokens[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    let last = &tokens[start..];
    let is_nothing = parts.is_empty() && (last.is_empty() || last == ["void"]);
    if !is_nothing {
        parts.push(last);
    }
    parts
}

/// Reads `const float *x`, `unsigned above[SIDE][SIDE]`, `float (*rows)[SIDE]` and the like; `None` for anything else.
fn parameter(tokens: &[String]) -> Option<Parameter> {
    if let Some(open) = tokens.iter().position(|token| token == "(") {
        let close = closing(tokens, open)?;
        // A function's parameters would be in parentheses.
        tokens.get(close + 1).filter(|next| *next == "[")?;
        let words = tokens[..open].iter().chain(&tokens[open + 1..close]);
        return parameter(&words.cloned().collect::<Vec<_>>());
    }
    let end = tokens.iter().position(|token| token == "=" || token == "[");
    let is_array = end.is_some_and(|end| tokens[end] == "[");
    let tokens = &tokens[..end.unwrap_or(tokens.len())];
    let words = tokens
        .iter()
        .map(String::as_str)
        .filter(|word| !QUALIFIERS.contains(word));
    let mut words: Vec<&str> = words.collect();
    let is_word = |word: &&str| word.starts_with(|first: char| first.is_alphabetic() || first == '_');
    // The last word is the parameter's name, unless it is the type itself.
    let count = words.iter().filter(|word| is_word(word)).count();
    let named = words
        .last()
        .filter(|last| is_word(last) && count > 1 && !BUILTIN.contains(last));
    let name = named.map(|name| (*name).to_owned());
    if name.is_some() {
        words.pop();
    }
    let mut pointers = usize::from(is_array);
    while words.last().is_some_and(|last| *last == "*" || *last == "&") {
        words.pop();
        pointers += 1;
    }
    // `std::uint32_t` is `uint32_t`.
    if let Some(last) = words.iter().rposition(|word| *word == ":") {
        words.drain(..=last);
    }
    if words.is_empty() || !words.iter().all(is_word) {
        return None;
    }
    let base = Cpp::Named(words.join(" "));
    let ty = (0..pointers).fold(base, |ty, _| Cpp::Pointer(Box::new(ty)));
    Some(Parameter { name, ty })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        fn ty(cpp: &Cpp) -> String {
            match cpp {
                Cpp::Named(name) => name.clone(),
                Cpp::Pointer(to) => format!("{}*", ty(to)),
            }
        }
        let param = |param: &Parameter| format!("{} {}", ty(&param.ty), param.name.as_deref().unwrap_or("_"));
        let signature = |one: &Signature| {
            let params: Vec<String> = one.params.iter().map(param).collect();
            format!("{}({})", one.name, params.join(", "))
        };
        let words = cuda_graph_build::Compiler::in_folder("").words(std::path::Path::new("x.cu"), text);
        signatures(&words).iter().map(signature).collect()
    }

    #[test]
    fn signatures_are_found() {
        let text = "
            // __global__ void commented(int x)
            #define KERNEL(name, T) extern \"C\" __global__ void name##_of(const T *x, T *y) \\
                { }
            KERNEL(macro, float) KERNEL(two, double)
            /* __global__ void too(); */ const char *text = \"__global__ void in_text(int)\";
            extern \"C\" __global__ void scale(float *data, const unsigned int n, const float* __restrict__ by = 0);
            template <typename T, int N>
            __global__ void __launch_bounds__(N, 2) of(T const *x, std::uint8_t left[N][N], unsigned, long long) { f(1); }
            __global__ void nothing(void) {}
            __global__ void none() {}
            __global__ void rows(const float (*x)[4], float (*__restrict__ y)[N][2]);
            static __global__ __attribute__((used)) void attributed(Params p, float4 *v, float **table);
        ";
        assert_eq!(
            shown(text),
            [
                "macro_of(float* x, float* y)",
                "two_of(double* x, double* y)",
                "scale(float* data, unsigned int n, float* by)",
                "of(T* x, uint8_t* left, unsigned _, long long _)",
                "nothing()",
                "none()",
                "rows(float* x, float* y)",
                "attributed(Params p, float4* v, float** table)",
            ]
        );
    }

    #[test]
    fn what_is_not_understood_is_left_out() {
        for text in [
            "__global__",
            "__global__ void f(",
            "__global__ void f(int (*callback)(int))",
            "__global__ void f(std::array<int, 2> a)",
            "__global__ ;",
            "__global__ (",
            "__global__ void __launch_bounds__(",
            "'",
            "/*",
            "__global__ void f(float *",
        ] {
            assert_eq!(shown(text), [""; 0], "{text}");
        }
    }
}
