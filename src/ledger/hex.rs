//! Bytes in hexadecimal: hashes, keys, and names drawn at random.

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// Fresh random bytes in hexadecimal; `None` where the system has none.
pub fn random_hex<const N: usize>() -> Option<String> {
    let mut bytes = [0_u8; N];
    getrandom::fill(&mut bytes).ok()?;
    Some(hex(&bytes))
}
