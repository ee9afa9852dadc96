//! What each agent must find so that it asks nothing by itself and talks to the fake: its files,
//! its variables, its flags. It must not know what the test wants of it.

use std::path::Path;

use serde_json::json;

use crate::fake::Fake;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    Claude,
}

impl Agent {
    /// The agent's command, and coop's word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
        }
    }

    pub fn flags(self) -> Vec<String> {
        let flags: &[&str] = match self {
            Self::Claude => &["--permission-mode", "manual"],
        };
        flags.iter().map(|flag| (*flag).to_owned()).collect()
    }

    /// Files below the home.
    pub fn files(self, workspace: &Path) -> Vec<(String, String)> {
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
        }
    }

    /// Whom the agent calls by name in its first run, whatever it is told.
    pub fn hosts(self) -> &'static [&'static str] {
        match self {
            Self::Claude => {
                &["api.anthropic.com", "platform.claude.com", "console.anthropic.com", "claude.ai"]
            }
        }
    }
}
