//! The constant that records what is known of a kernel.

use crate::kernels::check::Checked;
use crate::kernels::contract::Contract;
use crate::kernels::param::{Buffer, Kind, Param};
use crate::kernels::text::ends;
use graph_plan::Scalar;
use graph_ptx::{KernelSummary, VariableAccess};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};

/// `KernelFacts { .. }`
pub(super) fn facts(kernel: &Checked) -> TokenStream {
    let declaration = &kernel.declaration;
    let (name, entry) = (declaration.name(), &declaration.entry);
    let params = declaration.params.iter().map(param);
    // A contract of a kernel with mistakes could only add to them.
    let contracts = match declaration.report.has_errors() {
        true => &[],
        false => &kernel.contracts[..],
    };
    let contracts = contracts.iter().map(contract);
    let summary = kernel.summary.as_ref();
    let (shared, target) = summary.map_or((0, ""), |summary| (summary.static_shared, &summary.target));
    let required = block_of(summary.and_then(|summary| summary.required_block));
    let max = block_of(summary.and_then(|summary| summary.max_block));
    let variables = summary
        .into_iter()
        .flat_map(|summary: &KernelSummary| &summary.variables)
        .map(variable);
    quote! {
        ::graph_runtime::KernelFacts {
            name: #name,
            entry: #entry,
            ptx: &__PTX,
            params: &[#(#params),*],
            limits: ::graph_runtime::private::plan::KernelLimits { required_block: #required, max_block: #max },
            static_shared: #shared,
            target: #target,
            contracts: &[#(#contracts),*],
            variables: &[#(#variables),*],
        }
    }
}

fn param(param: &Param) -> TokenStream {
    let name = param.name();
    let kind = match &param.kind {
        Kind::Buffer(buffer) => {
            let Buffer { unit, mutability, .. } = &**buffer;
            let (span, mutable) = (ends(unit).0, mutability.is_some());
            let unit = quote_spanned!(span=> ::core::mem::size_of::<#unit>());
            quote!(Buffer { unit: #unit, mutable: #mutable })
        }
        Kind::Value(value) => {
            let scalar = scalar(value.scalar);
            quote!(Value(::graph_runtime::private::plan::Scalar::#scalar))
        }
        Kind::Invalid => quote!(Value(::graph_runtime::private::plan::Scalar::Other)),
    };
    quote!(::graph_runtime::private::plan::Param { name: #name, kind: ::graph_runtime::private::plan::ParamKind::#kind })
}

fn scalar(scalar: Scalar) -> Ident {
    format_ident!("{}", format!("{scalar:?}"))
}

fn contract(contract: &Contract) -> TokenStream {
    let Contract { text, code } = contract;
    quote!(::graph_runtime::private::plan::Contract { text: #text, code: &[#(#code),*] })
}

fn block_of(block: Option<[u32; 3]>) -> TokenStream {
    match block {
        Some([x, y, z]) => quote!(::core::option::Option::Some([#x, #y, #z])),
        None => quote!(::core::option::Option::None),
    }
}

fn variable(variable: &VariableAccess) -> TokenStream {
    let name = &variable.name;
    let mode = match (variable.read, variable.written) {
        (_, None) => quote!(Read),
        (None, Some(_)) => quote!(Write),
        (Some(_), Some(_)) => quote!(ReadWrite),
    };
    quote!((#name, ::graph_runtime::private::plan::Mode::#mode))
}
