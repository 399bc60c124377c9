//! How important the columns of a table are to a similarity: their shares of its column weights.

use crate::data::TableColumns;
use crate::parameters::List;
use crate::similarity::keeps_columns;
use crate::spec::Spec;

/// The importance of each column of a table, for the similarities with these specs: its share of their column weights.
/// The features of a column are added up; without `columns` each feature is a column. `None` if no similarity has
/// column weights.
pub fn feature_importances(similarities: &[String], columns: Option<&TableColumns>) -> Option<Vec<f64>> {
    let shares: Vec<Vec<f64>> = similarities.iter().filter_map(|spec| shares(spec)).collect();
    let of_feature =
        |at: usize| shares.iter().map(|of_part| of_part.get(at).unwrap_or(&0.0)).sum::<f64>() / shares.len() as f64;
    let of_features: Vec<f64> = (0..shares.first()?.len()).map(of_feature).collect();
    let Some(columns) = columns.filter(|columns| columns.n_features() == of_features.len()) else {
        return Some(of_features);
    };
    let mut rest = of_features.as_slice();
    let of_columns = columns.0.iter().map(|column| {
        let (own, after) = rest.split_at(column.n_features());
        rest = after;
        own.iter().sum()
    });
    Some(of_columns.collect())
}

/// The share of each feature in the weights of a scaling that comes before all steps that make other columns.
fn shares(spec: &str) -> Option<Vec<f64>> {
    let Spec { steps } = spec.parse().ok()?;
    let (_, descriptors) = steps.split_last()?;
    let mut parameters = descriptors.iter().take_while(|step| keeps_columns(step)).flat_map(|step| step.values());
    let List(weights) = parameters.find(|(key, _)| *key == "weights")?.1.parse().ok()?;
    let total: f64 = weights.iter().map(|weight| f64::from(*weight)).sum();
    (total > 0.0).then(|| weights.iter().map(|weight| f64::from(*weight) / total).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{ColumnKind, TableColumn};

    #[test]
    fn shares_of_weights_are_averaged_over_similarities_and_added_up_over_features() {
        let specs = |texts: &[&str]| texts.iter().map(|text| text.to_string()).collect::<Vec<_>>();
        let of = |texts: &[&str]| feature_importances(&specs(texts), None);
        assert_eq!(of(&["z-score:weights=1;0;3/rbf:gamma=2"]), Some(vec![0.25, 0.0, 0.75]));
        assert_eq!(of(&["normal-scores/z-score:weights=3;1/rbf"]), Some(vec![0.75, 0.25]));
        assert_eq!(
            of(&["mean-norm/z-score:weights=1;1/rbf", "rbf", "z-score:weights=0;5/laplacian"]),
            Some(vec![0.25, 0.75])
        );
        for none in ["rbf", "z-score/rbf", "z-score:weights=0;0/rbf", "hog/z-score:weights=1;2/rbf"] {
            assert_eq!(of(&[none]), None, "{none}");
        }
        let column = |kind, has_missing| TableColumn { name: "one".into(), kind, has_missing };
        let colors = ColumnKind::Category { values: vec!["blue".into(), "red".into()] };
        let columns = TableColumns(vec![column(colors, false), column(ColumnKind::Number { median: 0.0 }, true)]);
        let weighted = specs(&["z-score:weights=2;1;1;4/rbf"]);
        assert_eq!(feature_importances(&weighted, Some(&columns)), Some(vec![0.375, 0.625]));
    }
}
