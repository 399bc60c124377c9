//! Normalization of the similarities into features.

use crate::macros::named;

/// How φ̃(x) = [s(b₁, x) … s(b_B, x)] becomes φ(x).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Normalization {
    /// (φ̃ − mean φ̃) / mean ‖φ̃ − mean φ̃‖ (BE-SVM, eq. 3 and 4): `mean-norm`.
    #[default]
    MeanNorm,
    /// Each column centered and divided by its standard deviation: `z-score`.
    ZScore,
    /// Cov(φ̃)^(−½) (φ̃ − mean φ̃), with the covariance of the columns over the training samples: `covariance`.
    /// Eigenvalues below 10⁻⁴ of the largest count as that.
    Covariance,
    /// φ̃ unchanged: `none`.
    None,
    /// S^(−½) φ̃ with the similarities S between the bases, made positive semi-definite: `nystrom-clip` and so on.
    /// The similarity must be symmetric.
    Nystrom(Definite),
    /// The same with the symmetric part (S + Sᵀ)/2 of a similarity that is not symmetric: `nystrom-symmetric-clip` ….
    NystromOfSymmetricPart(Definite),
    /// The same as `nystrom-…` with S projected off the constant, (I − 11ᵀ/B) S (I − 11ᵀ/B), for conditionally positive
    /// definite similarities such as minus a distance: `centered-clip` and so on. With a free intercept the machine is
    /// the thin plate SVM on this similarity.
    CenteredNystrom(Definite),
}

/// How an indefinite symmetric matrix is made positive semi-definite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Definite {
    /// Negative eigenvalues become 0.
    Clip,
    /// Negative eigenvalues change their sign.
    Flip,
    /// The least eigenvalue is subtracted from all where it is negative.
    Shift,
    /// Eigenvalues are squared.
    Square,
}

/// Where the features of a Nyström map end: bases of which less is new beside the others, and eigenvectors of smaller
/// eigenvalues, are dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NystromCut {
    /// At 10⁻⁶ of the largest eigenvalue. Classes need no more: what is beyond costs time, and changes few decisions.
    #[default]
    Millionth,
    /// At the same, of similarities in double precision where they have so many digits: for scores that are read as numbers.
    PreciseMillionth,
    /// At ten times the rounding of a similarity in single precision, of similarities in double precision where they have so many
    /// digits. A smooth function whose values are known well has much of its detail in small eigenvalues.
    Rounding,
}

named!("cut": NystromCut {
    "millionth" = NystromCut::Millionth,
    "precise-millionth" = NystromCut::PreciseMillionth,
    "rounding" = NystromCut::Rounding,
});

impl NystromCut {
    /// Whether similarities are computed in double precision, where they have it.
    pub(super) fn is_precise(self) -> bool {
        self != NystromCut::Millionth
    }
}

impl Normalization {
    /// Whether it learns from the training samples, not from the bases alone.
    pub fn is_learned(self) -> bool {
        matches!(self, Normalization::MeanNorm | Normalization::ZScore | Normalization::Covariance)
    }

    /// Whether each feature is the similarity to one basis, but for shift and scale.
    pub fn has_a_feature_a_basis(self) -> bool {
        matches!(self, Normalization::MeanNorm | Normalization::ZScore | Normalization::None)
    }

    /// How the similarities between the bases are made definite, if features depend on them.
    pub(crate) fn definite(self) -> Option<Definite> {
        match self {
            Normalization::Nystrom(definite)
            | Normalization::NystromOfSymmetricPart(definite)
            | Normalization::CenteredNystrom(definite) => Some(definite),
            _ => None,
        }
    }
}

named!("normalization": Normalization {
    "mean-norm" = Normalization::MeanNorm,
    "z-score" = Normalization::ZScore,
    "covariance" = Normalization::Covariance,
    "none" = Normalization::None,
    "nystrom-clip" = Normalization::Nystrom(Definite::Clip),
    "nystrom-flip" = Normalization::Nystrom(Definite::Flip),
    "nystrom-shift" = Normalization::Nystrom(Definite::Shift),
    "nystrom-square" = Normalization::Nystrom(Definite::Square),
    "nystrom-symmetric-clip" = Normalization::NystromOfSymmetricPart(Definite::Clip),
    "nystrom-symmetric-flip" = Normalization::NystromOfSymmetricPart(Definite::Flip),
    "nystrom-symmetric-shift" = Normalization::NystromOfSymmetricPart(Definite::Shift),
    "nystrom-symmetric-square" = Normalization::NystromOfSymmetricPart(Definite::Square),
    "centered-clip" = Normalization::CenteredNystrom(Definite::Clip),
    "centered-flip" = Normalization::CenteredNystrom(Definite::Flip),
    "centered-shift" = Normalization::CenteredNystrom(Definite::Shift),
    "nystrom" = Normalization::Nystrom(Definite::Clip),
    "centered" = Normalization::CenteredNystrom(Definite::Clip),
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back() {
        for (name, normalization) in Normalization::NAMES {
            assert_eq!(name.parse::<Normalization>().unwrap(), *normalization);
            let is_short = ["nystrom", "centered"].contains(name);
            assert_eq!(normalization.to_string(), if is_short { format!("{name}-clip") } else { (*name).to_owned() });
        }
        assert!("clip".parse::<Normalization>().unwrap_err().to_string().contains("nystrom-clip"));
    }
}
