//! Charts as PNG, with a font of our own so that machines without fonts can.

use std::fmt;
use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

/// DejaVu Sans, cut to Latin, Greek, Cyrillic, Armenian, Georgian, Hebrew,
/// Arabic and signs; licence in `assets/fonts/LICENSE-DejaVu.txt`.
const FONT: &[u8] = include_bytes!("assets/fonts/DejaVuSans-subset.ttf");

/// Why a drawing could not be made into a PNG.
#[derive(Debug)]
pub enum PngError {
    /// The text is not an SVG drawing.
    Svg(String),
    /// Width or height in pixels is zero or too large to hold.
    Size {
        /// Pixels across.
        width: f32,
        /// Pixels down.
        height: f32,
    },
    /// The picture could not be encoded.
    Encode(String),
}

impl fmt::Display for PngError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PngError::Svg(why) => write!(f, "not an SVG drawing: {why}"),
            PngError::Size { width, height } => {
                write!(f, "a picture of {width} by {height} pixels cannot be made")
            }
            PngError::Encode(why) => write!(f, "cannot encode PNG: {why}"),
        }
    }
}

impl std::error::Error for PngError {}

static EMBEDDED: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| Arc::new(embedded()));
/// The embedded font first, the system's for scripts it lacks.
static WITH_SYSTEM: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = embedded();
    fonts.load_system_fonts();
    Arc::new(fonts)
});

fn embedded() -> fontdb::Database {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(FONT.to_vec());
    fonts
}

/// Whether the embedded font has all characters of a text (by Unicode block).
fn embedded_suffices(text: &str) -> bool {
    text.chars().all(|c| {
        matches!(c as u32, 0..=0x04FF | 0x0531..=0x06FF | 0x10D0..=0x10FF | 0x1E00..=0x1EFF
            | 0x2000..=0x20BF | 0x2190..=0x22FF | 0x25A0..=0x25FF | 0xFB50..=0xFEFF | 0xFFFD)
    })
}

/// Renders an SVG drawing to PNG at `scale` pixels per user unit.
///
/// The result does not depend on the machine, except for scripts that the
/// embedded font lacks (such as Chinese), for which system fonts are tried.
///
/// # Errors
///
/// [`PngError`] if the text is no SVG or the picture too large.
pub fn render(svg: &str, scale: f32) -> Result<Vec<u8>, PngError> {
    const MOST_PIXELS: f32 = 30_000.0;
    let fonts = if embedded_suffices(svg) { &EMBEDDED } else { &WITH_SYSTEM };
    let options = Options {
        font_family: "DejaVu Sans".into(),
        fontdb: Arc::clone(fonts),
        ..Options::default()
    };
    let tree = Tree::from_str(svg, &options).map_err(|e| PngError::Svg(e.to_string()))?;
    let (width, height) = (tree.size().width() * scale, tree.size().height() * scale);
    let sensible = |pixels: f32| (1.0..=MOST_PIXELS).contains(&pixels);
    let canvas = if sensible(width) && sensible(height) {
        Pixmap::new(width.ceil() as u32, height.ceil() as u32)
    } else {
        None
    };
    let mut canvas = canvas.ok_or(PngError::Size { width, height })?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut canvas.as_mut());
    canvas.encode_png().map_err(|e| PngError::Encode(e.to_string()))
}
