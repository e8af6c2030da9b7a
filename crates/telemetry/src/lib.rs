//! OpenTelemetry of a node: spans, logs and metrics, exported over OTLP, and metrics as text.
//!
//! Owns exporters, their threads and their bounds, and the names ([`names`]). It knows no node: it is handed what is
//! over, as the catalogue's own types, and returns at once. A collector that is slow, dead or strange costs what does not
//! fit its queues, and nothing else. No content of messages, answers or tools passes here.
#![forbid(unsafe_code)]

pub mod names;

mod logs;
mod meters;
mod spans;

use std::{sync::Mutex, time::Duration};

use edgeplane_types::{ErrorName, Timestamp, TraceContext, TraceId};
use edgeplane_wire::api::trace::Span;
use opentelemetry::KeyValue;
use opentelemetry_otlp::{
    ExporterBuildError, LogExporter, MetricExporter, SpanExporter, WithExportConfig as _,
};
use opentelemetry_sdk::{
    Resource,
    logs::{BatchConfigBuilder as LogBatch, BatchLogProcessor, SdkLoggerProvider},
    metrics::{PeriodicReader, SdkMeterProvider},
    trace::{BatchConfigBuilder as SpanBatch, BatchSpanProcessor, SpanProcessor as _},
};

pub use logs::LogLayer;
pub use meters::Counted;

/// Spans and log records that wait for the exporter, of each; more are dropped, and the library counts them.
const WAITING_MAX: usize = 4_096;

/// How often what waits is sent.
const EXPORT_EVERY: Duration = Duration::from_millis(1_000);

/// How often metrics are sent.
const MEASURE_EVERY: Duration = Duration::from_secs(10);

/// How long a collector may take for one answer.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(5);

/// How long the end of the daemon waits for the last export.
const END_TIME_MAX: Duration = Duration::from_secs(2);

/// What is exported, and where to.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The collector, such as `http://127.0.0.1:4318`; without one nothing leaves the process.
    pub endpoint: Option<String>,
    /// The node's name.
    pub node: String,
    /// The version of the program.
    pub version: String,
}

/// Why nothing can be exported.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address of the collector.
    #[error("`{0}` is no address of a collector: it begins with http:// or https://")]
    Endpoint(String),
    /// The exporter.
    #[error("cannot make an exporter")]
    Exporter(#[from] ExporterBuildError),
    /// The metrics.
    #[error("cannot make metrics readable: {0}")]
    Metrics(String),
}

/// A request that is over.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// What was asked for, as whom, in which trace.
    pub trace: &'a TraceContext,
    /// When it was begun.
    pub start: Timestamp,
    /// When it was over.
    pub end: Timestamp,
    /// Why it was refused, if it was.
    pub error: Option<ErrorName>,
}

/// What a node's work looks like from outside.
#[derive(Debug)]
pub struct Telemetry {
    spans: Option<Mutex<BatchSpanProcessor>>,
    logs: Option<SdkLoggerProvider>,
    metrics: SdkMeterProvider,
    meters: meters::Meters,
    registry: prometheus::Registry,
}

impl Telemetry {
    /// Begins. Exporters have threads of their own and connect when there is something to send.
    ///
    /// # Errors
    /// If the address cannot be used; that nobody answers there is no error.
    pub fn start(settings: &Settings) -> Result<Self, StartError> {
        let resource = Resource::builder()
            .with_service_name(names::SERVICE)
            .with_attributes([
                KeyValue::new(names::SERVICE_INSTANCE_ID, settings.node.clone()),
                KeyValue::new(names::SERVICE_VERSION, settings.version.clone()),
            ])
            .build();
        let registry = prometheus::Registry::new();
        let text = opentelemetry_prometheus::exporter()
            .with_registry(registry.clone())
            .build()
            .map_err(|error| StartError::Metrics(error.to_string()))?;
        let metrics = SdkMeterProvider::builder().with_resource(resource.clone()).with_reader(text);
        let Some(endpoint) = &settings.endpoint else {
            let metrics = metrics.build();
            let meters = meters::Meters::of(&metrics);
            return Ok(Self { spans: None, logs: None, metrics, meters, registry });
        };
        let base = endpoint.trim_end_matches('/');
        if !(base.starts_with("http://") || base.starts_with("https://")) {
            return Err(StartError::Endpoint(endpoint.clone()));
        }
        let traces = SpanExporter::builder()
            .with_http()
            .with_endpoint(format!("{base}/v1/traces"))
            .with_timeout(ANSWER_TIME_MAX)
            .build()?;
        let mut spans = BatchSpanProcessor::builder(traces)
            .with_batch_config(
                SpanBatch::default()
                    .with_max_queue_size(WAITING_MAX)
                    .with_scheduled_delay(EXPORT_EVERY)
                    .build(),
            )
            .build();
        spans.set_resource(&resource);
        let lines = LogExporter::builder()
            .with_http()
            .with_endpoint(format!("{base}/v1/logs"))
            .with_timeout(ANSWER_TIME_MAX)
            .build()?;
        let batch =
            LogBatch::default().with_max_queue_size(WAITING_MAX).with_scheduled_delay(EXPORT_EVERY).build();
        let logs = SdkLoggerProvider::builder()
            .with_resource(resource)
            .with_log_processor(BatchLogProcessor::builder(lines).with_batch_config(batch).build())
            .build();
        let measured = MetricExporter::builder()
            .with_http()
            .with_endpoint(format!("{base}/v1/metrics"))
            .with_timeout(ANSWER_TIME_MAX)
            .build()?;
        let reader = PeriodicReader::builder(measured).with_interval(MEASURE_EVERY).build();
        let metrics = metrics.with_reader(reader).build();
        let meters = meters::Meters::of(&metrics);
        Ok(Self { spans: Some(Mutex::new(spans)), logs: Some(logs), metrics, meters, registry })
    }

    /// A request is over.
    pub fn request(&self, request: &Request<'_>) {
        self.meters.request(request);
        self.send(std::iter::once(spans::of_request(request)));
    }

    /// Spans of a trace are over.
    pub fn ended(&self, trace: TraceId, ended: &[Span]) {
        for span in ended {
            self.meters.span(span);
        }
        self.send(ended.iter().map(|span| spans::of_span(trace, span)));
    }

    /// Something is counted.
    pub fn counted(&self, what: Counted, times: u64) {
        self.meters.counted(what, times);
    }

    fn send(&self, all: impl Iterator<Item = opentelemetry_sdk::trace::SpanData>) {
        let Some(spans) = &self.spans else { return };
        // Held for as long as it takes to put something into a queue: its thread takes no part in it.
        let spans = spans.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        for span in all {
            spans.on_end(span);
        }
    }

    /// What hands log lines on, with the trace that they belong to; nothing where nothing is exported.
    #[must_use]
    pub fn log_layer(&self) -> Option<LogLayer> {
        self.logs.as_ref().map(LogLayer::over)
    }

    /// All metrics as Prometheus reads them.
    #[must_use]
    pub fn prometheus(&self) -> String {
        let mut text = String::new();
        // Writing into memory fails only for a metric without a value, of which there is none.
        drop(prometheus::TextEncoder::new().encode_utf8(&self.registry.gather(), &mut text));
        text
    }

    /// Sends what waits, for as long as the end of a daemon may take. Blocks: call it where nothing else waits.
    pub fn end(&self) {
        if let Some(spans) = &self.spans {
            let spans = spans.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            // A collector that does not answer now is not waited for any more.
            drop(spans.shutdown_with_timeout(END_TIME_MAX));
        }
        if let Some(logs) = &self.logs {
            drop(logs.shutdown_with_timeout(END_TIME_MAX));
        }
        drop(self.metrics.shutdown_with_timeout(END_TIME_MAX));
    }
}

#[cfg(test)]
mod tests;
