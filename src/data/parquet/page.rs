//! Pages of one column of a row group, found and unpacked within bounds, for the decoders.

use ::parquet::basic::{Compression, Encoding};
use ::parquet::column::page::{Page, PageMetadata, PageReader};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::metadata::ColumnChunkMetaData;

use super::levels;
use super::thrift::{Compact, Fields};
use crate::data::columnar::{Shared, bytes, limited};
use crate::model::Levels;

/// Most bytes of a page, packed or not; writers make pages of about one MiB.
const LARGEST_PAGE: usize = 1 << 28;
/// Snappy and LZ4, which want room for all of a page at once, never pack more bytes than these into one.
const MOST_TIMES: usize = 256;
/// Bytes in which the header of a page ends, tried one after the other: mostly it is short, but it may quote a cell or two.
const HEADERS: [usize; 2] = [1 << 12, 1 << 22];

/// Is this compression read?
pub fn unpacks(compression: Compression) -> bool {
    use Compression::{GZIP, LZ4_RAW, SNAPPY, UNCOMPRESSED, ZSTD};
    matches!(compression, UNCOMPRESSED | SNAPPY | GZIP(_) | ZSTD(_) | LZ4_RAW)
}

/// Is this encoding read? Texts that share their beginnings may be as long together as the square of the file.
pub fn decodes(encoding: Encoding) -> bool {
    encoding != Encoding::DELTA_BYTE_ARRAY
}

/// Reads page after page.
pub struct Pages {
    file: Shared,
    at: u64,
    end: u64,
    compression: Compression,
    /// May cells be missing?
    optional: bool,
    /// Texts become numbers of these.
    levels: Option<Levels>,
}

impl Pages {
    pub fn new(file: Shared, length: u64, chunk: &ColumnChunkMetaData, level: i16) -> Option<Pages> {
        let (at, size) = chunk.byte_range();
        let end = at.checked_add(size).filter(|end| *end <= length)?;
        Some(Pages { file, at, end, compression: chunk.compression(), optional: level > 0, levels: None })
    }

    /// Texts become numbers of these levels.
    pub fn number(&mut self, levels: &Levels) {
        self.levels = Some(levels.clone());
    }

    /// The values of a page, which stand behind so many other bytes, with numbers in place of texts where these are asked for.
    fn counted(&self, buf: Vec<u8>, behind: usize, encoding: Encoding, most: u32) -> Option<Vec<u8>> {
        let Some(levels) = self.levels.as_ref().filter(|_| !levels::is_dictionary(encoding)) else { return Some(buf) };
        let (others, texts) = buf.split_at_checked(behind).filter(|_| encoding == Encoding::PLAIN)?;
        Some([others, &levels::plain(texts, most, levels)].concat())
    }

    /// The next page; the inner `None` at the end, the outer for anything that is wrong.
    fn read(&mut self) -> Option<Option<Page>> {
        while self.at < self.end {
            let (header, packed) = self.next()?;
            let size = header.size(2).filter(|n| *n <= LARGEST_PAGE)?;
            let page = match header.number(1)? {
                0 => self.data(header.inner(5)?, &packed, size),
                2 => self.dictionary(header.inner(7)?, &packed, size),
                3 => self.data_v2(header.inner(8)?, packed, size),
                _ => continue,
            };
            return Some(Some(page?));
        }
        Some(None)
    }

    /// A header and the bytes behind it.
    fn next(&mut self) -> Option<(Fields, Vec<u8>)> {
        let mut file = self.file.lock().ok()?;
        let most = usize::try_from(self.end - self.at).ok()?;
        let (header, length) = HEADERS.iter().find_map(|size| {
            let start = bytes(file.as_mut(), self.at, most.min(*size))?;
            let mut rest = Compact(&start);
            let header = rest.fields(0)?;
            Some((header, start.len() - rest.0.len()))
        })?;
        self.at += length as u64;
        let size = header.size(3).filter(|n| *n <= LARGEST_PAGE && *n as u64 <= self.end - self.at)?;
        let packed = bytes(file.as_mut(), self.at, size)?;
        self.at += size as u64;
        Some((header, packed))
    }

    fn data(&self, header: &Fields, packed: &[u8], size: usize) -> Option<Page> {
        let buf = self.unpacked(packed, size)?;
        let (num_values, encoding) = (header.count(1)?, encoding(header.number(2)?)?);
        let (levels, rest) = (encoding_of_levels(header.number(3)?)?, buf.as_slice());
        let skipped = match (self.optional, levels) {
            (true, Encoding::RLE) => {
                let (length, rest) = rest.split_first_chunk::<4>()?;
                rest.get(usize::try_from(u32::from_le_bytes(*length)).ok()?..)?
            }
            (true, _) => rest.get(num_values.div_ceil(8) as usize..)?,
            (false, _) => rest,
        };
        plausible(encoding, skipped, num_values)?;
        let behind = buf.len() - skipped.len();
        let buf = self.counted(buf, behind, encoding, num_values)?;
        let rep_level_encoding = encoding_of_levels(header.number(4)?)?;
        Some(Page::DataPage { buf: buf.into(), num_values, encoding, def_level_encoding: levels, rep_level_encoding, statistics: None })
    }

    /// Levels come first and are not packed.
    fn data_v2(&self, header: &Fields, packed: Vec<u8>, size: usize) -> Option<Page> {
        let (definitions, repetitions) = (header.count(5)?, header.count(6)?);
        let levels = usize::try_from(definitions.checked_add(repetitions)?).ok()?;
        let is_packed = header.number(7) != Some(0);
        let buf = if is_packed && self.compression != Compression::UNCOMPRESSED {
            let mut all = packed.get(..levels)?.to_vec();
            let size = size.checked_sub(levels)?;
            // A page without values has nothing to unpack.
            let values = if size == 0 { vec![] } else { self.unpacked(packed.get(levels..)?, size)? };
            all.extend_from_slice(&values);
            all
        } else {
            packed
        };
        let (num_values, encoding) = (header.count(1)?, encoding(header.number(4)?)?);
        plausible(encoding, buf.get(levels..)?, num_values)?;
        let buf = self.counted(buf, levels, encoding, num_values)?;
        Some(Page::DataPageV2 {
            buf: buf.into(),
            num_values,
            encoding,
            num_nulls: header.count(2)?,
            num_rows: header.count(3)?,
            def_levels_byte_len: definitions,
            rep_levels_byte_len: repetitions,
            is_compressed: false,
            statistics: None,
        })
    }

    fn dictionary(&self, header: &Fields, packed: &[u8], size: usize) -> Option<Page> {
        let buf = self.unpacked(packed, size)?;
        let num_values = header.count(1)?;
        // Every value takes four bytes at least but those of a decimal in fixed bytes, which takes one.
        (num_values as usize <= buf.len()).then_some(())?;
        let buf = self.counted(buf, 0, Encoding::PLAIN, num_values)?;
        Some(Page::DictionaryPage { buf: buf.into(), num_values, encoding: encoding(header.number(2)?)?, is_sorted: false })
    }

    /// Exactly so many bytes.
    fn unpacked(&self, packed: &[u8], size: usize) -> Option<Vec<u8>> {
        let all = match self.compression {
            Compression::UNCOMPRESSED => packed.to_vec(),
            Compression::SNAPPY => {
                (snap::raw::decompress_len(packed).ok()? == size && size / MOST_TIMES <= packed.len()).then_some(())?;
                snap::raw::Decoder::new().decompress_vec(packed).ok()?
            }
            Compression::GZIP(_) => limited(flate2::read::MultiGzDecoder::new(packed), size)?,
            Compression::ZSTD(_) => limited(zstd::stream::read::Decoder::with_buffer(packed).ok()?, size)?,
            Compression::LZ4_RAW if size / MOST_TIMES <= packed.len() => lz4_flex::block::decompress(packed, size).ok()?,
            _ => return None,
        };
        (all.len() == size).then_some(all)
    }
}

fn encoding(code: i64) -> Option<Encoding> {
    Some(match code {
        0 => Encoding::PLAIN,
        2 => Encoding::PLAIN_DICTIONARY,
        3 => Encoding::RLE,
        5 => Encoding::DELTA_BINARY_PACKED,
        6 => Encoding::DELTA_LENGTH_BYTE_ARRAY,
        8 => Encoding::RLE_DICTIONARY,
        9 => Encoding::BYTE_STREAM_SPLIT,
        _ => return None,
    })
}

/// The old encoding of levels, which the crate still reads, or today's.
#[allow(deprecated)]
fn encoding_of_levels(code: i64) -> Option<Encoding> {
    match code {
        3 => Some(Encoding::RLE),
        4 => Some(Encoding::BIT_PACKED),
        _ => None,
    }
}

/// Lengths of texts say how many they are; a decoder makes room for all of them.
fn plausible(encoding: Encoding, values: &[u8], most: u32) -> Option<()> {
    if encoding != Encoding::DELTA_LENGTH_BYTE_ARRAY {
        return Some(());
    }
    let mut lengths = Compact(values);
    let _ = (lengths.varint()?, lengths.varint()?);
    (lengths.varint()? <= u64::from(most)).then_some(())
}

fn broken<T>(found: Option<T>) -> Result<T> {
    found.ok_or_else(|| ParquetError::General(String::new()))
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        broken(self.read())
    }

    // Only columns that are skipped ask for these.
    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        broken(None)
    }

    fn skip_next_page(&mut self) -> Result<()> {
        broken(None)
    }
}
