//! What the viewer's terminal sees of hostile and of ordinary output.

use super::*;

fn played(viewer: Viewer, parts: &[&[u8]]) -> String {
    let mut filter = Filter::new(viewer);
    let mut out = Vec::new();
    for part in parts {
        filter.feed(part, &mut out);
    }
    out.escape_ascii().to_string()
}

/// The same whether it comes in one piece, in single bytes, or cut in two anywhere.
fn check(viewer: Viewer, bytes: &str, expected: &str) {
    let expected = expected.as_bytes().escape_ascii().to_string();
    let bytes = bytes.as_bytes();
    assert_eq!(played(viewer, &[bytes]), expected, "{}", bytes.escape_ascii());
    assert_eq!(
        played(viewer, &bytes.chunks(1).collect::<Vec<_>>()),
        expected,
        "in bytes: {}",
        bytes.escape_ascii()
    );
    for cut in 0..bytes.len() {
        let (head, tail) = bytes.split_at(cut);
        assert_eq!(played(viewer, &[head, tail]), expected, "cut at {cut}: {}", bytes.escape_ascii());
    }
}

fn check_both(bytes: &str, expected: &str) {
    check(Viewer::Watches, bytes, expected);
    check(Viewer::Controls, bytes, expected);
}

#[test]
fn ordinary_output_is_played_as_it_is() {
    for text in [
        "hello\r\n\tünï€😀\x08\x07",
        "\x1b[1;38:2::1:2:3;48;5;17mx\x1b[0m\x1b[K\x1b[2J\x1b[10;5H\x1b[3A",
        "\x1b[?1049h\x1b[?25l\x1b[?2026h\x1b[?7l\x1b[4 q\x1b[!p\x1b[s\x1b[u\x1b[5r",
        "\x1b(0lqk\x1b(B\x1b7\x1b8\x1bM\x1b=\x1b>\x1bc\x1b#8",
        "\x1b]0;title\x1b\\\x1b]8;;https://e.example\x1b\\link\x1b]8;;\x1b\\\x1b]11;#000\x1b\\",
        "\x1bP0;1q\"1;1;9;9#0;2;0;0;0~-\x1b\\after",
        "\x1b[22;0t\x1b[23;0t\x1b[2;3;4;5$r",
    ] {
        check_both(text, text);
    }
    check_both("\x1b]2;bell\x07x", "\x1b]2;bell\x1b\\x");
}

#[test]
fn questions_never_reach_the_terminal() {
    for question in [
        "\x05",
        "\x1bZ",
        "\x1b[c",
        "\x1b[0c",
        "\x1b[>c",
        "\x1b[>0;0c",
        "\x1b[=c",
        "\x1b[5n",
        "\x1b[6n",
        "\x1b[?6n",
        "\x1b[?996n",
        "\x1b[x",
        "\x1b[1x",
        "\x1b[>q",
        "\x1b[>0q",
        "\x1b[?u",
        "\x1b[?4m",
        "\x1b[?1;1;0S",
        "\x1b[?2026$p",
        "\x1b[4$p",
        "\x1b[1$w",
        "\x1b[1;1;1;1;1;1*y",
        "\x1b[&u",
        "\x1b['|",
        "\x1b[1'z",
        "\x1b[14t",
        "\x1b[18t",
        "\x1b[20t",
        "\x1b[21t",
        "\x1b[>2t",
        "\x1b]4;1;?\x07",
        "\x1b]10;?\x1b\\",
        "\x1b]11;?\x07",
        "\x1b]12;red;?\x07",
        "\x1b]60\x07",
        "\x1b]1337;ReportCellSize\x07",
        "\x1bP$qm\x1b\\",
        "\x1bP+q544e\x1b\\",
        "\x1b_Gi=1,a=q;AAAA\x1b\\",
    ] {
        check_both(&format!("a{question}b"), "ab");
    }
}

#[test]
fn clipboard_keys_printer_window_and_wrapped_sequences_are_kept_away() {
    for bad in [
        "\x1b]52;c;aGk=\x07",
        "\x1b]52;;?\x1b\\",
        "\x1b]052;c;aGk=\x07",
        "\x1b]5522;type=write\x1b\\",
        "\x1b]1337;Copy=:aGk=\x07",
        "\x1b]50;?\x07",
        "\x1b]3;?WM_NAME\x07",
        "\x1b]99;i=1:p=?;\x1b\\",
        "\x1b]9999999999999999999;x\x07",
        "\x1b]\x07",
        "\x1bP1;1|17/726d\x1b\\",
        "\x1bPtmux;\x1b\x1b]52;c;aGk=\x07\x1b\\",
        "\x1b[4i",
        "\x1b[?5i",
        "\x1b[8;10;10t",
        "\x1b[3;0;0t",
        "\x1b[?2l",
    ] {
        let out = played(Viewer::Controls, &[format!("a{bad}b").as_bytes()]);
        assert!(
            !out.contains("\\x1b]") && !out.contains("\\x1bP") && !out.contains("\\x1b["),
            "{bad:?} gave {out}"
        );
        assert!(out.starts_with('a') && out.ends_with('b'), "{bad:?} gave {out}");
    }
}

#[test]
fn second_set_of_controls_begins_nothing() {
    check_both("a\u{9d}52;c;aGk=\u{9c}b", "a52;c;aGk=b");
    check_both("a\u{9b}6nb\u{85}c\u{90}d", "a6nbcd");
    assert_eq!(played(Viewer::Controls, &[b"a\x9b6n\x9d52;c;x\x9c"]), "a6n52;c;x");
}

#[test]
fn only_who_controls_gets_keys_and_mouse_reported() {
    check(
        Viewer::Watches,
        "\x1b[?1000;1006h\x1b[?1049;1003h\x1b[>1u\x1b[>4;2m\x1b[?1000l",
        "\x1b[?1049h\x1b[?1000l",
    );
    let all = "\x1b[?1000;1006h\x1b[?1049;1003h\x1b[>1u\x1b[>4;2m\x1b[>4n\x1b[<u";
    check(Viewer::Controls, all, all);
}

#[test]
fn unfinished_sequence_is_not_played() {
    check_both("a\x1b[31", "a");
    check_both("a\x1b]0;t", "a");
    check_both("a\x1b", "a");
}

#[test]
fn restoring_asks_nothing() {
    let mut out = Vec::new();
    Filter::new(Viewer::Controls).feed(RESTORE, &mut out);
    assert_eq!(out.escape_ascii().to_string(), RESTORE.escape_ascii().to_string());
}

#[test]
fn random_output_never_leaves_a_question() {
    let alphabet: &[&[u8]] = &[
        b"\x1b", b"[", b"]", b"P", b"?", b">", b"=", b"5", b"2", b"6", b"1", b";", b"c", b"n", b"t", b"q",
        b"$", b"p", b"\x07", b"\\", b"\x05", b"u", b"x", b"\x9b", b"\xc2", b"\xe2", b"\x82", b"\x18", b"a",
        b" ", b"_", b"i",
    ];
    let mut seed: u64 = 0x9e37_79b9_7f4a_7c15;
    for round in 0..20_000_u32 {
        let mut bytes = Vec::new();
        for _piece in 0..12 {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            let index = usize::try_from(seed % alphabet.len() as u64).unwrap();
            bytes.extend_from_slice(alphabet[index]);
        }
        let mut once = Vec::new();
        Filter::new(Viewer::Controls).feed(&bytes, &mut once);
        let mut twice = Vec::new();
        Filter::new(Viewer::Controls).feed(&once, &mut twice);
        assert_eq!(once, twice, "round {round}: {} gave {}", bytes.escape_ascii(), once.escape_ascii());
    }
}
