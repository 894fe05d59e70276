//! A crate's modules as they are written: their files, their order, the names each defines, and the paths each uses.
//! Test code (`#[cfg(test)]`) is left out.

use crate::Result;
use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use syn::punctuated::Punctuated;
use syn::{Attribute, Item, ItemUse, Meta, Token, UseTree};

/// A module's index in its [`Source`].
pub(super) type ModuleId = usize;

/// The crate root's index.
pub(super) const ROOT: ModuleId = 0;

/// The function that reads files.
type Open<'a> = &'a dyn Fn(&Path) -> Option<String>;

/// One crate: `modules[ROOT]` is its root, and parents come before their children.
pub(super) struct Source {
    pub(super) modules: Vec<Module>,
}

/// One module.
pub(super) struct Module {
    pub(super) name: String,
    /// The module that declares it; `None` for the root.
    pub(super) parent: Option<ModuleId>,
    /// The modules that it declares, in the order of its `mod` lines.
    pub(super) children: Vec<ModuleId>,
    /// The module whose file holds it: itself, unless it is written as `mod name { .. }`.
    pub(super) owner: ModuleId,
    /// Its file, as messages name it.
    pub(super) file: String,
    /// Whether it begins with a `//!` line.
    pub(super) is_documented: bool,
    /// The items that it defines.
    pub(super) items: BTreeMap<String, Vec<Kind>>,
    /// The names that it imports, with the path of each.
    pub(super) imports: BTreeMap<String, Vec<Vec<String>>>,
    /// The modules or enums of which it imports every name.
    pub(super) globs: Vec<Vec<String>>,
    pub(super) uses: Vec<Use>,
    /// The names that it writes alone, and those that begin a longer path: they tell whether an imported name is
    /// meant as a module.
    pub(super) alone: BTreeSet<String>,
    pub(super) leading: BTreeSet<String>,
}

/// A path that a module writes.
pub(super) struct Use {
    pub(super) path: Vec<String>,
    pub(super) line: usize,
    pub(super) form: Form,
}

/// The form in which a path is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `use path;`, with the name by which the module then calls it.
    Import(String),
    /// `use path::*;`
    Glob,
    /// In code or in a macro's tokens.
    Inline,
}

/// The kind of an item, as far as the rule needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Function,
    Macro,
    /// Types, traits, constants and statics.
    Other,
}

impl Source {
    /// Reads the crate whose root file is `root` from what `open` returns for each path: a file's text, or `None`.
    ///
    /// # Errors
    /// If a file cannot be parsed, or if a declared module has no file.
    pub(super) fn read(root: &Path, open: Open<'_>) -> Result<Self> {
        let mut source = Self { modules: Vec::new() };
        source.read_file("crate", None, root, root.parent().unwrap_or(Path::new("")), open)?;
        Ok(source)
    }

    /// The path of a module, for messages: `crate::builder::build`.
    pub(super) fn path(&self, module: ModuleId) -> String {
        let module = &self.modules[module];
        match module.parent {
            Some(parent) => format!("{}::{}", self.path(parent), module.name),
            None => module.name.clone(),
        }
    }

    /// The path of an item of `module`, without the crate: `builder::build::build`.
    pub(super) fn item_path(&self, module: ModuleId, name: &str) -> String {
        let path = format!("{}::{name}", self.path(module));
        path.strip_prefix("crate::").unwrap_or(&path).to_owned()
    }

    /// `module` and its ancestors, from the root down.
    pub(super) fn line(&self, module: ModuleId) -> Vec<ModuleId> {
        let mut line: Vec<_> = std::iter::successors(Some(module), |&at| self.modules[at].parent).collect();
        line.reverse();
        line
    }

    fn read_file(
        &mut self,
        name: &str,
        parent: Option<ModuleId>,
        file: &Path,
        folder: &Path,
        open: Open<'_>,
    ) -> Result<ModuleId> {
        let text = open(file).ok_or_else(|| format!("cannot read {}", file.display()))?;
        let parsed = syn::parse_file(&text)
            .map_err(|error| format!("{}:{}: {error}", file.display(), error.span().start().line))?;
        let id = self.modules.len();
        self.modules.push(Module {
            is_documented: parsed.attrs.iter().any(|attribute| attribute.path().is_ident("doc")),
            ..Module::new(name, parent, id, &file.to_string_lossy())
        });
        self.read_items(id, parsed.items, folder, open)?;
        Ok(id)
    }

    /// Reads the items of `module`; the files of the modules that it declares are in `folder`.
    fn read_items(&mut self, module: ModuleId, items: Vec<Item>, folder: &Path, open: Open<'_>) -> Result<()> {
        for item in items {
            if attributes(&item).iter().any(is_test) {
                continue;
            }
            self.modules[module].define(&item);
            let Item::Mod(declaration) = item else {
                self.modules[module].read_tokens(item.into_token_stream(), &[]);
                continue;
            };
            let name = declaration.ident.to_string();
            let below = folder.join(&name);
            let child = if let Some((_, items)) = declaration.content {
                let (owner, file) = (self.modules[module].owner, self.modules[module].file.clone());
                let child = self.modules.len();
                self.modules.push(Module::new(&name, Some(module), owner, &file));
                self.read_items(child, items, &below, open)?;
                child
            } else {
                let file = [folder.join(format!("{name}.rs")), below.join("mod.rs")]
                    .into_iter()
                    .find(|file| open(file).is_some())
                    .ok_or_else(|| format!("{}: `mod {name};` has no file", self.modules[module].file))?;
                self.read_file(&name, Some(module), &file, &below, open)?
            };
            self.modules[module].children.push(child);
        }
        Ok(())
    }
}

impl Module {
    fn new(name: &str, parent: Option<ModuleId>, owner: ModuleId, file: &str) -> Self {
        Self {
            name: name.to_owned(),
            parent,
            children: Vec::new(),
            owner,
            file: file.to_owned(),
            is_documented: true,
            items: BTreeMap::new(),
            imports: BTreeMap::new(),
            globs: Vec::new(),
            uses: Vec::new(),
            alone: BTreeSet::new(),
            leading: BTreeSet::new(),
        }
    }

    /// Records the name that `item` defines, if it defines one.
    fn define(&mut self, item: &Item) {
        let (name, kind) = match item {
            Item::Fn(item) => (&item.sig.ident, Kind::Function),
            Item::Macro(item) => match &item.ident {
                Some(name) => (name, Kind::Macro),
                None => return,
            },
            Item::Const(item) => (&item.ident, Kind::Other),
            Item::Enum(item) => (&item.ident, Kind::Other),
            Item::Static(item) => (&item.ident, Kind::Other),
            Item::Struct(item) => (&item.ident, Kind::Other),
            Item::Trait(item) => (&item.ident, Kind::Other),
            Item::Type(item) => (&item.ident, Kind::Other),
            Item::Union(item) => (&item.ident, Kind::Other),
            _ => return,
        };
        self.items.entry(name.to_string()).or_default().push(kind);
    }

    /// Reads the paths of code, of macros' tokens too. Each begins with `prefix`: inside of braces after a path, that
    /// path.
    fn read_tokens(&mut self, tokens: TokenStream, prefix: &[String]) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            at += match &tokens[at] {
                TokenTree::Ident(ident) if ident == "use" => self.read_import(&tokens[at..]),
                TokenTree::Ident(ident) => self.read_path(ident, &tokens[at..], prefix),
                // An attribute, or the `!` and brackets of an inner one.
                TokenTree::Punct(punct) if punct.as_char() == '#' => 1 + attribute_length(&tokens[at + 1..]),
                TokenTree::Group(group) => {
                    self.read_tokens(group.stream(), &[]);
                    1
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => 1,
            };
        }
    }

    /// Reads the path that begins at `tokens[0]`, which is `first`, and returns the number of its tokens.
    fn read_path(&mut self, first: &Ident, tokens: &[TokenTree], prefix: &[String]) -> usize {
        let mut path = prefix.to_vec();
        path.push(first.to_string());
        let mut length = 1;
        while is_separator(&tokens[length..]) {
            match tokens.get(length + 2) {
                Some(TokenTree::Ident(name)) => {
                    path.push(name.to_string());
                    length += 3;
                }
                // A `use` inside of a macro: each name in the braces continues the path.
                Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                    self.read_tokens(group.stream(), &path);
                    return length + 3;
                }
                _ => break,
            }
        }
        if path.len() == 1 {
            self.alone.insert(path.remove(0));
        } else {
            self.leading.insert(path[0].clone());
            let line = first.span().start().line;
            self.uses.push(Use {
                path,
                line,
                form: Form::Inline,
            });
        }
        length + self.skip_template(first, &tokens[length..])
    }

    /// Returns the number of tokens of the `!` and group after `quote`: these are another crate's code. The expression
    /// before `=>` in `quote_spanned` is this crate's.
    fn skip_template(&mut self, name: &Ident, tokens: &[TokenTree]) -> usize {
        let [TokenTree::Punct(bang), TokenTree::Group(group), ..] = tokens else {
            return 0;
        };
        let is_template = ["quote", "quote_spanned", "parse_quote", "parse_quote_spanned"]
            .iter()
            .any(|it| name == it);
        if !is_template || bang.as_char() != '!' {
            return 0;
        }
        if name.to_string().ends_with("spanned") {
            let is_equals = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == '=');
            self.read_tokens(
                group
                    .stream()
                    .into_iter()
                    .take_while(|token| !is_equals(token))
                    .collect(),
                &[],
            );
        }
        2
    }

    /// Reads the `use` declaration at the front of `tokens`, and returns the number of its tokens.
    fn read_import(&mut self, tokens: &[TokenTree]) -> usize {
        let is_end = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ';');
        let Some(end) = tokens.iter().position(is_end) else {
            return 1;
        };
        // `use<'a>` of a return type, or a pattern of `macro_rules!`.
        let Ok(import) = syn::parse2::<ItemUse>(tokens[..=end].iter().cloned().collect()) else {
            return 1;
        };
        self.read_tree(&import.tree, &mut Vec::new());
        end + 1
    }

    fn read_tree(&mut self, tree: &UseTree, path: &mut Vec<String>) {
        let (ident, local) = match tree {
            UseTree::Path(tree) => {
                path.push(tree.ident.to_string());
                self.read_tree(&tree.tree, path);
                path.pop();
                return;
            }
            UseTree::Group(group) => return group.items.iter().for_each(|tree| self.read_tree(tree, path)),
            UseTree::Glob(glob) => {
                self.globs.push(path.clone());
                let line = glob.star_token.spans[0].start().line;
                return self.uses.push(Use {
                    path: path.clone(),
                    line,
                    form: Form::Glob,
                });
            }
            UseTree::Name(tree) => (&tree.ident, &tree.ident),
            UseTree::Rename(tree) => (&tree.ident, &tree.rename),
        };
        let mut full = path.clone();
        // `use folder::{self}`, as opposed to `use self::name`.
        let is_folder = ident == "self" && !path.is_empty();
        if !is_folder {
            full.push(ident.to_string());
        }
        let local = if local == "self" {
            full.last().cloned().unwrap_or_default()
        } else {
            local.to_string()
        };
        self.imports.entry(local.clone()).or_default().push(full.clone());
        self.uses.push(Use {
            path: full,
            line: ident.span().start().line,
            form: Form::Import(local),
        });
    }
}

/// Whether `tokens` begin with `::`.
fn is_separator(tokens: &[TokenTree]) -> bool {
    let is_colon = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ':');
    matches!(tokens, [first, second, ..] if is_colon(first) && is_colon(second))
}

/// The number of tokens of an attribute after its `#`: `[..]` or `![..]`; 0 if there is none.
fn attribute_length(tokens: &[TokenTree]) -> usize {
    let is_bracket =
        |token: &TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket);
    match tokens {
        [first, ..] if is_bracket(first) => 1,
        [TokenTree::Punct(bang), second, ..] if bang.as_char() == '!' && is_bracket(second) => 2,
        _ => 0,
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Whether an attribute leaves its item out of all builds but those of tests and doctests.
fn is_test(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
        && attribute
            .parse_args::<Meta>()
            .is_ok_and(|condition| needs_test(&condition))
}

fn needs_test(condition: &Meta) -> bool {
    match condition {
        Meta::Path(path) => path.is_ident("test") || path.is_ident("doctest"),
        Meta::List(list) => {
            let Ok(parts) = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated) else {
                return false;
            };
            (list.path.is_ident("all") && parts.iter().any(needs_test))
                || (list.path.is_ident("any") && parts.iter().all(needs_test))
        }
        _ => false,
    }
}
