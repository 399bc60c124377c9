//! The default candidates of a search for a kind of samples.

use std::collections::HashSet;

use super::candidate::Candidate;
use crate::data::{AnySamples, DenseMatrix, Samples, Series, Vectors};
use crate::descriptor::near_multiple;
use crate::descriptor::weisfeiler_lehman::are_graphs;
use crate::expansion::{NegativeEigenvalues, Normalization};
use crate::model::ColumnMoments;
use crate::tuning::{
    HEAVY_COLUMNS, HEAVY_KURTOSIS, LONG_STRING, MAX_CATEGORIES, SAME_SCALE, SHORT_STRING, UNEVEN_SPREADS,
};

/// The default candidates for a kind of samples; `is_part` if there are more samples than these.
pub(super) fn candidates_for(samples: &AnySamples, is_part: bool) -> Vec<Candidate> {
    let usual = Candidate::usual;
    let centered = |spec: &str| Candidate {
        similarity: vec![spec.to_owned()],
        normalization: Normalization::Centered(NegativeEigenvalues::Flip),
    };
    match samples {
        AnySamples::Vectors(vectors) => {
            let is_uneven = matches!(vectors, Vectors::Dense(matrix) if is_uneven(matrix));
            let prefix = if is_uneven { "z-score/" } else { "" };
            let names = ["laplacian", "distance", "cityblock", "rbf", "linear"];
            let mut all: Vec<Candidate> = names.iter().map(|name| usual(&format!("{prefix}{name}"))).collect();
            if is_uneven {
                // Columns of one unit may differ too: those that vary little are then less informative.
                all.extend(["laplacian", "rbf", "distance"].map(usual));
            }
            if matches!(vectors, Vectors::Dense(matrix) if has_heavy_tails(matrix)) {
                // A few extreme values determine the scale of such columns: their ranks do not depend on it.
                all.extend(["laplacian", "rbf", "distance"].map(|name| usual(&format!("normal-scores/{name}"))));
            }
            if is_histogram(vectors) {
                all.extend(["chi2", "intersection"].map(usual));
            }
            all
        }
        AnySamples::Far(vectors) => {
            let mut all = candidates_for(&AnySamples::Vectors(Vectors::Dense(vectors.differences.clone())), is_part);
            // Products of values far from 0 have no digits left for their differences.
            all.iter_mut().flat_map(|candidate| &mut candidate.similarity).for_each(|spec| {
                if spec == "linear" {
                    *spec = "mean-norm/linear".into();
                }
            });
            all
        }
        AnySamples::Strings(strings) if are_graphs(strings) => {
            ["wl:iterations=1/cosine", "wl:iterations=3/cosine", "wl:iterations=5/cosine"].map(usual).to_vec()
        }
        AnySamples::Strings(strings) => {
            let weighted = weighted_ngrams(strings).into_iter().map(usual);
            let compared = ["ngram:n=2", "ngram:n=3", "align", "edit"].map(usual);
            weighted.chain([centered("edit")]).chain(compared).collect()
        }
        AnySamples::Series(series) => {
            let spec = |window: &str| format!("dtw:window={window},root=true");
            // Other windows follow from the second if it is near the best.
            let windows = ["0", "0.05"].map(spec);
            // All scaled alike, they are the same candidate twice.
            let scalings: &[&str] = if is_normalized(series) { &[""] } else { &["", "znorm/"] };
            let scaled = |spec: &String| scalings.iter().map(|scaling| format!("{scaling}{spec}")).collect::<Vec<_>>();
            let warped = windows.iter().flat_map(scaled).map(|spec| centered(&spec));
            [convolved(is_part)].into_iter().chain(warped).collect()
        }
        AnySamples::Images(images) => {
            let cells = cells_of(images.height(), images.width());
            let specs = ["rbf", "rigid:radius=1"]
                .into_iter()
                .flat_map(|name| cells.iter().map(move |cells| format!("{cells}/{name}")));
            let mut all: Vec<Candidate> = specs.map(|spec| usual(&spec)).collect();
            if images.channels() == 3 {
                // Coarse shapes, fine ones that may be shifted, and colors complement each other.
                let [finest, largest] = [cells.first(), cells.last()].map(|cells| cells.map_or("hog", String::as_str));
                // Of images that are resized the same.
                let resized = largest.rsplit_once("hog").map_or("", |(before, _)| before);
                let similarity = vec![
                    format!("{largest}/rbf"),
                    format!("{finest}/rigid:radius=1"),
                    format!("{resized}colors:cells=4/chi2"),
                ];
                all.push(Candidate { similarity, normalization: Normalization::MeanNorm });
            } else {
                // Gradients are blind to brightness: its mean in squares of 4 pixels.
                let [height, width] = [images.height(), images.width()].map(|side| side.div_ceil(4));
                all.push(usual(&format!("resize:height={height},width={width}/pixels/rbf")));
            }
            all
        }
        AnySamples::Grids(_) => ["rigid:radius=1", "rigid:radius=2"].map(usual).to_vec(),
        AnySamples::BitSets(_) => ["tanimoto", "cosine"].map(usual).to_vec(),
        AnySamples::Own(_) | AnySamples::Described(_) => Vec::new(),
    }
}

/// Descriptors with cells of 4 and 8 pixels, of those that divide the sides of the images. Images whose sides neither
/// divides are resized to multiples of 8, by at most 4 pixels unless they are smaller than a cell.
fn cells_of(height: usize, width: usize) -> Vec<String> {
    let fits = |cell: usize| height.is_multiple_of(cell) && width.is_multiple_of(cell);
    let cells: Vec<String> =
        [4, 8].into_iter().filter(|&cell| fits(cell)).map(|cell| format!("hog:cell={cell}")).collect();
    if !cells.is_empty() {
        return cells;
    }
    let (height, width) = (near_multiple(height, 8), near_multiple(width, 8));
    [4, 8].map(|cell| format!("resize:height={height},width={width}/hog:cell={cell}")).to_vec()
}

/// MiniRocket and Hydra side by side: a fourth of their usual numbers of features is as informative for a thousand
/// series (benchmarks/series/README.md).
fn convolved(has_many: bool) -> Candidate {
    let specs = match has_many {
        true => ["minirocket/features", "hydra/features"],
        false => ["minirocket:features=2500/features", "hydra:groups=16/features"],
    };
    Candidate { similarity: specs.map(str::to_owned).to_vec(), normalization: Normalization::ZScore }
}

/// A linear model on unchanged vectors, scaled only where columns may have different units.
pub(super) fn linear_model(table: Option<&DenseMatrix<f32>>) -> Candidate {
    let normalization = if table.is_some_and(is_uneven) { Normalization::ZScore } else { Normalization::None };
    Candidate { similarity: vec!["features".to_owned()], normalization }
}

/// Weighted n-grams that suit strings: longer ones where strings are longer, but not as long as texts, words where
/// most strings have several, and those of each position where all strings have one length. Terms of a single training
/// sample are not informative.
fn weighted_ngrams(strings: &[String]) -> Vec<&'static str> {
    let n = strings.len().max(1);
    let lengths: Vec<usize> = strings.iter().map(|string| string.chars().count()).collect();
    let length = lengths.iter().sum::<usize>() / n;
    let have_words = 2 * strings.iter().filter(|string| string.trim().contains(char::is_whitespace)).count() > n;
    let mut all = vec!["tfidf:n=1-4,by=words-padded,min_df=2/features"];
    if (SHORT_STRING..LONG_STRING).contains(&length) {
        all.push("tfidf:n=1-8,by=words-padded,min_df=2/features");
    }
    if have_words {
        all.push("tfidf:n=1-2,by=words,min_df=2/features");
    }
    if length > 1 && lengths.iter().all(|one| *one == length) {
        all.extend(["tfidf:n=1-3,by=positions,min_df=5/features", "tfidf:n=1-3,by=positions,min_df=5/rbf"]);
    }
    all
}

/// Whether the spreads of dense columns differ so much that they may have different units.
fn is_uneven(matrix: &DenseMatrix<f32>) -> bool {
    let moments = matrix.view().and_then(|rows| ColumnMoments::of(&rows, &vec![1.0; matrix.n_rows]));
    moments.and_then(|moments| moments.space(None)).is_ok_and(|space| space.unevenness() > UNEVEN_SPREADS)
}

/// Whether many columns, other than those of a few distinct values, have heavy tails.
pub(super) fn has_heavy_tails(matrix: &DenseMatrix<f32>) -> bool {
    let n_heavy = (0..matrix.n_cols).filter(|&column| {
        let values = || matrix.values.iter().skip(column).step_by(matrix.n_cols).map(|x| f64::from(*x));
        let (n, mean) = (matrix.n_rows as f64, values().sum::<f64>() / matrix.n_rows as f64);
        let moment = |power: i32| values().map(|x| (x - mean).powi(power)).sum::<f64>() / n;
        let mut distinct = HashSet::new();
        let mut are_many = || values().any(|x| distinct.insert(x.to_bits()) && distinct.len() > MAX_CATEGORIES);
        moment(4) > HEAVY_KURTOSIS * moment(2).powi(2) && are_many()
    });
    n_heavy.count() as f64 > HEAVY_COLUMNS * matrix.n_cols as f64
}

/// Whether each channel of each series has mean 0 and the same deviation, so that z-normalization would scale all
/// alike.
fn is_normalized(series: &Series) -> bool {
    let channels = series.channels();
    let mut moments = (0..series.len() * channels).map(|at| {
        let values = series.series(at / channels).iter().skip(at % channels).step_by(channels);
        let values = values.map(|value| f64::from(*value));
        let n = series.length(at / channels) as f64;
        let mean = values.clone().sum::<f64>() / n;
        (mean, (values.map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt())
    });
    let Some((_, first)) = moments.clone().next() else { return false };
    first > 0.0
        && moments
            .all(|(mean, spread)| mean.abs() <= SAME_SCALE * first && (spread - first).abs() <= SAME_SCALE * first)
}

/// Whether rows look like histograms: nothing below 0, and more than half of all values 0.
pub(super) fn is_histogram(vectors: &Vectors) -> bool {
    let values = match vectors {
        Vectors::Dense(matrix) => &matrix.values,
        Vectors::Sparse(matrix) => &matrix.values,
    };
    let n_nonzero = values.iter().filter(|x| **x != 0.0).count();
    values.iter().all(|x| *x >= 0.0) && 2 * n_nonzero < vectors.len() * vectors.n_cols()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_of_one_length_are_compared_by_position() {
        let has_positions = |strings: &[&str]| {
            let strings = strings.iter().map(|&one| one.to_owned()).collect();
            candidates_for(&AnySamples::Strings(strings), false)
                .iter()
                .any(|one| one.similarity[0].contains("positions"))
        };
        assert!(has_positions(&["ACGT", "AGGT", "CCÄT"]));
        assert!(!has_positions(&["ACGT", "AGG"]) && !has_positions(&["A", "C"]));
    }

    #[test]
    fn columns_with_heavy_tails_are_also_compared_by_ranks() {
        let ranks = |f: fn(f32) -> f32| {
            let values: Vec<f32> = (0..600).map(|at| f((at * 37 % 101) as f32 / 12.0)).collect();
            let table = AnySamples::Vectors(Vectors::Dense(DenseMatrix { values, n_rows: 300, n_cols: 2 }));
            let candidates = candidates_for(&table, false);
            candidates.iter().filter(|one| one.similarity[0].starts_with("normal-scores/")).count()
        };
        assert_eq!([ranks(|x| x), ranks(|x| (2.0 * x).exp()), ranks(|x| f32::from(x == 0.0))], [0, 3, 0]);
    }

    #[test]
    fn graphs_are_compared_by_the_patterns_around_their_nodes() {
        let graph = r#"{"nodes": ["C", "O"], "edges": [[0, 1]]}"#.to_owned();
        let specs = |strings: Vec<String>| {
            let candidates = candidates_for(&AnySamples::Strings(strings), false);
            candidates.into_iter().map(|one| one.similarity[0].clone()).collect::<Vec<_>>()
        };
        assert!(specs(vec![graph.clone(); 4]).iter().all(|spec| spec.starts_with("wl:")));
        assert!(specs(vec![graph, "CO".to_owned()]).iter().all(|spec| !spec.starts_with("wl:")));
    }

    #[test]
    fn images_of_any_size_have_candidates() {
        use crate::data::Images;
        use crate::similarity::{AnySimilarity, Similarity};
        for (height, width, channels, first) in [
            (25, 25, 1, "resize:height=24,width=24/hog:cell=4/rbf"),
            (3, 50, 3, "resize:height=8,width=48/hog:cell=4/rbf"),
            (28, 28, 1, "hog:cell=4/rbf"),
            (32, 40, 3, "hog:cell=4/rbf"),
        ] {
            let pixels = (0..2 * height * width * channels).map(|at| (at * 37 % 251) as u8).collect();
            let images = AnySamples::Images(Images::new(pixels, height, width, channels).unwrap());
            let candidates = candidates_for(&images, false);
            assert_eq!(candidates[0].similarity, [first]);
            for candidate in candidates {
                let mut similarity = AnySimilarity::new(&candidate.similarity).unwrap();
                let monitor = crate::monitor::Monitor::none();
                let training =
                    crate::data::Training { samples: &images, weights: &[1.0; 2], threads: 1, monitor: &monitor };
                similarity.fit(&training).unwrap();
                assert!(similarity.describe(images.clone()).is_ok(), "{:?}", candidate.similarity);
            }
        }
    }

    #[test]
    fn series_that_are_normalized_are_not_normalized_again() {
        use crate::descriptor::ZNorm;
        let values = (0..120).map(|t| (t as f32 * 0.7).sin() * (1 + t / 30) as f32).collect();
        let series = Series::new(values, &[30, 30], 2).unwrap();
        assert!(!is_normalized(&series));
        assert_eq!(candidates_for(&AnySamples::Series(series.clone()), false).len(), 5);
        let mut scaled = ZNorm.normalized(series);
        // As with n − 1 in place of n.
        scaled.values_mut().iter_mut().for_each(|value| *value *= 0.98);
        assert!(is_normalized(&scaled));
        let candidates = candidates_for(&AnySamples::Series(scaled.clone()), false);
        assert!(candidates.len() == 3 && candidates.iter().all(|one| !one.similarity[0].contains("znorm")));
        scaled.values_mut()[..60].iter_mut().for_each(|value| *value += 0.1);
        assert!(!is_normalized(&scaled));
    }
}
