//! The groups of rows without a label per row in memory: names, and a number a row.

use crate::data::by_number_or_name;
use std::collections::HashMap;

/// The group of every row, as a number; groups are sorted as [`GroupedData`](crate::GroupedData)
/// sorts them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupCodes {
    /// Names of the groups.
    pub names: Vec<String>,
    /// The number of every row's group.
    pub codes: Vec<u32>,
}

impl GroupCodes {
    /// Takes one label after the other.
    ///
    /// ```
    /// let groups = fairer_nmf::rows::GroupCodes::from_labels(["10", "9", "10"]);
    /// assert_eq!((groups.names, groups.codes), (vec!["9".into(), "10".into()], vec![1, 0, 1]));
    /// ```
    pub fn from_labels<L: AsRef<str>>(labels: impl IntoIterator<Item = L>) -> Self {
        let mut known: HashMap<String, u32> = HashMap::new();
        let mut codes = Vec::new();
        for label in labels {
            let label = label.as_ref();
            codes.push(match known.get(label) {
                Some(&code) => code,
                None => {
                    let code = known.len() as u32;
                    known.insert(label.to_owned(), code);
                    code
                }
            });
        }
        let mut names: Vec<(String, u32)> = known.into_iter().collect();
        names.sort_unstable_by_key(|(_, code)| *code);
        Self::from_numbers(names.into_iter().map(|(name, _)| name).collect(), codes)
    }

    /// Takes different names in any order, and the number of every row's among them.
    #[must_use]
    pub fn from_numbers(names: Vec<String>, mut codes: Vec<u32>) -> Self {
        let mut sorted: Vec<(String, usize)> = names.into_iter().zip(0..).collect();
        sorted.sort_unstable_by(|(a, _), (b, _)| by_number_or_name(a, b));
        let mut place = vec![0; sorted.len()];
        sorted.iter().enumerate().for_each(|(now, (_, then))| place[*then] = now as u32);
        codes.iter_mut().for_each(|code| *code = place[*code as usize]);
        Self { names: sorted.into_iter().map(|(name, _)| name).collect(), codes }
    }
}
