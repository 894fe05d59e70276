//! The drawing of a graph in its documentation.

use crate::graph::resolve::Graph;
use graph_plan::{Outcome, Plan};
use proc_macro2::TokenStream;
use quote::quote;

/// The graph as an image, at the end of the documentation of its type. Only rustdoc has it: it calls this macro in a
/// process of its own, and drawing a graph costs a compilation nothing.
pub(super) fn drawing(graph: &Graph<'_>, outcome: &Outcome) -> Option<TokenStream> {
    let program = std::env::current_exe().ok()?;
    let is_drawn = program.file_stem()? == "rustdoc" && !graph.is_expression();
    is_drawn.then(|| documentation(&Plan::of(&graph.draft, outcome, |_| 0)))
}

/// The lines of documentation. An image has no empty line, so it is one block of HTML.
fn documentation(plan: &Plan) -> TokenStream {
    let text = format!("\n# Drawing\n\n{}", plan.to_svg());
    quote!(#[doc = #text])
}

#[cfg(test)]
mod tests {
    use super::documentation;
    use graph_plan::Plan;

    #[test]
    fn a_drawing_is_one_block_of_html() {
        let tokens = documentation(&Plan::new("Empty", &[], &[])).to_string();
        let start = r##"# [doc = "\n# Drawing\n\n<svg class=\"cuda-graph\""##;
        assert!(tokens.starts_with(start), "{tokens}");
        assert_eq!(tokens.matches("\\n\\n").count(), 1, "{tokens}");
    }
}
