//! Wrong manifests: each is refused, with the line, the field, what was found and what would be right.
#![expect(clippy::expect_used, reason = "a test")]

#[path = "wrong/automations.rs"]
mod automations;
#[path = "wrong/connectors.rs"]
mod connectors;
#[path = "wrong/schedules.rs"]
mod schedules;

use edgeplane_manifest::{DOCUMENTS_MAX, FILE_BYTES_MAX, PROBLEMS_MAX, SourceFile, parse, parse_set};

/// Line of the first line of `spec` in what [`agent`] makes.
const SPEC: u32 = 7;

/// A manifest with these lines under `spec`, after a driver and a command.
fn agent(spec: &str) -> String {
    let mut text = String::from(
        "apiVersion: edgeplane.dev/v1alpha1\nkind: Agent\nmetadata: {name: a}\nspec:\n  driver: {type: native}\n  \
         command: [run]\n",
    );
    for line in spec.lines() {
        text.push_str("  ");
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// A whole manifest with this driver.
fn driven(driver: &str) -> String {
    agent("").replace("{type: native}", driver)
}

/// Expects exactly these problems: line, field, and a part of the message.
fn check(text: &str, expected: &[(u32, &str, &str)]) {
    let problems = parse("a.yaml", text).expect_err("it should be refused");
    let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems.len(), expected.len(), "{text}\n{shown:#?}");
    for (problem, (line, field, part)) in problems.iter().zip(expected) {
        let message = problem.to_string();
        assert_eq!((problem.line, problem.field.as_str()), (*line, *field), "{message}");
        assert!(message.contains(part), "{message:?} should contain {part:?}");
        assert!(message.starts_with(&format!("a.yaml:{line}:{}: ", problem.column)), "{message}");
        assert!(problem.column > 0, "{message}");
    }
}

fn check_spec(spec: &str, expected: &[(u32, &str, &str)]) {
    check(&agent(spec), expected);
}

/// Proves ID-010.
#[test]
fn names_that_the_node_gives_by_itself() {
    for name in ["uid-0", "uid-1000", "unknown", "node", "operator", "scheduler", "system", "external"] {
        let metadata = format!("{{name: {name}}}");
        let expected = format!("found `{name}`, expected another name than the node gives by itself");
        check(&agent("").replace("{name: a}", &metadata), &[(3, "metadata.name", &expected)]);
        let inline = format!("schedules: [{{name: {name}, every: 1h, content: x}}]");
        check_spec(&inline, &[(SPEC, "spec.schedules[0].name", &expected)]);
        let alone = format!(
            "apiVersion: edgeplane.dev/v1alpha1\nkind: Schedule\nmetadata: {{name: {name}}}\n\
             spec: {{agent: a, every: 1h, content: x}}\n"
        );
        let problems =
            parse_set(&[SourceFile { name: "a.yaml", text: &alone }]).expect_err("it should be refused");
        assert!(problems[0].to_string().contains(&expected), "{problems:?}");
    }
    for name in ["uid-x", "a-uid-0", "nodes", "operators"] {
        let metadata = format!("{{name: {name}}}");
        assert!(parse("a.yaml", &agent("").replace("{name: a}", &metadata)).is_ok(), "{name}");
    }
}

#[test]
fn text_that_is_no_manifest() {
    check("", &[(1, "", "found no document, expected at least one manifest")]);
    check("# only a comment\n---\n", &[(1, "", "no document")]);
    check("hello", &[(1, "", "found `hello`, expected a mapping")]);
    check("- a\n- b\n", &[(1, "", "found a list, expected a mapping")]);
    check(
        "{}",
        &[
            (1, "apiVersion", "found nothing, expected `edgeplane.dev/v1alpha1`"),
            (1, "kind", "found nothing, expected one of Agent, Schedule"),
            (1, "metadata", "found nothing, expected a mapping"),
            (1, "spec", "found nothing, expected a mapping"),
        ],
    );
}

#[test]
fn yaml_that_cannot_be_read() {
    check("a: [1\nb: 2", &[(2, "", "text that is not YAML")]);
    check("a: 1\n  b: 2\n", &[(2, "", "mapping values are not allowed")]);
    check("a: 'x\n", &[(2, "", "well-formed YAML")]);
    check("a: @b", &[(1, "", "unexpected character")]);
    check("a: \u{0}", &[(1, "", "not YAML")]);
    check("a: 1\na: 2\n", &[(2, "", "found the key `a` a second time, expected each key once")]);
    check("a: *nowhere", &[(1, "", "found an alias of nothing")]);
    check("a: &x [*x]", &[(1, "", "contains itself")]);
    check("x: &x {a: 1}\ny:\n  <<: *x\n", &[(3, "", "found a merge key")]);
    check("a: !python/object x", &[(1, "", "found the tag")]);
    check("a: 1\n...\nb: 2\n", &[(3, "", "a second document after `...`")]);
    check("[a]: b", &[(1, "", "expected keys that are plain text")]);
}

#[test]
fn documents_beyond_the_bounds() {
    let deep = format!("a: {}1{}", "[".repeat(100), "]".repeat(100));
    check(&deep, &[(1, "", "at most 24 levels")]);
    let mut bomb = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for level in 1..9 {
        let previous = vec![format!("*a{}", level - 1); 10].join(",");
        bomb.push_str(&format!("a{level}: &a{level} [{previous}]\n"));
    }
    let problems = parse("a.yaml", &bomb).expect_err("a bomb");
    assert!(problems[0].to_string().contains("aliases"), "{}", problems[0]);
    let large = "#".repeat(FILE_BYTES_MAX + 1);
    check(&large, &[(1, "", "found 1048577 bytes, expected at most 1048576 bytes in a file")]);
    let many = "---\na: 1\n".repeat(DOCUMENTS_MAX + 1);
    check(&many, &[(1, "", "found 1001 documents, expected at most 1000 documents in a file")]);
}

#[test]
fn problems_are_reported_to_a_bound() {
    let mut text = agent("");
    for index in 0..(PROBLEMS_MAX + 500) {
        text.push_str(&format!("key{index}: 1\n"));
    }
    let problems = parse("a.yaml", &text).expect_err("unknown keys");
    assert_eq!(problems.len(), PROBLEMS_MAX + 1);
    assert!(problems.last().is_some_and(|last| last.to_string().contains("problems more")));
}

#[test]
fn head_of_a_document() {
    let smallest = agent("");
    check(&smallest.replace("v1alpha1", "v1"), &[(1, "apiVersion", "expected `edgeplane.dev/v1alpha1`")]);
    check(
        &smallest.replace("Agent", "Profile"),
        &[(2, "kind", "kind `Profile` is not served by this version")],
    );
    check(&smallest.replace("Agent", "[]"), &[(2, "kind", "found a list, expected one of Agent, Schedule")]);
    check(&smallest.replace("Agent", "agent"), &[(2, "kind", "did you mean `Agent`?")]);
    check(&smallest.replace("{name: a}", "{}"), &[(3, "metadata.name", "found nothing")]);
    check(
        &smallest.replace("{name: a}", "{name: My_Agent}"),
        &[(3, "metadata.name", "did you mean `my-agent`?")],
    );
    check(
        &smallest.replace("{name: a}", "{name: a, lables: {}}"),
        &[(3, "metadata.lables", "did you mean `labels`?")],
    );
    check(
        &smallest.replace("{name: a}", "{name: a, labels: {a b: c}}"),
        &[(3, "metadata.labels[\"a b\"]", "the key")],
    );
    check(
        &smallest.replace("{name: a}", "{name: a, labels: {a: c d}}"),
        &[(3, "metadata.labels.a", "`c d`")],
    );
    check(
        &smallest.replace("{name: a}", "{name: a, author: [x]}"),
        &[(3, "metadata.author", "a list, expected text")],
    );
    check(
        &smallest.replace("{name: a}", "{name: a, description: \"\\e[31m\"}"),
        &[(3, "metadata.description", "the control character `\\u{1b}`")],
    );
    check(&format!("{smallest}status: {{}}\n"), &[(7, "status", "one of apiVersion, kind, metadata, spec")]);
}

#[test]
fn drivers_and_substrates() {
    check(&driven("{type: terminl}"), &[(5, "spec.driver.type", "did you mean `terminal`?")]);
    check(&driven("{}"), &[(5, "spec.driver.type", "expected one of native, terminal, acp, exec")]);
    check(&driven("native"), &[(5, "spec.driver", "found `native`, expected a mapping")]);
    check(
        &driven("{type: native, comment: x}"),
        &[(5, "spec.driver.comment", "expected one of type, stdio")],
    );
    check(
        &driven("{type: acp, commands: perhaps}"),
        &[(5, "spec.driver.commands", "found `perhaps`, expected true or false")],
    );
    let of_tools = |servers: &str| driven(&format!("{{type: acp, mcpServers: [{servers}]}}"));
    let name = "spec.driver.mcpServers[0].name";
    check(
        &of_tools("{name: a}"),
        &[(5, name, "found neither command nor url, expected one of command, url")],
    );
    check(&of_tools("{name: a, command: [x], url: y}"), &[(5, name, "found a command and a url")]);
    check(&of_tools("{name: edgeplane, command: [x]}"), &[(5, name, "a name for each server of tools")]);
    check(
        &of_tools("{name: a, url: y, env: {A: b}}"),
        &[(5, "spec.driver.mcpServers[0].env", "`env` beside `command` only")],
    );
    check(
        &of_tools("{name: a, command: [x], headers: {A: b}}"),
        &[(5, "spec.driver.mcpServers[0].headers", "`headers` beside `url` only")],
    );
    check(&driven("{type: terminal, submit: ''}"), &[(5, "spec.driver.submit", "found an empty text")]);
    let forgets = "a program that goes on with its own session";
    check_spec("hibernate: {idleAfter: 1h}", &[(SPEC, "spec.hibernate", forgets)]);
    let (offers, at_once) = ("offers: {resume: true}", "an end at once of an agent that remembers");
    let text = format!("hibernate: {{idleAfter: 0s}}\n{offers}");
    check_spec(&text, &[(SPEC, "spec.hibernate.idleAfter", at_once)]);
    let remembers = "2 replicas of an agent that remembers, expected `state: stateless` beside it";
    check_spec("replicas: 2", &[(SPEC, "spec.replicas", remembers)]);
    for count in ["0", "65"] {
        check_spec(&format!("replicas: {count}"), &[(SPEC, "spec.replicas", "expected")]);
    }
    check_spec("substrate: {type: tmux}", &[(SPEC, "spec.substrate.type", "substrate `tmux` is not served")]);
}

#[test]
fn programs_that_end_with_each_turn() {
    let exec = |more: &str| driven(&format!("{{type: exec, {more}}}"));
    let (first, resume) = ("spec.driver.first", "spec.driver.resume");
    check(&exec("first: [-p]"), &[(5, first, "found 0 arguments {prompt}, expected one argument {prompt}")]);
    check(&exec("first: ['{prompt}', '{prompt}']"), &[(5, first, "found 2 arguments {prompt}")]);
    check(
        &exec("first: ['--prompt={prompt}'], prompt: stdin"),
        &[(5, first, "expected {prompt} and {session} as whole arguments")],
    );
    check(&exec("first: ['{prompt}'], prompt: stdin"), &[(5, first, "an argument {prompt} beside")]);
    check(&exec("resume: [--go-on]"), &[(5, resume, "found 0 arguments {prompt}")]);
    check(&exec("resume: []"), &[(5, resume, "")]);
    check(
        &exec("first: ['{session}', '{prompt}'], output: json, session: /id"),
        &[(5, first, "{session} in `first` without `session`")],
    );
    check(&exec("session: /id"), &[(5, "spec.driver.session", "`output: json` or `output: stream-json`")]);
    check(&exec("output: json, answer: id"), &[(5, "spec.driver.answer", "a JSON pointer")]);
    check(
        &exec("preset: claude"),
        &[(5, "spec.driver.preset", "expected one of claude-code, codex, gemini")],
    );
    check(&exec("timeout: 0s"), &[(5, "spec.driver.timeout", "")]);
    check(&exec("preset: codex, prompt: argument"), &[(5, first, "0 arguments"), (5, resume, "0 arguments")]);
}

#[test]
fn programs() {
    check(
        &agent("").replace("[run]", "[]"),
        &[(6, "spec.command", "a list of 0, expected at least 1 entry")],
    );
    check(&agent("").replace("[run]", "run"), &[(6, "spec.command", "found `run`, expected a list")]);
    check(&agent("").replace("[run]", "['']"), &[(6, "spec.command[0]", "found an empty text")]);
    check(
        &agent("").replace("[run]", "[\"a\\nb\"]"),
        &[(6, "spec.command[0]", "without control characters")],
    );
    check(
        &agent("").replace("[run]", "[a, \"b\\0\"]"),
        &[(6, "spec.command[1]", "the control character `\\u{0}`")],
    );
    check(&agent("").replace("[run]", "[~/bin/x]"), &[(6, "spec.command[0]", "`~` is not expanded")]);
    check(
        &agent("").replace("[run]", "[python -m x]"),
        &[(6, "spec.command[0]", "did you mean [\"python\", \"-m\", \"x\"]?")],
    );
    check(
        &agent("").replace("  command: [run]\n", ""),
        &[(4, "spec.command", "found nothing, expected a list")],
    );
    check_spec("args: [{}]", &[(SPEC, "spec.args[0]", "found a mapping, expected text")]);
    check_spec("cwd: ~/x", &[(SPEC, "spec.cwd", "`~` is not expanded")]);
    check_spec("cwd: \"a\\tb\"", &[(SPEC, "spec.cwd", "a path without control characters")]);
    check_spec("terminal: {cols: 1}", &[(SPEC, "spec.terminal.cols", "a whole number from 2 to 1000")]);
    check_spec("terminal: {rows: 1001}", &[(SPEC, "spec.terminal.rows", "found `1001`")]);
    check_spec("terminal: {rows: '24'}", &[(SPEC, "spec.terminal.rows", "write it without quotes")]);
    check_spec("user: Root User", &[(SPEC, "spec.user", "a user's name")]);
    check_spec("run: paused", &[(SPEC, "spec.run", "one of running, stopped")]);
    check_spec("state: statefull", &[(SPEC, "spec.state", "did you mean `stateful`?")]);
    check_spec("noNewPrivs: no", &[(SPEC, "spec.noNewPrivs", "did you mean `false`?")]);
}

#[test]
fn environment_and_secrets() {
    check_spec("env: {A-B: c}", &[(SPEC, "spec.env.A-B", "found the key `A-B`, expected a variable name")]);
    check_spec("env: {EDGEPLANE_SOCKET: c}", &[(SPEC, "spec.env.EDGEPLANE_SOCKET", "or with EDGEPLANE_")]);
    check_spec("env: {A: }", &[(SPEC, "spec.env.A", "found nothing, expected text or a mapping")]);
    check_spec("env: {A: [b]}", &[(SPEC, "spec.env.A", "found a list")]);
    check_spec(
        "env: {A: {secret: t}}",
        &[(SPEC, "spec.env.A.secret", "the name of an entry of spec.secrets")],
    );
    check_spec("inheritEnv: [A, A]", &[(SPEC, "spec.inheritEnv[1]", "found `A` a second time")]);
    check_spec("env: {A: b}\ninheritEnv: [A]", &[(SPEC, "spec.env.A", "each variable from one place")]);
    check_spec(
        "secrets: [{name: t, from: {env: T}}]",
        &[(SPEC, "spec.secrets[0].name", "no variable hands over")],
    );
    check_spec(
        "env: {A: {secret: t}}\nsecrets:\n- {name: t, from: {env: T}}\n- {name: t, from: {file: x}}",
        &[(SPEC + 3, "spec.secrets[1].name", "`t` a second time")],
    );
    check_spec(
        "secrets: [{name: t, value: hunter2}]",
        &[
            (SPEC, "spec.secrets[0].from", "found nothing"),
            (SPEC, "spec.secrets[0].value", "unknown key `value`"),
        ],
    );
    check_spec(
        "secrets: [{name: t, from: {vault: x}}]",
        &[(SPEC, "spec.secrets[0].from", "one of file, env")],
    );
    check_spec(
        "secrets: [{name: t, from: {env: T, file: x}}]",
        &[(SPEC, "spec.secrets[0].from", "`file` and `env`")],
    );
    check_spec(
        "secrets: [{name: t, from: {env: T}, as: pipe}]",
        &[(SPEC, "spec.secrets[0].as", "file, fd, env")],
    );
    check_spec("needs: {env: [{name: X}]}", &[(SPEC, "spec.needs.env[0].name", "the program would not get")]);
    check_spec("needs: {env: [X]}", &[(SPEC, "spec.needs.env[0]", "found `X`, expected a mapping")]);
}

#[test]
fn supervision() {
    check_spec(
        "restart:\n  policy: allways",
        &[(
            SPEC + 1,
            "spec.restart.policy",
            "found `allways`, expected one of always, on_failure, never (did you mean `always`?)",
        )],
    );
    check_spec("backoff: {}", &[(SPEC, "spec.backoff", "it belongs under `spec.restart`")]);
    check_spec(
        "restart: {backoff: {initial: 10}}",
        &[(SPEC, "spec.restart.backoff.initial", "such as `10s`")],
    );
    check_spec(
        "restart: {backoff: {initial: 2m}}",
        &[(SPEC, "spec.restart.backoff.initial", "longest wait of 1m")],
    );
    check_spec("restart: {backoff: {max: 2d}}", &[(SPEC, "spec.restart.backoff.max", "from 0s to 1d")]);
    check_spec(
        "restart: {backoff: {jitterPercent: 101}}",
        &[(SPEC, "spec.restart.backoff.jitterPercent", "a whole number from 0 to 100")],
    );
    check_spec(
        "restart: {maxRestarts: 5}",
        &[(SPEC, "spec.restart.maxRestarts", "one of policy, backoff, breaker")],
    );
    check_spec("health: {}", &[(SPEC, "spec.health", "at least one of exec, quietFor, ping")]);
    check_spec("health: {exec: {command: []}}", &[(SPEC, "spec.health.exec.command", "at least 1 entry")]);
    check_spec("health: {quietFor: soon}", &[(SPEC, "spec.health.quietFor", "a span of time")]);
    let pinged = agent("health: {ping: {interval: 5s}}").replace("native", "terminal");
    check(&pinged, &[(SPEC, "spec.health.ping", "has pings")]);
    check_spec(
        "stop: {signal: SIGSTOP}",
        &[(SPEC, "spec.stop.signal", "a signal that asks a program to end")],
    );
    check_spec("stop: {signal: sigterm}", &[(SPEC, "spec.stop.signal", "did you mean `SIGTERM`?")]);
    check_spec("stop: {signal: 99}", &[(SPEC, "spec.stop.signal", "found `99`")]);
    check_spec("stop: {grace: -1s}", &[(SPEC, "spec.stop.grace", "found `-1s`")]);
    check_spec(
        "hooks: {prestart: {command: [a]}}",
        &[(SPEC, "spec.hooks.prestart", "did you mean `preStart`?")],
    );
    check_spec(
        "hooks: {preStart: {command: [\"\"]}}",
        &[(SPEC, "spec.hooks.preStart.command[0]", "a program")],
    );
    check_spec("limits: {memory: 64MB}", &[(SPEC, "spec.limits.memory", "did you mean `64MiB`?")]);
    check_spec("limits: {memory: 1K}", &[(SPEC, "spec.limits.memory", "from 1MiB to 1024TiB")]);
    check_spec("limits: {cpu: 0.0001}", &[(SPEC, "spec.limits.cpu", "to a thousandth")]);
    check_spec("limits: {pids: 0}", &[(SPEC, "spec.limits.pids", "a whole number from 1 to 4194304")]);
    check_spec("limits: {open_files: 5}", &[(SPEC, "spec.limits.open_files", "did you mean `openFiles`?")]);
}

#[test]
fn interface_record_and_installing() {
    check_spec("inputs: [{name: x}, {name: x}]", &[(SPEC, "spec.inputs[1].name", "each name once")]);
    check_spec("inputs: [{name: x, mediaType: text}]", &[(SPEC, "spec.inputs[0].mediaType", "a media type")]);
    check_spec("outputs: [{name: x, schema: 5}]", &[(SPEC, "spec.outputs[0].schema", "a JSON Schema")]);
    check_spec(
        "inputs: [{name: x, schema: {multipleOf: 0.5}}]",
        &[(SPEC, "spec.inputs[0].schema.multipleOf", "the record holds no fractions")],
    );
    check_spec("skills: [{name: x}]", &[(SPEC, "spec.skills[0].id", "found nothing")]);
    check_spec("dependsOn: [a]", &[(SPEC, "spec.dependsOn[0]", "the agent itself")]);
    check_spec("delivery: {ambiguous: keep}", &[(SPEC, "spec.delivery.ambiguous", "redeliver, hold, drop")]);
    check_spec("inbox: {max: 0}", &[(SPEC, "spec.inbox.max", "from 1 to 10000000")]);
    check_spec(
        "recording: {keep: {bytes: 1MiB}}",
        &[(SPEC, "spec.recording.keep.bytes", "one segment of 4MiB")],
    );
    check_spec("recording: {onFull: stop}", &[(SPEC, "spec.recording.onFull", "one of gap, pause")]);
    check_spec("deployment: {}", &[(SPEC, "spec.deployment", "one of service, artifact")]);
    check_spec(
        "deployment: {artifact: {path: a.tar}}",
        &[(SPEC, "spec.deployment.artifact.digest", "`sha256:`")],
    );
    check_spec("prepare: [{name: x}]", &[(SPEC, "spec.prepare[0]", "one of run, fetch")]);
    check_spec(
        "prepare: [{name: x, run: [a], fetch: {}}]",
        &[(SPEC, "spec.prepare[0]", "`run` and `fetch`")],
    );
    let fetch = |from: &str| {
        format!("prepare: [{{name: x, fetch: {{from: {from}, to: m, digest: 'sha256:{}'}}}}]", "0".repeat(64))
    };
    check_spec(
        &fetch("{file: 'https://example.org/m'}"),
        &[(SPEC, "spec.prepare[0].fetch.from.file", "nothing is fetched from the network")],
    );
    check_spec(
        &fetch("{http: x}"),
        &[
            (SPEC, "spec.prepare[0].fetch.from.file", "found nothing"),
            (SPEC, "spec.prepare[0].fetch.from.http", "this version fetches nothing from the network"),
        ],
    );
}

/// Proves LIFE-026.
#[test]
fn all_problems_of_all_documents_are_reported_in_order() {
    let first = agent("run: walking\nlimits: {pids: many, cpu: lots}");
    let text = format!(
        "{first}---\n{}---\na: [\n---\n{}",
        agent("stat: x"),
        agent("").replace("name: a", "name: b")
    );
    check(
        &text,
        &[
            (7, "spec.run", "`walking`"),
            (8, "spec.limits.pids", "`many`"),
            (8, "spec.limits.cpu", "`lots`"),
            (12, "metadata.name", "`a` a second time"),
            (16, "spec.stat", "did you mean `state`?"),
            (18, "", "not YAML"),
        ],
    );
}

#[test]
fn names_and_dependencies_of_a_set() {
    let named = |name: &str, spec: &str| agent(spec).replace("name: a", &format!("name: {name}"));
    let (one, two) = (named("x", "dependsOn: [y]"), named("y", "dependsOn: [z, outside]"));
    let three = named("z", "dependsOn: [x]");
    let set = |texts: &[(&'static str, &str)]| {
        let files: Vec<_> = texts.iter().map(|(name, text)| SourceFile { name, text }).collect();
        parse_set(&files).map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    assert_eq!(set(&[("1", &one), ("2", &two)]).map(|set| set.agents.len()), Ok(2));
    let circle = set(&[("1", &one), ("2", &two), ("3", &three)]).expect_err("a circle");
    assert_eq!(
        circle,
        [
            "1:7:14: spec.dependsOn: found agents that wait for each other: x -> y -> z -> x, expected dependencies \
         without a circle"
        ]
    );
    let ring: String = (0..100)
        .map(|index| {
            format!(
                "---\n{}",
                named(&format!("r{index:02}"), &format!("dependsOn: [r{:02}]", (index + 1) % 100))
            )
        })
        .collect();
    let long = set(&[("1", &ring)]).expect_err("a long circle");
    assert!(long[0].contains("r00 -> r01 -> ") && long[0].contains("r08 -> … -> r00,"), "{}", long[0]);
    let twice = set(&[("1", &one), ("2", &one)]).expect_err("one name twice");
    assert_eq!(
        twice,
        ["2:3:18: metadata.name: found `x` a second time, expected each agent's name once (first at \
                       1:3:18)"]
    );
}

#[test]
fn topics_policy_and_risk() {
    check_spec("subscriptions: [a b]", &[(SPEC, "spec.subscriptions[0]", "1 to 128 of the characters")]);
    check_spec("subscriptions: [a, a]", &[(SPEC, "spec.subscriptions[1]", "`a` a second time")]);
    let many: Vec<String> = (0..65).map(|index| format!("t{index}")).collect();
    check_spec(
        &format!("subscriptions: [{}]", many.join(", ")),
        &[(SPEC, "spec.subscriptions", "at most 64 entries")],
    );
    check_spec("risk: none", &[(SPEC, "spec.risk", "one of low, medium, high")]);
    check_spec("policy: ''", &[(SPEC, "spec.policy", "found an empty text")]);
    let long = format!("policy: {}", "x".repeat(65_537));
    check_spec(&long, &[(SPEC, "spec.policy", "text of 1 to 65536 characters")]);
    let wide = format!("policy: {}", "ä".repeat(40_000));
    check_spec(&wide, &[(SPEC, "spec.policy", "at most 65536 bytes")]);
}
