//! Artifacts: what fits, and rows that are a function of the record.

use std::collections::BTreeMap;

use edgeplane_store::{AppendError, ArtifactFilter, Model};
use edgeplane_types::{
    ArtifactId, Fact, StreamName,
    fact::{ArtifactDeleted, ArtifactPublished},
};

use crate::support::{Maker, agent, declared, node, open};

fn id(number: u8) -> ArtifactId {
    ArtifactId::from_parts(1, [number; 10])
}

fn published(number: u8, name: &str, version: u64) -> Fact {
    Fact::ArtifactPublished(Box::new(ArtifactPublished {
        artifact_id: id(number),
        name: name.parse().unwrap(),
        version,
        media_type: "text/plain".to_owned(),
        digest: format!("digest-{number}-{version}"),
        bytes: 3,
        labels: BTreeMap::new(),
        source: None,
    }))
}

fn deleted(number: u8) -> Fact {
    let reason = "enough".to_owned();
    Fact::ArtifactDeleted(ArtifactDeleted { artifact_id: id(number), versions: 1, reason })
}

/// Proves ART-001, ART-002.
#[test]
fn a_name_has_one_artifact_and_rows_are_a_function_of_the_record() {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    let (one, two) = (StreamName::Agent(agent(1)), StreamName::Agent(agent(2)));
    let append = |stream, facts: Vec<Fact>| store.append(maker.batch(stream, facts));
    append(one, vec![declared(1, "one")]).unwrap();
    append(two, vec![declared(2, "two")]).unwrap();
    append(one, vec![published(1, "a", 1), published(1, "a", 2), published(2, "b", 1)]).unwrap();
    // A name, an id and a number are each there once, and an artifact has one owner.
    for (stream, wrong) in [
        (one, published(1, "a", 2)),
        (one, published(1, "a", 4)),
        (one, published(3, "a", 1)),
        (one, published(2, "c", 2)),
        (two, published(1, "a", 3)),
        (two, published(1, "d", 1)),
        (two, deleted(1)),
        (one, deleted(9)),
    ] {
        let done = append(stream, vec![wrong.clone()]);
        assert!(matches!(done, Err(AppendError::Refused { .. })), "{wrong:?}");
    }
    // Others may have the same name, and so may the node.
    append(two, vec![published(3, "a", 1)]).unwrap();
    append(node(), vec![published(4, "a", 1)]).unwrap();
    append(one, vec![deleted(1)]).unwrap();
    for late in [published(1, "a", 3), deleted(1)] {
        assert!(append(one, vec![late.clone()]).is_err(), "{late:?}");
    }
    append(one, vec![published(5, "a", 1)]).unwrap();
    let reader = store.reader();
    let named = |owner: Option<u8>| {
        let owner = owner.map(agent);
        reader.artifact_named(owner.as_ref(), "a").unwrap().unwrap().published.artifact_id
    };
    assert_eq!([named(Some(1)), named(Some(2)), named(None)], [id(5), id(3), id(4)]);
    let gone = reader.artifact(&id(1)).unwrap().unwrap();
    assert_eq!((gone.newest, gone.published.version, gone.deleted_at.is_some()), (2, 2, true));
    let versions = reader.artifact_versions(&id(1), 10, None).unwrap();
    assert_eq!(versions.iter().map(|row| row.published.version).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(reader.artifact_versions(&id(1), 10, Some(2)).unwrap().len(), 1);
    let listed = |filter: &ArtifactFilter| {
        let rows = reader.artifacts(filter, 10, 0).unwrap();
        rows.into_iter().map(|row| row.published.artifact_id).collect::<Vec<_>>()
    };
    assert_eq!(listed(&ArtifactFilter::default()), [id(2), id(3), id(4), id(5)]);
    let of = ArtifactFilter { owners: vec![Some(agent(1)), None], prefix: "a".to_owned() };
    assert_eq!(listed(&of), [id(4), id(5)]);
    assert_eq!(reader.artifacts_of(Some(&agent(1))).unwrap(), 2);
    assert_eq!(reader.artifact_digests().unwrap().len(), 4, "what has ended needs no bytes");
    assert!(!reader.is_artifact_digest("digest-1-1").unwrap());
    let before = reader.model_digest(Model::Artifacts).unwrap();
    store.rebuild(Model::Artifacts).unwrap();
    assert_eq!(store.reader().model_digest(Model::Artifacts).unwrap(), before);
}
