//! Wrong connectors: where they are wrong, and that no secret is repeated by whoever refuses it.

use edgeplane_manifest::{ConnectorSpec, SourceFile, parse_set};
use edgeplane_types::HookPoint;

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

/// Proves CAP-019.
#[test]
fn a_client_s_secret_is_sent_to_one_place_where_nobody_reads_along() {
    let client = "clientId: a, clientSecret: {secretRef: {env: S}}";
    let spec = |who: &str| {
        format!("transport: {{http: {{url: 'https://x'}}}}\ncredentials: {{oauth: {{{who}{client}}}}}")
    };
    let at = "spec.credentials.oauth";
    let both = connector(&spec("tokenUrl: 'https://x', issuer: 'https://x', "));
    check(&both, &[(FIRST + 1, at, "found both of them")]);
    check(&connector(&spec("")), &[(FIRST + 1, at, "found none of them")]);
    for (key, url) in
        [("tokenUrl", "http://x/token"), ("issuer", "http://localhost.x"), ("issuer", "http://10.0.0.1:80")]
    {
        let text = connector(&spec(&format!("{key}: '{url}', ")));
        check(&text, &[(FIRST + 1, &format!("{at}.{key}"), "an address with `https://`")]);
    }
    for url in ["https://x/token", "http://localhost:8080/t", "http://127.0.0.1/t", "http://[::1]:80/t"] {
        assert!(read(&spec(&format!("tokenUrl: '{url}', "))).credentials.is_some(), "{url}");
    }
}

/// Proves CAP-020.
#[test]
fn hooks_of_a_connector_are_asked_at_their_points() {
    let hooks = |pre: &str, post: &str| {
        connector(&format!(
            "transport: {{stdio: {{command: [x]}}}}\nhooks:\n  pre: [{pre}]\n  post: [{post}]"
        ))
    };
    let hook =
        |name: &str, point: &str, run: &str| format!("{{name: {name}, points: [{point}], run: {{{run}}}}}");
    let good = hook("a", "pre_tool_use", "exec: [x]");
    let at = "spec.hooks.pre[0]";
    for (pre, line, field, part) in [
        (
            hook("a", "post_tool_use", "exec: [x]"),
            2,
            format!("{at}.points"),
            "`pre_tool_use` or `permission_request`",
        ),
        (hook("a", "", "exec: [x]"), 2, format!("{at}.points"), "at least 1 entry"),
        (hook("a", "pre_tool_use", "exec: []"), 2, format!("{at}.run.exec"), "a program and its arguments"),
        (hook("a", "pre_tool_use", "http: 'ftp://x'"), 2, format!("{at}.run.http"), "an address"),
        (hook("a", "pre_tool_use", ""), 2, format!("{at}.run"), "found none of"),
    ] {
        check(&hooks(&pre, ""), &[(FIRST + line, &field, part)]);
    }
    let late = hook("b", "permission_request", "exec: [x]");
    check(
        &hooks(&good, &late),
        &[(FIRST + 3, "spec.hooks.post[0].points", "`post_tool_use` or `post_tool_failure`")],
    );
    let twice = hook("a", "post_tool_use", "http: 'https://x'");
    check(&hooks(&good, &twice), &[(FIRST + 3, "spec.hooks.post[0].name", "`a` a second time")]);
    let spec = read(
        "transport: {stdio: {command: [x]}}\nhooks: {pre: [{name: a, points: [pre_tool_use], tools: ['w*'], run: {exec: [x]}}]}",
    );
    assert_eq!(spec.hooks.at(HookPoint::PreToolUse, "write").count(), 1);
    assert_eq!(spec.hooks.at(HookPoint::PreToolUse, "read").count(), 0);
    assert_eq!(spec.hooks.at(HookPoint::PostToolUse, "write").count(), 0);
}
