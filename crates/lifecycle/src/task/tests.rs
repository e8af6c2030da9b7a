//! Every pair of state and input, and the machine against a model of what a task is, over random lives.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn inputs() -> Vec<Input> {
    let mut all = vec![
        Input::Accept,
        Input::Queue,
        Input::Block,
        Input::Unblock,
        Input::Admit,
        Input::Begin,
        Input::Continue,
        Input::Pause,
        Input::Resume,
        Input::Retry,
        Input::Cancel,
        Input::Gone,
        Input::Complete,
        Input::Fail,
        Input::Archive,
        Input::Ended(End::Cancelled),
        Input::Ended(End::Lost),
    ];
    all.extend([Waiting::Input, Waiting::Permission, Waiting::Resource].map(Input::Wait));
    for is_so in [true, false] {
        all.push(Input::Ended(End::Done { accepted: is_so }));
        all.push(Input::Ended(End::Failed { again: is_so }));
        all.push(Input::Ended(End::TimedOut { again: is_so }));
    }
    all
}

/// The whole table: where each legal pair leads. A pair that is not here must be refused.
/// Proves WORK-001.
#[test]
fn legal_pairs_lead_where_the_table_says_and_all_others_are_refused() {
    let table: BTreeSet<String> = include_str!("table.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect();
    let mut found = BTreeSet::new();
    for state in TaskState::ALL {
        for input in inputs() {
            match step(*state, input) {
                Ok(next) => {
                    found.insert(format!("{state} | {input:?} | {} | {:?}", next.state, next.actions));
                }
                Err(refused) => assert_eq!(refused.to_string(), format!("not allowed while {state}")),
            }
        }
    }
    let missing: Vec<_> = table.difference(&found).collect();
    let extra: Vec<_> = found.difference(&table).collect();
    assert!(missing.is_empty() && extra.is_empty(), "missing: {missing:#?}\nextra: {extra:#?}");
}

/// A task as somebody sees it who knows nothing of the machine: what was wanted, what lives, what was said.
#[derive(Debug, Default)]
struct Model {
    /// Whether it was put forward to be done.
    is_begun: bool,
    is_resting: bool,
    /// Whether it is to be ended.
    is_ending: bool,
    /// How it ended, if it did.
    over: Option<TaskState>,
    is_put_away: bool,
    /// Whether a run of it lives.
    run: bool,
    runs: u32,
    /// Runs that were asked for and not admitted yet.
    wants_run: bool,
    /// Whether somebody or the lack of criteria accepted what came of it.
    is_accepted: bool,
    retries: u32,
}

impl Model {
    /// What the machine must never do, whatever comes in which order.
    fn check(&self, before: TaskState, input: Input, after: &Step) {
        use TaskState as S;
        assert!(!matches!(after.state, S::Stale | S::Unknown), "no task becomes what only a reader says");
        if before == S::Archived {
            assert_eq!(after.state, S::Archived, "what is put away stays there");
        }
        if self.is_ending && self.over.is_none() {
            assert!(
                matches!(after.state, S::Cancelling | S::Cancelled),
                "what is to be ended does nothing else: {after:?}"
            );
        }
        if after.state == S::Completed && before != S::Completed {
            assert!(self.is_accepted, "completed by {input:?} and nobody accepted it");
        }
        if self.over.is_some() && !matches!(input, Input::Retry | Input::Archive) {
            assert_eq!(after.state, before, "what is over stays so: {input:?}");
        }
        if after.state == S::Cancelled && before != S::Cancelled {
            assert!(self.is_ending && !self.run, "cancelled while something works on it");
        }
        if self.is_resting && !matches!(input, Input::Resume | Input::Cancel | Input::Ended(_)) {
            assert!(
                matches!(after.state, S::Paused) || matches!(input, Input::Complete | Input::Fail),
                "what rests is begun by nobody: {input:?} {after:?}"
            );
        }
        let asks = after.actions.contains(&Action::Consider);
        if asks {
            assert!(
                matches!(after.state, S::Queued | S::Retrying),
                "a run is thought of only where one may be admitted: {after:?}"
            );
        }
        let is_end = matches!(after.state, S::Completed | S::Failed | S::TimedOut | S::Cancelled | S::Lost);
        if is_end && after.state != before {
            assert!(after.actions.contains(&Action::Tell), "an end that nobody is told of: {after:?}");
        }
        if matches!(input, Input::Cancel | Input::Pause) && self.run {
            let is_told = after.actions.contains(&Action::EndRun);
            let was_ending = matches!(before, S::Queued | S::Blocked | S::Paused | S::Lost);
            assert!(is_told || was_ending, "a run lives on: {before} {input:?} {after:?}");
        }
    }

    /// What is so after it.
    fn observe(&mut self, input: Input, after: &Step) {
        use TaskState as S;
        match input {
            Input::Admit => {
                self.run = true;
                self.runs += 1;
            }
            Input::Ended(_) => self.run = false,
            Input::Cancel => self.is_ending = true,
            Input::Retry => {
                self.retries += 1;
                self.over = None;
                self.is_ending = false;
            }
            Input::Archive => self.is_put_away = true,
            _ => {}
        }
        self.is_begun |= !matches!(after.state, S::Draft | S::Accepted);
        self.is_resting = after.state == S::Paused;
        self.wants_run = after.actions.contains(&Action::Consider);
        if after.state.is_over() && self.over.is_none() {
            self.over = Some(after.state);
        }
    }

    /// Whether an engine that knows its runs would say this.
    fn may(&self, input: Input) -> bool {
        match input {
            // One run at a time, and of one that is none nothing is heard.
            Input::Admit => !self.run,
            Input::Begin | Input::Wait(_) | Input::Continue | Input::Ended(_) => self.run,
            Input::Gone => !self.run,
            _ => true,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Proves WORK-002.
    #[test]
    fn random_lives_keep_what_a_task_is(lives in prop::collection::vec(0usize..64, 1..80)) {
        let all = inputs();
        let (mut state, mut model) = (TaskState::Draft, Model::default());
        for at in lives {
            let input = all[at % all.len()];
            if !model.may(input) {
                continue;
            }
            model.is_accepted =
                matches!(input, Input::Complete | Input::Ended(End::Done { accepted: true }));
            if let Ok(next) = step(state, input) {
                model.check(state, input, &next);
                model.observe(input, &next);
                state = next.state;
            }
        }
        prop_assert_eq!(model.is_put_away, state == TaskState::Archived);
        prop_assert!(model.runs == 0 || model.is_begun);
    }

    /// From wherever a task is, some way leads to an end; none is stuck.
    #[test]
    fn every_task_can_be_brought_to_an_end(lives in prop::collection::vec(0usize..64, 0..40)) {
        let all = inputs();
        let mut state = TaskState::Draft;
        for at in lives {
            state = step(state, all[at % all.len()]).map_or(state, |next| next.state);
        }
        if !state.is_over() {
            let ending = match state {
                TaskState::Cancelling => state,
                _ => step(state, Input::Cancel).unwrap().state,
            };
            prop_assert_eq!(step(ending, Input::Gone).unwrap().state, TaskState::Cancelled);
        }
    }
}
