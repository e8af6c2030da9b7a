//! The command line.

use std::{ffi::OsString, path::PathBuf};

use crate::delete::Remains;

/// What is written for `--help`.
pub(crate) const HELP: &str = "\
edgeplane-shim: owns the terminal or pipes of one agent and outlives the daemon

  edgeplane-shim run NAME EPOCH
      Serves one epoch. Started by edgeplaned, which passes a connection as descriptor 3;
      the arguments are for people who read process lists.

  edgeplane-shim nursery ROOM
      Makes shims faster than the machine starts programs. Started by edgeplaned, which asks
      it on descriptor 3; ends with it. ROOM is space for the arguments of those it makes.

  edgeplane-shim delete --epoch-dir DIR [--cgroup DIR] [--socket PATH]
                        [--pid PID --start TICKS] [--mark NAME=VALUE]
      Cleans up after a shim that was killed, and prints what is left as one line of JSON.
      Exits with 0 if nothing is left of the tree, 3 if that is in doubt.

  edgeplane-shim --help | --version
";

/// What to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Run,
    Nursery,
    Delete(Remains),
    Help,
    Version,
}

/// Why the command line makes no sense.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UsageError {
    #[error("no command is given; see `edgeplane-shim --help`")]
    NoCommand,
    #[error("`{}` is no command; see `edgeplane-shim --help`", .0.display())]
    Unknown(OsString),
    #[error("`run` takes a name and an epoch")]
    Run,
    #[error("`nursery` takes one argument")]
    Nursery,
    #[error("`{}` is no option of `delete`", .0.display())]
    UnknownOption(OsString),
    #[error("`{}` needs a value", .0.display())]
    NoValue(OsString),
    #[error("`{}` is no number", .0.display())]
    NoNumber(OsString),
    #[error("`delete` needs `--epoch-dir`")]
    NoEpochDir,
    #[error("`--pid` and `--start` go together: a pid alone is nobody")]
    HalfProgram,
}

/// Reads the arguments behind the program's own name.
///
/// # Errors
/// When they are none of the commands.
pub(crate) fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Command, UsageError> {
    let mut arguments = arguments;
    let command = arguments.next().ok_or(UsageError::NoCommand)?;
    match command.to_str() {
        Some("run") => (arguments.count() == 2).then_some(Command::Run).ok_or(UsageError::Run),
        Some("nursery") => (arguments.count() == 1).then_some(Command::Nursery).ok_or(UsageError::Nursery),
        Some("delete") => remains(arguments).map(Command::Delete),
        Some("--help" | "-h") => Ok(Command::Help),
        Some("--version" | "-V") => Ok(Command::Version),
        _ => Err(UsageError::Unknown(command)),
    }
}

fn remains(mut arguments: impl Iterator<Item = OsString>) -> Result<Remains, UsageError> {
    let (mut epoch_dir, mut cgroup, mut socket) = (None, None, None);
    let (mut pid, mut start, mut mark) = (None, None, None);
    while let Some(option) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| UsageError::NoValue(option.clone()));
        match option.to_str() {
            Some("--epoch-dir") => epoch_dir = Some(PathBuf::from(value()?)),
            Some("--cgroup") => cgroup = Some(PathBuf::from(value()?)),
            Some("--socket") => socket = Some(PathBuf::from(value()?)),
            Some("--mark") => mark = Some(value()?),
            Some("--pid") => pid = Some(number(value()?)?),
            Some("--start") => start = Some(number(value()?)?),
            _ => return Err(UsageError::UnknownOption(option)),
        }
    }
    let program = match (pid, start) {
        (Some(pid), Some(start)) => Some((u32::try_from(pid).unwrap_or(u32::MAX), start)),
        (None, None) => None,
        _ => return Err(UsageError::HalfProgram),
    };
    let epoch_dir = epoch_dir.ok_or(UsageError::NoEpochDir)?;
    Ok(Remains { epoch_dir, cgroup, socket, program, mark })
}

fn number(value: OsString) -> Result<u64, UsageError> {
    let parsed = value.to_str().and_then(|text| text.parse().ok());
    parsed.ok_or(UsageError::NoNumber(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &Result<Command, UsageError>) {
        let arguments = line.split_ascii_whitespace().map(OsString::from);
        assert_eq!(&parse(arguments), expected, "{line}");
    }

    #[test]
    fn commands_are_told_apart() {
        let remains =
            Remains { epoch_dir: "/e".into(), cgroup: None, socket: None, program: None, mark: None };
        check("run shell 3", &Ok(Command::Run));
        check("--help", &Ok(Command::Help));
        check("--version", &Ok(Command::Version));
        check("delete --epoch-dir /e", &Ok(Command::Delete(remains.clone())));
        check(
            "delete --epoch-dir /e --cgroup /c/work --socket /s --pid 7 --start 9 --mark A=b",
            &Ok(Command::Delete(Remains {
                cgroup: Some("/c/work".into()),
                socket: Some("/s".into()),
                program: Some((7, 9)),
                mark: Some("A=b".into()),
                ..remains
            })),
        );
    }

    #[test]
    fn other_lines_are_refused() {
        check("", &Err(UsageError::NoCommand));
        check("walk", &Err(UsageError::Unknown("walk".into())));
        check("run shell", &Err(UsageError::Run));
        check("delete", &Err(UsageError::NoEpochDir));
        check("delete --epoch-dir", &Err(UsageError::NoValue("--epoch-dir".into())));
        check("delete --epoch-dir /e --pid x", &Err(UsageError::NoNumber("x".into())));
        check("delete --epoch-dir /e --pid 7", &Err(UsageError::HalfProgram));
        check("delete --all", &Err(UsageError::UnknownOption("--all".into())));
    }
}
