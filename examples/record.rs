//! Records the screen of a running agent as a test fixture: `record URL AGENT CASE [TOKEN_FILE]`
//! writes the screen to `tests/fixtures/AGENT/screens/CASE.ansi`, and the driver's reading of it to
//! `CASE.expected`.
//!
//! If the screen is not 200x50, its size is added to the name. Check both files before you commit
//! them: the tests take the recorded reading as correct, and a screen can show private data.

use std::error::Error;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use coop::driver::{self, testing::screens};
use coop_client::{Credentials, Target, connect, v1};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (url, agent, case, token_file) = match arguments.as_slice() {
        [url, agent, case] => (url, agent, case, None),
        [url, agent, case, token_file] => (url, agent, case, Some(token_file)),
        _ => return Err("usage: record URL AGENT CASE [TOKEN_FILE]".into()),
    };
    let make = driver::maker(agent).ok_or_else(|| format!("there is no driver for {agent}"))?;
    let token = token_file.map(fs::read_to_string).transpose()?;
    let token = token.as_deref().and_then(|file| file.split_whitespace().next()).map(str::to_owned);

    let mut client =
        connect(&Target::parse(url)?, Credentials { token, ..Credentials::default() }).await?;
    let request = v1::GetScreenRequest {
        format: v1::get_screen_request::Format::Ansi.into(),
        ..v1::GetScreenRequest::default()
    };
    let shown = client.get_screen(request).await?.into_inner();
    let size = (u32::try_from(shown.cols)?, u32::try_from(shown.rows)?);
    let case = match screens::size_of(case) == size {
        true => case.clone(),
        false => format!("{case}-{}x{}", size.0, size.1),
    };
    let capture = shown.lines.join("\n") + "\n";
    let screen = screens::screen(&capture, size).ok_or("the screen has no size")?;
    let seen = screens::describe(&make().read_screen(&screen));

    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(agent).join("screens");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(format!("{case}.ansi")), capture)?;
    fs::write(folder.join(format!("{case}.expected")), &seen)?;
    write!(io::stdout(), "{}\n{seen}", folder.join(case).display())?;
    Ok(())
}
