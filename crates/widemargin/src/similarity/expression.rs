//! A function of two numbers written as an expression, such as `2*x*y/(x+y)`.

use exmex::{Express, FlatEx};

use super::scalar_function::ScalarFunction;
use crate::error::{Error, Result};

/// An expression of x and y. The grammar is that of the crate `exmex`: `+ - * / ^`, `min`, `max`, `sqrt`, `exp`, `ln`,
/// `log2`, `abs` and so on.
pub(super) struct Expression {
    parsed: FlatEx<f64>,
    /// Of each variable, in the order of `parsed`, whether it is x.
    is_x: Vec<bool>,
}

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    /// [`Error::Parameter`] that says what is not understood, and for a variable other than x and y.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = |problem: String| {
            let example = "an expression of x and y, such as expr:2*x*y/(x+y)";
            Error::parameter("kernel", format!("expr:{text}"), format!("{problem}; expected {example}"))
        };
        let parsed: FlatEx<f64> = exmex::parse(text).map_err(|error| wrong(error.to_string()))?;
        if let Some(name) = parsed.var_names().iter().find(|name| *name != "x" && *name != "y") {
            return Err(wrong(format!("'{name}' is unknown")));
        }
        let is_x = parsed.var_names().iter().map(|name| name == "x").collect();
        Ok(Expression { parsed, is_x })
    }
}

impl ScalarFunction for Expression {
    fn values(&self, x: &[f64], y: &[f64]) -> Result<Vec<f64>> {
        let mut variables = vec![0.0; self.is_x.len()];
        let value = |(&x, &y)| {
            variables.iter_mut().zip(&self.is_x).for_each(|(variable, is_x)| *variable = if *is_x { x } else { y });
            self.parsed.eval(&variables).map_err(|error| Error::parameter("kernel", "expr", error.to_string()))
        };
        x.iter().zip(y).map(value).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_what_they_say() {
        let value = |text: &str| Expression::parse(text).unwrap().values(&[2.0, 3.0], &[6.0, 0.5]).unwrap();
        assert_eq!(value("2*x*y/(x+y)"), [3.0, 3.0 / 3.5]);
        assert_eq!(value("2*y*x/(y+x)"), [3.0, 3.0 / 3.5]);
        assert_eq!(value("min(x, y)"), [2.0, 0.5]);
        assert_eq!(value("sqrt(x)*y^2"), [2f64.sqrt() * 36.0, 3f64.sqrt() * 0.25]);
        assert_eq!(value("y"), [6.0, 0.5]);
        assert_eq!(value("1"), [1.0, 1.0]);
    }

    #[test]
    fn rejects_what_is_no_expression_of_x_and_y() {
        for (text, words) in
            [("2*x*z", "'z' is unknown"), ("2*x*", "expected an expression"), ("", "x and y"), ("(x", "x and y")]
        {
            let error = Expression::parse(text).map(drop).unwrap_err().to_string();
            assert!(error.starts_with(&format!("kernel = expr:{text} ")) && error.contains(words), "{error}");
        }
    }
}
