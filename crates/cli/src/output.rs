//! What a command prints: tables and lines for people, JSON or YAML for programs.
//!
//! Owns standard output and the notices on standard error. Whatever goes through here is stripped of control characters,
//! so no caller has to remember where a text came from; only [`Output::raw`] is not, for what was filtered already.

use std::{
    io::{self, BufWriter, IsTerminal, Write},
    os::fd::AsFd,
};

use serde::Serialize;

use crate::{json, table::Table, text};

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// For people; may change.
    Table,
    /// For programs; stable.
    Json,
    /// For programs and people; stable.
    Yaml,
}

/// Why something could not be printed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OutputError {
    /// Whoever read our output has seen enough.
    #[error("the reader of the output went away")]
    ReaderGone,
    /// Standard output does not take it.
    #[error("cannot write to standard output")]
    Write(#[source] io::Error),
    /// It has no YAML form.
    #[error("cannot write the result as YAML: {0}")]
    Yaml(String),
}

impl From<io::Error> for OutputError {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe { Self::ReaderGone } else { Self::Write(error) }
    }
}

/// Colours of the tables; each is a mark of no width until the line is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Color {
    Red,
    Yellow,
    Green,
    Dim,
}

impl Color {
    const ALL: [(Self, char, &'static str); 4] = [
        (Self::Red, '\u{2061}', "\x1b[31m"),
        (Self::Yellow, '\u{2062}', "\x1b[33m"),
        (Self::Green, '\u{2063}', "\x1b[32m"),
        (Self::Dim, '\u{2064}', "\x1b[2m"),
    ];
}

const COLOR_END: char = '\u{2060}';

/// The text with a colour, which shows only where colours are wanted.
pub(crate) fn paint(color: Color, text: &str) -> String {
    let mark = Color::ALL.iter().find(|(other, ..)| *other == color).map_or(COLOR_END, |(_, mark, _)| *mark);
    format!("{mark}{}{COLOR_END}", text::one_line(text))
}

/// How to print, decided once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner {
    pub(crate) format: Format,
    pub(crate) quiet: bool,
    pub(crate) color: bool,
    pub(crate) stderr_is_terminal: bool,
    /// Columns of the terminal; tables are not fitted to anything if there is none.
    pub(crate) width: Option<u16>,
}

impl Manner {
    /// Looks at the streams of this process.
    pub(crate) fn of_this_process(format: Format, quiet: bool, color_is_wanted: bool) -> Self {
        let stdout = io::stdout();
        let is_terminal = stdout.is_terminal();
        let width = is_terminal
            .then(|| rustix::termios::tcgetwinsize(&stdout).ok().map(|size| size.ws_col))
            .flatten();
        Self {
            format,
            quiet,
            color: color_is_wanted && is_terminal,
            stderr_is_terminal: io::stderr().is_terminal(),
            width: width.filter(|columns| *columns > 0),
        }
    }
}

/// Where a command prints.
pub(crate) struct Output {
    pub(crate) manner: Manner,
    writer: Box<dyn Write>,
}

impl Output {
    /// Standard output of this process.
    pub(crate) fn new(manner: Manner) -> Self {
        // Unbuffered below our own buffer: the standard library's would hold back what has no line end yet.
        let writer: Box<dyn Write> = match io::stdout().as_fd().try_clone_to_owned() {
            Ok(fd) => Box::new(BufWriter::new(std::fs::File::from(fd))),
            Err(_no_descriptor_left) => Box::new(io::stdout()),
        };
        Self { manner, writer }
    }

    /// Another place, for tests.
    #[cfg(test)]
    pub(crate) fn over(manner: Manner, writer: Box<dyn Write>) -> Self {
        Self { manner, writer }
    }

    pub(crate) fn format(&self) -> Format {
        self.manner.format
    }

    /// A line for people.
    pub(crate) fn line(&mut self, text: &str) -> Result<(), OutputError> {
        let line = rendered(text, self.manner.color);
        Ok(writeln!(self.writer, "{line}")?)
    }

    /// Several lines for people, as they are but for their control characters.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), OutputError> {
        Ok(self.writer.write_all(text::lines(text).as_bytes())?)
    }

    /// A table for people.
    pub(crate) fn table(&mut self, table: &Table) -> Result<(), OutputError> {
        for line in table.lines(self.manner.width) {
            self.line(&line)?;
        }
        Ok(())
    }

    /// A whole result for programs.
    pub(crate) fn value(&mut self, value: &impl Serialize) -> Result<(), OutputError> {
        match self.manner.format {
            Format::Json | Format::Table => Ok(writeln!(self.writer, "{}", json::pretty(value))?),
            Format::Yaml => {
                let text =
                    serde_saphyr::to_string(value).map_err(|error| OutputError::Yaml(error.to_string()))?;
                self.text(text.trim_end_matches('\n'))?;
                Ok(writeln!(self.writer)?)
            }
        }
    }

    /// One of many results for programs: a line of JSON, or a document of YAML.
    pub(crate) fn item(&mut self, value: &impl Serialize) -> Result<(), OutputError> {
        match self.manner.format {
            Format::Json | Format::Table => Ok(writeln!(self.writer, "{}", json::compact(value))?),
            Format::Yaml => {
                writeln!(self.writer, "---")?;
                self.value(value)
            }
        }
    }

    /// Bytes as they are.
    pub(crate) fn raw(&mut self, bytes: &[u8]) -> Result<(), OutputError> {
        Ok(self.writer.write_all(bytes)?)
    }

    /// Hands everything printed so far to whoever reads it.
    pub(crate) fn flush(&mut self) -> Result<(), OutputError> {
        Ok(self.writer.flush()?)
    }

    /// A notice for people on standard error, unless they want quiet.
    pub(crate) fn note(&self, text: &str) {
        if !self.manner.quiet {
            complain(text);
        }
    }
}

/// A line on standard error. That it cannot be written has nobody to be told.
pub(crate) fn complain(text: &str) {
    drop(writeln!(io::stderr(), "{}", rendered(text, false)));
}

/// A faint line on standard error, for a terminal.
pub(crate) fn complain_dimly(text: &str) {
    let end = if text.ends_with('\r') { "\r" } else { "" };
    drop(writeln!(io::stderr(), "{}{end}", rendered(&paint(Color::Dim, text), true)));
}

fn rendered(text: &str, color: bool) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if c == COLOR_END {
            line.push_str(if color { "\x1b[0m" } else { "" });
        } else if let Some((.., code)) = Color::ALL.iter().find(|(_, mark, _)| *mark == c) {
            line.push_str(if color { code } else { "" });
        } else if c == '\t' || !text::is_harmful(c) {
            line.push(c);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, rc::Rc};

    use serde_json::json;

    use super::*;

    #[derive(Clone, Default)]
    struct Paper(Rc<RefCell<Vec<u8>>>);

    impl Write for Paper {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn printed(
        format: Format,
        color: bool,
        print: impl Fn(&mut Output) -> Result<(), OutputError>,
    ) -> String {
        let paper = Paper::default();
        let manner = Manner { format, quiet: false, color, stderr_is_terminal: false, width: None };
        let mut output = Output::over(manner, Box::new(paper.clone()));
        print(&mut output).unwrap();
        let bytes = paper.0.borrow().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn colours_show_only_where_they_are_wanted() {
        let line = |out: &mut Output| out.line(&format!("a {}", paint(Color::Red, "failed\x1b[0m")));
        assert_eq!(printed(Format::Table, true, line), "a \x1b[31mfailed[0m\x1b[0m\n");
        assert_eq!(printed(Format::Table, false, line), "a failed[0m\n");
    }

    #[test]
    fn values_are_json_or_yaml() {
        let value = json!({ "a": [1, "x\u{1b}"], "b": null });
        assert_eq!(
            printed(Format::Json, false, |out| out.value(&value)),
            "{\n  \"a\": [\n    1,\n    \"x\\u001b\"\n  ],\n  \"b\": null\n}\n"
        );
        assert_eq!(
            printed(Format::Json, false, |out| out.item(&value)),
            "{\"a\":[1,\"x\\u001b\"],\"b\":null}\n"
        );
        let yaml = printed(Format::Yaml, false, |out| out.item(&value));
        assert!(yaml.starts_with("---\na:\n"), "{yaml}");
        assert!(!yaml.contains('\u{1b}'), "{yaml}");
        let back: serde_json::Value = serde_saphyr::from_str(&yaml).unwrap();
        assert_eq!(back, value, "{yaml}");
    }

    #[test]
    fn closed_pipe_is_told_apart() {
        let gone = OutputError::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert!(matches!(gone, OutputError::ReaderGone));
        assert!(matches!(
            OutputError::from(io::Error::from(io::ErrorKind::StorageFull)),
            OutputError::Write(_)
        ));
    }
}
