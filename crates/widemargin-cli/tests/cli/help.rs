//! What the command says of itself: completions of shells, and the manual.

use super::*;

#[test]
fn completions_name_every_command_and_option() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = folder.run(&format!("completions {shell}")).well().out;
        for word in ["widemargin", "train", "similarity", "checkpoint", "time-limit", "completions"] {
            assert!(script.contains(word), "{shell} lacks {word}");
        }
    }
    folder.run("completions command.com").fails(2, &["command.com", "SHELL"]);
}

#[test]
fn bash_completes_a_command() {
    let folder = Folder::new();
    let script = folder.run("completions bash").well().out;
    folder.write("completions", script);
    let ask = "source ./completions; COMP_WORDS=(widemargin insp); COMP_CWORD=1; _widemargin widemargin insp widemargin; \
        echo \"${COMPREPLY[@]}\"";
    let Ok(answer) = Command::new("bash").current_dir(folder.0.path()).args(["-c", ask]).output() else {
        eprintln!("there is no bash: not tested");
        return;
    };
    assert_eq!(
        String::from_utf8_lossy(&answer.stdout).trim(),
        "inspect",
        "{}",
        String::from_utf8_lossy(&answer.stderr)
    );
}

#[test]
fn the_manual_has_a_page_for_every_command() {
    let folder = Folder::new();
    let page = folder.run("man").well().out;
    assert!(page.contains(".TH widemargin 1"), "{page}");
    assert!(page.contains(".SH SUBCOMMANDS"), "{page}");
    assert_eq!(folder.run("man -o .").well().out, "");
    for name in ["widemargin", "widemargin-predict", "widemargin-train", "widemargin-transform"] {
        assert!(folder.read(&format!("{name}.1")).contains(&format!(".TH {name} 1")), "{name}");
    }
    folder.run("man -o not/there").fails(2, &["there is no folder not/there"]);
}

/// `WRITE_REFERENCE=1 cargo test -p widemargin-cli reference` writes the page anew.
#[test]
fn the_reference_is_the_help_of_every_command() {
    let folder = Folder::new();
    let mut page = "# Command-line reference\n\nThe text that `widemargin COMMAND --help` prints. \
        [The command line](../guide/command-line.md) is an introduction.\n"
        .to_owned();
    for name in ["train", "cv", "predict", "evaluate", "explain", "inspect", "report", "transform", "convert"] {
        let help = folder.run(&format!("{name} --help")).well().out;
        let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
        write!(page, "\n## widemargin {name}\n\n```text\n{}\n```\n", lines.join("\n").trim_end()).unwrap();
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/command-line.md");
    if std::env::var_os("WRITE_REFERENCE").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    assert!(std::fs::read_to_string(path).unwrap() == page, "{path} is not what the commands print");
}
