//! The private socket, state directory and environment of a session's child.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::coop::Coop;

impl Coop {
    /// The socket in the state directory, over which the child calls coop.
    pub fn private_socket(&self) -> PathBuf {
        self.state_dir().join("coop.sock")
    }

    pub fn state_dir(&self) -> PathBuf {
        let sessions = self.home.path().join(".local/state/coop/sessions");
        let mut entries = std::fs::read_dir(sessions).expect("a state directory");
        entries.next().expect("a session").expect("an entry").path()
    }

    /// The environment of the child, as the kernel has it.
    pub async fn child_environment(&self) -> BTreeMap<String, String> {
        let pid = self.http().get("/api/v1/health").await.json()["pid"].as_i64().expect("a pid");
        let text = std::fs::read(format!("/proc/{pid}/environ")).expect("an environment");
        let pairs = text.split(|byte| *byte == 0).map(String::from_utf8_lossy);
        pairs
            .filter_map(|pair| pair.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned())))
            .collect()
    }
}
