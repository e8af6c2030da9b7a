//! Wrong connectors: where they are wrong, and that no secret is repeated by whoever refuses it.

use edgeplane_manifest::{ConnectorSpec, SourceFile, parse_set};

use super::check;

/// A connector with these lines under `spec`.
fn connector(spec: &str) -> String {
    let mut text =
        "apiVersion: edgeplane.dev/v1alpha1\nkind: Connector\nmetadata: {name: c}\nspec:\n".to_owned();
    for line in spec.lines() {
        text.push_str(&format!("  {line}\n"));
    }
    text
}

/// Line of the first line of `spec`.
const FIRST: u32 = 5;

fn read(spec: &str) -> ConnectorSpec {
    let text = connector(spec);
    parse_set(&[SourceFile { name: "a.yaml", text: &text }])
        .expect("it is right")
        .connectors
        .remove(0)
        .manifest
        .spec
}

/// Proves RES-010.
#[test]
fn a_connector_is_reached_one_way() {
    check(&connector("{}"), &[(4, "spec.transport", "found nothing")]);
    check(&connector("transport: {}"), &[(FIRST, "spec.transport", "found none of")]);
    let both = "transport: {stdio: {command: [x]}, http: {url: 'https://x'}}";
    check(&connector(both), &[(FIRST, "spec.transport", "found `")]);
    check(
        &connector("transport: {stdio: {command: []}}"),
        &[(FIRST, "spec.transport.stdio.command", "at least 1 entry")],
    );
    for url in ["x", "ftp://x", "https://", "https:///x", "https://a b", "http://:80/"] {
        let spec = format!("transport: {{http: {{url: '{url}'}}}}");
        check(
            &connector(&spec),
            &[(FIRST, "spec.transport.http.url", "an address with `http://` or `https://`")],
        );
    }
    let with_credentials = "transport: {stdio: {command: [x]}}\ncredentials: {env: X}";
    check(
        &connector(with_credentials),
        &[(FIRST + 1, "spec.credentials", "`credentials` beside `http` only")],
    );
    let more =
        "transport: {stdio: {command: [x]}}\ntimeoutMs: 0\nallow: []\npolicy: {default: maybe}\nretries: 1";
    check(
        &connector(more),
        &[
            (FIRST + 1, "spec.timeoutMs", "a whole number from 1 to 3600000"),
            (FIRST + 2, "spec.allow", "at least 1 entry"),
            (FIRST + 3, "spec.policy.default", "one of allow, ask, deny"),
            (FIRST + 4, "spec.retries", "the unknown key `retries`"),
        ],
    );
    check(
        &format!("{0}---\n{0}", connector("transport: {stdio: {command: [x]}}")),
        &[(9, "metadata.name", "a second time")],
    );
}

/// Proves RES-011.
#[test]
fn a_secret_of_a_connector_is_refused_and_not_repeated() {
    let secret = format!("ghp_{}", "s3cr3t".repeat(6));
    for (spec, line, field) in [
        (
            format!("transport: {{stdio: {{command: [x], env: {{API_TOKEN: hunter2-{secret}}}}}}}"),
            FIRST,
            "spec.transport.stdio.env.API_TOKEN",
        ),
        (
            format!("transport: {{stdio: {{command: [x], env: {{PLAIN: {secret}}}}}}}"),
            FIRST,
            "spec.transport.stdio.env.PLAIN",
        ),
        (
            format!("transport: {{stdio: {{command: [x, '--token={secret}']}}}}"),
            FIRST,
            "spec.transport.stdio.command[1]",
        ),
        (
            format!(
                "transport: {{http: {{url: 'https://x', headers: {{Authorization: 'Bearer {secret}'}}}}}}"
            ),
            FIRST,
            "spec.transport.http.headers.Authorization",
        ),
        (format!("transport: {{http: {{url: 'https://me:{secret}@x'}}}}"), FIRST, "spec.transport.http.url"),
        (
            format!("transport: {{http: {{url: 'https://x'}}}}\ncredentials: {secret}"),
            FIRST + 1,
            "spec.credentials",
        ),
        (
            format!(
                "transport: {{http: {{url: 'https://x'}}}}\ncredentials: {{oauth: {{tokenUrl: 'https://x', clientId: a, clientSecret: s{secret}}}}}"
            ),
            FIRST + 1,
            "spec.credentials.oauth.clientSecret",
        ),
    ] {
        let text = connector(&spec);
        let problems =
            parse_set(&[SourceFile { name: "a.yaml", text: &text }]).expect_err("it should be refused");
        assert_eq!(problems.len(), 1, "{problems:#?}");
        assert_eq!((problems[0].line, problems[0].field.as_str()), (line, field), "{}", problems[0]);
        assert_eq!(problems[0].found, "a secret written out", "{}", problems[0]);
        assert!(!problems[0].to_string().contains("s3cr3t"), "{}", problems[0]);
    }
}

/// Proves RES-010.
#[test]
fn patterns_say_which_tools_may_be_used() {
    let spec =
        read("transport: {stdio: {command: [x]}}\nallow: [read_*, list, '*_all_*']\ndeny: [read_secret*]");
    for tool in ["read_", "read_file", "list", "get_all_items", "_all_"] {
        assert!(spec.admits(tool), "{tool}");
    }
    for tool in ["", "reader", "lists", "read_secrets", "xlist", "_all"] {
        assert!(!spec.admits(tool), "{tool}");
    }
    assert!(read("transport: {stdio: {command: [x]}}").admits("anything"), "no list allows all");
}
