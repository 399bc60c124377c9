//! Ground distances: what it costs to move all of a histogram from one bin to another.

use std::borrow::Cow;

use crate::error::{Error, Result};
use crate::parameters::{Arguments, List};

/// Bins that a ground distance may have where a transportation problem is solved.
pub(super) const MOST_BINS: usize = 256;

/// The ground distance of a spec.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ground {
    /// |i − j|.
    Line,
    /// min(|i − j|, n − |i − j|).
    Circle,
    /// Of cells, row by row.
    Grid { rows: usize, is_cityblock: bool },
    /// As given.
    Matrix(Costs),
}

/// The distances of all pairs of bins, as whole numbers: sums and differences of them are exact in double precision.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Costs {
    /// Bins.
    pub n_bins: usize,
    /// \[bin\]\[bin\], in units.
    pub costs: Vec<f64>,
    /// What a cost of 1 stands for: 2⁻⁴⁰ of the largest distance, or a little less.
    pub unit: f64,
    /// The largest.
    pub most: f64,
    /// Whether the triangle inequality holds.
    pub is_metric: bool,
}

impl Ground {
    /// That of the parameters `ground`, `rows`, `metric` and `distances`.
    ///
    /// # Errors
    /// [`Error::Parameter`] for combinations that say nothing, and for distances that are not those of a symmetric matrix with
    /// a diagonal of 0.
    pub fn of(arguments: &Arguments<'_>) -> Result<Self> {
        // Parameters that say something where they must say nothing.
        let unused = |names: &[&'static str], of: &str| {
            let is_other = |name: &&&'static str| !matches!(arguments.text(name), None | Some("line" | "euclidean"));
            names.iter().find(is_other).map_or(Ok(()), |name| {
                let given = arguments.text(name).unwrap_or_default();
                Err(Error::parameter(name, given, format!("it is only known of {of}")))
            })
        };
        if let Some(List(distances)) = arguments.get("distances")? {
            unused(&["ground", "rows", "metric"], "bins without distances")?;
            return Costs::given(&distances).map(Ground::Matrix);
        }
        match (arguments.text("ground"), arguments.get("rows")?) {
            (Some("grid"), Some(rows)) => {
                Ok(Ground::Grid { rows, is_cityblock: arguments.text("metric") == Some("cityblock") })
            }
            (Some("grid"), None) => Err(Error::parameter("rows", "nothing", "a whole number: the rows of the grid")),
            (ground, _) => {
                unused(&["rows", "metric"], "ground=grid")?;
                Ok(if ground == Some("circle") { Ground::Circle } else { Ground::Line })
            }
        }
    }

    /// The rows and columns of a grid of so many bins; of others one row.
    ///
    /// # Errors
    /// [`Error::Shape`] for bins that fill no grid.
    pub fn shape(&self, n_bins: usize) -> Result<[usize; 2]> {
        match *self {
            Ground::Grid { rows, .. } if n_bins.is_multiple_of(rows) => Ok([rows, n_bins / rows]),
            Ground::Grid { rows, .. } => {
                let expected = format!("a multiple of {rows}, the rows of the grid");
                Err(Error::shape("earth mover's distance", format!("histograms of {n_bins} bins"), expected))
            }
            _ => Ok([1, n_bins]),
        }
    }

    /// The costs between so many bins, which are none in a line or on a circle: these have closed forms.
    ///
    /// # Errors
    /// [`Error::Shape`] for bins that fill no grid, that are not those of the distances, or that are too many.
    pub fn costs(&self, n_bins: usize) -> Result<Option<Cow<'_, Costs>>> {
        let wrong = |expected: String| {
            Err(Error::shape("earth mover's distance", format!("histograms of {n_bins} bins"), expected))
        };
        match self {
            Ground::Line | Ground::Circle => Ok(None),
            Ground::Grid { .. } if n_bins > MOST_BINS => wrong(format!("at most {MOST_BINS} in a grid")),
            Ground::Grid { is_cityblock, .. } => {
                let [rows, cols] = self.shape(n_bins)?;
                Ok(Some(Cow::Owned(Costs::of_grid(rows, cols, *is_cityblock))))
            }
            Ground::Matrix(costs) if costs.n_bins != n_bins => {
                let n = costs.n_bins;
                wrong(format!("{n}, for which there are {n} × {n} distances"))
            }
            Ground::Matrix(costs) => Ok(Some(Cow::Borrowed(costs))),
        }
    }
}

impl Costs {
    fn new(n_bins: usize, distances: &[f64], is_metric: bool) -> Self {
        let most = distances.iter().copied().fold(0.0, f64::max);
        // A power of 2, so that dividing by it only moves the point.
        let unit = if most > 0.0 { (most.log2().floor() - 40.0).exp2() } else { 1.0 };
        let costs = distances.iter().map(|d| (d / unit).round()).collect();
        Costs { n_bins, costs, unit, most: (most / unit).round(), is_metric }
    }

    fn of_grid(rows: usize, cols: usize, is_cityblock: bool) -> Self {
        // From the first cell to each, and from each to each by the differences of their rows and columns.
        let cells = (0..rows).flat_map(|row| (0..cols).map(move |col| (row as f64, col as f64)));
        let distance = |(row, col): (f64, f64)| if is_cityblock { row + col } else { (row * row + col * col).sqrt() };
        let first = Costs::new(rows * cols, &cells.map(distance).collect::<Vec<f64>>(), true);
        let mut costs = Vec::with_capacity((rows * cols).pow(2));
        for (row, col) in (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))) {
            for other in 0..rows {
                let to_row = &first.costs[row.abs_diff(other) * cols..][..cols];
                costs.extend((0..cols).map(|other| to_row[col.abs_diff(other)]));
            }
        }
        Costs { costs, ..first }
    }

    /// Of the entries of a matrix, row by row, which are finite and at least 0.
    fn given(distances: &[f32]) -> Result<Self> {
        let wrong = |found: String, expected: &str| Err(Error::parameter("distances", found, expected));
        let n = distances.len().isqrt();
        if n * n != distances.len() {
            return wrong(format!("{} numbers", distances.len()), "a square matrix, row by row");
        }
        if n > MOST_BINS {
            return wrong(format!("a matrix of {n} × {n}"), &format!("one of at most {MOST_BINS} × {MOST_BINS}"));
        }
        for (a, b) in (0..n).flat_map(|a| (0..=a).map(move |b| (a, b))) {
            let (there, back) = (distances[b * n + a], distances[a * n + b]);
            if a == b && there != 0.0 {
                return wrong(format!("{there} from bin {a} to itself"), "0 on the diagonal");
            }
            if there != back {
                return wrong(format!("{there} from bin {b} to bin {a} and {back} back"), "a symmetric matrix");
            }
        }
        let distances: Vec<f64> = distances.iter().map(|&d| f64::from(d)).collect();
        let is_metric = satisfies_triangles(n, &distances);
        Ok(Costs::new(n, &distances, is_metric))
    }
}

/// Whether no distance is longer than by way of a third bin, but for the rounding of single precision.
fn satisfies_triangles(n: usize, distances: &[f64]) -> bool {
    const ROUNDING: f64 = 1.0 + 4.0 * f32::EPSILON as f64;
    let rows = || distances.chunks(n.max(1));
    rows().all(|from| {
        from.iter().zip(rows()).all(|(&by, via)| from.iter().zip(via).all(|(d, rest)| *d <= (by + rest) * ROUNDING))
    })
}
