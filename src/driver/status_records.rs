//! The status records that a terminal keeps for the programs in it: one for the whole program, and
//! one for each of its tasks. It does not know which program may report.

use super::status_report::{ReportedState, StatusMessage, StatusReport};

/// How many records are kept; of more, the one that was reported first is dropped.
pub(super) const MAX_RECORDS: usize = 64;

/// The records, in the order of their last reports.
#[derive(Debug, Default)]
pub(crate) struct StatusRecords(Vec<StatusReport>);

impl StatusRecords {
    /// Replaces or removes what the message is about.
    pub(crate) fn apply(&mut self, message: StatusMessage) {
        match message {
            StatusMessage::Clear { id: None, .. } => self.0.clear(),
            StatusMessage::Clear { id: Some(id), .. } => {
                self.0.retain(|record| !is_within(record.id.as_deref(), &id));
            }
            StatusMessage::Report(report) => {
                self.0.retain(|record| record.id != report.id);
                if self.0.len() == MAX_RECORDS {
                    self.0.remove(0);
                }
                self.0.push(report);
            }
        }
    }

    /// Removes all records.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &StatusReport> {
        self.0.iter()
    }

    /// The record of the whole program. If the program reports only tasks, it is that of the task
    /// that needs most: one that is blocked, then one that works, then one that failed.
    pub(crate) fn overall(&self) -> Option<&StatusReport> {
        let whole = self.0.iter().find(|record| record.id.is_none());
        whole.or_else(|| self.0.iter().max_by_key(|record| urgency(record.state)))
    }
}

fn urgency(state: ReportedState) -> u8 {
    match state {
        ReportedState::Blocked { .. } => 4,
        ReportedState::Working { .. } => 3,
        ReportedState::Error => 2,
        ReportedState::Idle => 1,
        ReportedState::Done => 0,
    }
}

/// Whether a record is that of the task, or of a task below it.
fn is_within(record: Option<&str>, task: &str) -> bool {
    record
        .and_then(|record| record.strip_prefix(task))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::status_report::parse;

    fn after(bodies: &[&str]) -> StatusRecords {
        let mut records = StatusRecords::default();
        for body in bodies {
            records.apply(parse(body).unwrap());
        }
        records
    }

    fn ids(records: &StatusRecords) -> Vec<&str> {
        records.iter().map(|record| record.id.as_deref().unwrap_or("-")).collect()
    }

    #[test]
    fn a_report_replaces_its_whole_record() {
        let records = after(&["state=working:progress=4:msg=SGk=", "state=working:app=x"]);
        let [record] = &records.0[..] else { panic!("one record") };
        assert_eq!(
            (record.state, &record.message),
            (ReportedState::Working { progress: None }, &None)
        );
    }

    #[test]
    fn clearing_a_task_removes_those_below_it() {
        let tasks = ["state=idle", "state=idle:id=a", "state=done:id=a/b", "state=idle:id=ab"];
        let with = |last: &str| after(&[&tasks[..], &[last]].concat());
        assert_eq!(ids(&with("state=clear:id=a")), ["-", "ab"]);
        assert_eq!(ids(&with("state=clear:id=a/b")), ["-", "a", "ab"]);
        assert_eq!(ids(&with("state=clear")), [""; 0]);
    }

    #[test]
    fn the_program_counts_more_than_its_tasks() {
        let records = after(&["state=blocked:id=a", "state=idle"]);
        assert_eq!(records.overall().unwrap().state, ReportedState::Idle);
        let records = after(&["state=done:id=a", "state=working:id=b", "state=error:id=c"]);
        assert_eq!(records.overall().unwrap().id.as_deref(), Some("b"));
        assert_eq!(after(&[]).overall(), None);
    }

    #[test]
    fn the_number_of_records_is_bounded() {
        let bodies: Vec<String> = (0..100).map(|id| format!("state=idle:id={id}")).collect();
        let records = after(&bodies.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(records.0.len(), MAX_RECORDS);
        assert_eq!(ids(&records).last(), Some(&"99"));
    }
}
