//! What a scenario works with: commands by the standard's names, events that are waited for, and who plays which part.

use std::{collections::BTreeMap, path::PathBuf, process::Command, time::Duration};

use serde_json::{Map, Value, json};

use crate::{
    clock::Deadline,
    http::{CallError, Client, Feed},
    mapping::Mapping,
    rules::{kind, word},
    schemas::{Form, Schemas},
    template::{self, fill, pick},
    watch::Watch,
};

/// How often a condition is looked at that no event announces.
const LOOK: Duration = Duration::from_millis(50);

/// Why a scenario does not go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The implementation does not behave as the scenario says.
    Failed(String),
    /// The implementation declares that it does not serve a command.
    NotServed(String),
    /// What the scenario needs was not brought.
    NotApplicable(String),
}

/// What comes of a step.
pub type Step<T> = Result<T, Stop>;

/// How the runner is set up.
#[derive(Debug, Clone)]
pub struct Options {
    /// How long something is waited for.
    pub patience: Duration,
    /// The command that restarts the implementation.
    pub restart: Option<String>,
    /// The folder into which AC-2 writes what it found.
    pub publish: Option<PathBuf>,
}

/// A part that is played, and the session that is followed because of it.
#[derive(Debug, Clone)]
pub struct Part {
    /// What the implementation calls the agent.
    pub agent: String,
    /// Its session.
    pub session: String,
    /// The thread that it works in.
    pub thread: String,
    number: usize,
}

/// What a command came to.
#[derive(Debug, Clone)]
pub struct Said {
    command: String,
    /// The whole result.
    pub raw: Value,
    picked: Map<String, Value>,
}

impl Said {
    /// What of it has this name; null if there is nothing.
    #[must_use]
    pub fn get(&self, name: &str) -> &Value {
        self.picked.get(name).unwrap_or(&Value::Null)
    }

    /// The same as words.
    ///
    /// # Errors
    /// If it is not there.
    pub fn text(&self, name: &str) -> Step<String> {
        let found = self.get(name).as_str().map(str::to_owned);
        found
            .ok_or_else(|| Stop::Failed(format!("`{}` gave no `{name}`: {}", self.command, short(&self.raw))))
    }

    /// The same as a list.
    #[must_use]
    pub fn list(&self, name: &str) -> Vec<Value> {
        self.get(name).as_array().cloned().unwrap_or_default()
    }
}

/// A value for people, not too long.
#[must_use]
pub fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(600) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// Fails a scenario unless something holds.
///
/// # Errors
/// If it does not.
pub fn must(holds: bool, otherwise: impl FnOnce() -> String) -> Step<()> {
    if holds { Ok(()) } else { Err(Stop::Failed(otherwise())) }
}

/// The implementation under test, and what was heard of it.
#[derive(Debug)]
pub struct World {
    /// How it is spoken to.
    pub client: Client,
    /// In which words.
    pub mapping: Mapping,
    /// Everything that it said.
    pub watch: Watch,
    options: Options,
    parts: BTreeMap<String, Part>,
    words: u64,
    run: String,
}

impl World {
    /// Of an implementation that nothing was said to yet. `run` makes the words of this run differ from another one's.
    #[must_use]
    pub fn new(
        client: Client,
        mapping: Mapping,
        schemas: Schemas,
        (options, run): (Options, String),
    ) -> Self {
        let watch = Watch::new(schemas);
        Self { client, mapping, watch, options, parts: BTreeMap::new(), words: 0, run }
    }

    /// A word that no other turn of any run has.
    pub fn fresh(&mut self) -> String {
        self.words += 1;
        format!("w{}x{}", self.run, self.words)
    }

    /// Until when something is waited for that begins now.
    #[must_use]
    pub fn deadline(&self) -> Deadline {
        Deadline::within(self.options.patience)
    }

    /// Gives a command, and what is called what in its result.
    ///
    /// # Errors
    /// If it is refused or not served.
    pub fn ask(&mut self, command: &str, given: &Value) -> Step<Said> {
        match self.try_ask(command, given)? {
            Ok(said) => Ok(said),
            Err(error) => Err(Stop::Failed(format!("`{command}`: {error}"))),
        }
    }

    /// Gives a command that may be refused.
    ///
    /// # Errors
    /// If it is not served, or there is no answer.
    pub fn try_ask(&mut self, command: &str, given: &Value) -> Step<Result<Said, CallError>> {
        let Some(row) = self.mapping.commands.get(command).cloned() else {
            return Err(Stop::NotServed(format!("the mapping of {} has no `{command}`", self.mapping.name)));
        };
        let mut all: Map<String, Value> = self.mapping.values.clone().into_iter().collect();
        all.extend(given.as_object().cloned().unwrap_or_default());
        let params = match &row.params {
            Value::Null => json!({}),
            template => fill(template, &all).unwrap_or_else(|| json!({})),
        };
        match self.client.call(&row.method, &params) {
            Ok(raw) => {
                let picked =
                    row.result.iter().map(|(name, place)| (name.clone(), pick(&raw, place))).collect();
                Ok(Ok(Said { command: command.to_owned(), raw, picked }))
            }
            Err(CallError::Refused { name, message }) if self.mapping.not_served.contains(&name) => {
                Err(Stop::NotServed(format!("`{command}` (`{}`) answers `{name}`: {message}", row.method)))
            }
            Err(error @ CallError::Refused { .. }) => Ok(Err(error)),
            Err(error @ CallError::Broken { .. }) => Err(Stop::Failed(error.to_string())),
        }
    }

    /// Whoever plays a part; its session is followed from then on.
    ///
    /// # Errors
    /// If nobody does.
    pub fn part(&mut self, name: &str) -> Step<Part> {
        if let Some(part) = self.parts.get(name) {
            return Ok(part.clone());
        }
        let Some(agent) = self.mapping.agents.get(name).cloned() else {
            return Err(Stop::NotApplicable(format!("no agent plays the part `{name}`")));
        };
        let said = self.ask("find_session", &json!({ "agent": agent }))?;
        let (session, thread) = (said.text("sessionId")?, said.text("threadId")?);
        let number = self.watch.follow(&self.client, &self.mapping, &session);
        let part = Part { agent, session, thread, number };
        self.parts.insert(name.to_owned(), part.clone());
        Ok(part)
    }

    /// What to say so that an agent does this, with words filled in.
    ///
    /// # Errors
    /// If nobody knows.
    pub fn prompt(&self, name: &str, word: &str) -> Step<String> {
        let found = self.mapping.prompts.get(name);
        let given = json!({ "word": word });
        let filled = found.and_then(|text| template::words(text, given.as_object()?));
        filled.ok_or_else(|| Stop::NotApplicable(format!("no prompt says how to have an agent do `{name}`")))
    }

    /// Submits a turn; gives its id and what became of it.
    ///
    /// # Errors
    /// If it is not accepted.
    pub fn submit(&mut self, part: &Part, prompt: &str) -> Step<Said> {
        let word = self.fresh();
        let text = self.prompt(prompt, &word)?;
        self.ask(
            "submit_turn",
            &json!({ "agent": part.agent, "threadId": part.thread, "text": text, "key": word }),
        )
    }

    /// Submits a turn and waits for its end, which must be a good one. Gives its id.
    ///
    /// # Errors
    /// If it does not end well.
    pub fn turn(&mut self, part: &Part, prompt: &str) -> Step<String> {
        let turn = self.submit(part, prompt)?.text("turnId")?;
        let end = self.end_of(part, &turn)?;
        must(kind(&end) == "turn.completed", || format!("turn {turn} ended with {}", short(&end)))?;
        Ok(turn)
    }

    /// Waits for the end of a turn.
    ///
    /// # Errors
    /// If it does not come.
    pub fn end_of(&mut self, part: &Part, turn: &str) -> Step<Value> {
        let is_end = |event: &Value| {
            matches!(kind(event), "turn.completed" | "turn.failed") && word(event, "turnId") == turn
        };
        self.event(part, &format!("the end of turn {turn}"), is_end)
    }

    /// Waits for an event of a part's session.
    ///
    /// # Errors
    /// If none comes.
    pub fn event(&mut self, part: &Part, what: &str, is_it: impl Fn(&Value) -> bool) -> Step<Value> {
        let number = part.number;
        self.until(what, |world| Ok(world.watch.events(number).iter().find(|event| is_it(event)).cloned()))
    }

    /// Waits for an event of a kind in a turn.
    ///
    /// # Errors
    /// If none comes.
    pub fn of_turn(&mut self, part: &Part, wanted: &str, turn: &str) -> Step<Value> {
        let is_it = |event: &Value| kind(event) == wanted && word(event, "turnId") == turn;
        self.event(part, &format!("`{wanted}` of turn {turn}"), is_it)
    }

    /// Everything that was heard of a part's session so far, in the public form.
    #[must_use]
    pub fn heard(&self, part: &Part) -> &[Value] {
        self.watch.events(part.number)
    }

    /// The same in the strict form.
    #[must_use]
    pub fn heard_strict(&self, part: &Part) -> &[Value] {
        self.watch.strict(part.number)
    }

    /// Waits until something is there.
    ///
    /// # Errors
    /// If it is not there in time.
    pub fn until<T>(&mut self, what: &str, mut look: impl FnMut(&mut Self) -> Step<Option<T>>) -> Step<T> {
        let deadline = self.deadline();
        loop {
            if let Some(found) = look(self)? {
                return Ok(found);
            }
            if deadline.left().is_none() {
                return Err(Stop::Failed(format!("waited in vain for {what}")));
            }
            self.watch.hear(LOOK);
        }
    }

    /// Decides an action: `approve` or `deny`.
    ///
    /// # Errors
    /// If the decision is not taken.
    pub fn decide(&mut self, required: &Value, decision: &str) -> Step<()> {
        let action = word(required, "actionId").to_owned();
        let Some(verdict) = self.mapping.decisions.get(decision).cloned() else {
            return Err(Stop::NotApplicable(format!("the mapping has no decision `{decision}`")));
        };
        self.watch.deeds.decided.insert(action.clone());
        let given = json!({
            "actionId": action, "decision": verdict, "digest": pick(required, "/payload/digest"),
        });
        self.ask("respond_action", &given).map(drop)
    }

    /// The read model of a part's session as a whole, in a form of the standard, and up to where it goes.
    ///
    /// # Errors
    /// If it is not to be had.
    pub fn snapshot(&mut self, part: &Part, form: Form) -> Step<(Value, u64)> {
        let projection = match form {
            Form::Public => self.mapping.stream.public.clone(),
            Form::Strict => self.mapping.stream.strict.clone(),
        };
        self.state_of(part, &projection)
    }

    fn state_of(&mut self, part: &Part, projection: &str) -> Step<(Value, u64)> {
        let said =
            self.ask("read_snapshot", &json!({ "sessionId": part.session, "projection": projection }))?;
        Ok((said.get("state").clone(), said.get("through").as_u64().unwrap_or_default()))
    }

    /// What the read model says of a part's thread.
    ///
    /// # Errors
    /// If it does not know the thread.
    pub fn thread(&mut self, part: &Part) -> Step<Value> {
        let (state, _) = self.snapshot(part, Form::Strict)?;
        let threads = pick(&state, "/threads").as_array().cloned().unwrap_or_default();
        let found = threads.into_iter().find(|thread| word(thread, "threadId") == part.thread);
        found.ok_or_else(|| Stop::Failed(format!("the read model does not know thread {}", part.thread)))
    }

    /// Follows events for a moment, apart from all else that is followed.
    ///
    /// # Errors
    /// If they are not to be had.
    pub fn open(&self, path: &str, last: Option<&str>) -> Step<Feed> {
        let client = self.client.hasty(self.options.patience);
        client.follow(path, last).map_err(|error| Stop::Failed(error.to_string()))
    }

    /// Writes an example that was found, if examples are wanted.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn publish(&self, name: &str, example: &Value) -> Step<()> {
        let Some(folder) = &self.options.publish else { return Ok(()) };
        let path = folder.join(format!("{}.json", name.replace('.', "-")));
        let written = std::fs::write(&path, format!("{example:#}\n"));
        written.map_err(|error| Stop::Failed(format!("cannot write `{}`: {error}", path.display())))
    }

    /// Restarts the implementation.
    ///
    /// # Errors
    /// If there is no way to, or it is not there again.
    pub fn restart(&mut self) -> Step<()> {
        let Some(command) = self.options.restart.clone() else {
            return Err(Stop::NotApplicable(
                "no way to restart it was given: `--restart COMMAND`".to_owned(),
            ));
        };
        let ended = Command::new("/bin/sh").args(["-c", &command]).status();
        let is_good = ended.as_ref().is_ok_and(std::process::ExitStatus::success);
        must(is_good, || format!("`{command}` ended with {ended:?}"))?;
        self.until("the implementation answers again", |world| {
            let (method, params) = ("core/health".to_owned(), json!({}));
            let health = world.mapping.commands.get("health");
            let method = health.map_or(method, |command| command.method.clone());
            Ok(world.client.call(&method, &params).is_ok().then_some(()))
        })
    }

    /// Denies what a scenario that broke off left undecided, so that the next one finds nobody waiting.
    pub fn leave_nobody_waiting(&mut self) {
        let parts: Vec<Part> = self.parts.values().cloned().collect();
        for part in parts {
            let events = self.heard(&part);
            let of = |wanted| events.iter().filter(move |event| kind(event) == wanted);
            let resolved: Vec<&str> = of("action.resolved").map(|event| word(event, "actionId")).collect();
            let open = of("action.required").filter(|event| !resolved.contains(&word(event, "actionId")));
            let left = open.filter(|event| !self.watch.deeds.decided.contains(word(event, "actionId")));
            let left: Vec<Value> = left.cloned().collect();
            for required in left {
                // It may have been decided meanwhile. Whatever is wrong with that, the events tell.
                if self.decide(&required, "deny").is_ok() {
                    let turn = word(&required, "turnId").to_owned();
                    drop(self.end_of(&part, &turn));
                }
            }
        }
    }

    /// Holds all that was heard since the last time to the rules, and the snapshots as well.
    pub fn settle(&mut self) -> Vec<String> {
        let mut wrong = Vec::new();
        let parts: Vec<Part> = self.parts.values().cloned().collect();
        let event_bytes = self.mapping.limits.event_bytes;
        for part in parts {
            for form in [Form::Public, Form::Strict] {
                let (state, through) = match self.snapshot(&part, form) {
                    Ok(read) => read,
                    Err(stop) => {
                        wrong.push(format!("{form:?} snapshot of {}: {stop:?}", part.session));
                        continue;
                    }
                };
                let deadline = self.deadline();
                if !self.watch.catch_up(part.number, (form, through), deadline) {
                    let why = format!("{form:?} events do not come as far as the snapshot, {through}");
                    wrong.push(why);
                }
                wrong.extend(self.watch.settle(part.number, (form, &state, through), event_bytes));
            }
            for projection in self.mapping.stream.snapshots.clone() {
                match self.state_of(&part, &projection) {
                    Ok((state, _)) => {
                        let found = self.watch.problems_of_snapshot(Form::Public, &state);
                        wrong.extend(found.into_iter().map(|why| format!("snapshot `{projection}`: {why}")));
                    }
                    Err(stop) => wrong.push(format!("snapshot `{projection}`: {stop:?}")),
                }
            }
        }
        wrong
    }
}
