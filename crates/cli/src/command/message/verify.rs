//! `edgeplane message verify`: what is vouched for of a message, with a node or without one.

use std::{io::Read as _, path::PathBuf};

use anyhow::Context as _;
use clap::Args;
use edgeplane_proof::{Digest, KeyRing, PublicKey, SignedBatch, signature};
use edgeplane_types::{Envelope, ErrorName, MessageId, Part};
use edgeplane_wire::{
    api::{
        Empty,
        message::{MessageParams, VerifyResult},
    },
    catalogue::{KeyList, MessageVerify},
};
use serde::Serialize;
use serde_json::Value;

use super::export::Export;
use crate::{
    command::Outcome,
    context::Context,
    failure::Failure,
    output::{Color, Format, Output, paint},
    table::{Table, cell},
};

/// Longest file that is read. So much hold 1,024 envelopes with contents of ordinary length.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// Tell what is vouched for of a message
///
/// With an id the node is asked: it looks its message up in the record, compares the content with its digest and the
/// events since with their chain, and signs the envelope; this program then verifies the signature. With `--file` an
/// export is verified: by the keys of this machine's node, or without any node by the key that you give.
///
/// The exit code is 1 if anything is not as it was written. What a good signature proves, and what not, is said in
/// docs/guide/security.md.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane message verify msg_01890000-0000-7000-8000-000000000002
  edgeplane message verify --file message.json
  edgeplane message verify --file message.json --key 11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo -o json")]
pub(super) struct VerifyArgs {
    /// The message's id
    #[arg(value_name = "MESSAGE", required_unless_present = "file")]
    id: Option<MessageId>,
    /// A file that `edgeplane message export` wrote
    #[arg(short, long, value_name = "FILE", conflicts_with = "id")]
    file: Option<PathBuf>,
    /// The only public key that is believed, as `edgeplane node keys` shows it
    // One in sixty-four begins with a hyphen.
    #[arg(long, value_name = "PUBLIC", allow_hyphen_values = true)]
    key: Option<String>,
}

pub(super) fn run(args: &VerifyArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let key = args.key.as_deref().map(public_key).transpose()?;
    match (&args.file, args.id) {
        (Some(file), _) => of_file(file, key, context),
        (None, Some(id)) => of_node(id, key, context),
        (None, None) => Err(Failure::new(ErrorName::InvalidParams, "name a message or a file").into()),
    }
}

fn public_key(text: &str) -> anyhow::Result<PublicKey> {
    text.trim().parse().map_err(|error| {
        let failure = Failure::new(ErrorName::InvalidParams, format!("`--key`: {error}"));
        failure.hint("`edgeplane node keys` on the node shows its keys").into()
    })
}

fn ring(keys: impl IntoIterator<Item = PublicKey>) -> anyhow::Result<KeyRing> {
    let mut ring = KeyRing::default();
    for key in keys {
        ring.add(key)?;
    }
    Ok(ring)
}

fn of_node(id: MessageId, key: Option<PublicKey>, context: &mut Context) -> anyhow::Result<Outcome> {
    let answer = context.ask::<MessageVerify>(&MessageParams { message_id: id })?;
    let (value, result) = (answer.value()?, answer.read()?);
    let key = key.map_or_else(|| public_key(&result.public_key), Ok)?;
    let envelope = value.get("envelope").cloned().unwrap_or_default();
    let signed = match signature::verify(&ring([key])?, &envelope, &result.signature) {
        Ok(key_id) => Ok(key_id.to_string()),
        Err(error) => Err(error.to_string()),
    };
    let is_good =
        signed.is_ok() && result.content_matches && result.chain_verifies && result.envelope.id == id;
    if context.out.format() == Format::Table {
        print_node(&mut context.out, &result, &signed, is_good)?;
    } else {
        let mut value = value;
        if let Some(fields) = value.as_object_mut() {
            fields.insert("ok".to_owned(), is_good.into());
            fields.insert("signature_verifies".to_owned(), signed.is_ok().into());
        }
        context.out.value(&value)?;
    }
    Ok(if is_good { Outcome::Done } else { Outcome::Found })
}

fn print_node(
    out: &mut Output,
    result: &VerifyResult,
    signed: &Result<String, String>,
    is_good: bool,
) -> anyhow::Result<()> {
    let source = &result.envelope.source;
    out.line(&if is_good {
        format!("{}: the node vouches for where this message came from", paint(Color::Green, "ok"))
    } else {
        format!("{}: this message is not as it was written", paint(Color::Red, "failed"))
    })?;
    let bad = |what: String| paint(Color::Red, &what);
    let mut table = Table::plain();
    let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
    row("message", result.envelope.id.to_string());
    row("header", cell(&result.header));
    row("source", format!("{}, by {}, assurance {}", source.principal, source.proof, source.assurance));
    row("authority", result.envelope.authority.to_string());
    row(
        "content",
        match (&result.content_problem, result.content_matches) {
            (Some(problem), _) => bad(format!("cannot be compared: {problem}")),
            (None, true) => "is what was accepted".to_owned(),
            (None, false) => bad("is not what was accepted".to_owned()),
        },
    );
    row(
        "chain",
        match &result.chain_problem {
            Some(problem) => bad(problem.clone()),
            None => format!("events {} to {} of {} are whole", result.seq, result.verified_to, result.head),
        },
    );
    row(
        "signature",
        match signed {
            Ok(key_id) => format!("by {key_id}"),
            Err(problem) => bad(problem.clone()),
        },
    );
    Ok(out.table(&table)?)
}

/// What was found of one message in a file.
#[derive(Debug, Serialize)]
struct Checked {
    message_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    /// `matches`, `differs` or `absent`.
    content: &'static str,
}

/// What was found of a file.
#[derive(Debug, Serialize)]
struct Report {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    key_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    items: Vec<Checked>,
}

fn of_file(file: &PathBuf, key: Option<PublicKey>, context: &mut Context) -> anyhow::Result<Outcome> {
    let export = read(file)?;
    let keys = match key {
        Some(key) => ring([key])?,
        None => {
            let known = context
                .ask::<KeyList>(&Empty {})
                .context("without `--key` the node is asked for its keys")?;
            let items = known.read()?.items;
            ring(items.iter().map(|key| public_key(&key.public_key)).collect::<Result<Vec<_>, _>>()?)?
        }
    };
    let report = look(&export, &keys);
    if context.out.format() == Format::Table {
        print_file(&mut context.out, &export, &report)?;
    } else {
        context.out.value(&report)?;
    }
    Ok(if report.ok { Outcome::Done } else { Outcome::Found })
}

fn read(file: &PathBuf) -> anyhow::Result<Export> {
    let shown = file.display();
    let mut text = String::new();
    let opened = std::fs::File::open(file).with_context(|| format!("cannot read `{shown}`"))?;
    opened
        .take(FILE_BYTES_MAX)
        .read_to_string(&mut text)
        .with_context(|| format!("cannot read `{shown}`"))?;
    serde_json::from_str(&text).map_err(|error| {
        let what = format!("`{shown}` is not what `edgeplane message export` writes: {error}");
        Failure::new(ErrorName::InvalidRequest, what).into()
    })
}

fn look(export: &Export, keys: &KeyRing) -> Report {
    let failed =
        |problem: String| Report { ok: false, key_id: None, problem: Some(problem), items: Vec::new() };
    let leaves: Result<Vec<Digest>, _> = export.leaves.iter().map(|leaf| leaf.parse()).collect();
    let Ok(leaves) = leaves else { return failed("a leaf is no digest".to_owned()) };
    if export.envelopes.len() != leaves.len() {
        return failed(format!("{} envelopes and {} leaves", export.envelopes.len(), leaves.len()));
    }
    let batch = SignedBatch { signature: export.signature.clone(), leaves };
    let verified = match batch.verify(keys) {
        Ok(verified) => verified,
        Err(error) => return failed(error.to_string()),
    };
    let mut report = Report { ok: true, key_id: None, problem: None, items: Vec::new() };
    for (index, envelope) in export.envelopes.iter().enumerate() {
        let problem = match verified.verify(index, envelope) {
            Ok(key_id) => {
                report.key_id = Some(key_id.to_string());
                None
            }
            Err(error) => Some(error.to_string()),
        };
        let text = |name: &str| envelope.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let parts = export.contents.as_ref().and_then(|contents| contents.get(index)?.as_ref());
        let content = parts.map_or("absent", |parts| content(parts, &text("content_digest")));
        report.ok &= problem.is_none() && content != "differs";
        report.items.push(Checked { message_id: text("id"), problem, content });
    }
    report
}

/// Whether a content is the one that was accepted; its bytes are what serde makes of its parts, there as here.
fn content(parts: &[Part], expected: &str) -> &'static str {
    match serde_json::to_vec(parts) {
        Ok(bytes) if edgeplane_proof::digest(&bytes).to_string() == expected => "matches",
        _ => "differs",
    }
}

fn print_file(out: &mut Output, export: &Export, report: &Report) -> anyhow::Result<()> {
    match (&report.problem, &report.key_id, report.ok) {
        (Some(problem), ..) => out.line(&format!("{}: {problem}", paint(Color::Red, "failed")))?,
        (None, Some(key_id), true) => {
            let what =
                crate::quantity::counted(u64::try_from(report.items.len()).unwrap_or(u64::MAX), "message");
            out.line(&format!("{}: {what}, signed with {key_id}", paint(Color::Green, "ok")))?;
        }
        (None, ..) => out.line(&format!("{}: not all is as it was signed", paint(Color::Red, "failed")))?,
    }
    if report.items.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(&["MESSAGE", "CHANNEL", "SOURCE", "AUTHORITY", "CONTENT", "PROBLEM"]);
    for (checked, envelope) in report.items.iter().zip(&export.envelopes) {
        let envelope: Option<Envelope> = serde_json::from_value(envelope.clone()).ok();
        let of = |read: &dyn Fn(&Envelope) -> String| envelope.as_ref().map(read).unwrap_or_default();
        table.row([
            cell(&checked.message_id),
            of(&|envelope| envelope.channel.to_string()),
            of(&|envelope| envelope.source.principal.to_string()),
            of(&|envelope| envelope.authority.to_string()),
            checked.content.to_owned(),
            cell(checked.problem.as_deref().unwrap_or_default()),
        ]);
    }
    Ok(out.table(&table)?)
}
