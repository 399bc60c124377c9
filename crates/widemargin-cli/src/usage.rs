//! Mistakes of the command line in words that help.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};

use crate::report::Failure;

/// The commands, with options that may have a negative number, so that it is refused as a value.
pub fn with_negative_numbers(command: Command) -> Command {
    let takes_value = |arg: &Arg| !arg.is_positional() && arg.get_action().takes_values();
    let with = |arg: Arg| if takes_value(&arg) { arg.allow_negative_numbers(true) } else { arg };
    command.mut_args(with).mut_subcommands(with_negative_numbers)
}

/// The first paragraph of the parser's message as the error, and what to do about it. `program` has all commands.
pub fn failure(error: &clap::Error, program: &Command) -> Failure {
    let message = error.to_string();
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let first = words(message.split("\n\n").next().unwrap_or(&message));
    let first = expected_numbers(first.strip_prefix("error: ").unwrap_or(&first));
    let help = suggestion(error).or_else(|| other_commands(error, program));
    Failure::input(first).help(help.unwrap_or_else(|| "add --help to see the usage".into()))
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        // Suggestions: the nearest is the last.
        Some(ContextValue::Strings(texts)) => texts.last().map(String::as_str),
        _ => None,
    }
}

/// The name that was meant.
fn suggestion(error: &clap::Error) -> Option<String> {
    let kinds = [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand, ContextKind::SuggestedValue];
    kinds.into_iter().find_map(|kind| text(error, kind)).map(|near| format!("did you mean {near}?"))
}

/// What a number should be, instead of why it could not be parsed.
fn expected_numbers(message: &str) -> String {
    let whole = ["invalid digit found in string", "cannot parse integer from empty string"];
    let too_large = "number too large to fit in target type";
    match message.rsplit_once(": ") {
        Some((before, problem)) if whole.contains(&problem) => {
            format!("{before}: a whole number of at least 0 is needed")
        }
        Some((before, problem)) if problem == too_large => format!("{before}: the number is too large"),
        Some((before, "invalid float literal")) => format!("{before}: a number is needed"),
        _ => message.to_owned(),
    }
}

/// Which commands have an option that another one lacks.
fn other_commands(error: &clap::Error, program: &Command) -> Option<String> {
    let option = text(error, ContextKind::InvalidArg).filter(|_| error.kind() == ErrorKind::UnknownArgument)?;
    let long = option.strip_prefix("--")?.split('=').next()?;
    let has = |command: &&Command| command.get_arguments().any(|arg| arg.get_long() == Some(long));
    let commands: Vec<String> =
        program.get_subcommands().filter(has).map(|command| format!("`{}`", command.get_name())).collect();
    (!commands.is_empty()).then(|| format!("--{long} is an option of {}", commands.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    use crate::cli::Cli;

    #[test]
    fn what_was_meant_is_suggested() {
        for (line, expected) in [
            ("train a.csv -o m --folds 3", "--folds is an option of `cv`"),
            ("train a.csv -o m --similarty rbf", "did you mean --similarity?"),
            ("inspec m", "did you mean inspect?"),
            ("trian a.csv -o m", "did you mean train?"),
            ("train a.csv -o m --task regresion", "did you mean regression?"),
        ] {
            let words = ["widemargin"].into_iter().chain(line.split(' '));
            let error = with_negative_numbers(Cli::command()).try_get_matches_from(words).unwrap_err();
            let help = failure(&error, &Cli::command()).help.unwrap();
            assert!(help.contains(expected), "{line}: {help}");
        }
    }

    #[test]
    fn negative_numbers_are_refused_as_values() {
        for line in ["demo --seed -1", "explain m a.csv --row -1", "demo --threads -2", "demo --seed=x"] {
            let words = ["widemargin"].into_iter().chain(line.split(' '));
            let error = with_negative_numbers(Cli::command()).try_get_matches_from(words).unwrap_err();
            let message = failure(&error, &Cli::command()).message;
            assert!(message.ends_with("a whole number of at least 0 is needed"), "{line}: {message}");
        }
    }
}
