//! Similarities of grids against figures of an independent implementation in 64 bits.

use serde_json::Value;
use widemargin::data::{Grids, Samples};
use widemargin::similarity::{GridMatching, pairwise};

#[test]
fn made_grids() {
    let path = format!("{}/tests/data/grid_expected.json", env!("CARGO_MANIFEST_DIR"));
    let expected: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let expected = &expected["grids"];
    let values = expected["feat4"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap() as f32).collect();
    let grids = Grids::new(values, 4, 4, 31).unwrap();
    let (bases, samples) = (grids.select(&[0, 1, 2]), grids.select(&[3, 4]));
    let tolerance = expected["tolerance"].as_f64().unwrap();
    let cases = expected["values"].as_array().unwrap();
    assert_eq!(cases.len(), 7);
    for case in cases {
        let radius = |key: &str| case[key].as_u64().unwrap() as usize;
        let s = match radius("local") {
            0 => GridMatching::rigid(radius("rigid")),
            local => GridMatching::deformable(radius("rigid"), local),
        };
        let ours = pairwise(&s, &bases, &samples).unwrap();
        for (i, row) in case["block"].as_array().unwrap().iter().enumerate() {
            for (j, truth) in row.as_array().unwrap().iter().enumerate() {
                let gap = (f64::from(ours[i * 3 + j]) - truth.as_f64().unwrap()).abs();
                assert!(gap <= tolerance, "{s}: sample {i}, basis {j} is {}", ours[i * 3 + j]);
            }
        }
    }
}
