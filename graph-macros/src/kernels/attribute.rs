//! The attribute's own arguments: the files that the kernels are in, and the options to compile them.

use crate::report::{Report, error};
use graph_plan::Code;
use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Ident, LitStr, Path, Token, bracketed};

/// The file with the kernels.
pub(super) enum File {
    /// `"x.ptx", tuned = ["x.sm_90.ptx"]`
    Ptx { path: LitStr, tuned: Vec<LitStr> },
    /// `cuda = "x.cu", options = ["--use_fast_math"]`
    Cuda { path: LitStr, options: Vec<LitStr> },
}

/// The arguments of the attribute.
pub(super) struct Arguments {
    pub(super) file: File,
    /// The path of the runtime, if one is given.
    pub(super) runtime: Option<Path>,
    /// Whether each `safe fn` must be proved to stay within its memory.
    pub(super) prove: bool,
}

const EXPECTED: &str = "expected the path of a PTX file, in quotes";

const FORMS: &str = "write `#[cuda_kernels(\"kernels.ptx\")]`, or `#[cuda_kernels(cuda = \"kernels.cu\", options = [\"--use_fast_math\"])]`";

/// Reads the arguments; `None` if a mistake was reported. If there are no arguments, that is reported at `attribute`.
pub(super) fn parse(arguments: TokenStream, attribute: Span, report: &mut Report) -> Option<Arguments> {
    if arguments.is_empty() {
        report.push(attribute, &error(Code::Syntax, EXPECTED).help(FORMS));
        return None;
    }
    match all.parse2(arguments.clone()) {
        Ok(all) => Some(all),
        Err(fault) => {
            report.unparsed(&fault, &arguments, Code::Syntax, FORMS);
            None
        }
    }
}

fn all(input: ParseStream<'_>) -> syn::Result<Arguments> {
    let mut runtime = None;
    if input.peek(Token![crate]) {
        let name = input.call(Ident::parse_any)?;
        if let Argument::Runtime(path) = argument(input, &name)? {
            runtime = Some(path);
        }
        input.parse::<Option<Token![,]>>()?;
    }
    let ptx: Option<LitStr> = input.parse()?;
    if ptx.is_none() && !input.peek(Ident::peek_any) {
        return Err(input.error(EXPECTED));
    }
    let (mut cuda, mut options, mut tuned) = (None, None, None);
    let mut prove = false;
    let mut is_first = ptx.is_none();
    while !input.is_empty() {
        if !std::mem::take(&mut is_first) {
            input.parse::<Token![,]>()?;
        }
        if input.is_empty() {
            break;
        }
        if input.peek(LitStr) {
            return Err(input.error(match ptx {
                Some(_) => "files of kernels that are tuned for newer devices are listed in `tuned = [..]`",
                None => "a block of kernels has one source: a PTX file or a CUDA file",
            }));
        }
        let name = input.call(Ident::parse_any)?;
        let fault = |message: String| Err(syn::Error::new(name.span(), message));
        let is_repeated = match (argument(input, &name)?, &ptx) {
            (Argument::Cuda(_) | Argument::Options(_), Some(_)) => {
                return fault("a PTX file is the only source of its kernels, and has no options".to_owned());
            }
            (Argument::Tuned(_), None) => {
                return fault("`tuned` files are for a PTX file, which comes first".to_owned());
            }
            (Argument::Cuda(path), None) => cuda.replace(path).is_some(),
            (Argument::Options(values), None) => options.replace((name.clone(), values)).is_some(),
            (Argument::Tuned(files), Some(_)) => tuned.replace(files).is_some(),
            (Argument::Runtime(path), _) => runtime.replace(path).is_some(),
            (Argument::Prove, _) => std::mem::replace(&mut prove, true),
        };
        if is_repeated {
            return fault(format!("`{name}` is given twice"));
        }
    }
    let file = match (ptx, cuda, options) {
        (Some(path), ..) => File::Ptx {
            path,
            tuned: tuned.unwrap_or_default(),
        },
        (None, Some(path), options) => File::Cuda {
            path,
            options: options.map_or_else(Vec::new, |(_, values)| values),
        },
        (None, None, Some((name, _))) => {
            return Err(syn::Error::new(name.span(), "`options` are for a CUDA source"));
        }
        (None, None, None) => return Err(input.error(EXPECTED)),
    };
    Ok(Arguments { file, runtime, prove })
}

/// `cuda = "x.cu"`, `options = [..]`, `tuned = [..]`, `crate = path` or `prove`
enum Argument {
    Cuda(LitStr),
    Options(Vec<LitStr>),
    Tuned(Vec<LitStr>),
    Runtime(Path),
    Prove,
}

/// The argument of this name, from its `=` on.
fn argument(input: ParseStream<'_>, name: &Ident) -> syn::Result<Argument> {
    let text = name.to_string();
    if text == "prove" {
        return Ok(Argument::Prove);
    }
    if !["cuda", "options", "tuned", "crate"].contains(&&*text) {
        let message = format!("expected `cuda`, `options`, `tuned`, `prove` or `crate`, found `{name}`");
        return Err(syn::Error::new(name.span(), message));
    }
    input.parse::<Token![=]>()?;
    Ok(match &*text {
        "cuda" => Argument::Cuda(input.parse()?),
        "options" => Argument::Options(list(input)?),
        "tuned" => Argument::Tuned(list(input)?),
        _ if input.peek(LitStr) => return Err(input.error("expected the path of `graph_runtime`, without quotes")),
        _ => Argument::Runtime(input.call(Path::parse_mod_style)?),
    })
}

/// `["..", ..]`
fn list(input: ParseStream<'_>) -> syn::Result<Vec<LitStr>> {
    let list;
    bracketed!(list in input);
    let texts = Punctuated::<LitStr, Token![,]>::parse_terminated(&list)?;
    Ok(texts.into_iter().collect())
}
