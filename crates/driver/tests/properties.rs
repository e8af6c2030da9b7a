//! What holds for every envelope, every content and every name.
#![expect(clippy::unwrap_used, reason = "a test")]

use edgeplane_driver::{
    native,
    render::{
        ADDRESS_BYTES_MAX, Attempt, Bounds, Heading, Quotation, Rendered, clean, header, rehydration, render,
    },
    terminal::{self, Typing},
};
use edgeplane_testkit::forgery::{self, acting, mistakable, read};
use edgeplane_testkit::sample;
use edgeplane_types::{
    AgentId, AgentName, Assurance, Authority, Channel, ContentOrigin, Continuity, DeliveryMode, Envelope,
    Epoch, Ingress, MessageId, OnBehalfOf, Part, Priority, Proof, SafeLabel, Source, fact::Cause,
};
use proptest::prelude::*;
use serde_json::Value;

/// Words and signs that attempts are made of.
fn piece() -> impl Strategy<Value = String> {
    let pieces = vec![
        "[",
        "]",
        "(",
        "\u{ff3b}",
        "OPERATOR",
        "SYSTEM",
        " ",
        "\t",
        " MESSAGE ",
        "mes",
        "SAGE",
        "from ",
        "root",
        " on signal]",
        ">",
        ">>>",
        "<<<",
        "| ",
        "|",
        "origin: ",
        "on behalf of ",
        "> ",
        "# ",
        "\\",
        "…",
        "bytes in all",
        "OWN OUTPUT",
        "\n",
        "\r",
        "\r\n",
        "\u{85}",
        "\u{2028}",
        "\u{b}",
        "\u{1b}",
        "\u{1b}[2J",
        "\u{1b}]0;",
        "\u{7}",
        "\u{9b}",
        "\u{200b}",
        "\u{200d}",
        "\u{202e}",
        "\u{301}",
        "\u{e0041}",
        "\u{fe0f}",
        "👩",
        "\0",
        "070707070707",
    ];
    prop_oneof![
        6 => prop::sample::select(pieces).prop_map(str::to_owned),
        1 => any::<String>(),
        1 => any::<char>().prop_map(String::from),
    ]
}

fn content() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..40).prop_map(|pieces| pieces.concat())
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        4 => content().prop_map(|text| Part::Text { text }),
        1 => (content(), content()).prop_map(|(key, value)| Part::Data { data: serde_json::json!({ key: [value] }) }),
        1 => (content(), prop::option::of(content())).prop_map(|(uri, digest)| Part::Reference { uri, digest }),
    ]
}

fn one_of<T: Copy + std::fmt::Debug + 'static>(all: &'static [T]) -> impl Strategy<Value = T> {
    prop::sample::select(all)
}

fn label() -> impl Strategy<Value = SafeLabel> {
    any::<String>().prop_map(|text| SafeLabel::sanitized(&text))
}

prop_compose! {
    fn behalf()(principal in label(), authority in one_of(Authority::ALL), proven in any::<bool>()) -> OnBehalfOf {
        OnBehalfOf { principal, authority, message_id: None, proven }
    }
}

prop_compose! {
    fn origin()(uri in prop::option::of(content()), tool in prop::option::of(label())) -> ContentOrigin {
        ContentOrigin { uri, tool, retrieved_at: None }
    }
}

prop_compose! {
    fn envelope()(
        channel in one_of(Channel::ALL),
        ingress in one_of(Ingress::ALL),
        authority in one_of(Authority::ALL),
        random in any::<[u8; 10]>(),
        (principal, display_name, digest) in (label(), content(), content()),
        on_behalf_of in prop::collection::vec(behalf(), 0..12),
        origin in prop::option::of(origin()),
    ) -> Envelope {
        Envelope {
            id: MessageId::from_parts(1, random),
            target: AgentId::from_parts(1, [1; 10]),
            channel,
            ingress,
            source: Source {
                principal,
                agent_id: None,
                display_name: Some(display_name),
                proof: Proof::Uid,
                assurance: Assurance::Open,
            },
            authority,
            on_behalf_of,
            topic: None,
            origin,
            rule: None,
            thread: None,
            into_turn: None,
            fence: None,
            reply_to: None,
            causation: None,
            hops: 0,
            mode: DeliveryMode::Queue,
            priority: Priority::Normal,
            expires_at: None,
            idempotency_key: None,
            traceparent: None,
            content_digest: digest,
            content_bytes: 12_345,
        }
    }
}

fn native_text(envelope: &Envelope, parts: &[Part], attempt: Attempt, bounds: Bounds) -> String {
    let line = native::deliver(envelope, parts, attempt, bounds);
    let value: Value = serde_json::from_slice(&line).unwrap();
    value["params"]["text"].as_str().unwrap().to_owned()
}

/// What a terminal's session reads, without the comment sign of the node's lines.
fn terminal_text(rendered: &Rendered, comment: &str) -> String {
    let typing = Typing { comment: Some(comment.to_owned()), submit: b"\n".to_vec() };
    let typed = String::from_utf8(terminal::keys(rendered, &typing)).unwrap();
    let lines: Vec<&str> = typed.strip_suffix('\n').unwrap().split('\n').collect();
    let (first, last) = (rendered.head.len(), rendered.head.len() + rendered.body.len());
    let plain = lines.iter().enumerate().map(|(at, line)| {
        if (first..last).contains(&at) { *line } else { line.strip_prefix(comment).unwrap() }
    });
    plain.collect::<Vec<_>>().join("\n")
}

proptest! {
    /// Proves MSG-029.
    #[test]
    fn every_driver_shows_the_same_bytes(
        envelope in envelope(),
        parts in prop::collection::vec(part(), 0..5),
        again in any::<bool>(),
        content_bytes in 0_usize..400,
        comment in prop::sample::select(vec!["# ", "// ", "-- ", "", "REM "]),
    ) {
        let attempt = if again { Attempt::Again } else { Attempt::First };
        let bounds = Bounds { content_bytes, ..Bounds::TERMINAL };
        let rendered = render(&envelope, &parts, attempt, bounds);
        prop_assert_eq!(native_text(&envelope, &parts, attempt, bounds), terminal_text(&rendered, comment));
    }

    /// Proves MSG-001, MSG-003, MSG-004, MSG-020, MSG-022, MSG-027.
    #[test]
    fn a_strict_reader_finds_the_truth_in_every_message(
        envelope in envelope(),
        parts in prop::collection::vec(part(), 0..5),
        again in any::<bool>(),
        content_bytes in prop_oneof![0_usize..400, Just(1 << 20)],
    ) {
        let attempt = if again { Attempt::Again } else { Attempt::First };
        let rendered = render(&envelope, &parts, attempt, Bounds { content_bytes, ..Bounds::NATIVE });
        let text = rendered.text();
        prop_assert_eq!(acting(&text), None);
        let seen = read(&text, "").map_err(TestCaseError::fail)?;
        prop_assert_eq!(mistakable(&seen), None);
        prop_assert_eq!(seen.channel, envelope.channel.as_str().to_uppercase());
        prop_assert_eq!(&seen.principal, envelope.source.principal.as_str());
        prop_assert_eq!(seen.ingress, envelope.ingress.as_str());
        prop_assert_eq!(seen.is_again, again);
        prop_assert_eq!(seen.origin.is_some(), envelope.origin.is_some());
        prop_assert_eq!(seen.behalf.len(), envelope.on_behalf_of.len().min(9));
        prop_assert_eq!(seen.preview.is_some(), rendered.is_preview);
        let is_found = matches!(envelope.channel, Channel::Tool | Channel::Document | Channel::Web);
        let fence = (envelope.authority > Authority::Delegated || is_found).then_some(envelope.authority.as_str());
        prop_assert_eq!(seen.fence.as_ref().map(|(authority, _)| authority.as_str()), fence);
        if let Some(origin) = seen.origin {
            prop_assert!(origin.len() <= ADDRESS_BYTES_MAX + ", cut, tool ".len() + 128);
            prop_assert!(origin.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._~:/?#@+,=% ".contains(&b)));
        }
        let shown: usize = rendered.body.iter().map(|line| line.len()).sum();
        prop_assert!(shown <= content_bytes.saturating_mul(4), "{} of {}", shown, content_bytes);
    }

    /// Proves MSG-023.
    #[test]
    fn no_disguise_saves_a_header_from_its_backslash(
        disguises in prop::collection::vec(0_u8..10, 19),
        lead in "[ #>*/a-z]{0,90}",
    ) {
        let mut line = format!("{lead}[");
        for (c, disguise) in "OPERATORMESSAGEFROM".chars().zip(disguises) {
            let place = u32::from(c) - u32::from('A');
            let styled = |first: u32| char::from_u32(first + place).unwrap().to_string();
            line.push_str(&match disguise {
                0 => c.to_string(),
                1 => c.to_lowercase().to_string(),
                2 => styled(0xff21),
                3 => styled(0x1d41a),
                4 => styled(0x24b6),
                5 => format!("{c}\u{301}\u{20dd}"),
                6 => format!("{c}\u{200b}"),
                7 => format!("{c} \u{1b}[0m"),
                8 => format!("\u{202e}{c}\t"),
                _ => format!("{c}\u{e0041}\0"),
            });
        }
        let shown = render(&plain(Channel::Peer), &[Part::Text { text: line }], Attempt::First, Bounds::NATIVE);
        prop_assert!(shown.body.iter().any(|line| line.contains("\\[")), "{:?}", shown.body);
    }

    /// Proves MSG-004, MSG-025.
    #[test]
    fn what_is_clean_stays_as_it_is(text in content()) {
        let cleaned = clean(&text);
        prop_assert_eq!(acting(&cleaned.replace('\t', "")), None);
        prop_assert_eq!(clean(&cleaned), cleaned);
    }

    /// Proves MSG-005.
    #[test]
    fn plain_words_are_shown_as_they_were_sent(text in "[a-z ,.!?äöü漢]{0,60}") {
        prop_assume!(!text.starts_with("on behalf of"));
        let envelope = Envelope { origin: None, on_behalf_of: Vec::new(), ..plain(Channel::Peer) };
        let parts = [Part::Text { text: text.clone() }];
        let shown = render(&envelope, &parts, Attempt::First, Bounds::NATIVE);
        prop_assert_eq!(shown.body.join("\n"), text);
    }

    /// Proves MSG-030.
    #[test]
    fn no_name_that_a_shell_would_run_reaches_a_header(
        name in prop_oneof![
            content(),
            "[$`'\";|&<>(){}\\n\\r a-z]{0,40}",
            Just("$(id)".to_owned()),
            Just("`id`".to_owned()),
            Just("a\nrm -rf /".to_owned()),
            "[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?",
        ],
        channel in one_of(Channel::ALL),
        ingress in one_of(Ingress::ALL),
        again in any::<bool>(),
    ) {
        let attempt = if again { Attempt::Again } else { Attempt::First };
        let labels = [
            Some(SafeLabel::sanitized(&name)),
            name.parse::<SafeLabel>().ok(),
            name.parse::<AgentName>().ok().map(|name| SafeLabel::from(&name)),
            serde_json::from_value::<SafeLabel>(Value::String(name.clone())).ok(),
        ];
        for principal in labels.iter().flatten() {
            let line = header(Heading { channel, principal, ingress, attempt });
            let read = forgery::header(&line);
            let truth = (channel.as_str().to_uppercase(), principal.to_string(), ingress.to_string(), again);
            prop_assert_eq!(read, Some(truth), "{:?}", line);
        }
        // A display name and a topic are in the envelope and in no line of what is shown.
        let topic = labels.into_iter().flatten().next();
        let mut envelope = Envelope { channel, ingress, topic, ..plain(channel) };
        envelope.source.display_name = Some(name);
        let shown = render(&envelope, &[], attempt, Bounds::NATIVE);
        let bare = Envelope { topic: None, source: Source { display_name: None, ..envelope.source.clone() }, ..envelope };
        prop_assert_eq!(shown, render(&bare, &[], attempt, Bounds::NATIVE));
    }

    /// Proves MSG-031, MSG-032, MSG-033.
    #[test]
    fn a_quotation_is_the_original_behind_a_sign(
        messages in prop::collection::vec((envelope(), part()), 0..6),
        output in content(),
        quoted_bytes in 0_usize..4_000,
    ) {
        let bounds = Bounds { content_bytes: 300, quoted_bytes };
        let originals: Vec<(MessageId, Rendered)> = messages
            .iter()
            .map(|(envelope, part)| {
                (envelope.id, render(envelope, std::slice::from_ref(part), Attempt::First, bounds))
            })
            .collect();
        let mut items: Vec<Quotation<'_>> =
            originals.iter().map(|(id, rendered)| Quotation::Message { id: *id, rendered }).collect();
        items.push(Quotation::Turn { message_id: None, text: &output });
        let principal = SafeLabel::sanitized("vm");
        let facts = edgeplane_driver::render::Facts {
            principal: &principal,
            epoch: Epoch(2),
            cause: Cause::RestartPolicy,
            last_end: None,
            continuity: Continuity::Partial,
            open_turn: None,
            waiting: &[],
            waiting_count: 0,
        };
        let shown = rehydration(&facts, &items, bounds);
        prop_assert!(forgery::header(&shown.head[0]).is_some());
        let quoted: Vec<&str> = shown.head.iter().map(String::as_str).skip_while(|line| !line.starts_with("> ")).collect();
        // From the first quotation on every line is one, and no other line begins with a bracket.
        prop_assert!(quoted.iter().all(|line| line.starts_with("> ")), "{:?}", quoted);
        prop_assert!(shown.head.iter().skip(1).all(|line| !line.starts_with('[')));
        let bytes: usize = quoted.iter().map(|line| line.len() + 1).sum();
        prop_assert!(bytes <= quoted_bytes);
        // Without the sign, what is quoted of messages is a row of originals, byte for byte.
        let mut rest: Vec<&str> = quoted.iter().map(|line| line.strip_prefix("> ").unwrap()).collect();
        for (_, rendered) in &originals {
            let lines: Vec<&str> = rendered.lines().collect();
            if rest.starts_with(&lines) {
                rest.drain(..lines.len());
            }
        }
        prop_assert!(rest.is_empty() || rest[0] == "[OWN OUTPUT turn]", "{:?}", rest);
        prop_assert!(rest.iter().skip(1).all(|line| line.starts_with("| ") || line.starts_with("[… ")));
    }
}

fn plain(channel: Channel) -> Envelope {
    Envelope { channel, ..sample::envelope() }
}
