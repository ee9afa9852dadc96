//! The files, variables and flags with which each agent asks nothing at its start and uses the fake
//! model. It does not know the tests.

use serde_json::json;

use crate::fake_model::FakeModel;

const CODEX: &str = r#"
model = "mock-model"
model_provider = "fake"
check_for_update_on_startup = false
[model_providers.fake]
name = "fake"
base_url = "{api}/v1"
env_key = "FAKE_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
[projects."{workspace}"]
trust_level = "trusted"
"#;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    Claude,
    Codex,
    Gemini,
}

impl Agent {
    /// The agent's program, which is also its name in coop.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }

    pub fn flags(self) -> Vec<String> {
        let flags: &[&str] = match self {
            Self::Claude => &["--permission-mode", "manual"],
            Self::Codex | Self::Gemini => &[],
        };
        flags.iter().map(|flag| (*flag).to_owned()).collect()
    }

    /// Files below the home, with the placeholders of `Setup::file`.
    pub fn files(self) -> Vec<(String, String)> {
        let (path, text) = match self {
            Self::Claude => {
                let config = json!({
                    "hasCompletedOnboarding": true,
                    "hasSeenAutoDefaultNotice": true,
                    "customApiKeyResponses": { "approved": ["sk-ant-dummy"], "rejected": [] },
                    "projects": { "{workspace}": { "hasTrustDialogAccepted": true } },
                });
                (".claude.json", config.to_string())
            }
            Self::Codex => (".codex/config.toml", CODEX.to_owned()),
            Self::Gemini => {
                let config = json!({
                    "security": { "auth": { "selectedType": "gemini-api-key" } },
                    "general": { "enableAutoUpdate": false, "enableAutoUpdateNotification": false },
                    "privacy": { "usageStatisticsEnabled": false },
                    "model": { "name": "gemini-2.5-flash" },
                });
                (".gemini/settings.json", config.to_string())
            }
        };
        vec![(path.to_owned(), text)]
    }

    pub fn variables(self, api: &FakeModel) -> Vec<(&'static str, String)> {
        match self {
            Self::Claude => vec![
                ("ANTHROPIC_BASE_URL", api.url()),
                ("ANTHROPIC_API_KEY", "sk-ant-dummy".to_owned()),
                ("CLAUDE_CODE_MAX_RETRIES", "1".to_owned()),
                ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
                ("DISABLE_AUTOUPDATER", "1".to_owned()),
                ("DISABLE_TELEMETRY", "1".to_owned()),
                ("DISABLE_ERROR_REPORTING", "1".to_owned()),
            ],
            Self::Codex => vec![("FAKE_KEY", "sk-fake".to_owned())],
            Self::Gemini => vec![
                ("GEMINI_API_KEY", "fake".to_owned()),
                ("GOOGLE_GEMINI_BASE_URL", api.url()),
                ("GEMINI_CLI_TRUST_WORKSPACE", "true".to_owned()),
                ("GEMINI_CLI_NO_RELAUNCH", "true".to_owned()),
            ],
        }
    }

    /// The directive that makes the model run this command with the agent's own tool, for which the
    /// agent asks permission.
    pub fn shell_call(self, command: &str) -> String {
        let (tool, input) = match self {
            Self::Claude => ("Bash", json!({ "command": command, "description": "a test" })),
            Self::Codex => {
                let input = json!({
                    "cmd": command, "sandbox_permissions": "require_escalated",
                    "justification": "May I?",
                });
                ("exec_command", input)
            }
            Self::Gemini => ("run_shell_command", json!({ "command": command })),
        };
        format!("#tool {tool} {input}")
    }

    /// Whether the model has a question tool only in plan mode.
    pub fn asks_in_plan_mode(self) -> bool {
        match self {
            Self::Codex => true,
            Self::Claude | Self::Gemini => false,
        }
    }

    /// Whether an Enter right after a paste submits it, before the agent has drawn it.
    pub fn takes_enter_with_a_paste(self) -> bool {
        match self {
            Self::Claude | Self::Codex => true,
            Self::Gemini => false,
        }
    }

    /// The fixed hosts that the agent calls in its first run.
    pub fn hosts(self) -> &'static [&'static str] {
        match self {
            Self::Claude => {
                &["api.anthropic.com", "platform.claude.com", "console.anthropic.com", "claude.ai"]
            }
            Self::Codex | Self::Gemini => &[],
        }
    }
}
