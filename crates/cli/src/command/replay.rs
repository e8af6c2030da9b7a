//! `edgeplane replay`: play a recording.

mod export;

use std::{path::PathBuf, time::Duration};

use clap::Args;
use edgeplane_os::{
    Signal,
    poll::{self, PollFd, PollFlags},
    signals::SignalFd,
    wait::Deadline,
};
use edgeplane_types::ErrorName;
use edgeplane_wire::api::terminal::RecordingItem;

use super::{
    Outcome,
    recording::{self, Reader},
};
use crate::{
    context::Context,
    failure::Failure,
    lasting::{Lasting, Loss},
    output::OutputError,
    quantity,
    terminal::{
        filter::{Filter, Viewer},
        raw::Stage,
    },
};

/// Play a recording
///
/// Plays an epoch on this terminal as it was, also of an agent that is gone. What would reach the clipboard or make this
/// terminal answer is filtered out. `--export` writes the epoch as one asciicast v3 file instead, which `asciinema play`
/// understands.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane replay reviewer
  edgeplane replay reviewer --epoch 3 --speed 4x --idle-limit 1s
  edgeplane replay reviewer --speed max > screen.raw
  edgeplane replay reviewer --export reviewer.cast")]
pub(crate) struct ReplayArgs {
    /// The agent's name or id, also of a retired one by id
    name: String,
    /// The epoch; the newest if not given
    #[arg(long, value_name = "N")]
    epoch: Option<u64>,
    /// How fast: 2x, 0.5x, or max for no pauses at all
    #[arg(long, value_name = "SPEED", default_value = "1x", value_parser = parse_speed)]
    speed: Speed,
    /// Longest pause between two outputs
    #[arg(long, value_name = "TIME", value_parser = quantity::parse_duration)]
    idle_limit: Option<Duration>,
    /// Write an asciicast v3 file instead of playing; `-` is standard output
    #[arg(long, value_name = "FILE", conflicts_with_all = ["speed", "idle_limit"])]
    export: Option<PathBuf>,
}

/// How fast a recording is played.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Speed {
    Times(f64),
    Max,
}

fn parse_speed(text: &str) -> Result<Speed, String> {
    if text == "max" {
        return Ok(Speed::Max);
    }
    match text.strip_suffix('x').unwrap_or(text).parse::<f64>() {
        Ok(times) if times.is_finite() && (0.01..=10_000.0).contains(&times) => Ok(Speed::Times(times)),
        _ => Err(format!("`{text}` is not a speed: write for example 2x, 0.5x or max")),
    }
}

/// How long to wait before an output that came `gap_us` after the one before.
fn pause(gap_us: i64, speed: Speed, idle_limit: Option<Duration>) -> Duration {
    let gap = Duration::from_micros(u64::try_from(gap_us).unwrap_or(0));
    let gap = idle_limit.map_or(gap, |limit| gap.min(limit));
    match speed {
        Speed::Times(times) => gap.div_f64(times),
        Speed::Max => Duration::ZERO,
    }
}

pub(crate) fn run(args: &ReplayArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let reader = Reader::whole(&args.name, args.epoch);
    if let Some(file) = &args.export {
        export::run(reader, file, context)?;
        return Ok(Outcome::Done);
    }
    // From here on a signal is read, so that the terminal is always given back as it was.
    let signals = SignalFd::open(&[Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT])?;
    let mut player = Player {
        stage: Stage::of_stdout()?,
        filter: Filter::new(Viewer::Watches),
        signals,
        speed: args.speed,
        idle_limit: args.idle_limit,
        last_us: None,
    };
    if play(reader, &mut player, context)? {
        Ok(Outcome::Done)
    } else {
        Err(Failure::new(ErrorName::Cancelled, "the replay was interrupted").into())
    }
}

/// Plays to the end; `false` if a signal ended it.
fn play(mut reader: Reader, player: &mut Player, context: &mut Context) -> anyhow::Result<bool> {
    let mut node = Lasting::open(context, Loss::Ends)?;
    let mut is_first = true;
    loop {
        let page = reader.page(&mut node, context)?;
        if std::mem::take(&mut is_first) {
            warn_of_size(player, (page.cols, page.rows), context);
        }
        for item in &page.items {
            if !player.item(item)? {
                return Ok(false);
            }
        }
        if page.end {
            if !page.over {
                context.out.note("the epoch is not over; `edgeplane attach` watches it live");
            }
            return Ok(true);
        }
    }
}

fn warn_of_size(player: &Player, (cols, rows): (u16, u16), context: &Context) {
    if let Some((own_cols, own_rows)) = player.stage.size()
        && (own_cols < cols || own_rows < rows)
    {
        context.out.note(&format!(
            "recorded at {cols}x{rows}, this terminal has {own_cols}x{own_rows}: enlarge it to see all"
        ));
    }
}

struct Player {
    stage: Stage,
    filter: Filter,
    signals: SignalFd,
    speed: Speed,
    idle_limit: Option<Duration>,
    last_us: Option<i64>,
}

impl Player {
    /// Plays one item in its time; `false` if a signal came.
    fn item(&mut self, item: &RecordingItem) -> anyhow::Result<bool> {
        let Some(bytes) = recording::output(item)? else { return Ok(true) };
        let gap = item.at_us.saturating_sub(self.last_us.unwrap_or(item.at_us));
        self.last_us = Some(item.at_us);
        if !self.wait(pause(gap, self.speed, self.idle_limit))? {
            return Ok(false);
        }
        let mut out = Vec::with_capacity(bytes.len());
        self.filter.feed(&bytes, &mut out);
        self.stage.play(&out).map_err(OutputError::from)?;
        Ok(true)
    }

    fn wait(&self, time: Duration) -> anyhow::Result<bool> {
        let due = Deadline::after(time);
        loop {
            let mut fds = [PollFd::new(&self.signals, PollFlags::IN)];
            if poll::wait(&mut fds, Some(due.remaining()))? > 0 {
                return Ok(false);
            }
            if due.has_passed() {
                return Ok(true);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_are_factors_or_max() {
        assert_eq!(parse_speed("2x"), Ok(Speed::Times(2.0)));
        assert_eq!(parse_speed("0.5"), Ok(Speed::Times(0.5)));
        assert_eq!(parse_speed("max"), Ok(Speed::Max));
        for wrong in ["0x", "-1x", "fast", "nanx", "infx"] {
            assert!(parse_speed(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn pauses_are_scaled_and_cut() {
        let second = 1_000_000;
        assert_eq!(pause(second, Speed::Times(1.0), None), Duration::from_secs(1));
        assert_eq!(pause(second, Speed::Times(4.0), None), Duration::from_millis(250));
        assert_eq!(
            pause(60 * second, Speed::Times(1.0), Some(Duration::from_secs(2))),
            Duration::from_secs(2)
        );
        assert_eq!(pause(second, Speed::Max, None), Duration::ZERO);
        assert_eq!(pause(-5, Speed::Times(1.0), None), Duration::ZERO);
    }
}
