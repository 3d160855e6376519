//! Groups that have rows in common: families with their intersections, and a table of members.

use crate::support::{HEART, Place, number};
use crate::unknown::{none, people, place, with};
use serde_json::Value;

#[test]
fn families_may_have_their_intersections_beside_them() {
    let text: String = (people(none).lines().enumerate())
        .map(|(i, line)| match i {
            0 => format!("{line},region\n"),
            _ => format!("{line},{}\n", ["north", "south"][i % 2]),
        })
        .collect();
    let place = Place::with("p.csv", text);
    let each = ["--group-by-each", "sex,region", "--intersections", "--json", "e.json"];
    place.ok(&with(&[&each[..], &["--allow-small-groups"]].concat()));
    let json = place.json("e.json");
    let groups = json["groups"].as_array().unwrap();
    let of = |family: &str| groups.iter().filter(|g| g["family"] == family).count();
    assert_eq!((of("sex"), of("region"), of("sex | region")), (2, 2, 4), "{groups:?}");
    place.ok(&with(&["--group-by", "sex,region", "--json", "c.json", "--allow-small-groups"]));
    let rows = |g: &Value| (g["rows"].as_u64().unwrap(), number(&g["norm"]));
    let combined = place.json("c.json");
    let combined = combined["groups"].as_array().unwrap();
    let beside = groups.iter().filter(|g| g["family"] == "sex | region");
    for (one, other) in beside.zip(combined) {
        assert!(one["name"].as_str().unwrap().ends_with(other["name"].as_str().unwrap()));
        assert_eq!(rows(one).0, rows(other).0);
        assert!((rows(one).1 - rows(other).1).abs() < 1e-9);
    }
    place.refused(
        &with(&["--group-by-each", "sex", "--drop", "region", "--intersections"]),
        "--intersections are those of several columns: name them with --group-by-each",
    );
}

#[test]
fn a_table_of_members_says_the_groups() {
    let place = place();
    let mut table = "f,m,old\n".to_owned();
    for i in 0..40 {
        let m = usize::from(i % 3 % 2 == 1);
        table += &format!("{},{m},{}\n", 1 - m, usize::from(i % 5 == 0));
    }
    place.write("g.csv", &table);
    place.ok(&with(&["--drop", "sex", "--membership", "g.csv", "--json", "m.json"]));
    let json = place.json("m.json");
    let named = |json: &Value| -> Vec<(String, u64)> {
        let groups = json["groups"].as_array().unwrap().iter();
        groups
            .map(|g| (g["name"].as_str().unwrap().to_owned(), g["rows"].as_u64().unwrap()))
            .collect()
    };
    let found = named(&json);
    assert_eq!(found[2], ("old".to_owned(), 8));
    // Two groups that divide the rows are those of a column of labels.
    place.write(
        "two.csv",
        table.lines().map(|l| format!("{}\n", l.rsplit_once(',').unwrap().0)).collect::<String>(),
    );
    place.ok(&with(&["--drop", "sex", "--membership", "two.csv", "--json", "t.json"]));
    place.ok(&with(&["--group-by", "sex", "--json", "s.json"]));
    assert_eq!(named(&place.json("t.json")), named(&place.json("s.json")));
    assert_eq!(place.json("t.json")["worst_loss"], place.json("s.json")["worst_loss"]);
    place.write("bad.csv", table.replacen("1,0,1", "2,0,1", 1));
    place.refused(
        &with(&["--drop", "sex", "--membership", "bad.csv"]),
        "--membership: bad.csv, line 2, column `f` has 2: a row is in a group (1) or not (0)",
    );
    place.write("nobody.csv", table.replace(",1\n", ",0\n"));
    place.refused(
        &with(&["--drop", "sex", "--membership", "nobody.csv"]),
        "group 'old' has no rows: leave it out or check its labels",
    );
    let both = place.run(&["fit", HEART, "--group-by", "sex", "--membership", "g.csv", "-r", "2"]);
    assert_eq!(both.code, 2, "{}", both.err);
}
