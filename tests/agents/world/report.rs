//! What is to be seen of a world in which a test has failed.

use coop_client::{Credentials, connect, v1};

use super::World;

impl World {
    /// Prints everything that helps to find out why. The test's own runtime is unwinding, so this
    /// asks coop from a thread with a runtime of its own.
    pub(super) fn report(&self) {
        let target = self.run.target.clone();
        let ask = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            let patience = std::time::Duration::from_secs(5);
            runtime
                .block_on(async { tokio::time::timeout(patience, look(&target)).await })
                .map_err(std::io::Error::other)
        };
        let looked = std::thread::spawn(ask).join();
        let seen = match looked {
            Ok(Ok(text)) => text,
            Ok(Err(error)) => format!("coop does not answer: {error}\n"),
            Err(_) => "coop could not be asked\n".to_owned(),
        };
        let events = self.run.events.lock().map(|events| events.clone()).unwrap_or_default();
        let skipped = events.len().saturating_sub(30);
        let events: String = events.iter().skip(skipped).map(|event| format!("{event:?}\n")).collect();
        let log = self.run.log.lock().map(|log| log.clone()).unwrap_or_default();
        eprintln!("======== screen\n{seen}======== events\n{events}======== model\n{}", self.api.report());
        eprintln!("======== coop's log\n{log}========");
    }
}

async fn look(target: &coop_client::Target) -> String {
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
