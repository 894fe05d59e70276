//! Cells in rows: their order, with few crossings of the links between rows, and where each is.

/// Cells in rows, and links between cells of rows that follow each other.
pub(super) struct Rows {
    /// The cells of each row, from the left.
    pub(super) rows: Vec<Vec<usize>>,
    /// The width of each cell.
    pub(super) widths: Vec<f64>,
    /// The free space at the right of each cell.
    pub(super) gaps: Vec<f64>,
    pub(super) links: Vec<Link>,
}

/// A link between two cells.
pub(super) struct Link {
    /// The cell in the upper row, and the link's distance from the middle of that cell.
    pub(super) upper: (usize, f64),
    /// The cell in the row below, and the link's distance from the middle of that cell.
    pub(super) lower: (usize, f64),
    /// The importance of being vertical.
    pub(super) weight: f64,
}

/// The number of times that all rows are ordered by the rows above, or below, them.
const SWEEPS: usize = 16;

impl Rows {
    /// Puts the cells of each row in an order with few crossings: by the mean position of the cells that they are
    /// linked with in the row above, then in the row below, and so on (Sugiyama, Tagawa, Toda 1981).
    pub(super) fn order(&mut self) {
        let (above, below) = self.neighbours();
        let mut best = (self.crossings(), self.rows.clone());
        for sweep in 0..SWEEPS {
            if best.0 == 0 {
                break;
            }
            let down = sweep % 2 == 0;
            let rows: Vec<usize> = match down {
                true => (1..self.rows.len()).collect(),
                false => (0..self.rows.len().saturating_sub(1)).rev().collect(),
            };
            let mut positions = self.positions();
            for row in rows {
                let near = if down { &above } else { &below };
                let mean = |cell: usize| match near[cell].len() {
                    0 => positions[cell],
                    count => {
                        let ends = near[cell].iter().map(|&link| self.other(link, down));
                        ends.map(|other| positions[other]).sum::<f64>() / count as f64
                    }
                };
                let mut cells: Vec<(f64, usize)> = self.rows[row].iter().map(|&cell| (mean(cell), cell)).collect();
                cells.sort_by(|one, other| one.0.total_cmp(&other.0));
                for (position, &(_, cell)) in cells.iter().enumerate() {
                    positions[cell] = position as f64;
                }
                self.rows[row] = cells.into_iter().map(|(_, cell)| cell).collect();
            }
            let crossings = self.crossings();
            if crossings < best.0 {
                best = (crossings, self.rows.clone());
            }
        }
        self.rows = best.1;
    }

    /// The middle of each cell: as near to straight links as the order and the widths of the cells allow.
    pub(super) fn middles(&self) -> Vec<f64> {
        let (above, below) = self.neighbours();
        let mut middles = vec![0.0; self.widths.len()];
        for row in &self.rows {
            let mut left = 0.0;
            for &cell in row {
                middles[cell] = left + self.widths[cell] / 2.0;
                left += self.widths[cell] + self.gaps[cell];
            }
        }
        for sweep in 0..SWEEPS {
            let last = sweep + 2 >= SWEEPS;
            for step in 0..self.rows.len() {
                let down = sweep % 2 == 0;
                let row = if down { step } else { self.rows.len() - 1 - step };
                let wishes = self.rows[row].iter().map(|&cell| {
                    let mut near = Vec::new();
                    if down || last {
                        near.extend(above[cell].iter().map(|&link| (link, true)));
                    }
                    if !down || last {
                        near.extend(below[cell].iter().map(|&link| (link, false)));
                    }
                    let mut wish = (middles[cell] * 0.01, 0.01);
                    for (link, is_above) in near {
                        let Link { upper, lower, weight } = &self.links[link];
                        let (here, there) = if is_above { (lower, upper) } else { (upper, lower) };
                        wish.0 += weight * (middles[there.0] + there.1 - here.1);
                        wish.1 += weight;
                    }
                    (wish.0 / wish.1, wish.1)
                });
                let placed = self.spread(&self.rows[row], &wishes.collect::<Vec<_>>());
                for (&cell, middle) in self.rows[row].iter().zip(placed) {
                    middles[cell] = middle;
                }
            }
        }
        middles
    }

    /// The middles of the cells of a row that are nearest to the wished ones, each with its weight, by the sum of
    /// weighted squares: isotonic regression by pooling adjacent violators.
    fn spread(&self, row: &[usize], wishes: &[(f64, f64)]) -> Vec<f64> {
        let mut offsets = Vec::with_capacity(row.len());
        let mut offset = 0.0;
        for (index, &cell) in row.iter().enumerate() {
            if let Some(&before) = index.checked_sub(1).map(|before| &row[before]) {
                offset += (self.widths[before] + self.widths[cell]) / 2.0 + self.gaps[before];
            }
            offsets.push(offset);
        }
        // The mean, the weight, and the number of cells of each pool.
        let mut pools: Vec<(f64, f64, usize)> = Vec::new();
        for (&(wish, weight), offset) in wishes.iter().zip(&offsets) {
            let mut pool = (wish - offset, weight, 1);
            while let Some(before) = pools.pop_if(|before| before.0 >= pool.0) {
                let sum = before.1 + pool.1;
                pool = ((before.0 * before.1 + pool.0 * pool.1) / sum, sum, before.2 + pool.2);
            }
            pools.push(pool);
        }
        let means = pools
            .into_iter()
            .flat_map(|(mean, _, count)| std::iter::repeat_n(mean, count));
        means.zip(offsets).map(|(mean, offset)| mean + offset).collect()
    }

    /// The links from each cell to the row above, and those to the row below.
    fn neighbours(&self) -> (Vec<Vec<usize>>, Vec<Vec<usize>>) {
        let mut above = vec![Vec::new(); self.widths.len()];
        let mut below = vec![Vec::new(); self.widths.len()];
        for (index, link) in self.links.iter().enumerate() {
            above[link.lower.0].push(index);
            below[link.upper.0].push(index);
        }
        (above, below)
    }

    /// The cell at the upper end of a link, or that at the lower one.
    fn other(&self, link: usize, upper: bool) -> usize {
        if upper {
            self.links[link].upper.0
        } else {
            self.links[link].lower.0
        }
    }

    /// The position of each cell in its row.
    pub(super) fn positions(&self) -> Vec<f64> {
        let mut positions = vec![0.0; self.widths.len()];
        for row in &self.rows {
            for (position, &cell) in row.iter().enumerate() {
                positions[cell] = position as f64;
            }
        }
        positions
    }

    /// The number of pairs of links that cross.
    fn crossings(&self) -> usize {
        let (_, below) = self.neighbours();
        let positions = self.positions();
        let mut crossings = 0;
        for (index, row) in self.rows.iter().enumerate() {
            let Some(next) = self.rows.get(index + 1) else { continue };
            // A Fenwick tree counts the ends so far at each position of the next row.
            let mut tree = vec![0_usize; next.len() + 1];
            let mut count = 0;
            for &cell in row {
                let mut ends: Vec<usize> = below[cell]
                    .iter()
                    .map(|&link| positions[self.links[link].lower.0] as usize + 1)
                    .collect();
                ends.sort_unstable();
                for &end in &ends {
                    let mut at = end;
                    let mut not_right = 0;
                    while at > 0 {
                        not_right += tree[at];
                        at -= at & at.wrapping_neg();
                    }
                    crossings += count - not_right;
                }
                for end in ends {
                    let mut at = end;
                    while at < tree.len() {
                        tree[at] += 1;
                        at += at & at.wrapping_neg();
                    }
                    count += 1;
                }
            }
        }
        crossings
    }
}
