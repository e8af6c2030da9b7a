//! Rules of connectors: addresses are such, and nothing that is written down is a secret.

use super::{Findings, own_name};
use crate::{
    ConnectorCredentials, ConnectorManifest, ConnectorText, ConnectorTransport,
    problem::{Finding, Step},
    secret::{is_secret_key, looks_secret},
    tree::Node,
};

/// What to write in place of a secret.
const BY_REFERENCE: &str =
    "name where it is: `{secretRef: {env: NAME}}` or `{secretRef: {file: PATH}}`; a secret is never recorded";

/// Finds what is wrong between the fields of a connector, which was read from `node`.
pub(crate) fn check(manifest: &ConnectorManifest, node: &Node) -> Vec<Finding> {
    let mut findings = Findings { node, all: Vec::new() };
    own_name(&manifest.metadata.name, &["metadata".into(), "name".into()], &mut findings);
    let spec = &manifest.spec;
    match &spec.transport {
        ConnectorTransport::Stdio(program) => {
            for (index, word) in program.command.iter().enumerate() {
                if looks_secret(word) {
                    literal(&path(&["transport", "stdio", "command"], index), &mut findings);
                }
            }
            for (name, text) in &program.env {
                held(
                    name.as_str(),
                    text,
                    &path(&["transport", "stdio", "env"], name.as_str()),
                    &mut findings,
                );
            }
            if spec.credentials.is_some() {
                let hint = "a program gets its secrets by `transport.stdio.env`".to_owned();
                let at = [Step::from("spec"), "credentials".into()];
                findings.add(
                    &at,
                    "credentials of a program".to_owned(),
                    "`credentials` beside `http` only",
                    Some(hint),
                );
            }
        }
        ConnectorTransport::Http(server) => {
            address(&server.url, &path(&["transport", "http"], "url"), &mut findings);
            for (name, text) in &server.headers {
                held(
                    name.as_str(),
                    text,
                    &path(&["transport", "http", "headers"], name.as_str()),
                    &mut findings,
                );
            }
        }
    }
    if let Some(ConnectorCredentials::Oauth(oauth)) = &spec.credentials {
        address(&oauth.token_url, &path(&["credentials", "oauth"], "tokenUrl"), &mut findings);
    }
    findings.all
}

fn path(steps: &[&str], last: impl Into<Step>) -> Vec<Step> {
    let steps = steps.iter().map(|step| Step::from(*step));
    std::iter::once(Step::from("spec")).chain(steps).chain([last.into()]).collect()
}

/// A text under a key.
fn held(key: &str, text: &ConnectorText, at: &[Step], findings: &mut Findings<'_>) {
    if let ConnectorText::Text(text) = text
        && (is_secret_key(key) || looks_secret(text))
    {
        literal(at, findings);
    }
}

/// Never says the value: whoever reads the message may be another than who wrote it.
fn literal(at: &[Step], findings: &mut Findings<'_>) {
    let hint = Some(BY_REFERENCE.to_owned());
    findings.add(at, "a secret written out".to_owned(), "a reference to it", hint);
}

fn address(url: &str, at: &[Step], findings: &mut Findings<'_>) {
    if looks_secret(url) {
        return literal(at, findings);
    }
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let has_host = rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['/', '?', '#', ':', '@']));
    let is_plain = url.chars().all(|c| !c.is_whitespace() && !c.is_control());
    if !(has_host && is_plain) {
        findings.add(
            at,
            crate::problem::quoted(url),
            "an address with `http://` or `https://` and a host",
            None,
        );
    }
}
