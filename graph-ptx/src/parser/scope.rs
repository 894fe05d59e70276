//! Names of a function (registers, variables and labels) in nested scopes, and their names once scopes are flattened.

use std::collections::HashMap;

use crate::ast::{Body, Operand, Reg, Register, Type, components};
use crate::lexer::Token;

/// The entity that a name means.
#[derive(Clone, Copy, Debug)]
pub(super) enum Entity {
    Register(Reg),
    /// A vector register: its first part, and the number of parts. The other parts follow the first.
    Vector(Reg, u32),
    /// A variable or parameter: the index of its name in [`Names::variables`].
    Variable(u32),
}

/// A place that may name a label, which is known only at the end of the scope.
#[derive(Clone, Copy, Debug)]
enum Reference {
    /// Instruction and operand.
    Operand(usize, usize),
    /// Target list and entry.
    Target(usize, usize),
}

#[derive(Debug, Default)]
struct Scope<'a> {
    names: HashMap<String, Entity>,
    /// Ranges such as `%r<5>`: by prefix, the number of registers, their type, and the parts of each.
    ranges: HashMap<String, (u32, Type, u32)>,
    /// Labels, target lists and prototypes by name; the value is the name in the body.
    labels: HashMap<&'a str, String>,
    references: Vec<(&'a str, Token<'a>, Reference)>,
    /// The target lists that operands name which were declared before, by their names in the body.
    lists: Vec<(Reference, String)>,
}

/// The scopes open at a point of a function, innermost last, and the body that is being filled.
#[derive(Debug)]
pub(super) struct Names<'a> {
    scopes: Vec<Scope<'a>>,
    /// The number of declarations of each name in this function.
    declared: HashMap<String, u32>,
    /// Names of variables in the body.
    variables: Vec<String>,
    pub(super) body: Body,
}

impl<'a> Names<'a> {
    pub(super) fn new() -> Self {
        Names {
            scopes: vec![Scope::default()],
            declared: HashMap::new(),
            variables: Vec::new(),
            body: Body::default(),
        }
    }

    /// The number of open scopes.
    pub(super) fn depth(&self) -> usize {
        self.scopes.len()
    }

    pub(super) fn open(&mut self) {
        self.scopes.push(Scope::default());
    }

    /// Ends the innermost scope: references to its labels are resolved, and all others are left to the scope around it.
    /// At the end of the function, returns the first branch to a label that is not declared.
    pub(super) fn close(&mut self) -> Option<(&'a str, Token<'a>)> {
        let scope = self.scopes.pop()?;
        let mut missing = None;
        for (reference, list) in scope.lists {
            self.resolve(reference, &list);
        }
        for (name, token, reference) in scope.references {
            if let Some(label) = scope.labels.get(name) {
                self.resolve(reference, label);
            } else if let Some(outer) = self.scopes.last_mut() {
                outer.references.push((name, token, reference));
            } else if missing.is_none() && self.is_branch(reference) {
                missing = Some((name, token));
            }
        }
        missing
    }

    /// Gives later declarations of this name in the body another one, since a variable of the module has it.
    pub(super) fn reserve(&mut self, name: &str) {
        self.declared.entry(name.to_owned()).or_insert(1);
    }

    fn resolve(&mut self, reference: Reference, label: &str) {
        match reference {
            Reference::Operand(instruction, operand) => {
                self.body.instructions[instruction].operands[operand] = Operand::Label(label.to_owned());
            }
            Reference::Target(list, entry) => label.clone_into(&mut self.body.target_lists[list].1[entry]),
        }
    }

    /// Whether the reference must be to a label.
    fn is_branch(&self, reference: Reference) -> bool {
        match reference {
            Reference::Operand(instruction, _) => {
                matches!(self.body.instructions[instruction].opcode.as_str(), "bra" | "brx")
            }
            Reference::Target(..) => true,
        }
    }

    fn innermost(&mut self) -> &mut Scope<'a> {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    /// Returns the name in the body: `name`, or `name@2` and so on if the function has declared it before. No PTX name
    /// contains `@`.
    fn rename(&mut self, name: &str) -> String {
        match self.declared.get_mut(name) {
            Some(count) => {
                *count += 1;
                format!("{name}@{count}")
            }
            None => {
                self.declared.insert(name.to_owned(), 1);
                name.to_owned()
            }
        }
    }

    /// Declares a name in the innermost scope; `false` if it is taken there.
    fn declare(&mut self, name: &str, entity: Entity) -> bool {
        self.innermost().names.insert(name.to_owned(), entity).is_none()
    }

    /// Declares a variable and returns its name in the body, `None` if the scope has the name already.
    pub(super) fn declare_variable(&mut self, name: &str) -> Option<String> {
        let renamed = self.rename(name);
        self.declare_renamed(name, renamed)
    }

    /// Declares a variable of a function that belongs to the module, and returns its name there, `None` if the scope
    /// has the name already. No PTX name contains `@`.
    pub(super) fn declare_static(&mut self, function: &str, name: &str) -> Option<String> {
        let renamed = format!("{function}@{}", self.rename(name));
        self.declare_renamed(name, renamed)
    }

    fn declare_renamed(&mut self, name: &str, renamed: String) -> Option<String> {
        let index = u32::try_from(self.variables.len()).ok()?;
        self.variables.push(renamed.clone());
        self.declare(name, Entity::Variable(index)).then_some(renamed)
    }

    /// Declares a register, or a vector register of `parts`.
    #[must_use]
    pub(super) fn declare_register(&mut self, name: &str, ty: Type, parts: u32) -> bool {
        let entity = self.new_register(name, ty, parts);
        self.declare(name, entity)
    }

    /// Adds a register, or the parts of a vector register, to the body.
    fn new_register(&mut self, name: &str, ty: Type, parts: u32) -> Entity {
        let renamed = self.rename(name);
        let first = self.next_register();
        if parts == 1 {
            self.body.registers.push(Register { name: renamed, ty });
            return Entity::Register(first);
        }
        let names = components(parts).map(|component| format!("{renamed}.{component}"));
        self.body.registers.extend(names.map(|name| Register { name, ty }));
        Entity::Vector(first, parts)
    }

    /// Declares `prefix0` to `prefix(count-1)`, each with its `parts`; each becomes a register when it is first named.
    #[must_use]
    pub(super) fn declare_range(&mut self, prefix: &str, count: u32, ty: Type, parts: u32) -> bool {
        let range = (count, ty, parts);
        self.innermost().ranges.insert(prefix.to_owned(), range).is_none()
    }

    /// Declares the register of the sum of a register and an offset. No PTX name contains `@`.
    pub(super) fn declare_sum(&mut self, register: Reg, ty: Type) -> Reg {
        let name = format!("{}@sum", self.body.registers[register.0 as usize].name);
        let sum = self.next_register();
        self.body.registers.push(Register { name, ty });
        sum
    }

    fn next_register(&self) -> Reg {
        Reg(u32::try_from(self.body.registers.len()).unwrap_or(u32::MAX))
    }

    /// Returns what `name` means here: a register or a variable of the function; `None` if it is neither.
    pub(super) fn look_up(&mut self, name: &str) -> Option<Entity> {
        for depth in (0..self.scopes.len()).rev() {
            if let Some(&entity) = self.scopes[depth].names.get(name) {
                return Some(entity);
            }
            if let Some((ty, parts)) = self.scopes[depth].in_range(name) {
                let entity = self.new_register(name, ty, parts);
                self.scopes[depth].names.insert(name.to_owned(), entity);
                return Some(entity);
            }
        }
        None
    }

    /// The name in the body of the variable at `index`.
    pub(super) fn variable_name(&self, index: u32) -> &str {
        &self.variables[index as usize]
    }

    /// Declares a label, target list or prototype and returns its name in the body, `None` if it is taken.
    pub(super) fn declare_label(&mut self, name: &'a str) -> Option<String> {
        let renamed = self.rename(name);
        self.innermost()
            .labels
            .insert(name, renamed.clone())
            .is_none()
            .then_some(renamed)
    }

    /// Notes that an operand of the instruction about to be pushed may name a label.
    pub(super) fn refer_operand(&mut self, name: &'a str, token: Token<'a>, operand: usize) {
        let reference = Reference::Operand(self.body.instructions.len(), operand);
        match self.list(name) {
            Some(list) => self.innermost().lists.push((reference, list)),
            None => self.innermost().references.push((name, token, reference)),
        }
    }

    /// The target list of this name that was declared before. A list is that, also if the scope declares another one
    /// later; a label is that of its scope, wherever it stands.
    fn list(&self, name: &str) -> Option<String> {
        let lists = &self.body.target_lists;
        if lists.is_empty() {
            return None;
        }
        let label = self.scopes.iter().rev().find_map(|scope| scope.labels.get(name))?;
        lists.iter().any(|(known, _)| known == label).then(|| label.clone())
    }

    /// Notes that an entry of the target list about to be pushed names a label.
    pub(super) fn refer_target(&mut self, name: &'a str, token: Token<'a>, entry: usize) {
        let list = self.body.target_lists.len();
        self.innermost()
            .references
            .push((name, token, Reference::Target(list, entry)));
    }
}

impl Scope<'_> {
    /// The type, and the number of parts, of the range that `name` is in.
    fn in_range(&self, name: &str) -> Option<(Type, u32)> {
        if self.ranges.is_empty() {
            return None;
        }
        let digits = name.bytes().rev().take(10).take_while(u8::is_ascii_digit).count();
        (1..=digits).find_map(|digits| {
            let (prefix, index) = name.split_at(name.len() - digits);
            let canonical = digits == 1 || !index.starts_with('0');
            let &(count, ty, parts) = self.ranges.get(prefix)?;
            (canonical && index.parse::<u32>().ok()? < count).then_some((ty, parts))
        })
    }
}
