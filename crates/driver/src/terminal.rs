//! The generic terminal driver: a message becomes keys.
//!
//! It knows no program: it types lines and ends each with the submit keys. Header lines may be given a comment
//! prefix, because in a shell or a REPL they would otherwise be commands.

use crate::render::Rendered;

/// How messages are typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typing {
    /// What makes a line a comment in the program's own syntax, such as `# `.
    pub comment: Option<String>,
    /// Keys that submit a line.
    pub submit: Vec<u8>,
}

/// The keys for a message.
#[must_use]
pub fn keys(rendered: &Rendered, typing: &Typing) -> Vec<u8> {
    let comment = typing.comment.as_deref().unwrap_or_default();
    let mut out = Vec::new();
    let framed = |lines: &[String], out: &mut Vec<u8>| {
        for line in lines {
            out.extend_from_slice(comment.as_bytes());
            put_line(line, typing, out);
        }
    };
    framed(&rendered.head, &mut out);
    for line in &rendered.body {
        put_line(line, typing, &mut out);
    }
    framed(&rendered.tail, &mut out);
    out
}

fn put_line(line: &str, typing: &Typing, out: &mut Vec<u8>) {
    // A tab asks shells and editors to complete; a message means the blank.
    out.extend(line.bytes().map(|b| if b == b'\t' { b' ' } else { b }));
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
            body: vec!["echo\t1".into(), "pwd".into()],
            tail: vec![">>>x".into()],
        };
        let shell = Typing { comment: Some("# ".into()), submit: b"\r".to_vec() };
        assert_eq!(keys(&rendered, &shell), b"# [H]\recho 1\rpwd\r# >>>x\r");
        let plain = Typing { comment: None, submit: b"\r\n".to_vec() };
        assert_eq!(keys(&rendered, &plain), b"[H]\r\necho 1\r\npwd\r\n>>>x\r\n");
    }
}
