//! The power mean SVM as a model, and in a model file.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::feature_range::FeatureMax;
use super::fit::Task;
use crate::data::{Rows, SamplesView};
use crate::error::{Error, Result};
use crate::expansion::{AdditiveMap, Approximation, KernelTable, MAX_NODES, ReducedKernel};
use crate::model::explanation::{Decided, Term, TermSource, checked_row};
use crate::model::file::{Array, Head, Reader, array, by_name, file_methods, model_header};
use crate::model::interface::{Model, Parameters, model_methods};
use crate::model::scores::check_width;
use crate::model::{Explanation, PowerMeanSvc};

pub(crate) const METHOD: &str = "power-mean";

/// The header's part on the arrays.
#[derive(Serialize, Deserialize)]
pub(crate) struct Layout {
    kernel: String,
    #[serde(with = "by_name")]
    approximation: Approximation,
    n_features: usize,
    n_nodes: usize,
    /// How many values the kernel is tabulated at; none for one of the library's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    n_tabulated: Option<usize>,
    scaled: bool,
}

impl PowerMeanSvc {
    file_methods!(METHOD);

    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self> {
        let Layout { kernel, approximation, n_features, n_nodes, n_tabulated, scaled } = reader.parse()?;
        let Head { task, report, origin } = reader.head::<Task>(Some(n_features))?;
        reader.require((1..=MAX_NODES).contains(&n_nodes), format_args!("{n_nodes} nodes cannot be"))?;
        let caused = |error: Error| reader.caused(&error);
        let k = reader.n_problems(&task.classes, &origin)?;
        let kernel = match n_tabulated {
            None => ReducedKernel::BuiltIn(kernel.parse().map_err(caused)?),
            Some(n) => {
                let (values, flat) = (reader.tensor("tabulated", &[n])?, reader.tensor("table", &[n_nodes + 1, n])?);
                let table = KernelTable::of_parts(kernel, values, flat);
                ReducedKernel::Table(table.ok_or_else(|| reader.wrong("its table is not one of a kernel".into()))?)
            }
        };
        let nodes: Vec<f64> = reader.tensor("nodes", &[n_nodes])?;
        let map = AdditiveMap::reduced(approximation, kernel, &nodes).map_err(caused)?;
        reader.require(map.nodes() == nodes, "its nodes are not independent")?;
        let factors: Vec<f64> = reader.tensor("factors", &[if scaled { n_features } else { 0 }])?;
        Ok(PowerMeanSvc {
            map,
            task: task.into_owned(),
            scaling: scaled.then_some(FeatureMax { factors }),
            n_features,
            weights: reader.tensor("weights", &[n_features, n_nodes, k])?,
            report: report.into_owned(),
            origin: origin.into_owned(),
        })
    }
}

impl Model for PowerMeanSvc {
    model_methods!(METHOD);

    fn parameters(&self) -> Parameters {
        Parameters::of(json!({
            "kernel": self.map.kernel().to_string(),
            "C": self.task.c,
            "loss": self.task.loss.to_string(),
            "approximation": self.map.approximation().to_string(),
            "n_nodes": self.map.n_nodes(),
            "nodes": self.map.nodes(),
            "scale": self.scaling.is_some(),
        }))
    }

    fn n_features(&self) -> Option<usize> {
        Some(self.n_features)
    }

    fn n_weights(&self) -> usize {
        self.weights.len()
    }

    fn explain(
        &self,
        samples: &SamplesView<'_>,
        row: usize,
        class: Option<usize>,
        _compared: usize,
    ) -> Result<Explanation> {
        let samples = samples.rows("the power mean SVM")?;
        checked_row(row, samples.n_rows())?;
        check_width(&samples, self.n_features)?;
        let k = self.n_problems();
        let mut terms = Vec::new();
        let mut values = vec![0.0; k];
        for (index, value, contributions) in self.contributions(&samples, row)? {
            values.iter_mut().zip(&contributions).for_each(|(sum, part)| *sum += part);
            let name = self.origin.feature_names.as_deref().and_then(|names| names.get(index).cloned());
            let source = TermSource::Column { index, name };
            terms.push(Term {
                part: 0,
                source,
                value,
                reference: 0.0,
                weights: Vec::new(),
                contributions,
                comparison: None,
            });
        }
        let classes = self.classes().to_vec();
        let decided = Decided { classes, is_of_values: false, values, intercepts: vec![0.0; k] };
        decided.explanation(METHOD, &self.origin, class, vec![self.map().kernel().to_string()], terms)
    }

    fn header(&self) -> Result<String> {
        let layout = Layout {
            kernel: self.map.kernel().to_string(),
            approximation: self.map.approximation(),
            n_features: self.n_features,
            n_nodes: self.map.n_nodes(),
            n_tabulated: self.map.table().map(|table| table.values().len()),
            scaled: self.scaling.is_some(),
        };
        model_header(METHOD, &layout, Some(self.n_features), Head::of(&self.task, &self.report, &self.origin))
    }

    fn arrays(&self) -> Vec<Array<'_>> {
        let factors = self.scaling.as_ref().map_or(&[][..], FeatureMax::factors);
        let mut arrays = vec![
            array("weights", vec![self.n_features, self.map.n_nodes(), self.n_problems()], &self.weights),
            array("nodes", vec![self.map.n_nodes()], self.map.nodes()),
            array("factors", vec![factors.len()], factors),
        ];
        if let Some(table) = self.map.table() {
            let n = table.values().len();
            arrays.push(array("tabulated", vec![n], table.values()));
            arrays.push(array("table", vec![table.n_nodes() + 1, n], table.rows()));
        }
        arrays
    }
}
