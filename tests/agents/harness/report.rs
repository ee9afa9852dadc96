//! The report of a failed test.

use coop_client::{Credentials, connect, v1};

use super::TestSession;

impl TestSession {
    /// Prints everything that helps to find the cause. The test's runtime is unwinding, so a thread
    /// with its own runtime calls coop.
    pub(super) fn report(&self) {
        let target = self.coop.target.clone();
        let query = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            let timeout = std::time::Duration::from_secs(5);
            runtime
                .block_on(async {
                    tokio::time::timeout(timeout, screen_and_explanation(&target)).await
                })
                .map_err(std::io::Error::other)
        };
        let seen = match std::thread::spawn(query).join() {
            Ok(Ok(text)) => text,
            Ok(Err(error)) => format!("coop does not respond: {error}\n"),
            Err(_) => "the thread of the report panicked\n".to_owned(),
        };
        let events = self.coop.events.lock().map(|events| events.clone()).unwrap_or_default();
        let skipped = events.len().saturating_sub(30);
        let events: String =
            events.iter().skip(skipped).map(|event| format!("{event:?}\n")).collect();
        let log = self.coop.log.lock().map(|log| log.clone()).unwrap_or_default();
        eprintln!(
            "======== screen\n{seen}======== events\n{events}======== model\n{}",
            self.api.report()
        );
        eprintln!("======== coop's log\n{log}========");
    }
}

async fn screen_and_explanation(target: &coop_client::Target) -> String {
    let mut client = match connect(target, Credentials::default()).await {
        Ok(client) => client,
        Err(error) => return format!("{error}\n"),
    };
    let mut text = match client.get_screen(v1::GetScreenRequest::default()).await {
        Ok(answer) => {
            let screen = answer.into_inner();
            format!("title {:?}\n{}\n", screen.title, screen.lines.join("\n"))
        }
        Err(status) => format!("no screen: {status}\n"),
    };
    text += &match client.explain_state(v1::ExplainStateRequest {}).await {
        Ok(answer) => format!("======== explain\n{:#?}\n", answer.into_inner()),
        Err(status) => format!("======== explain\n{status}\n"),
    };
    text
}
