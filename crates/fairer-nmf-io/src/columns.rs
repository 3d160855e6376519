//! Lists of column names, as they are typed and as we tell people to type them.

use std::borrow::Cow;
use std::collections::HashSet;

/// The columns that values of an option mean. A value that is the name of a column is that column,
/// whatever it holds; any other is a list, in which a name with a comma stands in quotes.
pub(crate) fn resolve(values: &[String], header: &[String]) -> Vec<String> {
    if values.is_empty() {
        return Vec::new();
    }
    let known: HashSet<&String> = header.iter().collect();
    let meant = |value: &String| match known.contains(value) {
        true => vec![value.clone()],
        false => split(value),
    };
    values.iter().flat_map(meant).collect()
}

/// Takes a name out of the lists that hold it.
pub fn remove(values: &mut Vec<String>, name: &str) {
    let without = |value: &String| {
        let names = split(value);
        match names.iter().any(|known| known == name) {
            true => names.iter().filter(|n| *n != name).map(|n| quoted(n).into_owned()).collect(),
            false => vec![value.clone()],
        }
    };
    *values = values.iter().flat_map(without).collect();
}

/// An option with names, to be pasted into a shell as it stands.
pub fn typed(option: &str, names: &[String]) -> String {
    let value = match names {
        [only] => only.clone(),
        several => several.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(","),
    };
    // A value that begins like an option is taken for one, unless it is tied to its own.
    let between = if value.starts_with('-') { "=" } else { " " };
    format!("{option}{between}{}", in_a_shell(&value))
}

fn split(value: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = Some(value);
    while let Some(text) = rest {
        let (name, after) = in_quotes(text.trim_start()).unwrap_or_else(|| {
            let (name, after) = match text.split_once(',') {
                Some((name, after)) => (name, Some(after)),
                None => (text, None),
            };
            (name.trim().to_owned(), after)
        });
        names.push(name);
        rest = after;
    }
    names
}

/// A name in quotes at the start of a list (a quote in it is doubled), and what follows its comma.
fn in_quotes(text: &str) -> Option<(String, Option<&str>)> {
    let mut rest = text.strip_prefix('"')?;
    let mut name = String::new();
    loop {
        let (part, after) = rest.split_once('"')?;
        name.push_str(part);
        if let Some(more) = after.strip_prefix('"') {
            name.push('"');
            rest = more;
            continue;
        }
        return match after.trim_start() {
            "" => Some((name, None)),
            after => after.strip_prefix(',').map(|after| (name, Some(after))),
        };
    }
}

/// A name as a list holds it.
fn quoted(name: &str) -> Cow<'_, str> {
    match name.contains([',', '"']) || name.trim() != name {
        true => Cow::Owned(format!("\"{}\"", name.replace('"', "\"\""))),
        false => Cow::Borrowed(name),
    }
}

/// A word as a shell takes it: in quotes where it needs them.
pub fn in_a_shell(word: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_alphanumeric() || "_-./:=@%+,".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => Cow::Borrowed(word),
        false => Cow::Owned(format!("'{}'", word.replace('\'', r"'\''"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn lists_are_split_at_commas_outside_quotes() {
        assert_eq!(split("a,b"), ["a", "b"]);
        assert_eq!(split(" a , \"b, c\" ,d"), ["a", "b, c", "d"]);
        assert_eq!(split("\"say \"\"hi\"\"\",x"), ["say \"hi\"", "x"]);
        assert_eq!(split("5\" disk,\"open"), ["5\" disk", "\"open"]);
        assert_eq!(split(""), [""]);
    }

    #[test]
    fn a_whole_value_that_is_a_column_is_no_list() {
        let header = names(&["a", "b", "a, b", "b, c"]);
        let values = names(&["a, b", "a,\"b, c\""]);
        assert_eq!(resolve(&values, &header), ["a, b", "a", "b, c"]);
    }

    #[test]
    fn a_name_is_taken_out_of_every_list() {
        let mut values = names(&["x", "a,x,\"b, c\"", "b, c"]);
        remove(&mut values, "x");
        assert_eq!(values, ["a", "\"b, c\"", "b, c"]);
    }

    #[test]
    fn what_we_tell_people_to_type_means_what_we_meant() {
        assert_eq!(typed("--drop", &names(&["city", "größe"])), "--drop city,größe");
        assert_eq!(typed("--drop", &names(&["income, k$"])), "--drop 'income, k$'");
        let several = names(&["income, k$", "it's", "id"]);
        assert_eq!(typed("--drop", &several), r#"--drop '"income, k$",it'\''s,id'"#);
        assert_eq!(resolve(&names(&["\"income, k$\",it's,id"]), &several), several);
        assert_eq!(typed("--drop", &names(&["-x"])), "--drop=-x");
    }
}
