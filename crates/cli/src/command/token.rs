//! `edgeplane token`: who else may speak, and as whom.

use std::{io::Write as _, os::unix::fs::OpenOptionsExt as _, path::PathBuf, time::Duration};

use anyhow::Context as _;
use base64::Engine as _;
use clap::{Args, Subcommand, builder::PossibleValuesParser, builder::TypedValueParser};
use edgeplane_types::{SafeLabel, Scope, Timestamp, TokenId, TokenKind};
use edgeplane_wire::{
    api::security::{AddCertificateParams, CreateParams, CreateResult, RevokeParams, TokenView},
    catalogue::{CertificateAdd, TokenCreate, TokenList, TokenRevoke},
};

use super::{Outcome, inbox::short_time};
use crate::{
    context::Context,
    output::{Color, Format, Output, paint},
    quantity,
    table::{Table, cell},
};

/// Let a person or a program speak in a name of its own
///
/// A token is a secret. Whoever shows it to the node is known by its name and may do what its scopes say, and no more. It
/// makes nobody of an agent: what runs inside an agent stays that agent. Programs name the file of theirs in
/// EDGEPLANE_TOKEN_FILE.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane token create --principal ci --kind service --scope signal --into ci.token
  edgeplane token list
  edgeplane token revoke tok_01890000-0000-7000-8000-000000000002 --reason \"left the team\"")]
pub(crate) struct TokenArgs {
    #[command(subcommand)]
    command: TokenCommand,
}

#[derive(Debug, Subcommand)]
enum TokenCommand {
    Create(CreateArgs),
    Certificate(CertificateArgs),
    List(ListArgs),
    Revoke(RevokeArgs),
}

/// Make a token
///
/// Prints the secret, this once: the node keeps its digest only. An operator's token is for a person, whose messages come
/// in on the channel `operator`. A service's token is for a program, such as a workflow engine: its messages come in on
/// `workflow` with at most the authority `delegated`, and it has the scopes read, signal and delegate only.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane token create --principal ci --kind service --scope signal --into ci.token
  edgeplane token create --principal ann --kind operator --scope read,signal,approve --role release --expires 30d
  edgeplane token create --principal watcher --kind operator --scope read,attach --expires 8h -o json
  edgeplane token create --principal ann --kind operator --scope read --remote --expires 8h --into ann.token

SCOPES:
  read       see what the node knows              control    type into terminals
  signal     send messages                        supervise  start, stop, declare and change agents
  attach     watch terminals and recordings       approve    decide what waits for a person
  delegate   speak for users, each with no more rights than both have")]
struct CreateArgs {
    #[command(flatten)]
    bearer: Bearer,
    /// When it is worth nothing, such as 30d; else it is good until it is revoked
    #[arg(long, value_name = "TIME", value_parser = quantity::parse_duration)]
    expires: Option<Duration>,
    /// Let a person's token count over the network, too, where nobody can see whether an agent found it
    #[arg(long)]
    remote: bool,
    /// Write the secret into this new file, for its owner alone, instead of printing it
    #[arg(long, value_name = "FILE")]
    into: Option<PathBuf>,
}

/// As whom somebody is known, and what they may do.
#[derive(Debug, Args)]
struct Bearer {
    /// As whom the bearer is known
    #[arg(long, value_name = "NAME")]
    principal: SafeLabel,
    /// For a person or for a program
    #[arg(long, value_name = "KIND", value_parser = words(&["operator", "service"]).map(|word| kind(&word)))]
    kind: TokenKind,
    /// What the bearer may do; several, or separated by commas
    #[arg(long = "scope", value_name = "SCOPE", required = true, value_delimiter = ',', value_parser = words(SCOPES).map(|word| scope(&word)))]
    scopes: Vec<Scope>,
    /// A role in which the bearer decides what waits for a person; several if need be
    #[arg(long = "role", value_name = "ROLE")]
    roles: Vec<SafeLabel>,
}

/// Know a client by its certificate
///
/// Whoever proves over TLS to have the certificate's key is known by its name and needs no token. The listener must verify
/// clients: edgeplaned --tls-client-ca. It is listed and revoked like a token.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane token certificate ann.pem --principal ann --kind operator --scope read,signal
  edgeplane token certificate ci.pem --principal ci --kind service --scope read --expires 90d")]
struct CertificateArgs {
    /// The certificate in PEM; of several, the first
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    bearer: Bearer,
    /// When it is worth nothing, such as 30d; else it is good until it is revoked
    #[arg(long, value_name = "TIME", value_parser = quantity::parse_duration)]
    expires: Option<Duration>,
}

const SCOPES: &[&str] = &["read", "signal", "attach", "control", "supervise", "approve", "delegate"];

fn words(all: &'static [&'static str]) -> PossibleValuesParser {
    PossibleValuesParser::new(all)
}

fn kind(word: &str) -> TokenKind {
    if word == "operator" { TokenKind::Operator } else { TokenKind::Service }
}

fn scope(word: &str) -> Scope {
    // The parser lets no other words pass.
    Scope::from_word(word).unwrap_or(Scope::Read)
}

/// List the tokens that were made
///
/// Oldest first, also those that are worth nothing any more. Secrets are not shown: nobody has them but their bearers.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane token list
  edgeplane token list -o json | jq -r '.items[] | select(.revoked == null) | .principal'")]
struct ListArgs {}

/// Make a token worth nothing
///
/// Connections on which it was shown lose their rights with their next request, and what they watch ends within a second.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane token revoke tok_01890000-0000-7000-8000-000000000002
  edgeplane token revoke tok_01890000-0000-7000-8000-000000000002 --reason lost")]
struct RevokeArgs {
    /// The token's id
    #[arg(value_name = "TOKEN")]
    id: TokenId,
    /// Why, for the record
    #[arg(long, value_name = "TEXT", default_value = "")]
    reason: String,
}

pub(crate) fn run(args: &TokenArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    match &args.command {
        TokenCommand::Create(args) => create(args, context)?,
        TokenCommand::Certificate(args) => certificate(args, context)?,
        TokenCommand::List(ListArgs {}) => {
            let answer = context.ask::<TokenList>(&edgeplane_wire::api::Empty {})?;
            context.show(&answer, |out, result| list(out, &result.items))?;
        }
        TokenCommand::Revoke(args) => {
            let params = RevokeParams { token_id: args.id, reason: args.reason.clone() };
            let answer = context.ask::<TokenRevoke>(&params)?;
            context
                .show(&answer, |out, _empty| Ok(out.line(&format!("{} is worth nothing now", args.id))?))?;
        }
    }
    Ok(Outcome::Done)
}

fn create(args: &CreateArgs, context: &mut Context) -> anyhow::Result<()> {
    // The file first: a secret that cannot be kept must not be made.
    let file = args.into.as_ref().map(|path| {
        let open = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        open.with_context(|| format!("cannot make `{}`", path.display()))
    });
    let file = file.transpose()?;
    let params = CreateParams {
        principal: args.bearer.principal.clone(),
        kind: args.bearer.kind,
        scopes: args.bearer.scopes.clone(),
        roles: args.bearer.roles.clone(),
        expires_in_ms: args.expires.map(millis),
        remote: args.remote,
    };
    let answer = match context.ask::<TokenCreate>(&params) {
        Ok(answer) => answer,
        Err(error) => {
            if let Some(path) = &args.into {
                // It is ours, new and empty.
                drop(std::fs::remove_file(path));
            }
            return Err(error);
        }
    };
    let result = answer.read()?;
    let Some(mut file) = file else { return print(args, &result, &answer.value()?, context) };
    writeln!(file, "{}", result.token).and_then(|()| file.sync_all()).with_context(|| {
        format!(
            "cannot keep token {}: revoke it, `edgeplane token revoke {}`",
            result.token_id, result.token_id
        )
    })?;
    let mut value = answer.value()?;
    if let Some(fields) = value.as_object_mut() {
        fields.remove("token");
    }
    if context.out.format() == Format::Table {
        context.out.line(&said(args, &result))?;
    } else {
        context.out.value(&value)?;
    }
    Ok(())
}

fn said(args: &CreateArgs, result: &CreateResult) -> String {
    good_until(&result.token_id, &args.bearer, result.expires_at.as_ref())
}

fn good_until(id: &TokenId, bearer: &Bearer, end: Option<&Timestamp>) -> String {
    let end = end.map_or("until it is revoked".to_owned(), |end| format!("until {}", short_time(end)));
    format!("{id} for {}, good {end}", bearer.principal)
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn certificate(args: &CertificateArgs, context: &mut Context) -> anyhow::Result<()> {
    let named = || format!("`{}`", args.file.display());
    let text = std::fs::read_to_string(&args.file).with_context(|| format!("cannot read {}", named()))?;
    let der = first_certificate(&text)
        .with_context(|| format!("{} holds no certificate in PEM, which begins with `{BEGIN}`", named()))?;
    let params = AddCertificateParams {
        fingerprint: edgeplane_proof::digest(&der).to_string(),
        principal: args.bearer.principal.clone(),
        kind: args.bearer.kind,
        scopes: args.bearer.scopes.clone(),
        roles: args.bearer.roles.clone(),
        expires_in_ms: args.expires.map(millis),
    };
    let answer = context.ask::<CertificateAdd>(&params)?;
    context.show(&answer, |out, result| {
        Ok(out.line(&good_until(&result.token_id, &args.bearer, result.expires_at.as_ref()))?)
    })
}

const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";

/// The first certificate of a text in PEM, as it is transferred.
fn first_certificate(text: &str) -> Option<Vec<u8>> {
    let (_, rest) = text.split_once(BEGIN)?;
    let (body, _) = rest.split_once(END)?;
    let body: String = body.split_whitespace().collect();
    base64::engine::general_purpose::STANDARD.decode(body).ok().filter(|der| !der.is_empty())
}

fn print(
    args: &CreateArgs,
    result: &CreateResult,
    value: &serde_json::Value,
    context: &mut Context,
) -> anyhow::Result<()> {
    if context.out.format() != Format::Table {
        return Ok(context.out.value(value)?);
    }
    context.out.line(&result.token)?;
    context.out.note(&format!("{}; it is not shown again", said(args, result)));
    Ok(())
}

fn list(out: &mut Output, items: &[TokenView]) -> anyhow::Result<()> {
    if items.is_empty() {
        out.note("no token was ever made");
        return Ok(());
    }
    let mut table =
        Table::new(&["TOKEN", "PRINCIPAL", "KIND", "SCOPES", "ROLES", "MADE", "EXPIRES", "REVOKED"]);
    for token in items {
        let scopes: Vec<String> = token.scopes.iter().map(word).collect();
        let roles: Vec<&str> = token.roles.iter().map(SafeLabel::as_str).collect();
        table.row([
            token.token_id.to_string(),
            token.principal.to_string(),
            word(&token.kind),
            scopes.join(" "),
            roles.join(" "),
            short_time(&token.created_at),
            token.expires_at.as_ref().map(short_time).unwrap_or_default(),
            token.revoked.as_deref().map(|text| paint(Color::Dim, &cell(text))).unwrap_or_default(),
        ]);
    }
    Ok(out.table(&table)?)
}

/// The word that programs read.
fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}
