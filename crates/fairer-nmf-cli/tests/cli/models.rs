//! Models that somebody else wrote: what they say is checked, and they open no other file.

use std::time::Duration;

use fairer_nmf::Model;

use crate::support::{Place, ran};

/// A place with documents and a model of them.
fn documents() -> Place {
    let place = Place::with(
        "pets.csv",
        "kind,body\ncat,the cat purrs\ncat,cat and cat food\ndog,the dog barks\ndog,a dog runs\n",
    );
    place.write("stop.txt", "the\nand\n");
    let fit = ["fit", "pets.csv", "--text", "body", "--group-by", "kind", "--rank", "1"];
    let more = ["--stop-words", "stop.txt", "--model", "m.safetensors", "--no-compare"];
    place.ok(&[&fit[..], &more].concat());
    place
}

#[test]
fn a_model_holds_its_stop_words() {
    let place = documents();
    let model = Model::load(place.path().join("m.safetensors")).unwrap();
    let kept: serde_json::Value = serde_json::from_str(&model.preparation.unwrap()).unwrap();
    assert_eq!(kept["text"]["stop_words"], serde_json::json!({ "Words": ["the", "and"] }));
    // The list that comes with the program is spelled out too: it may grow.
    let english = ["--stop-words", "english", "--model", "e.safetensors", "--no-compare"];
    let fit = ["fit", "pets.csv", "--text", "body", "--group-by", "kind", "--rank", "1"];
    place.ok(&[&fit[..], &english].concat());
    let model = Model::load(place.path().join("e.safetensors")).unwrap();
    let kept: serde_json::Value = serde_json::from_str(&model.preparation.unwrap()).unwrap();
    assert_eq!(kept["text"]["stop_words"]["Words"].as_array().unwrap().len(), 179);
}

#[cfg(unix)]
#[test]
fn a_model_never_opens_another_file() {
    let place = documents();
    let path = place.path().join("m.safetensors");
    let fifo = place.path().join("fifo");
    let name = std::ffi::CString::new(fifo.to_str().unwrap()).unwrap();
    // SAFETY: the name is a C string that lives until the call is over.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    let whole = Model::load(&path).unwrap();
    let stored = whole.preparation.clone().unwrap();
    // A pipe that nobody writes to, a file without end, one that is there, one that is not.
    for file in [fifo.to_str().unwrap(), "/dev/zero", "pets.csv", "absent.txt"] {
        let mut kept: serde_json::Value = serde_json::from_str(&stored).unwrap();
        kept["text"]["stop_words"] = serde_json::json!({ "File": file });
        let mut model = whole.clone();
        model.preparation = Some(kept.to_string());
        model.save(&path).unwrap();
        let new = ["pets.csv", "--text", "body", "--model", "m.safetensors"];
        for (command, more) in [
            ("transform", &["--drop", "kind", "-o", "-"][..]),
            ("audit", &["--group-by", "kind", "--no-compare"]),
        ] {
            let mut program = place.command();
            // It hung here for ever; the limit only ends the test where it does again.
            program.timeout(Duration::from_secs(60)).arg(command).args(new).args(more);
            let ran = ran(&mut program);
            let expected = "error: m.safetensors: how its documents became features cannot be read (its stop words are in another file, which is never opened): fit the model again\n";
            assert_eq!((ran.code, ran.err.as_str()), (2, expected), "{command} {file}");
        }
    }
}

/// Numbers that no fit leaves: the model is to blame, not the data.
#[test]
fn numbers_that_no_fit_leaves_are_refused() {
    let place = Place::with("a.csv", crate::support::small_csv(','));
    place.ok(&["fit", "a.csv", "--group-by", "g", "--rank", "2", "--model", "m.safetensors"]);
    let path = place.path().join("m.safetensors");
    let whole = Model::load(&path).unwrap();
    let damaged = |change: &dyn Fn(&mut Model), what: &str| {
        let mut model = whole.clone();
        change(&mut model);
        model.save(&path).unwrap();
        let expected = format!(
            "m.safetensors: {what}, which no fit leaves: the file is damaged, fit the model again"
        );
        let new = ["a.csv", "--model", "m.safetensors"];
        for (command, more) in [
            ("transform", &["--drop", "g", "-o", "-"][..]),
            ("audit", &["--group-by", "g", "--no-compare"]),
        ] {
            place.refused(&[&[command][..], &new, more].concat(), &expected);
        }
    };
    damaged(&|m| m.components[[0, 1]] = 1e200, &format!("components hold {}", 1e200));
    damaged(&|m| m.components[[0, 1]] = -1.0, "components hold -1");
    damaged(&|m| m.components[[1, 1]] = f64::NAN, "components hold NaN");
    damaged(
        &|m| m.components.fill(5e-324),
        &format!("no entry of the components is larger than {}", 5e-324),
    );
    damaged(&|m| m.scale.as_mut().unwrap()[2] = 0.0, "a feature is scaled by 0");
    damaged(&|m| m.scale.as_mut().unwrap()[2] = f64::INFINITY, "a feature is scaled by inf");
    damaged(&|m| m.history[0][0] = f64::NAN, "a loss is NaN");
}

#[test]
fn damaged_document_frequencies_are_refused() {
    let place = documents();
    let path = place.path().join("m.safetensors");
    let mut model = Model::load(&path).unwrap();
    let mut kept: serde_json::Value =
        serde_json::from_str(model.preparation.as_deref().unwrap()).unwrap();
    kept["text"]["fitted"]["with_term"][0] = 5.into();
    model.preparation = Some(kept.to_string());
    model.save(&path).unwrap();
    place.refused(
        &["transform", "pets.csv", "--text", "body", "--model", "m.safetensors", "-o", "-"],
        "m.safetensors: how its documents became features cannot be read (a term is in 5 of 4 documents): fit the model again",
    );
}
