//! The words of a message: from a flag, a file or standard input to its parts.

use std::{io::Read, path::PathBuf};

use anyhow::Context as _;
use clap::{Args, builder::PossibleValuesParser, builder::TypedValueParser};
use edgeplane_types::{ErrorName, Part};

use crate::failure::{Failure, Misuse};

/// The words where the first of them may stand right behind the name.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Words {
    /// The words
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    text: Option<String>,
    /// The words
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    content: Option<String>,
    /// A file with the words, in UTF-8; `-` is standard input
    #[arg(short, long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// The words come on standard input
    #[arg(long)]
    stdin: bool,
    /// The parts as JSON: one part or a list of them
    #[arg(long, value_name = "PARTS")]
    json: Option<String>,
}

impl Words {
    pub(crate) fn parts(self) -> anyhow::Result<Vec<Part>> {
        let Self { text, content, file, stdin, json } = self;
        Content { content: text.or(content), file, stdin, json }.parts()
    }
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Content {
    /// The words
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    content: Option<String>,
    /// A file with the words, in UTF-8; `-` is standard input
    #[arg(short, long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// The words come on standard input
    #[arg(long)]
    stdin: bool,
    /// The parts as JSON: one part or a list of them
    #[arg(long, value_name = "PARTS")]
    json: Option<String>,
}

/// The text in a file; `-` is standard input.
pub(crate) fn text_of(file: PathBuf) -> anyhow::Result<String> {
    let parts = Content { content: None, file: Some(file), stdin: false, json: None }.parts()?;
    let text = parts.into_iter().find_map(|part| match part {
        Part::Text { text } => Some(text),
        Part::Data { .. } | Part::Reference { .. } => None,
    });
    Ok(text.unwrap_or_default())
}

/// Words of ours as the values of a flag.
pub(crate) fn words<T: Clone + Send + Sync + 'static>(
    all: &'static [&'static str],
    read: impl Fn(&str) -> Option<T> + Clone + Send + Sync + 'static,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all).try_map(move |word| read(&word).ok_or("not a word of ours"))
}

impl Content {
    pub(crate) fn parts(&self) -> anyhow::Result<Vec<Part>> {
        let text = |text: String| vec![Part::Text { text }];
        if let Some(words) = &self.content {
            return Ok(text(words.clone()));
        }
        if let Some(file) = self.file.as_ref().filter(|file| file.as_os_str() != "-") {
            let bytes = std::fs::read(file).map_err(|error| {
                let failure = Failure::new(ErrorName::NotFound, format!("cannot read `{}`", file.display()));
                anyhow::Error::new(error).context(failure)
            })?;
            return Ok(text(utf8(bytes, &format!("`{}`", file.display()))?));
        }
        if let Some(json) = &self.json {
            return parse_parts(json);
        }
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).context("cannot read the message from standard input")?;
        Ok(text(utf8(bytes, "standard input")?))
    }
}

fn utf8(bytes: Vec<u8>, from: &str) -> anyhow::Result<String> {
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let failure =
            Failure::new(ErrorName::InvalidParams, format!("{from} is not UTF-8 from byte {at} on"));
        failure
            .hint("send a reference to the file with `--json '{\"type\":\"reference\",\"uri\":…}'` instead")
    })?;
    if text.is_empty() {
        return Err(Misuse(format!("the message from {from} is empty")).into());
    }
    Ok(text)
}

fn parse_parts(json: &str) -> anyhow::Result<Vec<Part>> {
    let value: serde_json::Value = serde_json::from_str(json).map_err(|error| bad_parts(&error))?;
    let list = if value.is_array() { value } else { serde_json::json!([value]) };
    serde_json::from_value(list).map_err(|error| bad_parts(&error).into())
}

fn bad_parts(error: &serde_json::Error) -> Failure {
    let failure =
        Failure::new(ErrorName::InvalidParams, format!("`--json` does not hold message parts: {error}"));
    failure.hint("a part is {\"type\":\"text\",\"text\":…}, {\"type\":\"data\",\"data\":…} or {\"type\":\"reference\",\"uri\":…}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_one_or_many() {
        let one = parse_parts(r#"{"type":"text","text":"a"}"#).unwrap();
        assert_eq!(one, [Part::Text { text: "a".to_owned() }]);
        assert_eq!(
            parse_parts(r#"[{"type":"data","data":1},{"type":"reference","uri":"u"}]"#).unwrap().len(),
            2
        );
        for wrong in ["", "{}", "[1]", r#"{"type":"text","text":"a","x":1}"#] {
            assert!(parse_parts(wrong).is_err(), "{wrong}");
        }
    }
}
