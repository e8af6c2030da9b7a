//! Tokens, certificates, keys and rules.

use edgeplane_types::ErrorName;
use serde_json::{Value, json};

use super::{Case, Good, Who, World, case, good};

const NO_TOKEN: &str = "tok_01890000-0000-7000-8000-000000000002";

fn certificate(world: &World) -> Value {
    // Each is another one.
    let name = world.name();
    let digits: String = name.bytes().map(|byte| format!("{byte:02x}")).collect();
    json!({ "fingerprint": format!("{digits:0>64}"), "principal": "cert", "kind": "service", "scopes": ["read"] })
}

fn service() -> Value {
    json!({ "principal": "made", "kind": "service", "scopes": ["read"] })
}

/// A node on which as many tokens are good as may be.
fn full(world: &World) -> &World {
    world.full.get_or_init(|| {
        let full = World::new();
        let mut talk = full.talk(Who::Operator);
        while talk("security/token.create", service()).is_ok() {}
        let tokens = full.made("security/token.list", json!({}));
        assert_eq!(tokens["items"].as_array().unwrap().len(), 1_000);
        Box::new(full)
    })
}

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case(
            "security/token.create",
            |w| good(w, service()),
            vec![(ErrorName::QuotaExhausted, |w| full(w).ask("security/token.create", service()))],
        ),
        case(
            "security/certificate.add",
            |w| good(w, certificate(w)),
            vec![
                (ErrorName::InvalidParams, |w| {
                    let mut params = certificate(w);
                    params["fingerprint"] = json!("00");
                    w.ask("security/certificate.add", params)
                }),
                (ErrorName::QuotaExhausted, |w| full(w).ask("security/certificate.add", certificate(w))),
                (ErrorName::Conflict, |w| {
                    let params = certificate(w);
                    w.ask("security/certificate.add", params.clone()).unwrap();
                    w.ask("security/certificate.add", params)
                }),
            ],
        ),
        case("security/token.list", |w| good(w, json!({})), vec![]),
        case(
            "security/token.revoke",
            |w| {
                let made = w.ask("security/certificate.add", certificate(w)).unwrap();
                good(w, json!({ "token_id": made["token_id"] }))
            },
            vec![(ErrorName::NotFound, |w| w.ask("security/token.revoke", json!({ "token_id": NO_TOKEN })))],
        ),
        case(
            "security/token.epoch",
            |w| Good { talk: w.talk(Who::Inside(&w.cat())), params: json!({}) },
            vec![(ErrorName::PermissionDenied, |w| w.ask("security/token.epoch", json!({})))],
        ),
        case("security/key.list", |w| good(w, json!({})), vec![]),
        case("security/key.rotate", |w| good(w, json!({})), vec![]),
        case("policy/rule.list", |w| good(w, json!({})), vec![]),
        case("policy/rule.reload", |w| good(w, json!({})), vec![]),
        case(
            "policy/decision.explain",
            |w| good(w, json!({ "to": w.stopped("") })),
            vec![(ErrorName::NotFound, |w| w.ask("policy/decision.explain", json!({ "to": "nobody" })))],
        ),
        case(
            "policy/rule.check",
            |w| good(w, json!({ "files": [] })),
            vec![
                (ErrorName::NotFound, |w| {
                    let request = json!({ "to": "nobody" });
                    w.ask("policy/rule.check", json!({ "files": [], "request": request }))
                }),
                (ErrorName::TooLarge, |w| {
                    let file = json!({ "name": "x.cedar", "text": "/".repeat(5 << 20) });
                    w.ask("policy/rule.check", json!({ "files": [file] }))
                }),
            ],
        ),
    ]
}
