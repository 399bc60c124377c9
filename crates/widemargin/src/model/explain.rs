//! The terms of explanations of expansions and splines.

use super::basis_expansion::expansion_model::{ExpansionModel, ExpansionTask};
use super::explanation::{Decided, Explanation, Term, TermSource};
use super::thin_plate::Spline;
use crate::data::{Label, Samples};
use crate::error::Result;
use crate::expansion::WeighedColumns;
use crate::similarity::{ColumnMeaning, Comparison, Pieces, Similarity};

/// The terms with details: those of the bases with the largest contributions to the explained class.
fn detailed_terms(explanation: &Explanation, compared: usize) -> Vec<(usize, usize)> {
    let to_basis = |at: usize| match explanation.terms[at].source {
        TermSource::Basis { index, .. } => Some((at, index)),
        _ => None,
    };
    explanation.strongest(explanation.explained).into_iter().filter_map(to_basis).take(compared).collect()
}

/// The names of columns; only original columns have names of their own.
fn column_name(meaning: &ColumnMeaning, names: Option<&[String]>, column: usize) -> Option<String> {
    match meaning {
        ColumnMeaning::Input => names.and_then(|names| names.get(column).cloned()),
        ColumnMeaning::Terms(terms) => terms.get(&column).cloned(),
        &ColumnMeaning::Cells { cols, depth, .. } if cols * depth > 0 => {
            let (row, col) = (column / (cols * depth), column / depth % cols);
            let number = if depth > 1 { format!(", number {}", column % depth) } else { String::new() };
            Some(format!("row {row}, column {col}{number}"))
        }
        _ => None,
    }
}

#[expect(private_bounds, reason = "the tasks are those of the library")]
impl<S: Similarity, T: ExpansionTask> ExpansionModel<S, T> {
    /// The similarities and features of one sample, whose number is `row` in messages.
    pub(super) fn terms(&self, sample: &S::Samples, row: usize) -> Result<Vec<Term>> {
        let (expansion, k) = (&self.expansion, self.task.n_problems());
        let similarity = expansion.similarity();
        let n_polynomials = similarity.metadata().n_polynomials;
        let mut terms = Vec::new();
        let parts = expansion.weighed_columns(self.task.weights(), k, sample.clone(), row)?;
        for (part, found) in parts.into_iter().enumerate() {
            let WeighedColumns { columns, values, references, weights } = found;
            let is_own = similarity.own_features(part, expansion.described()).is_some();
            let of_part = expansion.columns_of(part);
            let meaning = if is_own { similarity.column_meaning(part, sample)? } else { ColumnMeaning::Unknown };
            let is_plain = is_own && similarity.part(part).starts_with("features");
            let offsets = sample.offsets().filter(|_| is_plain);
            for (at, &column) in columns.iter().enumerate() {
                let weights = weights[at * k..(at + 1) * k].to_vec();
                let distance = values[at] - references[at];
                let basis = of_part.get(column).copied().unwrap_or(column);
                let source = if is_own {
                    TermSource::Column {
                        index: column,
                        name: column_name(&meaning, self.origin.feature_names.as_deref(), column),
                    }
                } else if column + n_polynomials >= of_part.len().max(n_polynomials) && n_polynomials > 0 {
                    let number = column + n_polynomials - of_part.len();
                    TermSource::Polynomial { name: format!("polynomial {number}") }
                } else {
                    TermSource::Basis { index: basis, row: self.basis.rows.get(basis).copied() }
                };
                let contributions = weights.iter().map(|weight| weight * distance).collect();
                let offset = offsets.map_or(0.0, |offsets| offsets[column]);
                let (value, reference) = (values[at] + offset, references[at] + offset);
                terms.push(Term { part, source, value, reference, weights, contributions, comparison: None });
            }
        }
        Ok(terms)
    }

    /// Adds the parts of the `compared` strongest similarities.
    pub(super) fn compare(
        &self,
        sample: S::Samples,
        compared: usize,
        mut explanation: Explanation,
    ) -> Result<Explanation> {
        let (expansion, similarity) = (&self.expansion, self.expansion.similarity());
        let described = expansion.describe(sample.clone())?;
        for (at, basis) in detailed_terms(&explanation, compared) {
            if basis >= expansion.described().len() {
                continue;
            }
            let part = explanation.terms[at].part;
            let comparison =
                similarity.comparison(part, &Samples::select(expansion.described(), &[basis]), &described)?;
            let Some(comparison) = comparison else { continue };
            // The terms of both.
            let mut meaning = similarity.column_meaning(part, &sample)?;
            if let ColumnMeaning::Terms(terms) = &mut meaning {
                let of_basis = similarity.column_meaning(part, &Samples::select(expansion.bases(), &[basis]))?;
                if let ColumnMeaning::Terms(more) = of_basis {
                    for (column, term) in more {
                        terms.entry(column).or_insert(term);
                    }
                }
            }
            explanation.terms[at].comparison = Some(comparison.meant(&meaning));
        }
        Ok(explanation)
    }
}

impl Spline {
    /// The bases and polynomials of a scaled sample, and the values of the classes or outputs; `names` are those of the
    /// columns.
    pub(super) fn terms(
        &self,
        sample: &[f64],
        classes: Option<&[Label]>,
        names: Option<&[String]>,
    ) -> (Vec<Term>, Decided) {
        let (k, n, space) = (self.n_functions, self.basis.n_bases(), &self.basis.space);
        let (block, mut monomials) = (self.basis.block(sample), vec![0.0; space.n_monomials()]);
        space.write(sample, &mut monomials);
        let mut terms = Vec::with_capacity(n + monomials.len());
        let (mut intercepts, mut values) = (vec![0.0; k], vec![0.0; k]);
        let mut add = |source: TermSource, value: f64, weights: Vec<f64>| {
            let contributions: Vec<f64> = weights.iter().map(|weight| weight * value).collect();
            values.iter_mut().zip(&contributions).for_each(|(sum, part)| *sum += part);
            if !matches!(&source, TermSource::Polynomial { name } if name.is_empty()) {
                terms.push(Term { part: 0, source, value, reference: 0.0, weights, contributions, comparison: None });
            } else {
                intercepts.copy_from_slice(&contributions);
            }
        };
        for (index, &value) in block.iter().enumerate() {
            let weights = (0..k).map(|problem| self.coefficients[problem * n + index]).collect();
            let row = self.basis_rows.get(index).map(|&row| row as usize);
            add(TermSource::Basis { index, row }, value, weights);
        }
        for (monomial, &value) in monomials.iter().enumerate() {
            let weights = (0..k).map(|problem| self.polynomial[problem * monomials.len() + monomial]).collect();
            let name = |column: &usize| {
                names.and_then(|names| names.get(*column).cloned()).unwrap_or_else(|| format!("column {column}"))
            };
            let names: Vec<String> = space.columns(monomial).iter().map(name).collect();
            add(TermSource::Polynomial { name: names.join(" · ") }, value, weights);
        }
        let decided = match classes {
            Some(classes) => Decided { classes: classes.to_vec(), is_of_values: false, values, intercepts },
            None => Decided::outputs(values, intercepts),
        };
        (terms, decided)
    }

    /// Adds the parts of the `compared` strongest kernel values, in standardized columns.
    pub(super) fn compare(&self, sample: &[f64], compared: usize, mut explanation: Explanation) -> Explanation {
        let (quantity, share) = self.basis.kernel.share();
        for (at, basis) in detailed_terms(&explanation, compared) {
            let all = self.basis.row(basis).iter().zip(sample).map(|(x, y)| share(*x, *y)).enumerate();
            let (columns, shares) = all.filter(|(_, share)| *share != 0.0).unzip();
            explanation.terms[at].comparison = Some(Comparison::of(quantity, Pieces::Columns { columns, shares }));
        }
        explanation
    }
}
