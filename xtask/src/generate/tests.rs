//! What is made tells every method, and a file that tells something else is found.

use serde_json::Value;

use super::{
    page::{anchor, page},
    *,
};

#[test]
fn page_tells_every_method_with_its_fields_and_errors() {
    let page = page(METHODS).unwrap();
    for method in METHODS {
        assert!(
            page.contains(&format!("\n## {}\n\n{}\n", method.name, method.summary.trim())),
            "{}",
            method.name
        );
    }
    let signal = page.split("\n## ").find(|part| part.starts_with("runtime/agent.signal\n")).unwrap();
    for line in [
        "- kind: write",
        "- who: anyone",
        "- a token needs: `signal`",
        "- a repetition: acts again",
        "- over HTTP: `POST /v1/runtime/agent.signal`",
        "| `parts` | list of [Part](#part) | required | What to say: at most 4 MiB of JSON, data at most 64 lists and objects deep. |",
        "| `mode` | [DeliveryMode](#deliverymode) | `\"queue\"` if not given | How it meets a running turn. |",
        "| `reply_to` | [MessageId](#messageid) | optional | The message it answers. |",
    ] {
        assert!(signal.lines().any(|found| found == line), "{line} is not in {signal}");
    }
    assert!(signal.contains("[idempotency_mismatch](errors/idempotency_mismatch.md) 409"));
    assert!(page.contains("| `dead_lettered` | Given up. |"));
}

/// Every link within the page leads to a heading of it.
#[test]
fn links_of_the_page_lead_somewhere() {
    let page = page(METHODS).unwrap();
    let headings: Vec<String> = page
        .lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| anchor(line.trim_start_matches(['#', ' '])))
        .collect();
    for link in page.split("](#").skip(1).filter_map(|rest| rest.split(')').next()) {
        assert!(headings.iter().any(|heading| heading == link), "#{link}");
    }
}

#[test]
fn drift_is_found_at_its_first_line() {
    assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
    assert_eq!(first_difference("a\nb\n", "a\nc\n"), Some(2));
    assert_eq!(first_difference("", "a\n"), Some(1));
    assert_eq!(first_difference("a\n", "a\nb\n"), Some(2));
}

/// Proves CLNT-001.
#[test]
fn check_fails_for_a_file_that_is_not_what_the_catalogue_says() {
    let root = tempfile::tempdir().unwrap();
    let check = || run(root.path(), &["--check".to_owned()]).unwrap();
    assert_eq!(check(), ExitCode::FAILURE);
    assert_eq!(run(root.path(), &[]).unwrap(), ExitCode::SUCCESS);
    assert_eq!(check(), ExitCode::SUCCESS);
    for Output { path, text } in outputs().unwrap() {
        let file = root.path().join(path);
        let changed = text.replacen("catalogue", "catalog", 1);
        assert_ne!(changed, text, "{path}");
        edgeplane_os::atomic::write_atomic(&file, changed.as_bytes(), 0o644).unwrap();
        assert_eq!(check(), ExitCode::FAILURE, "{path}");
        edgeplane_os::atomic::write_atomic(&file, text.as_bytes(), 0o644).unwrap();
    }
    assert_eq!(check(), ExitCode::SUCCESS);
    assert!(run(root.path(), &["--chek".to_owned()]).is_err());
}

/// What is checked in is what the catalogue says: the same as `cargo xtask generate --check`.
#[test]
fn files_of_this_checkout_are_what_the_catalogue_says() {
    let root = workspace::find_root(&std::env::current_dir().unwrap()).unwrap();
    assert_eq!(run(&root, &["--check".to_owned()]).unwrap(), ExitCode::SUCCESS);
}

fn openapi() -> Value {
    let model = Model::new(METHODS, NOTICES).unwrap();
    serde_json::from_str(&openapi::document(&model, LATER).unwrap()).unwrap()
}

/// Proves CLNT-002.
#[test]
fn openapi_tells_every_method_with_its_errors_and_no_other() {
    let document = openapi();
    let paths = document["paths"].as_object().unwrap();
    for method in METHODS {
        let operation = &paths[&format!("/v1/{}", method.name)]["post"];
        assert_eq!(operation["x-edgeplane-needs"], method.need.as_str(), "{}", method.name);
        assert_eq!(operation["x-edgeplane-repeat"], method.repeat.as_str());
        for error in method.errors {
            let target = operation["responses"][error.http_status().to_string()]["$ref"].as_str().unwrap();
            let response = document.pointer(target.trim_start_matches('#')).unwrap();
            let names = response["x-edgeplane-errors"].as_array().unwrap();
            assert!(names.iter().any(|name| name == error.as_str()), "{}: {response}", method.name);
        }
    }
    let sugared = paths.keys().filter(|path| path.trim_start_matches("/v1/").contains('/')).count();
    assert_eq!(sugared, METHODS.len());
    let later = document["x-edgeplane-later"].as_array().unwrap();
    assert_eq!(later.len(), LATER.len());
    for one in LATER {
        assert!(!paths.contains_key(&format!("/v1/{}", one.name)), "{}", one.name);
    }
}

/// Proves CLNT-002.
#[test]
fn every_schema_of_openapi_has_one_name_and_leads_somewhere() {
    let document = openapi();
    let schemas = document["components"]["schemas"].as_object().unwrap();
    let mut used = std::collections::BTreeSet::new();
    targets(&document, &mut used);
    for target in &used {
        let pointer = target.trim_start_matches('#');
        assert!(document.pointer(pointer).is_some(), "{target}");
    }
    for name in schemas.keys() {
        assert!(used.contains(&format!("#/components/schemas/{name}")), "nobody speaks of {name}");
    }
    // No path has an object of its own: each is spoken of by its name.
    for (path, item) in document["paths"].as_object().unwrap() {
        assert!(!item.to_string().contains("\"properties\""), "{path}");
    }
    let operations: Vec<_> =
        document["paths"].as_object().unwrap().values().flat_map(|item| item.as_object().unwrap()).collect();
    let names: std::collections::BTreeSet<_> =
        operations.iter().map(|(_, operation)| operation["operationId"].as_str().unwrap()).collect();
    assert_eq!(names.len(), operations.len(), "an operation has a name of its own");
}

fn targets(value: &Value, into: &mut std::collections::BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (word, value) in fields {
                match value.as_str() {
                    Some(target) if word == "$ref" => {
                        into.insert(target.to_owned());
                    }
                    _ => targets(value, into),
                }
            }
        }
        Value::Array(all) => all.iter().for_each(|value| targets(value, into)),
        _ => {}
    }
}

/// Proves CLNT-003.
#[test]
fn bundle_has_the_types_of_every_method() {
    let model = Model::new(METHODS, NOTICES).unwrap();
    let bundle: Value = serde_json::from_str(&bundle::bundle(&model).unwrap()).unwrap();
    for method in METHODS {
        for half in ["params", "result"] {
            let target = bundle["x-edgeplane-methods"][method.name][half]["$ref"].as_str().unwrap();
            assert!(bundle.pointer(target.trim_start_matches('#')).is_some(), "{} {half}", method.name);
        }
        let target = bundle["x-edgeplane-methods"][method.name]["params"]["$ref"].as_str().unwrap();
        let params = bundle.pointer(target.trim_start_matches('#')).unwrap();
        assert_eq!(params["additionalProperties"], false, "{}", method.name);
        assert_eq!(params["properties"]["ctx"]["$ref"], "#/$defs/RequestContext", "{}", method.name);
    }
}
