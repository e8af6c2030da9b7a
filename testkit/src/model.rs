//! A model server that follows a script, so that real agent programs run without a network and without chance.
//!
//! Speaks OpenAI chat completions and responses, Anthropic messages and Gemini `generateContent` on loopback, streamed
//! and whole. It deliberately knows no agent program: what a tool is called and which arguments it takes is read from
//! the request that offers it.
//!
//! ```no_run
//! use edgeplane_testkit::model::{Hold, ModelServer, Reply, Rule, Script};
//!
//! let hold = Hold::new();
//! let server = ModelServer::start(
//!     Script::new()
//!         .rule(Rule::on("say hello").says("Hello there."))
//!         // One reply for each time that the model is called in the turn: first a tool call, then the end.
//!         .rule(Rule::on("make a file").reply(Reply::new().shell("touch made")).says("It is made."))
//!         .rule(Rule::on("be slow").reply(Reply::new().text("one ").hold(&hold).text("two"))),
//! );
//! // …a program is pointed at `server.port()` and is told "be slow"…
//! hold.wait_until_reached(); // now it is in the middle of its turn
//! hold.release();
//! assert_eq!(server.received_prompts(), ["be slow"]);
//! ```
//!
//! A request belongs to the rule that fits the text which the user said last; which of its replies is due is counted
//! from the conversation in the request itself, so that a program may repeat a request, be killed and go on, or talk
//! in several sessions at once. Whatever fits no rule (titles, summaries, warm-ups) gets a short plain answer.

mod anthropic;
mod asked;
mod chat;
mod file;
mod gemini;
mod kept;
mod play;
mod responses;
mod script;
mod server;
mod speech;
mod tools;

pub use asked::{Asked, Dialect, Offered, Said};
pub use file::ScriptError;
pub use kept::Received;
pub use script::{Action, Fault, Hold, Reply, Rule, Script, Step};
pub use server::ModelServer;

#[cfg(test)]
mod tests;
