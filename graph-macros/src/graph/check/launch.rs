//! Launch dimensions that are literals, compared with CUDA's limits.

use crate::graph::ast::{Extent, Launch};
use crate::graph::constant::value;
use crate::report::{Report, error};
use graph_plan::{Code, LaunchConfig, LaunchFault, Text};
use syn::Expr;

/// Reports dimensions that are out of range, each side once.
pub(super) fn limits(launch: &Launch, report: &mut Report) {
    let one = [1; 3];
    check(&launch.grid, |grid| LaunchConfig::new(grid, one, 0), report);
    check(&launch.block, |block| LaunchConfig::new(one, block, 0), report);
    if let Some(shared) = &launch.shared
        && let Err(fault) = LaunchConfig::new(one, one, value(shared).unwrap_or(0))
    {
        fail(fault, fault.help(), shared, report);
    }
}

fn check(extent: &Extent, config: impl Fn([i128; 3]) -> Result<LaunchConfig, LaunchFault>, report: &mut Report) {
    let values = literals(extent);
    if let Err(fault) = config(values) {
        fail(fault, &help(&fault, values), culprit(extent, &fault), report);
    }
}

fn fail(fault: LaunchFault, help: &str, tokens: &Expr, report: &mut Report) {
    let text = fault.describe(Text::new());
    report.push_at(tokens, &error(Code::LaunchConfig, text.as_str()).help(help));
}

fn help(fault: &LaunchFault, values: [i128; 3]) -> String {
    if let LaunchFault::TooLarge { dimension, limit, .. } = fault
        && let Some(axis @ ("y" | "z")) = dimension.strip_prefix("block.")
    {
        let product = |product: i128, value: &i128| product.saturating_mul(*value);
        let threads = values.iter().fold(1, product);
        if u64::try_from(threads).is_ok_and(|threads| threads <= LaunchConfig::MAX_BLOCK_THREADS) {
            return format!("{axis} is at most {limit}: put the threads in x, as in `({threads}, 1, 1)`");
        }
    }
    fault.help().to_owned()
}

/// The dimension that is out of range, or all of them.
fn culprit<'a>(extent: &'a Extent, fault: &LaunchFault) -> &'a Expr {
    let (LaunchFault::TooSmall { dimension, .. } | LaunchFault::TooLarge { dimension, .. }) = fault else {
        return &extent.whole;
    };
    let axis = ["x", "y", "z"].iter().position(|axis| dimension.ends_with(axis));
    axis.and_then(|axis| extent.parts.get(axis)).unwrap_or(&extent.whole)
}

/// The values of an extent; 1 for a part that is no literal or is missing.
fn literals(extent: &Extent) -> [i128; 3] {
    let mut values = [1; 3];
    for (value_slot, part) in values.iter_mut().zip(&extent.parts) {
        *value_slot = value(part).unwrap_or(1);
    }
    values
}
