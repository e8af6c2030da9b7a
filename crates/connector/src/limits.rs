//! How much of a server is read, and how long it is waited for.

use std::time::Duration;

/// Longest message of a server in bytes. A line that is longer ends the connection; over HTTP the answer is refused.
pub const FRAME_BYTES_MAX: usize = 4 << 20;

/// Most tools, resources or prompts, of each, that are kept of a server; the rest is left out, and said to be.
pub const OFFERS_MAX: usize = 2_048;

/// Most pages of one list that are asked for; the rest is left out, and said to be.
pub(crate) const PAGES_MAX: usize = 64;

/// Bytes of everything that is kept of what a server offers; what does not fit is left out, and said to be.
pub(crate) const OFFERS_BYTES_MAX: usize = 8 << 20;

/// Longest description of one offer in bytes of JSON, its schemas with it; one that is longer is left out.
pub(crate) const OFFER_BYTES_MAX: usize = 256 << 10;

/// Longest name of an offer in bytes; one that is longer is left out.
pub(crate) const NAME_BYTES_MAX: usize = 1_024;

/// Most things that are told about one list that was not as it should be.
pub(crate) const PROBLEMS_MAX: usize = 32;

/// Lines of a program's standard error that are kept, the last ones.
pub const STDERR_LINES_MAX: usize = 32;

/// Longest of them in bytes; what is longer is cut.
pub(crate) const STDERR_LINE_BYTES_MAX: usize = 512;

/// Lines in a row that are no message of the protocol before the connection ends: programs greet, or log to the wrong
/// stream.
pub(crate) const GARBAGE_MAX: usize = 64;

/// Answers that nobody waits for before the connection ends.
pub(crate) const UNASKED_MAX: usize = 64;

/// What a server may say of itself within a second, notifications and requests; what is more is dropped unread.
pub(crate) const OWN_WORDS_A_SECOND: usize = 500;

/// What may be dropped within one second before the connection ends.
pub(crate) const DROPPED_MAX: usize = 10_000;

/// Requests of ours that may wait for their answers at a time; one more is refused.
pub(crate) const CALLS_MAX: usize = 256;

/// How long a program may leave a message unread before the connection ends.
pub(crate) const WRITE_MAX: Duration = Duration::from_secs(10);

/// Longest text of a question in characters; what is longer is cut.
pub(crate) const QUESTION_CHARS_MAX: usize = 4_096;

/// Questions of one call that may wait for whoever is asked; one more is declined.
pub const QUESTIONS_MAX: usize = 4;

/// How often one call may be answered with questions in the newer form before it fails.
pub(crate) const ROUNDS_MAX: usize = 10;

/// How long it takes at most to find out that a person is not waited for any more.
pub(crate) const PERSON_LOOK: Duration = Duration::from_millis(200);

/// How long a server is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Until it has answered the greeting. One that knows only the older form and is silent to the newer takes ten
    /// seconds of it.
    pub greeting: Duration,
    /// Until a page of what it offers has come.
    pub page: Duration,
    /// How long what it offers is believed before it is asked again.
    pub fresh: Duration,
    /// Until a program has ended, after its input was closed and again after it was asked to.
    pub end: Duration,
    /// How long it is left alone after it failed, first; it doubles with each failure.
    pub rest_first: Duration,
    /// And at most.
    pub rest_max: Duration,
    /// Failures in a row after which it is left alone for the longest time at once.
    pub failures_max: u32,
    /// A connection that lived this long makes the failures before it forgotten.
    pub stable: Duration,
}

impl Limits {
    /// What holds unless somebody asks for something else.
    #[must_use]
    pub const fn standard() -> Self {
        Self {
            greeting: Duration::from_secs(30),
            page: Duration::from_secs(15),
            fresh: Duration::from_secs(30),
            end: Duration::from_secs(2),
            rest_first: Duration::from_millis(200),
            rest_max: Duration::from_secs(60),
            failures_max: 5,
            stable: Duration::from_secs(30),
        }
    }
}
