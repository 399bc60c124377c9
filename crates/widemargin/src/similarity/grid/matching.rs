//! What a rigid or deformable matching is: its kind, its radius, what displacements cost.

use std::fmt;

use crate::error::{Error, Result};
use crate::similarity::Arguments;

/// The farthest a cell may be displaced: more is never meant, and would only take time.
const FARTHEST: usize = 1024;

/// Rigid or deformable matching of grids, `rigid:radius=2` or `deformable:rigid=2,local=1`.
///
/// s(basis, sample): it is the sample's cells that are displaced, so the deformable similarity is not symmetric.
/// What lies outside the sample's grid is zero, and its zero product takes part in every maximum.
///
/// With a penalty λ > 0 every displacement costs λ times its squared length in cells,
///
/// s(x, y) = max over z of ( Σ_c max over u of ( φ_c(x) · φ_{c+z+u}(y) − λ‖u‖² ) − λ‖z‖² ),
///
/// the shift z once and the local displacement u once a cell: a quadratic choice of the regulariser of eq. 7.
///
/// Values do not depend on what other bases and samples are in a block; they may differ in the last bits between
/// instruction sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GridMatching {
    pub(super) kind: Kind,
    pub(super) radius: usize,
    pub(super) penalty: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Rigid,
    Deformable { local: usize },
}

impl GridMatching {
    /// Rigid matching, eq. 11: shifts by up to `radius` cells along each axis, up to 1024.
    pub fn rigid(radius: usize) -> Self {
        GridMatching { kind: Kind::Rigid, radius: radius.min(FARTHEST), penalty: 0.0 }
    }

    /// Deformable matching, eq. 12: shifts by up to `rigid` cells along each axis, and on top of them each cell by
    /// up to `local` cells by itself; both up to 1024.
    pub fn deformable(rigid: usize, local: usize) -> Self {
        GridMatching { kind: Kind::Deformable { local: local.min(FARTHEST) }, ..Self::rigid(rigid) }
    }

    /// What a displacement costs, times its squared length in cells; 0 to begin with.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a penalty that is negative or not finite.
    pub fn penalty(self, penalty: f64) -> Result<Self> {
        if !(penalty >= 0.0 && penalty.is_finite()) {
            return Err(Error::Parameter {
                name: "penalty",
                value: penalty.to_string(),
                expected: "a finite number, at least 0".into(),
            });
        }
        Ok(GridMatching { penalty, ..self })
    }

    /// Reads the parameters of `rigid`: `radius` (default 1), `penalty` (0).
    ///
    /// # Errors
    /// [`Error::Parameter`] for a value that is not allowed.
    pub fn rigid_from_arguments(arguments: &mut Arguments<'_>) -> Result<Self> {
        Self::rigid(arguments.whole("radius", 1, 0..=FARTHEST)?).options(arguments)
    }

    /// Reads the parameters of `deformable`: `rigid` (default 1), `local` (1), `penalty` (0).
    ///
    /// # Errors
    /// [`Error::Parameter`] for a value that is not allowed.
    pub fn deformable_from_arguments(arguments: &mut Arguments<'_>) -> Result<Self> {
        let rigid = arguments.whole("rigid", 1, 0..=FARTHEST)?;
        Self::deformable(rigid, arguments.whole("local", 1, 0..=FARTHEST)?).options(arguments)
    }

    fn options(self, arguments: &mut Arguments<'_>) -> Result<Self> {
        let right = |penalty: &f64| *penalty >= 0.0 && penalty.is_finite();
        let penalty = arguments.get("penalty", 0.0, "a finite number, at least 0", right)?;
        Ok(GridMatching { penalty, ..self })
    }

    /// Multiplications and additions of one pair of grids of `rows` × `cols` cells of `depth` numbers that the
    /// definition cannot do without: two for each number of each pair of cells that are both inside. Times two a
    /// multiply-add, as in tables of speed.
    pub fn useful_flops(&self, rows: usize, cols: usize, depth: usize) -> u64 {
        let radius = self.radius + self.local();
        let overlaps = |side: usize| -> u64 {
            let shifted = (1..=radius).map(|shift| side.saturating_sub(shift) as u64).sum::<u64>();
            side as u64 + 2 * shifted
        };
        2 * depth as u64 * overlaps(rows) * overlaps(cols)
    }

    pub(super) fn local(&self) -> usize {
        match self.kind {
            Kind::Rigid => 0,
            Kind::Deformable { local } => local,
        }
    }
}

impl fmt::Display for GridMatching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::Rigid => write!(f, "rigid:radius={}", self.radius)?,
            Kind::Deformable { local } => write!(f, "deformable:rigid={},local={local}", self.radius)?,
        }
        if self.penalty > 0.0 {
            write!(f, ",penalty={}", self.penalty)?;
        }
        Ok(())
    }
}
