//! Tokens as trees, and changes to them.

use super::corpus::Call;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// A token or a group of tokens.
#[derive(Clone)]
pub(super) enum Tree {
    Token(TokenTree),
    Group(Delimiter, Vec<Tree>),
}

/// The most groups around each other that a mutation adds.
const MAX_DEPTH: usize = 40;

/// Words and numbers that may stand where an author has others.
const ODD: [&str; 58] = [
    "<",
    ">",
    "<<<",
    ">>>",
    "<<<1, 1>>>",
    "..",
    "..=",
    "->",
    "<-",
    "|",
    "||",
    "#",
    "#!",
    "!",
    "?",
    ",",
    ";",
    ":",
    "::",
    "=",
    "&",
    "&mut",
    "&&",
    "*",
    "-",
    "$",
    "'a",
    "self",
    "crate",
    "super",
    "r#fn",
    "_",
    "unsafe",
    "move",
    "mut",
    "after",
    "for i in 0..4",
    "each i in 0..n",
    "if",
    "else",
    "while",
    "switch",
    "param",
    "scratch",
    "shared",
    "const",
    "pub",
    "pub(in a::b)",
    "0",
    "18446744073709551616",
    "340282366920938463463374607431768211456",
    "1e999",
    "0x_",
    "\"\"",
    "b'\\xff'",
    "1u8",
    "-1",
    "\"/\"",
];

/// The trees of a stream.
pub(super) fn trees(stream: TokenStream) -> Vec<Tree> {
    let tree = |token| match token {
        TokenTree::Group(group) => Tree::Group(group.delimiter(), trees(group.stream())),
        token => Tree::Token(token),
    };
    stream.into_iter().map(tree).collect()
}

/// The stream of trees.
pub(super) fn tokens(trees: &[Tree]) -> TokenStream {
    let token = |tree: &Tree| match tree {
        Tree::Token(token) => token.clone(),
        Tree::Group(delimiter, inside) => Group::new(*delimiter, tokens(inside)).into(),
    };
    trees.iter().map(token).collect()
}

/// Numbers that are random enough for tests: the same seed gives the same numbers.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// A number less than `end`; zero if `end` is.
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % end.max(1)
    }
}

/// Changes a call in one to four places, with parts of another.
pub(super) fn mutate(call: &mut Call, donor: &Call, random: &mut Random) {
    for _ in 0..1 + random.below(4) {
        let parts = some_list(&mut donor.clone(), random).clone();
        change(some_list(call, random), &parts, random);
    }
}

/// One of the lists of a call: that of the whole input, or of a group in it.
fn some_list<'a>(call: &'a mut Call, random: &mut Random) -> &'a mut Vec<Tree> {
    let mut lists = call.lists();
    let chosen = random.below(2 * lists.len()).min(lists.len() - 1);
    let list = lists.swap_remove(chosen);
    let mut number = random.below(1 + groups(list));
    nth(list, &mut number)
}

/// The number of groups in a list, and in groups of it.
fn groups(list: &[Tree]) -> usize {
    let inside = |tree: &Tree| match tree {
        Tree::Token(_) => 0,
        Tree::Group(_, inside) => 1 + groups(inside),
    };
    list.iter().map(inside).sum()
}

/// The list itself if `number` is 0, else the list of a group, in the order of the text.
fn nth<'a>(list: &'a mut Vec<Tree>, number: &mut usize) -> &'a mut Vec<Tree> {
    if *number == 0 {
        return list;
    }
    let mut chosen = None;
    for (index, tree) in list.iter().enumerate() {
        if let Tree::Group(_, inside) = tree {
            let count = 1 + groups(inside);
            if *number <= count {
                *number -= 1;
                chosen = Some(index);
                break;
            }
            *number -= count;
        }
    }
    match chosen.map(|index| &mut list[index]) {
        Some(Tree::Group(_, inside)) => nth(inside, number),
        _ => unreachable!("the number is at most that of the groups"),
    }
}

/// Changes one place of a list.
fn change(list: &mut Vec<Tree>, donor: &[Tree], random: &mut Random) {
    let part = |random: &mut Random| {
        let start = random.below(donor.len());
        let end = (start + 1 + random.below(6)).min(donor.len());
        donor[start.min(end)..end].to_vec()
    };
    let at = random.below(list.len() + 1);
    let end = (at + 1 + random.below(4)).min(list.len());
    let range = at..end.max(at);
    match random.below(12) {
        0 | 1 => drop(list.drain(range)),
        2 => {
            let again = list[range].to_vec();
            list.splice(at..at, again);
        }
        3 if !list.is_empty() => {
            let (first, second) = (random.below(list.len()), random.below(list.len()));
            list.swap(first, second);
        }
        4 => drop(list.splice(range, part(random))),
        5 => drop(list.splice(at..at, part(random))),
        6 => drop(list.splice(range, odd(random))),
        7 => drop(list.splice(at..at, odd(random))),
        8 => {
            let inside = list.drain(range).collect();
            let depth = if random.below(8) == 0 {
                random.below(MAX_DEPTH)
            } else {
                0
            };
            let delimiter = delimiter(random);
            let group = (0..depth).fold(Tree::Group(delimiter, inside), |tree, _| {
                Tree::Group(delimiter, vec![tree])
            });
            list.insert(at, group);
        }
        9 => {
            if let Some(Tree::Group(kind, _)) = list.get_mut(at) {
                *kind = delimiter(random);
            }
        }
        10 => {
            if let Some(Tree::Group(_, inside)) = list.get(at) {
                let inside = inside.clone();
                list.splice(at..=at, inside);
            }
        }
        _ => list.truncate(at),
    }
}

fn odd(random: &mut Random) -> Vec<Tree> {
    let text = ODD[random.below(ODD.len())];
    trees(text.parse().unwrap_or_default())
}

fn delimiter(random: &mut Random) -> Delimiter {
    let all = [
        Delimiter::Parenthesis,
        Delimiter::Brace,
        Delimiter::Bracket,
        Delimiter::None,
    ];
    all[random.below(all.len())]
}

/// The calls that have one token or group less, and those in which a group is replaced by its content. Large parts are
/// left out first.
pub(super) fn smaller(call: &Call) -> impl Iterator<Item = Call> + '_ {
    let lists = call
        .clone()
        .lists()
        .iter()
        .map(|list| 1 + groups(list))
        .collect::<Vec<_>>();
    let places = lists
        .into_iter()
        .enumerate()
        .flat_map(|(list, count)| (0..count).map(move |group| (list, group)));
    places.flat_map(move |(list, group)| {
        let length = {
            let mut copy = call.clone();
            nth(copy.lists().swap_remove(list), &mut { group }).len()
        };
        let sizes = std::iter::successors(Some(length), |size| Some(size / 2)).take_while(|&size| size > 0);
        let cuts = sizes.flat_map(move |size| (0..=length - size).step_by(size).map(move |start| (start, size)));
        let without = cuts.map(move |(start, size)| {
            let mut copy = call.clone();
            nth(copy.lists().swap_remove(list), &mut { group }).drain(start..start + size);
            copy
        });
        let opened = (0..length).filter_map(move |index| {
            let mut copy = call.clone();
            let list = nth(copy.lists().swap_remove(list), &mut { group });
            let Tree::Group(_, inside) = list.get(index)?.clone() else {
                return None;
            };
            list.splice(index..=index, inside);
            Some(copy)
        });
        without.chain(opened)
    })
}
