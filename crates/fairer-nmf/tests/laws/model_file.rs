//! Models on disk.

use crate::common::{fixed, noisy};
use fairer_nmf::{GroupFit, GroupedData, Method, Model, fit, silent};
use std::path::PathBuf;

fn model() -> Model {
    let (x, labels) = noisy(51, 40, 7);
    let data = GroupedData::new(x.view(), &labels).unwrap().normalize_features().unwrap();
    let mut model = fit(&data, &fixed(3, Method::am(), 5), &silent).unwrap().model;
    model.feature_names = Some((0..7).map(|j| format!("feature {j}")).collect());
    model
}

/// A file of this test alone, gone when dropped.
struct File(PathBuf);

impl File {
    fn new(name: &str) -> Self {
        let unique = format!("fairer-nmf-{}-{name}.safetensors", std::process::id());
        Self(std::env::temp_dir().join(unique))
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn error_of(content: &[u8], name: &str) -> String {
    let file = File::new(name);
    std::fs::write(&file.0, content).unwrap();
    let text = Model::load(&file.0).unwrap_err().to_string();
    assert!(text.contains(name), "the file is named: {text}");
    text
}

#[test]
fn save_and_load_give_the_same_model() {
    let (file, model) = (File::new("round-trip"), model());
    model.save(&file.0).unwrap();
    assert_eq!(Model::load(&file.0).unwrap(), model);
    // A second save replaces the first and leaves nothing else behind.
    model.save(&file.0).unwrap();
    assert_eq!(Model::load(&file.0).unwrap(), model);
}

#[test]
fn files_that_are_no_model_give_a_clear_error() {
    let file = File::new("whole");
    model().save(&file.0).unwrap();
    let whole = std::fs::read(&file.0).unwrap();
    for length in [0, 5, 8, 100, whole.len() / 2, whole.len() - 1] {
        let text = error_of(&whole[..length], "truncated");
        // Fewer than eight bytes could be anything.
        let expected = if length < 8 { "not a model" } else { "cut short" };
        assert!(text.contains(expected), "{length} bytes: {text}");
    }
    for content in [&b"a,b,c\n1,2,3\n4,5,6\n7,8,9\n"[..], b"PK\x03\x04 some archive or other"] {
        let text = error_of(content, "foreign");
        assert!(text.contains("not a model"), "{text}");
    }
    // A safetensors file of somebody else.
    let header = br#"{"x":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}"#;
    let mut other = (header.len() as u64).to_le_bytes().to_vec();
    other.extend_from_slice(header);
    other.extend_from_slice(&1.0f64.to_le_bytes());
    assert!(error_of(&other, "other").contains("not a model"));

    let text = String::from_utf8_lossy(&whole[8..]).into_owned();
    let old = r#"\"format_version\":1"#;
    assert!(text.contains(old), "the header carries the version");
    let at = whole.windows(old.len()).position(|w| w == old.as_bytes()).unwrap();
    let mut newer = whole;
    newer[at + old.len() - 1] = b'9';
    let text = error_of(&newer, "newer");
    assert!(text.contains("newer version (format 9"), "{text}");
}

#[test]
fn a_missing_file_is_named() {
    let text = Model::load("/nowhere/at/all.safetensors").unwrap_err().to_string();
    assert!(text.contains("/nowhere/at/all.safetensors"), "{text}");
}

#[test]
fn bytes_are_the_content_of_the_file_and_bring_everything_back() {
    let mut model = model();
    model.preparation = Some("{\"text\": 1}".to_owned());
    let bytes = model.to_bytes().unwrap();
    let file = File::new("bytes");
    model.save(&file.0).unwrap();
    assert_eq!(std::fs::read(&file.0).unwrap(), bytes);
    assert_eq!(Model::from_bytes(&bytes).unwrap(), model);
    let text = Model::from_bytes(&bytes[..99]).unwrap_err().to_string();
    assert!(text.starts_with("stored model: the file is cut short"), "{text}");
}

#[test]
fn a_file_has_the_oldest_version_that_tells_it_right() {
    let mut model = model();
    let version = |model: &Model, number: char| {
        let bytes = model.to_bytes().unwrap();
        String::from_utf8_lossy(&bytes).contains(&format!(r#"\"format_version\":{number},"#))
    };
    assert!(version(&model, '1'));
    // A reader that does not know of preparations would prepare new data in another way.
    model.preparation = Some(String::new());
    assert!(version(&model, '2'));
}

/// In a file a group has its rows in numbers and what the fit means for it side by side; files of before there were families,
/// weights, unobserved cells and allowances by that name are read.
#[test]
fn a_group_of_an_older_file_is_read_and_written_in_the_order_of_today() {
    let older = r#"{"name":"a","rows":3,"norm":2.5,"baseline":{"error":0.5,"run_errors":[0.5]},"relative_error":0.3,"loss":0.1,"weight":1.0,"chance":0.05}"#;
    let mut group: GroupFit = serde_json::from_str(older).unwrap();
    assert_eq!((&*group.name, group.rows, group.norm, group.loss), ("a", 3, 2.5, 0.1));
    assert_eq!((&group.family, group.allowance, group.outside), (&None, Some(0.05), false));
    let written = |group: &GroupFit| serde_json::to_string(group).unwrap();
    let of_today =
        older.replace("chance", "allowance").replace("0.05}", r#"0.05,"outside":false}"#);
    assert_eq!(written(&group), of_today);
    group.group.family = Some("f".to_owned());
    (group.group.effective_rows, group.group.observed) = (Some(2.5), Some(0.75));
    let all = r#""family":"f","rows":3,"effective_rows":2.5,"observed":0.75,"norm""#;
    assert_eq!(written(&group), of_today.replace(r#""rows":3,"norm""#, all));
    assert_eq!(serde_json::from_str::<GroupFit>(&written(&group)).unwrap(), group);
}
