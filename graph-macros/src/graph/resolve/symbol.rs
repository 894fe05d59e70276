//! Variables of modules: what their declarations may say.

use super::Graph;
use crate::report::{Report, error};
use crate::span::on_line;
use graph_plan::Code;

/// Reports `constant`s whose length is not a constant, and variables that are declared twice.
pub(super) fn declared(graph: &Graph<'_>, report: &mut Report) {
    let constants = graph.resources.iter().filter_map(|resource| {
        let symbol = resource.symbol.as_ref()?;
        Some((resource, symbol))
    });
    let constants: Vec<_> = constants.collect();
    for (index, (resource, symbol)) in constants.iter().enumerate() {
        if graph.is_dynamic(resource)
            && let Some(length) = resource.shape.lengths.first()
        {
            let message = format!(
                "the length of `{}` is known only when the graph is built",
                resource.name
            );
            let diagnostic = error(Code::Syntax, message)
                .note("a variable of a module has the length that its PTX declares")
                .help("write the length as a constant");
            report.push_at(length, &diagnostic);
        }
        let mut earlier = constants[..index].iter();
        if let Some((first, _)) = earlier.find(|(_, earlier)| earlier.value() == symbol.value()) {
            let message = format!("`{}` is the variable `{}` once more", resource.name, symbol.value());
            let diagnostic = error(Code::DuplicateName, message)
                .note(format!(
                    "it is `{}`, declared {}",
                    first.name,
                    on_line(first.name.span())
                ))
                .help(format!("use `{}` in place of `{}`", first.name, resource.name));
            report.push(symbol.span(), &diagnostic);
        }
    }
}
