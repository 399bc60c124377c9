//! Searches of a similarity and of a method: a class whose samples all have weight 0 is absent.

use crate::harness::method::Model;
use crate::harness::training::{Kind, Task, Training};
use widemargin::data::{ClassWeight, Labels, SamplesView};
use widemargin::model::{AnyModel, BasisExpansionParams, CChoice};
use widemargin::monitor::Monitor;
use widemargin::select::{AutoParams, SimilaritySearch};
use widemargin::similarity::AnySimilarity;

type Search = fn(&Training, ClassWeight) -> widemargin::Result<Model>;

const SEARCHES: [(&str, Search); 2] = [
    ("similarity search", |training, class_weight| {
        let (monitor, weights) = (Monitor::none(), training.weights.as_deref());
        let search = SimilaritySearch { class_weight: class_weight.clone(), ..SimilaritySearch::default() };
        let params = BasisExpansionParams::new(AnySimilarity::new(&["rbf"])?).c(CChoice::Auto);
        let found = search.choose(&training.samples, training.labels(), weights, &monitor)?;
        let params = params.with_choice(&found)?.class_weight(class_weight);
        Ok(Model::of_classes(params.fit_with(&training.samples, training.labels(), weights, &monitor)?))
    }),
    ("any method", |training, class_weight| {
        let params = AutoParams { class_weight, ..AutoParams::default() };
        let (view, weights) = (SamplesView::Other(&training.samples), training.weights.as_deref());
        Ok(Model(AnyModel::Classifier(params.fit_with(&view, training.labels(), weights, &Monitor::none())?.model)))
    }),
];

#[test]
fn models_are_those_of_the_other_classes() {
    let training = Training::new(Kind::Vectors, Task::Classes(3), 90, 3);
    let is_other = |row: usize| training.labels().codes()[row] != 2;
    let others: Vec<usize> = (0..90).filter(|&row| is_other(row)).collect();
    let some = training.select(&others);
    let names = Labels::new((0..some.len()).map(|row| some.labels().get(row).clone()));
    let some = Training { answers: crate::harness::training::Answers::Labels(names), ..some };
    let without_c = ClassWeight::PerClass([(training.labels().classes()[2].clone(), 0.0)].into());
    let weighted = training.clone().weighted(|row| f64::from(u8::from(is_other(row))));
    for (name, search) in SEARCHES {
        let expected = search(&some, ClassWeight::Uniform).unwrap();
        for (how, training, class_weight) in
            [("sample", &weighted, ClassWeight::Uniform), ("class", &training, without_c.clone())]
        {
            let found = search(training, class_weight).unwrap_or_else(|error| panic!("{name} {how}: {error}"));
            let AnyModel::Classifier(model) = &found.0 else { unreachable!() };
            assert_eq!(model.classes(), some.labels().classes(), "{name} {how}");
            for (found, expected) in found.values(&some.samples).iter().zip(expected.values(&some.samples)) {
                assert!((found - expected).abs() < 1e-3, "{name} {how}: {found} {expected}");
            }
        }
    }
}
