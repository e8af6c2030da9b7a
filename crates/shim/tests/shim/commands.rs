//! Commands beside the program: born where it was, run once, known by their files, ended with the epoch.

use std::{fs::File, os::unix::fs::FileExt as _};

use edgeplane_os::Signal;
use edgeplane_types::life::ExitStatus;
use edgeplane_wire::{
    command::{CommandSpec, CommandState, FOLDER, Head, RUNNING_MAX, file_name},
    shim::{FromShim, InputOutcome, Role, ToShim},
};

use crate::{
    cgroups::Group,
    harness::{Conn, KEY, Shim, epoch_dir, eventually, is_alive, spec},
};

fn command(script: &str) -> CommandSpec {
    CommandSpec {
        program: b"sh".to_vec(),
        argv: ["sh", "-c", script].map(|word| word.as_bytes().to_vec()).to_vec(),
        env: vec![b"PATH=/usr/local/bin:/usr/bin:/bin".to_vec()],
        cwd: b"/".to_vec(),
        output_bytes_max: 1 << 20,
        has_input: false,
    }
}

fn run(conn: &mut Conn, id: u8, spec: &CommandSpec) {
    conn.send(&ToShim::Run { id: [id; 16], spec: &spec.encode() });
}

/// Waits until a command is said to be over; why it could not be run.
fn told(conn: &mut Conn, id: u8) -> (i32, String) {
    conn.expect("end of a command", |frame| match frame {
        FromShim::Command { id: found, errno, text } if *found == [id; 16] => {
            Some((*errno, String::from_utf8_lossy(text).into_owned()))
        }
        _ => None,
    })
}

/// What the file of a command says: its head and all of its output.
fn seen(shim: &Shim, id: u8) -> (Head, String) {
    // Whoever asks may be faster than the shim.
    let read = || std::fs::read(shim.dir().join(FOLDER).join(file_name(&[id; 16]))).unwrap_or_default();
    eventually("there is a file", || read().len() >= Head::BYTES);
    let bytes = read();
    let head = Head::decode(&bytes[..Head::BYTES]).unwrap();
    assert!(head.committed <= head.capacity, "more than this test looks at");
    let end = Head::BYTES + usize::try_from(head.committed).unwrap();
    (head, String::from_utf8_lossy(&bytes[Head::BYTES..end]).into_owned())
}

/// SHIM-038, SHIM-039
#[test]
fn command_is_run_once_beside_the_program_and_its_file_tells_all() {
    let dir = epoch_dir();
    let mut shim = Shim::launch(spec(dir.path(), "read x; exit 5"));
    let count = dir.path().join("count");
    let script = format!("echo once >> {}; echo out; echo err >&2; cat; pwd; exit 3", count.display());
    run(&mut shim.control, 1, &command(&script));
    assert_eq!(told(&mut shim.control, 1), (0, String::new()));
    let (head, output) = seen(&shim, 1);
    assert_eq!((head.state, output.as_str()), (CommandState::Ended(ExitStatus::Code(3)), "out\nerr\n/\n"));
    assert!(head.pid > 1 && head.ended_at >= head.started_at);

    run(&mut shim.control, 1, &command(&script));
    assert_eq!(told(&mut shim.control, 1), (0, String::new()), "its end is told once more");
    assert_eq!(std::fs::read_to_string(&count).unwrap(), "once\n");

    let missing = CommandSpec { program: b"no-such-program".to_vec(), ..command("") };
    run(&mut shim.control, 2, &missing);
    let (_, why) = told(&mut shim.control, 2);
    assert!(why.contains("no-such-program"), "{why}");
    assert_eq!((seen(&shim, 2).0.state, seen(&shim, 2).1), (CommandState::Failed, why));
    shim.control.send(&ToShim::Run { id: [3; 16], spec: b"garbage" });
    assert!(!told(&mut shim.control, 3).1.is_empty());
    assert!(shim.control.shown().is_empty(), "nothing of it is the program's output");
    shim.control.send(&ToShim::CloseInput);
    assert_eq!(shim.finish().value, 5);
}

/// SHIM-038
#[test]
fn command_is_born_in_the_group_and_ends_with_the_epoch() {
    let Some(group) = Group::make("command") else { return };
    let dir = epoch_dir();
    let mut shim = Shim::launch(group.spec(dir.path(), "read x; exit 0"));
    run(&mut shim.control, 1, &command("cat /proc/self/cgroup; setsid sleep 1000 & echo $!; sleep 1000"));
    let last = |output: &str| output.lines().last().and_then(|line| line.parse::<u32>().ok());
    // The kernel says its group in one line or in several.
    eventually("it has begun", || {
        let (_, output) = seen(&shim, 1);
        output.ends_with('\n') && last(&output).is_some()
    });
    let (head, output) = seen(&shim, 1);
    assert!(output.lines().any(|line| line.ends_with("/shell.3/work")), "{output}");
    let left = last(&output).unwrap();
    shim.control.send(&ToShim::CloseInput);
    let exit = shim.finish();
    assert_eq!((exit.value, exit.tree_empty, exit.cgroup_empty), (0, true, true));
    assert!(!is_alive(head.pid) && !is_alive(left));
    let ended = CommandState::Ended(ExitStatus::Signal(Signal::KILL.as_raw()));
    assert_eq!(seen(&shim, 1).0.state, ended, "its end is known before the epoch's is told");
}

/// SHIM-039
#[test]
fn command_goes_on_without_its_daemon_and_dies_with_its_shim() {
    let dir = epoch_dir();
    let mut shim = Shim::launch(spec(dir.path(), "read x"));
    let go = dir.path().join("go");
    let script = format!("echo begun; until test -e {}; do sleep 0.01; done; echo ended", go.display());
    run(&mut shim.control, 1, &command(&script));
    run(&mut shim.control, 2, &command("exec sleep 1000"));
    eventually("both have begun", || seen(&shim, 1).1 == "begun\n" && seen(&shim, 2).0.pid > 0);
    let (here, gone) = std::os::unix::net::UnixStream::pair().unwrap();
    drop((std::mem::replace(&mut shim.control.stream, here), gone));
    File::create(&go).unwrap();
    let ended = CommandState::Ended(ExitStatus::Code(0));
    eventually("it ends with nobody there", || seen(&shim, 1).0.state == ended);
    assert_eq!(seen(&shim, 1).1, "begun\nended\n");

    let mut old = shim.connect(KEY, Role::Control);
    old.hello();
    run(&mut old, 3, &command("true"));
    eventually("it has ended", || seen(&shim, 3).0.state == ended);
    let status = old.status();
    assert_eq!(status.epoch, 3, "who speaks version 1 is sent no frame that it does not know");
    let pid = seen(&shim, 2).0.pid;
    shim.kill_shim();
    eventually("the kernel ends it", || !is_alive(pid));
    assert_eq!(seen(&shim, 2).0.state, CommandState::Running, "nobody saw its end, so nothing says so");
}

/// SHIM-040
#[test]
fn floods_are_bounded_and_what_is_ended_ends_whole() {
    let dir = epoch_dir();
    let mut shim = Shim::launch(spec(dir.path(), "read x"));
    let small = CommandSpec { output_bytes_max: 10, ..command("yes | head -c 5000000; printf 0123456789") };
    run(&mut shim.control, 1, &small);
    told(&mut shim.control, 1);
    let path = shim.dir().join(FOLDER).join(file_name(&[1; 16]));
    let file = File::open(path).unwrap();
    let mut head = [0; Head::BYTES];
    file.read_exact_at(&mut head, 0).unwrap();
    let head = Head::decode(&head).unwrap();
    assert_eq!((head.committed, head.missing), (5_000_010, 0));
    assert_eq!(file.metadata().unwrap().len(), head.capacity + Head::BYTES as u64);

    run(&mut shim.control, 2, &command("sleep 1000 & echo $!; exec yes"));
    eventually("it floods", || {
        let mut bytes = [0; Head::BYTES];
        let file = File::open(shim.dir().join(FOLDER).join(file_name(&[2; 16])));
        file.is_ok_and(|file| file.read_exact_at(&mut bytes, 0).is_ok())
            && Head::decode(&bytes).is_ok_and(|head| head.committed > 100_000)
    });
    assert_eq!(shim.control.status().pid, shim.started.pid, "the shim answers meanwhile");
    shim.control.send(&ToShim::EndCommand { id: [2; 16] });
    told(&mut shim.control, 2);

    for id in 0..RUNNING_MAX {
        let id = u8::try_from(id).unwrap() + 100;
        run(&mut shim.control, id, &command("exec sleep 1000"));
    }
    run(&mut shim.control, 99, &command("true"));
    assert!(told(&mut shim.control, 99).1.contains("too many commands"));
    shim.control.send(&ToShim::Kill);
    assert!(shim.finish().tree_empty);
}

fn write(conn: &mut Conn, (id, input): (u8, u8), bytes: &[u8], closes: bool) -> InputOutcome {
    conn.send(&ToShim::CommandInput { id: [id; 16], input: [input; 16], closes, bytes });
    conn.expect("what became of an input", |frame| match frame {
        FromShim::CommandInput { id: found, input: of, outcome }
            if *found == [id; 16] && *of == [input; 16] =>
        {
            Some(*outcome)
        }
        _ => None,
    })
}

/// SHIM-043
#[test]
fn command_is_written_to_once_per_id_until_its_input_is_closed() {
    let dir = epoch_dir();
    let mut shim = Shim::launch(spec(dir.path(), "read x; exit 5"));
    let go = dir.path().join("go");
    // It ends only when it may: of one that has ended, the shim knows no input that is closed.
    let script = format!(
        "while read line; do echo \"got $line\"; done; until test -e {}; do sleep 0.01; done; echo over",
        go.display()
    );
    run(&mut shim.control, 1, &CommandSpec { has_input: true, ..command(&script) });
    assert_eq!(write(&mut shim.control, (1, 1), b"one\n", false), InputOutcome::Written);
    assert_eq!(write(&mut shim.control, (1, 1), b"one\n", false), InputOutcome::Duplicate);
    assert_eq!(write(&mut shim.control, (1, 2), b"two\n", true), InputOutcome::Written);
    assert_eq!(write(&mut shim.control, (1, 3), b"three\n", false), InputOutcome::Closed);
    File::create(&go).unwrap();
    assert_eq!(told(&mut shim.control, 1), (0, String::new()));
    assert_eq!(seen(&shim, 1).1, "got one\ngot two\nover\n");
    assert_eq!(write(&mut shim.control, (1, 4), b"x", false), InputOutcome::Unknown, "it has ended");
    assert_eq!(write(&mut shim.control, (9, 1), b"x", false), InputOutcome::Unknown, "it never was");
    run(&mut shim.control, 2, &command("cat; sleep 30"));
    assert_eq!(write(&mut shim.control, (2, 1), b"x", false), InputOutcome::Closed, "its input is empty");
    shim.control.send(&ToShim::EndCommand { id: [2; 16] });
    assert_eq!(told(&mut shim.control, 2), (0, String::new()));
}

/// SHIM-043
#[test]
fn a_command_that_does_not_read_keeps_nobody_waiting() {
    let dir = epoch_dir();
    let mut shim = Shim::launch(spec(dir.path(), "read x; exit 5"));
    run(&mut shim.control, 1, &CommandSpec { has_input: true, ..command("sleep 1000") });
    let bulk = vec![b'x'; 200 << 10];
    let mut full = false;
    for input in 1..20 {
        shim.control.send(&ToShim::CommandInput {
            id: [1; 16],
            input: [input; 16],
            closes: false,
            bytes: &bulk,
        });
        shim.control.send(&ToShim::Status);
        // The answer comes behind what was said of the input.
        full |= shim.control.expect("a status", |frame| match frame {
            FromShim::Status(_) => Some(false),
            FromShim::CommandInput { outcome: InputOutcome::Full, .. } => Some(true),
            _ => None,
        });
        if full {
            break;
        }
    }
    assert!(full, "what waits is bounded");
    shim.control.send(&ToShim::EndCommand { id: [1; 16] });
    let outcome = shim.control.expect("the end of what waits", |frame| match frame {
        FromShim::CommandInput { input, outcome, .. } if *input == [1; 16] => Some(*outcome),
        _ => None,
    });
    assert_eq!(outcome, InputOutcome::Closed);
}
