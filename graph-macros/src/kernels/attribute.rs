//! The attribute's own arguments: the files that the kernels are in, and the options to compile them.

use crate::report::{Report, error};
use crate::span::ends;
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
}

const FORMS: &str = "write `#[cuda_kernels(\"kernels.ptx\")]`, or `#[cuda_kernels(cuda = \"kernels.cu\", options = [\"--use_fast_math\"])]`";

/// Reads the arguments; `None` if a mistake was reported. If there are no arguments, that is reported at `attribute`.
pub(super) fn parse(arguments: TokenStream, attribute: Span, report: &mut Report) -> Option<Arguments> {
    if arguments.is_empty() {
        let message = "expected the path of a PTX file, in quotes";
        report.push(attribute, &error(Code::Syntax, message).help(FORMS));
        return None;
    }
    let (first, last) = ends(&arguments);
    match all.parse2(arguments) {
        Ok(all) => Some(all),
        Err(fault) => {
            let text = fault.to_string();
            // An error of syn at the end of the tokens has no token of its own.
            let (start, end) = match text.starts_with("unexpected end of input") {
                true => (first, last),
                false => (fault.span(), fault.span()),
            };
            let message = text.strip_prefix("unexpected end of input, ").unwrap_or(&text);
            report.push_between(start, end, &error(Code::Syntax, message).help(FORMS));
            None
        }
    }
}

fn all(input: ParseStream<'_>) -> syn::Result<Arguments> {
    let mut runtime = runtime(input)?;
    if input.peek(LitStr) {
        return ptx(input, runtime);
    }
    if !input.peek(Ident::peek_any) {
        return Err(input.error("expected the path of a PTX file, in quotes"));
    }
    let (mut path, mut options) = (None, None);
    for argument in Punctuated::<Argument, Token![,]>::parse_terminated_with(input, argument)? {
        let twice = |name: &Ident| syn::Error::new(name.span(), format!("`{name}` is given twice"));
        match argument {
            Argument::Cuda(name, _) if path.is_some() => return Err(twice(&name)),
            Argument::Options(name, _) if options.is_some() => return Err(twice(&name)),
            Argument::Runtime(name, _) if runtime.is_some() => return Err(twice(&name)),
            Argument::Tuned(name, _) => {
                return Err(syn::Error::new(
                    name.span(),
                    "`tuned` files are for a PTX file, which comes first",
                ));
            }
            Argument::Runtime(_, path) => runtime = Some(path),
            Argument::Cuda(_, value) => path = Some(value),
            Argument::Options(name, values) => options = Some((name, values)),
        }
    }
    match (path, options) {
        (Some(path), options) => Ok(Arguments {
            file: File::Cuda {
                path,
                options: options.map_or_else(Vec::new, |(_, values)| values),
            },
            runtime,
        }),
        (None, Some((name, _))) => Err(syn::Error::new(name.span(), "`options` are for a CUDA source")),
        (None, None) => Err(input.error("expected the path of a PTX file, in quotes")),
    }
}

/// The arguments from the path of a PTX file on.
fn ptx(input: ParseStream<'_>, mut runtime: Option<Path>) -> syn::Result<Arguments> {
    let path = input.parse()?;
    let mut tuned = None;
    while input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
        if input.peek(LitStr) {
            return Err(input.error("files of kernels that are tuned for newer devices are listed in `tuned = [..]`"));
        }
        match argument(input)? {
            Argument::Runtime(_, path) if runtime.is_none() => runtime = Some(path),
            Argument::Tuned(_, files) if tuned.is_none() => tuned = Some(files),
            Argument::Runtime(name, _) | Argument::Tuned(name, _) => {
                return Err(syn::Error::new(name.span(), format!("`{name}` is given twice")));
            }
            Argument::Cuda(name, _) | Argument::Options(name, _) => {
                let message = "a PTX file is the only source of its kernels, and has no options";
                return Err(syn::Error::new(name.span(), message));
            }
        }
    }
    match input.is_empty() {
        true => Ok(Arguments {
            file: File::Ptx {
                path,
                tuned: tuned.unwrap_or_default(),
            },
            runtime,
        }),
        false => Err(input.error("expected `,`")),
    }
}

/// `crate = path` and a comma, if it comes next.
fn runtime(input: ParseStream<'_>) -> syn::Result<Option<Path>> {
    if !input.peek(Token![crate]) {
        return Ok(None);
    }
    let Argument::Runtime(_, path) = argument(input)? else {
        return Ok(None);
    };
    input.parse::<Option<Token![,]>>()?;
    Ok(Some(path))
}

/// `cuda = "x.cu"`, `options = [..]`, `tuned = [..]` or `crate = path`
enum Argument {
    Cuda(Ident, LitStr),
    Options(Ident, Vec<LitStr>),
    Tuned(Ident, Vec<LitStr>),
    Runtime(Ident, Path),
}

fn argument(input: ParseStream<'_>) -> syn::Result<Argument> {
    if input.peek(LitStr) {
        return Err(input.error("a block of kernels has one source: a PTX file or a CUDA file"));
    }
    let name = input.call(Ident::parse_any)?;
    match name.to_string().as_str() {
        "cuda" => {
            input.parse::<Token![=]>()?;
            Ok(Argument::Cuda(name, input.parse()?))
        }
        "options" => Ok(Argument::Options(name, list(input)?)),
        "tuned" => Ok(Argument::Tuned(name, list(input)?)),
        "crate" => {
            input.parse::<Token![=]>()?;
            match input.peek(LitStr) {
                true => Err(input.error("expected the path of `graph_runtime`, without quotes")),
                false => Ok(Argument::Runtime(name, input.call(Path::parse_mod_style)?)),
            }
        }
        _ => Err(syn::Error::new(
            name.span(),
            format!("expected `cuda`, `options`, `tuned` or `crate`, found `{name}`"),
        )),
    }
}

/// `= ["..", ..]`
fn list(input: ParseStream<'_>) -> syn::Result<Vec<LitStr>> {
    input.parse::<Token![=]>()?;
    let list;
    bracketed!(list in input);
    let texts = Punctuated::<LitStr, Token![,]>::parse_terminated(&list)?;
    Ok(texts.into_iter().collect())
}
