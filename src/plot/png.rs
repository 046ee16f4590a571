//! An SVG picture as PNG, with the fonts of the machine.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

/// Tried in this order; any other font with letters serves where none of them is there.
const FONTS: [&str; 6] = ["DejaVu Sans", "Liberation Sans", "Noto Sans", "Arial", "Helvetica", "Segoe UI"];

/// The picture, `scale` dots to a pixel of the SVG.
///
/// # Errors
/// No font on this machine, or a text that is not an SVG.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, String> {
    let mut options = Options::default();
    let fonts = options.fontdb_mut();
    fonts.load_system_fonts();
    let names: Vec<String> = fonts.faces().flat_map(|f| f.families.iter().map(|(name, _)| name.clone())).collect();
    let known = FONTS.iter().map(|f| (*f).to_owned()).find(|f| names.contains(f));
    let Some(family) = known.or_else(|| names.into_iter().next()) else {
        return Err("there is no font on this machine to write the numbers with: write SVG instead".into());
    };
    fonts.set_sans_serif_family(family);
    let tree = Tree::from_str(svg, &options).map_err(|why| why.to_string())?;
    let size = tree.size().to_int_size().scale_by(scale).ok_or("the picture has no size")?;
    let mut pixels = Pixmap::new(size.width(), size.height()).ok_or("the picture has no size")?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|why| why.to_string())
}
