//! The best displacement of every cell of a grid, where neighboring cells should be displaced alike.
//!
//! A label is a displacement of a cell. The largest Σ_c scores\[c\]\[l_c\] − smooth Σ ‖d(l_c) − d(l_c')‖² over the
//! neighbors c, c' side by side or one above the other is found exactly by dynamic programming where the labels of the
//! shorter side of the grid have few combinations, such as on 2 × 2 and 3 × 3 cells that move by 1. For larger grids
//! the problem has no known solution in polynomial time. There one row or column at a time is assigned its best labels,
//! with the others fixed, until none of them gains: a local maximum that is never below that of any displacement common
//! to all cells, no displacement among them. Nothing is random.

/// Combinations of labels of the shorter side up to which the maximum is exact.
const MAX_EXACT_LABELINGS: usize = 1000;

/// A displacement of a cell on the bases' and on the samples' side: \[down, across, down, across\].
pub(super) type Label = [i64; 4];

/// Fields of labels on grids of one shape.
pub(super) struct Fields {
    sides: [usize; 2],
    n_labels: usize,
    /// smooth · ‖d(k) − d(l)‖², labels × labels.
    costs: Vec<f64>,
}

impl Fields {
    pub fn new(sides: [usize; 2], labels: &[Label], smooth: f64) -> Self {
        let squared = |k: &Label, l: &Label| k.iter().zip(l).map(|(k, l)| (k - l).pow(2)).sum::<i64>();
        let pairs = labels.iter().flat_map(|k| labels.iter().map(move |l| smooth * squared(k, l) as f64));
        Fields { sides, n_labels: labels.len(), costs: pairs.collect() }
    }

    /// Whether the maximum of grids of this shape is exact.
    pub fn is_exact(sides: [usize; 2], n_labels: usize) -> bool {
        let shorter = sides[0].min(sides[1]);
        shorter == 1 || n_labels.checked_pow(shorter as u32).is_some_and(|states| states <= MAX_EXACT_LABELINGS)
    }

    /// The operations of a maximum, roughly.
    pub fn flops(sides: [usize; 2], n_labels: usize) -> f64 {
        let (cells, labels) = ((sides[0] * sides[1]) as f64, n_labels as f64);
        let shorter = sides[0].min(sides[1]);
        match Self::is_exact(sides, n_labels) {
            true => 2.0 * cells * labels.powi(shorter as i32 + 1),
            // Rows and columns, from two starts, some three times.
            false => 2.0 * cells * labels.powi(2) * 12.0,
        }
    }

    /// The value of the best field for scores \[cell\]\[label\], cells row by row.
    pub fn best(&self, scores: &[f64]) -> f64 {
        match Self::is_exact(self.sides, self.n_labels) {
            true if self.sides.contains(&1) => self.best_line(scores.chunks(self.n_labels), |_, _| 0.0).0,
            true => self.exact(scores),
            false => self.local(scores),
        }
    }

    fn cost(&self, k: usize, l: usize) -> f64 {
        self.costs[k * self.n_labels + l]
    }

    /// Cell by cell along the longer side: a state is the labels of the last cells, as many as the shorter side has,
    /// the oldest the highest digit. n_labels^(shorter + 1) sums and maxima a cell.
    pub fn exact(&self, scores: &[f64]) -> f64 {
        let [rows, cols] = self.sides;
        let n = self.n_labels;
        let width = rows.min(cols);
        let cell = |at: usize| if cols <= rows { at } else { (at % width) * cols + at / width };
        let mut states = vec![0.0];
        for at in 0..rows * cols {
            let scores = &scores[cell(at) * n..][..n];
            let n_stored = if at < width { states.len() } else { states.len() / n };
            let mut next = vec![f64::NEG_INFINITY; n_stored * n];
            for (state, next) in next.chunks_mut(n).enumerate() {
                for (label, next) in next.iter_mut().enumerate() {
                    // The cell before it in its line, unless it is the first of its line.
                    let in_line = if at % width == 0 { 0.0 } else { self.cost(state % n, label) };
                    let before = match at < width {
                        true => states[state],
                        // The neighbor in the line before is the oldest label, and is left behind.
                        false => (0..n)
                            .map(|oldest| states[oldest * n_stored + state] - self.cost(oldest, label))
                            .fold(f64::NEG_INFINITY, f64::max),
                    };
                    *next = before - in_line + scores[label];
                }
            }
            states = next;
        }
        states.into_iter().fold(f64::NEG_INFINITY, f64::max)
    }

    /// The best labels of a line of cells, each with its scores less `outside(cell, label)`: the value, and the labels.
    /// 2 n_labels² operations a cell.
    fn best_line<'a>(
        &self,
        scores: impl Iterator<Item = &'a [f64]>,
        outside: impl Fn(usize, usize) -> f64,
    ) -> (f64, Vec<usize>) {
        let n = self.n_labels;
        let mut values = vec![0.0; n];
        let mut from: Vec<usize> = Vec::new();
        for (at, scores) in scores.enumerate() {
            let next = (0..n).map(|label| {
                let before = |k: usize| if at == 0 { 0.0 } else { values[k] - self.cost(k, label) };
                let best = argmax((0..if at == 0 { 1 } else { n }).map(before));
                from.push(best);
                before(best) + scores[label] - outside(at, label)
            });
            values = next.collect();
        }
        let mut label = argmax(values.iter().copied());
        let value = values[label];
        let mut labels = Vec::with_capacity(from.len() / n);
        for from in from.chunks(n).rev() {
            labels.push(label);
            label = from[label];
        }
        labels.reverse();
        (value, labels)
    }

    fn value(&self, scores: &[f64], labels: &[usize]) -> f64 {
        let [_, cols] = self.sides;
        let of_cell = |(at, &label): (usize, &usize)| {
            let left = if at % cols > 0 { self.cost(labels[at - 1], label) } else { 0.0 };
            let above = if at >= cols { self.cost(labels[at - cols], label) } else { 0.0 };
            scores[at * self.n_labels + label] - left - above
        };
        labels.iter().enumerate().map(of_cell).sum()
    }

    pub fn local(&self, scores: &[f64]) -> f64 {
        let n = self.n_labels;
        let cells = scores.len() / n;
        let common = argmax((0..n).map(|label| (0..cells).map(|at| scores[at * n + label]).sum()));
        let alone = scores.chunks(n).map(|scores| argmax(scores.iter().copied())).collect();
        let climbed = [vec![common; cells], alone].map(|labels| self.climbed(scores, labels));
        climbed[0].max(climbed[1])
    }

    /// The value that no row and no column improves any more.
    fn climbed(&self, scores: &[f64], mut labels: Vec<usize>) -> f64 {
        let ([rows, cols], n) = (self.sides, self.n_labels);
        let lines: Vec<Vec<usize>> = (0..rows)
            .map(|row| (0..cols).map(|col| row * cols + col).collect())
            .chain((0..cols).map(|col| (0..rows).map(|row| row * cols + col).collect()))
            .collect();
        let mut value = self.value(scores, &labels);
        loop {
            let before = value;
            for (at, line) in lines.iter().enumerate() {
                let (step, side) = if at < rows { (cols, rows) } else { (1, cols) };
                let outside = |place: usize, label: usize| {
                    let cell = line[place];
                    let across = cell / step % side;
                    let low = if across > 0 { self.cost(labels[cell - step], label) } else { 0.0 };
                    let high = if across + 1 < side { self.cost(labels[cell + step], label) } else { 0.0 };
                    low + high
                };
                let (_, found) = self.best_line(line.iter().map(|&cell| &scores[cell * n..][..n]), outside);
                let mut tried = labels.clone();
                line.iter().zip(found).for_each(|(&cell, label)| tried[cell] = label);
                let reached = self.value(scores, &tried);
                if reached > value {
                    (value, labels) = (reached, tried);
                }
            }
            if value <= before {
                return value;
            }
        }
    }
}

/// The first index of the largest value.
fn argmax(values: impl Iterator<Item = f64>) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for (at, value) in values.enumerate() {
        if value > best.1 {
            best = (at, value);
        }
    }
    best.0
}
