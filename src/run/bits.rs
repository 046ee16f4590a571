//! A source of bits as a generator for draws in doubles.

use crate::mechanism::bits::BitSource;
use rand::TryRng;
use std::convert::Infallible;

/// A bit source as a generator of the `rand` family. Predictions are post-processing, so doubles are good enough.
pub(super) struct Bits<'b> {
    source: &'b mut dyn BitSource,
    failed: bool,
}

impl Bits<'_> {
    pub(super) fn new(source: &mut dyn BitSource) -> Bits<'_> {
        Bits { source, failed: false }
    }

    /// Did the source run dry? What was drawn is then worth nothing.
    pub(super) fn failed(&self) -> bool {
        self.failed
    }
}

impl TryRng for Bits<'_> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.try_next_u64().map(|x| (x >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.source.word().unwrap_or_else(|_| {
            self.failed = true;
            // Any constant ends every sampler; the result is thrown away.
            1 << 62
        }))
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        for chunk in out.chunks_mut(8) {
            let word = self.try_next_u64()?.to_le_bytes();
            for (o, w) in chunk.iter_mut().zip(word) {
                *o = w;
            }
        }
        Ok(())
    }
}
