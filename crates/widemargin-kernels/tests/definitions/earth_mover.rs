//! The earth mover's distance: on a line by hand, on a circle by successive shortest paths.

use widemargin::Result;
use widemargin::similarity::Arguments;

/// The part of a mass of 1 that counts as 0.
const MASS_ROUNDING: f64 = 1e-12;

/// s(x, y) of a spec.
pub fn similarity(arguments: &Arguments<'_>, x: &[f64], y: &[f64]) -> Result<f64> {
    let n = x.len();
    let is_line = arguments.text("ground") == Some("line");
    let distance = |a: usize, b: usize| {
        let gap = a.abs_diff(b);
        if is_line { gap as f64 } else { gap.min(n - gap) as f64 }
    };
    let sums = [x, y].map(|x| x.iter().sum::<f64>());
    let [x, y] = [(x, sums[0]), (y, sums[1])].map(|(x, sum)| -> Vec<f64> { x.iter().map(|x| x / sum).collect() });
    let work = match sums.map(|sum| sum == 0.0) {
        [true, true] => 0.0,
        [false, false] if is_line => on_a_line(&x, &y),
        [false, false] => by_shortest_paths(&x, &y, &distance),
        // One bin past the last.
        [true, false] if is_line => y.iter().enumerate().map(|(bin, y)| y * (n - bin) as f64).sum(),
        [false, true] if is_line => x.iter().enumerate().map(|(bin, x)| x * (n - bin) as f64).sum(),
        _ => (0..n).flat_map(|a| (0..n).map(move |b| (a, b))).fold(0.0, |most, (a, b)| distance(a, b).max(most)),
    };
    Ok(arguments.get::<f64>("gamma")?.map_or(-work, |gamma| (-gamma * work).exp()))
}

/// Earth from the left goes to the first holes.
fn on_a_line(x: &[f64], y: &[f64]) -> f64 {
    let (mut piles, mut holes) = (x.to_vec(), y.to_vec());
    let (mut from, mut to, mut work) = (0, 0, 0.0);
    while from < piles.len() && to < holes.len() {
        let moved = piles[from].min(holes[to]);
        work += moved * (from as f64 - to as f64).abs();
        (piles[from], holes[to]) = (piles[from] - moved, holes[to] - moved);
        if piles[from] <= holes[to] {
            from += 1;
        } else {
            to += 1;
        }
    }
    work
}

/// As much as possible goes along the shortest path from a pile to a hole (Bellman and Ford's algorithm), on which mass
/// moved before may be moved back, until no pile is left.
fn by_shortest_paths(x: &[f64], y: &[f64], distance: &dyn Fn(usize, usize) -> f64) -> f64 {
    let filled = |x: &[f64]| -> Vec<usize> { (0..x.len()).filter(|bin| x[*bin] > 0.0).collect() };
    let (from, to) = (filled(x), filled(y));
    let mut piles: Vec<f64> = from.iter().map(|&bin| x[bin]).collect();
    let mut holes: Vec<f64> = to.iter().map(|&bin| y[bin]).collect();
    let mut moved = vec![vec![0.0f64; to.len()]; from.len()];
    loop {
        // The cost of the way to each pile and hole, and where it comes from.
        let of_pile = |pile: &f64| if *pile > MASS_ROUNDING { 0.0 } else { f64::INFINITY };
        let (mut to_piles, mut to_holes) =
            (piles.iter().map(of_pile).collect::<Vec<_>>(), vec![f64::INFINITY; to.len()]);
        let (mut before_piles, mut before_holes) = (vec![None; from.len()], vec![0; to.len()]);
        let mut is_shorter = true;
        while is_shorter {
            is_shorter = false;
            for (i, &a) in from.iter().enumerate() {
                for (j, &b) in to.iter().enumerate() {
                    let cost = distance(a, b);
                    if to_piles[i] + cost < to_holes[j] - MASS_ROUNDING {
                        (to_holes[j], before_holes[j], is_shorter) = (to_piles[i] + cost, i, true);
                    }
                    if moved[i][j] > MASS_ROUNDING && to_holes[j] - cost < to_piles[i] - MASS_ROUNDING {
                        (to_piles[i], before_piles[i], is_shorter) = (to_holes[j] - cost, Some(j), true);
                    }
                }
            }
        }
        let open = (0..to.len()).filter(|&j| holes[j] > MASS_ROUNDING && to_holes[j].is_finite());
        let Some(end) = open.min_by(|a, b| to_holes[*a].total_cmp(&to_holes[*b])) else { break };
        let (mut most, mut hole) = (holes[end], end);
        let begin = loop {
            let pile = before_holes[hole];
            match before_piles[pile] {
                Some(before) => (most, hole) = (most.min(moved[pile][before]), before),
                None => break pile,
            }
        };
        most = most.min(piles[begin]);
        (piles[begin], holes[end], hole) = (piles[begin] - most, holes[end] - most, end);
        loop {
            let pile = before_holes[hole];
            moved[pile][hole] += most;
            let Some(before) = before_piles[pile] else { break };
            moved[pile][before] -= most;
            hole = before;
        }
    }
    let work = |i: usize| moved[i].iter().zip(&to).map(|(moved, b)| moved * distance(from[i], *b)).sum::<f64>();
    (0..from.len()).map(work).sum()
}
