//! Parsing of short numbers, eight bytes at a time.

/// Powers of ten, all exact in single precision.
const TENS: [f32; 9] = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8];

/// Parses a short pair at the start of `text`, typical of counts (`17:3`) and rounded features (`4:-0.25`), and returns
/// its length.
///
/// `None` does not mean that there is no pair, only that it does not have at most eight digits before and after the
/// point and 24 bits in total, followed by white space, or that the text is about to end. The result is the nearest
/// `f32`: numerator and denominator are exact, so that one division rounds once.
#[inline]
pub(crate) fn short_pair(text: &[u8]) -> Option<(u32, f32, usize)> {
    if let Some(pair) = count_pair(text) {
        return Some(pair);
    }
    let (index, colon) = short_digits(text)?;
    if text.get(colon) != Some(&b':') {
        return None;
    }
    let negative = text.get(colon + 1) == Some(&b'-');
    let start = colon + 1 + usize::from(negative);
    let (whole, length) = short_digits(text.get(start..)?)?;
    let mut end = start + length;
    let mut value = whole as f32;
    if text.get(end) == Some(&b'.') {
        let (decimals, length) = short_digits(text.get(end + 1..)?)?;
        let digits = u64::from(whole) * 10u64.pow(length as u32) + u64::from(decimals);
        if digits >= 1 << 24 {
            return None;
        }
        value = digits as f32 / TENS[length];
        end += 1 + length;
    }
    let ends = text.get(end).is_some_and(|byte| is_blank(*byte) || *byte == b'\n');
    ends.then_some((index, if negative { -value } else { value }, end))
}

/// Space, tab, or the carriage return before a newline.
#[inline]
pub(crate) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

/// A pair of integers within eight bytes, as most counts are: both ends are found at once, whereas parsing number by
/// number has to wait for the end of the first.
#[inline]
fn count_pair(text: &[u8]) -> Option<(u32, f32, usize)> {
    let word = u64::from_le_bytes(*text.first_chunk()?) ^ ZEROS;
    let others = non_digits(word);
    let colon = others.trailing_zeros() & !7;
    // A byte has up to four marks: all those of the first are removed.
    let after = others & !(0xFFu64.checked_shl(colon)?);
    let end = after.trailing_zeros() & !7;
    if end == 64 || end < colon + 16 || colon == 0 {
        return None;
    }
    let terminator = (word >> end) as u8 ^ b'0';
    if (word >> colon) as u8 ^ b'0' != b':' || !(is_blank(terminator) || terminator == b'\n') {
        return None;
    }
    let index = eight_digits(word << (64 - colon));
    let value = eight_digits((word >> (colon + 8)) << (72 + colon - end));
    Some((index, value as f32, end as usize / 8))
}

/// The number of the digits at the start of `text`, and their count (1 to 8).
#[inline]
fn short_digits(text: &[u8]) -> Option<(u32, usize)> {
    let word = u64::from_le_bytes(*text.first_chunk()?) ^ ZEROS;
    let count = (non_digits(word).trailing_zeros() / 8) as usize;
    // Padded with leading zeros to eight digits.
    (count > 0).then(|| (eight_digits(word << (64 - 8 * count)), count))
}

/// Eight characters `0`: subtracting them leaves digits 0 to 9.
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// Marks each byte other than 0 to 9: its high bit is set, or becomes set when 6 is added. Marks after the first may be
/// wrong due to a carry, but only in a byte after one above 0xF9, which ends every pair.
#[inline]
fn non_digits(word: u64) -> u64 {
    (word | word.wrapping_add(0x0606_0606_0606_0606)) & 0xF0F0_F0F0_F0F0_F0F0
}

/// The number of eight digits, the first in the lowest byte: neighbors are combined in three steps.
#[inline]
fn eight_digits(word: u64) -> u32 {
    let pairs = (word.wrapping_mul(10) + (word >> 8)) & 0x00FF_00FF_00FF_00FF;
    let fours = (pairs.wrapping_mul(100) + (pairs >> 16)) & 0x0000_FFFF_0000_FFFF;
    fours.wrapping_mul(10_000).wrapping_add(fours >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_read_as_the_standard_library_does() {
        for text in ["0", "7", "42", "999", "1234", "00012", "123456", "9999999", "12345678", "99999999"] {
            for after in [" ", ":1 2 3", "\n\n\n", "/", ";", "\u{ff}", "\0", "a"] {
                let padded = format!("{text}{after}        ");
                assert_eq!(short_digits(padded.as_bytes()), Some((text.parse().unwrap(), text.len())), "{padded}");
            }
        }
        assert_eq!(short_digits(b"123456789 "), Some((12_345_678, 8)));
        for text in ["        ", ":1234567", "-1234567", "a1234567", "\u{ff}234567"] {
            assert_eq!(short_digits(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn short_pairs_are_read_as_the_standard_library_does() {
        for value in
            ["3", "0", "-7", "99999999", "16777217", "0.5", "-0.25", "12.125", "0.123456", "1.00000001", "-0.0"]
        {
            for after in [" 18:1", "\n", "\t", "\r\n"] {
                let text = format!("17:{value}{after}                ");
                let expected = Some((17, value.parse().unwrap(), 3 + value.len()));
                let short = value.replace(['.', '-'], "").trim_start_matches('0').len() <= 8 && value != "1.00000001";
                assert_eq!(short_pair(text.as_bytes()), expected.filter(|_| short), "{text}");
            }
        }
    }

    #[test]
    fn other_spellings_are_left_to_the_library() {
        for text in
            ["17:3e1", "17:+3", "17:.5", "17:3.", "17:3.e1", "17 3", "123456789:1", "17:3#", "17:--3", "17:1.2.3"]
        {
            assert_eq!(short_pair(format!("{text} 11111111111").as_bytes()), None, "{text}");
        }
        for text in ["17:3 ", "12345678", "1:12345678", "1:1.12345678", "1:-", "12345678:", ""] {
            assert_eq!(short_pair(text.as_bytes()), None, "{text}");
        }
    }
}
