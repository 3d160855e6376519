//! Writes sample reports with their JSON and charts into a folder:
//! `cargo run -p fairer-nmf-report --example sample_reports -- DIR`.

mod samples;

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use fairer_nmf_report::{charts, render_html, render_json};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args().nth(1).ok_or("say where to write: sample_reports DIR")?;
    let folder = PathBuf::from(folder);
    for (name, report) in [
        ("demo", samples::demo()),
        ("three", samples::three()),
        ("sixty", samples::sixty()),
        ("hostile", samples::hostile()),
        ("sweep", samples::beside::sweep()),
        ("compared", samples::beside::compared()),
    ] {
        let files = folder.join(format!("{name}-charts"));
        fs::create_dir_all(&files)?;
        fs::write(folder.join(format!("{name}.html")), render_html(&report))?;
        fs::write(folder.join(format!("{name}.json")), render_json(&report))?;
        for (stem, svg) in charts(&report) {
            fs::write(files.join(format!("{stem}.svg")), &svg)?;
            // One set is enough to look at; drawing is slow without optimisation.
            #[cfg(feature = "png")]
            if name == "demo" {
                fs::write(
                    files.join(format!("{stem}.png")),
                    fairer_nmf_report::png::render(&svg, 2.0)?,
                )?;
            }
        }
    }
    Ok(())
}
