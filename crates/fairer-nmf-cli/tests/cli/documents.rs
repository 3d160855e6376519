//! Documents as they come: topics that can be read, and a warning where they say nothing.

use crate::shared::shared;
use crate::support::{Place, number};
use serde_json::Value;

/// The strongest terms of every topic of a model.
fn topics(place: &Place, model: &str) -> Vec<Vec<String>> {
    let json = place.ok(&["topics", model, "--top", "8", "--json", "-"]).out;
    let json: Value = serde_json::from_str(&json).unwrap();
    let names = |topic: &Value| {
        let features = topic["features"].as_array().unwrap();
        features.iter().map(|f| f["name"].as_str().unwrap().to_owned()).collect()
    };
    json["topics"].as_array().unwrap().iter().map(names).collect()
}

/// Six newsgroups, each a folder of posts, out of the archive.
fn six_newsgroups(place: &Place) -> Option<()> {
    let archive = shared("20newsgroups/20news-bydate-train.tar.gz")?;
    let six = [
        "comp.graphics",
        "misc.forsale",
        "rec.autos",
        "sci.med",
        "soc.religion.christian",
        "talk.politics.guns",
    ];
    let packed = flate2::read::MultiGzDecoder::new(std::fs::File::open(archive).unwrap());
    for entry in tar::Archive::new(packed).entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().into_owned();
        let group = path.iter().rev().nth(1).unwrap_or_default().to_string_lossy().into_owned();
        if six.contains(&group.as_str()) && entry.header().entry_type().is_file() {
            let folder = place.path().join("posts").join(&group);
            std::fs::create_dir_all(&folder).unwrap();
            entry.unpack(folder.join(path.file_name().unwrap())).unwrap();
        }
    }
    Some(())
}

#[test]
fn a_folder_of_posts_gives_topics_of_real_words() {
    let place = Place::new();
    if six_newsgroups(&place).is_none() {
        return;
    }
    let out = ["--model", "m.safetensors", "--json", "fit.json", "--no-compare", "--n-init", "1"];
    let ran = place.ok(&[&["fit", "posts", "--rank", "6"][..], &out].concat());
    assert!(ran.err.contains("note: the documents are English"), "{}", ran.err);
    assert!(!ran.err.contains("warning:"), "{}", ran.err);
    let json = place.json("fit.json");
    assert_eq!(json["data"]["normalize"], "none");
    for group in json["groups"].as_array().unwrap() {
        assert!(number(&group["relative_error"]) < 0.985, "{group}");
    }
    let topics = topics(&place, "m.safetensors");
    let terms: Vec<&String> = topics.iter().flatten().collect();
    let digits = terms.iter().filter(|t| t.contains(|c: char| c.is_ascii_digit())).count();
    assert!(digits <= 2, "{topics:?}");
    assert!(!terms.iter().any(|t| ["the", "and", "of"].contains(&t.as_str())), "{topics:?}");
    // What the groups are about is there.
    for word in ["god", "car", "graphics", "gun"] {
        assert!(terms.iter().any(|term| *term == word), "{word}: {topics:?}");
    }
    // Scaled features, the former default, show nothing, and it is said.
    let scaled = ["fit", "posts", "--rank", "6", "--preset", "scikit-learn", "--max-iter", "3"];
    let more = ["--normalize", "features", "--baseline", "zero", "--no-compare", "--n-init", "1"];
    let ran = place.ok(&[&scaled[..], &more].concat());
    assert!(
        ran.err.contains("the topics show next to nothing of every group (R-Error above 0.99)"),
        "{}",
        ran.err
    );
}

#[test]
fn topics_that_say_nothing_are_warned_of() {
    // Every row has a feature of its own: one topic holds a hundredth of a group.
    let mut matrix = String::from("%%MatrixMarket matrix coordinate real general\n200 200 200\n");
    (1..=200).for_each(|i| matrix += &format!("{i} {i} 1\n"));
    let place = Place::with("a.mtx", matrix);
    place.write("groups.txt", ["x\n".repeat(100), "y\n".repeat(100)].concat());
    let fit = ["fit", "a.mtx", "--groups", "groups.txt", "--model", "m.safetensors", "--force"];
    let warned = |more: &[&str]| place.ok(&[&fit[..], more].concat()).err;
    let little = "warning: the topics show next to nothing of every group (R-Error above 0.99): raise --rank, or take the features as they are with --normalize none\n";
    assert!(warned(&["--rank", "1"]).contains(little));
    assert!(!warned(&["--rank", "10"]).contains("next to nothing"));
    place.ok(&[&fit[..], &["--rank", "1"]].concat());
    let audit = ["audit", "a.mtx", "--groups", "groups.txt", "--model", "m.safetensors"];
    let ran = place.ok(&[&audit[..], &["--no-compare", "--draws", "0"]].concat());
    assert!(ran.err.contains("next to nothing of every group"), "{}", ran.err);
}

#[test]
fn presets_are_the_options_that_they_name() {
    let mut text = String::from("g,t\n");
    for i in 0..30 {
        let words = ["the red car of a man", "and the green car", "the red and the blue 7up"];
        text += &format!("{},{} only{i}\n", ["x", "y"][i % 2], words[i % 3]);
    }
    let place = Place::with("a.csv", text);
    let features = |more: &[&str]| {
        let fit = ["fit", "a.csv", "--text", "t", "--group-by", "g", "--rank", "1", "--force"];
        let out = ["--json", "f.json", "--no-compare"];
        place.ok(&[&fit[..], &out, more].concat());
        let json = place.json("f.json");
        (json["data"]["features"].as_u64().unwrap(), json["data"]["normalize"].clone())
    };
    // Every term; without rare ones and the one of all documents.
    assert_eq!(features(&["--preset", "scikit-learn"]), (39, "none".into()));
    assert_eq!(features(&[]), (8, "none".into()));
    let typed = ["--clean", "--stop-words", "english", "--max-features", "200", "--min-df", "1"];
    let typed = [&typed[..], &["--max-df", "1.0", "--normalize", "features"]].concat();
    assert_eq!(features(&["--preset", "paper"]), features(&typed));
    assert_eq!(features(&["--preset", "paper", "--normalize", "none"]).1, "none");
    place.refused(
        &["inspect", "a.csv", "--preset", "paper", "--group-by", "g"],
        "--preset is about documents, but a.csv was not said to hold any: name their column with `--text COLUMN`",
    );
}

#[test]
fn other_languages_have_lists_and_their_documents_are_told() {
    let common = "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als";
    let mut text = String::from("g,t\n");
    for i in 0..40 {
        let own = ["Haus", "Boot", "Wiese"][i % 3];
        text += &format!("{},{common} {own} {}\n", ["a", "b"][i % 2], ["rot", "blau"][i / 20]);
    }
    let place = Place::with("t.csv", text);
    let fit = ["fit", "t.csv", "--text", "t", "--group-by", "g", "--rank", "2", "--no-compare"];
    let ran = place.ok(&fit);
    assert!(ran.err.contains("seem to be german: leave its common words out"), "{}", ran.err);
    let more = ["--stop-words", "german", "--max-df", "1.0", "--json", "t.json"];
    place.ok(&[&fit[..], &more].concat());
    assert_eq!(place.json("t.json")["data"]["features"], 5, "nothing but its own words is left");
    let ran = place.run(&[&fit[..], &["--stop-words", "klingon"]].concat());
    assert!(ran.err.contains("neither such a file nor such a list"), "{}", ran.err);
}

#[test]
fn scripts_without_blanks_are_told() {
    let place = Place::with(
        "t.csv",
        "g,t\na,日本語の文章です\na,猫が好きです\nb,犬が好きです 犬\nb,日本語の文章です\n",
    );
    let fit = ["fit", "t.csv", "--text", "t", "--group-by", "g", "--rank", "1", "--no-compare"];
    let ran = place.ok(&fit);
    assert!(ran.err.contains("scripts without blanks between words"), "{}", ran.err);
}

#[test]
fn a_dictionary_from_elsewhere_brings_its_terms() {
    let place = Place::with(
        "t.csv",
        "g,t\na,sea boat wind\na,boat sail sea\nb,field corn barn\nb,corn horse field\n",
    );
    place.write("H.csv", "boat,sea,corn,field\n1,1,0,0\n0,0,1,1\n");
    let audit = ["audit", "t.csv", "--text", "t", "--group-by", "g", "--components", "H.csv"];
    let more = ["--no-compare", "--json", "a.json", "--draws", "0", "--permutations", "0"];
    place.ok(&[&audit[..], &more, &["--folds", "0"]].concat());
    assert_eq!(place.json("a.json")["data"]["features"], 4);
}

#[test]
fn the_default_terms_are_pythons_and_patterns_of_ones_own_those_of_the_regex_crate() {
    // Combining marks are no word characters in Python, and ² is one; in the crate regex it is the
    // other way round.
    let place = Place::with("a.csv", "g,t\na,e\u{301}te\u{301} x²\nb,x² na\u{308}h\n");
    let terms = |more: &[&str]| {
        let fit = ["fit", "a.csv", "--text", "t", "--group-by", "g", "--rank", "1", "--force"];
        let out = ["--model", "m.safetensors", "--no-compare"];
        place.ok(&[&fit[..], &out, more].concat());
        let json = place.ok(&["topics", "m.safetensors", "--top", "9", "--json", "-"]).out;
        let json: Value = serde_json::from_str(&json).unwrap();
        let features = json["topics"][0]["features"].as_array().unwrap().clone();
        let mut names: Vec<String> =
            features.iter().map(|f| f["name"].as_str().unwrap().to_owned()).collect();
        names.sort();
        names
    };
    // sorted(set(re.findall(r"(?u)\b\w\w+\b", text))) in CPython 3.11
    assert_eq!(terms(&[]), ["na", "te", "x²"]);
    let own = |pattern: &str| terms(&["--token-pattern", pattern]);
    assert_eq!(own(r"\b\w+\b"), ["e\u{301}te\u{301}", "na\u{308}h", "x"]);
    assert_eq!(own(r"\b[a-z]²"), ["x²"]);
    place.refused(
        &["inspect", "a.csv", "--text", "t", "--group-by", "g", "--token-pattern", r"(?<!\d)\w+"],
        r"--token-pattern: `(?<!\d)\w+` is not a regular expression that can be used: look-around, including look-ahead and look-behind, is not supported",
    );
}

#[test]
fn a_model_of_documents_weighs_new_ones_as_its_own() {
    let place = Place::with(
        "pets.csv",
        "kind,body\ncat,the cat purrs softly\ncat,cat and cat food\ncat,a cat sleeps\n\
         dog,the dog barks loudly\ndog,dog food and dog walks\ndog,a dog runs\n",
    );
    place.write("stop.txt", "the\nand\n");
    let fit = ["fit", "pets.csv", "--text", "body", "--group-by", "kind", "--rank", "2"];
    let options = ["--stop-words", "stop.txt", "--sublinear-tf"];
    place.ok(&[&fit[..], &options, &["--model", "m.safetensors", "--no-compare"]].concat());
    std::fs::remove_file(place.path().join("stop.txt")).unwrap();
    let transform = |file: &str, more: &[&str]| {
        let all = ["transform", file, "--text", "body", "--model", "m.safetensors", "-o", "-"];
        place.run(&[&all[..], more].concat())
    };
    // Alone or in company, a document has the same coordinates: its weights come from the model.
    let texts = ["cat food", "dog walks and the cat sleeps", "nothing known"];
    place.write("all.csv", format!("body\n{}\n", texts.join("\n")));
    let all = transform("all.csv", &[]);
    assert_eq!((all.code, all.err.as_str()), (0, ""));
    let coordinates = |line: &str| line.split_once(',').unwrap().1.to_owned();
    for (text, line) in texts.iter().zip(all.out.lines().skip(1)) {
        place.write("one.csv", format!("body\n{text}\n"));
        let one = transform("one.csv", &[]).out;
        assert_eq!(coordinates(one.lines().nth(1).unwrap()), coordinates(line), "{text}");
    }
    assert_eq!(all.out.lines().nth(3), Some("3,0.0,0.0"), "no known term, no coordinates");
    // Saying the same again is fine, something else is not.
    place.write("stop.txt", "the\nand\n");
    assert_eq!(transform("all.csv", &options).out, all.out);
    place.refused(
        &["transform", "all.csv", "--text", "body", "--model", "m.safetensors", "-o", "-", "--norm", "l1"],
        "--norm does not go with m.safetensors, which brings its own options about documents, and others: leave it out",
    );
}

#[test]
fn newsgroups_from_posts_equal_the_papers_matrix() {
    let Some(posts) = shared("20newsgroups/20n_subset_1500.jsonl.gz") else { return };
    let (Some(matrix), Some(rows), Some(vocabulary)) = (
        shared("20newsgroups/20n_tfidf_1500x200.npz"),
        shared("20newsgroups/20n_rows.csv"),
        shared("20newsgroups/20n_vocabulary.csv"),
    ) else {
        return;
    };
    let place = Place::new();
    let common = ["--rank", "6", "--max-iter", "3", "--baseline", "zero", "--no-compare", "--json"];
    let text = ["fit", &posts, "--text", "text", "--preset", "paper"];
    place.ok(&[&text[..], &["--group-by", "group"], &common, &["text.json"]].concat());
    let given = ["fit", &posts, "--text", "text", "--preset", "paper", "--vocabulary"];
    let terms = format!("{vocabulary}:term");
    place.ok(&[&given[..], &[&terms, "--group-by", "group"], &common, &["given.json"]].concat());
    let groups = format!("{rows}:group");
    place.ok(&[&["fit", &matrix, "--groups", &groups][..], &common, &["npz.json"]].concat());
    let losses = |name: &str| -> Vec<f64> {
        let json = place.json(name);
        assert_eq!(json["data"]["features"], 200);
        json["groups"].as_array().unwrap().iter().map(|g| number(&g["loss"])).collect()
    };
    let paper = losses("npz.json");
    assert_eq!(paper.len(), 6);
    for name in ["text.json", "given.json"] {
        for (ours, theirs) in losses(name).iter().zip(&paper) {
            assert!((ours - theirs).abs() < 1e-9, "{name}: {ours} {theirs}");
        }
    }
}
