//! Columns that number or name the rows of a frame. pandas and Dask write them beside the data and take them off
//! again when they read: they are no features.

use parquet::file::metadata::FileMetaData;
use serde::Deserialize;
use serde_json::Value;

/// What pandas says about the columns of a file.
#[derive(Deserialize)]
struct Pandas {
    /// Names of columns; an index that only counts has none and is described in their place.
    index_columns: Vec<Value>,
}

/// The columns that the file says are its index.
pub(super) fn named(about: &FileMetaData) -> Vec<String> {
    let pairs = about.key_value_metadata().into_iter().flatten();
    let text = pairs.filter(|pair| pair.key == "pandas").find_map(|pair| pair.value.as_deref());
    text.map(columns).unwrap_or_default()
}

/// None where it cannot be understood: it describes the file, and is not needed to read it.
fn columns(pandas: &str) -> Vec<String> {
    let known: Option<Pandas> = serde_json::from_str(pandas).ok();
    let columns = known.into_iter().flat_map(|pandas| pandas.index_columns);
    columns.filter_map(|column| Some(column.as_str()?.to_owned())).collect()
}

/// How pandas and Dask call an index that has no name.
pub(super) fn is_nameless(column: &str) -> bool {
    let number = column.strip_prefix("__index_level_").and_then(|rest| rest.strip_suffix("__"));
    column == "__null_dask_index__"
        || number.is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_a_name_or_a_range_that_has_no_column() {
        let range = r#"{"kind": "range", "name": "id", "start": 0, "stop": 3, "step": 1}"#;
        assert!(columns(&format!(r#"{{"index_columns": [{range}]}}"#)).is_empty());
        let several = format!(r#"{{"index_columns": ["id", {range}, "day"], "columns": []}}"#);
        assert_eq!(columns(&several), ["id", "day"]);
        for other in ["", "{}", "[]", "{\"index_columns\": 3}", "{\"index_columns\": [nan]}"] {
            assert!(columns(other).is_empty(), "{other}");
        }
    }

    #[test]
    fn an_index_without_a_name_is_known_by_what_it_is_called() {
        assert!(
            ["__index_level_0__", "__index_level_12__", "__null_dask_index__"].map(is_nameless)
                == [true; 3]
        );
        assert!(["__index_level_x__", "index", "null_dask_index"].map(is_nameless) == [false; 3]);
    }
}
