#![no_main]

#[path = "../src/cases.rs"]
mod cases;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    cases::run("table", data);
});
