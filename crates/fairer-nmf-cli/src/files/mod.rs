//! The files that a command was asked for: claimed before any work, written whole or not at all.

mod pages;

use fairer_nmf_io::{Failure, Output, check_distinct};
use fairer_nmf_report::Report;

use crate::args::CommonArgs;
use crate::screen::stopped;
use pages::Pages;

/// What was asked for.
pub(crate) struct Asked<'a> {
    pub model: Option<&'a str>,
    pub json: Option<&'a str>,
    /// The page, and the option that names it.
    pub page: (&'static str, Option<&'a str>),
    pub charts: Option<&'a str>,
    /// Whether files that exist are replaced.
    pub force: bool,
    /// Whether a page is replaced in any case.
    pub replace_page: bool,
}

impl<'a> Asked<'a> {
    /// Results for programs and a page; no model, no charts.
    pub(crate) fn new(json: Option<&'a str>, report: Option<&'a str>, force: bool) -> Self {
        let page = ("--report", report);
        Self { model: None, json, page, charts: None, force, replace_page: false }
    }

    /// What `fit` and `audit` share.
    pub(crate) fn of(args: &'a CommonArgs) -> Self {
        Self {
            charts: args.charts.as_deref(),
            ..Self::new(args.json.as_deref(), args.report.as_deref(), args.force)
        }
    }
}

/// The files of a command, on their way to being written.
pub(crate) struct Files {
    model: Option<Output>,
    json: Option<Output>,
    pages: Pages,
    written: Vec<String>,
}

impl Files {
    /// Claims what was asked for; nothing of `read` may be among it.
    pub(crate) fn claim(read: &[String], asked: &Asked<'_>) -> Result<Self, Failure> {
        let all = [
            ("--model", asked.model),
            ("--json", asked.json),
            asked.page,
            ("--charts", asked.charts),
        ];
        check_distinct(read, &all)?;
        let claim = |option, path| Output::claim_if(option, path, asked.force);
        let replace = asked.force || asked.replace_page;
        let (option, page) = asked.page;
        let pages = Pages::claim(option, page, replace, asked.charts, asked.force)?;
        let (model, json) = (claim("--model", asked.model)?, claim("--json", asked.json)?);
        Ok(Self { model, json, pages, written: Vec::new() })
    }

    /// Makes sure of room for what is likely to come.
    pub(crate) fn reserve(&mut self, model: usize, json: usize) -> Result<(), Failure> {
        self.model.as_mut().map_or(Ok(()), |output| output.reserve(model))?;
        self.json.as_mut().map_or(Ok(()), |output| output.reserve(json))?;
        self.pages.reserve()
    }

    /// Whether standard output is taken, so that the table has to go.
    pub(crate) fn to_stdout(&self) -> bool {
        let files = [&self.model, &self.json];
        self.pages.to_stdout() || files.into_iter().flatten().any(Output::is_stdout)
    }

    /// Whether there is a use for a report.
    pub(crate) fn want_pages(&self) -> bool {
        self.pages.are_wanted()
    }

    /// Whether there is a use for JSON.
    pub(crate) fn want_json(&self) -> bool {
        self.json.is_some()
    }

    /// Writes a model, where it was asked for.
    pub(crate) fn write_model(&mut self, model: &fairer_nmf::Model) -> Result<(), Failure> {
        let Some(output) = self.model.take() else { return Ok(()) };
        // Into the room that was reserved: nothing else is written on the way.
        self.put(output, &model.to_bytes().map_err(Failure::failed)?)
    }

    /// Writes JSON, where it was asked for.
    pub(crate) fn write_json(&mut self, content: impl FnOnce() -> Vec<u8>) -> Result<(), Failure> {
        let Some(output) = self.json.take() else { return Ok(()) };
        self.put(output, &content())
    }

    /// Writes the page and the charts, where they were asked for.
    pub(crate) fn write_pages(&mut self, report: &Report) -> Result<(), Failure> {
        self.written.extend(self.pages.write(report)?);
        Ok(())
    }

    fn put(&mut self, output: Output, content: &[u8]) -> Result<(), Failure> {
        let name = (!output.is_stdout()).then(|| output.shown().to_owned());
        output.write(content)?;
        self.written.extend(name);
        Ok(())
    }

    /// What was written; where the user stopped the work, that is a failure that says so.
    pub(crate) fn finish(self) -> Result<Vec<String>, Failure> {
        if !stopped() {
            return Ok(self.written);
        }
        let missing: Vec<&str> = self.pages.unwritten().collect();
        Err(Failure::failed(match (&self.written[..], &missing[..]) {
            ([], _) => "stopped; nothing was written".to_owned(),
            (files, []) => format!("stopped; wrote {}", files.join(", ")),
            (files, missing) => {
                format!("stopped; wrote {}, but not {}", files.join(", "), missing.join(", "))
            }
        }))
    }
}

/// Ends a command that has nothing to write yet, where the user stopped it.
pub(crate) fn end_if_stopped() -> Result<(), Failure> {
    match stopped() {
        true => Err(Failure::failed("stopped; nothing was written")),
        false => Ok(()),
    }
}
