//! The names by which capabilities are tools: legal for every client, one for each capability, and the same each time.
//!
//! A name says whose something is and what that calls it, as far as that can be written. It is made of the capability
//! alone, so nothing that others offer changes it, and nobody can take the name of another.

use edgeplane_types::BackingKind;
use edgeplane_wire::api::capability::CapabilityView;

/// Longest name. Clients take 64 characters and put the name of the server before it, such as `mcp__edgeplane__`.
pub(crate) const NAME_CHARS_MAX: usize = 48;

/// Hexadecimal digits of a capability's id behind a name that does not say all: forty bits of a digest.
const DIGITS: usize = 10;

/// What stands between the owner and what that calls it. No owner's name has an underscore.
const BETWEEN: &str = "__";

/// The name of the tool that a capability is.
pub(crate) fn tool_name(view: &CapabilityView) -> String {
    let kind = match view.backing.kind {
        BackingKind::Connector => "",
        BackingKind::Agent => "agent_",
        BackingKind::Builtin => "edgeplane_",
        BackingKind::Workflow => "workflow_",
        BackingKind::Automation => "automation_",
    };
    let native = match view.backing.kind {
        BackingKind::Workflow => "run",
        BackingKind::Connector | BackingKind::Agent | BackingKind::Builtin | BackingKind::Automation => {
            &view.backing.native_id
        }
    };
    let whole = format!("{kind}{}{BETWEEN}{native}", view.backing.owner);
    let legal: String = whole.chars().map(|c| if is_legal(c) { c } else { '_' }).collect();
    // Of the methods of the node none has another's name when its dots are underscores; a test looks at all of them.
    let says_all = legal == whole || view.backing.kind == BackingKind::Builtin;
    // What looks as if it had digits behind it gets them, too: else a server could choose the name of another tool.
    if says_all && legal.len() <= NAME_CHARS_MAX && !ends_in_digits(&legal) {
        return legal;
    }
    let id = view.capability_id.to_string();
    let digits = id.get(id.len().saturating_sub(DIGITS)..).unwrap_or_default();
    let room = NAME_CHARS_MAX.saturating_sub(DIGITS).saturating_sub(1);
    format!("{}_{digits}", legal.get(..room.min(legal.len())).unwrap_or_default())
}

/// Whether a name can be one that was made here: then it is worth looking for. No tool of the node itself has such a name.
pub(crate) fn is_made(name: &str) -> bool {
    name.len() <= NAME_CHARS_MAX
        && name.chars().all(is_legal)
        && (name.contains(BETWEEN) || ends_in_digits(name))
}

fn is_legal(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

fn ends_in_digits(name: &str) -> bool {
    let Some((before, end)) = name.split_at_checked(name.len().saturating_sub(DIGITS)) else { return false };
    before.ends_with('_') && end.len() == DIGITS && end.chars().all(|c| c.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use edgeplane_wire::catalogue;
    use serde_json::json;

    use super::*;

    fn view(kind: &str, owner: &str, native: &str, id: u8) -> CapabilityView {
        let prefix = if kind == "connector" { String::new() } else { format!("{kind}:") };
        serde_json::from_value(json!({
            "capability_id": format!("cap_01890000-0000-7000-8000-0000000000{id:02x}"),
            "name": format!("{prefix}{owner}/{native}"), "kind": "tool",
            "effect": { "class": "external", "vouched": false, "reversible": false },
            "concurrency": "parallel", "timeout_ms": 1, "digest": "d",
            "policy": { "decision": "allow", "rule": "x", "reason": "x" },
            "backing": { "kind": kind, "owner": owner, "native_id": native },
        }))
        .unwrap()
    }

    /// Proves MCP-041.
    #[test]
    fn name_is_legal_and_says_whose_it_is() {
        let check = |kind: &str, owner: &str, native: &str, expected: &str| {
            let name = tool_name(&view(kind, owner, native, 7));
            assert_eq!(name, expected, "{owner} {native}");
            assert!(name.len() <= NAME_CHARS_MAX && name.chars().all(is_legal) && is_made(&name), "{name}");
        };
        check("connector", "tools", "echo", "tools__echo");
        check("connector", "a", "_b", "a___b");
        check("agent", "helper", "count", "agent_helper__count");
        check("workflow", "release", "release", "workflow_release__run");
        check("builtin", "runtime", "task.get", "edgeplane_runtime__task_get");
        check("connector", "tools", "read file", "tools__read_file_0000000007");
        check("connector", "tools", "l\u{f6}schen/\u{202e}", "tools__l_schen___0000000007");
        check("connector", "tools", "x_0123456789", "tools__x_0123456789_0000000007");
        let long = "n".repeat(900);
        let cut = format!("tools__{}_0000000007", "n".repeat(30));
        check("connector", "tools", &long, &cut);
        let owner = "o".repeat(63);
        check("agent", &owner, "x", &format!("agent_{}_0000000007", "o".repeat(31)));
    }

    /// Proves MCP-041.
    #[test]
    fn no_two_have_one_name() {
        let all = [
            view("connector", "a", "b", 1),
            view("connector", "a", "b_", 2),
            view("connector", "a", "b ", 3),
            view("connector", "a", "b.", 4),
            view("connector", "a", "_b", 5),
            // What would be the name of the fourth.
            view("connector", "a", "b__0000000004", 6),
            view("agent", "a", "b", 7),
            view("connector", "agent-a", "b", 8),
            view("connector", "workflow", "a__run", 9),
            view("workflow", "a", "a", 10),
            view("connector", "a", &format!("{}1", "n".repeat(99)), 11),
            view("connector", "a", &format!("{}2", "n".repeat(99)), 12),
        ];
        let names: BTreeSet<String> = all.iter().map(tool_name).collect();
        assert_eq!(names.len(), all.len(), "{names:?}");
    }

    /// Proves MCP-041.
    #[test]
    fn methods_keep_their_names_apart() {
        let names: Vec<String> = catalogue::METHODS
            .iter()
            .filter_map(|method| method.name.split_once('/'))
            .map(|(profile, native)| tool_name(&view("builtin", profile, native, 1)))
            .collect();
        let apart: BTreeSet<&String> = names.iter().collect();
        assert_eq!(apart.len(), names.len());
    }
}
