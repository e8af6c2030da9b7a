//! Automations: what they did, and deliveries to them.

use edgeplane_os::Mint;
use serde_json::{Value, json};

use super::{Case, World, case, fails, good};

const SECRET: &str = "a secret of this test";

/// An automation by the clock, which is never due while a test runs.
fn named(world: &World) -> Value {
    let name = world.name();
    let value = json!({
        "on": { "schedule": { "cron": "0 0 29 2 *" } },
        "do": { "method": { "name": "runtime/agent.list" } },
    });
    world.made("resource/put", json!({ "uri": format!("edgeplane://automation/{name}"), "value": value }));
    json!({ "name": name })
}

fn hooked(world: &World) -> String {
    let (name, secret) = (world.name(), world.node.scratch().join("webhook-secret"));
    std::fs::write(&secret, SECRET).unwrap();
    let value = json!({
        "on": { "webhook": { "secretRef": { "file": secret } } },
        "do": { "method": { "name": "runtime/agent.list" } },
    });
    world.made("resource/put", json!({ "uri": format!("edgeplane://automation/{name}"), "value": value }));
    name
}

fn delivery(name: &str, id: &str, body: &[u8]) -> Value {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    let at = (Mint::system().clock.now().as_millis() / 1_000).to_string();
    let signatures = edgeplane_proof::webhook::sign(SECRET, id, &at, body).unwrap();
    json!({
        "name": name, "id": id, "timestamp": at, "signatures": signatures, "is_json": true,
        "body": STANDARD.encode(body),
    })
}

/// An automation of which as many firings wait as may.
fn full(world: &World) -> Value {
    world.share("full", || {
        let name = hooked(world);
        let slow = json!({ "perMinute": 1 });
        world.made(
            "resource/patch",
            json!({ "uri": format!("edgeplane://automation/{name}"), "patch": slow }),
        );
        // One of them acts.
        for _ in 0..=1_000 {
            world.made("capability/automation.fire", json!({ "name": name }));
        }
        json!({ "name": name })
    })
}

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case("capability/automation.list", |w| good(w, json!({})), vec![]),
        case(
            "capability/automation.get",
            |w| {
                let named = named(w);
                good(w, named)
            },
            vec![fails!(NotFound, "capability/automation.get", |w| json!({ "name": w.name() }))],
        ),
        case(
            "capability/automation.fire",
            |w| {
                let named = named(w);
                good(w, named)
            },
            vec![
                fails!(NotFound, "capability/automation.fire", |w| json!({ "name": w.name() })),
                fails!(InvalidParams, "capability/automation.fire", |w| {
                    let mut named = named(w);
                    named["event"] = json!({ "a": 0.5 });
                    named
                }),
                fails!(Backpressure, "capability/automation.fire", |w| full(w)),
                fails!(TooLarge, "capability/automation.fire", |w| {
                    let mut named = named(w);
                    named["event"] = json!("x".repeat(300 << 10));
                    named
                }),
            ],
        ),
        case(
            "capability/webhook.deliver",
            |w| {
                let name = hooked(w);
                good(w, delivery(&name, "a", b"{}"))
            },
            vec![
                fails!(InvalidParams, "capability/webhook.deliver", |w| delivery(&hooked(w), "b", b"{")),
                fails!(TooLarge, "capability/webhook.deliver", |w| {
                    delivery(&hooked(w), "c", &vec![b' '; (256 << 10) + 1])
                }),
                fails!(Backpressure, "capability/webhook.deliver", |w| {
                    delivery(full(w)["name"].as_str().unwrap(), "e", b"{}")
                }),
                fails!(IdempotencyMismatch, "capability/webhook.deliver", |w| {
                    let name = hooked(w);
                    w.made("capability/webhook.deliver", delivery(&name, "d", b"1"));
                    delivery(&name, "d", b"2")
                }),
            ],
        ),
    ]
}
