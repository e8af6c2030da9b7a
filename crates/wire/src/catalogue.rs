//! The method catalogue: one table, from which dispatch, description, schemas and clients are made.
//!
//! Owns what a row says. The rows stand in [`table`]; what the protocol has a name for and this version does not serve
//! stands in [`later`]. Every verb of every client is in one of the two.

pub mod describe;
pub mod later;
pub mod notices;
pub mod opening;
pub mod table;

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::rpc::RpcError;
use edgeplane_types::{ErrorName, Scope};

pub use table::*;

/// Whether a method changes anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MethodEffect {
    /// It does not.
    Read,
    /// It does.
    Write,
}

impl MethodEffect {
    /// The word that programs read.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// Who may call a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// Operators and agents.
    Anyone,
    /// Operators, and agents for themselves.
    OwnerOrOperator,
    /// Whoever the rules let; the shipped ones let operators only.
    Governed,
    /// Operators only.
    Operator,
}

impl Audience {
    /// The word that programs read.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Anyone => "anyone",
            Self::OwnerOrOperator => "owner",
            Self::Governed => "governed",
            Self::Operator => "operator",
        }
    }
}

/// What a token must allow for a method. It only ever takes away: who may call it at all, the audience says besides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Nothing: greeting the node and asking what it serves.
    Nothing,
    /// This scope.
    Scope(Scope),
    /// No token is enough: only an operator whom the kernel vouches for may.
    Uid,
}

impl Need {
    /// The word that programs read: a scope, `none` or `uid`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Nothing => "none",
            Self::Scope(scope) => scope.as_str(),
            Self::Uid => "uid",
        }
    }
}

/// What it means to call a method once more with the same parameters and without a key.
///
/// With a key in the request's context every method acts once and answers a repetition as it answered first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// Nothing: it changes nothing.
    Safe,
    /// What the first call made true stays true; nothing more happens.
    Same,
    /// It acts again.
    Again,
}

impl Repeat {
    /// The word that programs read.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Same => "same",
            Self::Again => "again",
        }
    }
}

/// One row of the catalogue.
#[derive(Debug)]
pub struct Method {
    /// `profile/object.action`.
    pub name: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// Whether it changes anything.
    pub effect: MethodEffect,
    /// Who may call it.
    pub audience: Audience,
    /// What a token must allow.
    pub need: Need,
    /// What it means to call it once more.
    pub repeat: Repeat,
    /// Error names of its own.
    pub errors: &'static [ErrorName],
    /// Version that began to serve it.
    pub since: &'static str,
    params: fn() -> Value,
    result: fn() -> Value,
}

impl Method {
    /// JSON Schema of the parameters.
    #[must_use]
    pub fn params_schema(&self) -> Value {
        (self.params)()
    }

    /// JSON Schema of the result.
    #[must_use]
    pub fn result_schema(&self) -> Value {
        (self.result)()
    }
}

/// What every method may answer besides the errors of its row.
pub const ERRORS_OF_ALL: &[ErrorName] = &[
    ErrorName::ParseError,
    ErrorName::InvalidRequest,
    ErrorName::InvalidParams,
    ErrorName::Unauthenticated,
    ErrorName::PermissionDenied,
    ErrorName::PolicyBlocked,
    ErrorName::NotFound,
    ErrorName::IdempotencyMismatch,
    ErrorName::TooLarge,
    ErrorName::RateLimited,
    ErrorName::Backpressure,
    ErrorName::Cancelled,
    ErrorName::Internal,
    ErrorName::Unavailable,
    ErrorName::OutcomeUnknown,
    ErrorName::DeadlineExceeded,
];

/// What every method that changes something may answer besides.
pub const ERRORS_OF_WRITES: &[ErrorName] = &[ErrorName::StorageFull, ErrorName::RecordDamaged];

/// The schema of a type, with the bounds that its integers have.
fn schema<T: JsonSchema>() -> Value {
    let bounds = schemars::transform::RecursiveTransform(bound_integers);
    let settings = schemars::generate::SchemaSettings::draft2020_12().with_transform(bounds);
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

/// A format alone binds nobody: a validator passes what the node refuses, unless the schema says where it ends.
fn bound_integers(schema: &mut schemars::Schema) {
    let (least, most) = match schema.get("format").and_then(Value::as_str) {
        Some("uint32") => (Value::from(0), Value::from(u32::MAX)),
        Some("uint64") => (Value::from(0), Value::from(u64::MAX)),
        Some("int32") => (Value::from(i32::MIN), Value::from(i32::MAX)),
        Some("int64") => (Value::from(i64::MIN), Value::from(i64::MAX)),
        _ => return,
    };
    for (word, bound) in [("minimum", least), ("maximum", most)] {
        if schema.get(word).is_none() {
            schema.insert(word.to_owned(), bound);
        }
    }
}

/// A method as a type, for typed callers.
pub trait Call {
    /// Its name.
    const NAME: &'static str;
    /// Its parameters.
    type Params: Serialize + DeserializeOwned;
    /// Its result.
    type Result: Serialize + DeserializeOwned;
}

/// The need that a word of the table names.
macro_rules! need {
    (Nothing) => {
        $crate::catalogue::Need::Nothing
    };
    (Uid) => {
        $crate::catalogue::Need::Uid
    };
    ($scope:ident) => {
        $crate::catalogue::Need::Scope(edgeplane_types::Scope::$scope)
    };
}

macro_rules! catalogue {
    ($($(#[doc = $doc:literal])+ $name:literal $call:ident($params:ty) -> $result:ty,
        $effect:ident, $audience:ident, $need:ident, $repeat:ident, [$($error:ident),*], $since:literal;)+) => {
        /// Every method, in the order of the documentation.
        pub const METHODS: &[Method] = &[$(Method {
            name: $name,
            summary: concat!($($doc,)+),
            effect: MethodEffect::$effect,
            audience: Audience::$audience,
            need: $crate::catalogue::need!($need),
            repeat: Repeat::$repeat,
            errors: &[$(ErrorName::$error),*],
            since: $since,
            params: schema::<$params>,
            result: schema::<$result>,
        },)+];

        $(
            #[doc = concat!("`", $name, "`:", $($doc,)+)]
            #[derive(Debug, Clone, Copy)]
            pub enum $call {}

            impl Call for $call {
                const NAME: &'static str = $name;
                type Params = $params;
                type Result = $result;
            }
        )+

        /// A request with its parameters read.
        #[derive(Debug, Clone)]
        pub enum Request {
            $(
                #[doc = concat!("`", $name, "`")]
                $call($params),
            )+
        }

        impl Request {
            /// Reads the parameters of a method.
            ///
            /// # Errors
            /// `method_not_found` or `invalid_params`.
            pub fn read(method: &str, params: Value) -> Result<Self, RpcError> {
                match method {
                    $($name => read(method, params).map(Self::$call),)+
                    _ => Err(unknown(method)),
                }
            }

            /// The method's row.
            #[must_use]
            pub fn method(&self) -> &'static str {
                match self { $(Self::$call(_) => $name,)+ }
            }
        }
    };
}

use {catalogue, need};

fn read<P: DeserializeOwned>(method: &str, params: Value) -> Result<P, RpcError> {
    let params = if params.is_null() { Value::Object(serde_json::Map::new()) } else { params };
    serde_json::from_value(params).map_err(|error| {
        RpcError::new(ErrorName::InvalidParams, format!("parameters of {method}: {error}"))
            .hint(format!("`core/describe` gives the schema of {method}"))
    })
}

/// What is said of a method that has no row: either the protocol has a name for it, or nobody has.
fn unknown(method: &str) -> RpcError {
    if let Some(later) = later::find(method) {
        let error =
            RpcError::new(ErrorName::Unsupported, format!("{method} is not served: {}", later.summary));
        return error.hint("`core/describe` tells with `served` which methods this version has");
    }
    let shown: String = method.chars().take(80).collect();
    let error = RpcError::new(ErrorName::MethodNotFound, format!("no method `{shown}`"));
    error.hint("`core/describe` lists the methods")
}

/// The row of a method.
#[must_use]
pub fn find(name: &str) -> Option<&'static Method> {
    METHODS.iter().find(|method| method.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_method_name(name: &str) -> bool {
        let word = |w: &str| !w.is_empty() && w.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        let Some((profile, rest)) = name.split_once('/') else { return false };
        let parts: Vec<_> = rest.split('.').collect();
        word(profile) && (1..=2).contains(&parts.len()) && parts.iter().all(|p| word(p))
    }

    #[test]
    fn names_follow_the_grammar_and_are_unique() {
        for (index, method) in METHODS.iter().enumerate() {
            assert!(is_method_name(method.name), "{}", method.name);
            assert!(METHODS[index + 1..].iter().all(|other| other.name != method.name), "{}", method.name);
            assert!(method.summary.trim().ends_with('.'), "{}", method.name);
            assert!(method.params_schema().is_object() && method.result_schema().is_object());
        }
    }

    #[test]
    fn integers_have_the_bounds_that_they_are_read_with() {
        let row = find("runtime/transcript.read").unwrap();
        let properties = &row.params_schema()["properties"];
        assert_eq!(properties["limit"]["maximum"], u32::MAX);
        assert_eq!(properties["after"]["maximum"], u64::MAX);
        let read = |params| Request::read("runtime/transcript.read", params);
        assert!(read(serde_json::json!({ "limit": u32::MAX })).is_ok());
        assert!(read(serde_json::json!({ "limit": u64::from(u32::MAX) + 1 })).is_err());
    }

    #[test]
    fn parameters_are_read_or_named() {
        let request = Request::read("runtime/agent.get", serde_json::json!({ "agent": "a" })).unwrap();
        assert_eq!(request.method(), "runtime/agent.get");
        assert!(Request::read("core/health", Value::Null).is_ok());
        let unknown = Request::read("runtime/agent.fly", Value::Null).unwrap_err();
        assert_eq!(unknown.name(), ErrorName::MethodNotFound);
        for params in
            [serde_json::json!({}), serde_json::json!({ "agent": "a", "agnet": 1 }), serde_json::json!([])]
        {
            let error = Request::read("runtime/agent.get", params).unwrap_err();
            assert_eq!(error.name(), ErrorName::InvalidParams);
        }
    }
}
