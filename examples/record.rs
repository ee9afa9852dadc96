//! Keeps what a running agent shows as an example for the tests: `record URL AGENT CASE [TOKEN_FILE]` writes the
//! screen to `tests/fixtures/AGENT/screens/CASE.ansi` and what the driver sees on it beside it.
//!
//! A screen that is not 200x50 gets its size into its name. Look at both files before you commit them: what was
//! recorded is what the tests will hold for right, and a screen can show what is nobody's business.

use std::error::Error;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use coop::driver::{self, fixture};
use coop_client::{Credentials, Target, connect, v1};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (url, agent, case, token_file) = match arguments.as_slice() {
        [url, agent, case] => (url, agent, case, None),
        [url, agent, case, token_file] => (url, agent, case, Some(token_file)),
        _ => return Err("usage: record URL AGENT CASE [TOKEN_FILE]".into()),
    };
    let driver = driver::named(agent).ok_or_else(|| format!("there is no driver for {agent}"))?;
    let token = token_file.map(fs::read_to_string).transpose()?;
    let token = token.as_deref().and_then(|file| file.split_whitespace().next()).map(str::to_owned);

    let mut client = connect(&Target::parse(url)?, Credentials { token, ..Credentials::default() }).await?;
    let request = v1::GetScreenRequest {
        format: v1::get_screen_request::Format::Ansi.into(),
        ..v1::GetScreenRequest::default()
    };
    let shown = client.get_screen(request).await?.into_inner();
    let size = (u32::try_from(shown.cols)?, u32::try_from(shown.rows)?);
    let case = match fixture::size_of(case) == size {
        true => case.clone(),
        false => format!("{case}-{}x{}", size.0, size.1),
    };
    let capture = shown.lines.join("\n") + "\n";
    let screen = fixture::screen(&capture, size).ok_or("the screen has no size")?;
    let seen = fixture::describe(&driver.see(&screen));

    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(agent).join("screens");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(format!("{case}.ansi")), capture)?;
    fs::write(folder.join(format!("{case}.expected")), &seen)?;
    write!(io::stdout(), "{}\n{seen}", folder.join(case).display())?;
    Ok(())
}
