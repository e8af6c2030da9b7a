//! Log lines with the request that they belong to: what the line itself says, and what the span around it knows.

use std::fmt::Debug;

use opentelemetry::logs::{AnyValue, LogRecord as _, Logger as _, LoggerProvider as _, Severity};
use opentelemetry_sdk::logs::{SdkLogger, SdkLoggerProvider};
use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id},
};
use tracing_subscriber::{Layer, layer::Context, registry::LookupSpan};

use crate::names;

/// What our own targets begin with. The exporter's own lines are not exported: that would never end.
const OWN_TARGETS: &str = "edgeplane";

/// Longest line in bytes that is handed on; more is cut.
const LINE_BYTES_MAX: usize = 8 << 10;

/// Hands log lines on.
#[derive(Debug)]
pub struct LogLayer {
    logger: SdkLogger,
}

/// What a span around a line knows of the request.
#[derive(Debug, Default, Clone)]
struct Around {
    fields: Vec<(&'static str, String)>,
}

/// What a line says.
#[derive(Default)]
struct Said {
    message: String,
    fields: Vec<(&'static str, String)>,
}

impl Visit for Said {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let mut text = format!("{value:?}");
        text.truncate(text.floor_char_boundary(LINE_BYTES_MAX));
        match field.name() {
            "message" => self.message = text,
            name => self.fields.push((name, text)),
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }
}

impl LogLayer {
    pub(crate) fn over(provider: &SdkLoggerProvider) -> Self {
        Self { logger: provider.logger(names::SCOPE) }
    }
}

/// What a span's field is called outside.
fn outside(field: &'static str) -> &'static str {
    match field {
        "operation" => names::OPERATION,
        "user_id" => names::USER_ID,
        "thread_id" => names::THREAD_ID,
        other => other,
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for LogLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut said = Said::default();
        attributes.record(&mut said);
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(Around { fields: said.fields });
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        if !event.metadata().target().starts_with(OWN_TARGETS) {
            return;
        }
        let mut said = Said::default();
        event.record(&mut said);
        let mut record = self.logger.create_log_record();
        let (number, text) = severity(*event.metadata().level());
        record.set_severity_number(number);
        record.set_severity_text(text);
        record.set_target(event.metadata().target().to_owned());
        record.set_body(AnyValue::from(said.message));
        let (mut trace, mut span) = (None, None);
        for around in context.event_scope(event).into_iter().flatten() {
            let extensions = around.extensions();
            let Some(known) = extensions.get::<Around>() else { continue };
            for (name, value) in &known.fields {
                match *name {
                    "trace_id" => trace = trace.or_else(|| value.parse().ok()),
                    "span_id" => span = span.or_else(|| value.parse().ok()),
                    name => record.add_attribute(outside(name), value.clone()),
                }
            }
        }
        for (name, value) in said.fields {
            record.add_attribute(name, value);
        }
        if let (Some(trace), Some(span)) = (trace, span) {
            record.set_trace_context(crate::spans::trace_id(trace), crate::spans::span_id(span), None);
        }
        // Puts it into a bounded queue; without room it is dropped.
        self.logger.emit(record);
    }
}

fn severity(level: Level) -> (Severity, &'static str) {
    match level {
        Level::ERROR => (Severity::Error, "ERROR"),
        Level::WARN => (Severity::Warn, "WARN"),
        Level::INFO => (Severity::Info, "INFO"),
        Level::DEBUG => (Severity::Debug, "DEBUG"),
        Level::TRACE => (Severity::Trace, "TRACE"),
    }
}
