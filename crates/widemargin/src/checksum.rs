//! The checksum of what is written to be read again: model files and checkpoints.
//!
//! CRC-32 (that of zlib, PNG and gzip) notices every single flipped bit and every damaged stretch of up to 32 bits;
//! other damage passes once in 2³² times. It guards against accidents, not against somebody who means harm.

use crc32fast::Hasher;

/// The text of no checksum in particular, as long as any.
pub(crate) const PLACEHOLDER: &str = "crc32:00000000";

/// The checksum of these bytes, one part after the other, as text: `crc32:` and eight hexadecimal digits.
pub(crate) fn checksum(parts: &[&[u8]]) -> String {
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
