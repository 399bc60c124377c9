//! Products of dense rows.

use super::Products;
use super::sums::Sums;
use crate::data::{DenseView, Rows};
use crate::error::Result;
use crate::isa::Isa;
use crate::linalg::factor::{Matrix, add_gram};
use crate::linalg::{self, Columns, Panel};
use crate::monitor::{Monitor, is_late};
use crate::par::Pool;

/// Rows and columns of a tile of the Gram matrix; fixed, so that results do not depend on the number of threads.
const TILE: usize = 512;

/// Bytes of the rows processed by all tiles before the next rows: they should stay in the last-level cache.
const PANEL_BYTES: usize = 16 << 20;

struct Tile {
    row: usize,
    col: usize,
    values: Vec<f32>,
}

impl Products for DenseView<'_, f32> {
    fn n_values(&self) -> usize {
        self.max_nonzeros()
    }

    fn pack(&self, points: &[f64], stride: usize) -> Vec<f32> {
        points.chunks(stride).flat_map(|point| &point[..self.n_cols()]).map(|&w| w as f32).collect()
    }

    fn scores(&self, rows: &[u32], packed: &[f32], out: &mut [f32]) {
        linalg::scores(Isa::best(), Panel::new(self.values(), self.n_cols(), rows), packed, out);
    }

    fn add_combination(&self, rows: &[u32], factors: &[f32], sums: &mut Sums) {
        let panel = Panel::new(self.values(), self.n_cols(), rows);
        linalg::add_combination(Isa::best(), panel, factors, &mut sums.narrow);
        sums.in_narrow += rows.len();
        if sums.in_narrow >= Sums::ROWS {
            sums.flush();
        }
    }

    fn sums(&self, n_problems: usize) -> Sums {
        let n = self.n_cols() * n_problems;
        Sums { n_problems, wide: vec![0.0; n], narrow: vec![0.0; n], in_narrow: 0 }
    }

    fn unpack(&self, mut sums: Sums) -> Vec<f64> {
        sums.flush();
        sums.wide
    }

    fn gram_cost(&self) -> f64 {
        0.5 * (self.n_rows() * self.n_cols()) as f64 * self.n_cols() as f64
    }

    /// n · d² flops (half of a full product), in d²/2T² tiles that each read two strips of T columns: with T = 512 that is
    /// 128 flops per byte.
    fn gram(&self, factors: &[f32], pool: &Pool, monitor: &Monitor<'_>) -> Result<Option<Vec<f32>>> {
        let (n, d) = (self.n_rows(), self.n_cols());
        let width = |tile: usize| TILE.min(d - tile * TILE);
        let mut tiles = Vec::new();
        for row in 0..d.div_ceil(TILE) {
            tiles.extend((0..=row).map(|col| Tile { row, col, values: vec![0.0; width(row) * width(col)] }));
        }
        // Equally weighted rows need no scaled copy.
        let same = factors.first().copied().filter(|first| factors.iter().all(|f| f == first));
        let panel_rows = (PANEL_BYTES / (4 * d.max(1))).max(256);
        let mut scaled = Vec::new();
        for from in (0..n).step_by(panel_rows) {
            let rows = from..n.min(from + panel_rows);
            let panel = match same {
                Some(_) => &self.values()[rows.start * d..rows.end * d],
                None => {
                    scaled.clear();
                    for row in rows.filter(|&row| factors[row] != 0.0) {
                        let root = factors[row].sqrt();
                        scaled.extend(self.row(row).iter().map(|value| root * value));
                    }
                    &scaled
                }
            };
            if panel.is_empty() {
                continue;
            }
            let done = pool.map_mut(&mut tiles, |_, tile| {
                monitor.ask()?;
                let a = Columns::new(panel, d, tile.row * TILE, width(tile.row));
                if tile.row == tile.col {
                    linalg::add_gram(&mut tile.values, a);
                } else {
                    let b = Columns::new(panel, d, tile.col * TILE, width(tile.col));
                    linalg::add_cross_product(&mut tile.values, a, b);
                }
                Ok(())
            });
            if is_late(done.into_iter().collect(), "gram")? {
                return Ok(None);
            }
        }
        let factor = same.unwrap_or(1.0);
        let mut lower = vec![0.0; d * d];
        for tile in tiles {
            for (i, values) in tile.values.chunks(width(tile.col)).enumerate() {
                let at = (tile.row * TILE + i) * d + tile.col * TILE;
                for (to, value) in lower[at..at + values.len()].iter_mut().zip(values) {
                    *to = factor * value;
                }
            }
        }
        Ok(Some(lower))
    }

    /// n²·D flops.
    fn inner_products(&self, roots: &[f64], pool: &Pool) -> Matrix {
        let mut gram = Matrix::zeros(roots.len(), roots.len());
        add_gram(&mut gram, self.values(), roots, pool);
        gram
    }
}
