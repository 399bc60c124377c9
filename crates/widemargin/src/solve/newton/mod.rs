//! Newton's method in the primal, all one-vs-rest problems at once.
//!
//! Every step solves (I + Σ_i c_i loss″_i φ_i φ_iᵀ)·d = −∇ by conjugate gradients and minimizes along d. It is fast
//! because problems share work: one pass over Φ serves all unsolved problems, and one Cholesky factor of I + Σ_i h_i
//! φ_i φ_iᵀ preconditions them all. At w = 0 that factor is the Hessian itself, so the first step for squared hinge is
//! ridge regression on the labels; as long as few rows leave the margin it stays close to the Hessian, and a handful of
//! products suffice. At a large C the Hessian of a problem with few active rows is inverted through these rows, and the
//! first steps follow a path over C that ends at the requested one.
//!
//! Generalized Newton for squared hinge: Keerthi and DeCoste, *A modified finite Newton method*, JMLR 6 (2005);
//! conjugate gradients on sums over rows: Lin, Weng and Keerthi, *Trust region Newton method*, JMLR 9 (2008).
//!
//! A problem is solved when its duality gap is small enough (`dual_bound` in `descent.rs`): the reported gap bounds the distance of
//! the objective from its minimum.

mod conjugate;
mod descent;
mod few_rows;
pub(super) mod line_search;
mod preconditioner;
mod settings;

pub use descent::solve;
pub use settings::{NewtonSettings, NewtonSolution, NewtonStart, Preconditioning};
