//! How one-shot programs are called and read, with lines of real ones.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn plan(output: Output) -> Plan {
    let pointer = |at: &str| (output != Output::Text).then(|| at.to_owned());
    Plan {
        program: vec!["agent".to_owned(), "--quiet".to_owned()],
        first: vec!["-p".to_owned(), "{prompt}".to_owned()],
        resume: Some(vec!["--resume".to_owned(), "{session}".to_owned(), "{prompt}".to_owned()]),
        prompt: PromptBy::Argument,
        output,
        session: pointer("/session_id"),
        answer: pointer("/result"),
        lost: None,
        timeout_ms: 1_000,
    }
}

fn read(plan: &Plan, chunks: &[&[u8]]) -> (Vec<Piece>, TurnEnd) {
    let mut reader = Reader::new(plan);
    let mut pieces: Vec<Piece> = chunks.iter().flat_map(|chunk| reader.feed(chunk)).collect();
    let (rest, end) = reader.finish();
    pieces.extend(rest);
    (pieces, end)
}

fn text(pieces: &[Piece]) -> String {
    let texts = pieces.iter().filter_map(|piece| match piece {
        Piece::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// What each piece is, in a word.
fn kinds(pieces: &[Piece]) -> Vec<String> {
    let kind = |piece: &Piece| match piece {
        Piece::Text(text) => format!("text {text}"),
        Piece::Thought(text) => format!("thought {text}"),
        Piece::Tool { call, status, .. } => format!("tool {call} {status}"),
        Piece::Session(name) => format!("session {name}"),
        Piece::Log(_) => "log".to_owned(),
        Piece::Note(_) => "note".to_owned(),
    };
    pieces.iter().map(kind).collect()
}

/// Proves DRV-030.
#[test]
fn templates_are_filled_in_argument_by_argument() {
    let plan = plan(Output::Text);
    let prompt = "[PEER] '; {session} $(x)";
    assert_eq!(plan.command(None, "new", prompt), ["agent", "--quiet", "-p", prompt]);
    assert_eq!(plan.command(Some("s-1"), "new", prompt), ["agent", "--quiet", "--resume", "s-1", prompt]);
    let forgetful = Plan { resume: None, ..plan.clone() };
    assert_eq!(forgetful.command(Some("s-1"), "new", "x"), ["agent", "--quiet", "-p", "x"]);
    assert!(plan.names_sessions() && !forgetful.names_sessions());
    assert_eq!(Plan::read(&plan.text()).unwrap(), plan);
    assert!(Plan::read("{}").is_err());
}

/// Proves DRV-033.
#[test]
fn lines_of_three_programs_are_read() {
    let claude = br#"{"type":"system","subtype":"init","session_id":"f103"}
{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"hm"},{"type":"tool_use","id":"c1","name":"Bash","input":{"command":"ls"}}],"usage":{"input_tokens":1}},"session_id":"f103"}
{"type":"user","message":{"role":"user","content":[{"tool_use_id":"c1","type":"tool_result","content":"no","is_error":true},{"type":"text","text":"not its own"}]},"session_id":"f103"}
{"type":"assistant","message":{"content":[{"type":"text","text":"done"}]},"session_id":"f103"}
{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"f103","total_cost_usd":0.25,"usage":{"input_tokens":9,"output_tokens":2,"server_tool_use":{}}}
"#;
    let (pieces, end) = read(&plan(Output::StreamJson), &[claude]);
    assert_eq!(
        kinds(&pieces),
        ["session f103", "thought hm", "tool c1 pending", "tool c1 failed", "text done"]
    );
    let usage = end.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (Some(9), Some(2)));
    assert_eq!(
        (usage.cost.as_deref(), end.answer.as_deref(), end.failure),
        (Some("0.25 USD"), Some("done"), None)
    );

    let codex = br#"{"type":"thread.started","thread_id":"01a2"}
{"type":"item.completed","item":{"id":"item_0","type":"error","message":"Model metadata not found"}}
{"type":"turn.started"}
{"type":"item.started","item":{"id":"item_1","type":"command_execution","command":"ls","status":"in_progress"}}
{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"ls","exit_code":0,"status":"completed"}}
{"type":"item.completed","item":{"id":"item_2","type":"agent_message","text":"it is made"}}
{"type":"turn.completed","usage":{"input_tokens":15261,"output_tokens":9}}
"#;
    let plan_of_codex =
        Plan { session: Some("/thread_id".to_owned()), answer: None, ..plan(Output::StreamJson) };
    let (pieces, end) = read(&plan_of_codex, &[codex]);
    assert_eq!(
        kinds(&pieces),
        ["session 01a2", "tool item_1 in_progress", "tool item_1 completed", "text it is made"]
    );
    assert_eq!((end.answer, end.usage.unwrap().input_tokens), (None, Some(15_261)));

    let gemini = br#"{"type":"init","session_id":"1c0b","model":"m"}
{"type":"message","role":"user","content":"what was it"}
{"type":"tool_use","tool_name":"read_file","tool_id":"t1","parameters":{}}
{"type":"tool_result","tool_id":"t1","status":"success","output":"x"}
{"type":"message","role":"assistant","content":"saff","delta":true}
{"type":"message","role":"assistant","content":"ron","delta":true}
{"type":"result","status":"success","stats":{"total_tokens":5961,"input_tokens":5956,"output_tokens":5}}
"#;
    let (pieces, end) = read(&plan(Output::StreamJson), &[gemini]);
    assert_eq!(
        kinds(&pieces),
        ["session 1c0b", "tool t1 pending", "tool t1 completed", "text saff", "text ron"]
    );
    assert_eq!(end.usage.unwrap().total_tokens, Some(5_961));
}

/// Proves DRV-033.
#[test]
fn document_is_read_whole_or_shown_as_it_is() {
    let document = b"warning: old\n{\"session_id\":\"s\",\"result\":\"done\",\"is_error\":true}\n";
    let (pieces, end) = read(&plan(Output::Json), &[&document[..20], &document[20..]]);
    assert_eq!(kinds(&pieces), ["session s", "text done"]);
    assert_eq!(end.failure.as_deref(), Some("done"));
    let (pieces, _) = read(&plan(Output::Json), &[b"no JSON\n"]);
    assert_eq!(kinds(&pieces), ["note", "text no JSON"]);
    assert!(read(&plan(Output::Json), &[]).0.is_empty());
}

/// Proves DRV-039.
#[test]
fn names_of_sessions_cannot_pass_for_options() {
    for name in ["--yolo", "", "two words", "line\\nline", &"x".repeat(300)] {
        let line = format!("{{\"session_id\":\"{name}\"}}\n");
        assert!(read(&plan(Output::StreamJson), &[line.as_bytes()]).0.is_empty(), "{name}");
    }
}

/// Proves DRV-039.
#[test]
fn too_much_is_cut_and_said() {
    let block = vec![b'x'; 3 << 20];
    let (pieces, _) = read(&plan(Output::Text), &[block.as_slice(); 8]);
    assert_eq!(text(&pieces).len(), 15 << 20);
    assert_eq!(pieces.iter().filter(|piece| matches!(piece, Piece::Note(_))).count(), 1);
    let (pieces, _) =
        read(&plan(Output::StreamJson), &[&block, &block, &block, b"\n", b"{\"session_id\":\"s\"}\n"]);
    assert_eq!(kinds(&pieces), ["note", "session s"]);
    let (pieces, end) = read(&plan(Output::Json), &[block.as_slice(); 8]);
    assert_eq!((kinds(&pieces[..2]), end.answer), (vec!["note".to_owned(), "note".to_owned()], None));
}

/// Proves DRV-031.
#[test]
fn runner_and_node_understand_each_other() {
    use edgeplane_types::MessageId;
    let id = MessageId::from_parts(1, [1; 10]);
    let line = crate::acp::prompt("s-1", id, &["contract", "text"]);
    let Asked::Prompt { id: asked_id, former, texts, trace: None } = asked(&line) else {
        panic!("no prompt")
    };
    assert_eq!((former.as_deref(), texts.len()), (Some("s-1"), 2));
    assert!(matches!(asked(&crate::acp::prompt("", id, &["x"])), Asked::Prompt { former: None, .. }));
    assert_eq!(asked(&crate::acp::cancel("exec")), Asked::Cancel);
    assert_eq!(asked(b"nonsense"), Asked::Unknown { id: None });

    let usage =
        crate::acp::Usage { input_tokens: Some(7), cost: Some("0.25 USD".to_owned()), ..Default::default() };
    let end = TurnEnd { answer: Some("done".to_owned()), usage: Some(usage.clone()), failure: None };
    let heard = crate::acp::hear(&answered(&asked_id, "end_turn", &end));
    let crate::acp::Heard::Answer(crate::acp::Asked::Prompt(of), Ok(value)) = heard else {
        panic!("{heard:?}")
    };
    assert_eq!((of, &value["stopReason"], &value["answer"]), (id, &json!("end_turn"), &json!("done")));
    assert_eq!(value.get("usage").and_then(crate::acp::Usage::read), Some(usage));

    let name = Told::Session { name: "s-2".to_owned(), way: Way::New, lost: Some("gone".to_owned()) };
    assert_eq!(told(&session_is("s-2", Way::New, Some("gone"))), Some(name));
    let note = Told::Report { kind: "stderr".to_owned(), text: "a\nb".to_owned() };
    assert_eq!(told(&report("stderr", "a\nb")), Some(note));
    assert_eq!(told(&piece(&Piece::Text("x".to_owned())).unwrap()), None);
    let tool =
        Piece::Tool { call: "c".to_owned(), status: "pending", value: Value::from("x".repeat(2 << 20)) };
    assert!(piece(&tool).unwrap().len() < 1_000, "what is too large is a note of its size");
}

proptest! {
    /// Proves DRV-039.
    #[test]
    fn whatever_comes_is_read_and_text_is_the_same_however_it_is_cut(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        said in "[ -~\\n\u{e4}\u{20ac}\u{1f600}]{0,80}",
        at in any::<prop::sample::Index>(),
    ) {
        for output in [Output::Text, Output::Json, Output::StreamJson] {
            let (left, right) = bytes.split_at(at.index(bytes.len() + 1));
            read(&plan(output), &[left, right]);
        }
        let (left, right) = said.as_bytes().split_at(at.index(said.len() + 1));
        let (pieces, _) = read(&plan(Output::Text), &[left, right]);
        prop_assert_eq!(text(&pieces), said.trim_end());
    }
}
