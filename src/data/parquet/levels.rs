//! Texts of a category counted where they are stored: a page of texts becomes one of numbers, so that the texts of a dictionary are
//! looked at once and not in every row.

use std::sync::Arc;

use ::parquet::basic::{Encoding, Type as Physical};
use ::parquet::schema::types::{ColumnDescPtr, ColumnDescriptor, Type};

use crate::data::columnar::values::level;
use crate::model::Levels;

/// Is a page in this encoding counted, or are levels of a page all that it holds?
pub fn counts(encoding: Encoding) -> bool {
    #[allow(deprecated)]
    let others = matches!(encoding, Encoding::RLE | Encoding::BIT_PACKED);
    others || encoding == Encoding::PLAIN || is_dictionary(encoding)
}

pub fn is_dictionary(encoding: Encoding) -> bool {
    matches!(encoding, Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY)
}

/// The same column with numbers in place of texts.
pub fn column(of: &ColumnDescriptor) -> Option<ColumnDescPtr> {
    let basic = of.self_type().get_basic_info();
    let builder = Type::primitive_type_builder(basic.name(), Physical::DOUBLE).with_repetition(basic.repetition());
    let ty = Arc::new(builder.build().ok()?);
    Some(Arc::new(ColumnDescriptor::new(ty, of.max_def_level(), of.max_rep_level(), of.path().clone())))
}

/// The texts of a plain page, at most so many, as the doubles of a plain page: numbers of levels, or no number.
pub fn plain(texts: &[u8], most: u32, levels: &Levels) -> Vec<u8> {
    let (mut rest, mut out) = (texts, vec![]);
    for _ in 0..most {
        // A page that ends too early has too few numbers then, which its decoder refuses.
        let Some((length, behind)) = rest.split_first_chunk::<4>() else { break };
        let Some((text, behind)) = behind.split_at_checked(u32::from_le_bytes(*length) as usize) else { break };
        out.extend_from_slice(&level(text, levels).to_le_bytes());
        rest = behind;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_a_page_are_levels() {
        let levels: Levels = Arc::new(vec!["a".into(), "bc".into()]);
        let page: Vec<u8> = ["bc", " a ", "", "d"].iter().flat_map(|t| [&(t.len() as u32).to_le_bytes(), t.as_bytes()].concat()).collect();
        let numbers = |page: &[u8], most| -> Vec<f64> {
            plain(page, most, &levels).chunks(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
        };
        assert_eq!(numbers(&page, 2), [1.0, 0.0]);
        let all = numbers(&page, 9);
        assert!(all.len() == 4 && all[2].is_nan() && all[3].is_nan());
        assert_eq!(numbers(&page[..page.len() - 1], 9).len(), 3);
    }
}
