//! Processes that are written to, once per id, whoever dies, and never recorded; and read from, each byte once.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use base64::Engine as _;
use edgeplane_os::failpoint;
use edgeplane_testkit::{
    Node, acp,
    peers::{answer, ask},
    wait::eventually,
};
use edgeplane_types::ErrorName;
use edgeplane_wire::{command::KEPT_BYTES_MAX, rpc::RpcError};
use serde_json::{Value, json};

const ID: &str = "inp_01890000-0000-7000-8000-000000000001";

fn run(node: &Node, driver: &str) {
    node.run("coder", &acp("coder", &node.scratch().join("coder"), &[], (driver, "")));
}

/// Has a command run, and gives its id.
fn begin(node: &Node, script: &str) -> String {
    let steps = json!([["create", { "command": "sh", "args": ["-c", script] }]]);
    let text = answer(&ask(node, "coder", &format!("terminal {steps}"))).text.clone();
    let steps: Value = serde_json::from_str(&text).unwrap();
    steps.pointer("/0/terminalId").unwrap().as_str().unwrap().to_owned()
}

fn get(node: &Node, id: &str) -> Value {
    node.connect().try_raw("runtime/process.get", json!({ "process_id": id })).unwrap()
}

fn write(node: &Node, id: &str, more: &Value) -> Result<Value, RpcError> {
    let mut params = json!({ "process_id": id });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    node.connect().try_raw("runtime/process.write", params)
}

fn count(node: &Node, kind: &str) -> usize {
    node.history("coder").iter().filter(|event| event.event["type"] == kind).count()
}

/// Proves MACH-009, MACH-010.
#[test]
fn a_process_reads_what_is_written_to_it_until_its_input_is_closed() {
    let node = Node::start();
    run(&node, ", commandInput: true");
    let id = begin(&node, "while read line; do echo \"got $line\"; done; echo over; exit 4");
    let first = write(&node, &id, &json!({ "text": "hunter2-secret\n" })).unwrap();
    assert_eq!((&first["status"], &first["input_bytes"]), (&json!("written"), &json!(15)));
    eventually("it has read", || get(&node, &id)["output"]["head"] == "got hunter2-secret\n");
    assert_eq!(get(&node, &id)["input"], json!({ "writes": 1, "written_bytes": 15, "closed": false }));
    write(&node, &id, &json!({ "data": "c2Vjb25kCg==", "close": true })).unwrap();
    eventually("it has ended", || get(&node, &id)["status"] == "exited");
    let seen = get(&node, &id);
    assert_eq!(seen["exit"], json!({ "code": 4 }));
    assert_eq!(seen["output"]["head"], "got hunter2-secret\ngot second\nover\n");
    assert_eq!((&seen["output"]["kept_from"], &seen["input"]["closed"]), (&json!(0), &json!(true)));
    let late = write(&node, &id, &json!({ "text": "x" })).unwrap_err();
    assert_eq!(late.name(), ErrorName::InvalidState, "{late}");
    let record =
        json!(node.history("coder").iter().map(|event| &event.event).collect::<Vec<_>>()).to_string();
    assert!(!record.contains("hunter2"), "what is written is in no event");
    assert!(record.contains(first["input_digest"].as_str().unwrap()), "its digest is");
    assert_eq!((count(&node, "command.input_accepted"), count(&node, "command.input_settled")), (2, 2));
    node.verify();
}

/// Proves MACH-009.
#[test]
fn without_the_manifests_word_an_input_is_empty() {
    let node = Node::start();
    run(&node, "");
    let id = begin(&node, "cat; echo over; sleep 1000");
    eventually("it went on at once", || get(&node, &id)["output"]["head"] == "over\n");
    assert!(get(&node, &id)["input"].is_null());
    let refused = write(&node, &id, &json!({ "text": "x" })).unwrap_err();
    assert_eq!(refused.name(), ErrorName::InvalidState);
    assert!(refused.data.hint.unwrap().contains("commandInput"));
    assert_eq!(count(&node, "command.input_accepted"), 0);
}

/// Proves MACH-010.
#[test]
fn an_input_is_written_once_whoever_dies_meanwhile() {
    let mut node = Node::start();
    run(&node, ", commandInput: true");
    let id = begin(&node, "while read line; do echo \"got $line\"; done");
    let folder = node.state_dir().join(failpoint::FOLDER);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("input.accepted"), "1").unwrap();
    let input = json!({ "text": "one\n", "input_id": ID });
    assert!(write(&node, &id, &input).is_err());
    eventually("the daemon has died", || node.has_ended());
    node.up();
    eventually("the process is in reach", || write(&node, &id, &input).is_ok());
    let again = write(&node, &id, &input).unwrap();
    assert_eq!(again["status"], "written");
    node.kill_daemon();
    node.up();
    eventually("the process is in reach", || write(&node, &id, &input).is_ok());
    let other = write(&node, &id, &json!({ "text": "two\n", "input_id": ID })).unwrap_err();
    assert_eq!(other.name(), ErrorName::IdempotencyMismatch);
    eventually("it can be written to", || write(&node, &id, &json!({ "text": "last\n" })).is_ok());
    eventually("it has read", || get(&node, &id)["output"]["head"] == "got one\ngot last\n");
    assert_eq!(count(&node, "command.input_accepted"), 2);
    assert_eq!(get(&node, &id)["input"]["writes"], 2);
    node.verify();
}

/// Proves MACH-009.
#[test]
fn what_a_process_does_not_read_waits_and_is_told_so() {
    let node = Node::start();
    run(&node, ", commandInput: true");
    let id = begin(&node, "sleep 1000");
    let bulk = json!({ "text": "x".repeat(200_000), "input_id": ID, "wait_ms": 50 });
    assert_eq!(write(&node, &id, &bulk).unwrap()["status"], "queued");
    node.connect().try_raw("runtime/process.terminate", json!({ "process_id": id })).unwrap();
    eventually("it has ended", || get(&node, &id)["status"] == "exited");
    eventually("its fate is recorded", || count(&node, "command.input_settled") == 1);
    assert_eq!(write(&node, &id, &bulk).unwrap_err().name(), ErrorName::InvalidState);
}

fn read(node: &Node, id: &str, from: u64) -> Value {
    node.connect().try_raw("runtime/process.read", json!({ "process_id": id, "from": from })).unwrap()
}

/// Reads until a process has ended and nothing comes behind; gives the offset of the first byte, and what there was.
fn read_all(node: &Node, id: &str, from: u64) -> (u64, Vec<u8>) {
    let first = read(node, id, from)["from"].as_u64().unwrap();
    let (mut at, mut all) = (first, Vec::new());
    eventually("it has been read to its end", || {
        loop {
            let part = read(node, id, at);
            assert_eq!(part["from"], at, "nothing is passed over");
            let bytes =
                base64::engine::general_purpose::STANDARD.decode(part["data"].as_str().unwrap()).unwrap();
            at = part["next"].as_u64().unwrap();
            all.extend_from_slice(&bytes);
            if part["end"] == true {
                return true;
            }
            if bytes.is_empty() {
                return false;
            }
        }
    });
    (first, all)
}

/// Proves MACH-011.
#[test]
fn a_process_is_followed_over_the_daemons_death_without_loss_or_double() {
    let mut node = Node::start();
    run(&node, ", commandInput: true");
    let id = begin(&node, "while read line; do seq $line; done; echo over");
    let mut logs = node
        .cli(&["process", "logs", &id, "-f"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut expected = String::new();
    let mut count = |node: &Node, to: u32| {
        eventually("it reads", || write(node, &id, &json!({ "text": format!("{to}\n") })).is_ok());
        (1..=to).for_each(|number| expected.push_str(&format!("{number}\n")));
    };
    count(&node, 1_000);
    // Only a node that was there is waited for.
    let mut followed = std::io::BufReader::new(logs.stdout.take().unwrap());
    let mut said = String::new();
    std::io::BufRead::read_line(&mut followed, &mut said).unwrap();
    node.kill_daemon();
    node.up();
    count(&node, 20_000);
    eventually("it is told that nothing comes", || {
        write(&node, &id, &json!({ "text": "", "close": true })).is_ok()
    });
    expected.push_str("over\n");
    assert_eq!(read_all(&node, &id, 0), (0, expected.clone().into_bytes()));
    assert_eq!(read_all(&node, &id, 5_000), (5_000, expected.as_bytes()[5_000..].to_vec()));
    let past = read(&node, &id, u64::MAX);
    assert_eq!(
        (&past["from"], &past["data"], &past["end"]),
        (&json!(expected.len()), &json!(""), &json!(true))
    );
    std::io::Read::read_to_string(&mut followed, &mut said).unwrap();
    assert!(logs.wait().unwrap().success());
    assert_eq!(said, expected);
    node.verify();
}

/// Proves MACH-011, DRV-058.
#[test]
fn of_a_long_output_more_is_kept_than_its_program_is_shown() {
    let node = Node::start();
    run(&node, "");
    let steps = json!([
        ["create", { "command": "seq", "args": ["1500000"], "outputByteLimit": 20 }],
        ["wait_for_exit", { "terminalId": "T" }],
        ["output", { "terminalId": "T" }],
    ]);
    let text = answer(&ask(&node, "coder", &format!("terminal {steps}"))).text.clone();
    let steps: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&steps[2]["output"], &steps[2]["truncated"]),
        (&json!("998\n1499999\n1500000\n"), &json!(true))
    );
    let id = steps.pointer("/0/terminalId").unwrap().as_str().unwrap();
    let all: String = (1..=1_500_000).map(|number| format!("{number}\n")).collect();
    let kept = usize::try_from(KEPT_BYTES_MAX).unwrap();
    let (from, bytes) = read_all(&node, id, 0);
    assert_eq!(usize::try_from(from).unwrap(), all.len() - kept);
    assert!(bytes == all.as_bytes()[all.len() - kept..], "the last bytes, each once");
    let seen = get(&node, id);
    assert_eq!(seen["output"]["kept_bytes"], KEPT_BYTES_MAX);
    assert_eq!(seen["output"]["digest"], edgeplane_proof::digest(&bytes).to_string());
    node.verify();
}
