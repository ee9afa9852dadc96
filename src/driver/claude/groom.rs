//! Answers setup dialogs without the user if the operator wants that: only those on the way to the
//! composer, and never one that grants more than COMMAND asks for.

use crate::driver::prompt::{Answer, Prompt};

pub(super) fn answer(prompt: &Prompt, command: &[String]) -> Option<Answer> {
    let accept = match prompt.subtype? {
        "theme_picker" | "security_notes" | "trust" | "api_key" | "settings_warning"
        | "auto_mode_notice" => true,
        "startup_bypass" if asks_for_bypass(command) => true,
        "mcp_server" | "update" | "model_migration" => false,
        _ => return None,
    };
    Some(Answer { accept: Some(accept), ..Answer::default() })
}

/// Whether COMMAND itself turns permission dialogs off.
fn asks_for_bypass(command: &[String]) -> bool {
    let mut rest = command.iter().map(String::as_str).take_while(|word| *word != "--");
    while let Some(word) = rest.next() {
        match word {
            "--dangerously-skip-permissions" | "--permission-mode=bypassPermissions" => {
                return true;
            }
            "--permission-mode" if rest.next() == Some("bypassPermissions") => return true,
            _ => {}
        }
    }
    false
}
