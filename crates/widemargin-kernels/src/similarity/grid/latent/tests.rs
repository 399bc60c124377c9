//! Matching in general against all positions, one pair at a time in 64 bits.

use proptest::prelude::*;

use super::*;
use crate::monitor::Monitor;
use crate::similarity::any::kernel::Typed;
use crate::similarity::definitions::{self, Definition};
use crate::similarity::{Spec, pairwise};

fn grids(n: usize, [rows, cols, depth]: [usize; 3], seed: u32) -> Grids {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(12345);
    let values = (0..n * rows * cols * depth).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32
    });
    Grids::new(values.collect(), rows, cols, depth).unwrap()
}

/// Numbers of both signs.
fn signed(n: usize, shape: [usize; 3], seed: u32) -> Grids {
    let mut grids = grids(n, shape, seed);
    grids.values_mut().iter_mut().for_each(|value| *value -= 0.5);
    grids
}

fn step(text: &str) -> Step {
    text.parse::<Spec>().unwrap().steps.remove(0)
}

fn matching(text: &str) -> LatentMatching {
    LatentMatching::from_step(&step(text)).unwrap()
}

fn number(text: &str, name: &str) -> f64 {
    let step = step(text);
    let found = step.values().find(|(key, _)| *key == name).map(|(_, value)| value.parse().unwrap());
    found.unwrap_or(if name == "radius" { 1.0 } else { 0.0 })
}

/// The base by its definition.
fn base_of(text: &str) -> impl Fn(&[f64], &[f64]) -> f64 {
    let own = step(text);
    let name = own.values().find(|(key, _)| *key == "base").map_or("linear", |(_, name)| name);
    let mut of_base = step(name);
    for (key, value) in own.values().filter(|(key, _)| ["gamma", "degree", "coef0", "p"].contains(key)) {
        of_base.set(key, value);
    }
    let row = base::rows().find(|row| row.name == name).unwrap();
    let Some(Definition::Vectors(of)) = definitions::of(name) else { panic!("{name} is not defined for vectors") };
    move |x, y| of(&row.arguments(&of_base).unwrap(), x, y).unwrap()
}

fn square(radius: usize) -> Vec<Shift> {
    let radius = radius as i64;
    (-radius..=radius).flat_map(|down| (-radius..=radius).map(move |across| [down, across])).collect()
}

/// The grid with each cell replaced by the one at its shift.
fn displaced(grids: &Grids, at: usize, z: Shift, u: &[Shift]) -> Vec<f64> {
    let (rows, cols, depth) = (grids.rows() as i64, grids.cols() as i64, grids.depth());
    let cell = |c: usize| {
        let (row, col) = (c as i64 / cols + z[0] + u[c][0], c as i64 % cols + z[1] + u[c][1]);
        let inside = (0..rows).contains(&row) && (0..cols).contains(&col);
        let number = move |k: usize| f64::from(grids.grid(at)[(row * cols + col) as usize * depth + k]);
        (0..depth).map(move |k| if inside { number(k) } else { 0.0 })
    };
    (0..u.len()).flat_map(cell).collect()
}

/// All positions: the displaced grid and R.
fn positions(text: &str, grids: &Grids, at: usize, radius: usize, local: usize) -> Vec<(Vec<f64>, f64)> {
    let (quadratic, smooth) = (number(text, "quadratic"), number(text, "smooth"));
    let squared = |shift: Shift| (shift[0].pow(2) + shift[1].pow(2)) as f64;
    let (cells, cols) = (grids.rows() * grids.cols(), grids.cols());
    let mut fields: Vec<Vec<Shift>> = vec![Vec::new()];
    for _ in 0..cells {
        let longer = |field: Vec<Shift>| {
            square(local).into_iter().map(move |shift| field.iter().copied().chain([shift]).collect())
        };
        fields = fields.into_iter().flat_map(longer).collect();
    }
    let mut found = Vec::new();
    for u in &fields {
        let difference = |c: usize, other: usize| squared([u[c][0] - u[other][0], u[c][1] - u[other][1]]);
        let rough = (0..cells).map(|c| {
            let left = if c % cols > 0 { difference(c, c - 1) } else { 0.0 };
            left + if c >= cols { difference(c, c - cols) } else { 0.0 }
        });
        let of_field = -quadratic * u.iter().copied().map(squared).sum::<f64>() - smooth * rough.sum::<f64>();
        let with = |z: Shift| (displaced(grids, at, z, u), of_field - quadratic * squared(z));
        found.extend(square(radius).into_iter().map(with));
    }
    found
}

/// The definition, one pair.
fn plain(text: &str, bases: &Grids, basis: usize, samples: &Grids, sample: usize) -> f64 {
    let whole = |name| number(text, name) as usize;
    let of_basis = positions(text, bases, basis, whole("basis_radius"), whole("basis_local"));
    let of_sample = positions(text, samples, sample, whole("radius"), whole("local"));
    let pairs = of_basis.iter().flat_map(|x| of_sample.iter().map(move |y| (x, y)));
    let base = base_of(text);
    if text.starts_with("match") {
        return pairs.map(|(x, y)| base(&x.0, &y.0) + x.1 + y.1).fold(f64::NEG_INFINITY, f64::max);
    }
    let distance = |x: &[f64], y: &[f64]| base(x, x) - 2.0 * base(x, y) + base(y, y);
    let nearest = pairs.map(|(x, y)| (distance(&x.0, &y.0), base(&x.0, &y.0))).min_by(|a, b| a.0.total_cmp(&b.0));
    nearest.unwrap().1
}

fn check(text: &str, bases: &Grids, samples: &Grids) {
    let block = pairwise(&matching(text), bases, samples).unwrap();
    for (sample, row) in block.chunks(bases.len()).enumerate() {
        for (basis, &found) in row.iter().enumerate() {
            let right = plain(text, bases, basis, samples, sample);
            let close = (f64::from(found) - right).abs() <= 2e-5 * right.abs().max(1.0);
            assert!(close, "{text}, sample {sample} basis {basis}: {found}, not {right}");
        }
    }
}

#[test]
fn shifts_of_both_sides_are_all_tried() {
    let bases = [
        "linear",
        "rbf,gamma=0.3",
        "laplacian,gamma=0.2",
        "polynomial,gamma=0.3,degree=2,coef0=0.5",
        "sigmoid,gamma=0.1,coef0=-0.2",
        "cosine",
        "tanimoto",
        "canberra,gamma=0.1",
        "distance",
        "cityblock",
        "log,gamma=0.5",
        "multiquadric,gamma=0.5",
        "inverse-multiquadric,gamma=0.5",
        "chi2",
        "hellinger",
        "intersection",
        "jensen-shannon",
        "power-mean,p=-2",
    ];
    let named: Vec<&str> = bases.iter().map(|base| base.split(',').next().unwrap()).collect();
    assert!(base::NAMES.iter().all(|name| named.contains(name)), "a base is not tried");
    for (at, base) in bases.iter().enumerate() {
        for shape in [[2, 3, 2], [3, 2, 1], [1, 4, 3]] {
            let histograms = at > 12;
            let (x, y) = match histograms {
                true => (grids(2, shape, 1), grids(3, shape, 2)),
                false => (signed(2, shape, 1), signed(3, shape, 2)),
            };
            for settings in ["radius=1", "radius=0,basis_radius=1", "radius=1,basis_radius=2", "radius=9"] {
                check(&format!("jitter:base={base},{settings}"), &x, &y);
                check(&format!("match:base={base},{settings}"), &x, &y);
                check(&format!("match:base={base},{settings},quadratic=0.05"), &x, &y);
            }
        }
    }
}

#[test]
fn displacements_of_cells_are_all_tried() {
    for (base, histograms) in
        [("linear", false), ("cityblock", false), ("chi2", true), ("intersection", true), ("power-mean,p=-inf", true)]
    {
        for (shape, settings) in [
            ([2, 2, 2], "radius=0,local=1"),
            ([2, 2, 1], "radius=1,local=1"),
            ([2, 2, 1], "radius=0,basis_radius=1,local=1"),
            ([2, 2, 1], "radius=0,basis_local=1"),
            ([1, 3, 2], "radius=1,basis_radius=1,local=1"),
            ([1, 2, 2], "radius=1,basis_local=1,local=1"),
            ([2, 1, 2], "radius=1,basis_local=2,local=1"),
        ] {
            let (x, y) = match histograms {
                true => (grids(1, shape, 1), grids(2, shape, 2)),
                false => (signed(1, shape, 1), signed(2, shape, 2)),
            };
            for penalty in ["", ",quadratic=0.02", ",smooth=0.01", ",smooth=0.05,quadratic=0.01"] {
                let text = format!("match:base={base},{settings}{penalty}");
                assert!(matching(&text).is_exact(shape[0], shape[1]), "{text}");
                check(&text, &x, &y);
            }
        }
    }
}

#[test]
fn smooth_displacements_of_larger_grids_are_bounded() {
    let shape = [4, 5, 3];
    let (x, y) = (signed(4, shape, 3), signed(5, shape, 4));
    let values = |text: &str| pairwise(&matching(text), &x, &y).unwrap();
    for settings in ["radius=0,local=1", "radius=1,local=1,quadratic=0.01"] {
        let free = values(&format!("match:{settings}"));
        let rigid = values(&format!("match:{}", settings.replace("local=1", "local=0")));
        let mut above = free.clone();
        let mut gained = 0;
        for smooth in ["0.001", "0.01", "0.1", "1"] {
            let text = format!("match:{settings},smooth={smooth}");
            assert!(!matching(&text).is_exact(4, 5));
            let found = values(&text);
            for (at, &found) in found.iter().enumerate() {
                assert!(found <= free[at] + 1e-5, "{text}: {found} is above {}", free[at]);
                assert!(found >= rigid[at] - 1e-5, "{text}: {found} is below {}", rigid[at]);
                gained += usize::from(found > rigid[at] + 1e-3);
            }
            above = found;
        }
        assert!(gained > 20, "only {gained} of the values are above those of rigid grids");
        assert_ne!(above, free);
    }
}

#[test]
fn the_local_maximum_is_close_to_the_exact_one() {
    // Both ways of `Fields` on the same scores: 2 × 5 cells, 9 labels.
    let labels: Vec<Label> = square(1).iter().map(|u| [0, 0, u[0], u[1]]).collect();
    let mut reached = 0;
    for seed in 0..40 {
        let scores: Vec<f64> = signed(1, [2, 5, 9], seed).grid(0).iter().map(|&x| x.into()).collect();
        for smooth in [0.02, 0.1, 0.5] {
            let fields = Fields::new([2, 5], &labels, smooth);
            let (exact, local) = (fields.exact(&scores), fields.local(&scores));
            assert!(local <= exact + 1e-9, "{local} is above {exact}");
            reached += usize::from(local >= exact - 1e-9);
            let turned: Vec<f64> = (0..5)
                .flat_map(|col| [col, 5 + col])
                .flat_map(|cell| scores[cell * 9..(cell + 1) * 9].to_vec())
                .collect();
            assert!((Fields::new([5, 2], &labels, smooth).exact(&turned) - exact).abs() < 1e-9);
        }
    }
    assert!(reached >= 60, "only {reached} of 120 local maxima are the global one");
}

#[test]
fn one_side_of_a_linear_base_is_rigid_and_deformable_matching() {
    let shape = [4, 5, 7];
    let (x, y) = (signed(5, shape, 5), signed(6, shape, 6));
    let cases = [
        ("match:radius=2", GridMatching::rigid(2)),
        ("match:radius=1,quadratic=0.1", GridMatching::rigid(1).penalty(0.1).unwrap()),
        ("match:radius=1,local=1", GridMatching::deformable(1, 1)),
        ("match:radius=0,local=2,quadratic=0.05", GridMatching::deformable(0, 2).penalty(0.05).unwrap()),
    ];
    for (text, right) in cases {
        let ours = matching(text);
        assert_eq!(ours.plain, Some(right), "{text}");
        let right = pairwise(&right, &x, &y).unwrap();
        assert_eq!(pairwise(&ours, &x, &y).unwrap(), right);
        // The general loops on the same.
        let general = LatentMatching { plain: None, ..ours };
        let found = pairwise(&general, &x, &y).unwrap();
        for (found, right) in found.iter().zip(&right) {
            assert!((found - right).abs() < 1e-5, "{text}: {found}, not {right}");
        }
    }
    for text in ["match:radius=1,basis_radius=1", "match:base=rbf,gamma=1", "match:local=1,smooth=1", "jitter"] {
        assert_eq!(matching(text).plain, None, "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn more_positions_are_never_worse_and_a_large_penalty_leaves_none(
        shape in (1_usize..4, 1_usize..4, 1_usize..4),
        radius in 0_usize..3,
        basis_radius in 0_usize..3,
        local in 0_usize..3,
        base in prop_oneof![Just("linear"), Just("rbf,gamma=0.7"), Just("cityblock"), Just("sigmoid,gamma=1")],
        seed in 0_u32..1000,
    ) {
        let local = if ["linear", "cityblock"].contains(&base) { local } else { 0 };
        let shape = [shape.0, shape.1, shape.2];
        let (x, y) = (signed(3, shape, seed), signed(3, shape, seed + 1));
        let values = |rest: String| pairwise(&matching(&format!("match:base={base},{rest}")), &x, &y).unwrap();
        let here = values(format!("radius={radius},basis_radius={basis_radius},local={local}"));
        let bounds = [
            format!("radius={radius},basis_radius={basis_radius}"),
            format!("radius={},basis_radius={basis_radius},local={local}", radius.saturating_sub(1)),
            format!("radius={radius},basis_radius={},local={local}", basis_radius.saturating_sub(1)),
        ];
        for bound in bounds {
            for (more, less) in here.iter().zip(values(bound.clone())) {
                prop_assert!(*more >= less - 1e-5, "{} below {} of {}", more, less, bound);
            }
        }
        let still = values("radius=0".into());
        let quadratic = values(format!("radius={radius},basis_radius={basis_radius},local={local},quadratic=1e300"));
        for (found, right) in quadratic.iter().zip(&still) {
            prop_assert!((found - right).abs() <= 1e-5, "{} is not {}", found, right);
        }
        if local > 0 {
            // All cells must go together: shifts of the whole grid by as much more.
            let smooth = values(format!("radius={radius},basis_radius={basis_radius},local={local},smooth=1e300"));
            let shifts = values(format!("radius={},basis_radius={basis_radius}", radius + local));
            for (found, right) in smooth.iter().zip(&shifts) {
                prop_assert!((found - right).abs() <= 1e-5, "{} is not {}", found, right);
            }
        }
        for kind in ["match", "jitter"] {
            let similarity = matching(&format!("{kind}:base={base},radius={radius},basis_radius={radius}"));
            prop_assert!(similarity.is_symmetric(0));
            let (there, back) = (pairwise(&similarity, &x, &y).unwrap(), pairwise(&similarity, &y, &x).unwrap());
            for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
                prop_assert!((there[3 * i + j] - back[3 * j + i]).abs() <= 1e-5);
            }
        }
    }
}

#[test]
fn the_nearest_positions_need_not_be_the_most_similar() {
    let (x, y) = (signed(4, [3, 3, 2], 8), signed(4, [3, 3, 2], 9));
    let values = |text: &str| pairwise(&matching(text), &x, &y).unwrap();
    let (nearest, best) = (values("jitter:radius=1,basis_radius=1"), values("match:radius=1,basis_radius=1"));
    assert!(nearest.iter().zip(&best).all(|(nearest, best)| *nearest <= best + 1e-6));
    assert!(nearest.iter().zip(&best).any(|(nearest, best)| *nearest < best - 1e-3));
    // Where K(x, x) is always 1 they are.
    assert_eq!(values("jitter:base=rbf,gamma=0.5,basis_radius=1"), values("match:base=rbf,gamma=0.5,basis_radius=1"));
}

#[test]
fn gamma_is_learned_from_grids_as_they_are() {
    let samples = AnySamples::Grids(signed(20, [3, 4, 5], 10));
    let weights = vec![1.0; 20];
    let training = Training { samples: &samples, weights: &weights, threads: 1, monitor: &Monitor::none() };
    let mut ours = Typed(matching("match:base=rbf,radius=1"));
    let mut rbf = (base::rows().find(|row| row.name == "rbf").unwrap().build)(&step("rbf")).unwrap();
    ours.fit(&training).unwrap();
    rbf.fit(&training).unwrap();
    let gamma = rbf.spec().replace("rbf:", "");
    assert_eq!(ours.spec(), format!("match:base=rbf,radius=1,{gamma}"));
}

#[test]
fn rejects_wrong_parameters() {
    for (text, part) in [
        ("match:quadratic=-1", "a finite number at least 0"),
        ("match:quadratic=inf", "a finite number at least 0"),
        ("match:local=1,smooth=nan", "a finite number at least 0"),
        ("match:smooth=0.1", "local or basis_local at least 1"),
        ("match:radius=-1", "a whole number from 0 to 1024"),
        ("match:basis_radius=2000", "a whole number from 0 to 1024"),
        ("match:base=dtw", "one of linear, rbf"),
        ("match:base=rbf,local=1", "a sum over cells"),
        ("match:base=rbf,degree=2", "'degree' is not known: the parameters of 'rbf' are gamma"),
        ("match:base=power-mean", "it needs p"),
        ("jitter:local=1", "'local' is not known"),
    ] {
        let message = LatentMatching::from_step(&step(text)).map(|_| ()).unwrap_err().to_string();
        assert!(message.contains(part), "{text}: {message}");
    }
    let (four, eight) = (grids(1, [4, 4, 3], 1), grids(1, [8, 8, 3], 1));
    for text in ["match:basis_radius=1", "match:local=1,smooth=0.1", "jitter", "match"] {
        let message = pairwise(&matching(text), &four, &eight).unwrap_err().to_string();
        assert!(message.contains("4 × 4 cells") && message.contains("8 × 8 cells"), "{message}");
    }
    // Values below 0 are no histograms, with and without displacements of cells.
    for text in ["match:base=chi2", "match:base=chi2,local=1", "jitter:base=chi2"] {
        assert!(pairwise(&matching(text), &grids(2, [2, 2, 1], 1), &signed(2, [2, 2, 1], 1)).is_err(), "{text}");
    }
}
