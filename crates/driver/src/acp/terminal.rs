//! Commands that a program has its client run, which the protocol calls terminals.

use serde::Deserialize;
use serde_json::Value;

/// What a program asks of a terminal.
#[derive(Debug, Clone, PartialEq)]
pub struct Terminal {
    /// The program's session.
    pub session: String,
    /// What it asks for.
    pub ask: TerminalAsk,
}

/// What may be asked of a terminal.
#[derive(Debug, Clone, PartialEq)]
pub enum TerminalAsk {
    /// A command is to be run.
    Create(Create),
    /// What it has said until now.
    Output(String),
    /// How it ends, once it does.
    WaitForExit(String),
    /// It is to end, and may be asked about.
    Kill(String),
    /// It is to end if it has not, and is not asked about any more.
    Release(String),
}

/// A command to be run.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Create {
    #[serde(rename = "sessionId")]
    session: String,
    /// The program.
    pub command: String,
    /// Its arguments.
    #[serde(default, deserialize_with = "or_none")]
    pub args: Vec<String>,
    /// Variables beside those of the agent.
    #[serde(default, deserialize_with = "or_none")]
    pub env: Vec<Variable>,
    /// Its folder.
    #[serde(default)]
    pub cwd: Option<String>,
    /// Bytes of output that are to be kept.
    #[serde(default)]
    pub output_byte_limit: Option<u64>,
}

/// A variable of a command.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Named {
    session_id: String,
    terminal_id: String,
}

/// Reads the parameters of a method; `None` if there is no such method of terminals.
pub(super) fn read(method: &str, params: Value) -> Option<Result<Terminal, String>> {
    let of: fn(String) -> TerminalAsk = match method {
        "terminal/create" => return Some(create(params)),
        "terminal/output" => TerminalAsk::Output,
        "terminal/wait_for_exit" => TerminalAsk::WaitForExit,
        "terminal/kill" => TerminalAsk::Kill,
        "terminal/release" => TerminalAsk::Release,
        _ => return None,
    };
    let named = serde_json::from_value::<Named>(params).map_err(|error| error.to_string());
    Some(named.map(|named| Terminal { session: named.session_id, ask: of(named.terminal_id) }))
}

fn create(params: Value) -> Result<Terminal, String> {
    let mut create: Create = serde_json::from_value(params).map_err(|error| error.to_string())?;
    let session = std::mem::take(&mut create.session);
    Ok(Terminal { session, ask: TerminalAsk::Create(create) })
}

/// Some say `null` where they have none.
fn or_none<'de, D: serde::Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    Ok(Option::<Vec<T>>::deserialize(from)?.unwrap_or_default())
}

/// What a command has said, from its last `limit` bytes: whole characters, and no more than that.
#[must_use]
pub fn output_text(bytes: &[u8], limit: usize) -> String {
    // What stands before the first whole character was cut.
    let begin = bytes.iter().take(3).take_while(|byte| (0x80..0xc0).contains(*byte)).count();
    let whole = bytes.get(begin..).unwrap_or_default();
    let mut text = String::from_utf8_lossy(whole).into_owned();
    // What is no text takes more room as the character that stands for it.
    let excess = text.len().saturating_sub(limit);
    text.drain(..text.ceil_char_boundary(excess));
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Proves DRV-058.
    #[test]
    fn output_is_cut_from_the_beginning_between_characters() {
        assert_eq!(output_text("aé".as_bytes(), 9), "aé");
        assert_eq!(output_text(&"éab".as_bytes()[1..], 3), "ab");
        assert_eq!(output_text("éab".as_bytes(), 3), "ab");
        assert_eq!(output_text(b"\xff\xff\xff", 4), "\u{fffd}");
        assert_eq!(output_text(b"abc", 0), "");
        for limit in 0..20 {
            assert!(output_text("日本語 text é".as_bytes(), limit).len() <= limit);
        }
    }

    #[test]
    fn requests_are_read_calmly() {
        let params = json!({ "sessionId": "s", "command": "make", "args": null, "cwd": null, "new": 1 });
        let Some(Ok(Terminal { ask: TerminalAsk::Create(create), session })) =
            read("terminal/create", params)
        else {
            panic!("not read");
        };
        assert_eq!((session.as_str(), create.command.as_str(), create.args.len()), ("s", "make", 0));
        let kill = read("terminal/kill", json!({ "sessionId": "s", "terminalId": "t" }));
        assert_eq!(kill.unwrap().unwrap().ask, TerminalAsk::Kill("t".to_owned()));
        assert!(read("terminal/create", json!({})).unwrap().is_err());
        assert!(read("terminal/resize", json!({})).is_none());
    }
}
