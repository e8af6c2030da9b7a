//! The catalogue as callers see it.

use edgeplane_types::ErrorName;

use super::{
    Audience, METHODS, Method, Need, Repeat,
    later::{LATER, Later},
};
use crate::api::core::{DescribeResult, MethodView};

/// Every method of a profile, or of all: those that are served, then those that are not yet.
#[must_use]
pub fn describe(profile: Option<&str>) -> DescribeResult {
    let is_wanted =
        |name: &str| profile.is_none_or(|profile| name.split_once('/').is_some_and(|(of, _)| of == profile));
    let served = METHODS.iter().filter(|method| is_wanted(method.name)).map(view);
    let later = LATER.iter().filter(|later| is_wanted(later.name)).map(view_of_later);
    DescribeResult { methods: served.chain(later).collect() }
}

fn view(method: &Method) -> MethodView {
    MethodView {
        name: method.name.to_owned(),
        summary: method.summary.trim().to_owned(),
        effect: method.effect.as_str().to_owned(),
        errors: method.errors.iter().map(|name| name.as_str().to_owned()).collect(),
        audience: method.audience.as_str().to_owned(),
        needs: method.need.as_str().to_owned(),
        repeat: method.repeat.as_str().to_owned(),
        served: true,
        since: Some(method.since.to_owned()),
        params: Some(method.params_schema()),
        result: Some(method.result_schema()),
    }
}

fn view_of_later(later: &Later) -> MethodView {
    MethodView {
        name: later.name.to_owned(),
        summary: later.summary.to_owned(),
        effect: later.effect.as_str().to_owned(),
        errors: vec![ErrorName::Unsupported.as_str().to_owned()],
        audience: Audience::Anyone.as_str().to_owned(),
        needs: Need::Nothing.as_str().to_owned(),
        repeat: Repeat::Safe.as_str().to_owned(),
        served: false,
        since: None,
        params: None,
        result: None,
    }
}
