//! Describing an agent without running it.
#![expect(clippy::unwrap_used, reason = "a test")]

use edgeplane_manifest::{
    Description, Found, Manifest, Need, Presence, Readiness, describe, parse, prepared_paths, requirements,
};

const FULL: &str = include_str!("../../../examples/manifests/full.yaml");

fn full() -> Manifest {
    parse("full.yaml", FULL).unwrap().remove(0)
}

/// What the caller finds on a machine that has everything but what `lacks` names.
fn machine_without(manifest: &Manifest, lacks: impl Fn(&Need) -> bool) -> Found {
    let mut found = Found::nothing();
    let asked = requirements(manifest).into_iter().map(|requirement| requirement.need);
    for need in asked.chain(prepared_paths(manifest).into_iter().map(|(_, need)| need)) {
        let presence = if lacks(&need) { Presence::Missing } else { Presence::Present };
        found.note(need, presence);
    }
    found
}

fn missing(description: &Description) -> Vec<String> {
    description.missing().map(|requirement| requirement.field.clone()).collect()
}

#[test]
fn everything_that_the_manifest_asks_for_is_listed() {
    let fields: Vec<String> =
        requirements(&full()).into_iter().map(|requirement| requirement.field).collect();
    assert_eq!(
        fields,
        [
            "spec.command",
            "spec.health.exec.command",
            "spec.hooks.preStart.command",
            "spec.hooks.postStart.command",
            "spec.hooks.preStop.command",
            "spec.prepare[0].run",
            "spec.cwd",
            "spec.needs.env[0]",
            "spec.secrets[0]",
            "spec.dependsOn",
            "spec.needs.models[0]",
            "spec.needs.models[1]",
            "spec.needs.mcpServers[0]",
            "spec.needs.services[0]",
            "spec.deployment.artifact.path",
            "spec.prepare[1].fetch.from.file",
        ]
    );
}

#[test]
fn nothing_is_missing_where_everything_is_there() {
    let manifest = full();
    let description = describe(&manifest, &machine_without(&manifest, |_| false));
    assert_eq!(description.readiness, Readiness::Ready);
    assert_eq!(description.skills.len(), 1);
    assert_eq!(description.digest, manifest.digest());
    assert_eq!(description.command, ["./bin/reviewer", "serve", "--quiet"]);
    assert!(missing(&description).is_empty());
}

#[test]
fn what_nobody_looked_at_is_unknown_and_not_missing() {
    let description = describe(&full(), &Found::nothing());
    assert!(description.configuration.iter().all(|item| item.presence == Presence::Unknown));
    assert_eq!(description.readiness, Readiness::Ready);
}

#[test]
fn a_missing_secret_is_named_with_its_field() {
    let manifest = full();
    let lacks = |need: &Need| matches!(need, Need::SecretFile(_) | Need::Variable(_));
    let description = describe(&manifest, &machine_without(&manifest, lacks));
    assert_eq!(description.readiness, Readiness::Incomplete);
    assert_eq!(missing(&description), ["spec.needs.env[0]", "spec.secrets[0]"]);
}

#[test]
fn what_preparation_brings_is_not_missing_but_awaits_installing() {
    let manifest = full();
    let lacks = |need: &Need| match need {
        Need::Executable(program) => program.contains('/'),
        Need::Path(path) => !path.as_str().starts_with('/') && !path.as_str().starts_with("./reviewer"),
        _ => false,
    };
    let description = describe(&manifest, &machine_without(&manifest, lacks));
    assert_eq!(description.readiness, Readiness::NeedsInstall);
    assert!(missing(&description).is_empty());
    assert!(description.prepare.iter().all(|step| step.done == Presence::Missing));
}

#[test]
fn description_is_json_without_values_of_variables() {
    let json = serde_json::to_value(describe(&full(), &Found::nothing())).unwrap();
    assert_eq!(json["metadata"]["name"], "reviewer");
    assert_eq!(json["variables"], serde_json::json!(["LOG_LEVEL"]));
    assert_eq!(
        json["configuration"][0]["need"],
        serde_json::json!({ "kind": "executable", "name": "./bin/reviewer" })
    );
    assert_eq!(json["configuration"][0]["presence"], "unknown");
    assert_eq!(json["noNewPrivs"], true);
    assert!(!json.to_string().contains("info"), "values of variables are not shown");
}
