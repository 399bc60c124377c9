//! Strings compared by edit distance: a similarity by its name, as on the command line, and the terms of one decision value.
//!
//! `cargo run --release --package widemargin-examples --bin strings`

use std::error::Error;

use widemargin::data::{AnySamples, Labels};
use widemargin::model::BasisExpansionParams;
use widemargin::similarity::AnySimilarity;

const ITALIAN: [&str; 8] = ["Rossi", "Russo", "Ferrari", "Esposito", "Bianchi", "Romano", "Colombo", "Ricci"];
const ENGLISH: [&str; 8] = ["Smith", "Jones", "Taylor", "Brown", "Williams", "Wilson", "Johnson", "Davies"];

fn main() -> Result<(), Box<dyn Error>> {
    let names: Vec<String> = ITALIAN.iter().chain(&ENGLISH).map(|name| (*name).to_owned()).collect();
    let labels = Labels::new((0..names.len()).map(|row| if row < ITALIAN.len() { "Italian" } else { "English" }));
    let edit = AnySimilarity::new(&["edit"])?;
    let model = BasisExpansionParams::new(edit).c(10.0).fit(&AnySamples::Strings(names), &labels)?;

    let new = AnySamples::Strings(vec!["Rossini".into(), "Smithson".into()]);
    let predicted: Vec<String> = model.predict(&new, 1)?.iter().map(ToString::to_string).collect();
    println!("Rossini: {}, Smithson: {}", predicted[0], predicted[1]);
    assert_eq!(predicted, ["Italian", "English"]);
    Ok(())
}

#[test]
fn it_runs() {
    main().unwrap();
}
