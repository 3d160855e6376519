//! Running the program and making files for it.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

/// The embedded table, as a file of its own.
pub const HEART: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/heart_disease.csv");
/// How the demo reads it.
pub const BY_SEX: [&str; 6] = ["--group-by", "sex", "--drop", "disease", "--missing", "drop-rows"];

/// A folder that the program runs in.
pub struct Place(TempDir);

/// What a run printed, and its exit code.
pub struct Ran {
    pub out: String,
    pub err: String,
    pub code: i32,
}

impl Place {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A place with a file in it.
    pub fn with(name: &str, content: impl AsRef<[u8]>) -> Self {
        let place = Self::new();
        place.write(name, content);
        place
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.0.path().join(name), content).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.path().join(name)).unwrap()
    }

    /// Width and height of a PNG, after a look at its signature, its end and its size.
    #[cfg(feature = "png")]
    pub fn png_size(&self, name: &str) -> (u32, u32) {
        let png = fs::read(self.0.path().join(name)).unwrap();
        assert!(png.starts_with(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), "{name} is no PNG");
        assert!(png.ends_with(b"IEND\xaeB`\x82"), "{name} has no end");
        assert!(png.len() > 5_000, "{name} has {} bytes: nothing is drawn", png.len());
        let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
        (number(16), number(20))
    }

    /// Checks that a chart is there in every format, and that nothing is squeezed.
    pub fn has_chart(&self, stem: &str) {
        let svg = self.read(&format!("{stem}.svg"));
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{stem}");
        #[cfg(feature = "png")]
        {
            let (width, height) = self.png_size(&format!("{stem}.png"));
            let side = |name: &str| {
                let at = svg.find(name).unwrap() + name.len();
                svg[at..].split('"').next().unwrap().parse::<f64>().unwrap()
            };
            let expected = |side: f64| (3.0 * side).ceil() as u32;
            let sides = (expected(side(" width=\"")), expected(side(" height=\"")));
            assert_eq!((width, height), sides, "{stem}");
            assert!(width >= 1000 && height >= 200, "{stem}: {width} by {height}");
        }
    }

    pub fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.path().join(name).exists()
    }

    /// The names of all files, so that nothing is left behind unnoticed.
    pub fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("fairer-nmf"));
        command.current_dir(self.0.path()).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        ran(self.command().args(arguments))
    }

    /// Runs on the heart table by sex, with more arguments.
    pub fn heart(&self, command: &str, more: &[&str]) -> Ran {
        self.run(&[&[command, HEART][..], &BY_SEX, more].concat())
    }

    /// Runs something that must succeed.
    pub fn ok(&self, arguments: &[&str]) -> Ran {
        let ran = self.run(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {}", ran.err);
        ran
    }

    /// Runs something that must be refused with exit code 2 and exactly this line.
    pub fn refused(&self, arguments: &[&str], message: &str) {
        let ran = self.run(arguments);
        assert_eq!(ran.err, format!("error: {message}\n"), "{arguments:?}");
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{arguments:?}");
    }
}

pub fn ran(command: &mut Command) -> Ran {
    let output = command.output().unwrap();
    Ran {
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code().unwrap(),
    }
}

/// A small matrix with two groups that share little.
pub fn small() -> (Vec<[f64; 4]>, Vec<&'static str>) {
    let rows = vec![
        [4.0, 1.0, 0.0, 0.5],
        [3.0, 2.0, 0.0, 0.0],
        [5.0, 0.5, 1.0, 0.0],
        [0.0, 1.0, 4.0, 2.0],
        [0.5, 0.0, 3.0, 3.0],
        [0.0, 2.0, 5.0, 1.0],
        [1.0, 0.0, 2.0, 4.0],
    ];
    (rows, vec!["a", "a", "a", "b", "b", "b", "b"])
}

/// The small matrix as a table with the group in column `g`.
pub fn small_csv(delimiter: char) -> String {
    let (rows, groups) = small();
    let mut text = ["g", "w", "x", "y", "z"].join(&delimiter.to_string()) + "\n";
    for (row, group) in rows.iter().zip(groups) {
        let cells = row.map(|v| v.to_string()).join(&delimiter.to_string());
        text += &format!("{group}{delimiter}{cells}\n");
    }
    text
}

/// A number in JSON.
pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

/// The numbers that a page carries.
pub fn data(page: &str) -> Value {
    let start = "id=\"report-data\">";
    let json = page.split_once(start).unwrap().1.split_once("</script>").unwrap().0;
    serde_json::from_str(json).unwrap()
}

/// How many kills: `KILLS` says it, otherwise few.
pub fn kills(otherwise: u32) -> u32 {
    std::env::var("KILLS").ok().and_then(|count| count.parse().ok()).unwrap_or(otherwise)
}
