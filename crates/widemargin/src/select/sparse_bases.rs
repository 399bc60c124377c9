//! Selection of bases by an L1-penalized SVM.

use crate::data::{DenseMatrix, Labels, Rows};
use crate::error::{Error, Result, require_cost};
use crate::expansion::BasisExpansion;
use crate::monitor::Monitor;
use crate::problem::{Intercept, OneVsRest};
use crate::similarity::Similarity;
use crate::solve::l1::{self, L1Settings};

/// The indices of the bases that have a non-zero weight in any two-class problem and any similarity when the linear SVM
/// on `phi` (the features of the training samples) is trained with an L1 penalty and the weight `c` of the losses: the
/// smaller `c`, the fewer. Refit on these bases alone, with the usual penalty.
///
/// # Errors
/// [`Error::Parameter`] if `c` is not above 0, or if the features of the expansion do not correspond to bases
/// (Nyström); [`Error::Shape`] if features and labels are inconsistent; errors of [`l1::solve`].
pub fn pick_bases<S: Similarity>(
    expansion: &BasisExpansion<S>,
    phi: &DenseMatrix<f32>,
    labels: &Labels,
    c: f64,
    settings: &L1Settings,
    monitor: &Monitor<'_>,
) -> Result<Vec<usize>> {
    let n_columns = expansion.n_columns();
    require_cost(c)?;
    if n_columns == 0 || !expansion.normalization().has_feature_per_basis() || phi.n_cols != expansion.n_features() {
        return Err(Error::parameter(
            "normalization",
            expansion.normalization(),
            "mean-norm, z-score or none, whose features are one a basis",
        ));
    }
    labels.check_one_class("selecting sparse bases")?;
    labels.check(phi.n_rows)?;
    let view = phi.view()?;
    let costs = vec![c; view.n_rows()];
    let targets = OneVsRest::of(labels);
    let solved = l1::solve(&view, targets, &costs, Intercept::Free, settings, monitor)?;
    let weights: Vec<f64> = solved.into_iter().flat_map(|solution| solution.weights).collect();
    let squares = expansion.squares_of_bases(&weights);
    Ok((0..n_columns).filter(|&basis| squares[basis] > 0.0).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basis::BasisChoice;
    use crate::data::{AnySamples, Vectors};
    use crate::model::BasisExpansionParams;
    use crate::similarity::AnySimilarity;

    #[test]
    fn a_smaller_c_keeps_fewer_bases() {
        let points: Vec<f32> = (0..120).map(|i| (i % 40) as f32 + if i % 2 == 0 { 0.0 } else { 50.0 }).collect();
        let labels = Labels::new((0..120).map(|i| i64::from(i % 2 == 0)));
        let samples = DenseMatrix { values: points, n_rows: 120, n_cols: 1 };
        let samples = AnySamples::Vectors(Vectors::Dense(samples));
        let params = BasisExpansionParams::new(AnySimilarity::new(&["rbf:gamma=0.01"]).unwrap());
        let model = params.basis(BasisChoice::Index).n_basis(20).fit(&samples, &labels).unwrap();
        let phi = model.expansion().transform(&samples, 1).unwrap();
        let pick = |c| {
            pick_bases(model.expansion(), &phi, &labels, c, &L1Settings::default(), &Monitor::none()).unwrap().len()
        };
        let (few, more) = (pick(0.05), pick(10.0));
        assert!(few > 0 && few < more && more < 20, "{few} {more}");
        assert!(pick_bases(model.expansion(), &phi, &labels, 0.0, &L1Settings::default(), &Monitor::none()).is_err());
    }
}
