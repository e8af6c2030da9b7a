//! The capabilities of the node as tools: what servers, agents and workflows offer, listed and called through the one door.
//!
//! Owns which of them are tools, under which names, and what a client was shown last. It decides nothing: what an agent is
//! shown and may call is decided by the node, and each call there is the caller's own.

mod call;
mod changes;
mod choice;
mod described;
mod name;
mod outcome;

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use edgeplane_client::CallError;
use edgeplane_types::ErrorName;
use edgeplane_wire::{
    api::capability::{CapabilitiesResult, CapabilityView, ConnectorStanding, ListCapabilitiesParams},
    catalogue::CapabilityList,
};
use rmcp::model::{JsonObject, RequestMetaObject, Tool};
use serde_json::Value;

use crate::{failure::Failure, link::Link};

pub(crate) use call::{Calling, awaited, call};
pub use choice::{Choice, ChoiceError};
pub(crate) use outcome::pending;

/// Capabilities that are asked for at a time: as many as the node gives. They are one page of the list of tools.
const PAGE: u32 = 500;

/// Pages of the node that are looked through for one page with a tool on it.
const PAGES_MAX: usize = 64;

/// Most capabilities that are tools; what is beyond is left out, and said to be.
const TOOLS_MAX: usize = 10_000;

/// Longest wait for the node's list. It waits for servers that are slow to start, and clients give up after a minute.
const LIST_TIME: Duration = Duration::from_secs(25);

/// Things that are told of one list that were left out.
const LEFT_OUT_MAX: usize = 32;

/// What a client was shown under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Known {
    /// The id of the capability.
    pub(crate) capability: String,
    /// The digest of what was shown.
    pub(crate) digest: String,
    /// Whether clients check what comes of a call by a schema.
    pub(crate) has_output: bool,
}

/// What was shown, by name. When it is full it is forgotten: a call of what is not known looks at what there is.
#[derive(Debug, Default)]
pub(crate) struct Shown(Mutex<HashMap<String, Known>>);

impl Shown {
    fn put(&self, name: &str, known: &Known) {
        let mut shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if shown.len() >= TOOLS_MAX && !shown.contains_key(name) {
            shown.clear();
        }
        shown.insert(name.to_owned(), known.clone());
    }

    fn get(&self, name: &str) -> Option<Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }
}

/// The capabilities of one caller.
#[derive(Debug)]
pub(crate) struct Capabilities {
    link: Arc<Link>,
    choice: Choice,
    /// What any session of this caller was shown last.
    shown: Shown,
    changes: changes::Changes,
}

/// A part of the list of tools.
#[derive(Debug, Default)]
pub(crate) struct Part {
    pub(crate) tools: Vec<Tool>,
    pub(crate) next: Option<String>,
    /// What is no tool, and why.
    pub(crate) left_out: Vec<String>,
    /// The digest of the whole list; only with its beginning.
    pub(crate) digest: Option<String>,
}

/// Where a list goes on: how many tools came before, and the last capability that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cursor {
    before: usize,
    after: String,
}

impl Cursor {
    fn parse(text: &str) -> Result<Self, Failure> {
        let parsed = text.split_once(':').and_then(|(before, after)| {
            let before = before.parse().ok()?;
            after.contains('/').then(|| Self { before, after: after.to_owned() })
        });
        parsed.ok_or_else(|| {
            Failure::new(ErrorName::InvalidParams, "`cursor` is none that `tools/list` gave out")
        })
    }

    fn text(&self) -> String {
        format!("{}:{}", self.before, self.after)
    }
}

impl Capabilities {
    pub(crate) fn new(link: Arc<Link>, choice: Choice) -> Arc<Self> {
        let (shown, changes) = (Shown::default(), changes::Changes::default());
        Arc::new(Self { link, choice, shown, changes })
    }

    /// Whether any are wanted.
    pub(crate) fn are_wanted(&self) -> bool {
        self.choice != Choice::None
    }

    /// A part of them as tools; what is shown is remembered, also by `own`.
    ///
    /// # Errors
    /// When the cursor is none, or the node does not answer.
    pub(crate) async fn part(self: &Arc<Self>, own: &Shown, cursor: Option<&str>) -> Result<Part, Failure> {
        let mut at = cursor.map(Cursor::parse).transpose()?;
        let mut part = Part::default();
        if !self.are_wanted() {
            return Ok(part);
        }
        let mut names = BTreeSet::new();
        for _page in 0..PAGES_MAX {
            let result = self.look(at.as_ref().map(|at| at.after.clone()), Some(PAGE), true).await?;
            if at.is_none() {
                part.left_out.extend(result.connectors.iter().filter_map(unavailable));
                part.digest = Some(result.digest.clone().unwrap_or_default());
            }
            self.take(own, &result.items, (&mut part, &mut names));
            let before = at.take().map_or(0, |at| at.before).saturating_add(result.items.len());
            let Some(after) = result.next_cursor else { break };
            if before >= TOOLS_MAX {
                part.left_out
                    .push(format!("the list ends after {before} capabilities: choose with `--capabilities`"));
                break;
            }
            let next = Cursor { before, after };
            part.next = Some(next.text());
            at = Some(next);
            if !part.tools.is_empty() {
                break;
            }
        }
        if at.is_none() {
            part.next = None;
        }
        part.left_out.truncate(LEFT_OUT_MAX);
        if let (None, Some(digest)) = (cursor, &part.digest) {
            self.listed(digest);
        }
        Ok(part)
    }

    fn take(&self, own: &Shown, items: &[CapabilityView], (part, names): (&mut Part, &mut BTreeSet<String>)) {
        for view in items.iter().filter(|view| self.is_tool(view)) {
            let name = name::tool_name(view);
            if !names.insert(name.clone()) {
                part.left_out.push(format!("`{name}`: two capabilities have this name"));
                continue;
            }
            match described::described(name.clone(), view) {
                Ok(tool) => {
                    let known = known(view, tool.output_schema.is_some());
                    self.shown.put(&name, &known);
                    own.put(&name, &known);
                    part.tools.push(tool);
                }
                Err(why) => part.left_out.push(why),
            }
        }
    }

    fn is_tool(&self, view: &CapabilityView) -> bool {
        described::is_called(view) && self.choice.takes(&view.name)
    }

    /// What a client was shown under a name, or what there is under it if nothing was shown yet.
    ///
    /// # Errors
    /// When the node does not answer.
    pub(crate) async fn find(&self, own: &Shown, name: &str) -> Result<Option<Known>, Failure> {
        if !self.are_wanted() || !name::is_made(name) {
            return Ok(None);
        }
        if let Some(known) = own.get(name).or_else(|| self.shown.get(name)) {
            return Ok(Some(known));
        }
        let mut after = None;
        for _page in 0..PAGES_MAX {
            let result = self.look(after, Some(PAGE), true).await?;
            let found = result.items.iter().find(|view| self.is_tool(view) && name::tool_name(view) == name);
            if let Some(view) = found {
                let schema = described::output_schema(view.output_schema.as_ref());
                return Ok(Some(known(view, schema.is_some())));
            }
            after = result.next_cursor;
            if after.is_none() {
                break;
            }
        }
        Ok(None)
    }

    /// What the node offers to us. Who may call nothing is offered nothing.
    async fn look(
        &self,
        cursor: Option<String>,
        limit: Option<u32>,
        schemas: bool,
    ) -> Result<CapabilitiesResult, CallError> {
        let params = ListCapabilitiesParams { limit, cursor, schemas, ..ListCapabilitiesParams::default() };
        match self.link.call_within::<CapabilityList>(LIST_TIME, &params).await {
            Err(error) if error.name() == ErrorName::PermissionDenied => Ok(CapabilitiesResult {
                items: Vec::new(),
                connectors: Vec::new(),
                next_cursor: None,
                digest: Some(String::new()),
            }),
            result => result,
        }
    }
}

fn known(view: &CapabilityView, has_output: bool) -> Known {
    Known { capability: view.capability_id.to_string(), digest: view.digest.clone(), has_output }
}

fn unavailable(standing: &ConnectorStanding) -> Option<String> {
    let why: String = standing.failure.as_ref()?.chars().take(200).collect();
    Some(format!("connector `{}`: {why}", standing.connector))
}

/// What a call is given beside its arguments, under keys that no client uses for anything else.
#[derive(Debug, Default)]
pub(crate) struct Given {
    /// The digest of what was looked at, if the caller says it itself.
    digest: Option<String>,
    /// The key against calling twice.
    key: Option<String>,
    /// How long a person is waited for, in milliseconds.
    wait_ms: Option<u64>,
}

impl Given {
    pub(crate) fn of(meta: &RequestMetaObject) -> Self {
        let entries: &JsonObject = &meta.0.0;
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        Self {
            digest: text(entries.get(described::META).and_then(|capability| capability.get("digest"))),
            key: text(entries.get("dev.edgeplane/idempotency_key")),
            wait_ms: entries.get("dev.edgeplane/wait_ms").and_then(Value::as_u64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves MCP-040.
    #[test]
    fn cursor_is_one_that_was_given_out() {
        let at = Cursor { before: 7, after: "agent:helper/a:b".to_owned() };
        assert_eq!(Cursor::parse(&at.text()).unwrap(), at);
        for text in ["", "7", "x:a/b", "-1:a/b", "7:nothing", ":a/b"] {
            assert_eq!(Cursor::parse(text).unwrap_err().name, ErrorName::InvalidParams, "{text}");
        }
    }

    #[test]
    fn what_was_shown_is_bounded() {
        let shown = Shown::default();
        let known = Known { capability: "c".into(), digest: "d".into(), has_output: false };
        for n in 0..=TOOLS_MAX {
            shown.put(&format!("t__{n}"), &known);
        }
        assert_eq!((shown.get("t__0"), shown.get(&format!("t__{TOOLS_MAX}"))), (None, Some(known)));
    }
}
