//! Conversations: sessions, threads, turns, the queue, outputs and deliveries, whoever dies meanwhile.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on ends at once")]

#[path = "conversations/access.rs"]
mod access;
#[path = "conversations/compaction.rs"]
mod compaction;
#[path = "conversations/forks.rs"]
mod forks;
#[path = "conversations/hand_over.rs"]
mod hand_over;
#[path = "conversations/queue.rs"]
mod queue;
#[path = "conversations/rollback.rs"]
mod rollback;
#[path = "conversations/stage.rs"]
mod stage;
#[path = "conversations/threads.rs"]
mod threads;
#[path = "conversations/turns.rs"]
mod turns;
