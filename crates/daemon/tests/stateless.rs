//! An agent that forgets: nothing that one program of it leaves is there for the next.

use std::{fs, path::Path};

use edgeplane_testkit::{Node, native, signals, wait::eventually};
use edgeplane_types::{ErrorName, Phase};
use edgeplane_wire::{
    api::memory::{KeyParams, PutParams},
    catalogue::{MemoryGet, MemoryPut},
};

const AT_ONCE: &str = "restart: { policy: always, backoff: { initial: 10ms } }";

/// A program that says what it finds in its workspace, leaves something there, asks for its memory and waits.
fn leaves(node: &Node, name: &str) -> [String; 3] {
    let said = node.scratch().join(name);
    let program = format!(
        r#"echo "$(ls | tr '\n' ' ')|" >> {said}; mkdir -p deep/er; echo x > deep/er/file; ln -sfn / root
        echo '{{"jsonrpc":"2.0","id":"1","method":"memory/entry.put","params":{{"key":"k","value":1}}}}'
        while read -r line; do case $line in *'"id":"1"'*) echo "$line" >> {said}.answers;; esac; done"#,
        said = said.display(),
    );
    ["/bin/sh".to_owned(), "-c".to_owned(), program]
}

fn run(node: &Node, name: &str, state: &str) {
    let program = leaves(node, name);
    let command: Vec<&str> = program.iter().map(String::as_str).collect();
    node.run(name, &native(name, &command, &format!("state: {state}\n{AT_ONCE}")));
}

fn lines(path: &Path, count: usize) -> Vec<String> {
    let mut found = Vec::new();
    eventually(&format!("{count} lines in `{}`", path.display()), || {
        found = fs::read_to_string(path).unwrap_or_default().lines().map(str::to_owned).collect();
        found.len() >= count
    });
    found
}

#[test]
fn stateless_agent_begins_anew_and_a_stateful_one_goes_on() {
    let node = Node::start();
    for (name, state) in [("forgets", "stateless"), ("keeps", "stateful")] {
        run(&node, name, state);
        let said = node.scratch().join(name);
        assert_eq!(lines(&said, 1), ["|"]);
        let _answered = lines(&said.with_extension("answers"), 1);
        signals::kill(&[node.pid(name)]);
        eventually("its next program runs", || node.get(name).status.epoch.0 == 2);
        node.wait(name, Phase::Running);
        let found = lines(&said, 2).pop().unwrap();
        let expected = if state == "stateless" { "|" } else { "deep root |" };
        assert_eq!(found, expected, "{name}");
    }
    let answers = lines(&node.scratch().join("forgets.answers"), 1);
    assert!(answers[0].contains("is stateless"), "{answers:?}");
    let answers = lines(&node.scratch().join("keeps.answers"), 1);
    assert!(answers[0].contains("\"version\":1"), "{answers:?}");

    let put = PutParams {
        agent: Some("forgets".to_owned()),
        key: "k".to_owned(),
        value: 1.into(),
        if_version: None,
        ttl_ms: None,
    };
    let refused = node.connect().try_call::<MemoryPut>(&put).unwrap_err();
    assert_eq!(refused.name(), ErrorName::InvalidState);
    let key = KeyParams { agent: Some("forgets".to_owned()), key: "k".to_owned() };
    assert_eq!(node.connect().try_call::<MemoryGet>(&key).unwrap_err().name(), ErrorName::NotFound);
    node.verify();
}
