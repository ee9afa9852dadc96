#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| coop::fuzzing::hook_lines(data));
