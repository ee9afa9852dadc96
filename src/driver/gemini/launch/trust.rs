//! Whether Gemini knows already if it trusts a folder, so that it shows no dialog about that at its
//! start. It reads Gemini's own files through the request, and changes none.

use std::path::Path;

use serde_json::Value;

use super::home;
use crate::driver::launch::LaunchRequest;
use crate::driver::launch::command::Command;

/// The variable that trusts the folder, and the one that names the file of trusted folders.
const TRUSTS: &str = "GEMINI_CLI_TRUST_WORKSPACE";
const FILE: &str = "GEMINI_CLI_TRUSTED_FOLDERS_PATH";

pub(super) fn is_known(request: &LaunchRequest, command: &Command) -> bool {
    request.var(TRUSTS).is_some_and(|value| value == "true")
        || command.has("skip-trust")
        || asks_for_no_folder(request)
        || names_folder(request)
}

/// Whether the user's settings switch the question off.
fn asks_for_no_folder(request: &LaunchRequest) -> bool {
    let settings = home(request).and_then(|home| json(request, &home.join("settings.json")));
    let enabled = "/security/folderTrust/enabled";
    settings.is_some_and(|settings| settings.pointer(enabled) == Some(&Value::Bool(false)))
}

/// Whether the file of trusted folders decides about this one.
fn names_folder(request: &LaunchRequest) -> bool {
    let named = request.var(FILE).map(|path| request.cwd.join(path));
    let path = named.or_else(|| Some(home(request)?.join("trustedFolders.json")));
    let folders = path.and_then(|path| json(request, &path));
    let Some(Value::Object(folders)) = folders else { return false };
    folders.iter().any(|(folder, trust)| {
        let folder = Path::new(folder);
        match trust.as_str() {
            Some("TRUST_FOLDER") => request.cwd.starts_with(folder),
            Some("TRUST_PARENT") => {
                folder.parent().is_some_and(|parent| request.cwd.starts_with(parent))
            }
            Some("DO_NOT_TRUST") => request.cwd == folder,
            _ => false,
        }
    })
}

fn json(request: &LaunchRequest, path: &Path) -> Option<Value> {
    serde_json::from_str(&(request.read)(path).ok()?).ok()
}
