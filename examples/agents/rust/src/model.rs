//! A model behind an address of the environment, asked once for each message.
//!
//! Knows the two common forms of such services: chat completions where `OPENAI_BASE_URL` is set, messages where
//! `ANTHROPIC_BASE_URL` is. Speaks plain HTTP only, for services on the machine or behind a local proxy. Keeps
//! nothing between two calls: what should be remembered belongs into the agent's memory.

use std::{fmt, time::Duration};

use serde_json::{Value, json};

/// Long enough for a local model on a small machine.
const TIMEOUT: Duration = Duration::from_secs(120);
const ANSWER_TOKENS_MAX: u32 = 1024;
/// A service that sends more than this does not send an answer.
const BODY_BYTES_MAX: u64 = 1 << 20;
const SHOWN_CHARACTERS_MAX: usize = 200;

/// The model gave no answer, or cannot be asked at all.
#[derive(Debug)]
pub(crate) enum ModelError {
    Https,
    Key { path: String, source: std::io::Error },
    Unreachable { source: ureq::Error },
    Status { status: u16, body: String },
    Unreadable { body: String },
    NoText,
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Https => {
                f.write_str("this agent speaks plain http only; for https take the agent in Python")
            }
            Self::Key { path, source } => write!(f, "cannot read the key in `{path}`: {source}"),
            Self::Unreachable { source } => write!(f, "it cannot be reached: {}", shown(&source.to_string())),
            Self::Status { status, body } => write!(f, "it answered with status {status}: {}", shown(body)),
            Self::Unreadable { body } => write!(f, "its answer is in no form known here: {}", shown(body)),
            Self::NoText => f.write_str("its answer holds no text"),
        }
    }
}

impl std::error::Error for ModelError {}

/// How a service is spoken to.
#[derive(Debug, Clone, Copy)]
enum Form {
    Chat,
    Messages,
}

/// Where a model is and how it is spoken to.
#[derive(Clone)]
pub(crate) struct Model {
    form: Form,
    url: String,
    name: String,
    key: Option<String>,
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model").field("url", &self.url).field("name", &self.name).finish_non_exhaustive()
    }
}

impl Model {
    /// The model that the environment names, if it names one.
    ///
    /// # Errors
    /// A file of a key that cannot be read.
    pub(crate) fn from_environment(
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, ModelError> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        if let Some(base) = set("OPENAI_BASE_URL") {
            return Ok(Some(Self {
                form: Form::Chat,
                url: format!("{}/chat/completions", base.trim_end_matches('/')),
                name: set("OPENAI_MODEL").unwrap_or_else(|| "gpt-4o-mini".to_owned()),
                key: key(&set, "OPENAI_API_KEY")?,
            }));
        }
        let Some(base) = set("ANTHROPIC_BASE_URL") else { return Ok(None) };
        let base = base.trim_end_matches('/');
        Ok(Some(Self {
            form: Form::Messages,
            url: format!("{}/v1/messages", base.strip_suffix("/v1").unwrap_or(base)),
            name: set("ANTHROPIC_MODEL").unwrap_or_else(|| "claude-haiku-4-5".to_owned()),
            key: key(&set, "ANTHROPIC_API_KEY")?,
        }))
    }

    /// What the model says to a message.
    ///
    /// # Errors
    /// Why there is no answer, fit to be shown.
    pub(crate) fn answer(&self, system: &str, text: &str) -> Result<String, ModelError> {
        if self.url.starts_with("https:") {
            return Err(ModelError::Https);
        }
        let message = json!({ "role": "user", "content": text });
        let mut body = json!({ "model": self.name, "max_tokens": ANSWER_TOKENS_MAX });
        match self.form {
            Form::Chat => body["messages"] = json!([{ "role": "system", "content": system }, message]),
            Form::Messages => {
                body["system"] = json!(system);
                body["messages"] = json!([message]);
            }
        }
        self.read(&self.post(&body)?)
    }

    fn post(&self, body: &Value) -> Result<String, ModelError> {
        let unreachable = |source| ModelError::Unreachable { source };
        // No redirect is followed: the key goes to the address that was configured and nowhere else.
        let agent = ureq::Agent::config_builder()
            .timeout_global(Some(TIMEOUT))
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .build()
            .new_agent();
        let mut request = agent.post(&self.url).header("Content-Type", "application/json");
        if let Form::Messages = self.form {
            request = request.header("anthropic-version", "2023-06-01");
        }
        if let Some(key) = &self.key {
            request = match self.form {
                Form::Chat => request.header("Authorization", format!("Bearer {key}")),
                Form::Messages => request.header("x-api-key", key),
            };
        }
        let mut response = request.send(body.to_string()).map_err(unreachable)?;
        let status = response.status();
        let body = response.body_mut().with_config().limit(BODY_BYTES_MAX).lossy_utf8(true).read_to_string();
        let body = body.map_err(unreachable)?;
        if status.is_success() { Ok(body) } else { Err(ModelError::Status { status: status.as_u16(), body }) }
    }

    fn read(&self, body: &str) -> Result<String, ModelError> {
        let unreadable = || ModelError::Unreadable { body: body.to_owned() };
        let answer: Value = serde_json::from_str(body).unwrap_or_default();
        let text = match self.form {
            Form::Chat => match &answer["choices"][0]["message"]["content"] {
                Value::String(text) => text.clone(),
                Value::Null if answer["choices"][0].is_object() => String::new(),
                _ => return Err(unreadable()),
            },
            Form::Messages => {
                let blocks = answer["content"].as_array().ok_or_else(unreadable)?;
                blocks
                    .iter()
                    .filter(|block| block["type"] == "text")
                    .filter_map(|block| block["text"].as_str())
                    .collect()
            }
        };
        let text = text.trim();
        if text.is_empty() { Err(ModelError::NoText) } else { Ok(text.to_owned()) }
    }
}

/// The key from the variable, or from the file that `NAME_FILE` names, as a secret of a manifest is handed over.
fn key(set: &dyn Fn(&str) -> Option<String>, name: &str) -> Result<Option<String>, ModelError> {
    let Some(path) = set(&format!("{name}_FILE")) else {
        return Ok(set(name).map(|key| key.trim().to_owned()));
    };
    match std::fs::read_to_string(&path) {
        Ok(key) => Ok(Some(key.trim().to_owned())),
        Err(source) => Err(ModelError::Key { path, source }),
    }
}

/// A foreign text in one short line.
fn shown(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let words: Vec<&str> = spaced.split_whitespace().collect();
    words.join(" ").chars().take(SHOWN_CHARACTERS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(variables: &[(&str, &str)]) -> Option<Model> {
        let find =
            |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        Model::from_environment(&find).unwrap()
    }

    #[test]
    fn the_address_is_made_of_the_base() {
        assert!(model(&[]).is_none());
        assert!(model(&[("OPENAI_BASE_URL", "")]).is_none());
        let url = |name, base| model(&[(name, base)]).unwrap().url;
        assert_eq!(url("OPENAI_BASE_URL", "http://h/v1/"), "http://h/v1/chat/completions");
        assert_eq!(url("ANTHROPIC_BASE_URL", "http://h"), "http://h/v1/messages");
        assert_eq!(url("ANTHROPIC_BASE_URL", "http://h/v1"), "http://h/v1/messages");
    }

    #[test]
    fn https_is_refused_with_the_way_out() {
        let model = model(&[("OPENAI_BASE_URL", "https://h/v1")]).unwrap();
        let error = model.answer("", "").unwrap_err();
        assert!(error.to_string().contains("Python"), "{error}");
    }

    #[test]
    fn the_key_is_not_shown() {
        let model = model(&[("OPENAI_BASE_URL", "http://h"), ("OPENAI_API_KEY", "hidden")]).unwrap();
        assert!(!format!("{model:?}").contains("hidden"));
    }
}
