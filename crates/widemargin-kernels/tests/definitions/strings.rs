//! Similarities of strings.

use std::collections::BTreeSet;

use super::OfStrings;

pub fn of(name: &str) -> Option<OfStrings> {
    let definition: OfStrings = match name {
        "ngram" => |arguments, x, y| {
            let n: usize = arguments.value("n")?;
            fn list(s: &[char], n: usize) -> Vec<&[char]> {
                if s.len() < n { vec![s] } else { s.windows(n).collect() }
            }
            Ok(cosine_of_terms(&list(x, n), &list(y, n)))
        },
        "gappy" => |arguments, x, y| {
            let (k, g): (usize, usize) = (arguments.value("k")?, arguments.value("g")?);
            let subsequences = |s: &[char]| -> Vec<Vec<char>> {
                if s.len() < k {
                    return vec![s.to_vec()];
                }
                // The distinct subsequences of each window, by the bits of a number.
                let of_window = |window: &[char]| {
                    let masks = (0u32..1 << window.len()).filter(|mask| mask.count_ones() as usize == k);
                    let read = |mask: u32| (0..window.len()).filter(move |at| mask >> at & 1 == 1).map(|at| window[at]);
                    let mut all: Vec<Vec<char>> = masks.map(|mask| read(mask).collect()).collect();
                    all.sort();
                    all.dedup();
                    all
                };
                s.windows(g.min(s.len())).flat_map(of_window).collect()
            };
            Ok(cosine_of_terms(&subsequences(x), &subsequences(y)))
        },
        "mismatch" => |arguments, x, y| {
            let (k, m): (usize, usize) = (arguments.value("k")?, arguments.value("m")?);
            if x.len() < k || y.len() < k {
                return Ok(f64::from(x == y));
            }
            // Every string of k letters, how many k-mers of x and of y are near: letters that neither has are numbers.
            let known: Vec<char> = x.iter().chain(y).copied().collect::<BTreeSet<char>>().into_iter().collect();
            let a: usize = arguments.value("alphabet")?;
            let codes = |s: &[char]| -> Vec<usize> {
                s.iter().map(|c| known.iter().position(|other| other == c).unwrap_or(usize::MAX)).collect()
            };
            let (x, y) = (codes(x), codes(y));
            let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
            for number in 0..a.pow(k as u32) {
                let word: Vec<usize> = (0..k).map(|at| number / a.pow(at as u32) % a).collect();
                let near = |window: &&[usize]| window.iter().zip(&word).filter(|(a, b)| a != b).count() <= m;
                let count = |s: &[usize]| s.windows(k).filter(near).count() as f64;
                let (of_x, of_y) = (count(&x), count(&y));
                (xy, xx, yy) = (xy + of_x * of_y, xx + of_x * of_x, yy + of_y * of_y);
            }
            Ok(xy / f64::sqrt(xx * yy))
        },
        "subsequence" => |arguments, x, y| {
            let (n, decay): (usize, f64) = (arguments.value("n")?, arguments.value("decay")?);
            // Every choice of n places, one by one.
            fn choices(s: &[char], n: usize, decay: f64) -> Vec<(Vec<char>, f64)> {
                let masks = (0u32..1 << s.len()).filter(|mask| mask.count_ones() as usize == n);
                let read = |mask: u32| {
                    let span = 32 - mask.leading_zeros() - mask.trailing_zeros();
                    ((0..s.len()).filter(|at| mask >> at & 1 == 1).map(|at| s[at]).collect(), decay.powi(span as i32))
                };
                masks.map(read).collect()
            }
            let kernel = |x: &[(Vec<char>, f64)], y: &[(Vec<char>, f64)]| -> f64 {
                x.iter().flat_map(|(u, a)| y.iter().filter(move |(v, _)| u == v).map(move |(_, b)| a * b)).sum()
            };
            let (of_x, of_y) = (choices(x, n, decay), choices(y, n, decay));
            let size = (kernel(&of_x, &of_x) * kernel(&of_y, &of_y)).sqrt();
            Ok(if size > 0.0 { kernel(&of_x, &of_y) / size } else { f64::from(x == y) })
        },
        "edit" => |arguments, x, y| {
            let (m, n, metric) = (x.len() as f64, y.len() as f64, arguments.text("metric").unwrap_or_default());
            let (d, most) = match metric {
                "levenshtein" => {
                    let cost = |name| arguments.value::<f64>(name);
                    let (insert, delete, substitute) = (cost("insert")?, cost("delete")?, cost("substitute")?);
                    let rest = if m > n { (m - n) * delete } else { (n - m) * insert };
                    let most = (m * delete + n * insert).min(m.min(n) * substitute + rest);
                    (edits(x, y, [insert, delete, substitute], Swaps::None), most)
                }
                "osa" => (edits(x, y, [1.0; 3], Swaps::Neighbors), m.max(n)),
                "damerau" => (edits(x, y, [1.0; 3], Swaps::Distant), m.max(n)),
                "indel" => (edits(x, y, [1.0, 1.0, 2.0], Swaps::None), m + n),
                "lcs" => (m.max(n) - (m + n - edits(x, y, [1.0, 1.0, 2.0], Swaps::None)) / 2.0, m.max(n)),
                other => return Err(arguments.wrong("metric", format!("one of distances, not {other}"))),
            };
            let s = if most == 0.0 { 1.0 } else { 1.0 - d / most };
            Ok(arguments.get::<f64>("gamma")?.map_or(s, |gamma| (-gamma * (1.0 - s)).exp()))
        },
        "align" => |arguments, x, y| {
            let (same, other): (i64, i64) = (arguments.value("match")?, arguments.value("mismatch")?);
            let open: i64 = arguments.get("open")?.unwrap_or(-2);
            let extend: i64 = arguments.get("extend")?.unwrap_or(open.max(-1));
            let mode = arguments.text("mode").unwrap_or_default();
            let score = |x: &[char], y: &[char]| {
                let pair = |x, y| if x == y { same } else { other };
                best_score(mode, x, y, pair, |k| open + extend * (k as i64 - 1)) as f64
            };
            Ok(match (score(x, x) * score(y, y)).sqrt() {
                _ if !arguments.value("normalize")? => score(x, y),
                size if size > 0.0 => score(x, y) / size,
                _ => f64::from(x == y),
            })
        },
        _ => return None,
    };
    Some(definition)
}

/// The cosine of how often each term occurs.
fn cosine_of_terms<T: PartialEq>(x: &[T], y: &[T]) -> f64 {
    let product =
        |x: &[T], y: &[T]| x.iter().map(|term| y.iter().filter(|other| *other == term).count()).sum::<usize>() as f64;
    product(x, y) / (product(x, x) * product(y, y)).sqrt()
}

/// Which characters may be swapped for one edit.
#[derive(Clone, Copy, PartialEq)]
enum Swaps {
    None,
    /// Neighbors that nothing else edits.
    Neighbors,
    /// Characters that become neighbors, and between which others are inserted.
    Distant,
}

/// The least cost of insertions, deletions and substitutions, and of swaps at 1, every entry of the table from those
/// before it by the definition of the metric.
fn edits(x: &[char], y: &[char], [insert, delete, substitute]: [f64; 3], swaps: Swaps) -> f64 {
    let mut table = vec![vec![f64::INFINITY; y.len() + 1]; x.len() + 1];
    table[0][0] = 0.0;
    for (i, j) in (0..=x.len()).flat_map(|i| (0..=y.len()).map(move |j| (i, j))) {
        let mut best = table[i][j];
        if i > 0 {
            best = best.min(table[i - 1][j] + delete);
        }
        if j > 0 {
            best = best.min(table[i][j - 1] + insert);
        }
        if i > 0 && j > 0 {
            best = best.min(table[i - 1][j - 1] + if x[i - 1] == y[j - 1] { 0.0 } else { substitute });
        }
        // x[k] … x[i − 1] becomes y[l] … y[j − 1]: the ends swapped, the characters between them deleted or inserted.
        let far = if swaps == Swaps::Distant { usize::MAX } else { 2 };
        for k in (0..i.saturating_sub(1)).filter(|k| swaps != Swaps::None && i - k <= far) {
            for l in (0..j.saturating_sub(1)).filter(|l| j - l <= far && x[i - 1] == y[*l] && x[k] == y[j - 1]) {
                best = best.min(table[k][l] + ((i - k - 2) + 1 + (j - l - 2)) as f64);
            }
        }
        table[i][j] = best;
    }
    table[x.len()][y.len()]
}

/// The best score with gaps of any length tried one by one: Waterman, Smith and Beyer's recursion, no Gotoh in it.
pub fn best_score(
    mode: &str,
    x: &[char],
    y: &[char],
    pair: impl Fn(char, char) -> i64,
    gap: impl Fn(usize) -> i64,
) -> i64 {
    let mut table = vec![vec![0i64; y.len() + 1]; x.len() + 1];
    for i in 0..=x.len() {
        for j in 0..=y.len() {
            let is_free = match mode {
                "local" => true,
                "global" => i + j == 0,
                _ => i == 0 || j == 0,
            };
            let mut best = if is_free { 0 } else { i64::MIN };
            if i > 0 && j > 0 {
                best = best.max(table[i - 1][j - 1] + pair(x[i - 1], y[j - 1]));
            }
            best = (1..=i).map(|k| table[i - k][j] + gap(k)).fold(best, i64::max);
            best = (1..=j).map(|k| table[i][j - k] + gap(k)).fold(best, i64::max);
            table[i][j] = best;
        }
    }
    let last = table.iter().map(|row| row[y.len()]).chain(table[x.len()].iter().copied());
    match mode {
        "local" => table.iter().flatten().copied().max().unwrap_or(0),
        "global" => table[x.len()][y.len()],
        _ => last.max().unwrap_or(0),
    }
}
