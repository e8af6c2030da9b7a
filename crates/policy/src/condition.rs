//! When a rule matches: Cedar's expression of it, evaluated for one request.
//!
//! Cedar's authorizer makes this expression anew for each rule and request and keeps what did not match, which takes
//! more time than to evaluate it. So it is made once here, and the head of a rule is compared without it. A test
//! compares what matches with what the authorizer says.
//!
//! Most rules do not match, and beginning an evaluation takes longer than a small expression does. So rules with the
//! same head stand in bundles, of which one expression says whether any may match.

use std::str::FromStr as _;

use cedar_policy::{
    ActionConstraint, EntityUid, EvalResult, Expression, Policy, PrincipalConstraint, ResourceConstraint,
    eval_expression,
};

use crate::{problem::excerpt, schema::Query};

/// Rules that one evaluation looks at.
const BUNDLED_MAX: usize = 16;

/// When a rule matches.
#[derive(Debug, Clone)]
pub(crate) struct Condition {
    principal: PrincipalConstraint,
    action: ActionConstraint,
    resource: ResourceConstraint,
    /// What remains where the above holds; none where nothing does.
    expression: Option<Expression>,
}

impl Condition {
    pub(crate) fn of(policy: &Policy) -> Self {
        let (principal, resource) = (policy.principal_constraint(), policy.resource_constraint());
        let is_exact = !matches!(principal, PrincipalConstraint::In(_) | PrincipalConstraint::IsIn(..))
            && !matches!(resource, ResourceConstraint::In(_) | ResourceConstraint::IsIn(..));
        let expression = if is_exact {
            policy.as_ref().non_scope_constraints().cloned()
        } else {
            // Only Cedar knows what is in what.
            Some(policy.as_ref().condition())
        };
        Self {
            principal,
            action: policy.action_constraint(),
            resource,
            expression: expression.map(Expression::from),
        }
    }

    /// Whether the rule matches where its head does, or why that cannot be said.
    fn holds_beside_head(&self, query: &Query) -> Result<bool, String> {
        let Some(expression) = &self.expression else { return Ok(true) };
        match eval_expression(&query.request, &query.entities, expression) {
            Ok(EvalResult::Bool(holds)) => Ok(holds),
            Ok(other) => Err(excerpt(&format!("`{other}` is neither true nor false"))),
            Err(error) => Err(excerpt(&error.to_string())),
        }
    }

    fn has_head_of(&self, other: &Self) -> bool {
        (&self.principal, &self.action, &self.resource) == (&other.principal, &other.action, &other.resource)
            && self.expression.is_some() == other.expression.is_some()
    }

    /// Whether the head of the rule holds, but for what is in what.
    fn is_about(&self, query: &Query) -> bool {
        let principal = match &self.principal {
            PrincipalConstraint::Eq(uid) => *uid == query.principal,
            PrincipalConstraint::Is(kind) => kind == query.principal.type_name(),
            PrincipalConstraint::Any | PrincipalConstraint::In(_) | PrincipalConstraint::IsIn(..) => true,
        };
        let is_asked = |uid: &EntityUid| *uid == query.action;
        let action = match &self.action {
            ActionConstraint::Eq(uid) => is_asked(uid),
            // There are no groups of actions.
            ActionConstraint::In(uids) => uids.iter().any(is_asked),
            ActionConstraint::Any => true,
        };
        let resource = match &self.resource {
            ResourceConstraint::Eq(uid) => *uid == query.resource,
            ResourceConstraint::Is(kind) => kind == query.resource.type_name(),
            ResourceConstraint::Any | ResourceConstraint::In(_) | ResourceConstraint::IsIn(..) => true,
        };
        principal && action && resource
    }
}

/// Rules of one layer with the same head, by their places in it.
#[derive(Debug, Clone)]
pub(crate) struct Bundle {
    members: Vec<usize>,
    /// What holds where any of them matches, and may hold or fail where none does; none where each is asked.
    any: Option<Expression>,
}

impl Bundle {
    /// Puts the rules of a layer into bundles, in the order of their first ones.
    pub(crate) fn all(conditions: &[Condition]) -> Vec<Self> {
        let mut bundles: Vec<Vec<usize>> = Vec::new();
        for (place, condition) in conditions.iter().enumerate() {
            let fits = |members: &&mut Vec<usize>| {
                let first = members.first().and_then(|first| conditions.get(*first));
                members.len() < BUNDLED_MAX && first.is_some_and(|first| first.has_head_of(condition))
            };
            match bundles.iter_mut().find(fits) {
                Some(members) => members.push(place),
                None => bundles.push(vec![place]),
            }
        }
        let any = |members: &[usize]| {
            let texts = members.iter().map(|place| conditions.get(*place)?.expression.as_ref());
            let texts: Vec<String> = texts.map(|text| Some(format!("({})", text?))).collect::<Option<_>>()?;
            Expression::from_str(&texts.join(" || ")).ok().filter(|_| members.len() > 1)
        };
        bundles.into_iter().map(|members| Self { any: any(&members), members }).collect()
    }

    /// The places of its rules and what each says, unless it is certain that none of them matches.
    pub(crate) fn holding<'a>(
        &'a self,
        conditions: &'a [Condition],
        query: &'a Query,
    ) -> impl Iterator<Item = (usize, Result<bool, String>)> + 'a {
        let first = self.members.first().and_then(|first| conditions.get(*first));
        let is_about = first.is_some_and(|first| first.is_about(query));
        let may_match = is_about
            && self.any.as_ref().is_none_or(|any| {
                let none = eval_expression(&query.request, &query.entities, any);
                !matches!(none, Ok(EvalResult::Bool(false)))
            });
        let members = if may_match { self.members.as_slice() } else { &[] };
        members
            .iter()
            .filter_map(move |place| Some((*place, conditions.get(*place)?.holds_beside_head(query))))
    }
}
