//! What each agent must find so that it asks nothing by itself and talks to the fake: its files,
//! its variables, its flags. It must not know what the test wants of it.

use std::path::Path;

use serde_json::json;

use crate::fake::Fake;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    Claude,
    Codex,
    Gemini,
}

impl Agent {
    /// The agent's command, and coop's word for it.
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
            // Its background server would outlive the test.
            Self::Codex => &["--no-daemon"],
            Self::Gemini => &[],
        };
        flags.iter().map(|flag| (*flag).to_owned()).collect()
    }

    /// Files below the home.
    pub fn files(self, workspace: &Path, api: &Fake) -> Vec<(String, String)> {
        let workspace = workspace.to_str().expect("a plain path");
        match self {
            Self::Claude => {
                let config = json!({
                    "hasCompletedOnboarding": true,
                    "hasSeenAutoDefaultNotice": true,
                    "customApiKeyResponses": { "approved": ["sk-ant-dummy"], "rejected": [] },
                    "projects": { workspace: { "hasTrustDialogAccepted": true } },
                });
                vec![(".claude.json".to_owned(), config.to_string())]
            }
            Self::Codex => {
                let config = format!(
                    "model = \"mock-model\"\nmodel_provider = \"fake\"\ncheck_for_update_on_startup = false\n\
                     [model_providers.fake]\nname = \"fake\"\nbase_url = \"{}/v1\"\nenv_key = \"FAKE_KEY\"\n\
                     wire_api = \"responses\"\nrequest_max_retries = 1\nstream_max_retries = 1\n\
                     [projects.{workspace:?}]\ntrust_level = \"trusted\"\n",
                    api.url()
                );
                vec![(".codex/config.toml".to_owned(), config)]
            }
            Self::Gemini => {
                let config = json!({
                    "security": { "auth": { "selectedType": "gemini-api-key" } },
                    "general": { "enableAutoUpdate": false, "enableAutoUpdateNotification": false },
                    "privacy": { "usageStatisticsEnabled": false },
                    "model": { "name": "gemini-2.5-flash" },
                });
                vec![(".gemini/settings.json".to_owned(), config.to_string())]
            }
        }
    }

    pub fn variables(self, api: &Fake) -> Vec<(&'static str, String)> {
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

    /// Whom the agent calls by name in its first run, whatever it is told.
    pub fn hosts(self) -> &'static [&'static str] {
        match self {
            Self::Claude => {
                &["api.anthropic.com", "platform.claude.com", "console.anthropic.com", "claude.ai"]
            }
            Self::Codex | Self::Gemini => &[],
        }
    }
}
