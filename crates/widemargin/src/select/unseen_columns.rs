//! Similarities of outlier detection, which has no labels by which to choose one.

use crate::data::{Rows as _, SamplesView};
use crate::error::{Error, Result};
use crate::model::ColumnMoments;
use crate::similarity::{AnySimilarity, PolynomialSpace};
use crate::tuning::{DISTANT_SPREADS, UNEVEN_SPREADS};

/// The similarity for the outliers of vectors: rbf, of standardized columns where these may have different units.
///
/// # Errors
/// [`Error::Parameter`] for samples of another kind; errors of reading the samples.
pub fn outlier_similarity(samples: &SamplesView<'_>, weights: Option<&[f64]>) -> Result<&'static str> {
    if samples.kind() != "vectors" {
        let kind = samples.kind();
        let expected = format!("name a similarity of {kind}; without labels none can be selected automatically");
        return Err(Error::parameter("similarity", "auto", expected));
    }
    Ok(if unevenness(samples, weights)? > UNEVEN_SPREADS { "z-score/rbf" } else { "rbf" })
}

/// A warning where outliers in some columns cannot be found: in columns of small spread, since the similarity compares
/// unscaled columns of very different spreads, in constant columns, which z-score and normal-scores omit, and in n-grams that tfidf omits.
///
/// # Errors
/// Errors of reading the samples.
pub fn unseen_columns(
    samples: &SamplesView<'_>,
    weights: Option<&[f64]>,
    similarity: &AnySimilarity,
) -> Result<Option<String>> {
    let specs = similarity.specs();
    let [spec] = &specs[..] else { return Ok(None) };
    if spec.starts_with("tfidf") {
        let warning = "tfidf omits n-grams that no training sample has, and weighs the others more: strings with such n-grams \
                       are not outliers for it, and fewer than expected may be detected; ngram and edit compare all";
        return Ok(Some(warning.to_owned()));
    }
    if samples.kind() != "vectors" {
        return Ok(None);
    }
    let name = spec.split([':', '/']).next().unwrap_or_default();
    if ["z-score", "normal-scores"].contains(&name) {
        let columns = spreads(samples, weights)?.map_or_else(Vec::new, |space| space.constant_columns());
        return Ok(columns.first().map(|first| {
            format!(
                "{} columns of the training samples (the first is column {first}, from 0) are constant, and {name} omits \
                 them: a sample with another value there is no outlier; check them separately",
                columns.len()
            )
        }));
    }
    if !["rbf", "laplacian", "linear", "polynomial"].contains(&name) {
        return Ok(None);
    }
    let factor = unevenness(samples, weights)?;
    Ok((factor > DISTANT_SPREADS).then(|| {
        format!(
            "the spreads of columns differ by a factor of {factor:.0}: outliers in columns of small spread are not found \
             with {name}, but with z-score/{name}, which standardizes them"
        )
    }))
}

/// The largest of the standard deviations of dense columns over the least that is above 0, among samples of weight above
/// 0; 1 for sparse ones.
fn unevenness(samples: &SamplesView<'_>, weights: Option<&[f64]>) -> Result<f64> {
    Ok(spreads(samples, weights)?.map_or(1.0, |space| space.unevenness()))
}

/// The spreads of dense columns, among samples of weight above 0.
fn spreads(samples: &SamplesView<'_>, weights: Option<&[f64]>) -> Result<Option<PolynomialSpace>> {
    let rows = samples.rows("outlier detection")?;
    if rows.is_sparse() {
        return Ok(None);
    }
    let ones = vec![1.0; rows.n_rows()];
    ColumnMoments::of(&rows, weights.unwrap_or(&ones))?.space(None).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{AnyRows, DenseView};

    #[test]
    fn columns_of_other_units_are_standardized() {
        let column = |row: usize, factor: f64| factor * ((row * 7 + 3) % 11) as f64;
        let of =
            |factor: f64| (0..50).flat_map(|row| [column(row, 1.0), 5.0, column(row, factor)]).collect::<Vec<f64>>();
        for (factor, similarity, is_warned) in
            [(1.0, "rbf", false), (5.0, "z-score/rbf", false), (1e3, "z-score/rbf", true)]
        {
            let values = of(factor);
            let view = SamplesView::Rows(AnyRows::DenseF64(DenseView::new(&values, 50, 3).unwrap()));
            assert_eq!(outlier_similarity(&view, None).unwrap(), similarity);
            let warning = |spec: &str| {
                let similarity = AnySimilarity::new(&[spec.to_owned()]).unwrap();
                unseen_columns(&view, None, &similarity).unwrap()
            };
            assert_eq!(warning("rbf:gamma=0.1").is_some(), is_warned);
            let constant = warning("z-score/rbf").unwrap();
            assert!(constant.contains("1 columns of") && constant.contains("column 1,"), "{constant}");
        }
    }
}
