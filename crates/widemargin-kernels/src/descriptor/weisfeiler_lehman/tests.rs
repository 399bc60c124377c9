use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::data::{AnySamples, Vectors};
use crate::monitor::Monitor;
use crate::similarity::{AnySimilarity, Similarity, Spec, pairwise};

fn fitted(spec: &str, graphs: &Vec<String>) -> Result<WeisfeilerLehman> {
    let spec: Spec = spec.parse().unwrap();
    let mut wl = WeisfeilerLehman::from_step(&spec.steps[0])?;
    let weights = vec![1.0; graphs.len()];
    let monitor = Monitor::none();
    wl.fit_graphs(&Training { samples: graphs, weights: &weights, threads: 1, monitor: &monitor })?;
    Ok(wl)
}

fn written(labels: &[usize], edges: &[(usize, usize, usize)]) -> String {
    let nodes: Vec<String> = labels.iter().map(|label| format!("\"{}\"", ["C", "N", "é"][*label])).collect();
    let edges: Vec<String> = edges.iter().map(|(from, to, label)| format!("[{from}, {to}, {label}]")).collect();
    format!("{{\"nodes\": [{}], \"edges\": [{}]}}", nodes.join(","), edges.join(","))
}

/// The colors of a graph as texts that spell them out: no hash and no dictionary.
fn spelled(graph: &Graph, iterations: usize, directed: bool) -> BTreeMap<String, usize> {
    let mut colors = graph.nodes.clone();
    let mut counts = BTreeMap::new();
    for iteration in 0..=iterations {
        for color in &colors {
            *counts.entry(format!("{iteration} {color}")).or_default() += 1;
        }
        let next = |vertex: usize| {
            let mut around: Vec<String> = Vec::new();
            for Edge { from, to, label } in &graph.edges {
                let [out, back] = if directed { ["out", "in"] } else { ["", ""] };
                if *from == vertex {
                    around.push(format!("{out} {label} {}", colors[*to]));
                }
                if *to == vertex && (directed || from != to) {
                    around.push(format!("{back} {label} {}", colors[*from]));
                }
            }
            around.sort();
            format!("({}: {})", colors[vertex], around.join("; "))
        };
        colors = (0..colors.len()).map(next).collect();
    }
    counts
}

use super::graph::Edge;

type Drawn = (Vec<usize>, Vec<(usize, usize, usize)>);

fn drawn() -> impl Strategy<Value = Drawn> {
    (1usize..7)
        .prop_flat_map(|n| (prop::collection::vec(0..3usize, n), prop::collection::vec((0..n, 0..n, 0..2usize), 0..9)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn counts_are_those_of_spelled_out_colors(
        graphs in prop::collection::vec(drawn(), 2..6), iterations in 0usize..4, directed in any::<bool>(),
    ) {
        let texts: Vec<String> = graphs.iter().map(|(labels, edges)| written(labels, edges)).collect();
        let wl = fitted(&format!("wl:iterations={iterations},directed={directed}"), &texts).unwrap();
        let matrix = wl.vectors(&texts).unwrap();
        prop_assert!(matrix.view().is_ok());
        let rows = Vectors::Sparse(matrix).dense().unwrap().into_owned();
        let counts: Vec<_> =
            texts.iter().map(|text| spelled(&Graph::read(text).unwrap(), iterations, directed)).collect();
        let row = |at: usize| &rows.values[at * rows.n_cols..(at + 1) * rows.n_cols];
        for (x, y) in (0..texts.len()).flat_map(|x| (0..texts.len()).map(move |y| (x, y))) {
            let found: f32 = row(x).iter().zip(row(y)).map(|(a, b)| a * b).sum();
            let right: usize = counts[x].iter().map(|(color, n)| n * counts[y].get(color).unwrap_or(&0)).sum();
            prop_assert_eq!(found, right as f32);
        }
    }

    /// Cosine and Tanimoto of new graphs and training graphs, counted without columns.
    #[test]
    fn new_graphs_are_compared_by_all_their_patterns(graphs in prop::collection::vec(drawn(), 3..7)) {
        let texts: Vec<String> = graphs.iter().map(|(labels, edges)| written(labels, edges)).collect();
        let (known, all) = (AnySamples::Strings(texts[..2].to_vec()), AnySamples::Strings(texts.clone()));
        let counts: Vec<_> = texts.iter().map(|text| spelled(&Graph::read(text).unwrap(), 2, false)).collect();
        let product = |x: usize, y: usize| -> f64 {
            counts[x].iter().map(|(color, n)| (n * counts[y].get(color).unwrap_or(&0)) as f64).sum()
        };
        for name in ["cosine", "tanimoto"] {
            let mut similarity = AnySimilarity::new(&[format!("wl:iterations=2/{name}")]).unwrap();
            let monitor = Monitor::none();
            similarity.fit(&Training { samples: &known, weights: &[1.0; 2], threads: 1, monitor: &monitor }).unwrap();
            let found = pairwise(&similarity, &known, &all).unwrap();
            for (at, found) in found.iter().enumerate() {
                let (x, y) = (at / 2, at % 2);
                let (xy, xx, yy) = (product(x, y), product(x, x), product(y, y));
                let right = if name == "cosine" { xy / (xx * yy).sqrt() } else { xy / (xx + yy - xy) };
                prop_assert!((f64::from(*found) - right).abs() < 1e-6, "{} {}: {} {}", name, at, found, right);
            }
        }
    }

    #[test]
    fn the_order_of_vertices_and_edges_makes_no_difference((labels, edges) in drawn(), seed in 0usize..1000) {
        let n = labels.len();
        let place = |vertex: usize| (vertex + seed) % n;
        let mut moved = vec![0; n];
        labels.iter().enumerate().for_each(|(vertex, label)| moved[place(vertex)] = *label);
        let turned: Vec<_> = edges.iter().rev().map(|&(from, to, label)| (place(to), place(from), label)).collect();
        let texts = vec![written(&labels, &edges), written(&moved, &turned)];
        let rows = fitted("wl", &texts).unwrap().vectors(&texts).unwrap();
        let row = |at: usize| (&rows.indices[rows.indptr[at]..rows.indptr[at + 1]], &rows.values[rows.indptr[at]..rows.indptr[at + 1]]);
        prop_assert_eq!(row(0), row(1));
    }
}

#[test]
fn path_and_triangle() {
    // Labels: 3 and 3 vertices of one kind. After one iteration ends have one neighbor, the middle two.
    let texts =
        vec![written(&[0, 0, 0], &[(0, 1, 0), (1, 2, 0)]), written(&[0, 0, 0], &[(0, 1, 0), (1, 2, 0), (2, 0, 0)])];
    let wl = fitted("wl:iterations=1", &texts).unwrap();
    let rows = wl.vectors(&texts).unwrap();
    let mut values = [rows.values[..rows.indptr[1]].to_vec(), rows.values[rows.indptr[1]..].to_vec()];
    values.iter_mut().for_each(|row| row.sort_by(f32::total_cmp));
    assert_eq!(values, [vec![1.0, 2.0, 3.0], vec![3.0, 3.0]]);
    // Patterns that are not in the training graphs, here a label and the pattern around it, count by their norm.
    let other = wl.vectors(&[written(&[1], &[])]).unwrap();
    assert_eq!((other.indices, other.values, other.n_cols), (vec![3], vec![2f32.sqrt()], 4));
}

#[test]
fn a_model_stores_the_fitted_state() {
    let graphs = AnySamples::Strings(vec![written(&[0, 1], &[(0, 1, 1)]), written(&[2, 1, 0], &[(0, 2, 0)])]);
    let mut similarity = AnySimilarity::new(&["wl:iterations=2/cosine"]).unwrap();
    let monitor = Monitor::none();
    similarity.fit(&Training { samples: &graphs, weights: &[1.0; 2], threads: 1, monitor: &monitor }).unwrap();
    let mut again = AnySimilarity::new(&similarity.specs()).unwrap();
    let state: BTreeMap<String, Vec<f32>> =
        similarity.state().into_iter().map(|(name, values)| (name, values.to_vec())).collect();
    again.restore(&mut |name| Ok(state[name].clone())).unwrap();
    let described = |similarity: &AnySimilarity| format!("{:?}", similarity.describe(graphs.clone()).unwrap());
    assert_eq!(described(&again), described(&similarity));
    let damaged = again.restore(&mut |_| Ok(vec![-1.0, 2.0])).unwrap_err().to_string();
    assert!(damaged.contains("ascending"), "{damaged}");
}

#[test]
fn rejects_wrong_graphs() {
    let good = written(&[0, 1], &[(0, 1, 0)]);
    for (wrong, words) in [
        ("C-O", "is no graph"),
        ("[1]", "it is no object"),
        (r#"{"nodes": ["C"]}"#, "it has no \"edges\""),
        (r#"{"nodes": {}, "edges": []}"#, "\"nodes\" is no list"),
        (r#"{"nodes": ["C"], "edges": [], "weights": []}"#, "\"weights\" is not known"),
        (r#"{"nodes": ["C", null], "edges": []}"#, "node 1 whose label"),
        (r#"{"nodes": ["C", "O"], "edges": [[0, 1], [1, 2]]}"#, "edge 1, [1,2], to a vertex 2 that is not there"),
        (r#"{"nodes": ["C", "O"], "edges": [[0, -1]]}"#, "edge 0, [0,-1], that is not two vertices"),
        (r#"{"nodes": ["C", "O"], "edges": [[0]]}"#, "not two vertices and perhaps a label"),
    ] {
        let message = fitted("wl", &vec![good.clone(), wrong.to_owned()]).unwrap_err().to_string();
        assert!(message.contains(words) && message.contains("sample 1"), "{message}");
    }
    let spec: Spec = "wl".parse().unwrap();
    let unfitted = WeisfeilerLehman::from_step(&spec.steps[0]).unwrap();
    assert!(unfitted.vectors(&[good]).unwrap_err().to_string().contains("fit it first"));
    let empty = fitted("wl", &vec![written(&[], &[])]).unwrap_err().to_string();
    assert!(empty.contains("no vertices"), "{empty}");
}
