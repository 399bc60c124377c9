//! An explanation is the decision value: its terms and the intercept add up to it, for every method, similarity and
//! normalization; and the pieces of a similarity add up to it.

use std::collections::BTreeSet;

use crate::common::histograms;
use crate::every_similarity::{N, dense, fitted, for_every_similarity, noise, samples_of};
use widemargin::Error;
use widemargin::data::{AnySamples, DenseView, Grids, Images, Label, Labels, Samples, SamplesView, Series};
use widemargin::expansion::Normalization;
use widemargin::model::{
    BasisExpansionParams, Classifier, Explanation, Model, PowerMeanParams, TermSource, ThinPlateParams,
};
use widemargin::monitor::Monitor;
use widemargin::similarity::{
    AdditiveKernel, AnySimilarity, Comparison, ConditionalKernel, PathStep, Pieces, Similarity, SimilarityRow, Spec,
    pairwise,
};

/// Terms and intercept add up to the model's own decision values.
fn check_sums(model: &dyn Classifier, samples: &SamplesView<'_>, row: usize, what: &str) -> Explanation {
    let explanation = model.explain(samples, row, None, 3).unwrap();
    let n_problems = explanation.decision_values.len();
    let all = model.decision_values(samples, 1, &Monitor::none()).unwrap();
    for problem in 0..n_problems {
        let value = all[row * n_problems + problem];
        let parts = explanation.terms.iter().map(|term| term.contributions[problem]);
        let (sum, size) = parts.fold((0.0, 0.0), |(sum, size): (f64, f64), part| (sum + part, size + part.abs()));
        let found = sum + explanation.intercepts[problem];
        let rounding = 2e-6 * (size + value.abs() + explanation.intercepts[problem].abs() + 1e-3);
        assert!((found - value).abs() <= rounding, "{what}, row {row}: {found}, not {value}, of {size}");
        let found = explanation.decision_values[problem];
        assert!((found - value).abs() <= rounding, "{what}, row {row}: {found}, not {value}");
    }
    for term in &explanation.terms {
        for (weight, contribution) in term.weights.iter().zip(&term.contributions) {
            assert_eq!(*contribution, weight * (term.value - term.reference), "{what}");
        }
    }
    let predicted = explanation.predicted_labels();
    if model.is_multilabel() {
        let said = model.predict_labels(samples, 1, &Monitor::none()).unwrap();
        let said = said.values[row * n_problems..][..n_problems].iter().zip(model.classes());
        assert_eq!(predicted, said.filter(|(has, _)| **has == 1).map(|(_, label)| label).collect::<Vec<_>>(), "{what}");
    } else {
        assert_eq!(predicted, [model.predict(samples, 1, &Monitor::none()).unwrap()[row]], "{what}");
    }
    let likely = model.predict_proba(samples, 1, &Monitor::none()).unwrap();
    let k = model.classes().len();
    for (found, expected) in explanation.probabilities.iter().flatten().zip(&likely.values[row * k..][..k]) {
        assert!((found - expected).abs() < 1e-5, "{what}, row {row}: {found}, not {expected}");
    }
    explanation
}

fn labels(n: usize, classes: usize) -> Labels {
    Labels::new((0..n).map(|at| (at % classes) as i64))
}

#[test]
fn terms_add_up_for_every_similarity() {
    for_every_similarity(|_, spec, samples| {
        for classes in [2, 3] {
            let params = BasisExpansionParams::new(AnySimilarity::new(&[spec]).unwrap()).n_basis(8).max_iter(5);
            let model = params.fit(samples, &labels(N, classes)).unwrap();
            check_sums(&model, &SamplesView::Other(samples), 7, spec);
        }
    });
}

#[test]
fn terms_add_up_for_each_of_several_labels() {
    let vectors = &samples_of("vectors")[0];
    for n_labels in [1, 2, 3] {
        let answers: Vec<f64> = noise(N * n_labels).into_iter().map(|x| f64::from(u8::from(x > 0.5))).collect();
        let labels = Labels::multilabel((0..n_labels as i64).map(Label::Integer).collect(), &answers).unwrap();
        let view = SamplesView::Other(vectors);
        let rows = view.rows("a test").unwrap();
        let similarity = AnySimilarity::new(&["rbf:gamma=1"]).unwrap();
        let models: [Box<dyn Classifier>; 3] = [
            Box::new(BasisExpansionParams::new(similarity).n_basis(8).fit(vectors, &labels).unwrap()),
            Box::new(ThinPlateParams::new(ConditionalKernel::Distance).fit(&rows, &labels).unwrap()),
            Box::new(PowerMeanParams::auto().fit(&rows, &labels).unwrap()),
        ];
        for model in &models {
            let what = format!("{}, {n_labels} labels", model.method());
            let own = check_sums(&**model, &view, 5, &what);
            assert!(own.multilabel && own.decision_values.len() == n_labels, "{what}");
            let largest = own.decision_values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            assert_eq!(own.decision_values[own.explained], largest, "{what}");
            for label in 0..n_labels {
                let explanation = model.explain(&view, 5, Some(label), 2).unwrap();
                assert_eq!((explanation.explained, explanation.predicted), (label, own.predicted), "{what}");
                // A label is explained by its own problem, with its sign.
                assert_eq!(explanation.decision_value(label), explanation.decision_values[label], "{what}");
                assert_eq!(
                    explanation.contribution(&explanation.terms[0], label),
                    explanation.terms[0].contributions[label],
                    "{what}"
                );
                if model.method() != "power-mean" {
                    let compared = |at: &usize| explanation.terms[*at].comparison.is_some();
                    let to_bases: Vec<usize> = explanation
                        .strongest(label)
                        .into_iter()
                        .filter(|at| matches!(explanation.terms[*at].source, TermSource::Basis { .. }))
                        .collect();
                    assert!(to_bases[..2].iter().all(compared) && !to_bases[2..].iter().any(compared), "{what}");
                }
            }
            let error = model.explain(&view, 5, Some(n_labels), 2).unwrap_err();
            assert!(matches!(error, Error::Parameter { name: "class", .. }), "{error}");
        }
    }
}

#[test]
fn terms_add_up_under_every_normalization_and_of_joined_similarities() {
    let vectors = samples_of("vectors");
    let strings = samples_of("strings");
    let cases: [(&[&str], &AnySamples, &[&str]); 7] = [
        (
            &["rbf"],
            &vectors[0],
            &["mean-norm", "z-score", "covariance", "none", "nystroem", "nystroem:negative-eigenvalues=flip"],
        ),
        (
            &["laplacian", "chi2:weight=0.5"],
            &vectors[1],
            &["mean-norm", "z-score", "covariance", "nystroem:negative-eigenvalues=shift"],
        ),
        (&["distance"], &vectors[2], &["mean-norm", "centered", "centered:negative-eigenvalues=flip"]),
        (&["thin-plate"], &vectors[2], &["centered"]),
        (&["rbf:bases=4", "features"], &vectors[1], &["mean-norm", "z-score", "none"]),
        (&["tfidf:n=1-2/features", "edit"], &strings[0], &["mean-norm", "z-score", "none", "nystroem"]),
        (&["tfidf:n=1-2/features"], &strings[0], &["mean-norm", "none"]),
    ];
    for (specs, samples, normalizations) in cases {
        for normalization in normalizations {
            for classes in [2, 3] {
                let similarity = AnySimilarity::new(specs).unwrap();
                let normalization: Normalization = normalization.parse().unwrap();
                let params = BasisExpansionParams::new(similarity).n_basis(9).normalization(normalization);
                let model = params.fit(samples, &labels(N, classes)).unwrap();
                for row in [0, 11, N - 1] {
                    let what = format!("{specs:?}, {normalization}");
                    let explanation = check_sums(&model, &SamplesView::Other(samples), row, &what);
                    assert_eq!(explanation.parts.len(), specs.len());
                }
            }
        }
    }
}

#[test]
fn terms_of_strings_are_named_and_bases_are_training_rows() {
    let strings =
        AnySamples::Strings(["banana", "bandana", "cabana", "cobalt", "cabbage", "cable"].map(str::to_owned).into());
    let similarity = AnySimilarity::new(&["tfidf:n=2/features"]).unwrap();
    let params = BasisExpansionParams::new(similarity).normalization(Normalization::None);
    let model = params.fit(&strings, &labels(6, 2)).unwrap();
    let explanation = check_sums(&model, &SamplesView::Other(&strings), 0, "terms");
    let names: BTreeSet<String> = explanation
        .terms
        .iter()
        .map(|term| match &term.source {
            TermSource::Column { name: Some(name), .. } => name.clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(names, ["an", "ba", "na"].map(str::to_owned).into());

    let vectors = dense(noise(N * 2));
    let similarity = AnySimilarity::new(&["thin-plate"]).unwrap();
    let params = BasisExpansionParams::new(similarity).n_basis(9).normalization("centered".parse().unwrap());
    let model = params.fit(&vectors, &labels(N, 2)).unwrap();
    let explanation = check_sums(&model, &SamplesView::Other(&vectors), 3, "rows");
    assert_eq!(explanation.terms.len(), 9);
    for term in &explanation.terms {
        // The training row of a basis: its similarity to itself is that of distance 0.
        if let TermSource::Basis { row: Some(row), index } = term.source {
            let own = model.explain(&SamplesView::Other(&vectors), row, None, 0).unwrap();
            assert_eq!(own.terms[index].value, 0.0, "basis {index} of row {row}");
        }
    }
}

#[test]
fn power_mean_and_thin_plate_models_add_up() {
    let (values, labels) = histograms(90, 12, 3, 1);
    let view = DenseView::new(&values, 90, 12).unwrap();
    for two in [false, true] {
        let labels = match two {
            true => Labels::new((0..labels.len()).map(|at| i64::from(labels.codes()[at] == 0))),
            false => labels.clone(),
        };
        for kernel in [AdditiveKernel::Chi2, AdditiveKernel::Intersection, AdditiveKernel::PowerMean { p: -8.0 }] {
            let mut model = PowerMeanParams::new(kernel).c(1.0).fit(&view, &labels).unwrap();
            model.set_feature_names(Some((0..12).map(|at| format!("bin {at}")).collect())).unwrap();
            let explanation = check_sums(&model, &view.into(), 4, "power mean");
            for term in &explanation.terms {
                let TermSource::Column { index, name } = &term.source else { panic!("{term:?}") };
                assert_eq!(name.as_deref(), Some(format!("bin {index}").as_str()));
                assert_eq!(term.value, values[4 * 12 + index]);
                // The share of a column does not depend on the others.
                let mut alone = vec![0.0; 12];
                alone[*index] = term.value;
                let alone = DenseView::new(&alone, 1, 12).unwrap();
                let value = model.decision_values(&alone.into(), 1, &Monitor::none()).unwrap();
                for (value, part) in value.iter().zip(&term.contributions) {
                    assert!((value - part).abs() <= 1e-6 * value.abs().max(1.0), "{value} and {part}");
                }
            }
        }
        for kernel in ["thin-plate", "cityblock", "rbf:gamma=0.5", "cubic"] {
            let kernel: ConditionalKernel = kernel.parse().unwrap();
            let model = ThinPlateParams::new(kernel).fit(&view, &labels).unwrap();
            let explanation = check_sums(&model, &view.into(), 4, "thin plate");
            let comparisons: Vec<&Comparison> =
                explanation.terms.iter().filter_map(|term| term.comparison.as_ref()).collect();
            assert_eq!(comparisons.len(), 3);
            assert!(comparisons.iter().all(|one| (one.total - one.pieces.shares().sum::<f64>()).abs() < 1e-12));
        }
    }
    let model = PowerMeanParams::new(AdditiveKernel::Chi2).c(1.0).fit(&view, &labels).unwrap();
    let error = Model::explain(&model, &view.into(), 90, None, 1).unwrap_err();
    assert!(matches!(error, Error::Parameter { name: "row", .. }), "{error}");
}

/// The similarity as a function of the sum of its pieces; `None` for those without pieces.
fn similarity_of(row: &SimilarityRow, spec: &Spec, total: f64, sizes: [f64; 2], own: [f64; 2]) -> Option<f64> {
    let arguments = row.arguments(&spec.steps[0]).unwrap();
    let number = |name: &'static str| arguments.get::<f64>(name).unwrap();
    let exponential = |d: f64, gamma: Option<f64>| gamma.map_or(-d, |gamma| (-gamma * d).exp());
    let r = total.max(0.0).sqrt();
    Some(match row.name {
        "linear" | "ngram" | "intersection" | "chi2" | "hellinger" | "jensen-shannon" | "power-mean" => total,
        "rbf" | "laplacian" | "canberra" => (-number("gamma")? * total).exp(),
        "polynomial" => (number("gamma")? * total + number("coef0")?).powi(arguments.value("degree").unwrap()),
        "sigmoid" => (number("gamma")? * total + number("coef0")?).tanh(),
        "emd" => exponential(total, number("gamma")),
        "thin-plate" if spec.to_string() == "thin-plate" => {
            if r > 0.0 {
                total * r.ln()
            } else {
                0.0
            }
        }
        "distance" => -r,
        "cubic" => r.powi(3),
        "cityblock" => -total,
        "multiquadric" => -(1.0 + number("gamma")? * total).sqrt(),
        "inverse-multiquadric" => 1.0 / (1.0 + number("gamma")? * total).sqrt(),
        "tanimoto" => {
            let either = own[0] + own[1] - total;
            if either > 0.0 { total / either } else { 1.0 }
        }
        "cosine" => match (own[0] * own[1]).sqrt() {
            size if size > 0.0 => total / size,
            _ => f64::from(u8::from(own[0] == own[1])),
        },
        "rigid" | "deformable" => total,
        "dtw" => {
            let d = if arguments.value("normalize").unwrap() { total / (sizes[0] + sizes[1]) } else { total };
            exponential(if arguments.value("root").unwrap() { d.sqrt() } else { d }, number("gamma"))
        }
        "wdtw" | "msm" | "twe" | "erp" => exponential(total, number("gamma")),
        "lcss" => exponential(1.0 + total / sizes[0].min(sizes[1]), number("gamma")),
        "edit" => {
            let [m, n] = sizes;
            let s = match arguments.text("metric").unwrap() {
                "levenshtein" => {
                    let [insert, delete, substitute] =
                        ["insert", "delete", "substitute"].map(|name| number(name).unwrap());
                    let rest = if m > n { (m - n) * delete } else { (n - m) * insert };
                    total / (m * delete + n * insert).min(m.min(n) * substitute + rest).max(1e-300)
                }
                "osa" => total / m.max(n).max(1e-300),
                "indel" => total / (m + n).max(1e-300),
                _ if m.max(n) == 0.0 => 0.0,
                _ => 1.0 - total / m.max(n),
            };
            number("gamma").map_or(1.0 - s, |gamma| (-gamma * s).exp())
        }
        "align" => match (own[0] * own[1]).sqrt() {
            _ if !arguments.value::<bool>("normalize").unwrap() => total,
            size if size > 0.0 => total / size,
            _ => return None,
        },
        _ => return None,
    })
}

/// How long a sample is.
fn size_of(samples: &AnySamples, at: usize) -> f64 {
    match samples {
        AnySamples::Strings(strings) => strings[at].chars().count() as f64,
        AnySamples::Series(series) => series.length(at) as f64,
        _ => 0.0,
    }
}

#[test]
fn pieces_add_up_to_the_similarity() {
    let mut silent = BTreeSet::new();
    let mut checked = BTreeSet::new();
    for_every_similarity(|row, spec, samples| {
        let (similarity, learned) = fitted(spec, samples);
        if similarity.metadata().brings_columns {
            return;
        }
        let block = pairwise(&similarity, samples, samples).unwrap();
        let described = similarity.describe(samples.clone()).unwrap();
        for (sample, basis) in [(0, 0), (1, 5), (3, 9), (12, 4), (29, 17), (8, 8), (0, 7), (7, 0)] {
            let comparison = |a, b| similarity.comparison(0, &one(&described, a), &one(&described, b)).unwrap();
            let Some(pair) = comparison(basis, sample) else {
                silent.insert(spec.to_owned());
                continue;
            };
            let sum: f64 = pair.pieces.shares().sum();
            assert!((sum - pair.total).abs() <= 1e-9 * pair.total.abs().max(1.0), "{spec}: {sum}, not {}", pair.total);
            let own = [comparison(basis, basis), comparison(sample, sample)].map(|own| own.unwrap().total);
            let sizes = [size_of(samples, basis), size_of(samples, sample)];
            let Some(right) = similarity_of(row, &learned, pair.total, sizes, own) else { continue };
            let found = f64::from(block[sample * N + basis]);
            let close = (found - right).abs() <= 3e-5 * found.abs().max(1.0);
            assert!(close, "{learned}, {}, {basis} and {sample}: {right}, not {found}", samples.kind());
            checked.insert(spec.to_owned());
        }
    });
    for spec in
        ["rbf", "dtw:root=true", "erp:g=0.5,window=0.3", "lcss:epsilon=0.2", "edit:metric=osa", "align:mode=semiglobal"]
    {
        assert!(checked.contains(spec), "{spec} was not checked: {checked:?}");
    }
    // The similarities without pieces.
    let names: BTreeSet<&str> = silent.iter().map(|spec| spec.split(':').next().unwrap()).collect();
    let known = ["edit", "gappy", "jitter", "match", "mismatch", "soft-dtw", "subsequence"];
    assert_eq!(names, known.into(), "{silent:?}");
    let edits: Vec<&String> = silent.iter().filter(|spec| spec.starts_with("edit")).collect();
    assert_eq!(edits, ["edit:metric=damerau"]);
}

fn one(samples: &AnySamples, at: usize) -> AnySamples {
    Samples::select(samples, &[at])
}

fn one_part(spec: &str, samples: &AnySamples, basis: usize, sample: usize) -> Comparison {
    let (similarity, _) = fitted(spec, samples);
    let described = similarity.describe(samples.clone()).unwrap();
    similarity.comparison(0, &one(&described, basis), &one(&described, sample)).unwrap().unwrap()
}

/// Σ over the pairs of a warping path, and that it is one: from the first pair to the last in steps of at most 1.
fn cost_of_warping(path: &[PathStep], x: &[f32], y: &[f32]) -> f64 {
    let at = |step: &PathStep| (step.basis.unwrap(), step.sample.unwrap());
    assert_eq!((at(&path[0]), at(&path[path.len() - 1])), ((0, 0), (x.len() - 1, y.len() - 1)));
    for pair in path.windows(2) {
        let ((i, j), (k, l)) = (at(&pair[0]), at(&pair[1]));
        assert!(k - i <= 1 && l - j <= 1 && (k, l) != (i, j), "{path:?}");
    }
    path.iter().map(|step| f64::from(x[at(step).0] - y[at(step).1]).powi(2)).sum()
}

/// The least cost of all warping paths, each tried.
fn least_by_trying(x: &[f32], y: &[f32]) -> f64 {
    let here = f64::from(x[0] - y[0]).powi(2);
    let rest = [(1, 1), (1, 0), (0, 1)].map(|(i, j)| {
        let (x, y) = (&x[i.min(x.len())..], &y[j.min(y.len())..]);
        if x.is_empty() || y.is_empty() { f64::INFINITY } else { least_by_trying(x, y) }
    });
    let least = rest.into_iter().fold(f64::INFINITY, f64::min);
    here + if x.len() + y.len() == 2 { 0.0 } else { least }
}

#[test]
fn a_warping_path_is_the_cheapest_of_all() {
    let lengths: Vec<usize> = (0..12).map(|row| 1 + row % 7).collect();
    let series = Series::new(noise(lengths.iter().sum()), &lengths, 1).unwrap();
    let samples = AnySamples::Series(series.clone());
    for (basis, sample) in (0..12).flat_map(|basis| (0..12).map(move |sample| (basis, sample))) {
        let comparison = one_part("dtw", &samples, basis, sample);
        let Pieces::TimeSteps { path } = &comparison.pieces else { panic!("{comparison:?}") };
        let (x, y) = (series.series(basis), series.series(sample));
        let cost = cost_of_warping(path, x, y);
        assert!((cost - least_by_trying(x, y)).abs() < 1e-5, "{path:?}");
        assert!((cost - comparison.total).abs() < 1e-5);
    }
}

/// The characters along a path: each of both strings once and in order, where it covers them.
fn characters(path: &[PathStep], of: fn(&PathStep) -> Option<usize>) -> Vec<usize> {
    path.iter().filter_map(of).collect()
}

#[test]
fn a_path_of_edits_turns_one_string_into_the_other() {
    let words = ["kitten", "sitting", "", "abcd", "abdc", "saturday", "sunday", "né"].map(str::to_owned);
    let samples = AnySamples::Strings(words.to_vec());
    for spec in ["edit", "edit:insert=2,delete=3,substitute=4", "edit:metric=indel", "edit:metric=osa"] {
        for (basis, sample) in (0..8).flat_map(|basis| (0..8).map(move |sample| (basis, sample))) {
            let comparison = one_part(spec, &samples, basis, sample);
            let Pieces::Characters { path } = &comparison.pieces else { panic!("{comparison:?}") };
            let (x, y): (Vec<char>, Vec<char>) = (words[basis].chars().collect(), words[sample].chars().collect());
            assert_eq!(characters(path, |step| step.basis).len(), x.len());
            let mut of_y = characters(path, |step| step.sample);
            of_y.sort_unstable();
            assert_eq!(of_y, (0..y.len()).collect::<Vec<usize>>());
            for step in path {
                if let (Some(i), Some(j), true) = (step.basis, step.sample, spec == "edit") {
                    assert_eq!(step.share, f64::from(u8::from(x[i] != y[j])));
                }
            }
        }
    }
    assert_eq!(one_part("edit", &samples, 0, 1).total, 3.0);
    assert_eq!(one_part("edit", &samples, 5, 6).total, 3.0);
    assert_eq!(one_part("edit:metric=osa", &samples, 3, 4).total, 1.0);
    assert_eq!(one_part("edit", &samples, 3, 4).total, 2.0);
}

#[test]
fn the_path_of_an_alignment_has_its_score() {
    // Biopython's PairwiseAligner: a gap of two between the halves.
    let samples = AnySamples::Strings(["ACGTTTACG", "ACGTACG", "TTT"].map(str::to_owned).into());
    let comparison = one_part("align:mode=global,match=2,mismatch=-3,open=-2,extend=-1", &samples, 0, 1);
    let Pieces::Characters { path } = &comparison.pieces else { panic!("{comparison:?}") };
    assert_eq!((comparison.total, path.len()), (11.0, 9));
    let gaps: Vec<f64> = path.iter().filter(|step| step.sample.is_none()).map(|step| step.share).collect();
    assert_eq!(gaps, [-2.0, -1.0]);
    let comparison = one_part("align:mode=local", &samples, 0, 2);
    let Pieces::Characters { path } = &comparison.pieces else { panic!("{comparison:?}") };
    assert_eq!(characters(path, |step| step.basis), [3, 4, 5]);
}

#[test]
fn cells_follow_a_shift_and_pixels_have_their_places() {
    // One bright cell, moved by a row and two columns.
    let (rows, cols) = (5, 6);
    let at = |row: usize, col: usize| (0..rows * cols).map(move |cell| f32::from(u8::from(cell == row * cols + col)));
    let grids = Grids::new(at(1, 1).chain(at(2, 3)).collect(), rows, cols, 1).unwrap();
    let comparison = one_part("rigid:radius=2,penalty=0.03", &AnySamples::Grids(grids), 0, 1);
    let Pieces::Cells { cells, grid } = &comparison.pieces else { panic!("{comparison:?}") };
    assert_eq!(*grid, [rows, cols]);
    let bright = cells.iter().find(|cell| cell.basis == [1, 1]).unwrap();
    assert_eq!(bright.sample, Some([2, 3]));
    assert!((comparison.total - (1.0 - 0.03 * 5.0)).abs() < 1e-6, "{}", comparison.total);

    let pixels: Vec<u8> = noise(6 * 4 * 4).into_iter().map(|x| (255.0 * x) as u8).collect();
    let images = AnySamples::Images(Images::new(pixels.clone(), 4, 4, 1).unwrap());
    let params = BasisExpansionParams::new(AnySimilarity::new(&["pixels/rbf"]).unwrap());
    let model = params.n_basis(6).fit(&images, &labels(6, 2)).unwrap();
    let explanation = check_sums(&model, &SamplesView::Other(&images), 0, "pixels");
    let (basis, comparison) = explanation
        .terms
        .iter()
        .find_map(|term| match (&term.source, &term.comparison) {
            (TermSource::Basis { row: Some(row), .. }, Some(comparison)) if *row != 0 => Some((*row, comparison)),
            _ => None,
        })
        .unwrap();
    let Pieces::Cells { cells, .. } = &comparison.pieces else { panic!("{comparison:?}") };
    for (pixel, cell) in cells.iter().enumerate() {
        let difference = (f64::from(pixels[pixel]) - f64::from(pixels[basis * 16 + pixel])) / 255.0;
        assert!((cell.share - difference.powi(2)).abs() < 1e-6);
    }
}

#[test]
fn copies_of_the_samples_are_explained_alike() {
    // A row alone, and the same among others.
    let samples = &samples_of("strings")[0];
    let similarity = AnySimilarity::new(&["edit", "ngram:n=2"]).unwrap();
    let model = BasisExpansionParams::new(similarity).n_basis(7).fit(samples, &labels(N, 3)).unwrap();
    let among = model.explain(&SamplesView::Other(samples), 9, None, 4).unwrap();
    let alone = model.explain(&SamplesView::Other(&Samples::select(samples, &[9])), 0, None, 4).unwrap();
    assert_eq!(among, alone);
    assert_eq!(among.terms.iter().filter(|term| term.comparison.is_some()).count(), 4);
    let json = serde_json::to_value(&among).unwrap();
    assert_eq!(json["terms"][0]["kind"], "basis");
}
