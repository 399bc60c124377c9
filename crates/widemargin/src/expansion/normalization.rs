//! Normalization of the similarities into features.

use crate::macros::named;

/// The map from φ̃(x) = [s(b₁, x) … s(b_B, x)] to φ(x).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Normalization {
    /// (φ̃ − mean φ̃) / mean ‖φ̃ − mean φ̃‖ (BE-SVM, eq. 3 and 4): `mean-norm`.
    #[default]
    MeanNorm,
    /// Each column centered and divided by its standard deviation: `z-score`.
    ZScore,
    /// Cov(φ̃)^(−½) (φ̃ − mean φ̃), with the covariance of the columns over the training samples: `covariance`.
    /// Eigenvalues below 10⁻⁴ of the largest are replaced by that value.
    Covariance,
    /// φ̃ unchanged: `none`.
    None,
    /// S^(−½) φ̃ with the similarities S between the bases, made positive semi-definite: `nystroem`, or
    /// `nystroem:negative-eigenvalues=flip` and so on. If the similarity is not symmetric, S is its symmetric part,
    /// with a warning.
    Nystroem(NegativeEigenvalues),
    /// The same with S projected off the constant, (I − 11ᵀ/B) S (I − 11ᵀ/B), for conditionally positive definite
    /// similarities such as minus a distance: `centered`. With a free intercept the model is the thin plate SVM on this
    /// similarity.
    Centered(NegativeEigenvalues),
}

/// How an indefinite symmetric matrix is made positive semi-definite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NegativeEigenvalues {
    /// Negative eigenvalues become 0.
    #[default]
    Clip,
    /// Negative eigenvalues change their sign.
    Flip,
    /// If the smallest eigenvalue is negative, it is subtracted from all.
    Shift,
    /// Eigenvalues are squared; only with [`Normalization::Nystroem`].
    Square,
}

/// Where the features of a Nyström map end: bases with a smaller independent part, and eigenvectors of smaller
/// eigenvalues, are dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NystroemCut {
    /// At 10⁻⁶ of the largest eigenvalue. Classes need no more: further features cost time, and change few decisions.
    #[default]
    Millionth,
    /// At the same, of similarities in double precision where they have the digits: for scores with a meaning as
    /// numbers.
    PreciseMillionth,
    /// At ten times the rounding of a similarity in single precision, of similarities in double precision where they
    /// have the digits. A smooth function whose values are known well has much of its detail in small eigenvalues.
    Rounding,
}

named!("cut": NystroemCut {
    "millionth" = NystroemCut::Millionth,
    "precise-millionth" = NystroemCut::PreciseMillionth,
    "rounding" = NystroemCut::Rounding,
});

impl NystroemCut {
    /// Whether similarities are computed in double precision, where they have it.
    pub(super) fn is_precise(self) -> bool {
        self != NystroemCut::Millionth
    }
}

impl Normalization {
    /// Whether it is learned from the training samples, not from the bases only.
    #[doc(hidden)]
    pub fn is_learned(self) -> bool {
        matches!(self, Normalization::MeanNorm | Normalization::ZScore | Normalization::Covariance)
    }

    /// Whether each feature is the similarity to one basis, up to shift and scale.
    pub(crate) fn has_feature_per_basis(self) -> bool {
        matches!(self, Normalization::MeanNorm | Normalization::ZScore | Normalization::None)
    }

    /// The treatment of negative eigenvalues of the similarities between the bases, if features depend on them.
    pub(crate) fn negative_eigenvalues(self) -> Option<NegativeEigenvalues> {
        match self {
            Normalization::Nystroem(negative) | Normalization::Centered(negative) => Some(negative),
            _ => None,
        }
    }
}

named!("normalization": Normalization {
    "mean-norm" = Normalization::MeanNorm,
    "z-score" = Normalization::ZScore,
    "covariance" = Normalization::Covariance,
    "none" = Normalization::None,
    "nystroem" = Normalization::Nystroem(NegativeEigenvalues::Clip),
    "nystroem:negative-eigenvalues=flip" = Normalization::Nystroem(NegativeEigenvalues::Flip),
    "nystroem:negative-eigenvalues=shift" = Normalization::Nystroem(NegativeEigenvalues::Shift),
    "nystroem:negative-eigenvalues=square" = Normalization::Nystroem(NegativeEigenvalues::Square),
    "centered" = Normalization::Centered(NegativeEigenvalues::Clip),
    "centered:negative-eigenvalues=flip" = Normalization::Centered(NegativeEigenvalues::Flip),
    "centered:negative-eigenvalues=shift" = Normalization::Centered(NegativeEigenvalues::Shift),
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back() {
        for (name, normalization) in Normalization::NAMES {
            assert_eq!(name.parse::<Normalization>().unwrap(), *normalization);
            assert_eq!(normalization.to_string(), *name);
        }
        assert!("clip".parse::<Normalization>().unwrap_err().to_string().contains("nystroem"));
    }
}
