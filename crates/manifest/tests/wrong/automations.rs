//! Wrong automations: where they are wrong.

use super::check;

/// An automation with these lines under `spec`.
fn automation(spec: &str) -> String {
    let mut text =
        "apiVersion: edgeplane.dev/v1alpha1\nkind: Automation\nmetadata: {name: a}\nspec:\n".to_owned();
    for line in spec.lines() {
        text.push_str(&format!("  {line}\n"));
    }
    text
}

/// Line of the first line of `spec`.
const FIRST: u32 = 5;

/// Proves AUT-001.
#[test]
fn an_automation_has_one_cause_and_does_one_thing() {
    let to = "do: {task: {agent: a, title: x}}";
    let with = |on: &str| automation(&format!("{on}\n{to}"));
    check(&with("on: {}"), &[(FIRST, "spec.on", "found none of")]);
    check(
        &with("on: {schedule: {every: 1s}, webhook: {secretRef: {env: X}}}"),
        &[(FIRST, "spec.on", "found `")],
    );
    check(&with("on: {event: {types: []}}"), &[(FIRST, "spec.on.event.types", "at least 1 entry")]);
    check(
        &with("on: {event: {types: [task.movd]}}"),
        &[(FIRST, "spec.on.event.types", "did you mean `task.moved`")],
    );
    check(
        &with("on: {event: {types: [item.updated]}}"),
        &[(FIRST, "spec.on.event.types", "something is done for")],
    );
    check(&with("on: {schedule: {}}"), &[(FIRST, "spec.on.schedule", "one of cron, every, at")]);
    check(
        &with("on: {schedule: {every: 1s, content: x}}"),
        &[(FIRST, "spec.on.schedule.content", "unknown key")],
    );
    check(&with("on: {webhook: {secretRef: {text: x}}}"), &[(FIRST, "spec.on.webhook.secretRef", "one of")]);
    let on = "on: {event: {types: [task.moved]}}";
    let doing = |what: &str| automation(&format!("{on}\ndo: {what}"));
    let second = FIRST + 1;
    check(&doing("{}"), &[(second, "spec.do", "found none of")]);
    check(&doing("{task: {title: x}}"), &[(second, "spec.do.task", "one of `agent` and `forLabels`")]);
    check(
        &doing("{task: {title: x, agent: a, forLabels: {b: c}}}"),
        &[(second, "spec.do.task", "one of `agent` and `forLabels`")],
    );
    check(
        &doing("{task: {title: 'x ${event.y', agent: a}}"),
        &[(second, "spec.do.task.title", "without an end")],
    );
    check(&doing("{method: {name: x, params: []}}"), &[(second, "spec.do.method.params", "expected")]);
    check(
        &doing("{method: {name: x, params: {ctx: {}}}}"),
        &[(second, "spec.do.method.params", "the method alone")],
    );
    check(
        &doing("{method: {name: x, params: {a: [{password: s3cr3t}]}}}"),
        &[(second, "spec.do.method.params.a[0].password", "a secret written out")],
    );
    check(
        &doing("{method: {name: x, params: {a: 0.5}}}"),
        &[(second, "spec.do.method.params.a", "whole number")],
    );
}
