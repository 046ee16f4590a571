//! What numbers lose where a chain keeps them in 32 bits (rule book §4.4).

/// Larger numbers are cut off here.
pub const LARGEST: f64 = 1e30;
/// From this size on a number loses a small part of it alone: the least numbers of 32 bits are 2^-149 apart.
pub const SMALLEST: f64 = 1e-30;
/// 2^-20: at most this part of the longest row is lost, where that is between the two.
pub const PART: f64 = 9.536_743_164_062_5e-7;
/// The least number above 0: by less than this, or a part of 2^-23, a number is rounded towards 0.
pub const LEAST: f64 = f32::from_bits(1) as f64;
