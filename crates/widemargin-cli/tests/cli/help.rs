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
