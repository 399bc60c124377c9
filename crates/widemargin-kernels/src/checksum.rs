//! The checksum of model files and checkpoints.
//!
//! CRC-32 (as in zlib, PNG and gzip) detects every single-bit flip and every burst of damage of up to 32 bits; other
//! damage goes undetected once in 2³² times. It protects against accidents, not against deliberate changes.

use crc32fast::Hasher;

/// A placeholder of the same length as a checksum.
pub const PLACEHOLDER: &str = "crc32:00000000";

/// The checksum of the concatenated parts as text: `crc32:` and eight hexadecimal digits.
pub fn checksum(parts: &[&[u8]]) -> String {
    let mut hasher = Hasher::new();
    parts.iter().for_each(|part| hasher.update(part));
    format!("crc32:{:08x}", hasher.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_the_crc_32_of_zlib() {
        // The check value of CRC-32/ISO-HDLC.
        assert_eq!(checksum(&[b"123456789"]), "crc32:cbf43926");
        assert_eq!(checksum(&[b"1234", b"", b"56789"]), "crc32:cbf43926");
        assert_eq!(checksum(&[]), PLACEHOLDER);
    }
}
