//! What the server has received, and which of its replies were given.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde_json::Value;

use super::{Asked, Fault, Reply, Rule, Said, tools::harmless};

/// Requests that are kept; the oldest go first. A test that needs more should look while it runs.
const REQUESTS_KEPT_MAX: usize = 10_000;

/// A request that was received.
#[derive(Debug, Clone)]
pub struct Received {
    /// The path it came to.
    pub path: String,
    /// Its headers, keys included.
    pub headers: Vec<(String, String)>,
    /// All of it.
    pub body: Value,
    /// The same, understood.
    pub asked: Asked,
    /// The text of the user that decided the answer.
    pub prompt: Option<String>,
    /// How often the model had been called before in the same turn.
    pub calls: usize,
    /// The place of the rule that answered it, or none if no rule fitted.
    pub rule: Option<usize>,
    /// Whether the script made it fail.
    pub failed: bool,
}

/// What is to be done with a request.
#[derive(Debug)]
pub(super) enum Decision {
    Fail(Fault, Reply),
    Play(Reply),
}

#[derive(Debug, Default)]
struct State {
    rules: Vec<Rule>,
    /// How many requests have failed as the script says, by rule and reply.
    failed: HashMap<(usize, usize), usize>,
    requests: VecDeque<Received>,
    /// Requests to paths that no model server has.
    strays: Vec<String>,
    problems: Vec<String>,
}

/// Everything that requests change.
#[derive(Debug, Default)]
pub(super) struct Kept(Mutex<State>);

impl Kept {
    pub(super) fn new(rules: Vec<Rule>) -> Self {
        Self(Mutex::new(State { rules, ..State::default() }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // What a panicking test left is still what was received.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add_rule(&self, rule: Rule) {
        self.state().rules.push(rule);
    }

    pub(super) fn stray(&self, request: String) {
        self.state().strays.push(request);
    }

    pub(super) fn problem(&self, problem: String) {
        self.state().problems.push(problem);
    }

    pub(super) fn strays(&self) -> Vec<String> {
        self.state().strays.clone()
    }

    pub(super) fn problems(&self) -> Vec<String> {
        self.state().problems.clone()
    }

    pub(super) fn requests(&self) -> Vec<Received> {
        self.state().requests.iter().cloned().collect()
    }

    /// Finds the answer to a request and keeps the request.
    pub(super) fn decide(
        &self,
        path: String,
        headers: Vec<(String, String)>,
        body: Value,
        asked: Asked,
    ) -> Decision {
        let mut state = self.state();
        let found = find(&state.rules, &asked);
        let (rule, decision) = match &found {
            Some(found) => {
                let failed = state.failed.entry((found.rule, found.calls)).or_default();
                let decision = next(&found.reply, *failed);
                *failed += usize::from(matches!(decision, Decision::Fail(..)));
                (Some(found.rule), decision)
            }
            None => (None, Decision::Play(Reply::new().text(plain(&asked)))),
        };
        let (prompt, calls) = match found {
            Some(found) => (Some(found.text), found.calls),
            None => asked.last_text().map_or((None, 0), |last| (Some(last.text.to_owned()), last.calls)),
        };
        if state.requests.len() == REQUESTS_KEPT_MAX {
            state.requests.pop_front();
        }
        let failed = matches!(decision, Decision::Fail(..));
        state.requests.push_back(Received { path, headers, body, asked, prompt, calls, rule, failed });
        decision
    }
}

/// The answer to what no rule is for.
fn plain(asked: &Asked) -> String {
    asked.schema.as_ref().map_or_else(|| "Ok.".to_owned(), |schema| harmless(schema).to_string())
}

struct Found {
    rule: usize,
    reply: Reply,
    text: String,
    calls: usize,
}

fn find(rules: &[Rule], asked: &Asked) -> Option<Found> {
    asked.candidates().find_map(|candidate| {
        let rule = rules.iter().position(|rule| rule.fits(asked, candidate.text))?;
        let text = candidate.text.to_owned();
        let replies = rules.get(rule).map(|rule| rule.replies.as_slice()).unwrap_or_default();
        let reply = replies.get(candidate.calls).cloned();
        let reply = reply.unwrap_or_else(|| Reply::new().text("Done."));
        Some(Found { rule, reply, text, calls: candidate.calls })
    })
}

/// What a reply does with its next request after so many have failed.
fn next(reply: &Reply, failed: usize) -> Decision {
    let fault = reply.faults.get(failed).or_else(|| {
        // Without steps there is nothing to go on to.
        if reply.steps.is_empty() { reply.faults.last() } else { None }
    });
    match fault {
        Some(fault) => Decision::Fail(fault.clone(), reply.clone()),
        None => Decision::Play(reply.clone()),
    }
}

/// The texts that users sent, one for each turn whose model call did not fail, in their order.
///
/// Requests that offer no tools count only if a rule was for them: they are a program's own, for titles and the like.
pub(super) fn prompts(requests: &[Received]) -> Vec<String> {
    let begun = requests.iter().filter(|request| {
        let meant = request.rule.is_some() || !request.asked.tools.is_empty();
        meant && !request.failed && request.calls == 0
    });
    begun.filter_map(|request| request.prompt.clone()).collect()
}

/// What tools gave back, each once, in their order.
pub(super) fn tool_results(requests: &[Received]) -> Vec<String> {
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for request in requests {
        for said in &request.asked.said {
            if let Said::Result { call, text } = said
                && !seen.contains(&(call, text))
            {
                seen.push((call, text));
            }
        }
    }
    seen.into_iter().map(|(_, text)| text.to_owned()).collect()
}
