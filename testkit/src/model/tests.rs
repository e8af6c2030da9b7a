//! The server as a plain client sees it: each dialect, and each way to fail.

use serde_json::Value;

use super::*;

mod dialects;
mod faults;

/// What a server answered.
struct Answered {
    status: u16,
    retry_after: Option<String>,
    text: String,
}

impl Answered {
    fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// The events of a stream, each with its name, or an empty one.
    fn events(&self) -> Vec<(String, Value)> {
        let all = self.text.split("\n\n").filter(|event| !event.is_empty());
        all.map(|event| {
            let field =
                |name: &str| event.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
            let data = field("data: ");
            let data = serde_json::from_str(data).unwrap_or_else(|_| Value::String(data.to_owned()));
            (field("event: ").to_owned(), data)
        })
        .collect()
    }
}

fn agent() -> ureq::Agent {
    ureq::Agent::config_builder().http_status_as_error(false).build().into()
}

/// Posts JSON and reads the answer to its end.
fn try_post(server: &ModelServer, path: &str, body: &Value) -> Result<Answered, ureq::Error> {
    let request = agent().post(format!("{}{path}", server.url())).header("content-type", "application/json");
    let mut response = request.send(body.to_string())?;
    let retry_after = response.headers().get("retry-after").map(|value| value.to_str().unwrap().to_owned());
    let status = response.status().as_u16();
    Ok(Answered { status, retry_after, text: response.body_mut().read_to_string()? })
}

fn post(server: &ModelServer, path: &str, body: &Value) -> Answered {
    try_post(server, path, body).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn get(server: &ModelServer, path: &str) -> Value {
    let mut response = agent().get(format!("{}{path}", server.url())).call().unwrap();
    serde_json::from_str(&response.body_mut().read_to_string().unwrap()).unwrap()
}
