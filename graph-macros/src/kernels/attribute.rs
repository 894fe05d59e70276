//! The attribute's own arguments: the file that the kernels are in, and the options to compile it.

use crate::report::{Report, error};
use crate::span::ends;
use graph_plan::Code;
use proc_macro2::{Span, TokenStream};
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Ident, LitStr, Token, bracketed};

/// The file with the kernels.
pub(super) enum File {
    /// `"x.ptx"`
    Ptx(LitStr),
    /// `cuda = "x.cu", options = ["--use_fast_math"]`
    Cuda { path: LitStr, options: Vec<LitStr> },
}

const FORMS: &str = "write `#[cuda_kernels(\"kernels.ptx\")]`, or `#[cuda_kernels(cuda = \"kernels.cu\", options = [\"--use_fast_math\"])]`";

/// Reads the arguments; `None` if a mistake was reported. If there are no arguments, that is reported at `attribute`.
pub(super) fn parse(arguments: TokenStream, attribute: Span, report: &mut Report) -> Option<File> {
    if arguments.is_empty() {
        let message = "expected the path of a PTX file, in quotes";
        report.push(attribute, &error(Code::Syntax, message).help(FORMS));
        return None;
    }
    let (first, last) = ends(&arguments);
    match file.parse2(arguments) {
        Ok(file) => Some(file),
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

fn file(input: ParseStream<'_>) -> syn::Result<File> {
    if input.peek(LitStr) {
        let path = input.parse()?;
        input.parse::<Option<Token![,]>>()?;
        return match input.is_empty() {
            true => Ok(File::Ptx(path)),
            false => Err(input.error("a PTX file is the only source of its kernels, and has no options")),
        };
    }
    if !input.peek(Ident) {
        return Err(input.error("expected the path of a PTX file, in quotes"));
    }
    let (mut path, mut options) = (None, None);
    for argument in Punctuated::<Argument, Token![,]>::parse_terminated_with(input, argument)? {
        let twice = |name: &Ident| syn::Error::new(name.span(), format!("`{name}` is given twice"));
        match argument {
            Argument::Cuda(name, _) if path.is_some() => return Err(twice(&name)),
            Argument::Options(name, _) if options.is_some() => return Err(twice(&name)),
            Argument::Cuda(_, value) => path = Some(value),
            Argument::Options(name, values) => options = Some((name, values)),
        }
    }
    match (path, options) {
        (Some(path), options) => Ok(File::Cuda {
            path,
            options: options.map_or_else(Vec::new, |(_, values)| values),
        }),
        (None, Some((name, _))) => Err(syn::Error::new(name.span(), "`options` are for a CUDA source")),
        (None, None) => Err(input.error("expected the path of a PTX file, in quotes")),
    }
}

/// `cuda = "x.cu"` or `options = [..]`
enum Argument {
    Cuda(Ident, LitStr),
    Options(Ident, Vec<LitStr>),
}

fn argument(input: ParseStream<'_>) -> syn::Result<Argument> {
    if input.peek(LitStr) {
        return Err(input.error("a block of kernels has one source: a PTX file or a CUDA file"));
    }
    let name: Ident = input.parse()?;
    match name.to_string().as_str() {
        "cuda" => {
            input.parse::<Token![=]>()?;
            Ok(Argument::Cuda(name, input.parse()?))
        }
        "options" => {
            input.parse::<Token![=]>()?;
            let list;
            bracketed!(list in input);
            let options = Punctuated::<LitStr, Token![,]>::parse_terminated(&list)?;
            Ok(Argument::Options(name, options.into_iter().collect()))
        }
        _ => Err(syn::Error::new(
            name.span(),
            format!("expected `cuda` or `options`, found `{name}`"),
        )),
    }
}
