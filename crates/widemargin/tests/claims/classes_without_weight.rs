//! A class whose samples all have weight 0 is absent: models are those of fits without its samples.

use crate::resources_common::Disk;
use widemargin::data::{AnySamples, ClassWeight, DenseMatrix, Label, Labels, SamplesView, Vectors};
use widemargin::model::{BasisExpansionParams, CChoice, Classifier, PowerMeanParams, ThinPlateParams};
use widemargin::monitor::Monitor;
use widemargin::select::{AutoParams, SimilaritySearch};
use widemargin::similarity::{AdditiveKernel, AnySimilarity};

const N: usize = 90;

fn noise(at: usize) -> f64 {
    ((at as f64 * 12.9898).sin() * 43758.5453).fract().abs()
}

fn values(n_classes: usize) -> (Vec<f64>, Labels) {
    let rows: Vec<usize> = (0..N).filter(|row| row % 3 < n_classes).collect();
    let values = rows.iter().flat_map(|&row| [noise(2 * row) + (row % 3) as f64 * 0.6, noise(2 * row + 1)]).collect();
    (values, Labels::new(rows.iter().map(|row| ["a", "b", "c"][row % 3])))
}

fn any(values: &[f64]) -> AnySamples {
    let single: Vec<f32> = values.iter().map(|x| *x as f32).collect();
    AnySamples::Vectors(Vectors::Dense(DenseMatrix { n_rows: single.len() / 2, values: single, n_cols: 2 }))
}

type Fit = fn(&AnySamples, &Labels, Option<&[f64]>, ClassWeight) -> widemargin::Result<Box<dyn Classifier>>;

fn rbf() -> BasisExpansionParams<AnySimilarity> {
    BasisExpansionParams::new(AnySimilarity::new(&["rbf:gamma=2"]).unwrap()).c(CChoice::Auto)
}

const FITS: [(&str, Fit); 6] = [
    ("basis expansion", |samples, labels, weights, class_weight| {
        Ok(Box::new(rbf().class_weight(class_weight).fit_with(samples, labels, weights, &Monitor::none())?))
    }),
    ("basis expansion in blocks", |samples, labels, weights, class_weight| {
        let (disk, params) = (Disk::new(None), rbf().class_weight(class_weight));
        Ok(Box::new(params.fit_blocks(samples, labels, weights, &disk.resources(1 << 24), &Monitor::none())?))
    }),
    ("similarity search", |samples, labels, weights, class_weight| {
        let monitor = Monitor::none();
        let search = SimilaritySearch { class_weight: class_weight.clone(), ..SimilaritySearch::default() };
        let params = search.choose(samples, labels, weights, &monitor)?.apply(rbf())?.class_weight(class_weight);
        Ok(Box::new(params.fit_with(samples, labels, weights, &monitor)?))
    }),
    ("thin plate", |samples, labels, weights, class_weight| {
        let params = ThinPlateParams::new("distance".parse()?).kernel_auto().class_weight(class_weight);
        let rows = SamplesView::Other(samples).rows("a test")?;
        Ok(Box::new(params.fit_with(&rows, labels, weights, &Monitor::none())?))
    }),
    ("power mean", |samples, labels, weights, class_weight| {
        let params = PowerMeanParams::new(AdditiveKernel::Chi2).class_weight(class_weight);
        let rows = SamplesView::Other(samples).rows("a test")?;
        Ok(Box::new(params.fit_with(&rows, labels, weights, &Monitor::none())?))
    }),
    ("any method", |samples, labels, weights, class_weight| {
        let params = AutoParams { class_weight, ..AutoParams::default() };
        Ok(params.fit_with(&SamplesView::Other(samples), labels, weights, &Monitor::none())?.model)
    }),
];

#[test]
fn models_are_those_of_the_other_classes() {
    let ((all, labels), (others, of_others)) = (values(3), values(2));
    let weights: Vec<f64> = (0..N).map(|row| if row % 3 == 2 { 0.0 } else { 1.0 }).collect();
    let (all, others) = (any(&all), any(&others));
    let without_c = ClassWeight::PerClass([(Label::from("c"), 0.0)].into());
    for (name, fit) in FITS {
        let expected = fit(&others, &of_others, None, ClassWeight::Uniform).unwrap();
        let scores = |model: &dyn Classifier| {
            model.decision_function(&SamplesView::Other(&others), 1, &Monitor::none()).unwrap().values().to_vec()
        };
        for (how, weights, class_weight) in
            [("sample", Some(&weights[..]), ClassWeight::Uniform), ("class", None, without_c.clone())]
        {
            let model =
                fit(&all, &labels, weights, class_weight).unwrap_or_else(|error| panic!("{name} {how}: {error}"));
            assert_eq!(model.classes(), ["a", "b"].map(Label::from), "{name} {how}");
            for (found, expected) in scores(&*model).iter().zip(scores(&*expected)) {
                assert!((found - expected).abs() < 1e-3, "{name} {how}: {found} {expected}");
            }
        }
    }
}
