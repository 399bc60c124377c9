//! The command as its users meet it: arguments in; output, messages, exit codes and files out.

mod auto;
mod bad_input;
mod basis_expansion;
mod basis_expansion_trouble;
mod column_roles;
mod columns;
mod cross_validation;
mod demo;
mod explain;
mod formats;
mod help;
mod kinds;
mod messages;
mod model_file;
mod out_of_core;
mod outliers;
mod outputs;
mod parameters;
mod regression;
mod resources;
mod round_trip;
mod same_model;
mod several_labels;
mod tables;
mod thin_plate;
mod trouble;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// One line for each of the names.
fn lines(names: impl IntoIterator<Item = impl std::fmt::Display>) -> String {
    names.into_iter().fold(String::new(), |mut text, name| {
        writeln!(text, "{name}").unwrap();
        text
    })
}

/// Refuses lines that differ in a word, or in a number by more than this share of it, at least of 1.
#[track_caller]
fn assert_close(one: &str, other: &str, tolerance: f64) {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(one).len(), words(other).len());
    for (one, other) in words(one).into_iter().zip(words(other)) {
        match (one.parse::<f64>(), other.parse::<f64>()) {
            (Ok(a), Ok(b)) => assert!((a - b).abs() <= tolerance * a.abs().max(1.0), "{one} {other}"),
            _ => assert_eq!(one, other),
        }
    }
}

/// What one run of the command left behind.
struct Run {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Run {
    fn of(output: Output) -> Run {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Run { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// It went well.
    #[track_caller]
    fn well(self) -> Run {
        assert_eq!(self.code, Some(0), "{}", self.err);
        self
    }

    /// The one JSON object it printed.
    #[track_caller]
    fn json(self) -> Value {
        serde_json::from_str(&self.well().out).expect("one JSON object")
    }

    /// It failed with this code, one `error:` line that has all these words, and at most a `help:` line more.
    #[track_caller]
    fn fails(self, code: i32, words: &[&str]) -> Run {
        assert_eq!(self.code, Some(code), "{}", self.err);
        let lines: Vec<&str> = self.err.lines().collect();
        assert!(lines[0].starts_with("error: "), "{}", self.err);
        assert!(lines.len() <= 2 && lines.get(1).is_none_or(|line| line.starts_with("help: ")), "{}", self.err);
        assert!(words.iter().all(|word| lines[0].contains(word)), "{words:?} not all in: {}", self.err);
        assert_eq!(self.out, "");
        self
    }

    /// Its `help:` line has all these words.
    #[track_caller]
    fn helps(self, words: &[&str]) -> Run {
        let help = self.err.lines().find(|line| line.starts_with("help: ")).unwrap_or_default();
        assert!(words.iter().all(|word| help.contains(word)), "{words:?} not all in: {}", self.err);
        self
    }

    /// It warned of something, and then failed as in [`Run::fails`].
    #[track_caller]
    fn fails_after_warnings(mut self, code: i32, words: &[&str]) -> Run {
        let (warnings, rest): (Vec<&str>, Vec<&str>) = self.err.lines().partition(|line| line.starts_with("warning: "));
        assert!(!warnings.is_empty() && self.err.starts_with("warning: "), "{}", self.err);
        self.err = rest.join("\n");
        self.fails(code, words)
    }
}

/// A folder of its own, in which commands run.
struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(TempDir::new().unwrap())
    }

    /// A folder with `train.svm`, `test.svm` and the model `m` trained on the first.
    fn trained() -> Folder {
        let folder = Folder::new();
        folder.write("train.svm", histograms(1, 120));
        folder.write("test.svm", histograms(2, 60));
        folder.train("--method power-mean train.svm -o m -C 1");
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).unwrap();
    }

    /// Writes the rows of a table with a header that are in a fold to `rest.csv`, the others to `part.csv`.
    fn write_fold(&self, table: &str, folds: &[usize], fold: usize) {
        let (head, rows) = table.split_once('\n').unwrap();
        for (name, is_tested) in [("part.csv", false), ("rest.csv", true)] {
            let kept = rows.lines().zip(folds).filter(|(_, of)| (**of == fold) == is_tested);
            self.write(name, lines(std::iter::once(head).chain(kept.map(|(row, _)| row))));
        }
    }

    /// Trains with these arguments.
    #[track_caller]
    fn train(&self, arguments: &str) -> Run {
        self.run(&format!("train {arguments}")).well()
    }

    /// What `predict` prints with these arguments.
    #[track_caller]
    fn predict(&self, arguments: &str) -> String {
        self.run(&format!("predict {arguments}")).well().out
    }

    /// What a model contains.
    #[track_caller]
    fn inspect(&self, model: &str) -> Value {
        self.run(&format!("inspect {model} --json")).json()
    }

    /// Runs the command in a shell, after some of its own.
    #[cfg(unix)]
    fn run_after(&self, before: &str, arguments: &str) -> Run {
        let line = format!("{before}; exec '{}' {arguments}", env!("CARGO_BIN_EXE_widemargin"));
        Run::of(Command::new("sh").arg("-c").arg(line).current_dir(self.0.path()).output().unwrap())
    }

    /// A score that `evaluate` prints with these arguments.
    #[track_caller]
    fn score(&self, arguments: &str, name: &str) -> f64 {
        let found = self.run(&format!("evaluate {arguments} --json")).json();
        found[name].as_f64().unwrap_or_else(|| panic!("no {name}: {found}"))
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// The files in it, sorted.
    fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Runs the command with arguments between blanks.
    fn run(&self, arguments: &str) -> Run {
        self.run_with_input(arguments, "")
    }

    fn run_with_input(&self, arguments: &str, input: &str) -> Run {
        let mut child = command(self.0.path())
            .args(arguments.split_whitespace())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A command that fails may not read it.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        Run::of(child.wait_with_output().unwrap())
    }
}

fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_widemargin"));
    command.current_dir(folder);
    command
}

/// LIBSVM text of three kinds of histograms with 12 bins, labeled `ant`, `bee`, `fly`. Counts are whole, so
/// every format holds them exactly; the last bin is never empty, so every part of the text has all bins.
fn histograms(seed: u64, n: usize) -> String {
    let (mut chance, mut text) = (kinds::Chance::new(seed), String::new());
    for row in 0..n {
        let kind = row % 3;
        text += ["ant", "bee", "fly"][kind];
        for bin in 0..12 {
            let count = if bin / 4 == kind { 2 + chance.below(8) } else { chance.below(4) } + u64::from(bin == 11);
            if count > 0 {
                write!(text, " {}:{count}", bin + 1).unwrap();
            }
        }
        text.push('\n');
    }
    text
}
