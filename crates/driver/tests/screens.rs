//! Adapters on screens of real programs, on the same screens with one glyph changed, and on screens of nobody.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on ends at once")]

use std::{fs, path::PathBuf, sync::OnceLock};

use edgeplane_driver::screen::{
    ADAPTER_BYTES_MAX, Adapter, Fixture, Held, Row, SHIPPED, ScreenState, ScreenView, shipped,
};
use proptest::prelude::*;

/// Rows from the bottom in which glyphs are changed: more than any rule looks at.
const ROWS: usize = 16;

fn fixtures(name: &str) -> Vec<(String, Fixture)> {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/screens").join(name);
    let mut found: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let state = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (state, Fixture::parse(&fs::read_to_string(&path).unwrap()).unwrap())
        })
        .collect();
    found.sort_by(|one, other| one.0.cmp(&other.0));
    assert!(found.len() >= 3, "{name} has {} screens", found.len());
    found
}

/// The state that a file's name begins with.
fn expected(state: &str) -> ScreenState {
    match state.split('-').next().unwrap() {
        "idle" => ScreenState::Idle,
        "busy" => ScreenState::Busy,
        "dialog" => ScreenState::Dialog,
        "quota" => ScreenState::QuotaPaused,
        "error" => ScreenState::Error,
        "unknown" => ScreenState::Unknown,
        other => panic!("no state begins with {other}"),
    }
}

fn each_fixture_is_read(name: &str) {
    let adapter = shipped(name).unwrap();
    for (state, fixture) in fixtures(name) {
        let reading = adapter.read(&fixture.view);
        assert_eq!(reading.state, expected(&state), "{name} {state}: {reading:?}");
        let is_recorded = adapter.recorded.iter().any(|version| fixture.program.contains(version.as_str()));
        assert!(is_recorded, "{name} {state}: recorded from {}", fixture.program);
        let holds = |text: &str| reading.composer.as_ref().map(|composer| composer.holds(text));
        let long: Vec<String> = (0..50).map(|line| format!("line {line} grüße 你好 🙂")).collect();
        match state.as_str() {
            "idle-filled" | "idle-filled-interrupted" => {
                assert_eq!(holds("something else"), Some(Held::Other), "{name}: {reading:?}")
            }
            "idle-pasted-long" => {
                assert_eq!(holds(&long.join("\n")), Some(Held::Ours), "{name}: {reading:?}")
            }
            "quota-pasted-placeholder" => assert_eq!(holds("any"), Some(Held::Ours), "{name}: {reading:?}"),
            "idle-pasted" => {
                let text = "[OPERATOR MESSAGE from root on signal]\nplease say grüße 你好\nthird";
                let other = "[OPERATOR MESSAGE from root on signal]\nplease answer\nthird";
                let text = if name == "aider" { other } else { text };
                assert_eq!(holds(text), Some(Held::Ours), "{name}: {reading:?}");
            }
            _ if state.starts_with("idle") => {
                assert_eq!(holds("any"), Some(Held::Nothing), "{name} {state}: {reading:?}");
            }
            _ => {}
        }
    }
}

/// Changes one glyph after another; of a run of equal ones the first, the middle and the last.
fn one_glyph_never_gives_another_state(name: &str) {
    let adapter = shipped(name).unwrap();
    let (mut changed, mut unknown) = (0, 0);
    for (state, fixture) in fixtures(name) {
        let was = adapter.read(&fixture.view).state;
        let rows: Vec<usize> =
            (0..fixture.view.rows.len()).filter(|row| !fixture.view.rows[*row].text.is_empty()).collect();
        for row in rows.iter().rev().take(ROWS) {
            let letters: Vec<char> = fixture.view.rows[*row].text.chars().collect();
            for index in 0..letters.len() {
                let same = |other: Option<&char>| other == Some(&letters[index]);
                let is_inner = index > 0 && same(letters.get(index - 1)) && same(letters.get(index + 1));
                if letters[index] == ' ' || (is_inner && index != letters.len() / 2) {
                    continue;
                }
                for glyph in ['x', '~'] {
                    let mut view = fixture.view.clone();
                    let mut text = letters.clone();
                    text[index] = glyph;
                    view.rows[*row].text = text.into_iter().collect();
                    let now = adapter.read(&view).state;
                    let is_safe = now == was || now == ScreenState::Unknown;
                    assert!(
                        is_safe,
                        "{name} {state} row {row} column {index} {glyph}: {now:?}\n{}",
                        view.rows[*row].text
                    );
                    changed += 1;
                    unknown += usize::from(now == ScreenState::Unknown && was != ScreenState::Unknown);
                }
            }
        }
    }
    assert!(changed > 0 && unknown > 0, "{name}: {changed} changes, {unknown} of them not understood");
}

macro_rules! programs {
    ($($test:ident $name:literal),+ $(,)?) => {
        const PROGRAMS: &[&str] = &[$($name),+];

        $(
            /// Proves TERM-001, TERM-002.
            #[test]
            fn $test() {
                each_fixture_is_read($name);
                one_glyph_never_gives_another_state($name);
            }
        )+
    };
}

programs! {
    screens_of_aider "aider",
    screens_of_bash "bash",
    screens_of_claude_code "claude-code",
    screens_of_codex "codex",
    screens_of_gemini_cli "gemini-cli",
    screens_of_node "node",
    screens_of_opencode "opencode",
    screens_of_python "python",
    screens_of_qwen_code "qwen-code",
}

#[test]
fn every_adapter_that_comes_along_has_screens() {
    let names: Vec<&str> = SHIPPED.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, PROGRAMS);
    for (name, text) in SHIPPED {
        assert_eq!(Adapter::parse(text).unwrap_or_else(|error| panic!("{name}: {error}")).name, *name);
    }
}

/// The states that the guide's table has a column for, behind the one for what stands in the composer.
const STATES: [ScreenState; 5] =
    [ScreenState::Idle, ScreenState::Busy, ScreenState::Dialog, ScreenState::QuotaPaused, ScreenState::Error];

/// Proves TERM-026.
#[test]
fn the_guide_shows_a_screen_or_a_reason_for_each_state() {
    let page = include_str!("../../../docs/guide/terminals.md");
    let head = "| program | composer | idle | busy | dialog | quota_paused | error |";
    let rows: Vec<&str> =
        page.lines().skip_while(|line| *line != head).skip(2).take_while(|line| !line.is_empty()).collect();
    assert_eq!(rows.len(), PROGRAMS.len());
    for (row, name) in rows.iter().zip(PROGRAMS) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [program, composer, states @ ..] = cells.as_slice() else { panic!("{row}") };
        assert_eq!(program.trim_matches('`'), *name);
        let adapter = shipped(name).unwrap();
        let screens = fixtures(name);
        let shown = |cell: &str| {
            let (_, fixture) = screens.iter().find(|(state, _)| state == cell.trim_matches('`')).unwrap();
            adapter.read(&fixture.view)
        };
        assert!(!shown(composer).composer.unwrap().is_empty(), "{name}: {composer}");
        assert_eq!(states.len(), STATES.len(), "{name}");
        for (cell, state) in states.iter().zip(STATES) {
            if let Some(reason) = cell.strip_prefix("none: ") {
                assert!(reason.len() > 5, "{name} {state:?}: {reason}");
                let all = screens.iter().filter(|(screen, _)| expected(screen) == state);
                assert_eq!(all.count(), 0, "{name} has a screen of {state:?}");
            } else {
                assert_eq!(shown(cell).state, state, "{name}: {cell}");
            }
        }
    }
}

/// Proves TERM-025.
#[test]
fn what_a_turn_said_is_over_with_the_next() {
    let mut checked = 0;
    for name in PROGRAMS {
        let all = fixtures(name);
        for (_, fixture) in all.iter().filter(|(state, _)| state == "idle-after-error") {
            let text = |row: &Row| row.text.contains("Error") || row.text.contains("■ ");
            assert!(fixture.view.rows.iter().any(text), "{name}: the error is still in sight");
            assert_eq!(shipped(name).unwrap().read(&fixture.view).state, ScreenState::Idle, "{name}");
            checked += 1;
        }
    }
    assert_eq!(checked, 5);
}

/// Proves TERM-010.
#[test]
fn a_wrong_adapter_is_refused_with_its_line() {
    let check = |wrong: &str, line: usize, what: &str| {
        let error = Adapter::parse(wrong).unwrap_err();
        assert_eq!(error.line, line, "{error}");
        assert!(error.to_string().contains(what), "{error}");
    };
    let right = "name = \"a\"\ntitle = \"A\"\npaste = \"bracketed\"\nsubmit = \"\\r\"\n[composer]\nprompt = '^>'\n\
                 [[state]]\nis = \"idle\"\nname = \"i\"\ncomposer = \"present\"\n";
    Adapter::parse(right).unwrap();
    check(&right.replace("'^>'", "'^(>'"), 6, "is no pattern");
    check(&right.replace("'^>'", "'(?:a{1000}){1000}'"), 6, "is no pattern");
    check(&right.replace("'^>'", &format!("'{}'", "a".repeat(513))), 6, "1 to 512 bytes");
    check(&right.replace("\"a\"", "\"../a\""), 1, "a name has");
    check(&right.replace("submit = \"\\r\"", "submit = \"\""), 4, "keys have");
    check(&right.replace("name = \"i\"", "nome = \"i\""), 9, "unknown field");
    check(&right.replace("composer = \"present\"\n", "all = ['a']\n"), 7, "idle needs a composer");
    check(&right.replace("is = \"idle\"", "is = \"unknown\""), 7, "without a rule");
    let items = "composer = \"present\"\nitems = 2\n";
    check(&right.replace("composer = \"present\"\n", items), 7, "`items` needs `item`");
    check(&" ".repeat(ADAPTER_BYTES_MAX + 1), 1, "at most");
}

/// Every adapter, read once.
fn adapters() -> &'static [Adapter] {
    static ALL: OnceLock<Vec<Adapter>> = OnceLock::new();
    ALL.get_or_init(|| PROGRAMS.iter().map(|name| shipped(name).unwrap()).collect())
}

fn some_view() -> impl Strategy<Value = ScreenView> {
    let row = ("(\\PC|[>›❯┃─│ ]){0,60}", proptest::collection::vec((0_usize..80, 0_usize..80), 0..4));
    let rows = proptest::collection::vec(row, 0..40);
    (rows, any::<(u16, u16)>(), 0_u16..50).prop_map(|(rows, far, near)| ScreenView {
        rows: rows.into_iter().map(|(text, faint)| Row { faint, ..Row::plain(&text) }).collect(),
        cursor: if far.1 % 2 == 0 { (near, far.1) } else { far },
        alternate: false,
        takes_paste: true,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Proves TERM-002.
    #[test]
    fn any_screen_is_read(view in some_view(), text in "\\PC{0,40}") {
        for adapter in adapters() {
            let reading = adapter.read(&view);
            if let Some(composer) = reading.composer {
                let (from, to) = composer.rows;
                prop_assert!(from <= usize::from(view.cursor.0) && usize::from(view.cursor.0) < to);
                let _any = composer.holds(&text);
            }
        }
    }

    /// A screen that is written down is read as it was.
    #[test]
    fn a_recorded_screen_is_read_back(view in some_view()) {
        let rows = view.rows.iter().map(|row| Row { faint: Vec::new(), ..row.clone() }).collect();
        let fixture = Fixture { program: "some 1.0".into(), view: ScreenView { rows, ..view } };
        prop_assert_eq!(Fixture::parse(&fixture.text()), Ok(fixture));
    }

    /// Proves TERM-010.
    #[test]
    fn any_text_is_an_adapter_or_an_error_with_a_line(text in "\\PC{0,400}") {
        if let Err(error) = Adapter::parse(&text) {
            prop_assert!(error.line >= 1);
        }
        drop(Fixture::parse(&text));
    }
}
