//! The demo tells the accuracy that the methods are known to reach on the digits.

use crate::Folder;

#[test]
fn the_demo_reaches_the_known_accuracy() {
    let demo = Folder::new().run("demo --json").json();
    assert_eq!((&demo["n_train"], &demo["n_test"]), (&1000.into(), &797.into()));
    let methods = demo["methods"].as_array().unwrap();
    let accuracy = |name: &str, by_cv: bool| {
        let of = |m: &&serde_json::Value| {
            m["method"].as_str().unwrap().contains(name) && m["C_by_cross_validation"] == by_cv
        };
        methods.iter().find(of).unwrap()["accuracy"].as_f64().unwrap()
    };
    let chi2 = accuracy("chi2", false);
    // Solved to the end it has 91.8 %; at the default gap of 0.01 eight seeds gave 91.6 to 92.4 %.
    assert!((0.9109..=0.9259).contains(&chi2), "{chi2}");
    assert!(accuracy("chi2", true) > 0.92);
    // LIBLINEAR -s 1 reaches 92.8 % at eps = 0.1 and 93.0 % at 0.0001.
    let linear = accuracy("linear", false);
    assert!((0.92..=0.94).contains(&linear), "{linear}");
    let thin_plate = methods.iter().find(|method| method["C_by_leave_one_out"] == true).unwrap();
    assert!(thin_plate["method"].as_str().unwrap().contains("thin plate"));
    let accuracy = thin_plate["accuracy"].as_f64().unwrap();
    assert!(accuracy > 0.965, "{accuracy}");
}

#[test]
fn the_table_names_its_data() {
    let text = Folder::new().run("demo").well().out;
    for word in ["UCI optical digits", "CC BY 4.0", "power mean SVM", "thin plate SVM", "linear SVM", "accuracy"] {
        assert!(text.contains(word), "{word}: {text}");
    }
}
