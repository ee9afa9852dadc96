//! How long a driver takes to read a screen, compared with writing the same screen as text.

mod support;

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use coop::driver::{self, Driver, testing};
use coop::term::Screen;
use support::{heading, micros, row};

const READS: u32 = 2000;
const ROUNDS: usize = 3;
/// The most that one reading may take.
const BUDGET: Duration = Duration::from_micros(200);

fn main() {
    heading(&format!(
        "detect: one reading of a captured screen, mean of {READS}, best of {ROUNDS}"
    ));
    let driver = driver::maker("claude").expect("a driver")();
    for agent in ["claude", "codex", "gemini"] {
        let mut worst = (Duration::ZERO, String::new());
        let mut total_read = Duration::ZERO;
        let mut total_written = Duration::ZERO;
        for (case, screen) in screens(agent) {
            let time = best(|| times(|| drop(black_box(read(driver.as_ref(), &screen)))));
            total_written += best(|| times(|| drop(black_box(screen.text()))));
            total_read += time;
            if time > worst.0 {
                worst = (time, case);
            }
        }
        let ratio = total_read.as_secs_f64() / total_written.as_secs_f64();
        let verdict = if worst.0 <= BUDGET { "within" } else { "OVER" };
        row(
            &format!("screens of {agent}"),
            &format!(
                "worst {:6.2} us ({}), {verdict} the budget   {ratio:.2} x writing it as text",
                micros(worst.0),
                worst.1
            ),
        );
    }
}

fn read(driver: &dyn Driver, screen: &Screen) -> driver::screen_reading::ScreenReading {
    driver.read_screen(black_box(screen))
}

fn times(mut run: impl FnMut()) -> Duration {
    let start = Instant::now();
    for _ in 0..READS {
        run();
    }
    start.elapsed() / READS
}

fn best(mut run: impl FnMut() -> Duration) -> Duration {
    (0..ROUNDS).map(|_| run()).min().unwrap_or_default()
}

fn screens(agent: &str) -> Vec<(String, Arc<Screen>)> {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(agent).join("screens");
    let paths = fs::read_dir(folder).expect("screens").map(|entry| entry.expect("a file").path());
    paths
        .filter(|path| path.extension().is_some_and(|kind| kind == "ansi" || kind == "txt"))
        .map(|path| {
            let case = path.file_stem().and_then(|name| name.to_str()).expect("a name").to_owned();
            let capture = fs::read_to_string(&path).expect("a capture");
            let screen = testing::screens::screen(&capture, testing::screens::size_of(&case))
                .expect("a size");
            (case, screen)
        })
        .collect()
}
