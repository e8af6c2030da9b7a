//! The schema has the words of EdgePlane, and every request fits it.

use std::sync::Arc;

use edgeplane_types::{Assurance, Channel, Ingress, PolicyAction, Proof, Risk};

use super::*;
use crate::sample;

/// The words between the brackets of `entity NAME enum [ … ]` or before `appliesTo`.
fn words_of(kind: &str) -> Vec<String> {
    let (_, rest) = SCHEMA_TEXT.split_once(&format!("entity {kind} enum [")).unwrap();
    let (inside, _) = rest.split_once(']').unwrap();
    inside.split(',').map(|word| word.trim().trim_matches('"').to_owned()).collect()
}

#[test]
fn the_schema_has_every_word_and_no_other() {
    fn check<T: Copy>(kind: &str, all: &[T], word: fn(T) -> &'static str) {
        let expected: Vec<&str> = all.iter().map(|value| word(*value)).collect();
        assert_eq!(words_of(kind), expected, "{kind}");
    }
    check("Channel", Channel::ALL, Channel::as_str);
    check("Ingress", Ingress::ALL, Ingress::as_str);
    check("Authority", Authority::ALL, Authority::as_str);
    check("Proof", Proof::ALL, Proof::as_str);
    check("Assurance", Assurance::ALL, Assurance::as_str);
    check("Risk", &[Risk::Low, Risk::Medium, Risk::High], Risk::as_str);
}

/// Proves POL-013.
#[test]
fn every_request_is_what_the_schema_says() {
    let schema = VALIDATOR.schema();
    for kind in SubjectKind::ALL {
        for action in PolicyAction::ALL {
            for topic in [None, Some("news".parse().unwrap())] {
                let mut class = sample::class(*kind, Channel::Peer);
                class.action = *action;
                class.user = topic.clone();
                class.capability =
                    topic.as_ref().map(|topic: &edgeplane_types::SafeLabel| format!("files/{topic}"));
                class.topic = topic;
                let labels = ["team=harbour".to_owned(), "role=crane".to_owned()];
                Arc::make_mut(&mut class.subject).labels = labels.clone().into();
                Arc::make_mut(&mut class.target).labels = labels.into();
                Query::new(&class, Some(schema)).unwrap_or_else(|error| panic!("{class}: {error:?}"));
            }
        }
    }
    for channel in Channel::ALL {
        for ingress in Ingress::ALL {
            let mut class = sample::class(SubjectKind::Agent, *channel);
            class.ingress = *ingress;
            assert!(Query::new(&class, Some(schema)).is_ok(), "{channel} {ingress}");
        }
    }
}

#[test]
fn ranks_grow_with_weight() {
    assert!(Authority::ALL.is_sorted_by(|heavier, lighter| rank(*heavier) > rank(*lighter)));
    assert_eq!(rank(Authority::Trusted), 4);
}
