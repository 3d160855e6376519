//! The methods by their names, as the program and Python take them.

use std::fmt;
use std::str::FromStr;

use fairer_nmf::UnknownName;

use super::{ALL, Neighbour};

/// What can be typed, in the order of [`ALL`].
const NAMES: [&str; ALL.len()] = {
    let mut names = [""; ALL.len()];
    let mut at = 0;
    while at < ALL.len() {
        names[at] = ALL[at].name();
        at += 1;
    }
    names
};

impl FromStr for Neighbour {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let unknown = || UnknownName { given: name.to_owned(), expected: &NAMES };
        ALL.into_iter().find(|method| method.name() == name).ok_or_else(unknown)
    }
}

impl fmt::Display for Neighbour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The methods of these names, each once, in the order given; all where none are named.
///
/// # Errors
/// A name that none has.
pub fn named(names: &[String]) -> Result<Vec<Neighbour>, UnknownName> {
    let mut methods = Vec::new();
    for name in names {
        let method = name.parse()?;
        if !methods.contains(&method) {
            methods.push(method);
        }
    }
    Ok(if methods.is_empty() { ALL.to_vec() } else { methods })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_each_once_and_none_are_all() {
        let given =
            |names: &[&str]| named(&names.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(given(&[]).unwrap(), ALL);
        assert_eq!(given(&NAMES).unwrap(), ALL);
        assert_eq!(ALL.map(|method| method.to_string()), NAMES);
        let twice = given(&["am", "standard", "am"]).unwrap();
        assert_eq!(twice, [Neighbour::Fairer, Neighbour::Standard]);
        let unknown = given(&["standard", "best"]).unwrap_err();
        assert_eq!((unknown.given.as_str(), unknown.expected), ("best", &NAMES[..]));
    }
}
