//! The orchestrator's MCP servers in Codex's configuration. Every user of the machine can read
//! arguments, so the values of variables and headers stay out of them: variables go into a private
//! file that a shell reads before it becomes the server, headers into Codex's environment.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// Sets the variables of the file that is its first argument, and becomes the rest of them.
const WITH_VARIABLES: &str = r#". "$0"; exec "$@""#;
/// Codex's own setting for a header whose value is in a variable.
const HEADERS_FROM_VARIABLES: &str = "env_http_headers";

/// The servers without their secrets, and the secrets.
#[derive(Debug, Default)]
pub(super) struct Servers {
    /// The definitions, by name.
    pub(super) definitions: Map<String, Value>,
    pub(super) files: Vec<(PathBuf, String)>,
    pub(super) env: BTreeMap<OsString, OsString>,
}

impl Servers {
    /// Adds the servers; the files will be in `dir`.
    pub(super) fn add(&mut self, servers: &Map<String, Value>, dir: &Path) -> Result<(), String> {
        for (name, server) in servers {
            let mut server = server.clone();
            if let Value::Object(server) = &mut server {
                let failed = |reason: &str| format!("the MCP server {name:?}: {reason}");
                self.hide_variables(name, server, dir).map_err(failed)?;
                self.hide_headers(name, server).map_err(failed)?;
            }
            self.definitions.insert(name.clone(), server);
        }
        Ok(())
    }

    fn hide_variables(
        &mut self,
        name: &str,
        server: &mut Map<String, Value>,
        dir: &Path,
    ) -> Result<(), &'static str> {
        let Some(variables) = taken_texts(server, "env", "env is not an object of texts")? else {
            return Ok(());
        };
        let mut script = String::new();
        for (variable, value) in &variables {
            if !is_variable(variable) || value.contains('\0') {
                return Err("a variable in env has a name or a value that no shell can set");
            }
            let quoted = value.replace('\'', r"'\''");
            script.push_str(&format!("export {variable}='{quoted}'\n"));
        }
        let path = dir.join(format!("mcp-{name}.env"));
        let file = path.to_str().ok_or("the session's directory has a name that is not text")?;
        let Some(Value::String(command)) = server.get("command") else {
            return Err("env needs a command");
        };
        let mut words: Vec<Value> = ["-c", WITH_VARIABLES, file, command].map(Value::from).into();
        match server.remove("args") {
            Some(Value::Array(args)) => words.extend(args),
            Some(Value::Null) | None => {}
            Some(_) => return Err("args is not a list"),
        }
        server.insert("args".to_owned(), Value::Array(words));
        server.insert("command".to_owned(), "/bin/sh".into());
        self.files.push((path, script));
        Ok(())
    }

    fn hide_headers(
        &mut self,
        name: &str,
        server: &mut Map<String, Value>,
    ) -> Result<(), &'static str> {
        let wrong = "http_headers is not an object of texts";
        let Some(headers) = taken_texts(server, "http_headers", wrong)? else { return Ok(()) };
        let sources = server
            .entry(HEADERS_FROM_VARIABLES)
            .or_insert_with(|| Value::Object(Map::new()))
            .as_object_mut()
            .ok_or("env_http_headers is not an object")?;
        for (number, (header, value)) in headers.into_iter().enumerate() {
            if value.contains('\0') {
                return Err("a header has a NUL in it");
            }
            let name = name.to_ascii_uppercase().replace('-', "_");
            let variable = format!("COOP_MCP_{name}_HEADER_{number}");
            sources.insert(header, variable.as_str().into());
            self.env.insert(variable.into(), value.into());
        }
        Ok(())
    }
}

/// Takes an object of texts out of a definition, unless it is absent or empty.
fn taken_texts(
    server: &mut Map<String, Value>,
    key: &str,
    wrong: &'static str,
) -> Result<Option<BTreeMap<String, String>>, &'static str> {
    let texts: BTreeMap<String, String> = match server.remove(key) {
        None | Some(Value::Null) => return Ok(None),
        Some(value) => serde_json::from_value(value).map_err(|_| wrong)?,
    };
    Ok(Some(texts).filter(|texts| !texts.is_empty()))
}

fn is_variable(name: &str) -> bool {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.bytes().all(word) && name.bytes().next().is_some_and(|first| !first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn servers(given: &Value) -> Result<Servers, String> {
        let mut servers = Servers::default();
        servers.add(given.as_object().unwrap(), Path::new("/dir"))?;
        Ok(servers)
    }

    #[test]
    fn the_shell_sets_the_variables_and_becomes_the_server() {
        let given = json!({"a": {"command": "run", "args": ["-v"], "env": {"KEY": "it's"}}});
        let servers = servers(&given).unwrap();
        let wanted = json!({"a": {
            "command": "/bin/sh",
            "args": ["-c", WITH_VARIABLES, "/dir/mcp-a.env", "run", "-v"],
        }});
        assert_eq!(Value::Object(servers.definitions), wanted);
        let script = "export KEY='it'\\''s'\n".to_owned();
        assert_eq!(servers.files, [("/dir/mcp-a.env".into(), script)]);
        assert!(servers.env.is_empty());
    }

    #[test]
    fn headers_are_read_from_variables() {
        let given = json!({"a-b": {
            "url": "http://x", "http_headers": {"X-Key": "secret"}, "env_http_headers": {"Y": "Z"},
        }});
        let servers = servers(&given).unwrap();
        let wanted = json!({"a-b": {
            "url": "http://x",
            "env_http_headers": {"X-Key": "COOP_MCP_A_B_HEADER_0", "Y": "Z"},
        }});
        assert_eq!(Value::Object(servers.definitions), wanted);
        let variable = ("COOP_MCP_A_B_HEADER_0".into(), "secret".into());
        assert_eq!(servers.env, BTreeMap::from([variable]));
    }

    #[test]
    fn a_server_without_secrets_stays_as_it_is() {
        let given = json!({"a": {"command": "run", "env": {}}, "b": {"url": "http://x"}, "c": 1});
        let servers = servers(&given).unwrap();
        let wanted = json!({"a": {"command": "run"}, "b": {"url": "http://x"}, "c": 1});
        assert_eq!(Value::Object(servers.definitions), wanted);
        assert!(servers.files.is_empty() && servers.env.is_empty());
    }

    #[test]
    fn what_cannot_be_hidden_is_refused_without_its_value() {
        for server in [
            json!({"command": "run", "env": {"A B": "secret"}}),
            json!({"command": "run", "env": {"1A": "secret"}}),
            json!({"command": "run", "env": {"A": "secret\0"}}),
            json!({"command": "run", "env": {"A": 1}}),
            json!({"command": "run", "env": "secret"}),
            json!({"command": "run", "env": {"A": "secret"}, "args": "x"}),
            json!({"url": "http://x", "env": {"A": "secret"}}),
            json!({"url": "http://x", "http_headers": {"A": "secret\0"}}),
            json!({"url": "http://x", "http_headers": ["secret"]}),
        ] {
            let error = servers(&json!({"a": server})).unwrap_err();
            assert!(error.contains("\"a\"") && !error.contains("secret"), "{error}");
        }
    }
}
