//! Dictionaries from elsewhere, as other programs write them.

use crate::support::{Place, number, small_csv};
use serde_json::Value;

#[test]
fn audit_takes_dictionaries_as_pandas_writes_them() {
    let place = Place::with("a.csv", small_csv(','));
    let audit = |components: &str| {
        place.write("H.csv", components);
        let args = ["audit", "a.csv", "--group-by", "g", "--components", "H.csv", "--json", "-"];
        place.run(&[&args[..], &["--baseline", "zero", "--no-compare"]].concat())
    };
    let expected: Value =
        serde_json::from_str(&audit("w,x,y,z\n1,0.2,0,0\n0,0,1,1\n").out).unwrap();
    assert_eq!(expected["rank"], 2);
    let index =
        "note: the first column of H.csv has no name: it was taken for an index, not for numbers\n";
    let turned = "note: H.csv has one row a feature: it was turned around\n";
    for (table, is_turned) in [
        // pd.DataFrame(H).to_csv(), with columns=names, with index=topics too
        (",0,1,2,3\n0,1,0.2,0,0\n1,0,0,1,1\n", false),
        (",w,x,y,z\n0,1,0.2,0,0\n1,0,0,1,1\n", false),
        (",z,y,x,w\nt1,0,0,0.2,1\nt2,1,1,0,0\n", false),
        // pd.DataFrame(H.T).to_csv(), with index=names and columns=topics, with index=names
        (",0,1\n0,1,0\n1,0.2,0\n2,0,1\n3,0,1\n", true),
        (",t1,t2\nz,0,1\ny,0,1\nx,0.2,0\nw,1,0\n", true),
        (",0,1\nw,1,0\nx,0.2,0\ny,0,1\nz,0,1\n", true),
    ] {
        let ran = audit(table);
        assert_eq!(ran.code, 0, "{table}: {}", ran.err);
        let start = if is_turned { format!("{index}{turned}") } else { index.to_owned() };
        assert!(ran.err.starts_with(&start), "{table}: {}", ran.err);
        assert_eq!(ran.err.contains(turned), is_turned, "{table}");
        let by_order =
            "note: H.csv does not name the features: they were taken in the order of a.csv\n";
        let names_none = table.starts_with(",0,1") && table.contains("\n0,");
        assert_eq!(ran.err.contains(by_order), names_none, "{table}: {}", ran.err);
        let found: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(found["rank"], 2, "{table}");
        for l in 0..2 {
            let loss = |json: &Value| number(&json["groups"][l]["loss"]);
            assert!((loss(&found) - loss(&expected)).abs() < 1e-12, "{table}");
        }
    }
    // A square one, which its shape does not turn: the names do.
    let square = ",t1,t2,t3,t4\nz,0,1,0,2\ny,0,1,3,0\nx,1,0,0,1\nw,1,0,2,0\n";
    assert!(audit(square).err.contains(turned));
    for (table, message) in [
        (
            ",t1,t2\nw,1,0\nx,0.2,0\ny,0,1\nzz,0,1\n",
            "error: a.csv differs from H.csv in its features: `zz` is missing; `z` is not in H.csv: leave it out with `--drop z`\n",
        ),
        (
            ",t1,t2\nw,1,0\nx,0.2,0\ny,0,1\n",
            "error: a.csv differs from H.csv in its features: `z` is not in H.csv: leave it out with `--drop z`\n",
        ),
    ] {
        let ran = audit(table);
        assert_eq!((ran.code, ran.err), (2, format!("{index}{message}")));
    }
}

#[test]
fn audit_takes_dictionaries_from_anywhere_either_way_round() {
    let place = Place::with("a.csv", small_csv(','));
    // Columns in another order than the data's: they are matched by name.
    place.write("H.csv", "z,y,x,w\n0,0,0.2,1\n1,1,0,0\n");
    place.write("Ht.csv", "t1,t2\n1,0\n0.2,0\n0,1\n0,1\n");
    place.write("wrong.csv", "w,x,y\n1,2,3\n");
    let audit = |components: &str, more: &[&str]| {
        let args = ["audit", "a.csv", "--group-by", "g", "--components", components];
        place.run(&[&args[..], &["--baseline", "zero", "--no-compare"], more].concat())
    };
    let one = audit("H.csv", &["--json", "-"]);
    assert!(one.err.contains("note: H.csv was taken to be fitted to the numbers as they are; if its features were scaled to unit length, say --normalize features"), "{}", one.err);
    let two = audit("Ht.csv", &["--json", "-"]);
    assert!(
        two.err.contains("note: Ht.csv has one row a feature: it was turned around"),
        "{}",
        two.err
    );
    let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    for l in 0..2 {
        let loss = |text: &str| number(&json(text)["groups"][l]["loss"]);
        assert!((loss(&one.out) - loss(&two.out)).abs() < 1e-12);
    }
    assert_eq!(json(&one.out)["method"], "given");
    assert_eq!(json(&one.out)["data"]["normalize"], "none");
    let scaled = audit("H.csv", &["--json", "-", "--normalize", "features"]);
    assert_eq!(json(&scaled.out)["data"]["normalize"], "features");
    assert_ne!(json(&scaled.out)["groups"], json(&one.out)["groups"]);
    let wrong = audit("wrong.csv", &[]);
    assert_eq!(wrong.code, 2);
    assert_eq!(
        wrong.err,
        "error: a.csv differs from wrong.csv in its features: `z` is not in wrong.csv: leave it out with `--drop z`\n"
    );
}
