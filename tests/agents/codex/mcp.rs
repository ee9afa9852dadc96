//! A tool of an MCP server, for which codex has its own permission dialog.

use serde_json::json;

use crate::harness::Setup;

/// An MCP server with one tool, over stdio.
const BIRDS: &str = r#"
import { createInterface } from 'node:readline';
const say = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') {
    const { protocolVersion } = params;
    const serverInfo = { name: 'birds', version: '1' };
    say(id, { protocolVersion, capabilities: { tools: {} }, serverInfo });
  } else if (method === 'tools/list') {
    const inputSchema = { type: 'object', properties: { what: { type: 'string' } } };
    say(id, { tools: [{ name: 'peck', description: 'pecks', inputSchema }] });
  } else if (method === 'tools/call') {
    const { what } = params.arguments;
    const text = what === 'secret' ? `the secret is ${process.env.BIRD_SECRET}` : 'pecked ' + what;
    say(id, { content: [{ type: 'text', text }] });
  } else if (id !== undefined) {
    say(id, {});
  }
});
"#;

#[tokio::test]
async fn an_mcp_tool_is_allowed_or_denied() {
    let server = r#"mcp_servers.birds={command="node",args=["../home/birds.mjs"]}"#;
    let setup = Setup::codex().file("birds.mjs", BIRDS).args(&["-c", server]);
    let Some(mut session) = setup.start().await else { return };
    session.wait_state("idle").await;
    let call = "#tool mcp__birds__peck {\"what\":\"corn\"}";
    let nudged = session.nudge(&format!("{call} #say it pecked")).await.expect("taken");
    let prompt = session.wait_prompt().await;
    assert_eq!(prompt.r#type, "permission");
    assert!(prompt.tool.as_ref().is_some_and(|tool| tool.contains("peck")), "{prompt:?}");
    assert_eq!(session.accept().await.outcome, "answered");
    session.wait_reply("it pecked").await;
    session.wait_state_after(nudged.seq, "idle").await;
    assert!(session.api.last_result().contains("pecked corn"));

    session.nudge(call).await.expect("taken");
    session.wait_prompt().await;
    assert_eq!(session.decline().await.outcome, "answered");
    session.wait_state("idle").await;
}

/// The arguments of every process that can be read.
pub(super) fn all_arguments() -> String {
    let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
    let arguments = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    arguments.map(|words| String::from_utf8_lossy(&words).replace('\0', " ") + "\n").collect()
}

#[tokio::test]
async fn an_mcp_server_gets_its_secret_and_no_argument_shows_it() {
    let secret = "it's-4c21";
    let server = json!({
        "command": "node", "args": ["../home/birds.mjs"], "env": {"BIRD_SECRET": secret},
    });
    let config = json!({ "mcp": { "birds": server } }).to_string();
    let setup = Setup::codex().file("birds.mjs", BIRDS).file("agent.json", &config);
    let setup = setup.coop(&["--agent-config", "../home/agent.json"]);
    let Some(mut session) = setup.start().await else { return };
    session.wait_state("idle").await;
    let call = "#tool mcp__birds__peck {\"what\":\"secret\"}";
    let nudged = session.nudge(&format!("{call} #say it pecked")).await.expect("taken");
    session.wait_prompt().await;
    assert_eq!(session.accept().await.outcome, "answered");
    session.wait_reply("it pecked").await;
    session.wait_state_after(nudged.seq, "idle").await;
    let result = session.api.last_result();
    assert!(result.contains(&format!("the secret is {secret}")), "{result}");
    let arguments = all_arguments();
    assert!(arguments.contains("mcp_servers.birds=") && arguments.contains("birds.mjs"));
    assert!(!arguments.contains(secret), "{arguments}");
}
