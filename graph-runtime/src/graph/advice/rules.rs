//! The rules: each finds one kind of mistake, and says what to write.

use super::path::longest;
use super::view::View;
use super::{Hint, Topic, prices};
use crate::devices::bodies::Bodies;
use crate::kernel::{KernelFacts, PROGRAMMATIC_FROM};
use crate::program::edge_proofs::EdgeProofs;
use crate::program::scratch::{Arena, first_reads};
use crate::program::{Op, Structure, Work};
use graph_plan::{LaunchConfig, Memory, NodeKind, Sharing};
use std::time::Duration;

/// Hints that save less than this, in microseconds, are left out.
const LEAST: f64 = 0.1;
/// The most nodes side by side that hints leave alone.
const WIDE: usize = 8;
/// The number of chains after which the GPU gains next to nothing by more of them.
const WIDE_ENOUGH: usize = 4;
/// Nodes that take longer, in microseconds, are not small.
const SMALL: f64 = 5.0;
/// A kernel that was not measured, and is given fewer bytes, is small for any number of blocks.
const MUCH: f64 = 1_048_576.0;
/// A kernel that was measured, and takes less, is small for any number of blocks.
const SLOW: f64 = 2.0 * prices::KERNEL;
/// Copies of more bytes are not small.
const SMALL_COPY: f64 = 65_536.0;
/// The threads of a warp.
const WARP: u64 = 32;
/// The most nodes of a body that is small.
const SMALL_BODY: usize = 8;
/// The most blocks of all kernels of such a body.
const SMALL_BODY_BLOCKS: u128 = 1024;
/// The most changes that a help lists.
const LISTED: usize = 3;

/// All hints about a graph, those that save most first.
pub(super) fn hints(view: &View<'_>) -> Vec<Hint> {
    let rules = [
        unneeded_edges,
        width,
        programmatic_edges,
        few_blocks,
        grid_and_block,
        small_copies,
        conditional_nodes,
        scratch,
    ];
    let mut hints: Vec<Hint> = rules.iter().filter_map(|rule| rule(view)).collect();
    hints.sort_by_key(|hint| std::cmp::Reverse(hint.saves));
    hints
}

/// A hint that saves so many microseconds; `None` if these are too few.
fn hint(topic: Topic, nodes: Vec<String>, saves: f64, finding: String, help: String) -> Option<Hint> {
    (saves >= LEAST).then(|| Hint {
        topic,
        nodes,
        saves: Some(Duration::from_nanos((saves * 1e3).round() as u64)),
        finding,
        help,
    })
}

/// `an edge` or `3 edges`.
fn counted(count: usize, one: &str, many: &str) -> String {
    if count == 1 {
        one.to_owned()
    } else {
        format!("{count} {many}")
    }
}

/// Texts as one: `a, b, c, and so on`.
fn listed(texts: Vec<String>) -> String {
    let mut unique: Vec<String> = Vec::new();
    for text in texts {
        if !unique.contains(&text) {
            unique.push(text);
        }
    }
    let more = unique.len() > LISTED;
    unique.truncate(LISTED);
    unique.join("; ") + if more { "; and so on" } else { "" }
}

fn unneeded_edges(view: &View<'_>) -> Option<Hint> {
    let unneeded = view.plan.unneeded_edges();
    let (length, _) = longest(&view.plan, &unneeded.after, &view.times, view.measured);
    let changes = unneeded.edges.iter().map(|&(from, to)| {
        let (from, node) = (view.name(from), view.name(to));
        match view.names(&unneeded.after[to]).join(", ") {
            needed if needed.is_empty() => format!("leave `after {from}` out of `{node}`"),
            needed => format!("write `after {needed}` instead of `after {from}` in `{node}`"),
        }
    });
    let nodes: Vec<usize> = unneeded.edges.iter().map(|&(_, to)| to).collect();
    let finding = format!(
        "{} nodes that share no memory: the longest path takes {:.1} us, and {length:.1} us without",
        counted(nodes.len(), "an edge orders", "edges order"),
        view.length
    );
    let all = if nodes.len() > LISTED {
        " (`plan().unneeded_edges()` has all)"
    } else {
        ""
    };
    hint(
        Topic::UnneededEdges,
        view.names(&nodes),
        view.length - length,
        finding,
        listed(changes.collect()) + all,
    )
}

fn width(view: &View<'_>) -> Option<Hint> {
    let is_node = |node: &usize| view.plan.nodes[*node].body == 0 && view.plan.nodes[*node].kind != NodeKind::Join;
    let outermost: Vec<usize> = (0..view.plan.nodes.len()).filter(is_node).collect();
    let mut levels: Vec<Vec<usize>> = vec![Vec::new(); view.plan.levels()];
    for &node in &outermost {
        levels[view.plan.nodes[node].level].push(node);
    }
    let widest = levels.into_iter().rev().max_by_key(Vec::len)?;
    if widest.len() <= WIDE || widest.iter().any(|&node| view.times[node] > SMALL) {
        return None;
    }
    let [now, narrow] = [widest.len(), WIDE_ENOUGH].map(|width| prices::launch(outermost.len(), width));
    let [gpu_now, gpu_narrow] = [widest.len(), WIDE_ENOUGH].map(|width| prices::run(outermost.len(), width));
    let finding = format!(
        "{} small nodes side by side: a launch takes the CPU about {now:.1} us, and {narrow:.1} us if they are {WIDE_ENOUGH} \
         side by side, which costs the GPU {:.1} us, as it starts about 5 small kernels a microsecond in any order",
        widest.len(),
        gpu_narrow - gpu_now
    );
    let (first, other) = (view.name(widest[0]), view.name(widest[WIDE_ENOUGH]));
    let help = format!(
        "order them in {WIDE_ENOUGH} chains, one after the other: `{other}` after the last node of the chain of `{first}`; or \
         do the work of several in one kernel"
    );
    let saves = now + gpu_now - narrow - gpu_narrow;
    hint(Topic::Width, view.names(&widest), saves, finding, help)
}

fn programmatic_edges(view: &View<'_>) -> Option<Hint> {
    let data = view.data;
    if data
        .device
        .backend
        .capability()
        .is_some_and(|capability| capability < PROGRAMMATIC_FROM)
    {
        return None;
    }
    let outcome = graph_plan::check_errors(&data.draft);
    let proofs = EdgeProofs::new(&data.draft, &data.program, &outcome.order);
    let is_proved = |from: usize, to: usize| {
        let proof = proofs.edge(from, to);
        proof.is_some_and(|proof| proof.mistake.is_none() && proof.upstream.is_some_and(KernelFacts::triggers))
    };
    let nodes = view.plan.nodes.iter().enumerate();
    let edges: Vec<(usize, usize)> = nodes
        .flat_map(|(to, node)| {
            let plain = node.after.iter().filter(|from| !node.programmatic.contains(from));
            plain.map(move |&from| (from, to))
        })
        .filter(|&(from, to)| is_proved(from, to))
        .collect();
    let on_path = view
        .path
        .windows(2)
        .filter(|pair| edges.contains(&(pair[0], pair[1])))
        .count();
    let changes = edges.iter().map(|&(from, to)| {
        let (from, node) = (view.name(from), view.name(to));
        format!("write `after programmatic({from})` in `{node}`")
    });
    let later: Vec<usize> = edges.iter().map(|&(_, to)| to).collect();
    let finding = format!(
        "{} could be programmatic, {on_path} of them on the longest path: the later kernel waits in its own code before it \
         touches what nodes write",
        counted(edges.len(), "an edge", "edges")
    );
    hint(
        Topic::ProgrammaticEdges,
        view.names(&later),
        prices::PROGRAMMATIC * on_path as f64,
        finding,
        listed(changes.collect()),
    )
}

fn few_blocks(view: &View<'_>) -> Option<Hint> {
    let lost = |&node: &usize| {
        let config = &view.plan.nodes[node].launch.as_ref()?.config;
        let filled = view.filled(config);
        let is_slow = match view.measured {
            true => view.times[node] > SLOW,
            false => view.bytes(node) >= MUCH,
        };
        if filled > 0.5 || !is_slow {
            return None;
        }
        let at_full_speed = view.at_full_speed(view.bytes(node));
        let lost = match view.measured {
            true => (view.times[node] - prices::KERNEL) * (1.0 - filled),
            false => at_full_speed / filled - at_full_speed,
        };
        Some((node, config.blocks(), lost))
    };
    let few: Vec<(usize, u128, f64)> = view.path.iter().filter_map(lost).collect();
    let worst = few.iter().max_by(|(_, _, one), (_, _, other)| one.total_cmp(other))?;
    let nodes: Vec<usize> = few.iter().map(|(node, _, _)| *node).collect();
    let finding = format!(
        "{} too few blocks for {} processors: `{}` has {}, {}",
        counted(few.len(), "a kernel has", "kernels have"),
        view.processors,
        view.name(worst.0),
        worst.1,
        match view.measured {
            true => format!("and takes {:.1} us", view.times[worst.0]),
            false => format!("and is given {:.1} MB", view.bytes(worst.0) / 1e6),
        }
    );
    let assumed = if view.measured {
        ""
    } else {
        "if it touches all of this memory, "
    };
    let help = format!(
        "{assumed}launch at least {} blocks, each with less to do, or let other nodes run at the same time",
        view.processors
    );
    let saves = few.iter().map(|(_, _, lost)| lost).sum();
    hint(Topic::FewBlocks, view.names(&nodes), saves, finding, help)
}

fn grid_and_block(view: &View<'_>) -> Option<Hint> {
    let threads = |config: &LaunchConfig| config.block.iter().map(|&side| u64::from(side)).product::<u64>();
    let exchanged = |&node: &usize| {
        let config = &view.plan.nodes[node].launch.as_ref()?.config;
        let (blocks, threads) = (config.blocks(), threads(config));
        let looks_so = threads <= WARP / 2 && (u128::from(WARP)..=1024).contains(&blocks);
        looks_so.then(|| (node, config, 1.0 - threads as f64 / WARP as f64))
    };
    let all = 0..view.plan.nodes.len();
    let found: Vec<(usize, &LaunchConfig, f64)> = all.collect::<Vec<_>>().iter().filter_map(exchanged).collect();
    let (first, config, _) = found.first()?;
    let nodes: Vec<usize> = found.iter().map(|(node, _, _)| *node).collect();
    let idle = found.iter().map(|(node, _, idle)| view.times[*node] * idle);
    let launch = |one: [u32; 3], other: [u32; 3]| format!("<<<{}, {}>>>", sides(one), sides(other));
    let finding = format!(
        "{} fewer than {WARP} threads in a block, so that most lanes of its warps are idle: `{}` is launched as `{}`",
        counted(found.len(), "a kernel has", "kernels have"),
        view.name(*first),
        launch(config.grid, config.block)
    );
    let help = format!(
        "if grid and block are exchanged, write `{}`; else use blocks of a multiple of {WARP} threads",
        launch(config.block, config.grid)
    );
    hint(Topic::GridAndBlock, view.names(&nodes), idle.sum(), finding, help)
}

/// Launch dimensions as an author writes them.
fn sides([x, y, z]: [u32; 3]) -> String {
    match (y, z) {
        (1, 1) => x.to_string(),
        (_, 1) => format!("({x}, {y})"),
        _ => format!("({x}, {y}, {z})"),
    }
}

fn small_copies(view: &View<'_>) -> Option<Hint> {
    let is_small = |&&node: &&usize| {
        view.is_upload(node) && !view.is_upload_by_kernel(node) && view.bytes(node) / 2.0 <= SMALL_COPY
    };
    let nodes: Vec<usize> = view.path.iter().filter(is_small).copied().collect();
    let saves = nodes
        .iter()
        .map(|&node| view.times[node] - prices::upload(view.bytes(node) / 2.0));
    let finding = format!(
        "{} a few KiB from the host before kernels can start",
        counted(nodes.len(), "a copy brings", "copies bring")
    );
    let by_kernels = nodes.iter().all(|&node| view.may_be_kernel(node));
    let help = if by_kernels {
        "leave out `with_uploads(Uploads::Copies)`: such copies are kernels then; or pass numbers that change between launches \
         as `param`s of kernels"
    } else {
        "pass numbers that change between launches as `param`s of kernels, or declare the memory as `mapped` and let a \
         kernel copy it, which loads each element by `volatile`: `to[i] = *(volatile float *)&from[i]`"
    };
    hint(
        Topic::SmallCopies,
        view.names(&nodes),
        saves.sum(),
        finding,
        help.to_owned(),
    )
}

fn conditional_nodes(view: &View<'_>) -> Option<Hint> {
    if view.data.device.bodies != Bodies::Nodes {
        return None;
    }
    let gain = |&node: &usize| {
        let Op::Structure(Structure::Conditional(conditional)) = &view.data.program.ops[node] else {
            return None;
        };
        let members = || conditional.bodies.iter().flat_map(|&body| view.plan.members(body));
        let is_small = |member: usize| match &view.data.program.ops[member] {
            Op::Work(Work::Kernel(kernel)) => view.data.program.is_ptx(kernel.function),
            Op::Work(Work::Memset(_) | Work::Join) => true,
            Op::Work(Work::Memcpy(_)) => !view.is_between_host_and_device(member),
            Op::External(_) | Op::Structure(_) => false,
        };
        let (count, blocks) = members().fold((0, 0), |(count, blocks), member| {
            let launch = view.plan.nodes[member].launch.as_ref();
            (count + 1, blocks + launch.map_or(1, |launch| launch.config.blocks()))
        });
        let fits = count <= SMALL_BODY && blocks <= SMALL_BODY_BLOCKS && members().all(is_small);
        let now = view.times[node].max(prices::ITERATION);
        fits.then_some((node, now - (prices::TEST + prices::KERNEL) * count as f64))
    };
    let small: Vec<(usize, f64)> = view
        .path
        .iter()
        .filter_map(gain)
        .filter(|(_, gain)| *gain > 0.0)
        .collect();
    let nodes: Vec<usize> = small.iter().map(|(node, _)| *node).collect();
    let finding = format!(
        "{} more than the few kernels in it",
        counted(nodes.len(), "a conditional node costs", "conditional nodes cost")
    );
    let help = "build on `device.with_bodies(Bodies::Cheapest)`, which runs such bodies as predicated kernels; \
                `body_forms()` then says which";
    let saves = small.iter().map(|(_, gain)| gain).sum();
    hint(
        Topic::ConditionalNodes,
        view.names(&nodes),
        saves,
        finding,
        help.to_owned(),
    )
}

fn scratch(view: &View<'_>) -> Option<Hint> {
    let data = view.data;
    let mut draft = data.draft.clone();
    let mut found = Vec::new();
    for (resource, declared) in data.draft.resources.iter().enumerate() {
        if declared.memory != Memory::Device || data.shared.find(resource).is_some() || !is_passed_on(view, resource) {
            continue;
        }
        draft.resources[resource].memory = Memory::Scratch;
        let outcome = graph_plan::check_errors(&draft);
        if outcome.errors.is_empty() && first_reads(&draft, &outcome, &data.program).is_empty() {
            found.push(resource);
        } else {
            draft.resources[resource].memory = Memory::Device;
        }
    }
    let bytes = |resource: usize| data.layouts[resource].map_or(0, |layout| layout.bytes);
    let outcome = graph_plan::check_errors(&draft);
    let arena = Arena::new(&draft, &data.layouts, &Sharing::of(&draft, &outcome.order), None);
    let now = data.arena.bytes + found.iter().map(|&resource| bytes(resource)).sum::<usize>();
    let saved = now.checked_sub(arena.bytes).filter(|saved| *saved > 0)?;
    let names = found
        .iter()
        .map(|&resource| format!("`{}`", data.draft.resources[resource].name));
    let names: Vec<String> = names.collect();
    let is_user = |node: &usize| {
        let mut accesses = view.plan.nodes[*node].accesses.iter();
        accesses.any(|access| found.contains(&access.resource))
    };
    let nodes: Vec<usize> = (0..view.plan.nodes.len()).filter(is_user).collect();
    Some(Hint {
        topic: Topic::Scratch,
        nodes: view.names(&nodes),
        saves: None,
        finding: format!(
            "each launch writes {} before it reads this memory: as scratch memory, which shares addresses, it takes {saved} \
             bytes less",
            names.join(", ")
        ),
        help: "if nothing but these nodes uses the memory, declare it `scratch` instead of `device`".to_owned(),
    })
}

/// Whether a node writes the memory, and all that comes last only reads it, so that it is no result of the graph.
fn is_passed_on(view: &View<'_>, resource: usize) -> bool {
    let accesses: Vec<_> = view
        .data
        .draft
        .accesses
        .iter()
        .filter(|access| access.resource == resource)
        .collect();
    let is_written = accesses.iter().any(|access| access.mode.writes());
    let is_read = accesses.iter().any(|access| !access.mode.writes());
    let level = |node: usize| view.plan.nodes[node].level;
    let last = accesses.iter().map(|access| level(access.node)).max();
    let mut ends = accesses.iter().filter(|access| Some(level(access.node)) == last);
    is_written && is_read && ends.all(|access| !access.mode.writes())
}
