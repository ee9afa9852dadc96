//! Only `src/os/` uses what other systems than Linux do not have.

use crate::sources::rust_files;

/// Words of Linux: files, system calls, and items of crates that exist on Linux only.
const LINUX_ONLY: [&str; 18] = [
    "/proc",
    "/sys/",
    "prctl",
    "set_child_subreaper",
    "pidfd",
    "libc::",
    "SYS_",
    "close_range",
    "inotify",
    "epoll",
    "eventfd",
    "memfd",
    "std::os::linux",
    "target_os",
    "SO_PEERCRED",
    "STKFLT",
    "Interest::ERROR",
    "read_write(true)",
];

/// The lines of code with their numbers: without comments and without the tests at the end.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().zip(1..).take_while(|(line, _)| *line != "mod tests {");
    let lines = lines.filter(|(line, _)| !line.trim_start().starts_with("//"));
    lines.map(|(line, number)| (number, line.split(" // ").next().unwrap_or(line)))
}

#[test]
fn linux_only_apis_are_used_below_os_only() {
    let files = rust_files("src");
    let (mut inside, mut outside) = (0, Vec::new());
    for file in files.iter().filter(|file| !file.is_test()) {
        for (number, line) in code(&file.text) {
            for word in LINUX_ONLY.iter().filter(|word| line.contains(**word)) {
                if file.path.starts_with("os/") {
                    inside += 1;
                } else {
                    outside.push(format!("src/{}:{number} has {word}", file.path));
                }
            }
        }
    }
    assert!(inside > 10, "src/os has only {inside} words of Linux, in {} files", files.len());
    assert!(outside.is_empty(), "{outside:#?}");
}
