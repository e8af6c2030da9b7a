//! A program or an address that is asked one thing: it is given bytes, gives bytes, and is over.

use std::time::Duration;

use reqwest::{StatusCode, header, redirect::Policy};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    time::timeout,
};

use crate::{
    Limits, Program,
    failure::said,
    process::{Process, Streams},
    shown::client,
};

/// How long one that is over its time, or has said all, is given to end by itself before it is made to.
const END: Duration = Duration::from_millis(100);

/// Asks a program that is started for it, and ends it with everything that it started.
///
/// # Errors
/// When it does not start, says too much, is not over in time, or ends badly: in words.
pub async fn ask_program(
    program: &Program,
    given: &[u8],
    limit: Duration,
    bytes_max: usize,
) -> Result<Vec<u8>, String> {
    let (process, streams) = Process::start(program).await.map_err(|failure| failure.to_string())?;
    let asked = timeout(limit, async {
        let said = talk(streams, given, bytes_max).await?;
        // Whoever asks waits for the whole time anyway.
        process.ended_within(limit).await;
        Ok(said)
    });
    let asked = asked.await.unwrap_or_else(|_late| Err(late(limit)));
    process.end(&Limits { end: END, ..Limits::standard() }).await;
    let answered = asked?;
    match process.exit() {
        Some(status) if status.is_success() => Ok(answered),
        Some(status) => {
            let last = process.tail().lines().pop().map(|line| format!("; it said: {line}"));
            Err(format!("it ended with {status}{}", last.unwrap_or_default()))
        }
        None => Err(late(limit)),
    }
}

async fn talk(streams: Streams, given: &[u8], bytes_max: usize) -> Result<Vec<u8>, String> {
    let Streams { mut input, output } = streams;
    let write = async move {
        // One that does not want to know may still have an answer.
        drop(input.write_all(given).await);
        drop(input);
    };
    let mut answer = Vec::new();
    let room = u64::try_from(bytes_max).unwrap_or(u64::MAX).saturating_add(1);
    let mut output = output.take(room);
    let (read, ()) = tokio::join!(output.read_to_end(&mut answer), write);
    read.map_err(|error| format!("its answer cannot be read: {error}"))?;
    bounded(answer, bytes_max)
}

fn bounded(answer: Vec<u8>, bytes_max: usize) -> Result<Vec<u8>, String> {
    match answer.len() > bytes_max {
        true => Err(format!("it said more than {bytes_max} bytes")),
        false => Ok(answer),
    }
}

fn late(limit: Duration) -> String {
    format!("it was not over within {} ms", limit.as_millis())
}

/// Asks an address by a POST of JSON. It is not followed anywhere else.
///
/// # Errors
/// When it cannot be reached, says too much, does not answer in time, or with anything else than 200: in words.
pub async fn ask_address(
    url: &str,
    given: Vec<u8>,
    limit: Duration,
    bytes_max: usize,
) -> Result<Vec<u8>, String> {
    let http = client(Policy::none())?;
    let plain = |error: reqwest::Error| said(&error.without_url().to_string());
    let asked = timeout(limit, async {
        let request = http.post(url).header(header::CONTENT_TYPE, "application/json").body(given);
        let mut response = request.send().await.map_err(plain)?;
        if response.status() != StatusCode::OK {
            return Err(format!("it answered {}", response.status()));
        }
        let mut answer = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(plain)? {
            answer.extend_from_slice(&chunk);
            answer = bounded(answer, bytes_max)?;
        }
        Ok(answer)
    });
    asked.await.unwrap_or_else(|_late| Err(late(limit)))
}
