//! Definition of a rigid or deformable matching: kind, radius, penalty of displacements.

use std::fmt;

use crate::error::{Result, require};
use crate::parameters::{Parameter, Values};
use crate::similarity::row::{Definite, Onnx, SimilarityRow, arguments_among, built};
use crate::spec::Step;

/// The maximum displacement of a cell: larger values are never intended, and only take time.
const FARTHEST: usize = 1024;

/// The range of a radius.
pub(super) const CELLS: Values = Values::Whole(0, FARTHEST as i64);

const RIGID: SimilarityRow = SimilarityRow {
    name: "rigid",
    class: "Rigid",
    samples: &["grids of cells"],
    parameters: &[
        Parameter::new("radius", CELLS, "The largest shift z along each axis, in cells.").or("1").written(),
        Parameter::new("penalty", Values::NOT_NEGATIVE, "The factor of ‖z‖², which is subtracted.").or("0"),
    ],
    examples: &["rigid", "rigid:radius=2,penalty=0.25"],
    definite: Definite::No,
    onnx: Onnx::NO_VECTORS,
    build: |step| built(GridMatching::from_step(step)),
};

pub(in crate::similarity) const ROWS: &[SimilarityRow] = &[
    RIGID,
    SimilarityRow {
        name: "deformable",
        class: "Deformable",
        parameters: &[
            Parameter::new("rigid", CELLS, "The largest shift z along each axis, in cells.").or("1").written(),
            Parameter::new("local", CELLS, "The largest displacement u along each axis, in cells.").or("1").written(),
            Parameter::new(
                "penalty",
                Values::NOT_NEGATIVE,
                "The factor of ‖z‖², and of ‖u‖² for each cell, which are subtracted.",
            )
            .or("0"),
        ],
        examples: &["deformable", "deformable:rigid=0,local=2,penalty=0.1"],
        ..RIGID
    },
];

/// Rigid or deformable matching of grids, `rigid:radius=2` or `deformable:rigid=2,local=1`.
///
/// s(basis, sample): the sample's cells are displaced, so that the deformable similarity is not symmetric. Cells
/// outside the sample's grid are zero, and their zero products take part in every maximum.
///
/// With a penalty λ > 0 every displacement costs λ times its squared length in cells,
///
/// s(x, y) = max over z of ( Σ_c max over u of ( φ_c(x) · φ_{c+z+u}(y) − λ‖u‖² ) − λ‖z‖² ),
///
/// the shift z once and the local displacement u once per cell: a quadratic choice of the regularizer of eq. 7.
///
/// Values do not depend on the other bases and samples of a block; they may differ in the last bits between instruction
/// sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GridMatching {
    pub(super) radius: usize,
    /// How far a single cell may go; none of rigid matching.
    local: Option<usize>,
    pub(super) penalty: f64,
}

impl GridMatching {
    /// Rigid matching, eq. 11: shifts by up to `radius` cells along each axis, up to 1024.
    pub fn rigid(radius: usize) -> Self {
        GridMatching { radius: radius.min(FARTHEST), local: None, penalty: 0.0 }
    }

    /// Deformable matching, eq. 12: shifts by up to `rigid` cells along each axis, plus a displacement of each single
    /// cell by up to `local` cells; both up to 1024.
    pub fn deformable(rigid: usize, local: usize) -> Self {
        GridMatching { local: Some(local.min(FARTHEST)), ..Self::rigid(rigid) }
    }

    /// The penalty of a displacement, times its squared length in cells; default 0.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) for a penalty that is negative or not finite.
    pub fn penalty(self, penalty: f64) -> Result<Self> {
        require(penalty >= 0.0 && penalty.is_finite(), "penalty", penalty, "a finite number, at least 0")?;
        Ok(GridMatching { penalty, ..self })
    }

    /// The similarity of a step `rigid` or `deformable`.
    ///
    /// # Errors
    /// [`Error::UnknownName`](crate::Error::UnknownName) for another name, and
    /// [`Error::Parameter`](crate::Error::Parameter).
    pub(crate) fn from_step(step: &Step) -> Result<Self> {
        let arguments = arguments_among(ROWS, "matching of grids", step)?;
        let matching = match step.name() {
            "rigid" => Self::rigid(arguments.value("radius")?),
            _ => Self::deformable(arguments.value("rigid")?, arguments.value("local")?),
        };
        Ok(GridMatching { penalty: arguments.value("penalty")?, ..matching })
    }

    /// The multiplications and additions required by the definition for one pair of grids of `rows` × `cols` cells of
    /// `depth` numbers: two for each number of each pair of cells that are both inside, for reporting flop rates.
    #[doc(hidden)]
    pub fn useful_flops(&self, rows: usize, cols: usize, depth: usize) -> u64 {
        let radius = self.radius + self.local();
        let overlaps = |side: usize| -> u64 {
            let shifted = (1..=radius).map(|shift| side.saturating_sub(shift) as u64).sum::<u64>();
            side as u64 + 2 * shifted
        };
        2 * depth as u64 * overlaps(rows) * overlaps(cols)
    }

    pub(super) fn local(&self) -> usize {
        self.local.unwrap_or(0)
    }
}

impl fmt::Display for GridMatching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.local {
            None => write!(f, "rigid:radius={}", self.radius)?,
            Some(local) => write!(f, "deformable:rigid={},local={local}", self.radius)?,
        }
        if self.penalty > 0.0 {
            write!(f, ",penalty={}", self.penalty)?;
        }
        Ok(())
    }
}
