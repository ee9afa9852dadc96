//! Follows the agent's process: which one it is, whether it runs, and whether its process group is
//! the terminal's foreground group. It must not know what follows from that.

use std::ffi::OsStr;
use std::path::Path;

use super::never;
use crate::driver::presence::Presence;
use crate::os::{self, ExitWatch, Process, ProcessIdentity};

/// How many processes below the child are searched for the agent.
const MAX_SEARCHED: usize = 256;

pub(super) struct AgentWatch {
    /// The name of the agent's program.
    agent: String,
    /// The child, which leads the session of its terminal.
    child: Option<i32>,
    bound: Option<BoundProcess>,
    /// What was reported last.
    reported: Presence,
}

struct BoundProcess {
    identity: ProcessIdentity,
    /// Its process group, as it was last seen in the terminal's session.
    group: Option<i32>,
    /// None where the kernel cannot report its end; then its entry is read each time.
    exit: Option<ExitWatch>,
    ended: bool,
    /// Only the name of its program says that it is the agent.
    by_name: bool,
}

impl AgentWatch {
    pub(super) fn new(agent: String) -> Self {
        Self { agent, child: None, bound: None, reported: Presence::default() }
    }

    /// Another child has started; the agent of the last one has ended with it.
    pub(super) fn started(&mut self, child: i32) {
        self.child = Some(child);
        self.bound = None;
        self.reported = Presence::default();
    }

    /// This process has reported as the agent. It stays the agent for as long as it runs.
    pub(super) fn bind(&mut self, process: Option<ProcessIdentity>) {
        if let Some(identity) = process
            && self.bound.as_ref().is_none_or(|bound| bound.by_name || !bound.runs())
        {
            self.replace(identity, false);
        }
    }

    fn replace(&mut self, identity: ProcessIdentity, by_name: bool) {
        let exit = match ExitWatch::new(identity) {
            Ok(Some(exit)) => Some(exit),
            // It called, and has ended since; the next one that calls takes its place.
            Ok(None) => return,
            Err(error) => {
                tracing::debug!(%error, "the end of the agent's process is not reported");
                None
            }
        };
        self.bound = Some(BoundProcess { identity, group: None, exit, ended: false, by_name });
    }

    /// Binds the agent's program in this process group, if no process is bound: the topmost one
    /// whose command names it. Those below it may be helpers that end soon, and a launcher lives as
    /// long as the program that it starts.
    pub(super) fn find(&mut self, group: i32) {
        let Some(child) = self.child else { return };
        if self.bound.as_ref().is_some_and(BoundProcess::runs) {
            return;
        }
        let mut searched = vec![child];
        let mut at = 0;
        while let Some(pid) = searched.get(at).copied().filter(|_| at < MAX_SEARCHED) {
            at += 1;
            let process = Process::read(pid).filter(|process| !process.is_zombie());
            if let Some(process) = process
                && process.group == group
                && names_program(&os::command_line(pid), &self.agent)
            {
                return self.replace(process.identity(), true);
            }
            searched.extend(os::children(pid));
        }
    }

    /// Resolves when the agent's process has ended.
    pub(super) async fn ended(&mut self) {
        match &mut self.bound {
            Some(BoundProcess { exit: Some(exit), ended: ended @ false, .. }) => {
                exit.ended().await;
                *ended = true;
            }
            Some(_) | None => never().await,
        }
    }

    /// Where the agent's process is, if that has changed since the last call. `foreground` reads
    /// the terminal's foreground group.
    pub(super) fn changed_presence(
        &mut self,
        foreground: impl Fn() -> Option<i32>,
    ) -> Option<Presence> {
        let mut presence = self.presence(&foreground);
        let by_name = self.bound.as_ref().is_some_and(|bound| bound.by_name);
        if presence == Presence::Gone
            && self.reported != Presence::Gone
            && by_name
            && let Some(group) = foreground()
        {
            // The name may have meant a helper of the agent.
            self.find(group);
            presence = self.presence(&foreground);
        }
        (std::mem::replace(&mut self.reported, presence) != presence).then_some(presence)
    }

    fn presence(&mut self, foreground: impl FnOnce() -> Option<i32>) -> Presence {
        let Some(bound) = &mut self.bound else { return Presence::Unbound };
        if bound.ended || bound.exit.as_ref().is_some_and(ExitWatch::has_ended) {
            bound.ended = true;
            return Presence::Gone;
        }
        let foreground = foreground();
        // The usual case costs two system calls: the process runs, and its group is the same.
        if bound.exit.is_some() && bound.group.is_some() && bound.group == foreground {
            return Presence::Foreground;
        }
        let running = |process: &Process| process.identity() == bound.identity;
        let Some(process) = Process::read(bound.identity.pid)
            .filter(|process| running(process) && !process.is_zombie())
        else {
            bound.ended = true;
            return Presence::Gone;
        };
        if Some(process.session) != self.child {
            bound.group = None;
            return Presence::Elsewhere;
        }
        bound.group = Some(process.group);
        match foreground {
            Some(group) if group == process.group => Presence::Foreground,
            Some(_) => Presence::Background,
            // The terminal is closed, and the child about to end.
            None => self.reported,
        }
    }
}

impl BoundProcess {
    fn runs(&self) -> bool {
        !self.ended && self.identity.is_running()
    }
}

/// Whether a command runs this program, directly or as the script of an interpreter.
fn names_program(command: &[impl AsRef<OsStr>], program: &str) -> bool {
    let stem = |word: &OsStr| Path::new(word).file_stem().map(OsStr::to_owned);
    command
        .iter()
        .map(AsRef::as_ref)
        .enumerate()
        .take_while(|(at, word)| *at == 0 || !word.as_encoded_bytes().contains(&b' '))
        .filter(|(at, word)| *at == 0 || !word.as_encoded_bytes().starts_with(b"-"))
        .take(2)
        .any(|(_, word)| stem(word).is_some_and(|stem| stem == program))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_names_its_program_or_its_script() {
        for (command, named) in [
            (&["tern"][..], true),
            (&["/usr/bin/tern", "--resume"], true),
            (&["node", "/opt/bin/tern"], true),
            (&["node", "--no-warnings", "/opt/lib/tern.js", "x"], true),
            (&["bash", "-c", "tern; exec bash"], false),
            (&["vim", "notes", "tern"], false),
            (&["bash"], false),
            (&[""], false),
            (&[], false),
        ] {
            assert_eq!(names_program(command, "tern"), named, "{command:?}");
        }
    }
}
