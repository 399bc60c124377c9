//! Similarities of vectors.

use super::{OfVectors, earth_mover};

pub fn of(name: &str) -> Option<OfVectors> {
    let definition: OfVectors = match name {
        "linear" => |_, x, y| Ok(product(x, y)),
        "rbf" => |arguments, x, y| Ok((-arguments.value::<f64>("gamma")? * distance(x, y).powi(2)).exp()),
        "laplacian" => |arguments, x, y| Ok((-arguments.value::<f64>("gamma")? * city_block(x, y)).exp()),
        "polynomial" => |arguments, x, y| {
            let base = arguments.value::<f64>("gamma")? * product(x, y) + arguments.value::<f64>("coef0")?;
            Ok(base.powi(arguments.value("degree")?))
        },
        "sigmoid" => |arguments, x, y| {
            Ok((arguments.value::<f64>("gamma")? * product(x, y) + arguments.value::<f64>("coef0")?).tanh())
        },
        "canberra" => |arguments, x, y| {
            let term = |x: f64, y: f64| if x == y { 0.0 } else { (x - y).abs() / (x.abs() + y.abs()) };
            Ok((-arguments.value::<f64>("gamma")? * sum(x, y, term)).exp())
        },
        "cosine" => |_, x, y| {
            let size = (product(x, x) * product(y, y)).sqrt();
            Ok(if size > 0.0 { product(x, y) / size } else { f64::from(x == y) })
        },
        "tanimoto" => |_, x, y| {
            let either = product(x, x) + product(y, y) - product(x, y);
            Ok(if either > 0.0 { product(x, y) / either } else { 1.0 })
        },
        "chi2" => |_, x, y| Ok(sum(x, y, |x, y| power_mean(-1.0, x, y))),
        "hellinger" => |_, x, y| Ok(sum(x, y, |x, y| (x * y).sqrt())),
        "intersection" => |_, x, y| Ok(sum(x, y, f64::min)),
        "jensen-shannon" => |_, x, y| {
            let half = |x: f64, y: f64| if x > 0.0 { x / 2.0 * ((x + y) / x).log2() } else { 0.0 };
            Ok(sum(x, y, |x, y| half(x, y) + half(y, x)))
        },
        "power-mean" => |arguments, x, y| {
            let p = arguments.value("p")?;
            Ok(sum(x, y, |x, y| power_mean(p, x, y)))
        },
        "emd" => earth_mover::similarity,
        "thin-plate" => |arguments, x, y| {
            let order: i32 = arguments.value("order")?;
            Ok((-1f64).powi(order) * logarithmic(distance(x, y), 2 * order - 2))
        },
        "distance" => |_, x, y| Ok(-distance(x, y)),
        "cubic" => |_, x, y| Ok(distance(x, y).powi(3)),
        "polyharmonic" => |arguments, x, y| {
            let exponent: f64 = arguments.value("exponent")?;
            Ok((-1f64).powf((exponent / 2.0).ceil()) * distance(x, y).powf(exponent))
        },
        "spline" => |arguments, x, y| {
            let exponent = 2 * arguments.value::<i32>("order")? - arguments.value::<i32>("dims")?;
            let r = distance(x, y);
            Ok(match exponent % 2 {
                0 => (-1f64).powi(exponent / 2 + 1) * logarithmic(r, exponent),
                _ => (-1f64).powi((exponent + 1) / 2) * r.powi(exponent),
            })
        },
        "cityblock" => |_, x, y| Ok(-city_block(x, y)),
        "log" => |arguments, x, y| {
            let (gamma, exponent): (f64, f64) = (arguments.value("gamma")?, arguments.value("exponent")?);
            Ok(-(gamma * distance(x, y).powf(exponent)).ln_1p())
        },
        "multiquadric" => {
            |arguments, x, y| Ok(-(1.0 + arguments.value::<f64>("gamma")? * distance(x, y).powi(2)).sqrt())
        }
        "inverse-multiquadric" => {
            |arguments, x, y| Ok(1.0 / (1.0 + arguments.value::<f64>("gamma")? * distance(x, y).powi(2)).sqrt())
        }
        _ => return None,
    };
    Some(definition)
}

fn sum(x: &[f64], y: &[f64], f: impl Fn(f64, f64) -> f64) -> f64 {
    x.iter().zip(y).map(|(&x, &y)| f(x, y)).sum()
}

fn product(x: &[f64], y: &[f64]) -> f64 {
    sum(x, y, |x, y| x * y)
}

/// ‖x − y‖.
fn distance(x: &[f64], y: &[f64]) -> f64 {
    sum(x, y, |x, y| (x - y).powi(2)).sqrt()
}

fn city_block(x: &[f64], y: &[f64]) -> f64 {
    sum(x, y, |x, y| (x - y).abs())
}

/// r^exponent log r, which is 0 at 0.
fn logarithmic(r: f64, exponent: i32) -> f64 {
    if r > 0.0 { r.powi(exponent) * r.ln() } else { 0.0 }
}

/// The power mean of two numbers.
fn power_mean(p: f64, x: f64, y: f64) -> f64 {
    match p {
        f64::INFINITY => x.max(y),
        _ if p < 0.0 && x.min(y) <= 0.0 => 0.0,
        f64::NEG_INFINITY => x.min(y),
        p => ((x.powf(p) + y.powf(p)) / 2.0).powf(1.0 / p),
    }
}
