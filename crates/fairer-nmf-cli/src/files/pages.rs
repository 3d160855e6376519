//! What people look at: the page of `--report`, and the same charts as files of `--charts`.

use std::fs;
use std::path::{Path, PathBuf};

use fairer_nmf_report::{CHART_FORMATS, Report, chart_files, charts, render_html};

use fairer_nmf_io::{Failure, Output, temporary_in};

/// The page and the charts that were asked for.
pub(crate) struct Pages {
    // The folder first: a page may lie in it.
    charts: Option<Folder>,
    html: Option<Output>,
}

impl Pages {
    /// Claims what the options gave, before any work: the page by `option`.
    pub(crate) fn claim(
        option: &'static str,
        page: Option<&str>,
        replace_page: bool,
        charts: Option<&str>,
        replace_charts: bool,
    ) -> Result<Self, Failure> {
        page.map_or(Ok(()), |page| check_name(option, page))?;
        let charts = charts.map(|path| Folder::claim(path, replace_charts)).transpose()?;
        Ok(Self { charts, html: Output::claim_if(option, page, replace_page)? })
    }

    /// Whether there is a use for a report.
    pub(crate) fn are_wanted(&self) -> bool {
        self.html.is_some() || self.charts.is_some()
    }

    /// What was asked for and is not written yet, as the user called it.
    pub(crate) fn unwritten(&self) -> impl Iterator<Item = &str> {
        let page = self.html.iter().map(Output::shown);
        page.chain(self.charts.iter().map(|folder| folder.shown.as_str()))
    }

    /// Whether standard output is taken.
    pub(crate) fn to_stdout(&self) -> bool {
        self.html.as_ref().is_some_and(Output::is_stdout)
    }

    /// Makes sure of room for what is likely to come.
    pub(crate) fn reserve(&mut self) -> Result<(), Failure> {
        self.html.as_mut().map_or(Ok(()), |html| html.reserve(1 << 20))
    }

    /// Writes the page, then the charts, and tells their names.
    pub(crate) fn write(&mut self, report: &Report) -> Result<Vec<String>, Failure> {
        let mut written = Vec::new();
        if let Some(output) = self.html.take() {
            written.push(output.shown().to_owned());
            output.write(render_html(report).as_bytes())?;
        }
        if let Some(folder) = self.charts.take() {
            written.push(folder.write(&charts(report))?);
        }
        Ok(written)
    }
}

/// A page is HTML: whoever asks for something else would get a file that nothing opens.
fn check_name(option: &str, page: &str) -> Result<(), Failure> {
    const OTHERS: [&str; 12] =
        ["pdf", "doc", "docx", "odt", "png", "svg", "jpg", "json", "csv", "xlsx", "md", "txt"];
    let path = Path::new(page);
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_lowercase();
    if !OTHERS.contains(&ending.as_str()) {
        return Ok(());
    }
    let cure = match ending.as_str() {
        "pdf" => ", open it in a browser and print it to PDF",
        "png" | "svg" => "; --charts FOLDER writes the pictures alone",
        "json" => "; --json FILE writes its numbers",
        _ => "",
    };
    let html = path.with_extension("html");
    Err(Failure::wrong(format!(
        "{option} {page}: the page is HTML: name it {}{cure}",
        html.display()
    )))
}

/// A folder for charts, which is there from the beginning.
struct Folder {
    shown: String,
    path: PathBuf,
    force: bool,
    /// Whether we made it, so that it goes again if nothing comes of it.
    made: bool,
}

impl Folder {
    fn claim(path: &str, force: bool) -> Result<Self, Failure> {
        let shown = path.to_owned();
        let path = PathBuf::from(path);
        let wrong = |what: String| Failure::wrong(format!("--charts {shown}: {what}"));
        let there = path.exists();
        if there && !path.is_dir() {
            return Err(wrong("is a file; give the name of a folder".to_owned()));
        }
        if there && !force && holds_anything(&path) {
            return Err(wrong(
                "the folder is not empty: give another one, or --force to replace charts in it"
                    .to_owned(),
            ));
        }
        if !there {
            fs::create_dir(&path).map_err(|e| {
                wrong(format!("cannot make the folder ({e}); choose another place"))
            })?;
        }
        let folder = Self { shown: shown.clone(), path, force, made: !there };
        // A file that is made and goes again tells whether others can be written.
        temporary_in(&folder.path)
            .map_err(|_| wrong("the folder is not writable; choose another place".to_owned()))?;
        Ok(folder)
    }

    /// Every chart in all formats; what the folder is called.
    fn write(self, charts: &[(String, String)]) -> Result<String, Failure> {
        for (stem, svg) in charts {
            let failed = |e| Failure::failed(format!("cannot draw {stem}: {e}"));
            for (ending, content) in chart_files(svg).map_err(failed)? {
                let path = self.path.join(format!("{stem}.{ending}")).display().to_string();
                Output::claim("--charts", &path, self.force)?.write(&content)?;
            }
        }
        let count = charts.len();
        Ok(format!("{} ({count} charts as {CHART_FORMATS})", self.shown))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.made {
            // Fails where something lies in it, as it should.
            let _ = fs::remove_dir(&self.path);
        }
    }
}

/// Hidden files do not count: outputs that were claimed in the folder are such.
fn holds_anything(folder: &Path) -> bool {
    let hidden = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with('.');
    fs::read_dir(folder).is_ok_and(|entries| entries.flatten().any(|entry| !hidden(&entry)))
}
