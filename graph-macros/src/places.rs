//! `#[derive(Places)]`: the places of all buffers of a struct, and their names.

use crate::runtime::Runtime;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Error, Field, Fields, Path, Result};

/// Expands the derive, or reports what is wrong with the struct.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let expanded = syn::parse2(input).and_then(|input| expansion(&input));
    expanded.unwrap_or_else(|error| error.to_compile_error())
}

/// A field of the struct.
struct Buffers<'a> {
    field: &'a Field,
    /// Its documentation, and its conditions, which its place has too.
    documentation: Vec<&'a Attribute>,
    conditions: Vec<&'a Attribute>,
    mutable: bool,
}

fn expansion(input: &DeriveInput) -> Result<TokenStream> {
    let fields = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => &fields.named,
            Fields::Unnamed(_) | Fields::Unit => return Err(refused(input)),
        },
        _ => return Err(refused(input)),
    };
    let fields = fields.iter().map(Buffers::new).collect::<Result<Vec<_>>>()?;
    let runtime = runtime(&input.attrs)?;

    let name = &input.ident;
    let places = format_ident!("{name}Places");
    let about = format!(" The places of a [`{name}`] in one graph.");
    let visibility = &input.vis;
    let (of_impl, of_type, of_where) = input.generics.split_for_impl();
    let generics = &input.generics;
    let copied = input
        .generics
        .type_params()
        .next()
        .is_none()
        .then(|| quote!(#[derive(Clone, Debug)]));
    let declared = fields.iter().map(Buffers::declared);
    let places_of = fields.iter().map(Buffers::places);
    let rebound = fields.iter().map(Buffers::rebound);
    let expanded = quote! {
        #[doc = #about]
        #copied
        #visibility struct #places #generics #of_where {
            #(#declared,)*
        }

        impl #of_impl ::graph_runtime::Places for #name #of_type #of_where {
            type Places = #places #of_type;

            fn declare(&self, builder: &mut ::graph_runtime::GraphBuilder, name: &str, mutable: bool) -> Self::Places {
                #places {
                    #(#places_of,)*
                }
            }

            fn rebind(
                &self,
                places: &Self::Places,
                update: &mut ::graph_runtime::Update<'_>,
            ) -> ::graph_runtime::Result<()> {
                #(#rebound)*
                ::core::result::Result::Ok(())
            }
        }
    };
    Ok(runtime.apply(expanded, Some(places.to_string())))
}

fn refused(input: &DeriveInput) -> Error {
    let message = "`Places` is for structs of buffers, with named fields: the names are those of the memory";
    Error::new(input.ident.span(), message)
}

/// The path that `#[places(crate = path)]` gives.
fn runtime(attributes: &[Attribute]) -> Result<Runtime> {
    let mut runtime = Runtime::Usual;
    for attribute in attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("places"))
    {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("crate") {
                return Err(meta.error("a struct takes `#[places(crate = path)]` alone; `mut` is for fields"));
            }
            runtime = Runtime::Given(meta.value()?.parse::<Path>()?);
            Ok(())
        })?;
    }
    Ok(runtime)
}

impl<'a> Buffers<'a> {
    fn new(field: &'a Field) -> Result<Self> {
        let mut mutable = false;
        for attribute in field
            .attrs
            .iter()
            .filter(|attribute| attribute.path().is_ident("places"))
        {
            attribute.parse_nested_meta(|meta| {
                mutable = meta.path.is_ident("mut");
                match mutable {
                    true => Ok(()),
                    false => Err(meta.error("a field takes `#[places(mut)]` alone")),
                }
            })?;
        }
        let attributes = |name| {
            field
                .attrs
                .iter()
                .filter(move |attribute| attribute.path().is_ident(name))
        };
        Ok(Self {
            field,
            documentation: attributes("doc").collect(),
            conditions: attributes("cfg").collect(),
            mutable,
        })
    }

    /// The field of the struct of places.
    fn declared(&self) -> TokenStream {
        let Self {
            field,
            documentation,
            conditions,
            ..
        } = self;
        let Field { vis, ident, ty, .. } = field;
        quote!(#(#documentation)* #(#conditions)* #vis #ident: <#ty as ::graph_runtime::Places>::Places)
    }

    /// The field with its places.
    fn places(&self) -> TokenStream {
        let Self { field, conditions, .. } = self;
        let (ident, name) = (&field.ident, self.name());
        let mutable = match self.mutable {
            true => quote!(true),
            false => quote!(mutable),
        };
        // At the type, where rustc underlines a field that is no memory.
        let declare = quote::quote_spanned!(field.ty.span()=> ::graph_runtime::Places::declare);
        quote! {
            #(#conditions)*
            #ident: #declare(&self.#ident, builder, &::graph_runtime::private::field_name(name, #name), #mutable)
        }
    }

    fn rebound(&self) -> TokenStream {
        let Self { field, conditions, .. } = self;
        let ident = &field.ident;
        quote! {
            #(#conditions)*
            ::graph_runtime::Places::rebind(&self.#ident, &places.#ident, update)?;
        }
    }

    /// The name in messages and plans.
    fn name(&self) -> String {
        let name = self.field.ident.as_ref().map(ToString::to_string).unwrap_or_default();
        name.strip_prefix("r#").map_or(name.clone(), str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str) -> String {
        expand(text.parse().unwrap()).to_string().replace(' ', "")
    }

    #[test]
    fn each_field_has_its_name_and_its_mutability() {
        let text = expanded(
            "pub(crate) struct Layer<const N: usize> where [(); N]: Sized {
                 /// The gain.
                 pub norm: DeviceBuffer<[f32; N]>,
                 #[places(mut)] #[cfg(unix)] r#type: Vec<Keys>,
             }",
        );
        for part in [
            "#[derive(Clone,Debug)]pub(crate)structLayerPlaces<constN:usize>where[();N]:Sized{",
            "#[doc=\"Thegain.\"]pubnorm:<DeviceBuffer<[f32;N]>as::graph_runtime::Places>::Places,",
            "#[cfg(unix)]r#type:<Vec<Keys>as::graph_runtime::Places>::Places,",
            "typePlaces=LayerPlaces<N>;",
            "declare(&self.norm,builder,&::graph_runtime::private::field_name(name,\"norm\"),mutable)",
            "declare(&self.r#type,builder,&::graph_runtime::private::field_name(name,\"type\"),true)",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(!expanded("struct Of<T> { all: DeviceBuffer<[T]> }").contains("derive"));
    }

    #[test]
    fn the_path_of_the_runtime_is_replaced() {
        let text = expanded("#[places(crate = other::runtime)] struct Layer { norm: DeviceBuffer<[f32]> }");
        assert!(text.contains("useother::runtimeas__runtime_of_LayerPlaces;"), "{text}");
        assert!(!text.contains("::graph_runtime"), "{text}");
    }

    #[test]
    fn mistakes_are_compile_errors() {
        for (text, message) in [
            (
                "enum Layer { A }",
                "`Places` is for structs of buffers, with named fields",
            ),
            (
                "struct Layer(DeviceBuffer<[f32]>);",
                "`Places` is for structs of buffers, with named fields",
            ),
            (
                "struct Layer { #[places(write)] a: A }",
                "a field takes `#[places(mut)]` alone",
            ),
            ("#[places(mut)] struct Layer { a: A }", "`mut` is for fields"),
        ] {
            let found = expand(text.parse().unwrap()).to_string();
            assert!(found.contains(message), "{found}");
        }
    }
}
