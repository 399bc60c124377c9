//! `explain` and `report`: what they print adds up, agrees with `predict` and `evaluate`, and survives hostile names.

use crate::Folder;

/// Two classes of words, one with a name that would be markup.
const WORDS: &str = "label,text\n<b>it</b>,Rossi\n<b>it</b>,Russo\n<b>it</b>,Bianchi\n<b>it</b>,Romano\n<b>it</b>,Ricci\n\
                     en,Smith\nen,Jones\nen,\"<script>alert(1)</script>\"\nen,Taylor\nen,Walker\n";

fn trained() -> Folder {
    let folder = Folder::new();
    folder.write("words.csv", WORDS);
    folder.train("--method basis-expansion words.csv --format strings --similarity edit -C 1 -o m -q");
    folder
}

#[test]
fn explanations_add_up_to_the_scores_of_predict() {
    let folder = trained();
    let scores = folder.predict("m words.csv --format strings -q --scores");
    let line = scores.lines().nth(3).unwrap();
    let (label, score) = line.split_once('\t').unwrap();
    let reported = folder.run("explain m words.csv --format strings -q --row 4 --json").json();
    assert_eq!(reported["predicted"], label);
    let terms = reported["terms"].as_array().unwrap();
    let sum: f64 = terms.iter().map(|term| term["contributions"][0].as_f64().unwrap()).sum();
    let (sum, score) = (sum + reported["intercepts"][0].as_f64().unwrap(), score.parse::<f64>().unwrap());
    assert!((sum - score).abs() < 1e-4, "{sum} and {score}");
    assert!(terms.iter().any(|term| term["comparison"]["kind"] == "characters"), "{reported}");

    let text = folder.run("explain m words.csv --format strings -q --row 4").well().out;
    for word in [label, "decision value", "Romano", "training row 4", "cost of the edits"] {
        assert!(text.contains(word), "{word} is not in {text}");
    }
    // Of another class the same numbers speak with the other sign.
    let other = folder.run("explain m words.csv --format strings -q --row 4 --class en --json").json();
    assert_eq!((&other["predicted"], &other["explained"]), (&reported["predicted"], &"en".into()));
    let text = folder.run("explain m words.csv --format strings -q --row 4 --class en").well().out;
    let value = format!("decision value for it {:.6}", reported["decision_values"][0].as_f64().unwrap());
    assert!(text.contains(label) && text.contains("explained: en") && text.contains(&value), "{text}");
    folder.run("explain m words.csv --format strings --row 11").fails(2, &["--row 11", "10 samples"]);
    folder.run("explain m words.csv --format strings --row 0").fails(2, &["--row 0", "the first is 1"]);
}

/// Refuses tags that are not closed in their order.
fn check_well_formed(html: &str) {
    let is_void = |name: &str| ["meta", "img", "br", "!DOCTYPE"].contains(&name);
    let mut open: Vec<&str> = Vec::new();
    for piece in html.split('<').skip(1) {
        let tag = piece.split('>').next().unwrap();
        let name = tag.trim_start_matches('/').split([' ', '\n']).next().unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "</{name}> closes another");
        } else if !is_void(name) && !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?} are not closed");
}

#[test]
fn a_report_has_all_sections_the_numbers_of_evaluate_and_no_markup_of_the_data() {
    let folder = trained();
    folder.run("report m words.csv --format strings -q -o report.html").well();
    let html = folder.read("report.html");
    check_well_formed(&html);
    for id in ["scores", "model", "choice", "confusion", "calibration", "bases", "mistakes"] {
        assert!(html.contains(&format!("<section id=\"{id}\">")), "no section {id}");
    }
    let reported = folder.run("evaluate m words.csv --format strings -q --json").json();
    for name in ["accuracy", "balanced_accuracy", "f1_macro"] {
        let value = format!("<b>{:.2} %</b>", 100.0 * reported[name].as_f64().unwrap());
        assert!(html.contains(&value), "{name}: {value}");
    }
    let area = format!("<b>{:.4}</b>", reported["roc_auc"].as_f64().unwrap());
    assert!(html.contains(&area), "{area}");
    // Neither the name of a class nor a string is markup, and nothing is loaded.
    assert!(html.contains("&lt;b&gt;it&lt;/b&gt;") && html.contains("&lt;script&gt;"));
    assert!(!html.contains("<script") && !html.contains("<b>it</b>"));
    for load in ["http:", "https:", "src=\"/", "url(", "<link", "@import"] {
        assert!(!html.contains(load), "{load}");
    }

    // Without samples there are no scores, and the file is replaced.
    folder.run("report m -o report.html -q").well();
    let html = folder.read("report.html");
    check_well_formed(&html);
    assert!(html.contains("id=\"bases\"") && !html.contains("id=\"scores\""));
}

#[test]
fn a_report_names_what_does_not_fit_and_leaves_an_earlier_one() {
    let folder = trained();
    folder.write("table.csv", "a,b,label\n1,2,x\n2,3,y\n");
    folder.write("report.html", "an earlier one");
    folder.run("report m table.csv -o report.html").fails(2, &["table.csv", "the model takes strings"]);
    folder.run("report m -o m").fails(2, &["the model"]);
    assert_eq!(folder.read("report.html"), "an earlier one");
    assert_eq!(folder.files(), ["m", "report.html", "table.csv", "words.csv"]);
}
