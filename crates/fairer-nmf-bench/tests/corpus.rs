//! Inputs that the fuzzer kept or once found wanting, on the stable compiler.

#[path = "../../../fuzz/src/cases.rs"]
mod cases;

use std::path::Path;

#[test]
fn inputs_that_were_kept_are_read_or_refused_in_words() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let mut inputs = 0;
    for target in cases::TARGETS {
        for kind in ["corpus", "found"] {
            let Ok(entries) = std::fs::read_dir(folder.join(kind).join(target)) else { continue };
            let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
            paths.sort();
            for path in paths {
                println!("{}", path.display());
                cases::run(target, &std::fs::read(&path).unwrap());
                inputs += 1;
            }
        }
    }
    cases::tidy_up();
    assert!(inputs > 0, "no inputs in {}", folder.display());
}
