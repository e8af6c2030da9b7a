//! Rules of connectors: addresses are such, and nothing that is written down is a secret.

use std::collections::BTreeSet;

use super::{Findings, own_name};
use crate::{
    CallHookRun, CallHooks, ConnectorCredentials, ConnectorManifest, ConnectorText, ConnectorTransport,
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
        for (key, url) in [("tokenUrl", &oauth.token_url), ("issuer", &oauth.issuer)] {
            if let Some(url) = url {
                grantor(url, &path(&["credentials", "oauth"], key), &mut findings);
            }
        }
        if oauth.token_url.is_some() == oauth.issuer.is_some() {
            let found = if oauth.issuer.is_some() { "both of them" } else { "none of them" };
            let at = path(&["credentials"], "oauth");
            findings.add(&at, found.to_owned(), "one of `tokenUrl` and `issuer`", None);
        }
    }
    hooks(&spec.hooks, &mut findings);
    findings.all
}

/// Names mean one hook each, a hook is asked when its list is, and holds no secret.
fn hooks(declared: &CallHooks, findings: &mut Findings<'_>) {
    let mut names = BTreeSet::new();
    for (list, hooks) in [("pre", &declared.pre), ("post", &declared.post)] {
        for (index, hook) in hooks.iter().enumerate() {
            let at = |last: &[Step]| -> Vec<Step> {
                let begin = [Step::from("spec"), "hooks".into(), list.into(), index.into()];
                begin.into_iter().chain(last.iter().cloned()).collect()
            };
            if !names.insert(&hook.name) {
                let found = format!("`{}` a second time", hook.name);
                findings.add(&at(&["name".into()]), found, "a name of its own", None);
            }
            if let Some(point) = hook.points.iter().find(|point| point.is_before() != (list == "pre")) {
                let expected = if list == "pre" {
                    "`pre_tool_use` or `permission_request`"
                } else {
                    "`post_tool_use` or `post_tool_failure`"
                };
                findings.add(&at(&["points".into()]), crate::problem::quoted(point.as_str()), expected, None);
            }
            match &hook.run {
                CallHookRun::Exec(command) if command.is_empty() => {
                    let at = at(&["run".into(), "exec".into()]);
                    findings.add(&at, "no word".to_owned(), "a program and its arguments", None);
                }
                CallHookRun::Exec(command) => {
                    for (word, _) in command.iter().enumerate().filter(|(_, word)| looks_secret(word)) {
                        literal(&at(&["run".into(), "exec".into(), word.into()]), findings);
                    }
                }
                CallHookRun::Http(url) => address(url, &at(&["run".into(), "http".into()]), findings),
            }
        }
    }
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

/// An address that a secret is sent to.
fn grantor(url: &str, at: &[Step], findings: &mut Findings<'_>) {
    let host = url.strip_prefix("http://").map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
    let is_here = |host: &str| {
        let name =
            host.rsplit_once(':').map_or(host, |(name, port)| if port.contains(']') { host } else { name });
        matches!(name, "localhost" | "127.0.0.1" | "[::1]")
    };
    match host {
        Some(host) if !is_here(host) && !looks_secret(url) => {
            let hint = "whoever reads along could use the client's secret".to_owned();
            findings.add(at, crate::problem::quoted(url), "an address with `https://`", Some(hint));
        }
        _ => address(url, at, findings),
    }
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
