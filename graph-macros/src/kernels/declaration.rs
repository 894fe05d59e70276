//! One declaration: its attributes and the parts of its signature.

use super::param::{Param, signature};
use crate::report::{Report, error};
use graph_plan::Code;
use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, FnArg, ForeignItemFn, Lit, Meta, ReturnType, Safety, Signature, Token, Type, Visibility};

/// A declared kernel.
pub(super) struct Declaration {
    /// The attributes that the generated type gets.
    pub(super) attributes: Vec<Attribute>,
    /// Its `#[cfg(..)]`s.
    pub(super) conditions: Vec<Attribute>,
    pub(super) visibility: Visibility,
    pub(super) safe: Option<Token![safe]>,
    pub(super) ident: Ident,
    /// The name of its `.entry`.
    pub(super) entry: String,
    pub(super) params: Vec<Param>,
    /// Whether the author has given all parameters.
    pub(super) complete: bool,
    /// Its `#[requires(..)]`s.
    pub(super) requires: Vec<Attribute>,
    /// `#[allow(needless_mut)]`
    pub(super) allows_needless_mut: bool,
    /// `#[allow(kernel_bounds)]`
    pub(super) allows_kernel_bounds: bool,
    /// `#[allow(kernel_race)]`
    pub(super) allows_kernel_race: bool,
    /// Its own mistakes: under a `#[cfg]` they are conditional too.
    pub(super) report: Report,
    /// The type parameter and the instances, if it is declared for several types.
    pub(super) generic: Option<Generic>,
    /// The type that this is the instance for, and the declaration of all.
    pub(super) of: Option<InstanceOf>,
}

/// A declaration for several types as the instance for one of them knows it.
pub(super) struct InstanceOf {
    /// The type of the instance.
    pub(super) ty: String,
    /// The types of the parameters as they are declared.
    pub(super) declared: Vec<String>,
}

/// The type parameter of a declaration, and the kernel for each type.
pub(super) struct Generic {
    pub(super) param: Ident,
    /// Empty if the declaration has mistakes of its own.
    pub(super) instances: Vec<(Type, Declaration)>,
}

/// Reports parameters that have the name of an earlier one, and lets them take anything, so that rustc reports no
/// further errors about them.
fn without_repetitions(mut params: Vec<Param>, report: &mut Report) -> Vec<Param> {
    for index in 1..params.len() {
        let name = params[index].name();
        if params[..index].iter().any(|other| other.name() == name) {
            let message = format!("the parameter `{name}` is declared twice");
            let fault = error(Code::DuplicateName, message).help("choose another name");
            report.push(params[index].ident.span(), &fault);
            params[index] = Param::invalid(index);
        }
    }
    params
}

impl Declaration {
    pub(super) fn new(function: ForeignItemFn) -> Self {
        let mut report = Report::default();
        reject_parts(&function.sig, &mut report);
        let inputs = function.sig.inputs.iter().enumerate();
        let params = inputs
            .map(|(index, argument)| Param::parse(argument, index, &mut report))
            .collect();
        let params = without_repetitions(params, &mut report);
        let receiver = matches!(function.sig.inputs.first(), Some(FnArg::Receiver(_)));
        let is_complete = function.sig.variadic.is_none() && !receiver;
        let mut declaration = Self::plain(function.vis, function.sig.ident, params);
        if let Safety::Safe(safe) = function.sig.safety {
            declaration.safe = Some(safe);
        }
        declaration.complete = is_complete;
        declaration.report = report;
        for attribute in function.attrs {
            declaration.attribute(attribute);
        }
        declaration
    }

    /// A kernel without attributes, of which the author has given some parameters.
    fn plain(visibility: Visibility, ident: Ident, params: Vec<Param>) -> Self {
        Self {
            attributes: Vec::new(),
            conditions: Vec::new(),
            visibility,
            safe: None,
            entry: ident.unraw().to_string(),
            ident,
            params,
            complete: false,
            requires: Vec::new(),
            allows_needless_mut: false,
            allows_kernel_bounds: false,
            allows_kernel_race: false,
            report: Report::default(),
            generic: None,
            of: None,
        }
    }

    /// A declaration made from tokens that do not parse: a kernel with the same number of parameters, which take
    /// anything, so that calls of it give no further errors.
    pub(super) fn recover(tokens: TokenStream) -> Option<Self> {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let keyword = |word: &str| {
            tokens
                .iter()
                .position(|token| matches!(token, TokenTree::Ident(ident) if ident == word))
        };
        let start = keyword("fn")?;
        let (Some(TokenTree::Ident(ident)), Some(TokenTree::Group(group))) =
            (tokens.get(start + 1), tokens.get(start + 2))
        else {
            return None;
        };
        let count = count(group.stream());
        let visibility = match keyword("pub").filter(|&public| public < start) {
            Some(public) => {
                let end = public + 1 + usize::from(is_parenthesis(tokens.get(public + 1)));
                let visibility: TokenStream = tokens.get(public..end)?.iter().cloned().collect();
                syn::parse2(visibility).unwrap_or(Visibility::Inherited)
            }
            None => Visibility::Inherited,
        };
        let params = (0..count).map(Param::invalid).collect();
        let mut declaration = Self::plain(visibility, ident.clone(), params);
        let safe = keyword("safe").filter(|&safe| safe < start);
        declaration.safe = safe.map(|safe| Token![safe](tokens[safe].span()));
        declaration.allows_needless_mut = true;
        Some(declaration)
    }

    /// `<T>`, if it is declared for several types.
    pub(super) fn generics(&self) -> Option<TokenStream> {
        let param = &self.generic.as_ref()?.param;
        Some(quote!(<#param>))
    }

    /// The names of its `.entry`s, one for each type.
    pub(super) fn entries(&self) -> Vec<&str> {
        match &self.generic {
            None => vec![&self.entry],
            Some(generic) => generic.instances.iter().map(|(_, instance)| &*instance.entry).collect(),
        }
    }

    /// The name in messages: `scale`, and `scale<f32>` for an instance.
    pub(super) fn name(&self) -> String {
        let name = self.ident.unraw().to_string();
        match &self.of {
            Some(InstanceOf { ty, .. }) => format!("{name}<{ty}>"),
            None => name,
        }
    }

    /// Allows the [`OWN_LINTS`] that its block allows.
    pub(super) fn allow(&mut self, lints: [bool; OWN_LINTS.len()]) {
        let [needless_mut, kernel_bounds, kernel_race] = lints;
        self.allows_needless_mut |= needless_mut;
        self.allows_kernel_bounds |= kernel_bounds;
        self.allows_kernel_race |= kernel_race;
        let generic = self.generic.iter_mut().flat_map(|generic| &mut generic.instances);
        for (_, instance) in generic {
            instance.allow(lints);
        }
    }

    fn attribute(&mut self, attribute: Attribute) {
        let path = attribute.path();
        if path.is_ident("requires") {
            self.requires.push(attribute);
        } else if path.is_ident("cfg") {
            self.conditions.push(attribute);
        } else if path.is_ident("link_name") {
            match link_name(&attribute) {
                Some(name) => self.entry = name,
                None => {
                    let fault = error(Code::Syntax, "expected a name").help("write `#[link_name = \"_Z3fooPf\"]`");
                    self.report.push_at(&attribute.meta, &fault);
                }
            }
        } else if path.is_ident("allow") || path.is_ident("expect") {
            let (kept, lints) = without_own_lints(attribute);
            self.attributes.extend(kept);
            self.allow(lints);
        } else {
            self.attributes.push(attribute);
        }
    }
}

/// The number of parts that commas separate.
fn count(tokens: TokenStream) -> usize {
    let (mut count, mut open) = (0, false);
    for token in tokens {
        let comma = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ',');
        count += usize::from(!comma && !open);
        open = !comma;
    }
    count
}

fn is_parenthesis(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis)
}

fn link_name(attribute: &Attribute) -> Option<String> {
    match &attribute.meta.require_name_value().ok()?.value {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(name) => Some(name.value()),
            _ => None,
        },
        _ => None,
    }
}

/// The warnings that a declaration may allow, which rustc does not know.
pub(super) const OWN_LINTS: [&str; 3] = ["needless_mut", "kernel_bounds", "kernel_race"];

/// An `#[allow(..)]` without the [`OWN_LINTS`], and which of these it had.
pub(super) fn without_own_lints(mut attribute: Attribute) -> (Option<Attribute>, [bool; OWN_LINTS.len()]) {
    let Ok(lints) = attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated) else {
        return (Some(attribute), [false; OWN_LINTS.len()]);
    };
    let is_own = |lint: &Meta| OWN_LINTS.iter().any(|own| lint.path().is_ident(own));
    let allowed = OWN_LINTS.map(|own| lints.iter().any(|lint| lint.path().is_ident(own)));
    let others: Vec<&Meta> = lints.iter().filter(|lint| !is_own(lint)).collect();
    if others.len() == lints.len() {
        return (Some(attribute), allowed);
    }
    let only_reason = others.iter().all(|lint| lint.path().is_ident("reason"));
    if let Meta::List(list) = &mut attribute.meta {
        list.tokens = quote!(#(#others),*);
    }
    ((!only_reason).then_some(attribute), allowed)
}

/// Reports the parts of Rust signatures that kernels do not have.
fn reject_parts(sig: &Signature, report: &mut Report) {
    if let ReturnType::Type(_, ty) = &sig.output {
        let fault = signature("a kernel returns nothing").help("pass memory for the result: `out: &mut [T]`");
        report.push_at(ty, &fault);
    }
    if !sig.generics.params.is_empty() {
        let fault = signature("a kernel has no generics").help(
            "declare each instance of a CUDA template under its own name, or name the kernel of each type: \
             `#[for_each(T = f32 => \"scale_f32\", f64 => \"scale_f64\")] fn scale<T>(..)`",
        );
        report.push_at(&sig.generics, &fault);
    } else if let Some(clause) = &sig.generics.where_clause {
        report.push_at(
            clause,
            &signature("a kernel has no generics").help("remove the `where` clause"),
        );
    }
    if let Some(variadic) = &sig.variadic {
        report.push_at(
            &variadic.dots,
            &signature("a kernel has a fixed number of parameters").help("declare those that the PTX has"),
        );
    }
    let words = [
        sig.constness.map(|word| word.to_token_stream()),
        sig.asyncness.map(|word| word.to_token_stream()),
        sig.abi.as_ref().map(ToTokens::to_token_stream),
    ];
    for word in words.into_iter().flatten() {
        report.push_at(
            &word,
            &signature("a kernel is a plain `fn` or a `safe fn`").help(format!("remove `{word}`")),
        );
    }
    if sig.inputs.len() > usize::from(u8::MAX) {
        report.push_at(&sig.ident, &signature("a kernel has at most 255 parameters"));
    }
}
