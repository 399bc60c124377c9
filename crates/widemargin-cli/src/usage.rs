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
    let failure = Failure::input(first);
    if let Some(help) = other_command(error, program) {
        return failure.help(help);
    }
    let tip = message.lines().find_map(|line| line.trim().strip_prefix("tip: "));
    failure.help(tip.unwrap_or("add --help to see the usage"))
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

/// Which command has what another one lacks.
fn other_command(error: &clap::Error, program: &Command) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let option = text(ContextKind::InvalidArg)?;
            let long = option.strip_prefix("--")?.split('=').next()?.to_owned();
            let mut commands = Vec::new();
            commands_with(program, &long, &mut Vec::new(), &mut commands);
            (!commands.is_empty()).then(|| format!("--{long} is an option of {}", commands.join(", ")))
        }
        ErrorKind::InvalidSubcommand => {
            let usage = error.get(ContextKind::Usage)?.to_string();
            let is_cv = usage.contains(" cv ");
            is_cv.then(|| {
                "name the method: `cv basis-expansion DATA`, `cv thin-plate DATA` or `cv power-mean DATA`; `train DATA` \
                 compares them by itself"
                    .to_owned()
            })
        }
        ErrorKind::MissingRequiredArgument => {
            let usage = error.get(ContextKind::Usage)?.to_string();
            let method = usage.split_once(" train ")?.1.split_whitespace().next()?;
            let is_method = program.find_subcommand("train")?.find_subcommand(method).is_some();
            is_method.then(|| format!("the method comes first: `train {method} DATA -o MODEL`"))
        }
        _ => None,
    }
}

/// The commands below one that have an option; all of its subcommands are told of as one.
fn commands_with(command: &Command, long: &str, path: &mut Vec<String>, found: &mut Vec<String>) {
    let has = |command: &Command| {
        command.get_arguments().any(|arg| arg.get_long() == Some(long)) && command.get_name() != "help"
    };
    let below: Vec<&Command> = command.get_subcommands().collect();
    let is_whole = !path.is_empty() && (has(command) || (!below.is_empty() && below.iter().all(|one| has(one))));
    if is_whole {
        found.push(format!("`{}`", path.join(" ")));
        return;
    }
    for one in below {
        path.push(one.get_name().to_owned());
        commands_with(one, long, path, found);
        path.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    use crate::cli::Cli;

    #[test]
    fn options_of_other_commands_are_found() {
        for (line, expected) in [
            (
                "train a.csv -o m --similarity rbf",
                "--similarity is an option of `train basis-expansion`, `cv basis-expansion`",
            ),
            ("train a.csv -o m --group g", "--group is an option of `cv`"),
            ("cv a.csv", "name the method"),
            ("cv auto a.csv", "name the method"),
            ("train a.csv -o m --outputs n", "similar argument"),
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
