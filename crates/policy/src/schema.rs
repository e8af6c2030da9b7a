//! What Cedar is told of a request, and the schema that says what a rule may ask of it.

use std::{
    collections::{BTreeSet, HashSet},
    sync::LazyLock,
};

use cedar_policy::{
    Context, Entities, Entity, EntityId, EntityTypeName, EntityUid, Request as CedarRequest,
    RestrictedExpression as Value, Schema, Validator,
};
use edgeplane_types::Authority;

use crate::request::{Class, Subject, SubjectKind, Target};

/// What a rule can see, in Cedar's language of schemas.
pub const SCHEMA_TEXT: &str = include_str!("schema.cedarschema");

/// Holds rules to the schema.
#[expect(clippy::expect_used, reason = "the text is part of the program, and every test reads it")]
pub(crate) static VALIDATOR: LazyLock<Validator> =
    LazyLock::new(|| Validator::new(SCHEMA_TEXT.parse::<Schema>().expect("the embedded schema is one")));

/// The types of the schema. Made once, because Cedar parses each name.
static TYPES: LazyLock<Types> = LazyLock::new(|| Types {
    operator: type_name("Operator"),
    agent: type_name("Agent"),
    service: type_name("Service"),
    node: type_name("Node"),
    external: type_name("External"),
    action: type_name("Action"),
    risk: type_name("Risk"),
    channel: type_name("Channel"),
    ingress: type_name("Ingress"),
    authority: type_name("Authority"),
    proof: type_name("Proof"),
    assurance: type_name("Assurance"),
});

struct Types {
    operator: EntityTypeName,
    agent: EntityTypeName,
    service: EntityTypeName,
    node: EntityTypeName,
    external: EntityTypeName,
    action: EntityTypeName,
    risk: EntityTypeName,
    channel: EntityTypeName,
    ingress: EntityTypeName,
    authority: EntityTypeName,
    proof: EntityTypeName,
    assurance: EntityTypeName,
}

#[expect(clippy::expect_used, reason = "the names are part of the program, and every test uses them")]
fn type_name(name: &str) -> EntityTypeName {
    name.parse().expect("the names of types are names")
}

/// A request as Cedar takes it. Made once for all layers.
#[derive(Debug)]
pub(crate) struct Query {
    pub(crate) principal: EntityUid,
    pub(crate) action: EntityUid,
    pub(crate) resource: EntityUid,
    pub(crate) request: CedarRequest,
    pub(crate) entities: Entities,
}

/// Why Cedar took a request for none: a defect of this crate, and the request is refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum QueryError {
    #[error("cannot describe who asks and who is asked")]
    Entity(#[source] Box<cedar_policy::EntityAttrEvaluationError>),
    #[error("cannot relate who asks to who is asked")]
    Entities(#[source] Box<cedar_policy::entities_errors::EntitiesError>),
    #[error("cannot describe the circumstances")]
    Context(#[source] Box<cedar_policy::ContextCreationError>),
    #[error("cannot put the question")]
    Request(#[source] Box<cedar_policy::RequestValidationError>),
}

impl Query {
    /// Describes `class`. With a schema Cedar also checks the description, which only tests need.
    pub(crate) fn new(class: &Class, schema: Option<&Schema>) -> Result<Self, QueryError> {
        let (subject, target) = (&class.subject, &class.target);
        let principal = subject_uid(subject, target);
        let resource = target_uid(target);
        let mut entities = vec![entity(resource.clone(), target_attributes(target))?];
        // An agent that writes to itself is one entity.
        if principal != resource {
            entities.push(entity(principal.clone(), subject_attributes(subject))?);
        }
        let entities = Entities::from_entities(entities, schema)
            .map_err(|error| QueryError::Entities(Box::new(error)))?;
        let action = uid(&TYPES.action, class.action.as_str());
        let request =
            CedarRequest::new(principal.clone(), action.clone(), resource.clone(), context(class)?, schema)
                .map_err(|error| QueryError::Request(Box::new(error)))?;
        Ok(Self { principal, action, resource, request, entities })
    }
}

fn entity(uid: EntityUid, attributes: Attributes) -> Result<Entity, QueryError> {
    Entity::new(uid, attributes, HashSet::new()).map_err(|error| QueryError::Entity(Box::new(error)))
}

fn uid(kind: &EntityTypeName, id: &str) -> EntityUid {
    EntityUid::from_type_name_and_id(kind.clone(), EntityId::new(id))
}

fn target_uid(target: &Target) -> EntityUid {
    uid(&TYPES.agent, target.name.as_str())
}

/// Whose tenant is not the target's is named with it: `Agent::"reviewer"` in a rule is never another tenant's.
fn subject_uid(subject: &Subject, target: &Target) -> EntityUid {
    let kind = match subject.kind {
        SubjectKind::Operator => &TYPES.operator,
        SubjectKind::Agent => &TYPES.agent,
        SubjectKind::Service => &TYPES.service,
        SubjectKind::Node => &TYPES.node,
        SubjectKind::External => return uid(&TYPES.external, subject.name.as_str()),
    };
    if subject.tenant == target.tenant {
        return uid(kind, subject.name.as_str());
    }
    uid(kind, &format!("{}/{}", subject.tenant, subject.name))
}

fn word(kind: &EntityTypeName, word: &str) -> Value {
    Value::new_entity_uid(uid(kind, word))
}

fn text(text: &str) -> Value {
    Value::new_string(text.to_owned())
}

fn labels(labels: &BTreeSet<String>) -> Value {
    Value::new_set(labels.iter().map(|label| text(label)))
}

type Attributes = std::collections::HashMap<String, Value>;

fn attributes<const N: usize>(pairs: [(&str, Value); N]) -> Attributes {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn target_attributes(target: &Target) -> Attributes {
    attributes([
        ("name", text(target.name.as_str())),
        ("tenant", text(target.tenant.as_str())),
        ("labels", labels(&target.labels)),
        ("risk", word(&TYPES.risk, target.risk.as_str())),
        ("principal", text(target.principal.as_str())),
    ])
}

fn subject_attributes(subject: &Subject) -> Attributes {
    let name = ("name", text(subject.name.as_str()));
    let tenant = ("tenant", text(subject.tenant.as_str()));
    let labels = ("labels", labels(&subject.labels));
    match subject.kind {
        SubjectKind::Agent => attributes([
            name,
            tenant,
            labels,
            ("risk", word(&TYPES.risk, subject.risk.as_str())),
            ("principal", text(subject.principal.as_str())),
        ]),
        SubjectKind::Operator | SubjectKind::Service | SubjectKind::Node => {
            attributes([name, tenant, labels])
        }
        SubjectKind::External => attributes([name, labels]),
    }
}

/// The weight of an authority as a number that grows with it.
fn rank(authority: Authority) -> i64 {
    match authority {
        Authority::Trusted => 4,
        Authority::Delegated => 3,
        Authority::Advisory => 2,
        Authority::External => 1,
        Authority::Untrusted => 0,
    }
}

fn context(class: &Class) -> Result<Context, QueryError> {
    let authority = class.authority_claimed();
    let pairs = [
        ("channel", word(&TYPES.channel, class.channel.as_str())),
        ("ingress", word(&TYPES.ingress, class.ingress.as_str())),
        ("authority", word(&TYPES.authority, authority.as_str())),
        ("rank", Value::new_long(rank(authority))),
        ("proof", word(&TYPES.proof, class.proof.as_str())),
        ("assurance", word(&TYPES.assurance, class.assurance.as_str())),
        ("hops", Value::new_long(i64::from(class.hops))),
    ];
    let topic = class.topic.as_ref().map(|topic| ("topic", text(topic.as_str())));
    let capability = class.capability.as_ref().map(|name| ("capability", text(name)));
    let user = class.user.as_ref().map(|user| ("user", text(user.as_str())));
    let pairs = pairs
        .into_iter()
        .chain(topic)
        .chain(capability)
        .chain(user)
        .map(|(name, value)| (name.to_owned(), value));
    Context::from_pairs(pairs).map_err(|error| QueryError::Context(Box::new(error)))
}

#[cfg(test)]
mod tests;
