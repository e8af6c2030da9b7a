//! Commands as text: what a message asks for. Whether its sender may is decided elsewhere.

/// What `/help` answers.
pub(crate) const HELP: &str = "\
I keep notes in my memory at the node; they survive every restart. I know:
  /remember KEY TEXT   keep a note (a single word or \"quoted text\" gets a key by itself)
  /recall KEY          read a note
  /notes               read all notes
  /forget KEY          drop a note
  /briefing            my notes, my peers, what happened last, who I am
  /ask NAME TEXT       ask a peer and pass on its answer
  /approve TEXT        ask a person for leave, and tell what they decide
  /whoami              my identities
  /help                this
I take /remember, /forget, /ask and /approve only from operators and with delegated authority or better.";

/// A command that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    Remember,
    Recall,
    Notes,
    Forget,
    Briefing,
    Ask,
    Approve,
    Whoami,
    Help,
}

impl Command {
    /// The command of this name, without its slash.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "remember" => Self::Remember,
            "recall" => Self::Recall,
            "notes" => Self::Notes,
            "forget" => Self::Forget,
            "briefing" => Self::Briefing,
            "ask" => Self::Ask,
            "approve" => Self::Approve,
            "whoami" => Self::Whoami,
            "help" => Self::Help,
            _ => return None,
        })
    }

    /// Whether it changes something or acts towards others.
    pub(crate) fn is_privileged(self) -> bool {
        match self {
            Self::Remember | Self::Forget | Self::Ask | Self::Approve => true,
            Self::Recall | Self::Notes | Self::Briefing | Self::Whoami | Self::Help => false,
        }
    }
}

/// The command of a message and what follows it, if it is one: `/notes`, or `Run /notes`.
pub(crate) fn parse(content: &str) -> Option<(String, String)> {
    let content = content.trim();
    let is_run = content.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("run "));
    let from_slash = if is_run {
        let begins_word =
            |at: usize| content.get(..at).is_some_and(|before| before.ends_with(char::is_whitespace));
        let is_named = |at: usize| content.get(at + 1..).is_some_and(|after| !starts_blank(after));
        content
            .match_indices('/')
            .find(|(at, _)| begins_word(*at) && is_named(*at))
            .and_then(|(at, _)| content.get(at + 1..))
    } else {
        content.strip_prefix('/').filter(|after| !starts_blank(after))
    }?;
    let (name, rest) = from_slash.split_at(from_slash.find(char::is_whitespace).unwrap_or(from_slash.len()));
    let name = name.to_lowercase();
    Some((name.trim_end_matches(['.', ',', ';', ':', '!', '?']).to_owned(), rest.trim().to_owned()))
}

fn starts_blank(text: &str) -> bool {
    text.chars().next().is_none_or(char::is_whitespace)
}

/// The first word and what follows it, if there are both.
pub(crate) fn first_word(text: &str) -> Option<(&str, &str)> {
    let (word, rest) = text.split_once(char::is_whitespace)?;
    Some((word, rest.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_stands_first_or_after_run() {
        let table = [
            ("/notes", Some(("notes", ""))),
            ("  /Remember a  b c ", Some(("remember", "a  b c"))),
            ("Run /briefing", Some(("briefing", ""))),
            ("run the /briefing, please", Some(("briefing", "please"))),
            ("Run away", None),
            ("What does /notes do?", None),
            ("/", None),
            ("", None),
        ];
        for (content, expected) in table {
            let expected = expected.map(|(name, rest)| (name.to_owned(), rest.to_owned()));
            assert_eq!(parse(content), expected, "{content}");
        }
    }
}
