//! Whole expansions of small blocks, compared with a PTX file made for them.

mod contracts;
mod cuda;
mod declarations;
mod facts;
mod for_each;
mod stale;

use super::expand;
use proc_macro2::{TokenStream, TokenTree};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A PTX file that is there until the test ends.
struct Ptx(PathBuf);

impl Ptx {
    fn new(bytes: impl AsRef<[u8]>) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!(
            "graph-macros-{}-{}.ptx",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, bytes).unwrap();
        Self(path)
    }
}

impl Drop for Ptx {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The expansion of a block with these declarations, against [`PTX`].
fn block(declarations: &str) -> TokenStream {
    block_of(&Ptx::new(PTX), declarations)
}

fn block_of(ptx: &Ptx, declarations: &str) -> TokenStream {
    let path = format!("{:?}", ptx.0);
    attributed(&path, &format!("unsafe extern \"C\" {{ {declarations} }}"))
}

fn attributed(attribute: &str, item: &str) -> TokenStream {
    expand(attribute.parse().unwrap(), item.parse().unwrap())
}

/// The messages of the block's errors, or else of its warnings, with the path of the PTX as `PTX`.
fn messages(tokens: TokenStream) -> Vec<String> {
    let mut found = Vec::new();
    collect(tokens, &mut found);
    found
}

fn collect(tokens: TokenStream, found: &mut Vec<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (index, token) in tokens.iter().enumerate() {
        let follows = |word: &str, by: usize| matches!(tokens.get(index.wrapping_sub(by)), Some(TokenTree::Ident(ident)) if ident == word);
        match token {
            TokenTree::Group(group) if follows("compile_error", 2) => {
                found.push(syn::parse2::<syn::LitStr>(group.stream()).unwrap().value());
            }
            TokenTree::Group(group) => collect(group.stream(), found),
            TokenTree::Literal(literal) if follows("note", 2) => {
                found.push(syn::parse_str::<syn::LitStr>(&literal.to_string()).unwrap().value());
            }
            _ => {}
        }
    }
    let temporary = std::env::temp_dir();
    for message in found {
        if let Some(start) = message.find(&*temporary.to_string_lossy())
            && let Some(length) = message[start..].find(".ptx")
        {
            let path = message[start..start + length + 4].to_owned();
            *message = message.replace(&path, "PTX");
        }
    }
}

/// The first lines of the messages.
fn firsts(tokens: TokenStream) -> Vec<String> {
    let first = |message: String| message.lines().next().unwrap_or_default().to_owned();
    messages(tokens).into_iter().map(first).collect()
}

/// The tokens without spaces, to look for parts.
fn squeezed(tokens: &TokenStream) -> String {
    tokens.to_string().replace([' ', '\n'], "")
}

const PTX: &str = r#"
.version 8.4
.target sm_90
.address_size 64

.global .align 4 .u32 counter;

.visible .entry fill(.param .u64 p0, .param .u32 p1)
.maxntid 128, 2, 1
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    .shared .align 4 .b8 tile[256];
    ld.param.u64 %rd1, [p0];
    ld.param.u32 %r1, [p1];
    cvta.to.global.u64 %rd2, %rd1;
    st.global.u32 [%rd2], %r1;
    ret;
}

.visible .entry copy(.param .u64 p0, .param .u64 p1, .param .f32 p2, .param .align 4 .b8 p3[12])
.reqntid 64
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [p0];
    ld.param.u64 %rd2, [p1];
    ld.global.u32 %r1, [%rd1];
    st.global.u32 [%rd2], %r1;
    red.global.add.u32 [counter], 1;
    ret;
}

.visible .entry either(.param .u64 p0, .param .u64 p1, .param .u32 p2)
{
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p0];
    ld.param.u64 %rd2, [p1];
    ld.param.u32 %r1, [p2];
    setp.eq.u32 %p1, %r1, 0;
    selp.b64 %rd3, %rd1, %rd2, %p1;
    atom.global.add.u32 %r2, [%rd3], 1;
    ret;
}

.visible .entry chase(.param .u64 p0)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [p0];
    ld.global.u64 %rd2, [%rd1];
    ld.global.u32 %r1, [%rd2];
    ret;
}

.visible .entry waits(.param .u64 p0, .param .u64 p1)
.explicitcluster
.reqnctapercluster 2, 1, 1
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [p0];
    ld.param.u64 %rd2, [p1];
    griddepcontrol.launch_dependents;
    ld.global.nc.u32 %r1, [%rd1];
    ld.global.u32 %r2, [counter];
    .loc 1 7 5 griddepcontrol.wait;
    ld.global.u32 %r1, [%rd2];
    st.global.u32 [%rd2], %r1;
    ret;
}

.visible .entry _Z6doublePf(.param .u64 p0) { ret; }
.func helper() { ret; } .file 1 "waits.cu"
"#;
