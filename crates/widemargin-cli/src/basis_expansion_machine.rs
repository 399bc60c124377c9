//! What `inspect` and others tell of a trained basis expansion SVM.

use indicatif::HumanCount;
use serde_json::{Value, json};
use widemargin::data::{AnySamples, Images};
use widemargin::model::BasisExpansionSvc;
use widemargin::similarity::AnySimilarity;
use widemargin::{Error, Result};
use widemargin_io::Samples;

use crate::text_table::text_table;

/// Bases that a table shows.
const BASES_SHOWN: usize = 20;

/// Characters that it shows of a basis that is a string.
const CHARACTERS_SHOWN: usize = 40;

type Svc = BasisExpansionSvc<AnySimilarity>;

/// What the method keeps of itself, by name.
pub fn parameters(model: &Svc) -> Value {
    json!({
        "similarity": model.expansion().similarity().specs(),
        "samples": model.kind(),
        "normalization": model.expansion().normalization().to_string(),
        "n_basis": model.n_bases(),
        "basis": model.basis(),
        "C": model.c(),
        "loss": model.loss().to_string(),
        "intercept": model.intercept().to_string(),
    })
}

/// Features of the samples, where they are vectors.
pub fn n_features(model: &Svc) -> Option<usize> {
    match model.expansion().bases() {
        AnySamples::Vectors(vectors) => Some(vectors.n_cols()),
        _ => None,
    }
}

/// The length of all bases, where they are series and have one.
pub fn series_length(model: &Svc) -> Option<usize> {
    let AnySamples::Series(series) = model.expansion().bases() else { return None };
    let mut lengths = series.lengths().into_iter();
    let first = lengths.next()?;
    lengths.all(|length| length == first).then_some(first)
}

/// Refuses images of another size than the model's in the words of images: what a descriptor makes of them would be
/// refused as well, but in numbers that nobody has seen.
pub fn check_size(model: &Svc, samples: &Samples) -> Result<()> {
    let (AnySamples::Images(known), Samples::Other(AnySamples::Images(given))) = (model.expansion().bases(), samples)
    else {
        return Ok(());
    };
    if (given.height(), given.width()) == (known.height(), known.width()) {
        return Ok(());
    }
    let pixels = |images: &Images| format!("{} × {} pixels", images.height(), images.width());
    let expected = format!("{} as the model was trained with", pixels(known));
    Err(Error::Shape { what: "images".into(), found: pixels(given), expected })
}

/// The beginning of a long text, on one line, and how long it is.
fn excerpt(text: &str) -> String {
    let length = text.chars().count();
    let shown: String = text
        .chars()
        .take(if length > CHARACTERS_SHOWN { CHARACTERS_SHOWN } else { length })
        .map(|character| if character.is_control() { ' ' } else { character })
        .collect();
    if length > CHARACTERS_SHOWN { format!("{shown}… ({} characters)", HumanCount(length as u64)) } else { shown }
}

/// The bases with how much each weighs: JSON of all, and a table of the heaviest.
pub fn bases(model: &Svc) -> (Value, String) {
    let (n, d) = (model.n_bases(), model.expansion().n_features());
    let n_columns = model.expansion().n_columns();
    // A Nyström map mixes the bases: their weights are not columns any more.
    let weigh = |basis: usize| {
        let of_problem = |weights: &[f32]| {
            let parts = weights.chunks(n_columns.max(1)).filter_map(|part| part.get(basis));
            parts.map(|w| f64::from(*w).powi(2)).sum::<f64>()
        };
        model.weights().chunks(d.max(1)).map(of_problem).sum::<f64>().sqrt()
    };
    let plain = n_columns > 0 && d == n_columns * (d / n_columns) && n_columns == n;
    let describe = |basis: usize| match model.expansion().bases() {
        AnySamples::Strings(strings) => Some(strings[basis].clone()),
        AnySamples::Series(series) => Some(format!("{} steps", series.length(basis))),
        _ => None,
    };
    let mut rows: Vec<(usize, Option<f64>)> = (0..n).map(|basis| (basis, plain.then(|| weigh(basis)))).collect();
    let json = rows.iter().map(|&(basis, weight)| {
        json!({
            "basis": basis,
            "row": model.basis_rows().get(basis),
            "weight": weight,
            "sample": describe(basis),
        })
    });
    let json = Value::Array(json.collect());
    rows.sort_by(|a, b| b.1.unwrap_or(0.0).total_cmp(&a.1.unwrap_or(0.0)));
    let cells: Vec<Vec<String>> = rows
        .iter()
        .take(BASES_SHOWN)
        .map(|&(basis, weight)| {
            let row = model.basis_rows().get(basis).map_or("-".to_owned(), |row| (row + 1).to_string());
            let weight = weight.map_or("-".to_owned(), |weight| format!("{weight:.4}"));
            vec![basis.to_string(), row, weight, excerpt(&describe(basis).unwrap_or_default())]
        })
        .collect();
    let shown = cells.len();
    let head = if shown < n { format!("the {shown} heaviest of {n} bases") } else { format!("{n} bases") };
    (json, format!("{head}\n{}", text_table(&["basis", "sample", "weight", ""], &cells)))
}
