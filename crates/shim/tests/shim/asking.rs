//! What a program asks its terminal: answered at once, in order, and never late.

use edgeplane_wire::{
    shim::{FromShim, InputKind, InputOutcome, Role, ToShim},
    terminal,
};

use crate::harness::{Conn, KEY, Shim, epoch_dir, terminal_spec};

/// Reads so many bytes that are typed and shows them as digits, then a sign.
fn shows(count: usize, sign: char) -> String {
    format!("head -c {count} | od -An -v -tx1 | tr -d ' \\n'; printf '{sign}'; ")
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn reply(conn: &mut Conn, through: u64, bytes: &[u8]) {
    let id = terminal::reply_id(through);
    conn.send(&ToShim::Input { id, kind: InputKind::Keys, bytes });
    let outcome = conn.expect("outcome", |frame| match frame {
        FromShim::Input { id: found, outcome } if *found == id => Some(*outcome),
        _ => None,
    });
    assert_eq!(outcome, InputOutcome::Written);
}

/// SHIM-041
#[test]
fn a_program_is_answered_while_no_daemon_is_there() {
    let dir = epoch_dir();
    let go = dir.path().join("go");
    let answers = [terminal::DEVICE, terminal::BACKGROUND, &terminal::size(80, 24), terminal::WORKS].concat();
    let script = format!(
        "stty raw -echo; while ! test -e {}; do sleep 0.01; done; \
         printf '\\033[c\\033]11;?\\033\\\\\\033[18t\\033[5n'; {} sleep 1000",
        go.display(),
        shows(answers.len(), '!')
    );
    let mut shim = Shim::launch(terminal_spec(dir.path(), &script));
    let mut watcher = shim.connect(KEY, Role::Observe);
    watcher.hello();
    watcher.subscribe();
    // The daemon dies, and nobody who may type is left.
    shim.control = watcher;
    std::fs::write(&go, "").unwrap();
    let shown = shim.control.until_shown("!");
    assert!(shown.ends_with(&format!("{}!", digits(&answers))), "{shown}");
}

/// SHIM-042
#[test]
fn the_place_of_the_cursor_comes_in_its_turn_or_not_at_all() {
    let dir = epoch_dir();
    let place = b"\x1b[1;1R";
    let (both, works) = (place.len() + terminal::DEVICE.len(), terminal::WORKS.len());
    let asks = "printf '\\033[6n\\033[c'; ";
    let script = format!(
        "stty raw -echo; {asks}{}{asks}{}printf '\\033[5n'; {}",
        shows(both, 'A'),
        shows(terminal::DEVICE.len(), 'B'),
        shows(works, 'C')
    );
    let mut shim = Shim::launch(terminal_spec(dir.path(), &script));
    let asked = shim.control.until_shown("\x1b[c").len();
    reply(&mut shim.control, u64::try_from(asked).unwrap(), &[place, terminal::DEVICE].concat());
    let shown = shim.control.until_shown("A");
    assert!(shown.contains(&format!("{}A", digits(&[place, terminal::DEVICE].concat()))), "{shown:?}");
    // Nobody replies; what was asked behind it is answered nevertheless.
    let shown = shim.control.until_shown("B");
    assert!(shown.contains(&format!("[c{}B", digits(terminal::DEVICE))), "{shown:?}");
    reply(&mut shim.control, u64::try_from(shown.len()).unwrap(), place);
    // What came too late was typed to nobody.
    let shown = shim.control.until_shown("C");
    assert!(shown.ends_with(&format!("{}C", digits(terminal::WORKS))), "{shown:?}");
    shim.finish();
}
