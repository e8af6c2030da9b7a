//! A whole epoch as one asciicast v3 file.
//!
//! Owns the joining of the recording's pages into one stream of events. The form of each line is `wire`'s.

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::Path,
};

use anyhow::Context as _;
use edgeplane_types::AgentId;
use edgeplane_wire::{
    api::{agent::AgentParams, terminal::RecordingItem},
    cast::{self, PlaceRef},
    catalogue::AgentGet,
    shim::OutputStream,
};

use crate::{
    command::{
        agent::list,
        recording::{self, Reader},
    },
    context::Context,
    lasting::{Lasting, Loss},
    node::Node,
};

pub(super) fn run(reader: Reader, file: &Path, context: &mut Context) -> anyhow::Result<()> {
    if file == Path::new("-") {
        return write(reader, context, &mut |context, bytes| Ok(context.out.raw(bytes)?));
    }
    // A file that is there is whole: a half written one has another name.
    let mut part = file.as_os_str().to_owned();
    part.push(".part");
    let part = Path::new(&part);
    let opened = File::create(part).with_context(|| format!("cannot create `{}`", part.display()))?;
    let mut out = BufWriter::new(opened);
    let written = write(reader, context, &mut |_context, bytes| {
        out.write_all(bytes).with_context(|| format!("cannot write `{}`", part.display()))
    });
    let finished = written.and_then(|()| {
        out.flush()
            .and_then(|()| std::fs::rename(part, file))
            .with_context(|| format!("cannot write `{}`", file.display()))
    });
    if finished.is_err() {
        // The first failure is the one to report.
        drop(std::fs::remove_file(part));
        return finished;
    }
    context.out.note(&format!("wrote {}", file.display()));
    Ok(())
}

type Sink<'a> = &'a mut dyn FnMut(&mut Context, &[u8]) -> anyhow::Result<()>;

fn write(mut reader: Reader, context: &mut Context, sink: Sink<'_>) -> anyhow::Result<()> {
    let mut node = Lasting::open(context, Loss::Ends)?;
    let (name, id) = who(&reader.agent, &mut node.node, context);
    let mut cast = Cast::default();
    let mut has_header = false;
    loop {
        let page = reader.page(&mut node, context)?;
        let mut bytes = Vec::new();
        if !std::mem::replace(&mut has_header, true) {
            let started_us = page.items.first().map_or(0, |item| item.at_us);
            let place = PlaceRef {
                name: &name,
                agent: &id,
                epoch: page.epoch.0,
                segment: 1,
                offset: 0,
                started_us,
                cols: page.cols,
                rows: page.rows,
                pipes: page.pipes,
            };
            cast::put_header(&mut bytes, &place);
            cast.last_us = started_us;
        }
        for item in &page.items {
            cast.item(item, &mut bytes)?;
        }
        sink(context, &bytes)?;
        if page.end {
            return Ok(());
        }
    }
}

/// Name and id of the agent; of one that is retired, what it was called by.
fn who(agent: &str, node: &mut Node, context: &Context) -> (String, String) {
    let view = context.ask_over::<AgentGet>(node, &AgentParams { agent: agent.to_owned() });
    match view.and_then(|answer| answer.read()) {
        Ok(view) => (list::name(&view).to_owned(), view.status.identities.audit.agent_id.to_string()),
        Err(_gone) => {
            let id = agent.parse::<AgentId>().map(|id| id.to_string()).unwrap_or_default();
            (agent.to_owned(), id)
        }
    }
}

#[derive(Debug, Default)]
struct Cast {
    last_us: i64,
}

impl Cast {
    fn item(&mut self, item: &RecordingItem, out: &mut Vec<u8>) -> anyhow::Result<()> {
        let interval = u64::try_from(item.at_us.saturating_sub(self.last_us)).unwrap_or(0);
        self.last_us = self.last_us.max(item.at_us);
        match recording::output(item)? {
            Some(bytes) => {
                let stream = if item.code == 'e' { OutputStream::Err } else { OutputStream::Out };
                cast::put_output(out, interval, stream, &bytes);
            }
            None => cast::put_event(out, interval, item.code, &item.data),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use base64::{Engine, engine::general_purpose::STANDARD};
    use edgeplane_wire::cast::{CastEvent, CastReader};

    use super::*;

    #[test]
    fn exported_lines_are_read_back() {
        let mut bytes = Vec::new();
        let place = PlaceRef {
            name: "a",
            agent: "",
            epoch: 3,
            segment: 1,
            offset: 0,
            started_us: 5,
            cols: 80,
            rows: 24,
            pipes: false,
        };
        cast::put_header(&mut bytes, &place);
        let mut cast = Cast { last_us: 5 };
        let item = |at_us, code, data: &str| RecordingItem { at_us, offset: 0, code, data: data.to_owned() };
        cast.item(&item(1_000_005, 'o', &STANDARD.encode(b"hi\xff")), &mut bytes).unwrap();
        cast.item(&item(1_000_000, 'r', "100x30"), &mut bytes).unwrap();
        cast.item(&item(2_000_005, 'x', "0"), &mut bytes).unwrap();
        let mut reader = CastReader::new(&bytes).unwrap().unwrap();
        let mut found = Vec::new();
        while let Some((interval, event)) = reader.next_event().unwrap() {
            found.push((interval, event));
        }
        let output = CastEvent::Output { offset: 0, stream: OutputStream::Out, bytes: b"hi\xff".to_vec() };
        let other = |code, data: &str| CastEvent::Other { code, data: data.to_owned() };
        assert_eq!(found, [(1_000_000, output), (0, other('r', "100x30")), (1_000_000, other('x', "0"))]);
        assert!(cast.item(&item(0, 'o', "!"), &mut bytes).is_err());
    }
}
