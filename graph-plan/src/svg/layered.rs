//! A layered layout: items in rows, so that lines lead down, with room of their own for long lines and for labels.

use super::rows::{Link, Rows};

/// Width and height.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Size {
    pub(super) width: f64,
    pub(super) height: f64,
}

/// The subject of a layout.
#[derive(Default)]
pub(super) struct Chart {
    pub(super) items: Vec<Item>,
    pub(super) lines: Vec<Line>,
}

/// An item of a [`Chart`].
pub(super) struct Item {
    pub(super) size: Size,
    pub(super) place: Place,
}

/// The row of an item.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Free,
    /// The first row, above all others.
    Top,
    /// The last row, below all others.
    Bottom,
}

/// A line from an item to another one.
pub(super) struct Line {
    pub(super) from: End,
    pub(super) to: End,
    pub(super) label: Size,
}

/// An end of a [`Line`]: an item, and the distance from that item's left side, if it matters.
#[derive(Clone, Copy)]
pub(super) struct End {
    pub(super) item: usize,
    pub(super) port: Option<f64>,
}

/// The places of all.
pub(super) struct Layout {
    pub(super) size: Size,
    /// The left and upper side of each item.
    pub(super) items: Vec<(f64, f64)>,
    pub(super) routes: Vec<Route>,
}

/// The course of a line.
pub(super) struct Route {
    /// The rows that it passes through, from the top.
    pub(super) stops: Vec<Stop>,
    /// The middle of the label.
    pub(super) label: (f64, f64),
    /// Whether it begins at its lower end, since the lines make a circle.
    pub(super) is_upward: bool,
}

/// The vertical piece of a line in one row.
pub(super) struct Stop {
    pub(super) x: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

/// The least and the greatest free space between rows: more, where lines lead far to the side.
const GAPS: (f64, f64) = (14.0, 56.0);

/// The cells of a line, from the top. Lines go through odd rows, items are in even ones.
struct Cells {
    upper: usize,
    lower: usize,
    between: Vec<usize>,
    is_upward: bool,
}

impl Chart {
    /// Lays the items and lines out.
    pub(super) fn layout(&self) -> Layout {
        let (order, levels) = self.levels();
        let height = levels.iter().max().map_or(0, |&last| 2 * last + 1);
        let mut rows = Rows {
            rows: vec![Vec::new(); height],
            widths: self.items.iter().map(|item| item.size.width).collect(),
            gaps: vec![24.0; self.items.len()],
            links: Vec::new(),
        };
        for &item in &order {
            rows.rows[2 * levels[item]].push(item);
        }
        let cells: Vec<Cells> = self.lines.iter().map(|line| line.cells(&levels, &mut rows)).collect();
        for cells in &cells {
            let mut upper = (cells.upper, 0.0);
            for &cell in cells.between.iter().chain([&cells.lower]) {
                let inner = |cell: usize| cell >= self.items.len();
                let weight = match (inner(upper.0), inner(cell)) {
                    (true, true) => 8.0,
                    (false, false) => 1.0,
                    _ => 2.0,
                };
                rows.links.push(Link {
                    upper,
                    lower: (cell, 0.0),
                    weight,
                });
                upper = (cell, 0.0);
            }
        }
        rows.order();
        self.attach(&mut rows, &cells);
        let middles = rows.middles();
        self.placed(&rows, &cells, &middles)
    }

    /// An order in which lines lead forward, but for those of circles, and the level of each item.
    fn levels(&self) -> (Vec<usize>, Vec<usize>) {
        let mut after = vec![Vec::new(); self.items.len()];
        let mut waiting = vec![0; self.items.len()];
        for line in &self.lines {
            after[line.from.item].push(line.to.item);
            waiting[line.to.item] += 1;
        }
        let mut order = Vec::with_capacity(self.items.len());
        let mut is_placed = vec![false; self.items.len()];
        while order.len() < self.items.len() {
            let start = order.len();
            let ready = |item: &usize| !is_placed[*item] && waiting[*item] == 0;
            let mut found: Vec<usize> = (0..self.items.len()).filter(ready).collect();
            if found.is_empty() {
                found.extend((0..self.items.len()).find(|&item| !is_placed[item]));
            }
            found.iter().for_each(|&item| is_placed[item] = true);
            order.extend(found);
            let mut next = start;
            while let Some(&item) = order.get(next) {
                next += 1;
                for &to in &after[item] {
                    waiting[to] -= 1;
                    if waiting[to] == 0 && !is_placed[to] {
                        is_placed[to] = true;
                        order.push(to);
                    }
                }
            }
        }
        let mut positions = vec![0; self.items.len()];
        for (position, &item) in order.iter().enumerate() {
            positions[item] = position;
        }
        // Lines of circles that lead back count as lines in the other direction.
        let mut below = vec![Vec::new(); self.items.len()];
        let mut is_entered = vec![false; self.items.len()];
        for line in &self.lines {
            let (one, other) = (line.from.item, line.to.item);
            let (upper, lower) = if positions[one] < positions[other] {
                (one, other)
            } else {
                (other, one)
            };
            below[upper].push(lower);
            is_entered[lower] = true;
        }
        let first = usize::from(self.items.iter().any(|item| item.place == Place::Top));
        let level = |item: &Item| if item.place == Place::Top { 0 } else { first };
        let mut levels: Vec<usize> = self.items.iter().map(level).collect();
        for &item in &order {
            for &lower in &below[item] {
                levels[lower] = levels[lower].max(levels[item] + 1);
            }
        }
        // An item that no line leads to is right above the first item that it leads to.
        for item in (0..self.items.len()).filter(|&item| !is_entered[item]) {
            let next = below[item].iter().map(|&lower| levels[lower]).min();
            if let (Some(next), Place::Free) = (next, self.items[item].place) {
                levels[item] = next - 1;
            }
        }
        let others = self
            .items
            .iter()
            .zip(&levels)
            .filter(|(item, _)| item.place != Place::Bottom);
        let last = others.map(|(_, level)| level + 1).max().unwrap_or(0);
        for (item, level) in self.items.iter().zip(&mut levels) {
            if item.place == Place::Bottom {
                *level = last;
            }
        }
        (order, levels)
    }

    /// Says where on their items lines end: where the line says it, else side by side in the order of the rows.
    fn attach(&self, rows: &mut Rows, cells: &[Cells]) {
        let positions = rows.positions();
        // The lines at the lower side of each item, and at its upper side: the position of the next cell, the index of
        // the link, the port.
        let mut sides = vec![[Vec::new(), Vec::new()]; self.items.len()];
        let mut link = 0;
        for (line, cells) in self.lines.iter().zip(cells) {
            let (upper, lower) = line.ends(cells.is_upward);
            let last = link + cells.between.len();
            let next = cells.between.first().unwrap_or(&cells.lower);
            let before = cells.between.last().unwrap_or(&cells.upper);
            sides[upper.item][0].push((positions[*next], link, upper.port));
            sides[lower.item][1].push((positions[*before], last, lower.port));
            link = last + 1;
        }
        for (item, sides) in sides.iter_mut().enumerate() {
            let width = self.items[item].size.width;
            for (side, lines) in sides.iter_mut().enumerate() {
                lines.sort_by(|one, other| one.0.total_cmp(&other.0));
                let step = (width * 0.8 / lines.len().max(1) as f64).min(16.0);
                for (index, &(_, link, port)) in lines.iter().enumerate() {
                    let middle = (index as f64 - (lines.len() as f64 - 1.0) / 2.0) * step;
                    let at = port.map_or(middle, |port| port - width / 2.0);
                    let link = &mut rows.links[link];
                    let end = if side == 0 { &mut link.upper } else { &mut link.lower };
                    end.1 = at;
                }
            }
        }
    }

    /// The places, given the middles of the cells.
    fn placed(&self, rows: &Rows, cells: &[Cells], middles: &[f64]) -> Layout {
        let mut heights = vec![0.0_f64; rows.rows.len()];
        let mut row_of = vec![0; middles.len()];
        for (row, members) in rows.rows.iter().enumerate() {
            for &cell in members {
                row_of[cell] = row;
                if let Some(item) = self.items.get(cell) {
                    heights[row] = heights[row].max(item.size.height);
                }
            }
        }
        for (line, cells) in self.lines.iter().zip(cells) {
            if let Some(&first) = cells.between.first() {
                heights[row_of[first]] = heights[row_of[first]].max(line.label.height);
            }
        }
        let mut gaps = vec![GAPS.0; rows.rows.len()];
        for link in &rows.links {
            let aside = (middles[link.upper.0] + link.upper.1 - middles[link.lower.0] - link.lower.1).abs();
            let gap = &mut gaps[row_of[link.upper.0]];
            *gap = gap.max((aside / 8.0).min(GAPS.1));
        }
        let mut tops = Vec::with_capacity(heights.len());
        let mut top = 0.0;
        for (height, gap) in heights.iter().zip(&gaps) {
            tops.push(top);
            top += height + gap;
        }
        let sides = |cell: usize| {
            (
                middles[cell] - rows.widths[cell] / 2.0,
                middles[cell] + rows.widths[cell] / 2.0,
            )
        };
        let left = (0..middles.len())
            .map(|cell| sides(cell).0)
            .fold(f64::INFINITY, f64::min);
        let right = (0..middles.len())
            .map(|cell| sides(cell).1)
            .fold(f64::NEG_INFINITY, f64::max);
        let upper_side = |item: usize| {
            let row = row_of[item];
            let free = heights[row] - self.items[item].size.height;
            tops[row]
                + match self.items[item].place {
                    Place::Free => free / 2.0,
                    Place::Top => 0.0,
                    Place::Bottom => free,
                }
        };
        let items = (0..self.items.len()).map(|item| (sides(item).0 - left, upper_side(item)));
        let items: Vec<(f64, f64)> = items.collect();
        let mut links = rows.links.iter();
        let routes = cells.iter().map(|cells| {
            let mut stops = Vec::with_capacity(cells.between.len() + 2);
            let upper = row_of[cells.upper];
            let mut enter = None;
            for &cell in &cells.between {
                let link = links.next().expect("a line has a link to each of its cells");
                enter.get_or_insert(middles[link.upper.0] + link.upper.1 - left);
                let (x, row) = (middles[cell] - left, row_of[cell]);
                stops.push(Stop {
                    x,
                    top: tops[row],
                    bottom: tops[row] + heights[row],
                });
            }
            let link = links.next().expect("a line has a link to its last item");
            let start = enter.unwrap_or(middles[link.upper.0] + link.upper.1 - left);
            let bottom = items[cells.upper].1 + self.items[cells.upper].size.height;
            stops.insert(
                0,
                Stop {
                    x: start,
                    top: bottom,
                    bottom: tops[upper] + heights[upper],
                },
            );
            let lower = row_of[cells.lower];
            let end = middles[link.lower.0] + link.lower.1 - left;
            stops.push(Stop {
                x: end,
                top: tops[lower],
                bottom: items[cells.lower].1,
            });
            let middle = cells.between.first().map_or((0.0, 0.0), |&cell| {
                (middles[cell] - left, tops[row_of[cell]] + heights[row_of[cell]] / 2.0)
            });
            Route {
                stops,
                label: middle,
                is_upward: cells.is_upward,
            }
        });
        let routes = routes.collect();
        let last = tops.last().zip(heights.last());
        Layout {
            size: Size {
                width: (right - left).max(0.0),
                height: last.map_or(0.0, |(top, height)| top + height),
            },
            items,
            routes,
        }
    }
}

impl Line {
    /// The upper end and the lower one.
    fn ends(&self, is_upward: bool) -> (End, End) {
        if is_upward {
            (self.to, self.from)
        } else {
            (self.from, self.to)
        }
    }

    /// Puts a cell for the line into each row between its items; the first has the width of the label.
    fn cells(&self, levels: &[usize], rows: &mut Rows) -> Cells {
        let is_upward = levels[self.from.item] > levels[self.to.item];
        let (upper, lower) = self.ends(is_upward);
        let between = 2 * levels[upper.item] + 1..2 * levels[lower.item];
        let between = between.enumerate().map(|(index, row)| {
            let cell = rows.widths.len();
            rows.widths.push(if index == 0 { self.label.width } else { 0.0 });
            rows.gaps.push(12.0);
            rows.rows[row].push(cell);
            cell
        });
        Cells {
            between: between.collect(),
            upper: upper.item,
            lower: lower.item,
            is_upward,
        }
    }
}
