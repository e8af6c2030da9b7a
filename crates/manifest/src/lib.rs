//! Manifests: what an agent is meant to be, read and checked without touching anything.
//!
//! Owns the language of manifests: its types and defaults, its JSON Schema, reading it from YAML and JSON with every
//! problem located, its canonical form, and the description of an agent that needs no daemon. It deliberately knows
//! no disk, process, clock or node: the caller brings the text and looks at the machine.
//!
//! [`parse`] reads one file and [`parse_set`] several. [`Manifest::resolved_from`] makes paths absolute,
//! [`Manifest::canonical_json`] is what a node stores, [`describe`] is what people read.
#![forbid(unsafe_code)]

mod quantity;
#[macro_use]
mod words;

mod clock;
mod model;

mod problem;

mod documents;
mod tree;

mod rule;
mod schema;
mod secret;
mod shape;

mod relations;
mod set;

mod canonical;
mod offline;
mod parse;
mod paths;

pub use clock::{CronText, DueTime, Moment, ZoneName};
pub use model::*;
pub use offline::{
    Configuration, Description, Found, Need, Preparation, Presence, Readiness, Requirement, describe,
    prepared_paths, requirements,
};
pub use parse::{DOCUMENTS_MAX, FILE_BYTES_MAX, PROBLEMS_MAX, Set, SourceFile, Sourced, parse, parse_set};
pub use problem::Problem;
pub use quantity::{
    BYTE_SIZE_MAX, ByteSize, DURATION_MS_MAX, DurationMs, MILLI_CPU_MAX, MilliCpu, QuantityError,
};
pub use schema::{SCHEMA_ID, schema};
pub use secret::{is_secret_key, looks_secret};
pub use words::{
    Digest, ENV_NAME_BYTES_MAX, EnvName, FilePath, Keys, LABEL_KEY_BYTES_MAX, LabelKey, MediaType,
    PATH_BYTES_MAX, RESERVED_ENV_PREFIX, Signal, ToolPattern, UserName, WordError,
};
