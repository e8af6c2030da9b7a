//! What a thread's history is: boundaries behind which it is told as a summary, and turns that were taken out of it.

use edgeplane_types::{
    MessageId,
    fact::{ThreadCompacted, ThreadRolledBack},
};

use super::{export::Telling, names};
use crate::{fold::Step, json::Object};

impl Telling<'_> {
    /// A boundary is drawn in one commit, so its beginning and its end are one event of the record.
    pub(super) fn compacted(&self, step: &mut Step<'_>, drawn: &ThreadCompacted) {
        let last = Some(MessageId::from_bytes(*drawn.through.as_bytes()));
        let begun = Object::new()
            .put("trigger", "request")
            .maybe("tokensBefore", drawn.tokens_before)
            .put("affectedTurns", &drawn.turns);
        self.of_thread(step, names::CONTEXT_COMPACTION_STARTED, last, drawn.thread_id)
            .slot("status", "running")
            .say(step, begun);
        let open: Vec<_> = drawn.open_actions.iter().map(ToString::to_string).collect();
        let done = Object::new()
            .put("trigger", "request")
            .put("by", &step.event().actor)
            .put("authority", drawn.authority.as_str())
            .put("affectedTurns", &drawn.turns)
            .put("throughTurnId", &drawn.through)
            .maybe("tokensBefore", drawn.tokens_before)
            .put("gaps", &["tokensAfter"])
            .put("preserved", &["actions", "incidents", "artifacts", "evidence", "queue"])
            .put("openActions", &open)
            .put("reason", &drawn.reason);
        self.of_thread(step, names::CONTEXT_COMPACTION_COMPLETED, last, drawn.thread_id)
            .slot("status", "completed")
            .body("summary", &drawn.summary_digest, drawn.summary_bytes)
            .say(step, done);
    }

    pub(super) fn rolled_back(&self, step: &mut Step<'_>, cut: &ThreadRolledBack) {
        let removed: Vec<_> = cut.removed.iter().map(ToString::to_string).collect();
        let begun = Object::new().maybe("targetTurnId", cut.to_turn.as_ref()).put("reason", &cut.reason);
        self.of_session(step, names::HISTORY_ROLLBACK_STARTED)
            .thread(Some(cut.thread_id))
            .slot("status", "running")
            .say(step, begun);
        let done = Object::new()
            .maybe("targetTurnId", cut.to_turn.as_ref())
            .put("removedTurns", &removed)
            .put("survivingTurns", &cut.surviving)
            .put("repair", "the program begins anew and is told what survives");
        self.of_session(step, names::HISTORY_ROLLBACK_COMPLETED)
            .thread(Some(cut.thread_id))
            .slot("status", "completed")
            .say(step, done);
        // Whoever holds a snapshot holds turns that are no part of the history any more, and no event takes them out.
        let payload = Object::new().put("because", "thread.rolled_back").put("removedTurns", &removed);
        let draft = self.of_session(step, names::SNAPSHOT_UPDATED).thread(Some(cut.thread_id));
        draft.say(step, payload);
    }

    fn of_thread(
        &self,
        step: &Step<'_>,
        kind: &'static str,
        last: Option<MessageId>,
        thread: edgeplane_types::ThreadId,
    ) -> super::event::Draft {
        let ids = crate::entry::Ids { thread_id: None, ..self.export.model.turns.ids(None) };
        let draft = self.frame.begin(step, kind, ids).thread(Some(thread));
        draft.turn(last.map_or_else(|| self.system(), crate::subject::turn_of))
    }
}
