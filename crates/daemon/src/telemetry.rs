//! Joins the node to OpenTelemetry: what the node tells is handed to the exporters.

use std::sync::Arc;

use anyhow::Context as _;
use edgeplane_node::{Observer, Seen, ServedRequest};
use edgeplane_telemetry::{Counted, Request, Settings, Telemetry};
use edgeplane_types::{NodeName, TraceId};
use edgeplane_wire::api::trace::Span;

/// Where Linux says how this machine is called.
const HOST_NAME: &str = "/proc/sys/kernel/hostname";

/// Begins to measure, and to export if there is somewhere to.
pub(crate) fn start(endpoint: Option<String>, node: Option<&NodeName>) -> anyhow::Result<Arc<Telemetry>> {
    let host = || std::fs::read_to_string(HOST_NAME).unwrap_or_default().trim().to_owned();
    let settings = Settings {
        endpoint: endpoint.filter(|endpoint| !endpoint.is_empty()),
        node: node.map_or_else(host, ToString::to_string),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    Ok(Arc::new(Telemetry::start(&settings).context("`--otlp-endpoint`")?))
}

/// Tells telemetry what the node does.
#[derive(Debug)]
pub(crate) struct Watch(pub(crate) Arc<Telemetry>);

impl Observer for Watch {
    fn served(&self, request: &ServedRequest) {
        let ServedRequest { trace, start, end, error } = request;
        self.0.request(&Request { trace, start: *start, end: *end, error: *error });
    }

    fn ended(&self, trace: TraceId, spans: &[Span]) {
        self.0.ended(trace, spans);
    }

    fn seen(&self, seen: Seen) {
        match seen {
            Seen::Behind(events) => self.0.counted(Counted::Behind, events),
            Seen::Gap => self.0.counted(Counted::Gap, 1),
            Seen::PassedOver(turns) => self.0.counted(Counted::PassedOver, turns),
        }
    }
}
