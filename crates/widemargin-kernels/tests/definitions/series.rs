//! Elastic distances of series: the whole table, straight from the recursion.

use widemargin::Result;
use widemargin::similarity::Arguments;

use super::OfSeries;

pub fn of(name: &str) -> Option<OfSeries> {
    let definition: OfSeries = match name {
        "dtw" => |arguments, x, y, channels| {
            let (root, normalize): (bool, bool) = (arguments.value("root")?, arguments.value("normalize")?);
            similarity(arguments, x, y, channels, |pair, band| {
                let cell = |i: usize, j: usize, before| squared(pair.x(i), pair.y(j)) + least(before);
                let [m, n] = pair.lengths();
                let d = pair.last_value(band, at_first_pair, cell) / if normalize { (m + n) as f64 } else { 1.0 };
                Ok(if root { d.sqrt() } else { d })
            })
        },
        "wdtw" => |arguments, x, y, channels| {
            let g: f64 = arguments.value("g")?;
            similarity(arguments, x, y, channels, |pair, band| {
                let [m, n] = pair.lengths();
                let weight = |away: usize| 1.0 / (1.0 + (-g * (away as f64 - m.max(n) as f64 / 2.0)).exp());
                let cell =
                    |i: usize, j: usize, before| weight(i.abs_diff(j)) * squared(pair.x(i), pair.y(j)) + least(before);
                Ok(pair.last_value(band, at_first_pair, cell))
            })
        },
        "soft-dtw" => |arguments, x, y, channels| {
            let (smoothing, window): (f64, f64) = (arguments.value("smoothing")?, arguments.value("window")?);
            let divergence: bool = arguments.value("divergence")?;
            let soft = |pair: Pair<'_>| {
                let [m, n] = pair.lengths();
                let cell = |i: usize, j: usize, before: [f64; 3]| {
                    let least = least(before);
                    let sum: f64 = before.iter().map(|value| ((least - value) / smoothing).exp()).sum();
                    squared(pair.x(i), pair.y(j)) + least - smoothing * sum.ln()
                };
                pair.last_value(band(window, m, n), at_first_pair, cell)
            };
            similarity(arguments, x, y, channels, |pair, _| {
                let own = |series| soft(Pair { x: series, y: series, channels });
                Ok(soft(pair) - if divergence { 0.5 * (own(x) + own(y)) } else { 0.0 })
            })
        },
        "erp" => |arguments, x, y, channels| {
            let gap = vec![arguments.value("g")?; channels];
            similarity(arguments, x, y, channels, |pair, band| {
                let alone = |step: &[f32]| distance(step, &gap);
                let start = |i: usize, j: usize| {
                    (0..i).map(|i| alone(pair.x(i))).sum::<f64>() + (0..j).map(|j| alone(pair.y(j))).sum::<f64>()
                };
                let cell = |i: usize, j: usize, [above, diagonal, left]: [f64; 3]| {
                    let (u, v) = (pair.x(i), pair.y(j));
                    least([above + alone(u), diagonal + distance(u, v), left + alone(v)])
                };
                Ok(pair.last_value(band, start, cell))
            })
        },
        "lcss" => |arguments, x, y, channels| {
            let epsilon: f64 = arguments.value("epsilon")?;
            similarity(arguments, x, y, channels, |pair, band| {
                let cell = |i: usize, j: usize, [above, diagonal, left]: [f64; 3]| {
                    let is_common = distance(pair.x(i), pair.y(j)) <= epsilon;
                    least([above, diagonal - f64::from(u8::from(is_common)), left])
                };
                let [m, n] = pair.lengths();
                Ok(1.0 + pair.last_value(band, |_, _| 0.0, cell) / m.min(n) as f64)
            })
        },
        "msm" => |arguments, x, y, channels| {
            let c: f64 = arguments.value("c")?;
            let alone = |u: &[f32], v: &[f32], w: &[f32]| {
                let along: f64 = (0..channels).map(|k| f64::from(u[k] - v[k]) * f64::from(u[k] - w[k])).sum();
                c + if along <= 0.0 { 0.0 } else { distance(u, v).min(distance(u, w)) }
            };
            similarity(arguments, x, y, channels, |pair, band| {
                let cell = |i: usize, j: usize, [above, diagonal, left]: [f64; 3]| {
                    let (u, v) = (pair.x(i), pair.y(j));
                    // Cells before the first step are infinite.
                    let split = above + alone(u, pair.x(i.saturating_sub(1)), v);
                    let merge = left + alone(v, pair.y(j.saturating_sub(1)), u);
                    least([split, diagonal + distance(u, v), merge])
                };
                Ok(pair.last_value(band, at_first_pair, cell))
            })
        },
        "twe" => |arguments, x, y, channels| {
            let (nu, penalty): (f64, f64) = (arguments.value("nu")?, arguments.value("penalty")?);
            let zero = vec![0.0; channels];
            similarity(arguments, x, y, channels, |pair, band| {
                let before_x = |i: usize| if i == 0 { zero.as_slice() } else { pair.x(i - 1) };
                let before_y = |j: usize| if j == 0 { zero.as_slice() } else { pair.y(j - 1) };
                let cell = |i: usize, j: usize, [above, diagonal, left]: [f64; 3]| {
                    let (u, v) = (pair.x(i), pair.y(j));
                    let paired = distance(u, v) + distance(before_x(i), before_y(j)) + 2.0 * nu * i.abs_diff(j) as f64;
                    let of_x = above + distance(u, before_x(i)) + nu + penalty;
                    let of_y = left + distance(v, before_y(j)) + nu + penalty;
                    least([of_x, diagonal + paired, of_y])
                };
                Ok(pair.last_value(band, at_first_pair, cell))
            })
        },
        _ => return None,
    };
    Some(definition)
}

/// Two series, \[time\]\[channel\].
#[derive(Clone, Copy, Debug)]
struct Pair<'a> {
    x: &'a [f32],
    y: &'a [f32],
    channels: usize,
}

impl<'a> Pair<'a> {
    fn lengths(self) -> [usize; 2] {
        [self.x.len() / self.channels, self.y.len() / self.channels]
    }

    /// A time step of x.
    fn x(self, at: usize) -> &'a [f32] {
        &self.x[at * self.channels..][..self.channels]
    }

    /// A time step of y.
    fn y(self, at: usize) -> &'a [f32] {
        &self.y[at * self.channels..][..self.channels]
    }

    /// The last value of the table, in which row i and column j stand for the first i steps of x and j of y: `start` of
    /// the row and the column 0, `cell` of the others, from the steps i − 1 and j − 1 and the values above, at the
    /// diagonal and to the left; infinite where |i − j| is beyond the band.
    fn last_value(
        self,
        band: usize,
        start: impl Fn(usize, usize) -> f64,
        cell: impl Fn(usize, usize, [f64; 3]) -> f64,
    ) -> f64 {
        let [m, n] = self.lengths();
        let mut table = vec![vec![f64::INFINITY; n + 1]; m + 1];
        for i in 0..=m {
            for j in (0..=n).filter(|j| i.abs_diff(*j) <= band) {
                table[i][j] = match (i, j) {
                    (0, _) | (_, 0) => start(i, j),
                    _ => cell(i - 1, j - 1, [table[i - 1][j], table[i - 1][j - 1], table[i][j - 1]]),
                };
            }
        }
        table[m][n]
    }
}

/// The similarity of a distance within a band.
fn similarity(
    arguments: &Arguments<'_>,
    x: &[f32],
    y: &[f32],
    channels: usize,
    distance: impl Fn(Pair<'_>, usize) -> Result<f64>,
) -> Result<f64> {
    let pair = Pair { x, y, channels };
    let [m, n] = pair.lengths();
    let d = distance(pair, band(arguments.value("window")?, m, n))?;
    Ok(arguments.get::<f64>("gamma")?.map_or(-d, |gamma| (-gamma * d).exp()))
}

/// The half-width of the band, a share of the longer of two lengths, wide enough that there is a path.
fn band(window: f64, m: usize, n: usize) -> usize {
    // The small addition is for shares such as 0.29, whose product with 100 falls short of 29.
    ((window * m.max(n) as f64 + 1e-9).floor() as usize).max(m.abs_diff(n))
}

/// A path begins at the first pair.
fn at_first_pair(i: usize, j: usize) -> f64 {
    if i + j == 0 { 0.0 } else { f64::INFINITY }
}

fn least(values: [f64; 3]) -> f64 {
    values.into_iter().fold(f64::INFINITY, f64::min)
}

/// ‖a − b‖².
fn squared(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(&a, &b)| (f64::from(a) - f64::from(b)).powi(2)).sum()
}

/// ‖a − b‖.
fn distance(a: &[f32], b: &[f32]) -> f64 {
    squared(a, b).sqrt()
}
