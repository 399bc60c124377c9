//! What all models on an expansion have as their own methods.

/// The methods of a model with an `expansion`, a `basis`, `basis_rows` and a `report`.
macro_rules! on_expansion {
    ($model:ident) => {
        /// The same model with more notes in its report.
        pub fn with_notes(mut self, notes: impl IntoIterator<Item = String>) -> Self {
            self.report.notes.extend(notes);
            self
        }

        /// The same model with more warnings in its report.
        pub fn with_warnings(mut self, warnings: impl IntoIterator<Item = String>) -> Self {
            self.report.warnings.extend(warnings);
            self
        }

        /// The same model whose report begins with the seconds of the search for its similarity.
        pub fn with_search(mut self, seconds: f64) -> Self {
            self.report.stages.insert(0, crate::solve::Stage { name: "search".into(), seconds });
            self
        }

        /// The same model with the same bases, stored in another way.
        ///
        /// # Errors
        /// An error of the similarity.
        pub fn with_bases(self, bases: S::Samples) -> crate::error::Result<Self> {
            Ok($model { expansion: self.expansion.with_bases(bases)?, ..self })
        }

        /// Number of bases.
        pub fn n_bases(&self) -> usize {
            crate::data::Samples::len(self.expansion.bases())
        }

        crate::macros::getters! {
            /// The expansion: similarity, bases and normalization.
            expansion: &crate::expansion::BasisExpansion<S>;
            /// How the bases were selected.
            basis: &str;
            /// The training row of each basis; empty for explicit bases.
            basis_rows: &[usize];
            /// The report of the fit.
            report: &crate::solve::Report;
        }
    };
}
pub(super) use on_expansion;
