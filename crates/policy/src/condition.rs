//! When a rule matches: Cedar's expression of it, evaluated for one request.
//!
//! Cedar's authorizer makes this expression anew for each rule and request and keeps what did not match, which takes
//! more time than to evaluate it. So it is made once here, and the head of a rule is compared without it. A test
//! compares what matches with what the authorizer says.

use cedar_policy::{
    ActionConstraint, EntityUid, EvalResult, Expression, Policy, PrincipalConstraint, ResourceConstraint,
    eval_expression,
};

use crate::{problem::excerpt, schema::Query};

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

    /// Whether the rule matches, or why that cannot be said.
    pub(crate) fn holds(&self, query: &Query) -> Result<bool, String> {
        if !self.is_about(query) {
            return Ok(false);
        }
        let Some(expression) = &self.expression else { return Ok(true) };
        match eval_expression(&query.request, &query.entities, expression) {
            Ok(EvalResult::Bool(holds)) => Ok(holds),
            Ok(other) => Err(excerpt(&format!("`{other}` is neither true nor false"))),
            Err(error) => Err(excerpt(&error.to_string())),
        }
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
