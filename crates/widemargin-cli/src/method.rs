//! The interface of methods for `train` and `cv`: their options as points of a grid, each of which can be fitted.

use std::rc::Rc;

use clap::Args;
use serde_json::{Value, json};
use widemargin::Result;
use widemargin::data::Labels;
use widemargin::model::CChoice;
use widemargin::monitor::Monitor;

use crate::args::Common;
use crate::model::Model;
use crate::one_class::OneClassFit;
use crate::report::Failure;
use crate::task::Regression;
use crate::training_data::Data;

/// One choice of a method's parameters.
pub struct Point<P> {
    /// The parameters; they are already checked.
    pub params: P,
    /// The same by name.
    pub json: Value,
    /// Those that may be searched, as a table shows them under their heads.
    pub cells: Vec<(&'static str, String)>,
}

impl<P> Point<P> {
    /// The same point with other parameters.
    pub fn map<Q>(self, of: impl FnOnce(P) -> Q) -> Point<Q> {
        Point { params: of(self.params), json: self.json, cells: self.cells }
    }
}

/// A flag that may be searched.
pub struct Axis<P> {
    /// The flag, as messages name it.
    pub flag: String,
    /// The head of its column.
    pub head: &'static str,
    /// How many values were given.
    pub n_given: usize,
    /// Its name in JSON.
    pub name: &'static str,
    /// The values.
    pub choices: Vec<Choice<P>>,
}

/// A value of a flag: as a table and JSON have it, and what it makes of the parameters.
pub struct Choice<P> {
    cell: String,
    json: Value,
    set: Rc<dyn Fn(P) -> P>,
}

impl<P: 'static> Axis<P> {
    /// Of a flag whose name is `name` in JSON, and which takes these values.
    pub fn new<T>(name: &'static str, values: &[T], json: fn(&T) -> Value, set: fn(P, T) -> P) -> Self
    where
        T: ToString + Clone + 'static,
    {
        let choice = |value: &T| {
            let (cell, json, value) = (value.to_string(), json(value), value.clone());
            Choice { cell, json, set: Rc::new(move |params| set(params, value.clone())) }
        };
        let flag = if name == "C" { "-C".into() } else { format!("--{}", name.replace('_', "-")) };
        Axis { flag, head: name, n_given: values.len(), name, choices: values.iter().map(choice).collect() }
    }
}

/// A value in JSON as in a table.
pub fn text<T: ToString>(value: &T) -> Value {
    value.to_string().into()
}

/// C in JSON: a number, or "auto".
pub fn c_json(c: &CChoice) -> Value {
    c.value().map_or_else(|| text(c), |c| json!(c))
}

/// Every combination of the values of axes, from a point that has what else is given.
pub fn grid<P: Clone>(base: Point<P>, axes: &[Axis<P>]) -> Vec<Point<P>> {
    let mut points = vec![base];
    for axis in axes.iter().take(1).chain(axes.iter().skip(2)).chain(axes.get(1)) {
        let with = |point: &Point<P>, choice: &Choice<P>| {
            let (mut json, mut cells) = (point.json.clone(), point.cells.clone());
            json[axis.name] = choice.json.clone();
            cells.push((axis.head, choice.cell.clone()));
            Point { params: (choice.set)(point.params.clone()), json, cells }
        };
        points = points.iter().flat_map(|point| axis.choices.iter().map(move |choice| with(point, choice))).collect();
    }
    for point in &mut points {
        // The second column came last.
        if let Some(rest) = point.cells.get_mut(1..).filter(|rest| !rest.is_empty()) {
            rest.rotate_right(1);
        }
    }
    points
}

/// The options of a method. Those that can be searched hold a list.
pub trait Method: Args {
    /// The method's name on the command line.
    const NAME: &'static str;

    /// Whether a fit on samples in memory supports a memory limit.
    const KEEPS_WITHIN_MEMORY: bool = false;

    /// Whether it has a regression model.
    const REGRESSES: bool = false;

    /// What a choice is fitted by.
    type Params: Clone + 'static;

    /// The flags that may be searched, in the order of a table's columns. It always shows the first two; the second
    /// varies fastest.
    fn axes(&self) -> Vec<Axis<Self::Params>>;

    /// The parameters that the other flags give, to be fitted within `memory` bytes.
    fn params(&self, common: &Common, memory: Option<u64>) -> Self::Params;

    /// The other flags by name.
    fn json(&self) -> Value;

    /// Tells what is wrong with parameters, before any file is read.
    fn check(params: &Self::Params) -> Result<(), Failure>;

    /// Trains on samples and their labels.
    fn fit(params: &Self::Params, data: Data<'_>, labels: &Labels, monitor: &Monitor<'_>) -> Result<Model>;

    /// Whether they can be fitted in blocks.
    fn fits_blocks(_: &Self::Params) -> bool {
        true
    }

    /// Refuses flags of numbers, where classes are to be predicted.
    fn check_classes(&self) -> Result<(), Failure> {
        Ok(())
    }

    /// A fit of its regression model for every combination of the given values, which were checked as those of a
    /// classifier.
    fn regressions(&self, _: &Common, _: Option<u64>) -> Result<Vec<Point<Regression>>, Failure> {
        Err(Regression::none_of(Self::NAME))
    }

    /// The fit of its model of one class, of single values.
    fn one_class(&self, _: &Common) -> Result<Point<OneClassFit>, Failure> {
        Err(OneClassFit::none_of(Self::NAME))
    }

    /// Every combination of the given values, each to be fitted within `memory` bytes.
    fn grid(&self, common: &Common, memory: Option<u64>) -> Result<Vec<Point<Self::Params>>, Failure> {
        let mut json = self.json();
        json["seed"] = json!(common.seed);
        let points = grid(Point { params: self.params(common, memory), json, cells: Vec::new() }, &self.axes());
        points.iter().try_for_each(|point| Self::check(&point.params))?;
        Ok(points)
    }

    /// Refuses lists of values, which only a search takes.
    fn check_single(&self) -> Result<(), Failure> {
        if let Some(Axis { flag, n_given, .. }) = self.axes().into_iter().find(|axis| axis.n_given > 1) {
            let failure = Failure::input(format!("{flag}: {n_given} values given, `train` takes one"));
            return Err(failure.help(format!("`widemargin cv {}` searches lists of values", Self::NAME)));
        }
        Ok(())
    }

    /// The single choice of the parameters.
    fn single(&self, common: &Common, memory: Option<u64>) -> Result<Point<Self::Params>, Failure> {
        self.check_single()?;
        Ok(self.grid(common, memory)?.swap_remove(0))
    }
}
