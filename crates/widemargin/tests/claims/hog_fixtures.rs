//! The HOG descriptor against figures of an independent implementation in 64 bits.

use serde_json::Value;
use widemargin::data::Images;
use widemargin::descriptor::Hog;
use widemargin::similarity::Spec;

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

#[test]
fn three_images_at_two_cell_sizes() {
    let path = format!("{}/tests/data/grid_expected.json", env!("CARGO_MANIFEST_DIR"));
    let expected: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let tolerance = expected["hog"]["tolerance"].as_f64().unwrap();
    let cases = expected["hog"]["values"].as_array().unwrap();
    assert_eq!(cases.len(), 6);
    for case in cases {
        let pixels = numbers(&expected["images"][case["image"].as_str().unwrap()]);
        let image = Images::new(pixels.iter().map(|&pixel| pixel as u8).collect(), 32, 32, 3).unwrap();
        let spec: Spec = format!("hog:cell={}", case["cell"]).parse().unwrap();
        let grids = Hog::from_step(&spec.steps[0]).unwrap().describe(&image).unwrap();
        let cell = |row: usize, col: usize| &grids.grid(0)[(row * grids.cols() + col) * 31..][..31];
        for (key, row, col) in [("cell_0_0", 0, 0), ("cell_1_2", 1, 2)] {
            for (at, (ours, truth)) in cell(row, col).iter().zip(numbers(&case[key])).enumerate() {
                assert!((f64::from(*ours) - truth).abs() <= tolerance, "{case}: {key}[{at}] is {ours}");
            }
        }
        let all = || grids.grid(0).iter().map(|&x| f64::from(x));
        let close = |ours: f64, truth: &Value, tolerance: f64| {
            assert!((ours - truth.as_f64().unwrap()).abs() <= tolerance, "{case}: {ours}");
        };
        close(all().sum(), &case["sum"], 1e-3);
        close(all().map(|x| x * x).sum::<f64>().sqrt(), &case["l2"], 2e-5);
    }
}
