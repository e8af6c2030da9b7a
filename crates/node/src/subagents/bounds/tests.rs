//! A child is never more than its parent, whichever way it is made.

use edgeplane_manifest::parse;

use super::*;

fn manifest(spec: &str) -> Manifest {
    let text = format!(
        "apiVersion: edgeplane.dev/v1alpha1\nkind: Agent\nmetadata: {{ name: parent }}\nspec:\n  driver: {{ type: \
         native }}\n  command: [/bin/cat]\n{spec}"
    );
    parse("a.yaml", &text).unwrap().remove(0)
}

fn child(parent: &Manifest, isolation: Isolation) -> Manifest {
    let made = derived(parent, "child".parse().unwrap(), &Overrides::default()).unwrap();
    as_child(parent, made, isolation, "/srv/parent").unwrap()
}

const RICH: &str = "
  user: nobody
  limits: { memory: 64MiB, pids: 10 }
  secrets: [{ name: key, from: { env: KEY }, as: env }]
  env: { API_KEY: { secret: key }, PLAIN: x }
  inheritEnv: [EDITOR]
  subagents: { max: 3, depth: 2 }
  risk: high
  cwd: /srv/work
  subscriptions: [news]
";

/// Proves SUB-005.
#[test]
fn child_that_is_derived_has_what_its_parent_has_and_no_more() {
    let parent = manifest(RICH);
    let made = child(&parent, Isolation::standard());
    check_within(&parent, &made).unwrap();
    assert_eq!(made.spec.cwd, None, "a folder of its own");
    assert!(made.spec.subscriptions.is_empty());
    assert_eq!(made.spec.principal.as_ref().unwrap().as_str(), "parent");
    assert_eq!(made.spec.subagents, Some(Subagents { max: 3, depth: 1 }));
    assert_eq!(child(&made, Isolation::standard()).spec.subagents, None, "the last generation");
    let shared = Isolation { workspace: WorkspaceIsolation::Shared, ..Isolation::standard() };
    assert_eq!(child(&parent, shared).spec.cwd.unwrap().as_str(), "/srv/parent");
}

/// Proves SUB-005.
#[test]
fn narrowed_child_has_no_secrets_and_calls_nothing() {
    let parent = manifest(&format!(
        "{RICH}  policy: |\n    @id(\"own\") forbid (principal, action, resource) when {{ context.hops > 9 }};\n"
    ));
    let narrowed = Isolation { permission: PermissionIsolation::Narrowed, ..Isolation::standard() };
    let made = child(&parent, narrowed);
    check_within(&parent, &made).unwrap();
    assert!(made.spec.secrets.is_empty() && made.spec.inherit_env.is_empty());
    assert_eq!(made.spec.env.len(), 1);
    assert_eq!(made.spec.subagents, None);
    let rules = made.spec.policy.as_deref().unwrap();
    assert!(rules.contains("narrowed-subagent") && rules.contains("own"), "{rules}");
    crate::profile::own_rules(&made).unwrap();
    let plain = child(&manifest(""), narrowed);
    crate::profile::own_rules(&plain).unwrap();
}

/// Proves SUB-004.
#[test]
fn what_a_child_would_have_more_than_its_parent_is_named() {
    let parent = manifest(RICH);
    let check = |change: &dyn Fn(&mut Manifest), expected: &str| {
        let mut made = child(&parent, Isolation::standard());
        change(&mut made);
        let error = check_within(&parent, &made).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check(&|child| child.spec.user = None, "spec.user");
    check(&|child| child.spec.no_new_privs = false, "spec.noNewPrivs");
    check(&|child| child.spec.limits.memory = None, "spec.limits.memory");
    check(&|child| child.spec.limits.pids = Some(11), "spec.limits.pids");
    check(&|child| child.spec.limits.best_effort = true, "spec.limits.bestEffort");
    check(&|child| child.spec.risk = Risk::Low, "spec.risk");
    let mut bare = parent.clone();
    bare.spec.secrets.clear();
    assert!(check_within(&bare, &child(&parent, Isolation::standard())).is_err());
    bare = parent.clone();
    bare.spec.inherit_env.clear();
    assert!(check_within(&bare, &child(&parent, Isolation::standard())).is_err());
    bare = parent.clone();
    bare.spec.policy = Some("@id(\"x\") forbid (principal, action, resource);".to_owned());
    assert!(check_within(&bare, &child(&parent, Isolation::standard())).is_err());
}

/// Proves SUB-005.
#[test]
fn overrides_are_held_to_the_rules_of_any_manifest() {
    let parent = manifest(RICH);
    let with = |overrides: &Overrides<'_>| derived(&parent, "child".parse().unwrap(), overrides);
    let named = BTreeSet::from(["PLAIN".to_owned()]);
    let made = with(&Overrides { environment: Some(&named), ..Overrides::default() }).unwrap();
    assert!(made.spec.secrets.is_empty() && made.spec.inherit_env.is_empty());
    assert_eq!(made.spec.env.len(), 1);
    let limits = SubagentLimits { memory: Some("32MiB".to_owned()), ..SubagentLimits::default() };
    let made = with(&Overrides { limits: Some(&limits), ..Overrides::default() }).unwrap();
    check_within(&parent, &made).unwrap();
    let limits = SubagentLimits { memory: Some("much".to_owned()), ..SubagentLimits::default() };
    assert!(with(&Overrides { limits: Some(&limits), ..Overrides::default() }).is_err());
    let command = ["/bin/sh".to_owned(), "-c".to_owned()];
    let made = with(&Overrides { command: Some(&command), ..Overrides::default() }).unwrap();
    assert_eq!((made.spec.command.len(), made.spec.args.len()), (1, 1));
}
