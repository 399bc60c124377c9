//! Matching with any base similarity, positions on both sides and a regularizer: eq. 7 as it stands, and the jitter
//! kernel.
//!
//! A position is a shift z of a whole grid and, if `local` allows, a displacement u_c of each of its cells:
//! φ_c(x, (z, u)) = φ_{c+z+u_c}(x), zero outside the grid. Its regularizer is
//!
//! R(z, u) = −quadratic (‖z‖² + Σ_c ‖u_c‖²) − smooth Σ ‖u_c − u_c'‖² over the neighbors c, c',
//!
//! and each side adds its own. Where only the sample is displaced, the base is linear and R is none or quadratic, this
//! is rigid or deformable matching, and computed as such.

use std::fmt;
use std::ops::Range;

use crate::data::{AnySamples, Grids, Mapped, Samples, Training};
use crate::error::Result;
use crate::isa::Isa;
use crate::parameters::{Arguments, Parameter, Values};
use crate::similarity::any::kernel::AnyKernel;
use crate::similarity::row::{Definite, Onnx, SimilarityRow, arguments_among, built};
use crate::similarity::{Extension, Similarity};
use crate::spec::Step;

use super::base;

use super::fields::{Fields, Label};
use super::kernels::keep_best;
use super::matching::{CELLS, GridMatching};
use super::plan::{PackedBases, check_shapes, shape};
use super::shifts::{Shift, shifted, shifts};

/// Bases whose products of cells are computed at a time: 4 · 16 · 65² bytes, 270 KB, on 8 × 8 cells.
const TILE_BASES: usize = 16;

const RADIUS: Parameter =
    Parameter::new("radius", CELLS, "The largest shift of y along each axis, in cells.").or("1").written();
const BASIS_RADIUS: Parameter =
    Parameter::new("basis_radius", CELLS, "The largest shift of x, the basis, along each axis, in cells.")
        .or("0")
        .written();

const MATCH: SimilarityRow = SimilarityRow {
    name: "match",
    class: "Match",
    samples: &["grids of cells"],
    parameters: &[
        RADIUS,
        BASIS_RADIUS,
        base::BASE,
        base::GAMMA,
        base::DEGREE,
        base::COEF0,
        base::P,
        Parameter::new("local", CELLS, "The largest additional displacement of each cell of y, in cells.").or("0"),
        Parameter::new("basis_local", CELLS, "The largest additional displacement of each cell of x, in cells.")
            .or("0"),
        Parameter::new(
            "quadratic",
            Values::NOT_NEGATIVE,
            "The factor of the squared length of each shift and displacement, which is subtracted.",
        )
        .or("0"),
        Parameter::new(
            "smooth",
            Values::NOT_NEGATIVE,
            "The factor of the squared difference of the displacements of neighboring cells, which is subtracted; \
             requires `local` or `basis_local`.",
        )
        .or("0"),
    ],
    examples: &[
        "match:base=rbf,basis_radius=1,quadratic=0.01",
        "match",
        "match:base=power-mean,p=-1,basis_radius=1,radius=0",
        "match:radius=0,local=1,smooth=0.1",
        "match:radius=1,local=1,basis_local=1,base=intersection",
        "match:radius=1,base=polynomial,degree=2,gamma=0.1,coef0=0.5",
    ],
    definite: Definite::No,
    onnx: Onnx::NO_VECTORS,
    build: |step| built(LatentMatching::from_step(step)),
};

pub(in crate::similarity) const ROWS: &[SimilarityRow] = &[
    MATCH,
    SimilarityRow {
        name: "jitter",
        class: "Jitter",
        parameters: &[RADIUS, BASIS_RADIUS, base::BASE, base::GAMMA, base::DEGREE, base::COEF0, base::P],
        examples: &["jitter:base=rbf", "jitter", "jitter:radius=1,basis_radius=1,base=sigmoid", "jitter:base=chi2"],
        ..MATCH
    },
];

/// Matching with a base similarity of vectors, `match:radius=1,base=rbf`, or the jitter kernel, `jitter:radius=1`.
///
/// Aghazadeh and Carlsson, eq. 7: the positions of basis and sample that are most similar, each with a regularizer; the
/// jitter kernel, which they contrast with it, takes those whose kernel distance is least. Of two at the same distance
/// it takes the more similar.
///
/// The maximum over all shifts is exact, and so is that over the displacements of cells without `smooth`; with it
/// [`LatentMatching::is_exact`] tells whether it is.
#[doc(hidden)]
pub struct LatentMatching {
    step: Step,
    /// Of the basis, of the sample.
    radius: [usize; 2],
    local: [usize; 2],
    quadratic: f64,
    smooth: f64,
    nearest: bool,
    base: Box<dyn AnyKernel>,
    /// The matching that it is a case of.
    plain: Option<GridMatching>,
}

impl LatentMatching {
    /// The similarity of a step `match` or `jitter`.
    ///
    /// # Errors
    /// [`crate::Error::UnknownName`] for another name, and [`crate::Error::Parameter`], also of the base.
    pub fn from_step(step: &Step) -> Result<Self> {
        let arguments = arguments_among(ROWS, "matching of grids", step)?;
        let radius = [arguments.value("basis_radius")?, arguments.value("radius")?];
        let base = base::from_arguments(&arguments)?;
        let nearest = step.name() == "jitter";
        let (mut local, mut quadratic, mut smooth) = ([0, 0], 0.0, 0.0);
        if !nearest {
            local = [arguments.value("basis_local")?, arguments.value("local")?];
            (quadratic, smooth) = (arguments.value("quadratic")?, arguments.value("smooth")?);
            check_local(&arguments, local, smooth)?;
        }
        let is_plain = !nearest && radius[0] == 0 && local[0] == 0 && smooth == 0.0;
        let plain = match arguments.text("base") == Some("linear") && is_plain {
            true if local[1] == 0 => Some(GridMatching::rigid(radius[1]).penalty(quadratic)?),
            true => Some(GridMatching::deformable(radius[1], local[1]).penalty(quadratic)?),
            false => None,
        };
        Ok(LatentMatching { step: step.clone(), radius, local, quadratic, smooth, nearest, base, plain })
    }

    /// Whether the values of grids of `rows` × `cols` cells are the maximum over all positions: always, unless
    /// neighboring cells are to be displaced alike and the displacements of one row, or column, have more than 1,000
    /// combinations. The values are then local maxima, never below those without displacements of cells.
    pub fn is_exact(&self, rows: usize, cols: usize) -> bool {
        self.smooth == 0.0 || Fields::is_exact([rows, cols], self.labels([rows, cols]).len())
    }

    /// The displacements of a cell, none of them first.
    fn labels(&self, sides: [usize; 2]) -> Vec<Label> {
        // Beyond the grid they are equivalent.
        let [of_basis, of_sample] =
            [0, 1].map(|of| shifts(sides.map(|side| self.local[of].min(side + self.radius[of].min(side)))));
        let with = |v: &Shift| of_sample.iter().map(|u| [v[0], v[1], u[0], u[1]]).collect::<Vec<_>>();
        of_basis.iter().flat_map(with).collect()
    }

    /// All pairs of shifts of basis and sample, none of them first.
    fn shifts(&self, sides: [usize; 2]) -> [Vec<Shift>; 2] {
        self.radius.map(|radius| shifts(sides.map(|side| radius.min(side))))
    }

    /// The regularizer of displacements whose squared length is this.
    fn penalty(&self, squared: i64) -> f64 {
        -self.quadratic * squared as f64
    }

    /// Shifts of whole grids: each pair is one block of the base. For `linear` and n numbers a grid, 2n multiplications
    /// and additions a pair of shifts, (2 radius + 1)² (2 basis_radius + 1)² of these a pair of grids; to shift a grid
    /// moves n numbers once for each block.
    fn fill_shifted(&self, bases: &Grids, samples: &Grids, best: &mut [f32]) -> Result<()> {
        let sides = [bases.rows(), bases.cols()];
        let [of_bases, of_samples] = self.shifts(sides);
        let (mut values, mut distances) = (vec![0.0; best.len()], Vec::new());
        let mut least = Vec::new();
        let mut is_first = true;
        for z in of_bases {
            let bases = shifted(bases, z);
            for &y in &of_samples {
                let samples = shifted(samples, y);
                self.base.block(&bases, &samples, &mut values)?;
                if self.nearest {
                    distances.resize(best.len(), 0.0);
                    self.distances(&bases, &samples, &values, &mut distances)?;
                }
                if is_first {
                    best.copy_from_slice(&values);
                    least.clone_from(&distances);
                    is_first = false;
                } else if self.nearest {
                    keep_nearest(best, &mut least, &values, &distances);
                } else {
                    let squared = z.iter().chain(&y).map(|step| step * step).sum();
                    keep_best(Isa::best(), best, &values, self.penalty(squared) as f32);
                }
            }
        }
        Ok(())
    }

    /// K(x, x) − 2 K(x, y) + K(y, y) of all pairs. If the base does not compute them, they come from the K of each
    /// sample with itself.
    fn distances(&self, bases: &AnySamples, samples: &AnySamples, values: &[f32], block: &mut [f32]) -> Result<()> {
        if self.base.extension(0, bases, samples, Extension::Distances(block))? {
            return Ok(());
        }
        let own = |all: &AnySamples| -> Result<Vec<f32>> {
            let of = |at| {
                let one = Samples::select(all, &[at]);
                let mut value = [0.0];
                self.base.block(&one, &one, &mut value).map(|()| value[0])
            };
            (0..all.len()).map(of).collect()
        };
        let (own_bases, own_samples) = (own(bases)?, own(samples)?);
        let rows = block.chunks_mut(own_bases.len()).zip(values.chunks(own_bases.len()));
        for ((block, values), y) in rows.zip(own_samples) {
            for ((distance, value), x) in block.iter_mut().zip(values).zip(&own_bases) {
                *distance = (f64::from(*x) - 2.0 * f64::from(*value) + f64::from(y)) as f32;
            }
        }
        Ok(())
    }

    /// Displacements of cells: the base of all pairs of cells and of no cell, 2 depth (cells + 1)² multiplications and
    /// additions a pair of grids for `linear`; then for each pair of shifts a maximum over
    /// (2 local + 1)² (2 basis_local + 1)² displacements a cell, or the best smooth field of them.
    fn fill_local(&self, bases: &Grids, samples: &Grids, best: &mut [f32]) -> Result<()> {
        // Also rejects, by its row, grids that the base does not support.
        let plain = |grids: &Grids| AnySamples::Grids(grids.clone());
        let flat = |grids| self.base.describe(plain(grids));
        self.base.block(&flat(bases)?, &flat(samples)?, best)?;
        let sides = [bases.rows(), bases.cols()];
        let width = sides[0] * sides[1] + 1;
        let labels = self.labels(sides);
        let fields = (self.smooth > 0.0).then(|| Fields::new(sides, &labels, self.smooth));
        let costs: Vec<f64> = labels.iter().map(|l| self.penalty(l.iter().map(|step| step * step).sum())).collect();
        let [of_bases, of_samples] = self.shifts(sides);
        let places = Places { sides, labels: &labels, n_bases: bases.len().min(TILE_BASES) };
        let pairs = of_bases.iter().flat_map(|z| of_samples.iter().map(move |y| (*z, *y)));
        let pairs: Vec<_> = pairs
            .map(|(z, y)| {
                let squared = z.iter().chain(&y).map(|step| step * step).sum();
                (self.penalty(squared), places.pairs(z, y))
            })
            .collect();
        let n_bases = bases.len();
        let tile = n_bases.min(TILE_BASES);
        let tiles: Vec<AnySamples> =
            (0..n_bases).step_by(tile).map(|at| cells(bases, at..n_bases.min(at + tile), tile)).collect();
        let mut scores = vec![0.0; (width - 1) * labels.len()];
        let mut table = vec![0.0; width * tile * width];
        for (at, row) in best.chunks_mut(n_bases).enumerate() {
            let sample = cells(samples, at..at + 1, 1);
            for (best, bases) in row.chunks_mut(tile).zip(&tiles) {
                self.base.block(bases, &sample, &mut table)?;
                for (basis, best) in best.iter_mut().enumerate() {
                    let of_pair = |(penalty, places): &(f64, Vec<usize>)| {
                        for (scores, places) in scores.chunks_mut(labels.len()).zip(places.chunks(labels.len())) {
                            for ((score, place), cost) in scores.iter_mut().zip(places).zip(&costs) {
                                *score = f64::from(table[place + basis * width]) + cost;
                            }
                        }
                        let of_cells = match &fields {
                            Some(fields) => fields.best(&scores),
                            None => scores.chunks(labels.len()).map(largest).sum(),
                        };
                        penalty + of_cells
                    };
                    *best = pairs.iter().map(of_pair).fold(f64::NEG_INFINITY, f64::max) as f32;
                }
            }
        }
        Ok(())
    }
}

impl fmt::Debug for LatentMatching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LatentMatching").field(&self.spec()).finish()
    }
}

/// Rejects local displacements of a base that is not a sum over cells, and smoothness without displacements.
fn check_local(arguments: &Arguments<'_>, local: [usize; 2], smooth: f64) -> Result<()> {
    let base = arguments.text("base").unwrap_or_default();
    if local != [0, 0] && !base::SUMS.contains(&base) {
        let expected = format!(
            "with local displacements it must be a sum over cells, so that each cell has its own maximum: {}",
            base::SUMS.join(", ")
        );
        return Err(arguments.wrong("base", expected));
    }
    if local == [0, 0] && smooth > 0.0 {
        let expected = "0, or local or basis_local at least 1: it compares the displacements of neighboring cells";
        return Err(arguments.wrong("smooth", expected.into()));
    }
    Ok(())
}

fn largest(scores: &[f64]) -> f64 {
    scores.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// The cells of some grids, row by row, each with one of zeros after it; zeros fill up to `n` grids.
fn cells(grids: &Grids, rows: Range<usize>, n: usize) -> AnySamples {
    let depth = grids.depth();
    let size = grids.cells().n_cols + depth;
    let mut values = vec![0.0; n * size];
    for (row, values) in rows.zip(values.chunks_exact_mut(size)) {
        values[..size - depth].copy_from_slice(grids.grid(row));
    }
    base::vectors(values, depth)
}

/// Takes the value of each pair whose distance is less, or equal and the value larger.
fn keep_nearest(best: &mut [f32], least: &mut [f32], values: &[f32], distances: &[f32]) {
    for ((best, least), (value, distance)) in best.iter_mut().zip(least).zip(values.iter().zip(distances)) {
        if distance < least || (distance == least && value > best) {
            (*best, *least) = (*value, *distance);
        }
    }
}

/// Which cells meet.
struct Places<'a> {
    sides: [usize; 2],
    labels: &'a [Label],
    n_bases: usize,
}

impl Places<'_> {
    /// The cell at a place, or the one of zeros.
    fn cell(&self, row: i64, col: i64) -> usize {
        let [rows, cols] = self.sides.map(|side| side as i64);
        let is_inside = (0..rows).contains(&row) && (0..cols).contains(&col);
        (if is_inside { row * cols + col } else { rows * cols }) as usize
    }

    /// For each cell and label the place in the table \[sample's cell\]\[basis\]\[basis' cell\] of the first basis,
    /// both displaced.
    fn pairs(&self, z: Shift, y: Shift) -> Vec<usize> {
        let [rows, cols] = self.sides;
        let width = rows * cols + 1;
        let all = (0..rows as i64).flat_map(|row| (0..cols as i64).map(move |col| (row, col)));
        all.flat_map(|(row, col)| {
            self.labels.iter().map(move |l| {
                let basis = self.cell(row + z[0] + l[0], col + z[1] + l[1]);
                let sample = self.cell(row + y[0] + l[2], col + y[1] + l[3]);
                sample * self.n_bases * width + basis
            })
        })
        .collect()
    }
}

impl Similarity for LatentMatching {
    type Samples = Grids;

    fn spec(&self) -> String {
        self.step.to_string()
    }

    fn fit(&mut self, training: &Training<'_, Grids>) -> Result<()> {
        let source = Mapped { source: training.samples, map: |grids| Ok(AnySamples::Grids(grids)) };
        self.base.fit(&training.of(&source))?;
        base::learned(&mut self.step, &*self.base);
        Ok(())
    }

    fn seconds_per_pair(&self, bases: &Grids) -> f64 {
        if let Some(plain) = &self.plain {
            return plain.seconds_per_pair(bases);
        }
        let sides = [bases.rows(), bases.cols()];
        let cells = (sides[0] * sides[1]) as f64;
        let depth = bases.depth() as f64;
        let pairs: f64 = self.shifts(sides).iter().map(|shifts| shifts.len() as f64).product();
        // At 20 GFLOP/s: most bases are slower than products.
        if self.local == [0, 0] {
            return pairs * cells * depth * if self.nearest { 4.0 } else { 2.0 } / 20e9;
        }
        let labels = self.labels(sides).len();
        let maxima = if self.smooth > 0.0 { Fields::flops(sides, labels) } else { cells * labels as f64 };
        2.0 * depth * (cells + 1.0).powi(2) / 20e9 + pairs * (maxima + cells * labels as f64) / 1e9
    }

    fn block(&self, bases: &Grids, samples: &Grids, block: &mut [f32]) -> Result<()> {
        // Also refuses grids of different shapes.
        if let Some(plain) = self.plain {
            return PackedBases::new(&[plain], bases).fill(samples, &mut [block]);
        }
        check_shapes(&self.spec(), shape(bases), shape(samples))?;
        if block.is_empty() {
            return Ok(());
        }
        match self.local {
            [0, 0] => self.fill_shifted(bases, samples, block),
            _ => self.fill_local(bases, samples, block),
        }
    }

    fn is_symmetric(&self, part: usize) -> bool {
        match &self.plain {
            Some(plain) => plain.is_symmetric(part),
            // A local maximum may depend on which grid is the basis.
            None => {
                let sides_agree = self.radius[0] == self.radius[1] && self.local[0] == self.local[1];
                sides_agree && self.smooth == 0.0 && self.base.is_symmetric(0)
            }
        }
    }
}

#[cfg(test)]
mod tests;
