//! The constant that records the facts about a kernel.

use crate::kernels::check::Checked;
use crate::kernels::contract::Contract;
use crate::kernels::declaration::Declaration;
use crate::kernels::param::{Kind, Param};
use crate::kernels::proof::{self, Proof};
use crate::kernels::source::{Ptx, Source};
use crate::span::ends;
use graph_plan::Mode;
use graph_ptx::ast::Cluster;
use graph_ptx::{Access, KernelSummary, Touched, VariableAccess, location};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use std::fmt::Debug;

/// `KernelFacts { .. }`
pub(super) fn facts(source: Option<&Source>, kernel: &Checked) -> TokenStream {
    let tuned = (1..kernel.summaries.len()).map(|file| {
        let facts = of_file(source, kernel, file, &[]);
        quote!(&#facts)
    });
    of_file(source, kernel, 0, &tuned.collect::<Vec<_>>())
}

/// The facts of the kernel in the PTX file with this index.
fn of_file(source: Option<&Source>, kernel: &Checked, file: usize, tuned: &[TokenStream]) -> TokenStream {
    let declaration = &kernel.declaration;
    let (name, entry) = (declaration.name(), &declaration.entry);
    let summary = kernel.summaries.get(file).and_then(Option::as_ref);
    let loads = loads(declaration, summary);
    let places = places(source.and_then(|source| source.files().nth(file)), summary, &loads);
    let loads = loads.iter().map(|(index, line)| quote!((#index, #line)));
    let source = super::source::of_kernel(source, file, declaration);
    let params = declaration.params.iter().map(param);
    // A contract of a kernel with mistakes could only add to them.
    let contracts = match declaration.report.has_errors() {
        true => &[],
        false => &kernel.contracts[..],
    };
    let contracts = contracts.iter().map(contract);
    let (shared, target) = summary.map_or((0, ""), |summary| (summary.static_shared, &summary.target));
    let limits = limits(summary);
    let dependency = dependency(summary);
    let textures = super::wrapper::textures(&declaration.params, summary);
    let aligned = aligned(kernel);
    let aligned = aligned.iter().map(|(index, bytes)| quote!((#index, #bytes)));
    let surfaces = super::wrapper::surfaces(&declaration.params);
    let variables = summary.into_iter().flat_map(|summary: &KernelSummary| {
        summary
            .variables
            .iter()
            .map(variable)
            .chain(summary.constants.iter().map(constant))
    });
    quote! {
        ::graph_runtime::kernel::KernelFacts {
            name: #name,
            entry: #entry,
            source: #source,
            params: &[#(#params),*],
            limits: #limits,
            static_shared: #shared,
            target: #target,
            contracts: &[#(#contracts),*],
            variables: &[#(#variables),*],
            loads: &[#(#loads),*],
            dependency: #dependency,
            places: &[#(#places),*],
            textures: &[#(#textures),*],
            surfaces: &[#(#surfaces),*],
            aligned: &[#(#aligned),*],
            tuned: &[#(#tuned),*],
        }
    }
}

/// The limits that the PTX sets on launches.
fn limits(summary: Option<&KernelSummary>) -> TokenStream {
    let cluster = summary.map_or(Cluster::default(), |summary| summary.cluster);
    let required_block = sides(summary.and_then(|summary| summary.required_block));
    let max_block = sides(summary.and_then(|summary| summary.max_block));
    let required_cluster = sides(cluster.required);
    let max_cluster = option(cluster.max_blocks);
    let Cluster {
        explicit, counts_grid, ..
    } = cluster;
    quote! {
        ::graph_runtime::private::plan::KernelLimits {
            required_block: #required_block,
            max_block: #max_block,
            required_cluster: #required_cluster,
            max_cluster: #max_cluster,
            explicit_cluster: #explicit,
            grid_of_clusters: #counts_grid,
        }
    }
}

/// The `&mut` parameters through which the kernel loads, with the lines of the loads. A load from an unknown address
/// may be through any of them. What a kernel loads of `MaybeUninit` it has written itself.
fn loads(declaration: &Declaration, summary: Option<&KernelSummary>) -> Vec<(usize, u32)> {
    let Some(summary) = summary else {
        return Vec::new();
    };
    let uses_old = |param: &Param| matches!(&param.kind, Kind::Buffer(buffer) if buffer.mode() == Mode::ReadWrite);
    let params = declaration.params.iter().enumerate();
    let loads = params.filter(|(_, param)| uses_old(param));
    loads
        .filter_map(|(index, _)| Some((index, summary.load_through(index)?)))
        .collect()
}

/// The memory of which a proof assumes that it begins at multiples of more bytes than its elements have, by the widest
/// access in any of the files.
fn aligned(kernel: &Checked) -> Vec<(usize, u32)> {
    if kernel.proof != Some(Proof::Proved) {
        return Vec::new();
    }
    let params = kernel.declaration.params.iter().enumerate();
    let wide = params.filter_map(|(index, param)| {
        let Kind::Buffer(buffer) = &param.kind else { return None };
        let summaries = kernel.summaries.iter().flatten();
        let known = proof::alignment(&buffer.unit, kernel.prove);
        let widest = summaries.filter_map(|summary| summary.at_once(index, known)).max()?;
        Some((index, widest))
    });
    wide.collect()
}

/// The places in the source of the lines that facts name, if the PTX tells them.
fn places(ptx: Option<&Ptx>, summary: Option<&KernelSummary>, loads: &[(usize, u32)]) -> Vec<TokenStream> {
    let (Some(ptx), Some(summary)) = (ptx, summary) else {
        return Vec::new();
    };
    let mut lines: Vec<u32> = loads.iter().map(|(_, line)| *line).collect();
    if summary.dependency_wait.or(summary.launch_dependents).is_some() {
        lines.extend(
            [summary.dependency_wait, summary.launch_dependents, summary.early_exit]
                .into_iter()
                .flatten(),
        );
        let touched = [summary.early(), summary.noncoherent()];
        lines.extend(touched.iter().flatten().map(|(_, line)| *line));
    }
    lines.sort_unstable();
    lines.dedup();
    let place = |line| Some((line, location(&ptx.module, line)?.to_string()));
    let places = lines.into_iter().filter_map(place);
    places.map(|(line, place)| quote!((#line, #place))).collect()
}

/// `GridDependency { .. }`
fn dependency(summary: Option<&KernelSummary>) -> TokenStream {
    let Some(summary) = summary.filter(|summary| summary.dependency_wait.or(summary.launch_dependents).is_some())
    else {
        return quote!(::graph_runtime::kernel::GridDependency::NONE);
    };
    let triggers = option(summary.launch_dependents);
    let waits = option(summary.dependency_wait);
    let early_exit = option(summary.early_exit);
    let (early, noncoherent) = (summary.early(), summary.noncoherent());
    let (early, noncoherent) = (early.iter().map(touched), noncoherent.iter().map(touched));
    quote! {
        ::graph_runtime::kernel::GridDependency {
            triggers: #triggers,
            waits: #waits,
            early_exit: #early_exit,
            early: &[#(#early),*],
            noncoherent: &[#(#noncoherent),*],
        }
    }
}

fn touched((memory, line): &(Touched<'_>, u32)) -> TokenStream {
    let memory = match memory {
        Touched::Param(index) => quote!(Param(#index)),
        Touched::Variable(name) => quote!(Variable(#name)),
        Touched::Unknown => quote!(Unknown),
    };
    quote!((::graph_runtime::kernel::Touched::#memory, #line))
}

fn param(param: &Param) -> TokenStream {
    let name = param.name();
    let kind = match &param.kind {
        Kind::Buffer(buffer) => {
            let (unit, mode) = (&buffer.unit, variant(buffer.mode()));
            let unit = quote_spanned!(ends(unit).0=> ::core::mem::size_of::<#unit>());
            quote!(Buffer { unit: #unit, mode: ::graph_runtime::private::plan::Mode::#mode })
        }
        Kind::Value(value) => {
            let scalar = variant(value.scalar);
            quote!(Value(::graph_runtime::private::plan::Scalar::#scalar))
        }
        Kind::Invalid => quote!(Value(::graph_runtime::private::plan::Scalar::Other)),
    };
    quote!(::graph_runtime::private::plan::Param { name: #name, kind: ::graph_runtime::private::plan::ParamKind::#kind })
}

/// The name of an enum's variant without fields, which is how `Debug` shows it.
fn variant(value: impl Debug) -> Ident {
    format_ident!("{value:?}")
}

fn contract(contract: &Contract) -> TokenStream {
    let Contract { text, code, .. } = contract;
    quote!(::graph_runtime::private::plan::Contract { text: #text, code: &[#(#code),*] })
}

fn sides(block: Option<[u32; 3]>) -> TokenStream {
    option(block.map(|[x, y, z]| quote!([#x, #y, #z])))
}

fn option(value: Option<impl ToTokens>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}

/// A variable in constant memory, which kernels only read.
fn constant(name: &String) -> TokenStream {
    quote!((#name, ::graph_runtime::private::plan::Mode::Read))
}

fn variable(variable: &VariableAccess) -> TokenStream {
    let name = &variable.name;
    let Access {
        loaded, stored, atomic, ..
    } = variable.access;
    let mode = match (loaded.or(atomic), stored) {
        (_, None) => quote!(Read),
        (None, Some(_)) => quote!(Write),
        (Some(_), Some(_)) => quote!(ReadWrite),
    };
    quote!((#name, ::graph_runtime::private::plan::Mode::#mode))
}
