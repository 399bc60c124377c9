//! Model files: damaged ones are refused, and those that are accepted can be used and written again.

use widemargin::data::{DenseView, SamplesView};
use widemargin::model::AnyModel;
use widemargin::monitor::Monitor;

/// The text of a checksum that is not known yet.
const PLACEHOLDER: &[u8] = b"crc32:00000000";

/// Loads the bytes as they are, and once more with a checksum that is right, so that what is behind it is reached.
pub fn check(bytes: &[u8]) {
    load(bytes);
    if let Some(repaired) = repaired(bytes) {
        load(&repaired);
    }
}

/// The same file with the right checksum and length of the header.
fn repaired(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = bytes.to_vec();
    let at = bytes.windows(6).position(|window| window == b"crc32:")?;
    bytes.get_mut(at..at + PLACEHOLDER.len())?.copy_from_slice(PLACEHOLDER);
    let checksum = format!("crc32:{:08x}", crc32fast::hash(&bytes));
    bytes[at..at + PLACEHOLDER.len()].copy_from_slice(checksum.as_bytes());
    Some(bytes)
}

fn load(bytes: &[u8]) {
    let model = match AnyModel::from_bytes(bytes) {
        Ok(model) => model,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    if let Ok(written) = model.to_bytes() {
        let again = AnyModel::from_bytes(&written).expect("a model that was written is read");
        assert_eq!(again.to_bytes().expect("it is written again"), written);
    }
    let _ = model.header();
    let _ = model.parameters().to_string();
    use_model(&model);
}

/// Scores the model's own bases, or rows of small numbers.
fn use_model(model: &AnyModel) {
    if let Some(bases) = model.bases() {
        score(model, &SamplesView::Other(bases));
        return;
    }
    let n_features = model.n_features().unwrap_or(0);
    if n_features <= 1 << 16 {
        let values: Vec<f64> = (0..2 * n_features).map(|at| (at % 3) as f64).collect();
        if let Ok(view) = DenseView::new(&values, 2, n_features) {
            score(model, &SamplesView::Rows(view.into()));
        }
    }
}

fn score(model: &AnyModel, samples: &SamplesView<'_>) {
    let monitor = &Monitor::none();
    match model {
        AnyModel::Classifier(model) => {
            let _ = model.decision_values(samples, 1, monitor);
            if let Ok(probabilities) = model.predict_proba(samples, 1, monitor) {
                let wrong = |p: &&f64| p.is_finite() && !(0.0..=1.0).contains(*p);
                assert_eq!(probabilities.values.iter().find(wrong), None);
            }
            let _ = model.explain(samples, 0, None, 2);
        }
        AnyModel::Regressor(model) => drop(model.predict(samples, 1, monitor)),
        AnyModel::OneClass(model) => drop(model.scores(samples, 1, monitor)),
    }
}
