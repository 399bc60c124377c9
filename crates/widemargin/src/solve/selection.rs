//! The rule by which C is selected from a path: one for all methods, tasks and places of the samples.

/// The share by which the loss at the selected C may exceed the least.
pub(crate) const SLACK: f64 = 0.0;

/// The index of the selected point of a path of (C, estimated loss): the smallest C whose loss is at most a share `slack`
/// above the least, or the least itself for a share of 0. `None` if no loss is known.
pub(crate) fn select_c(path: impl Iterator<Item = (f64, Option<f64>)>, slack: f64) -> Option<usize> {
    let known = |(at, (c, loss)): (usize, (f64, Option<f64>))| Some((at, c, loss.filter(|loss| !loss.is_nan())?));
    let known: Vec<(usize, f64, f64)> = path.enumerate().filter_map(known).collect();
    let least = known.iter().fold(f64::INFINITY, |least, (_, _, loss)| least.min(*loss));
    let most = if slack > 0.0 { least + slack * least.abs() } else { least };
    let is_near = |(_, _, loss): &&(usize, f64, f64)| *loss <= most;
    known.iter().filter(is_near).min_by(|a, b| a.1.total_cmp(&b.1)).map(|(at, _, _)| *at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_c_near_the_least_loss_is_selected() {
        let path = [(9.0, Some(0.100)), (0.1, None), (3.0, Some(0.100)), (1.0, Some(0.102)), (0.3, Some(f64::NAN))];
        assert_eq!(select_c(path.into_iter(), 0.0), Some(2));
        assert_eq!(select_c(path.into_iter(), 0.05), Some(3));
        assert_eq!(select_c([(1.0, None)].into_iter(), 0.0), None);
        assert_eq!(select_c([(2.0, Some(f64::INFINITY)), (1.0, Some(f64::INFINITY))].into_iter(), 0.0), Some(1));
    }
}
