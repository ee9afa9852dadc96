//! A tool of an MCP server, which codex asks about in a dialog of its own.

use crate::world::Setup;

/// A server with one tool, over its standard input and output.
const BIRDS: &str = r#"
import { createInterface } from 'node:readline';
const say = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') {
    say(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'birds', version: '1' } });
  } else if (method === 'tools/list') {
    const inputSchema = { type: 'object', properties: { what: { type: 'string' } } };
    say(id, { tools: [{ name: 'peck', description: 'pecks', inputSchema }] });
  } else if (method === 'tools/call') {
    say(id, { content: [{ type: 'text', text: 'pecked ' + params.arguments.what }] });
  } else if (id !== undefined) {
    say(id, {});
  }
});
"#;

#[tokio::test]
async fn it_is_asked_about_and_allowed_or_not() {
    let server = r#"mcp_servers.birds={command="node",args=["../home/birds.mjs"]}"#;
    let setup = Setup::codex().file("birds.mjs", BIRDS).args(&["-c", server]);
    let Some(mut world) = setup.start().await else { return };
    world.wait_state("idle").await;
    let call = "#tool mcp__birds__peck {\"what\":\"corn\"}";
    let nudged = world.nudge(&format!("{call} #say it pecked")).await.expect("taken");
    let prompt = world.wait_prompt().await;
    assert_eq!(prompt.r#type, "permission");
    assert!(prompt.tool.as_ref().is_some_and(|tool| tool.contains("peck")), "{prompt:?}");
    assert_eq!(world.accept().await.outcome, "answered");
    world.hear("it pecked").await;
    world.wait_state_after(nudged.seq, "idle").await;
    assert!(world.api.last_result().contains("pecked corn"));

    world.nudge(call).await.expect("taken");
    world.wait_prompt().await;
    assert_eq!(world.decline().await.outcome, "answered");
    world.wait_state("idle").await;
}
