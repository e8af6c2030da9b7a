//! Files that a program has the node read and write: text in its own folder, and nothing outside it.

use std::path::{Path, PathBuf};

use edgeplane_driver::acp::{self, Reason, RequestId};
use edgeplane_os::beneath::{self, BeneathError};
use edgeplane_types::fact::FileWritten;
use edgeplane_types::{Epoch, Fact};
use serde_json::json;

use super::Actor;
use crate::record::chain;

/// Largest file in bytes that is read or written for a program: it travels in one line.
const FILE_BYTES_MAX: usize = 8 << 20;

impl Actor {
    fn serves_files(&self) -> bool {
        let serves = matches!(self.manifest.spec.driver, edgeplane_manifest::Driver::Acp { files: true, .. });
        serves && self.manifest.spec.user.is_none()
    }

    pub(super) async fn acp_read_file(
        &mut self,
        end: u64,
        id: &RequestId,
        path: String,
        (line, limit): (Option<u64>, Option<u64>),
    ) {
        let result = match self.inside(&path) {
            Ok((root, inner)) => {
                let read = move || beneath::read(&root, &inner, FILE_BYTES_MAX);
                tokio::task::spawn_blocking(read)
                    .await
                    .map_err(|_panic| "it was cut off".to_owned())
                    .and_then(|read| {
                        read.map_err(|error| chain(&error)).and_then(|bytes| {
                            String::from_utf8(bytes).map_err(|_bad| "it is no text".to_owned())
                        })
                    })
            }
            Err(why) => Err(why),
        };
        let answer = match result {
            Ok(text) => acp::succeeded(id, &json!({ "content": lines_of(&text, line, limit) })),
            Err(why) => acp::failed(id, Reason::NotFound, &format!("cannot read `{path}`: {why}")),
        };
        self.acp_send(end, 0, &answer);
    }

    pub(super) async fn acp_write_file(
        &mut self,
        (epoch, end): (Epoch, u64),
        id: &RequestId,
        path: String,
        content: String,
    ) {
        // What it had said before is recorded before what it does.
        self.acp_flush().await;
        let digest = edgeplane_proof::digest(content.as_bytes()).to_string();
        let bytes = u64::try_from(content.len()).unwrap_or(u64::MAX);
        let result = match self.inside(&path) {
            Ok(_) if content.len() > FILE_BYTES_MAX => {
                Err(format!("it has {bytes} bytes, more than {FILE_BYTES_MAX}"))
            }
            Ok((root, inner)) => {
                let write = move || beneath::write(&root, &inner, content.as_bytes());
                tokio::task::spawn_blocking(write)
                    .await
                    .map_err(|_panic| "it was cut off".to_owned())
                    .and_then(|written| written.map_err(|error: BeneathError| chain(&error)))
            }
            Err(why) => Err(why),
        };
        match result {
            Ok(()) => {
                self.acp_send(end, 0, &acp::succeeded(id, &json!({})));
                let origin = self.native_origin(epoch, end);
                let message_id = self.acp_turn_of_piece();
                self.acp_note(
                    &origin,
                    Fact::FileWritten(FileWritten { epoch, path, digest, bytes, message_id }),
                );
            }
            Err(why) => {
                let text = format!("cannot write `{path}`: {why}");
                self.acp_send(end, 0, &acp::failed(id, Reason::NotFound, &text));
            }
        }
    }

    /// The agent's folder, and a path in it.
    fn inside(&self, path: &str) -> Result<(PathBuf, PathBuf), String> {
        if !self.serves_files() {
            return Err("this agent's manifest does not let the node serve files".to_owned());
        }
        let root = self.workspace();
        let path = Path::new(path);
        let inner = if path.is_absolute() {
            path.strip_prefix(&root).map_err(|_outside| format!("it is not in `{}`", root.display()))?
        } else {
            path
        };
        Ok((root.clone(), inner.to_owned()))
    }
}

/// Some lines of a text, counted from 1.
fn lines_of(text: &str, first: Option<u64>, limit: Option<u64>) -> String {
    if first.is_none() && limit.is_none() {
        return text.to_owned();
    }
    let skipped = usize::try_from(first.unwrap_or(1).saturating_sub(1)).unwrap_or(usize::MAX);
    let taken = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    text.split_inclusive('\n').skip(skipped).take(taken).collect()
}

#[cfg(test)]
mod tests {
    use super::lines_of;

    /// Proves DRV-014.
    #[test]
    fn lines_are_counted_from_one() {
        let text = "a\nb\nc\n";
        assert_eq!(lines_of(text, None, None), text);
        assert_eq!(lines_of(text, Some(2), Some(1)), "b\n");
        assert_eq!(lines_of(text, Some(1), None), text);
        assert_eq!(lines_of(text, Some(0), Some(1)), "a\n");
        assert_eq!(lines_of(text, Some(9), None), "");
        assert_eq!(lines_of(text, None, Some(u64::MAX)), text);
    }
}
