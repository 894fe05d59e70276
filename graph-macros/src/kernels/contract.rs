//! `#[requires(..)]`: from a Rust expression to the postfix program of `graph_plan::Contract`.

mod operand;
mod operator;

use self::operator::{METHODS, Operator, Sort, common, operator, result};
use super::declaration::Declaration;
use crate::report::{Report, error};
use crate::text::text;
use graph_plan::Code;
use graph_ptx::proof::{Binary, Term, Unary};
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprBinary, ExprCast, ExprMethodCall, Token, Type, UnOp};

/// A contract as tokens.
pub(super) struct Contract {
    /// The expression with the usual spaces.
    pub(super) text: String,
    /// The program: each is one `graph_plan::Op`.
    pub(super) code: Vec<TokenStream>,
    /// The expression for proofs.
    pub(super) term: Term,
}

const ALLOWED: &str = "a contract is made of `threads`, `grid`, `block`, `shared`, scalar parameters, `.len()` of the others, constants, \
                       arithmetic, comparisons, `&&`, `||` and `!`";

/// Compiles all contracts of a kernel; mistakes go to its report.
pub(super) fn compile(declaration: &mut Declaration) -> Vec<Contract> {
    let mut report = std::mem::take(&mut declaration.report);
    let contracts = declaration
        .requires
        .iter()
        .filter_map(|attribute| contract(attribute, declaration, &mut report))
        .collect();
    declaration.report = report;
    contracts
}

/// Whether commas separate several expressions in an attribute.
fn is_list(attribute: &Attribute) -> bool {
    let list = attribute.parse_args_with(Punctuated::<Expr, Token![,]>::parse_terminated);
    list.is_ok_and(|list| list.len() > 1)
}

fn contract(attribute: &Attribute, declaration: &Declaration, report: &mut Report) -> Option<Contract> {
    let expr = match attribute.parse_args::<Expr>() {
        Ok(expr) => expr,
        Err(fault) => {
            let help = match is_list(attribute) {
                true => "join conditions by `&&`, or write a `#[requires(..)]` for each",
                false => "give a condition: `#[requires(threads <= data.len())]`",
            };
            report.unparsed(&fault, &attribute.meta, Code::Contract, help);
            return None;
        }
    };
    let mut compiler = Compiler {
        declaration,
        report,
        text: String::new(),
        code: Vec::new(),
        terms: Vec::new(),
        height: 0,
        highest: 0,
    };
    let sort = compiler.expr(&expr)?;
    if sort != Sort::Bool {
        let help = format!("compare it with something, as in `{} != 0`", compiler.text);
        return compiler.fault(&expr, "a contract is a condition, but this is a number", &help);
    }
    if compiler.highest > graph_plan::Contract::MAX_DEPTH {
        return compiler.fault(
            &expr,
            "this contract nests too deeply",
            "split it at `&&` into several `#[requires]`",
        );
    }
    Some(Contract {
        text: compiler.text,
        code: compiler.code,
        term: compiler.terms.pop().unwrap_or(Term::Unknown),
    })
}

/// Whether a type of integers is signed, and its bits.
fn integer(ty: &Type) -> Option<(bool, u8)> {
    let name = text(ty);
    let bits = match name.strip_prefix(['u', 'i'])? {
        "size" => 64,
        bits => bits.parse().ok().filter(|bits| [8, 16, 32, 64, 128].contains(bits))?,
    };
    Some((name.starts_with('i'), bits))
}

/// Writes the text and the code of one contract while it walks the expression.
struct Compiler<'a> {
    declaration: &'a Declaration,
    report: &'a mut Report,
    text: String,
    code: Vec<TokenStream>,
    /// The terms of the values on the evaluator's stack.
    terms: Vec<Term>,
    /// The number of values on the evaluator's stack.
    height: usize,
    highest: usize,
}

impl Compiler<'_> {
    fn expr(&mut self, expr: &Expr) -> Option<Sort> {
        match expr {
            Expr::Group(inner) => self.expr(&inner.expr),
            Expr::Paren(inner) => {
                self.text.push('(');
                let sort = self.expr(&inner.expr);
                self.text.push(')');
                sort
            }
            Expr::Lit(literal) => self.literal(literal),
            Expr::Path(path) => self.path(path),
            Expr::Field(field) => self.field(field),
            Expr::Unary(unary) => self.unary(expr, &unary.op, &unary.expr),
            Expr::Binary(binary) => self.binary(binary),
            Expr::MethodCall(call) if call.method == "len" && call.args.is_empty() => self.len(call),
            Expr::MethodCall(call) => self.method(call),
            Expr::Cast(cast) => self.cast(cast),
            Expr::Index(_) => self.fault(expr, "a contract cannot look into memory", ALLOWED),
            other => self.fault(other, "this cannot be part of a contract", ALLOWED),
        }
    }

    fn method(&mut self, call: &ExprMethodCall) -> Option<Sort> {
        let receiver = self.expr(&call.receiver);
        let Some((name, op)) = METHODS.into_iter().find(|(name, _)| call.method == name) else {
            let help = "there are `min`, `max`, `div_ceil`, `is_multiple_of`, `is_power_of_two`, and `len` of memory";
            return self.fault(
                &call.method,
                &format!("a contract has no method `{}`", call.method),
                help,
            );
        };
        let arity = usize::from(matches!(op, Operator::Two(_)));
        if call.args.len() != arity {
            let plural = if arity == 1 { "" } else { "s" };
            let example = if arity == 1 { "b" } else { "" };
            return self.fault(
                &call.method,
                &format!("`{name}` takes {arity} argument{plural}"),
                &format!("write `a.{name}({example})`"),
            );
        }
        self.text += &format!(".{name}(");
        let argument = match call.args.first() {
            Some(argument) => self.expr(argument),
            None => Some(Sort::Int),
        };
        self.text.push(')');
        let (receiver, argument) = (receiver?, argument?);
        let either = matches!(op, Operator::Two(Binary::Min | Binary::Max));
        let floats = either && receiver != Sort::Bool && argument != Sort::Bool;
        if !floats && (receiver, argument) != (Sort::Int, Sort::Int) {
            let kind = if either { "numbers" } else { "integers" };
            let message = format!("`{name}` is for {kind}");
            return self.fault(&call.method, &message, &format!("call it on {kind} only"));
        }
        let sort = match op {
            Operator::Two(Binary::IsMultipleOf) | Operator::One(Unary::IsPowerOfTwo) => Sort::Bool,
            _ => common(receiver, argument),
        };
        self.apply(op, sort)
    }

    /// Integers are cast as Rust casts them: a value that does not fit wraps around.
    fn cast(&mut self, cast: &ExprCast) -> Option<Sort> {
        let sort = self.expr(&cast.expr);
        self.text += &format!(" as {}", text(&cast.ty));
        match (sort?, integer(&cast.ty)) {
            (Sort::Int, Some((signed, bits))) => {
                self.code
                    .push(quote!(::graph_runtime::private::plan::Op::Cast { bits: #bits, signed: #signed }));
                let operand = self.terms.pop().unwrap_or(Term::Unknown);
                self.terms
                    .push(Term::Unary(Unary::Cast { bits, signed }, Box::new(operand)));
                sort
            }
            _ => self.fault(
                &cast.ty,
                "a contract only casts integers to integers",
                "leave the cast out: integers and floats compare as they are",
            ),
        }
    }

    fn unary(&mut self, whole: &Expr, op: &UnOp, operand: &Expr) -> Option<Sort> {
        self.text.push_str(&text(op));
        let sort = self.expr(operand)?;
        match (op, sort) {
            (UnOp::Not(_), Sort::Bool) => self.apply(Operator::One(Unary::Not), sort),
            (UnOp::Neg(_), Sort::Int | Sort::Float) => self.apply(Operator::One(Unary::Neg), sort),
            (UnOp::Not(_), _) => self.fault(
                op,
                "`!` is for conditions, but this is a number",
                "compare the number with something, as in `n == 0`",
            ),
            (UnOp::Neg(_), _) => self.fault(
                op,
                "`-` is for numbers, but this is a condition",
                "negate a condition with `!`",
            ),
            _ => self.fault(whole, "this cannot be part of a contract", ALLOWED),
        }
    }

    fn binary(&mut self, binary: &ExprBinary) -> Option<Sort> {
        let left = self.expr(&binary.left);
        let sign = text(&binary.op);
        self.text += &format!(" {sign} ");
        let right = self.expr(&binary.right);
        let (left, right) = (left?, right?);
        let Some(op) = operator(&binary.op) else {
            return self.fault(
                &binary.op,
                &format!("`{sign}` cannot be part of a contract"),
                "compare with `==`",
            );
        };
        match result(&binary.op, left, right) {
            Some(sort) => self.apply(Operator::Two(op), sort),
            None => {
                let message = format!("`{sign}` cannot be applied to {} and {}", left.words(), right.words());
                let help = "`&&` and `||` join conditions; arithmetic and comparisons are for numbers";
                self.fault(&binary.op, &message, help)
            }
        }
    }

    /// Adds an operation that pushes a value.
    fn load(&mut self, op: TokenStream, sort: Sort, term: Term) -> Option<Sort> {
        self.terms.push(term);
        self.code.push(quote!(::graph_runtime::private::plan::Op::#op));
        self.height += 1;
        self.highest = self.highest.max(self.height);
        Some(sort)
    }

    /// Adds an operation that takes its operands from the stack and pushes one value.
    fn apply(&mut self, op: Operator, sort: Sort) -> Option<Sort> {
        let last = Box::new(self.terms.pop().unwrap_or(Term::Unknown));
        let (term, op) = match op {
            Operator::One(op) => (Term::Unary(op, last), format_ident!("{}", format!("{op:?}"))),
            Operator::Two(op) => {
                let first = Box::new(self.terms.pop().unwrap_or(Term::Unknown));
                self.height -= 1;
                (Term::Binary(op, first, last), format_ident!("{}", format!("{op:?}")))
            }
        };
        self.terms.push(term);
        self.code.push(quote!(::graph_runtime::private::plan::Op::#op));
        Some(sort)
    }

    fn fault<T>(&mut self, tokens: &impl ToTokens, message: &str, help: &str) -> Option<T> {
        self.report.push_at(tokens, &error(Code::Contract, message).help(help));
        None
    }
}
