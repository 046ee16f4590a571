//! Where random bits come from: the operating system for every release, a tape in tests.

use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use zeroize::Zeroize;

use super::MechanismError;

/// A stream of independent fair bits; a chain takes it along to its threads.
pub trait BitSource: Send {
    /// 64 bits.
    fn word(&mut self) -> Result<u64, MechanismError>;
    fn bit(&mut self) -> Result<bool, MechanismError>;
}

/// Words that are made at once: as many as ChaCha20 makes side by side.
const WORDS: usize = 32;

/// ChaCha20 keyed by the operating system: made anew for every release, never stored, never printed.
pub struct OsBits {
    rng: ChaCha20Rng,
    /// The next words of the stream; those from `at` on are still to be given.
    words: [[u8; 8]; WORDS],
    at: usize,
    spare: u64,
    left: u32,
}

impl OsBits {
    /// Fails closed if the operating system gives no randomness.
    pub fn new() -> Result<OsBits, MechanismError> {
        let mut seed = [0u8; 32];
        getrandom::fill(&mut seed).map_err(|_| MechanismError::NoRandomness)?;
        let bits = OsBits::of(ChaCha20Rng::from_seed(seed));
        seed.zeroize();
        Ok(bits)
    }

    fn of(rng: ChaCha20Rng) -> OsBits {
        OsBits { rng, words: [[0; 8]; WORDS], at: WORDS, spare: 0, left: 0 }
    }

    /// The first of as many new words.
    #[cold]
    fn refill(&mut self) -> u64 {
        self.rng.fill_bytes(self.words.as_flattened_mut());
        self.at = 1;
        let [first, ..] = self.words;
        u64::from_le_bytes(first)
    }

    /// A stream that a number repeats: its releases are not private.
    #[cfg(feature = "tape")]
    pub fn seeded(seed: u64) -> OsBits {
        OsBits::of(ChaCha20Rng::seed_from_u64(seed))
    }
}

impl Drop for OsBits {
    fn drop(&mut self) {
        self.rng = ChaCha20Rng::from_seed([0; 32]);
        self.words.zeroize();
        self.spare.zeroize();
        std::hint::black_box(&self.rng);
    }
}

impl BitSource for OsBits {
    #[inline]
    fn word(&mut self) -> Result<u64, MechanismError> {
        let Some(word) = self.words.get(self.at) else { return Ok(self.refill()) };
        self.at += 1;
        Ok(u64::from_le_bytes(*word))
    }

    #[inline]
    fn bit(&mut self) -> Result<bool, MechanismError> {
        if self.left == 0 {
            self.spare = self.word()?;
            self.left = 64;
        }
        let bit = self.spare & 1 == 1;
        self.spare >>= 1;
        self.left -= 1;
        Ok(bit)
    }
}

/// A stream that its seed repeats, for what is computed from public values alone.
pub struct Repeated(ChaCha20Rng);

impl Repeated {
    pub fn new(seed: [u8; 32], stream: u64) -> Repeated {
        let mut rng = ChaCha20Rng::from_seed(seed);
        rng.set_stream(stream);
        Repeated(rng)
    }
}

impl BitSource for Repeated {
    fn word(&mut self) -> Result<u64, MechanismError> {
        Ok(self.0.next_u64())
    }

    fn bit(&mut self) -> Result<bool, MechanismError> {
        Ok(self.0.next_u64() & 1 == 1)
    }
}

/// A finite tape of bits, first bit first: replays one outcome.
#[cfg(feature = "tape")]
pub struct Tape {
    bits: std::vec::IntoIter<bool>,
}

#[cfg(feature = "tape")]
impl Tape {
    pub fn new(bits: Vec<bool>) -> Tape {
        Tape { bits: bits.into_iter() }
    }
}

#[cfg(feature = "tape")]
impl BitSource for Tape {
    fn word(&mut self) -> Result<u64, MechanismError> {
        (0..64).try_fold(0, |w, _| Ok(w << 1 | u64::from(self.bit()?)))
    }

    fn bit(&mut self) -> Result<bool, MechanismError> {
        self.bits.next().ok_or(MechanismError::NoRandomness)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stream_is_fresh() {
        let words = |mut bits: OsBits| [bits.word().unwrap(), bits.word().unwrap()];
        let mut seen: Vec<_> = (0..1_000).map(|_| words(OsBits::new().unwrap())).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 1_000);
    }

    #[test]
    fn blocks_of_words_are_the_stream_in_order() {
        let rng = || ChaCha20Rng::seed_from_u64(3);
        let (mut blocks, mut stream) = (OsBits::of(rng()), rng());
        for _ in 0..200 {
            assert_eq!(blocks.word(), Ok(stream.next_u64()));
        }
        assert_eq!(blocks.bit(), Ok(stream.next_u64() & 1 == 1));
        assert_eq!(blocks.word(), Ok(stream.next_u64()));
    }
}
