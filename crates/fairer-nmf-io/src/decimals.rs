//! Passes over a table until its decimal mark is known.

use fairer_nmf::Note;

use super::cells::{Number, Part};
use super::error::InputError;
use super::plan::{Plan, Reading, Role};
use super::table::Table;
use super::written::{self, Decimal, Evidence};

/// A table that fits into memory, by as many passes as [`passes`] takes.
pub(crate) fn settled<T: Number>(
    plan: Plan,
    semicolons: bool,
    pass: impl Fn(&Plan) -> Result<(Vec<T>, Part), InputError>,
) -> Result<Table<T>, InputError> {
    if plan.roles.contains(&Role::Look) {
        // Whoever only looks takes the cells as they come, up to where they make no sense.
        let (numbers, part) = pass(&plan)?;
        return Ok(Table::unchecked(plan, numbers, part));
    }
    let (plan, numbers, part) = passes(plan, semicolons, pass)?;
    Table::new(plan, numbers, part)
}

/// Passes over a table until its decimal mark is known: over plain numbers there is one pass, and
/// where German tables are likely (semicolons between cells) a look comes first. Gives the plan with
/// what the last pass found.
pub(crate) fn passes<N>(
    mut plan: Plan,
    semicolons: bool,
    mut pass: impl FnMut(&Plan) -> Result<(N, Part), InputError>,
) -> Result<(Plan, N, Part), InputError> {
    if plan.reading == Reading::Open && !semicolons {
        let (numbers, part) = pass(&plan)?;
        if part.issues.open_numbers == 0 {
            return Ok((plan, numbers, part));
        }
    }
    if plan.reading == Reading::Open {
        plan.reading = Reading::Looking;
        let (_, part) = pass(&plan)?;
        part.issues.check_shape(&plan)?;
        let decimal = decide(&part.issues.evidence, &plan, semicolons)?;
        if decimal == Decimal::Comma {
            let sentence = format!("{} writes numbers with a decimal comma", plan.path);
            plan.notes.push(Note::new("decimal-comma", sentence));
        }
        plan.reading = Reading::Known(decimal);
    }
    let (numbers, part) = pass(&plan)?;
    Ok((plan, numbers, part))
}

/// The decimal mark that the cells of a table tell.
fn decide(evidence: &Evidence, plan: &Plan, semicolons: bool) -> Result<Decimal, InputError> {
    let place = |(line, column, cell): &written::Seen| {
        format!("line {line} of `{}` holds `{cell}`", plan.names[*column])
    };
    let asked = |what: String| InputError::WhichDecimal { path: plan.path.clone(), what };
    match evidence {
        Evidence { point: Some(point), comma: Some(comma), .. } => {
            Err(asked(format!("{} and {}", place(comma), place(point))))
        }
        Evidence { comma: Some(_), .. } => Ok(Decimal::Comma),
        Evidence { point: Some(_), .. } => Ok(Decimal::Point),
        Evidence { open_comma, open_point, .. } => match (open_comma, open_point, plan.usual) {
            (None, None, _) => Ok(Decimal::Point),
            (_, _, Some(usual)) => Ok(usual),
            // A plain number, and nothing speaks against it.
            (None, Some(_), None) if !semicolons => Ok(Decimal::Point),
            (Some(seen), _, None) | (None, Some(seen), None) => {
                Err(asked(format!("{}, which may be thousands or a fraction", place(seen))))
            }
        },
    }
}
