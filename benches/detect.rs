//! How long a driver takes to see what is on a screen, against writing the same screen out as text.

mod support;

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use coop::driver::{self, Driver, fixture};
use coop::term::Screen;
use support::{heading, micros, row};

const LOOKS: u32 = 2000;
const ROUNDS: usize = 3;
/// What a look may cost.
const BUDGET: Duration = Duration::from_micros(200);

fn main() {
    heading(&format!("detect: one look at a kept screen, mean of {LOOKS}, best of {ROUNDS}"));
    let driver = driver::named("claude").expect("a driver");
    for agent in ["claude", "codex", "gemini"] {
        let mut worst = (Duration::ZERO, String::new());
        let mut looked = Duration::ZERO;
        let mut written = Duration::ZERO;
        for (case, screen) in screens(agent) {
            let look = best(|| times(|| drop(black_box(see(driver.as_ref(), &screen)))));
            written += best(|| times(|| drop(black_box(screen.text()))));
            looked += look;
            if look > worst.0 {
                worst = (look, case);
            }
        }
        let ratio = looked.as_secs_f64() / written.as_secs_f64();
        let verdict = if worst.0 <= BUDGET { "within" } else { "OVER" };
        row(
            &format!("screens of {agent}"),
            &format!(
                "worst {:6.2} us ({}), {verdict} the budget   {ratio:.2} x writing it out",
                micros(worst.0),
                worst.1
            ),
        );
    }
}

fn see(driver: &dyn Driver, screen: &Screen) -> driver::sight::Sight {
    driver.see(black_box(screen))
}

fn times(mut run: impl FnMut()) -> Duration {
    let start = Instant::now();
    for _ in 0..LOOKS {
        run();
    }
    start.elapsed() / LOOKS
}

fn best(mut run: impl FnMut() -> Duration) -> Duration {
    (0..ROUNDS).map(|_| run()).min().unwrap_or_default()
}

fn screens(agent: &str) -> Vec<(String, Arc<Screen>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(agent).join("screens");
    let paths = fs::read_dir(folder).expect("screens").map(|entry| entry.expect("a file").path());
    paths
        .filter(|path| path.extension().is_some_and(|kind| kind == "ansi" || kind == "txt"))
        .map(|path| {
            let case = path.file_stem().and_then(|name| name.to_str()).expect("a name").to_owned();
            let capture = fs::read_to_string(&path).expect("a capture");
            let screen = fixture::screen(&capture, fixture::size_of(&case)).expect("a size");
            (case, screen)
        })
        .collect()
}
