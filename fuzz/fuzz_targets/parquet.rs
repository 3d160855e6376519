#![no_main]

#[path = "../src/cases.rs"]
mod cases;

libfuzzer_sys::fuzz_target!(init: cases::on_one_thread(), |data: &[u8]| {
    cases::run("parquet", data);
});
