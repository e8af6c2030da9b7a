//! The generic terminal driver: a message becomes keys.
//!
//! It knows no program: it types lines and ends each with the submit keys. Lines of the node may be given a comment
//! prefix, because in a shell or a REPL they would otherwise be commands. Whether the terminal collects lines is
//! known to whoever holds it.

use crate::render::Rendered;

/// Longest line in bytes that a terminal takes while it collects lines; the kernel drops what is beyond.
pub const LINE_BYTES_MAX: usize = 4095;

/// How messages are typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typing {
    /// What makes a line a comment in the program's own syntax, such as `# `.
    pub comment: Option<String>,
    /// Keys that submit a line.
    pub submit: Vec<u8>,
}

/// A line that a terminal which collects lines would cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineTooLong {
    /// Which of the lines that would be typed, from 1.
    pub number: usize,
    /// Its length in bytes, with its comment sign and mark.
    pub bytes: usize,
}

impl std::fmt::Display for LineTooLong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { number, bytes } = self;
        write!(
            f,
            "too_large: line {number} has {bytes} bytes; a line of more than 4,095 bytes would be cut by the terminal"
        )
    }
}

impl std::error::Error for LineTooLong {}

/// The keys for a message.
#[must_use]
pub fn keys(rendered: &Rendered, typing: &Typing) -> Vec<u8> {
    let comment = typing.comment.as_deref().unwrap_or_default();
    let mut out = Vec::new();
    for line in &rendered.head {
        put_line(comment, line, typing, &mut out);
    }
    for line in &rendered.body {
        put_line("", line, typing, &mut out);
    }
    for line in &rendered.tail {
        put_line(comment, line, typing, &mut out);
    }
    out
}

/// Whether a terminal that collects lines takes these keys whole. Asked before the first of them is typed, because
/// half a message cannot be taken back. It counts as the kernel does: from line end to line end, whatever the submit
/// keys are.
///
/// # Errors
/// The first line that is too long.
pub fn check(keys: &[u8]) -> Result<(), LineTooLong> {
    let mut lines = keys.split(|byte| matches!(byte, b'\n' | b'\r')).map(<[u8]>::len).enumerate();
    match lines.find(|(_, bytes)| *bytes > LINE_BYTES_MAX) {
        Some((before, bytes)) => Err(LineTooLong { number: before.saturating_add(1), bytes }),
        None => Ok(()),
    }
}

fn put_line(comment: &str, line: &str, typing: &Typing, out: &mut Vec<u8>) {
    out.extend_from_slice(comment.as_bytes());
    out.extend_from_slice(line.as_bytes());
    out.extend_from_slice(&typing.submit);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves MSG-006.
    #[test]
    fn header_lines_become_comments_and_every_line_is_submitted() {
        let rendered = Rendered {
            head: vec!["[H]".into()],
            body: vec!["echo 1".into(), "pwd".into()],
            tail: vec![">>>x".into()],
            is_preview: false,
        };
        let shell = Typing { comment: Some("# ".into()), submit: b"\r".to_vec() };
        assert_eq!(keys(&rendered, &shell), b"# [H]\recho 1\rpwd\r# >>>x\r");
        let plain = Typing { comment: None, submit: b"\r\n".to_vec() };
        assert_eq!(keys(&rendered, &plain), b"[H]\r\necho 1\r\npwd\r\n>>>x\r\n");
    }

    /// Proves MSG-028.
    #[test]
    fn a_line_that_the_kernel_would_cut_is_found_with_its_prefix() {
        let check_lines = |head: usize, body: usize, comment: &str, submit: &[u8]| {
            let rendered = Rendered {
                head: vec!["h".repeat(head)],
                body: vec!["b".repeat(body)],
                tail: Vec::new(),
                is_preview: false,
            };
            let typing = Typing { comment: Some(comment.to_owned()), submit: submit.to_vec() };
            check(&keys(&rendered, &typing)).map_err(|error| (error.number, error.bytes))
        };
        assert_eq!(check_lines(4093, 4095, "# ", b"\r"), Ok(()));
        assert_eq!(check_lines(4094, 4095, "# ", b"\r"), Err((1, 4096)));
        assert_eq!(check_lines(1, 4096, "# ", b"\n"), Err((2, 4096)));
        assert_eq!(check_lines(2000, 2095, "", b""), Ok(()));
        assert_eq!(check_lines(2000, 2096, "", b""), Err((1, 4096)));
        let said = LineTooLong { number: 2, bytes: 5000 }.to_string();
        assert!(said.starts_with("too_large: line 2 has 5000 bytes"), "{said}");
    }
}
