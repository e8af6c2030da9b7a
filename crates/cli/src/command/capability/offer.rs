//! `edgeplane capability register` and `withdraw`: what an agent offers.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use edgeplane_types::{ErrorName, SafeLabel};
use edgeplane_wire::{
    api::capability::{RegisterCapabilityParams, RegistrationView, WithdrawCapabilityParams},
    catalogue::{CapabilityRegister, CapabilityWithdraw},
};
use serde_json::{Value, json};

use crate::{context::Context, failure::Failure, output::Output};

/// Have an agent offer a capability
///
/// It is offered for as long as the agent's epoch lives, or until it is withdrawn. Its calls stand in the agent's stream
/// as `capability.called`; the agent answers each with `capability/invocation.complete`. Inside an agent it is that
/// agent's; from outside an operator names the agent, and vouches for what the description says of its effect.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane capability register lookup --file lookup.json
  edgeplane capability register lookup --agent writer --file lookup.json")]
pub(super) struct RegisterArgs {
    #[command(flatten)]
    described: DescriptionArgs,
}

/// What is said of a capability.
#[derive(Debug, Args)]
pub(super) struct DescriptionArgs {
    /// What it is called within the agent
    #[arg(value_name = "NAME")]
    name: SafeLabel,
    /// Whose it is to be, by name or id; inside an agent, that one's
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// A JSON file with what is said of it: title, description, input_schema, output_schema, effect, timeout_ms
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

impl DescriptionArgs {
    pub(super) fn params(&self) -> anyhow::Result<RegisterCapabilityParams> {
        let mut said = match &self.file {
            None => json!({}),
            Some(file) => {
                let text = std::fs::read_to_string(file)
                    .with_context(|| format!("cannot read `{}`", file.display()))?;
                serde_json::from_str::<Value>(&text).map_err(|error| self.wrong(&error.to_string()))?
            }
        };
        let entries = said.as_object_mut().ok_or_else(|| self.wrong("it is no object"))?;
        entries.insert("name".to_owned(), json!(self.name));
        if let Some(agent) = &self.agent {
            entries.insert("agent".to_owned(), json!(agent));
        }
        serde_json::from_value(said).map_err(|error| self.wrong(&error.to_string()).into())
    }

    fn wrong(&self, why: &str) -> Failure {
        let file = self.file.as_ref().map(|file| file.display().to_string()).unwrap_or_default();
        Failure::new(ErrorName::InvalidParams, format!("`{file}` describes no capability: {why}"))
    }
}

/// Take back what an agent offers
///
/// Calls that run may still be answered.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane capability withdraw agent:writer/lookup
  edgeplane capability withdraw agent:writer/lookup -o json | jq -r .digest")]
pub(super) struct WithdrawArgs {
    /// Its whole name or its id
    #[arg(value_name = "CAPABILITY")]
    capability: String,
}

pub(super) fn register(args: &RegisterArgs, context: &mut Context) -> anyhow::Result<()> {
    let answer = context.ask::<CapabilityRegister>(&args.described.params()?)?;
    context.show(&answer, |out, view| registered(out, &view))
}

pub(super) fn withdraw(args: &WithdrawArgs, context: &mut Context) -> anyhow::Result<()> {
    let params = WithdrawCapabilityParams { capability: args.capability.clone() };
    let answer = context.ask::<CapabilityWithdraw>(&params)?;
    context.show(&answer, |out, view| {
        out.note(&format!("{} is offered no more", view.name));
        Ok(())
    })
}

fn registered(out: &mut Output, view: &RegistrationView) -> anyhow::Result<()> {
    out.note(&format!("{} is offered by epoch {}, digest {}", view.name, view.epoch, view.digest));
    Ok(())
}
