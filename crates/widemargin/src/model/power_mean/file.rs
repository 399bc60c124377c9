//! The power mean SVM in a model file.

use serde::{Deserialize, Serialize};

use super::fit::Task;
use crate::descriptor::FeatureMax;
use crate::error::{Error, Result};
use crate::expansion::{AdditiveMap, Approximation, KernelTable, MAX_NODES, ReducedKernel};
use crate::model::PowerMeanSvc;
use crate::model::file::{Array, Head, Reader, array, by_name, file_methods, model_header};

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
    file_methods!(METHOD, |model| Ok(model.arrays()));

    pub(crate) fn header(&self) -> Result<String> {
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

    pub(crate) fn arrays(&self) -> Vec<Array<'_>> {
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
