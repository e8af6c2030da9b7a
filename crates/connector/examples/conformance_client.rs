//! A client for the conformance suite of the protocol: it does with a server what the suite's scenario asks for, through
//! the connector that ships. The suite says where its server is by the last argument, and which scenario runs by a variable.
#![forbid(unsafe_code)]

use std::{env, error::Error, sync::Arc, time::Duration};

use edgeplane_connector::{
    Address, Answer, Asking, Call, Connector, Grantor, Inventory, Limits, Listening, Oauth, Offer, OfferKind,
    Question, Target, Wanted,
};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// How long a call may take.
const CALL: Duration = Duration::from_secs(20);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = env::args().next_back().ok_or("no address is given")?;
    let scenario = env::var("MCP_CONFORMANCE_SCENARIO")?;
    let context: Value =
        env::var("MCP_CONFORMANCE_CONTEXT").map_or(Ok(Value::Null), |text| serde_json::from_str(&text))?;
    let client = context["client_id"].as_str().zip(context["client_secret"].as_str());
    let oauth = client.map(|(id, secret)| Oauth {
        client_id: id.to_owned(),
        client_secret: secret.to_owned(),
        scopes: Vec::new(),
        grantor: Grantor::Named,
    });
    let target = Target::Address(Address { url, bearer: None, oauth, headers: Vec::new() });
    let connector = Connector::new(Arc::new(move || Ok(target.clone())), Limits::standard());
    let connector = connector.asking(Asking::Form);
    let done = run(&connector, &scenario, &context).await;
    connector.stop().await;
    done
}

async fn run(connector: &Connector, scenario: &str, context: &Value) -> Result<(), Box<dyn Error>> {
    let inventory = connector.inventory().await?;
    // What a scenario names is called with that, in its order; everything else that is offered is called once.
    let named = context["toolCalls"].as_array();
    for call in named.into_iter().flatten() {
        let name = call["name"].as_str().unwrap_or_default();
        let offer = inventory.find(OfferKind::Tool, name).ok_or(format!("no tool `{name}`"))?;
        use_it(connector, offer, call["arguments"].as_object().cloned().unwrap_or_default()).await?;
    }
    if named.is_none() && scenario != "initialize" {
        for offer in inventory.offers() {
            use_it(connector, offer, input(offer, &inventory)).await?;
        }
    }
    Ok(())
}

/// What something is given where no scenario says so.
fn input(offer: &Offer, inventory: &Inventory) -> Map<String, Value> {
    let input = match offer.native_id.as_str() {
        "add_numbers" => json!({ "a": 5, "b": 3 }),
        // The suite looks at what became of a schema on its way.
        "json_schema_echo" => {
            let other = inventory.offers().find(|other| other.native_id != offer.native_id);
            json!({ "schema": other.map(|other| &other.input_schema) })
        }
        _ => json!({}),
    };
    input.as_object().cloned().unwrap_or_default()
}

/// Something for each value that a form needs and says nothing of.
fn given(wanted: &Wanted) -> Map<String, Value> {
    let Wanted::Form(schema) = wanted else { return Map::new() };
    let fields = schema["properties"].as_object().into_iter().flatten();
    let needed = fields.filter(|(_, field)| field.get("default").is_none());
    let value = |field: &Value| match field["type"].as_str() {
        Some("boolean") => json!(true),
        Some("integer" | "number") => json!(1),
        Some("array") => json!([]),
        _ => field["enum"][0].as_str().map_or(json!("x"), |first| json!(first)),
    };
    needed.map(|(name, field)| (name.clone(), value(field))).collect()
}

/// Calls something; that its server refuses is no failure of the client.
async fn use_it(
    connector: &Connector,
    offer: &Offer,
    input: Map<String, Value>,
) -> Result<(), Box<dyn Error>> {
    // Whoever asks is told yes, and means what it says is meant then.
    let (questions, mut asked) = mpsc::channel::<Question>(4);
    tokio::spawn(async move {
        while let Some(question) = asked.recv().await {
            let values = given(&question.wanted);
            question.answer(Answer::Accepted(values));
        }
    });
    let listening = Listening { progress: None, questions: Some(questions) };
    let call = Call { kind: offer.kind, native_id: offer.native_id.clone(), input, timeout: CALL };
    match connector.call(call, &offer.digest, &CancellationToken::new(), listening).await {
        Ok(_) | Err(edgeplane_connector::CallFailure::Refused { .. }) => Ok(()),
        Err(failure) => Err(failure.into()),
    }
}
