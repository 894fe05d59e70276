//! From a path, through imports and re-exports, to the module that defines the named item.

use super::source::{Form, Kind, Module, ModuleId, ROOT, Source, Use};

/// A module or an item that a path names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Target {
    Module(ModuleId),
    /// An item, with the module that defines it and its name there.
    Item(ModuleId, String, Kind),
}

impl Target {
    pub(super) fn module(&self) -> ModuleId {
        match self {
            Self::Module(module) | Self::Item(module, ..) => *module,
        }
    }
}

/// The names that are being looked up: an import can lead back to itself.
type Trail = Vec<(ModuleId, String)>;

impl Source {
    /// Returns what `used`, written in `module`, names: several targets if a module and a function have one name, and
    /// none if the name is another crate's.
    pub(super) fn targets(&self, module: ModuleId, used: &Use) -> Vec<Target> {
        let mut targets = self.walk(module, &used.path, &mut Trail::new());
        targets.sort();
        targets.dedup();
        if let Form::Import(local) = &used.form {
            keep_meant(&mut targets, &self.modules[module], local);
        }
        targets
    }

    /// Follows `path` from `module`.
    fn walk(&self, module: ModuleId, path: &[String], trail: &mut Trail) -> Vec<Target> {
        let Some((first, rest)) = path.split_first() else {
            return vec![Target::Module(ROOT)];
        };
        let starts = match first.as_str() {
            "crate" => vec![Target::Module(ROOT)],
            "self" => vec![Target::Module(module)],
            "super" => self.modules[module].parent.map(Target::Module).into_iter().collect(),
            name => self.lookup(module, name, trail),
        };
        let is_relative = matches!(first.as_str(), "crate" | "self" | "super");
        if !is_relative && starts.is_empty() {
            return Vec::new();
        }
        self.descend(starts, rest, trail)
    }

    /// Follows `path` from `starts`.
    fn descend(&self, starts: Vec<Target>, path: &[String], trail: &mut Trail) -> Vec<Target> {
        let Some((first, rest)) = path.split_first() else {
            return starts;
        };
        let inside = starts.iter().find_map(|start| match start {
            Target::Module(module) => Some(*module),
            Target::Item(..) => None,
        });
        // A variant or an associated item belongs to its type.
        let Some(inside) = inside else { return starts };
        let found = match first.as_str() {
            "super" => self.modules[inside].parent.map(Target::Module).into_iter().collect(),
            name => self.lookup(inside, name, trail),
        };
        // Items that macros define are not known here. A re-export from another crate is not a name of this crate.
        let is_import = self.modules[inside].imports.contains_key(first);
        match found.is_empty() {
            true if is_import => Vec::new(),
            true => vec![Target::Item(inside, first.clone(), guess(first))],
            false => self.descend(found, rest, trail),
        }
    }

    /// Returns what `name` means inside `module`.
    fn lookup(&self, module: ModuleId, name: &str, trail: &mut Trail) -> Vec<Target> {
        let key = (module, name.to_owned());
        if trail.contains(&key) {
            return Vec::new();
        }
        trail.push(key);
        let inside = &self.modules[module];
        let children = inside
            .children
            .iter()
            .filter(|&&child| self.modules[child].name == name);
        let items = inside.items.get(name).into_iter().flatten();
        let mut found: Vec<Target> = children
            .map(|&child| Target::Module(child))
            .chain(items.map(|&kind| Target::Item(module, name.to_owned(), kind)))
            .collect();
        for import in inside.imports.get(name).into_iter().flatten() {
            found.extend(self.walk(module, import, trail));
        }
        if found.is_empty() {
            for glob in &inside.globs {
                for target in self.walk(module, glob, trail) {
                    if let Target::Module(opened) = target {
                        found.extend(self.lookup(opened, name, trail));
                    }
                }
            }
        }
        trail.pop();
        found
    }
}

/// Keeps, if a module and an item have one name, the one that the importing module uses.
fn keep_meant(targets: &mut Vec<Target>, module: &Module, local: &str) {
    let is_module = |target: &Target| matches!(target, Target::Module(_));
    if !targets.iter().any(is_module) || targets.iter().all(is_module) {
        return;
    }
    let (as_module, as_item) = (module.leading.contains(local), module.alone.contains(local));
    if as_module != as_item {
        targets.retain(|target| is_module(target) == as_module);
    }
}

/// The kind of a name that no item has: those that macros define.
fn guess(name: &str) -> Kind {
    if name.starts_with(|first: char| first.is_lowercase()) {
        Kind::Function
    } else {
        Kind::Other
    }
}
