//! Which agents an override covers, and what several of them come to.
//!
//! Pure: who is covered follows from the scope and from what the agent is called now, so whoever comes later is covered
//! by the same rule.

use std::collections::BTreeMap;

use edgeplane_types::{AgentName, OverrideKind, OverrideScope, SafeLabel};

/// Most names or labels that a scope may have: a longer list is a label that somebody has not given yet.
pub const SCOPE_WORDS_MAX: usize = 1_000;

/// An agent as overrides see it.
#[derive(Debug, Clone, Copy)]
pub struct Covered<'a> {
    /// Its name.
    pub name: &'a AgentName,
    /// The name of the set whose replica it is.
    pub set: Option<&'a AgentName>,
    /// Its labels.
    pub labels: &'a BTreeMap<String, SafeLabel>,
}

/// Whether an override with this scope covers an agent.
#[must_use]
pub fn covers(scope: &OverrideScope, agent: &Covered<'_>) -> bool {
    match scope {
        OverrideScope::Node(all) => *all,
        OverrideScope::Agents(names) => {
            names.iter().any(|name| name == agent.name || Some(name) == agent.set)
        }
        OverrideScope::Labels(wanted) => {
            !wanted.is_empty()
                && wanted.iter().all(|(key, value)| {
                    agent.labels.get(key).is_some_and(|found| found.as_str() == value.as_str())
                })
        }
    }
}

/// What several overrides come to for one agent: the strongest of them.
#[must_use]
pub fn strongest(kinds: impl IntoIterator<Item = OverrideKind>) -> Option<OverrideKind> {
    kinds.into_iter().max()
}

/// What is wrong with a scope, if anything is.
#[must_use]
pub fn problem(scope: &OverrideScope) -> Option<String> {
    let words = match scope {
        OverrideScope::Node(true) => return None,
        OverrideScope::Node(false) => {
            return Some("`node` can only be true: name agents or labels instead".to_owned());
        }
        OverrideScope::Agents(names) => names.len(),
        OverrideScope::Labels(labels) => labels.len(),
    };
    match words {
        0 => Some("it covers nobody: name at least one".to_owned()),
        words if words > SCOPE_WORDS_MAX => Some(format!("{words} names; at most {SCOPE_WORDS_MAX}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn name(index: usize) -> AgentName {
        format!("agent-{index}").parse().expect("a name")
    }

    fn any_scope() -> impl Strategy<Value = OverrideScope> {
        prop_oneof![
            Just(OverrideScope::Node(true)),
            proptest::collection::vec(0..5usize, 1..3)
                .prop_map(|names| OverrideScope::Agents(names.into_iter().map(name).collect())),
            proptest::collection::btree_map("[xy]", "[12]", 1..3).prop_map(OverrideScope::Labels),
        ]
    }

    /// What happens: an override comes, or the one with this number is lifted.
    fn any_change() -> impl Strategy<Value = Result<(OverrideScope, bool), usize>> {
        prop_oneof![(any_scope(), any::<bool>()).prop_map(Ok), (0..6usize).prop_map(Err),]
    }

    proptest! {
        /// Proves OVR-002, OVR-004: against a model that keeps for each agent the kinds that were put on it and not
        /// taken off, an agent is held by the strongest of them and free after the last.
        #[test]
        fn agent_is_held_by_the_strongest_until_the_last_is_lifted(
            changes in proptest::collection::vec(any_change(), 1..20),
            labels in proptest::collection::btree_map("[xy]", "[12]", 0..3),
            of_set in any::<bool>(),
        ) {
            let own = name(1);
            let set = name(2);
            let safe: BTreeMap<String, SafeLabel> =
                labels.iter().map(|(key, value)| (key.clone(), value.parse().expect("a label"))).collect();
            let agent = Covered { name: &own, set: of_set.then_some(&set), labels: &safe };
            let mut standing: Vec<(OverrideScope, OverrideKind)> = Vec::new();
            let (mut stops, mut pauses) = (0_usize, 0_usize);
            // The model says by hand who is meant.
            let is_meant = |scope: &OverrideScope| match scope {
                OverrideScope::Node(_) => true,
                OverrideScope::Agents(names) => {
                    names.contains(&own) || (of_set && names.contains(&set))
                }
                OverrideScope::Labels(wanted) => {
                    wanted.iter().filter(|(key, value)| labels.get(*key) != Some(value)).count() == 0
                }
            };
            for change in changes {
                match change {
                    Ok((scope, is_stop)) => {
                        let count = if is_stop { &mut stops } else { &mut pauses };
                        *count += usize::from(is_meant(&scope));
                        standing.push((scope, if is_stop { OverrideKind::Stop } else { OverrideKind::Pause }));
                    }
                    Err(index) if index < standing.len() => {
                        let (scope, kind) = standing.remove(index);
                        let count = if kind == OverrideKind::Stop { &mut stops } else { &mut pauses };
                        *count -= usize::from(is_meant(&scope));
                    }
                    Err(_) => {}
                }
                let found = standing.iter().filter(|(scope, _)| covers(scope, &agent)).map(|(_, kind)| *kind);
                let expected = match (stops, pauses) {
                    (0, 0) => None,
                    (0, _) => Some(OverrideKind::Pause),
                    _ => Some(OverrideKind::Stop),
                };
                prop_assert_eq!(strongest(found), expected);
            }
        }
    }

    #[test]
    fn scopes_that_cover_nobody_are_named() {
        let nobody = [
            OverrideScope::Node(false),
            OverrideScope::Agents(Vec::new()),
            OverrideScope::Labels(BTreeMap::new()),
            OverrideScope::Agents(vec![name(1); SCOPE_WORDS_MAX + 1]),
        ];
        for scope in nobody {
            assert!(problem(&scope).is_some(), "{scope:?}");
        }
        assert_eq!(problem(&OverrideScope::Node(true)), None);
    }
}
