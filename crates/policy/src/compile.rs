//! From the texts of a layer to its rules, or to everything that is wrong with them.
//!
//! Reads no file: the caller brings names and texts. Cedar's parser recurses as deep as brackets nest, so what it is
//! given is bounded first; a caller with little stack should still call from a thread with more.

use std::{
    collections::{HashMap, HashSet},
    fmt::Write as _,
    sync::Arc,
};

use cedar_policy::{ParseError, Policy, PolicyId, PolicySet, ValidationMode};
use edgeplane_types::PolicyLayer;
use miette::Diagnostic;
use sha2::{Digest as _, Sha256};

use crate::{
    annotation,
    condition::{Bundle, Condition},
    layer::{Effect, LayerRules, Rule},
    problem::{Finding, Problem, place},
    schema::VALIDATOR,
    statement::{self, Statement},
};

/// Bytes of one file: far more than people read, and little enough to be parsed in a moment. More is a problem.
pub const FILE_BYTES_MAX: usize = 256 * 1024;

/// Files of one layer. More is a problem.
pub const FILES_MAX: usize = 64;

/// Rules of one layer: each costs a little with every decision. More is a problem.
pub const RULES_MAX: usize = 1_000;

/// Brackets within brackets. An unoptimised build takes 57 KiB of stack for each, and a thread may have 2 MiB.
pub const NESTING_MAX: usize = 12;

/// Levels of an expression, brackets and chained operators together. An unoptimised build takes 40 KiB of stack for
/// each when it decides, and a rule for which none is left is an error.
pub const DEPTH_MAX: usize = 32;

/// Problems that are told at once; the rest are left out.
pub const PROBLEMS_MAX: usize = 100;

/// A file of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleFile<'a> {
    /// Its name, for people.
    pub name: &'a str,
    /// What is in it.
    pub text: &'a str,
}

/// Compiles the files of one layer.
///
/// # Errors
///
/// What is wrong with them, in the order of the text.
pub fn compile(layer: PolicyLayer, files: &[RuleFile<'_>]) -> Result<LayerRules, Vec<Problem>> {
    let mut compiler = Compiler { files, ..Compiler::default() };
    compiler.read();
    compiler.validate();
    if !compiler.findings.is_empty() {
        return Err(compiler.problems());
    }
    let Compiler { rules, conditions, .. } = compiler;
    let names = files.iter().map(|file| file.name.to_owned()).collect();
    Ok(LayerRules {
        layer,
        digest: digest(layer, files),
        files: names,
        rules,
        bundles: Bundle::all(&conditions),
        conditions,
    })
}

/// What has been read so far.
#[derive(Default)]
struct Compiler<'a> {
    files: &'a [RuleFile<'a>],
    /// With the index of the file.
    findings: Vec<(usize, Finding)>,
    rules: Vec<Rule>,
    by_id: HashMap<PolicyId, usize>,
    /// Of each rule the index of its file, and where it begins there.
    origins: Vec<(usize, usize)>,
    conditions: Vec<Condition>,
    /// For the schema alone.
    policies: PolicySet,
}

impl Compiler<'_> {
    fn read(&mut self) {
        for (index, file) in self.files.iter().enumerate() {
            if index == FILES_MAX {
                let found = format!("{} files of a layer", self.files.len());
                return self.findings.push((index, Finding::new(0, found, format!("at most {FILES_MAX}"))));
            }
            if file.text.len() > FILE_BYTES_MAX {
                let found = format!("a file of {} bytes", file.text.len());
                let finding = Finding::new(FILE_BYTES_MAX, found, format!("at most {FILE_BYTES_MAX}"))
                    .with_hint("split it: a layer may have several files");
                self.findings.push((index, finding));
                continue;
            }
            match statement::split(file.text) {
                Ok(statements) => self.read_statements(index, statements),
                Err(finding) => self.findings.push((index, finding)),
            }
        }
    }

    fn read_statements(&mut self, index: usize, statements: Vec<Result<Statement<'_>, Finding>>) {
        for statement in statements {
            // Whoever gets so many problems does not read more, and each takes time to find.
            if self.findings.len() >= PROBLEMS_MAX {
                return;
            }
            let read = statement.map_err(|finding| vec![finding]).and_then(|text| self.rule(index, &text));
            if let Err(findings) = read {
                self.findings.extend(findings.into_iter().map(|finding| (index, finding)));
            }
        }
    }

    /// Reads one rule of the file `index`.
    fn rule(&mut self, index: usize, statement: &Statement<'_>) -> Result<(), Vec<Finding>> {
        let policy = Policy::parse(None, statement.text).map_err(|errors| {
            let said = |error: &ParseError| finding(error, statement.offset, "a rule in Cedar's language");
            errors.iter().map(said).collect::<Vec<_>>()
        })?;
        let annotations = annotation::read(&policy, statement)?;
        let id = PolicyId::new(annotations.id.as_str());
        if let Some(first) = self.by_id.get(&id).and_then(|first| self.rules.get(*first)) {
            let found = format!("a second rule `{}`", annotations.id);
            let finding = Finding::new(statement.offset, found, "a name that no other rule of the layer has")
                .with_hint(format!("the first is at {}:{}", first.file, first.line));
            return Err(vec![finding]);
        }
        if self.rules.len() == RULES_MAX {
            let found = format!("more than {RULES_MAX} rules of a layer");
            return Err(vec![Finding::new(statement.offset, found, format!("at most {RULES_MAX}"))]);
        }
        let Some(file) = self.files.get(index) else { return Ok(()) };
        let policy = policy.new_id(id.clone());
        let (effect, condition) = (Effect::of(&policy), Condition::of(&policy));
        self.policies.add(policy).map_err(|error| {
            vec![Finding::new(statement.offset, error.to_string(), "a rule without a slot")]
        })?;
        self.by_id.insert(id, self.rules.len());
        self.conditions.push(condition);
        self.origins.push((index, statement.offset));
        self.rules.push(Rule {
            id: annotations.id,
            effect,
            authority: annotations.authority,
            rate: annotations.rate,
            bytes_max: annotations.bytes_max,
            reason: annotations.reason,
            file: Arc::from(file.name),
            line: place(file.text, statement.offset).0,
        });
        Ok(())
    }

    /// Holds the rules to the schema. A rule that can never match is as wrong as one with a misspelt name.
    fn validate(&mut self) {
        let result = VALIDATOR.validate(&self.policies, ValidationMode::Strict);
        let mut wrong = HashSet::new();
        for error in result.validation_errors() {
            wrong.insert(error.policy_id());
            self.findings.push(self.said_of(error.policy_id(), error, "what the schema of requests has"));
        }
        // Of a rule with a misspelt name Cedar also says that it never matches.
        for warning in result.validation_warnings().filter(|warning| !wrong.contains(warning.policy_id())) {
            let expected = "a rule that can match, in characters of one script";
            self.findings.push(self.said_of(warning.policy_id(), warning, expected));
        }
    }

    /// What Cedar says of a rule, with the index of the file in which the rule stands.
    fn said_of(&self, id: &PolicyId, said: &dyn Diagnostic, expected: &str) -> (usize, Finding) {
        let origin = self.by_id.get(id).and_then(|rule| self.origins.get(*rule));
        let (index, offset) = origin.copied().unwrap_or_default();
        (index, finding(said, offset, expected))
    }

    fn problems(mut self) -> Vec<Problem> {
        self.findings.sort_by_key(|(index, finding)| (*index, finding.offset));
        // Cedar looks at a rule once for each kind of speaker, and says the same of each.
        self.findings.dedup();
        self.findings.truncate(PROBLEMS_MAX);
        let locate = |(index, finding): (usize, Finding)| {
            self.files.get(index).map(|file| finding.locate(file.name, file.text))
        };
        self.findings.into_iter().filter_map(locate).collect()
    }
}

/// What Cedar says of a statement that begins at `offset`.
fn finding(diagnostic: &dyn Diagnostic, offset: usize, expected: &str) -> Finding {
    let label = diagnostic.labels().and_then(|mut labels| labels.next());
    let wanted = label.as_ref().and_then(|label| label.label()?.strip_prefix("expected "));
    Finding {
        offset: offset + label.as_ref().map_or(0, miette::LabeledSpan::offset),
        found: without_policy(&diagnostic.to_string()).to_owned(),
        expected: wanted.unwrap_or(expected).to_owned(),
        hint: diagnostic.help().map(|help| without_policy(&help.to_string()).to_owned()),
    }
}

/// Leaves out which policy Cedar means: the place says it.
fn without_policy(message: &str) -> &str {
    let rest = message.strip_prefix("for policy `").and_then(|rest| rest.split_once("`, "));
    rest.map_or(message, |(_, rest)| rest)
}

fn digest(layer: PolicyLayer, files: &[RuleFile<'_>]) -> Arc<str> {
    let mut hasher = Sha256::new();
    let parts = files.iter().flat_map(|file| [file.name, file.text]);
    for part in std::iter::once(layer.as_str()).chain(parts) {
        // The length tells where a part ends, so that no two lists of files have the same bytes.
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    hexadecimal(&hasher.finalize()).into()
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        let _written: std::fmt::Result = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests;
