//! Section 7: what the report does not say. Always there.

use std::fmt::Write as _;

use super::Section;
use crate::content::Report;
use crate::escape::name;

const ALWAYS: [&str; 3] = [
    "<b>Parity of reconstruction is not parity of outcomes.</b> Losing equally little of every group does not mean that \
     whatever is decided with these factors treats the groups alike. Look at that, too.",
    "<b>One definition was used.</b> A group’s loss is its relative error minus the relative error it has with a dictionary of its \
     own, and a model is called fairer when the largest loss is smaller. Equal errors, or equal relative \
     errors, are other definitions, and they can disagree with this one.",
    "<b>Fairer is a comparison.</b> It says that the worst-off group loses less than under another model, not that the result is just, \
     and it may be paid for by other groups or samples.",
];

pub fn section(report: &Report) -> Option<Section> {
    let mut body = String::from("<ul class=\"limits\">");
    let groups = format!(
        "<b>The groups were {}.</b> Other ways to divide the same samples may show other losses, and within a group some \
         fare worse than others.",
        if report.groups_were_found() { "found in these data" } else { "given" }
    );
    let (first, others) = ALWAYS.split_at(1);
    for line in first.iter().copied().chain([groups.as_str()]).chain(others.iter().copied()) {
        let _ = write!(body, "<li>{line}</li>");
    }
    for note in &report.notes {
        let _ = write!(body, "<li>{}</li>", name(&note.sentence));
    }
    body.push_str("</ul>");
    Some(Section { id: "limits", title: "What this does not say", body })
}
