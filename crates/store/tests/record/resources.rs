//! Resources: versions without gaps, views of what is changed elsewhere, and rows that are a function of the record.

use edgeplane_store::{AppendError, Model, ResourceFilter};
use edgeplane_types::{
    Fact, Generation, ResourceKind, ResourceUri,
    fact::{ResourceDeleted, ResourcePut},
};

use crate::support::{Maker, declared, life, node, open, stream, text_body};

fn uri(text: &str) -> ResourceUri {
    text.parse().unwrap()
}

fn put(name: &str, version: u64, value: &str) -> Fact {
    Fact::ResourcePut(ResourcePut {
        uri: uri(name),
        version,
        value_digest: text_body(value).digest().to_string(),
        value_bytes: value.len() as u64,
        labels: [("team".to_owned(), "docs".parse().unwrap())].into(),
        acts_as: None,
    })
}

fn deleted(name: &str, version: u64) -> Fact {
    Fact::ResourceDeleted(ResourceDeleted { uri: uri(name), version, reason: None })
}

const LIMITS: &str = "edgeplane://config/limits";

/// Proves RES-002.
#[test]
fn versions_count_on_without_gaps_over_an_end() {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    let append = |fact: Fact| store.append(maker.batch(node(), [fact]));
    append(put(LIMITS, 1, "a")).unwrap();
    append(put(LIMITS, 2, "b")).unwrap();
    append(deleted(LIMITS, 3)).unwrap();
    append(put(LIMITS, 4, "c")).unwrap();
    for fact in
        [put(LIMITS, 4, "d"), put(LIMITS, 6, "d"), deleted(LIMITS, 1), put("edgeplane://agent/a", 1, "a")]
    {
        let refused = append(fact).unwrap_err();
        let AppendError::Refused { source, .. } = refused else { panic!("{refused}") };
        assert!(source.to_string().contains("is not newer"), "{source}");
    }
    let wrong_stream = store.append(maker.batch(stream(1), [declared(1, "a"), put(LIMITS, 5, "d")]));
    assert!(matches!(wrong_stream, Err(AppendError::Refused { .. })), "{wrong_stream:?}");

    let reader = store.reader();
    let newest = reader.resource(&uri(LIMITS)).unwrap().unwrap();
    assert_eq!((newest.version, newest.value_bytes), (4, 1));
    let history = reader.resource_history(&uri(LIMITS), 10, None).unwrap();
    let seen: Vec<_> = history.iter().map(|row| (row.version, row.digest.is_some())).collect();
    assert_eq!(seen, [(4, true), (3, false), (2, true), (1, true)]);
    let page = reader.resource_history(&uri(LIMITS), 2, Some(3)).unwrap();
    assert_eq!(page.iter().map(|row| row.version).collect::<Vec<_>>(), [2, 1]);
    let second = reader.resource_at(&uri(LIMITS), 2).unwrap().unwrap();
    assert_eq!(second.digest, Some(text_body("b").digest().to_string()));
    assert!(reader.resource_at(&uri(LIMITS), 5).unwrap().is_none());
    assert!(reader.resource(&uri("edgeplane://profile/limits")).unwrap().is_none());
}

/// Proves RES-003.
#[test]
fn agents_schedules_and_rules_are_resources_by_their_own_facts() {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    let schedule = |text: &str| Fact::ScheduleDeclared {
        name: "nightly".parse().unwrap(),
        spec_digest: text_body(text).digest().to_string(),
        spec_bytes: 1,
        in_manifest: true,
    };
    let updated = Fact::AgentUpdated {
        generation: Generation(2),
        manifest_digest: text_body("new").digest().to_string(),
    };
    let facts = [declared(1, "one"), schedule("a"), updated, schedule("a"), schedule("b")];
    store.append(maker.batch(stream(1), facts)).unwrap();
    let rules = |digest: &str| Fact::PolicyLoaded { digest: digest.to_owned(), rules: 3, files: vec![] };
    store.append(maker.batch(node(), [rules("x"), rules("x"), rules("y")])).unwrap();
    let reader = store.reader();
    let version =
        |text: &str| reader.resource(&uri(text)).unwrap().map(|row| (row.version, row.digest.is_some()));
    assert_eq!(version("edgeplane://agent/one"), Some((2, true)));
    assert_eq!(
        version("edgeplane://schedule/one/nightly"),
        Some((2, true)),
        "what says the same is no version"
    );
    assert_eq!(version("edgeplane://policy/rules"), Some((2, true)));

    store.append(maker.batch(stream(1), [Fact::AgentRetired { reason: "done".to_owned() }])).unwrap();
    assert_eq!(version("edgeplane://agent/one"), Some((3, false)));
    assert_eq!(version("edgeplane://schedule/one/nightly"), Some((3, false)));
    store.append(maker.batch(stream(2), [declared(2, "one")])).unwrap();
    assert_eq!(version("edgeplane://agent/one"), Some((4, true)), "a name counts on under another agent");
}

/// Proves RES-004.
#[test]
fn resources_are_listed_in_pages_by_kind_and_name() {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    for name in ["config/a", "config/ab", "config/b", "connector/a", "profile/a"] {
        let name = format!("edgeplane://{name}");
        store.append(maker.batch(node(), [put(&name, 1, "x")])).unwrap();
    }
    store.append(maker.batch(node(), [deleted("edgeplane://config/b", 2)])).unwrap();
    let reader = store.reader();
    let list = |filter: ResourceFilter, rows| -> Vec<String> {
        let found = reader.resources(&filter, rows).unwrap();
        found.iter().map(|row| format!("{}/{}", row.kind.as_str(), row.path)).collect()
    };
    let kind = Some(ResourceKind::Config);
    assert_eq!(list(ResourceFilter::default(), 10), ["config/a", "config/ab", "connector/a", "profile/a"]);
    assert_eq!(list(ResourceFilter { kind, ..ResourceFilter::default() }, 10), ["config/a", "config/ab"]);
    assert_eq!(
        list(ResourceFilter { prefix: "ab".to_owned(), ..ResourceFilter::default() }, 10),
        ["config/ab"]
    );
    let after = Some((ResourceKind::Config, "ab".to_owned()));
    assert_eq!(list(ResourceFilter { after, ..ResourceFilter::default() }, 1), ["connector/a"]);
    assert_eq!(reader.resources_of(ResourceKind::Config).unwrap(), 2);
}

/// Proves RES-002.
#[test]
fn rows_of_resources_are_a_function_of_the_record() {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    store.append(life(&maker, 1)).unwrap();
    store
        .append(maker.batch(node(), [put(LIMITS, 1, "a"), deleted(LIMITS, 2), put(LIMITS, 3, "b")]))
        .unwrap();
    let before = store.reader().model_digest(Model::Resources).unwrap();
    store.rebuild(Model::Resources).unwrap();
    assert_eq!(store.reader().model_digest(Model::Resources).unwrap(), before);
}
