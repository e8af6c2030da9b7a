//! Rules that relate several fields of one manifest. They run once every field by itself is right.

pub(crate) mod automation;
pub(crate) mod connector;
pub(crate) mod workflow;

use std::collections::{BTreeMap, BTreeSet};

use edgeplane_types::{AgentName, SafeLabel, is_nodes_own};

use crate::{
    Deployment, Driver, DurationMs, EnvValue, ExecOutput, Manifest, OneShot, PrepareStep, PromptBy,
    ScheduleManifest, Spec, StateKind, Timing, ZoneName, is_env_passed,
    problem::{Finding, Place, Step, excerpt, field, quoted},
    tree::{Node, Tree},
    words::EnvName,
};

/// Shortest idleness that ends an agent that remembers.
const IDLE_AFTER_MIN: DurationMs = DurationMs::from_secs(1);

/// The name under which EdgePlane's own tools are in a session.
const OWN_TOOLS: &str = "edgeplane";

/// Finds what is wrong between the fields of `manifest`, which was read from `node`.
pub(crate) fn check(manifest: &Manifest, node: &Node) -> Vec<Finding> {
    let mut findings = Findings { node, all: Vec::new() };
    let spec = &manifest.spec;
    own_name(&manifest.metadata.name, &["metadata".into(), "name".into()], &mut findings);
    commands(spec, &mut findings);
    unique_names(spec, &mut findings);
    environment(spec, &mut findings);
    supervision(spec, &mut findings);
    replicas(manifest, &mut findings);
    servers_of_tools(spec, &mut findings);
    one_shot(spec, &mut findings);
    for (index, schedule) in spec.schedules.iter().enumerate() {
        let path = ["spec".into(), "schedules".into(), index.into(), "name".into()];
        own_name(&schedule.name, &path, &mut findings);
        timing(&schedule.body.timing, &["spec".into(), "schedules".into(), index.into()], &mut findings);
    }
    if spec.depends_on.contains(&manifest.metadata.name) {
        let index = spec.depends_on.iter().position(|name| *name == manifest.metadata.name).unwrap_or(0);
        let path: [Step; 3] =
            ["spec".into(), "dependsOn".into(), index_of(node, index, &manifest.metadata.name)];
        findings.add(&path, "the agent itself".to_owned(), "other agents", None);
    }
    findings.all
}

/// Finds what is wrong between the fields of a schedule, which was read from `node`.
pub(crate) fn check_schedule(manifest: &ScheduleManifest, node: &Node) -> Vec<Finding> {
    let mut findings = Findings { node, all: Vec::new() };
    own_name(&manifest.metadata.name, &["metadata".into(), "name".into()], &mut findings);
    timing(&manifest.spec.body.timing, &["spec".into()], &mut findings);
    findings.all
}

/// Agents and schedules speak under their names; one that the node gives by itself would pass for somebody else.
fn own_name(name: &AgentName, path: &[Step], findings: &mut Findings<'_>) {
    if is_nodes_own(name.as_str()) {
        findings.add(path, quoted(name.as_str()), "another name than the node gives by itself", None);
    }
}

struct Findings<'a> {
    node: &'a Node,
    all: Vec<Finding>,
}

impl Findings<'_> {
    fn add(&mut self, path: &[Step], found: String, expected: impl Into<String>, hint: Option<String>) {
        let place = locate(self.node, path);
        self.all.push(Finding { place, field: field(path), found, expected: expected.into(), hint });
    }
}

/// Finds where the value at `path` stands; where it was left out, where its nearest parent is named.
pub(crate) fn locate(root: &Node, path: &[Step]) -> Place {
    let mut node = root;
    for step in path {
        let inner = match (&node.value, step) {
            (Tree::Map(_), Step::Key(key)) => node.get(key),
            (Tree::List(items), Step::Index(index)) => items.get(*index),
            _ => None,
        };
        match inner {
            Some(inner) => node = inner,
            None => return node.named_at,
        }
    }
    node.place
}

/// The index in the text of an entry of a sorted set.
fn index_of(root: &Node, fallback: usize, name: &AgentName) -> Step {
    let listed = root.get("spec").and_then(|spec| spec.get("dependsOn"));
    let items = match listed.map(|node| &node.value) {
        Some(Tree::List(items)) => items.as_slice(),
        _ => &[],
    };
    items.iter().position(|item| item.text() == Some(name.as_str())).unwrap_or(fallback).into()
}

/// Every command of a manifest, with where it stands.
pub(crate) fn all_commands(spec: &Spec) -> Vec<(Vec<Step>, &[String])> {
    let path = |steps: &[&str]| steps.iter().map(|step| Step::from(*step)).collect::<Vec<_>>();
    let mut all = vec![(path(&["spec", "command"]), spec.command.as_slice())];
    if let Some(probe) = spec.health.as_ref().and_then(|health| health.exec.as_ref()) {
        all.push((path(&["spec", "health", "exec", "command"]), &probe.command));
    }
    let hooks = &spec.hooks;
    for (name, hook) in
        [("preStart", &hooks.pre_start), ("postStart", &hooks.post_start), ("preStop", &hooks.pre_stop)]
    {
        if let Some(hook) = hook {
            all.push((path(&["spec", "hooks", name, "command"]), &hook.command));
        }
    }
    for (index, step) in spec.prepare.iter().enumerate() {
        if let PrepareStep::Run { run, .. } = step {
            all.push((vec!["spec".into(), "prepare".into(), index.into(), "run".into()], run));
        }
    }
    all
}

fn commands(spec: &Spec, findings: &mut Findings<'_>) {
    for (mut path, command) in all_commands(spec) {
        let program = command.first().map_or("", String::as_str);
        path.push(0.into());
        if program.is_empty() {
            findings.add(&path, "an empty text".to_owned(), "a program", None);
        } else if program.chars().any(char::is_control) {
            findings.add(&path, quoted(program), "a program's name without control characters", None);
        } else if program.starts_with('~') {
            let hint = "`~` is not expanded: write the folder's name".to_owned();
            findings.add(&path, quoted(program), "a program's name or path", Some(hint));
        } else if command.len() == 1 && program.contains(' ') && !program.contains('/') {
            let words: Vec<String> =
                program.split_whitespace().map(|word| format!("{:?}", excerpt(word))).collect();
            let hint = format!("no shell reads it: did you mean [{}]?", words.join(", "));
            findings.add(
                &path,
                quoted(program),
                "the program and each argument as an entry of its own",
                Some(hint),
            );
        }
    }
}

fn unique_names(spec: &Spec, findings: &mut Findings<'_>) {
    let ports = |ports: &[crate::Port]| ports.iter().map(|port| port.name.to_string()).collect::<Vec<_>>();
    let schedules = spec.schedules.iter().map(|schedule| schedule.name.to_string()).collect();
    let lists: [(&[&str], &str, Vec<String>); 7] = [
        (&["spec", "schedules"], "name", schedules),
        (&["spec", "inputs"], "name", ports(&spec.inputs)),
        (&["spec", "outputs"], "name", ports(&spec.outputs)),
        (&["spec", "skills"], "id", spec.skills.iter().map(|skill| skill.id.to_string()).collect()),
        (&["spec", "secrets"], "name", spec.secrets.iter().map(|secret| secret.name.to_string()).collect()),
        (&["spec", "prepare"], "name", spec.prepare.iter().map(|step| step.name().to_string()).collect()),
        (
            &["spec", "needs", "env"],
            "name",
            spec.needs.env.iter().map(|need| need.name.to_string()).collect(),
        ),
    ];
    for (list, key, names) in lists {
        let mut seen = BTreeSet::new();
        for (index, name) in names.into_iter().enumerate() {
            if seen.contains(&name) {
                let mut path: Vec<Step> = list.iter().map(|step| Step::from(*step)).collect();
                path.extend([index.into(), key.into()]);
                findings.add(&path, format!("{} a second time", quoted(&name)), "each name once", None);
            }
            seen.insert(name);
        }
    }
}

fn environment(spec: &Spec, findings: &mut Findings<'_>) {
    let path = |steps: &[&str]| steps.iter().map(|step| Step::from(*step)).collect::<Vec<_>>();
    let handles: BTreeMap<&EnvName, &SafeLabel> = spec
        .env
        .iter()
        .filter_map(|(name, value)| match value {
            EnvValue::Secret { secret } => Some((name, secret)),
            EnvValue::Text(_) => None,
        })
        .collect();
    for (variable, secret) in &handles {
        if !spec.secrets.iter().any(|known| known.name == **secret) {
            let known = spec.secrets.iter().map(|known| known.name.as_str());
            let hint =
                crate::problem::nearest(secret.as_str(), known).map(|name| format!("did you mean `{name}`?"));
            findings.add(
                &path(&["spec", "env", variable.as_str(), "secret"]),
                quoted(secret.as_str()),
                "the name of an entry of spec.secrets",
                hint,
            );
        }
    }
    for (index, secret) in spec.secrets.iter().enumerate() {
        if !handles.values().any(|used| **used == secret.name) {
            let path: [Step; 4] = ["spec".into(), "secrets".into(), index.into(), "name".into()];
            let found = format!("{}, which no variable hands over", quoted(secret.name.as_str()));
            let expected = format!("an entry of spec.env with {{secret: {}}}", secret.name);
            findings.add(&path, found, expected, None);
        }
    }
    for name in &spec.inherit_env {
        if spec.env.contains_key(name) {
            let found = format!("{}, which spec.inheritEnv names too", quoted(name.as_str()));
            findings.add(&path(&["spec", "env", name.as_str()]), found, "each variable from one place", None);
        }
    }
    for (index, need) in spec.needs.env.iter().enumerate() {
        let given = spec.env.contains_key(&need.name)
            || spec.inherit_env.contains(&need.name)
            || is_env_passed(need.name.as_str());
        if !given {
            let path: [Step; 5] = ["spec".into(), "needs".into(), "env".into(), index.into(), "name".into()];
            let found = format!("{}, which the program would not get", quoted(need.name.as_str()));
            findings.add(&path, found, "a variable that spec.env sets or spec.inheritEnv names", None);
        }
    }
}

fn supervision(spec: &Spec, findings: &mut Findings<'_>) {
    let path = |steps: &[&str]| steps.iter().map(|step| Step::from(*step)).collect::<Vec<_>>();
    let backoff = &spec.restart.backoff;
    if backoff.initial > backoff.max {
        let found = format!("{}, more than the longest wait of {}", backoff.initial, backoff.max);
        let expected = "a first wait of at most spec.restart.backoff.max";
        findings.add(&path(&["spec", "restart", "backoff", "initial"]), found, expected, None);
    }
    if let Some(health) = &spec.health {
        if health.exec.is_none() && health.quiet_for.is_none() && health.ping.is_none() {
            let expected = "at least one of exec, quietFor, ping";
            findings.add(&path(&["spec", "health"]), "no sign to look for".to_owned(), expected, None);
        }
        if health.ping.is_some() && !matches!(spec.driver, Driver::Native { .. }) {
            let hint = "only EdgePlane's own protocol has pings: use exec or quietFor".to_owned();
            let found = "a ping with another driver".to_owned();
            findings.add(&path(&["spec", "health", "ping"]), found, "the native driver", Some(hint));
        }
    }
    let resumes = spec.offers.resume || matches!(spec.driver, Driver::Acp { .. } | Driver::Exec { .. });
    if spec.hibernate.is_some() && !resumes && spec.state == StateKind::Stateful {
        let found = "an end for being idle of a program that forgets".to_owned();
        let expected = "a program that goes on with its own session";
        let hint = "say `offers: { resume: true }` if it does, or `state: stateless`".to_owned();
        findings.add(&path(&["spec", "hibernate"]), found, expected, Some(hint));
    }
    let is_short = spec.hibernate.is_some_and(|rule| rule.idle_after < IDLE_AFTER_MIN);
    if is_short && spec.state == StateKind::Stateful {
        let found = "an end at once of an agent that remembers".to_owned();
        let hint = "only `state: stateless` has no program between tasks".to_owned();
        let path = path(&["spec", "hibernate", "idleAfter"]);
        findings.add(&path, found, format!("at least {IDLE_AFTER_MIN}"), Some(hint));
    }
    let recording = &spec.recording;
    if recording.keep.bytes < recording.segment_bytes {
        let found = format!("{}, less than one segment of {}", recording.keep.bytes, recording.segment_bytes);
        let expected = "at least spec.recording.segmentBytes";
        findings.add(&path(&["spec", "recording", "keep", "bytes"]), found, expected, None);
    }
}

/// A set is of agents that forget: each of its replicas takes whatever comes next.
fn replicas(manifest: &Manifest, findings: &mut Findings<'_>) {
    let spec = &manifest.spec;
    let Some(count) = spec.replicas else { return };
    let path = [Step::from("spec"), Step::from("replicas")];
    if spec.state == StateKind::Stateful && count > 1 {
        let hint =
            "an agent that remembers is one: say `state: stateless`, or leave `replicas` out".to_owned();
        let found = format!("{count} replicas of an agent that remembers");
        findings.add(&path, found, "`state: stateless` beside it", Some(hint));
    }
    let longest = format!("{}-{count}", manifest.metadata.name);
    if longest.parse::<AgentName>().is_err() {
        let found = format!("replicas that would be named {}", quoted(&longest));
        findings.add(&path, found, "a shorter metadata.name", None);
    }
    let prepared = [
        ("prepare", !spec.prepare.is_empty()),
        ("deployment", matches!(spec.deployment, Deployment::Artifact { .. })),
    ];
    for (key, _) in prepared.iter().filter(|(_, is)| *is && spec.set_of().is_some()) {
        let found = format!("`{key}` of a set");
        let path = [Step::from("spec"), Step::from(*key)];
        let hint = "install its program by an agent of its own".to_owned();
        findings.add(&path, found, "a program that is there already", Some(hint));
    }
}

/// Each server of tools is reached in one way, and under a name of its own.
fn servers_of_tools(spec: &Spec, findings: &mut Findings<'_>) {
    let Driver::Acp { mcp_servers, tools, .. } = &spec.driver else { return };
    let mut names = BTreeSet::new();
    for (index, server) in mcp_servers.iter().enumerate() {
        let path = |key: &str| {
            vec!["spec".into(), "driver".into(), "mcpServers".into(), Step::from(index), Step::from(key)]
        };
        let is_own = *tools && server.name.as_str() == OWN_TOOLS;
        if is_own || !names.insert(&server.name) {
            let found = format!("the name {} twice", quoted(server.name.as_str()));
            findings.add(&path("name"), found, "a name for each server of tools", None);
        }
        if server.command.is_empty() == server.url.is_none() {
            let found = if server.url.is_some() { "a command and a url" } else { "neither command nor url" };
            findings.add(&path("name"), found.to_owned(), "one of command, url", None);
        }
        if server.url.is_some() && !server.env.is_empty() {
            findings.add(
                &path("env"),
                "variables beside a url".to_owned(),
                "`env` beside `command` only",
                None,
            );
        }
        if server.url.is_none() && !server.headers.is_empty() {
            let expected = "`headers` beside `url` only";
            findings.add(&path("headers"), "headers beside a command".to_owned(), expected, None);
        }
    }
}

/// A turn's arguments say where its text and its session stand, and its output can say what is looked for in it.
fn one_shot(spec: &Spec, findings: &mut Findings<'_>) {
    let Some(shot) = OneShot::of(&spec.driver) else { return };
    let path = |key: &str| vec!["spec".into(), "driver".into(), Step::from(key)];
    for (key, template) in [("first", Some(&shot.first)), ("resume", shot.resume.as_ref())] {
        let Some(template) = template else { continue };
        let is_part = |word: &&String| {
            ["{prompt}", "{session}"].iter().any(|whole| word.contains(whole) && word != whole)
        };
        if let Some(word) = template.iter().find(is_part) {
            let hint = Some("no shell reads them: each is an argument of its own".to_owned());
            findings.add(&path(key), quoted(word), "{prompt} and {session} as whole arguments", hint);
        }
        let prompts = template.iter().filter(|word| *word == "{prompt}").count();
        match (shot.prompt, prompts) {
            (PromptBy::Argument, 1) | (PromptBy::Stdin, 0) => {}
            (PromptBy::Argument, _) => {
                let found = format!("{prompts} arguments {{prompt}}");
                findings.add(&path(key), found, "one argument {prompt}, or `prompt: stdin`", None);
            }
            (PromptBy::Stdin, _) => {
                let found = "an argument {prompt} beside `prompt: stdin`".to_owned();
                findings.add(&path(key), found, "no argument {prompt}", None);
            }
        }
    }
    let names = shot.first.iter().any(|word| word == "{session}");
    if names && shot.session.is_some() {
        let found = "an argument {session} of a new session that its output names".to_owned();
        findings.add(&path("first"), found, "{session} in `first` without `session`", None);
    }
    for (key, pointer) in [("session", &shot.session), ("answer", &shot.answer)] {
        let Some(pointer) = pointer else { continue };
        if shot.output == ExecOutput::Text {
            findings.add(
                &path(key),
                quoted(pointer),
                "`output: json` or `output: stream-json` beside it",
                None,
            );
        } else if !pointer.starts_with('/') {
            findings.add(&path(key), quoted(pointer), "a JSON pointer such as `/result`", None);
        }
    }
}

fn timing(schedule: &Timing, at: &[Step], findings: &mut Findings<'_>) {
    let path = |key: &str| at.iter().cloned().chain([Step::from(key)]).collect::<Vec<_>>();
    let ways = [
        ("cron", schedule.cron.is_some()),
        ("every", schedule.every.is_some()),
        ("at", schedule.at.is_some()),
    ];
    let given: Vec<_> = ways.iter().filter(|(_, given)| *given).map(|(key, _)| format!("`{key}`")).collect();
    if given.len() != 1 {
        let found = if given.is_empty() { "none of cron, every, at".to_owned() } else { given.join(" and ") };
        findings.add(at, found, "one of cron, every, at", None);
    }
    if schedule.from.is_some() && schedule.every.is_none() {
        let found = "a first occurrence without `every`".to_owned();
        findings.add(&path("from"), found, "`from` beside `every` only", None);
    }
    let Some(span) = schedule.every else { return };
    if schedule.time_zone != ZoneName::utc() {
        let hint = "a span is elapsed time: for a time of day write `cron`".to_owned();
        let found = "a time zone beside `every`".to_owned();
        findings.add(&path("timeZone"), found, "`timeZone` beside `cron` or `at` only", Some(hint));
    }
    if schedule.jitter >= span {
        let found = format!("{}, not less than the span of {span}", schedule.jitter);
        findings.add(&path("jitter"), found, "a jitter shorter than `every`", None);
    }
}
