//! `#[for_each(T = f32 => "scale_f32", f64 => "scale_f64")]`: one declaration of kernels that exist once for each type.
//!
//! Each listed type makes an instance: the declaration with the type in the place of the parameter. An instance is
//! compared with its own `.entry` and has facts of its own.

use super::declaration::{Declaration, Generic, InstanceOf};
use super::param::signature;
use crate::report::{Report, error};
use crate::text::text;
use graph_plan::Code;
use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, ForeignItemFn, GenericParam, Generics, LitStr, Token, Type};

/// The attribute's arguments.
struct ForEach {
    param: Ident,
    entries: Vec<Entry>,
}

/// `f32 => "scale_f32"`
struct Entry {
    ty: Type,
    name: LitStr,
}

const FORM: &str =
    "write `#[for_each(T = f32 => \"scale_f32\", f64 => \"scale_f64\")] safe fn scale<T>(data: &mut [T]);`";

impl Parse for ForEach {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let param = input.parse()?;
        input.parse::<Token![=]>()?;
        let entries = Punctuated::<Entry, Token![,]>::parse_terminated(input)?;
        Ok(Self {
            param,
            entries: entries.into_iter().collect(),
        })
    }
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let ty = input.parse()?;
        input.parse::<Token![=>]>()?;
        let name = input.parse()?;
        Ok(Self { ty, name })
    }
}

/// The declaration of a function, with its instances if it has the attribute.
pub(super) fn declaration(mut function: ForeignItemFn) -> Declaration {
    let is_own = |attribute: &Attribute| attribute.path().is_ident("for_each");
    let Some(index) = function.attrs.iter().position(is_own) else {
        return Declaration::new(function);
    };
    let attribute = function.attrs.remove(index);
    let generics = std::mem::take(&mut function.sig.generics);
    let mut report = Report::default();
    refuse_others(&mut function, &mut report);
    let parsed = arguments(&attribute, &mut report);
    let of_function = parsed.as_ref().is_some_and(|parsed| {
        is_of(&generics, &parsed.param, &function.sig.ident, &mut report) && is_distinct(parsed, &mut report)
    });
    let mut declaration = Declaration::new(function.clone());
    declaration.report.absorb(&report);
    declaration.complete &= of_function;
    let named = parsed.as_ref().map(|parsed| parsed.param.clone());
    declaration.generic = named.or_else(|| only_param(&generics)).map(|param| Generic {
        param,
        instances: Vec::new(),
    });
    // The instances of a declaration with mistakes would repeat them.
    let parsed = parsed.filter(|_| !declaration.report.has_errors());
    for entry in parsed.into_iter().flat_map(|parsed| parsed.entries) {
        add_instance(&mut declaration, &function, entry);
    }
    declaration
}

/// Reports attributes that contradict this one, and removes them.
fn refuse_others(function: &mut ForeignItemFn, report: &mut Report) {
    function.attrs.retain(|attribute| {
        let fault = if attribute.path().is_ident("for_each") {
            error(Code::Syntax, "`for_each` is given twice").help("list all types in one `#[for_each(..)]`")
        } else if attribute.path().is_ident("link_name") {
            error(Code::Syntax, "`for_each` names the kernel of each type").help("remove `#[link_name = ..]`")
        } else {
            return true;
        };
        report.push_at(attribute, &fault);
        false
    });
}

/// Reads the arguments; `None` if a mistake was reported.
fn arguments(attribute: &Attribute, report: &mut Report) -> Option<ForEach> {
    let parsed = attribute.parse_args();
    parsed
        .map_err(|fault| report.unparsed(&fault, &attribute.meta, Code::Syntax, FORM))
        .ok()
}

/// The only type parameter, if there is one.
fn only_param(generics: &Generics) -> Option<Ident> {
    generics.type_params().next().map(|param| param.ident.clone())
}

/// Reports generics other than `<T>`.
fn is_of(generics: &Generics, param: &Ident, function: &Ident, report: &mut Report) -> bool {
    let declared = format!("declare it `fn {function}<{param}>(..)`");
    match generics.params.iter().collect::<Vec<_>>()[..] {
        [GenericParam::Type(found)] if found.ident == *param => {
            let fault = signature(format!("`{param}` has no bounds: it is one of the listed types"));
            match (found.bounds.first(), &generics.where_clause) {
                (Some(bound), _) => report.push_at(bound, &fault.help(declared)),
                (None, Some(clause)) => report.push_at(clause, &fault.help("remove the `where` clause")),
                (None, None) => return true,
            }
            false
        }
        [] => {
            let message = format!("`for_each` lists types for `{param}`, but `{function}` has no type parameter");
            report.push(function.span(), &signature(message).help(declared));
            false
        }
        _ => {
            let message = format!("`{function}` has one type parameter, the `{param}` of `for_each`");
            report.push_at(&generics.params, &signature(message).help(declared));
            false
        }
    }
}

/// Reports types that are listed twice, and empty lists.
fn is_distinct(parsed: &ForEach, report: &mut Report) -> bool {
    if parsed.entries.is_empty() {
        let fault = error(Code::Syntax, "`for_each` lists no types").help(FORM);
        report.push(parsed.param.span(), &fault);
        return false;
    }
    for (index, entry) in parsed.entries.iter().enumerate() {
        let same = |earlier: &Entry| text(&earlier.ty) == text(&entry.ty);
        if parsed.entries[..index].iter().any(same) {
            let message = format!("`{}` is listed twice", text(&entry.ty));
            report.push_at(&entry.ty, &error(Code::DuplicateName, message).help("remove one"));
            return false;
        }
    }
    true
}

/// Adds the kernel for one type to a declaration.
fn add_instance(declaration: &mut Declaration, function: &ForeignItemFn, entry: Entry) {
    let Some(generic) = &mut declaration.generic else {
        return;
    };
    let Entry { ty, name } = entry;
    let params = declaration.params.iter();
    let declared = params.map(|param| param.ty().map_or_else(String::new, text));
    match instance(function, &generic.param, &ty) {
        Ok(function) => {
            let mut instance = Declaration::new(function);
            instance.entry = name.value();
            instance.ident.set_span(name.span());
            instance.of = Some(InstanceOf {
                ty: text(&ty),
                declared: declared.collect(),
            });
            generic.instances.push((ty, instance));
        }
        Err(_) => {
            let message = format!("`{}` cannot stand for `{}` here", text(&ty), generic.param);
            declaration.report.push_at(&ty, &signature(message));
        }
    }
}

/// The function with a type in the place of the parameter, and with the attributes that an instance needs.
fn instance(function: &ForeignItemFn, param: &Ident, ty: &Type) -> syn::Result<ForeignItemFn> {
    const KEPT: [&str; 3] = ["requires", "allow", "expect"];
    let mut instance = function.clone();
    instance
        .attrs
        .retain(|attribute| KEPT.iter().any(|kept| attribute.path().is_ident(kept)));
    syn::parse2(replace(instance.to_token_stream(), param, &ty.to_token_stream()))
}

/// The tokens with `by` in the place of each `name`, at the name's place in the source. After `::`, the word means
/// something else and stays.
fn replace(tokens: TokenStream, name: &Ident, by: &TokenStream) -> TokenStream {
    let mut replaced = TokenStream::new();
    let mut colons = 0;
    for token in tokens {
        let before = colons;
        colons = match &token {
            TokenTree::Punct(punct) if punct.as_char() == ':' => colons + 1,
            _ => 0,
        };
        match token {
            TokenTree::Ident(found) if found == *name && before < 2 => {
                replaced.extend(by.clone().into_iter().map(|mut token| {
                    token.set_span(token.span().located_at(found.span()));
                    token
                }));
            }
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), replace(group.stream(), name, by));
                inner.set_span(group.span());
                replaced.extend([TokenTree::Group(inner)]);
            }
            other => replaced.extend([other]),
        }
    }
    replaced
}

#[cfg(test)]
mod tests {
    use super::replace;
    use crate::text::text;
    use proc_macro2::TokenStream;
    use quote::{format_ident, quote};

    #[test]
    fn a_type_takes_the_place_of_the_parameter_and_of_nothing_else() {
        let tokens: TokenStream = "fn f(T: &mut [[T; 4]], n: other::T, x: Wrapping<T>)".parse().unwrap();
        let replaced = replace(tokens, &format_ident!("T"), &quote!(half::f16));
        let expected = "fnf(half::f16:&mut[[half::f16;4]],n:other::T,x:Wrapping<half::f16>)";
        assert_eq!(text(&replaced).replace(' ', ""), expected);
    }
}
