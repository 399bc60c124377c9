//! Numbers as people write them: decimal commas, thousands separators, currency and percent signs; and cells that look
//! like numbers but are not, such as dates.

use widemargin::data::Decimal;

/// How the numbers of a file are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numbers {
    /// The decimal mark, if the caller or the file determines it; otherwise `1,234` could be 1234 or 1.234.
    pub decimal: Option<Decimal>,
}

/// What a cell that is not a number could be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lookalike {
    /// A date, with or without a time.
    Date,
    /// A time of day, or a duration.
    Time,
    /// A number whose decimal mark is not that of the file.
    OtherDecimal(Decimal),
    /// A number whose comma may be a decimal mark or separate thousands.
    Ambiguous,
    /// A number in parentheses: a negative one, or one with a remark.
    InParentheses,
}

/// Currency signs before or after a number.
const CURRENCIES: [&str; 8] = ["$", "€", "£", "¥", "₹", "USD", "EUR", "GBP"];

impl Numbers {
    /// A decimal point, and commas that separate thousands.
    pub const USUAL: Numbers = Numbers { decimal: Some(Decimal::Point) };

    /// The number in a cell without white space around it, however large: `-1.5e3`, `1,234.50`, `$1,050` or `45.3%`,
    /// which is 0.453.
    pub fn number(self, text: &str) -> Option<f64> {
        match text.parse() {
            Ok(number) if self.mark() == Decimal::Point || !text.contains('.') => Some(number),
            _ if text.len() > 64 || !text.contains(|c: char| c.is_ascii_digit()) => None,
            _ if self.decimal.is_none() && is_ambiguous(text) => None,
            _ => signed(text, self.mark()),
        }
    }

    /// The decimal mark: a point unless another is known.
    pub fn mark(self) -> Decimal {
        self.decimal.unwrap_or(Decimal::Point)
    }

    /// What a cell that is not a number could be.
    pub fn lookalike(self, text: &str) -> Option<Lookalike> {
        if is_date(text) {
            return Some(Lookalike::Date);
        }
        if is_time(text) {
            return Some(Lookalike::Time);
        }
        if self.decimal.is_none() && is_ambiguous(text) {
            return Some(Lookalike::Ambiguous);
        }
        let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
        if inner.is_some_and(|inner| self.number(inner).is_some()) {
            return Some(Lookalike::InParentheses);
        }
        let other = self.mark().other();
        (text.len() <= 64 && signed(text, other).is_some()).then_some(Lookalike::OtherDecimal(other))
    }

    /// How numbers are written: with the decimal mark that is passed, otherwise as among some cells; by default with a
    /// decimal comma where semicolons separate cells, as they do where commas are in numbers.
    pub fn of<'a>(decimal: Option<Decimal>, cells: impl Iterator<Item = &'a str>, delimiter: u8) -> Numbers {
        if decimal.is_some() {
            return Numbers { decimal };
        }
        let (mut points, mut commas, mut has_ambiguous) = (0, 0, false);
        for text in cells.filter(|text| text.len() <= 64 && text.contains(['.', ','])) {
            let (point, comma) = (signed(text, Decimal::Point), signed(text, Decimal::Comma));
            has_ambiguous |= is_ambiguous(text);
            // `1.234` has a decimal point unless there is evidence to the contrary.
            points += usize::from(point.is_some() && comma.is_none());
            commas += usize::from(comma.is_some() && point.is_none());
        }
        let is_comma = commas > 0 || (has_ambiguous && delimiter == b';');
        Numbers { decimal: if points > 0 { Some(Decimal::Point) } else { is_comma.then_some(Decimal::Comma) } }
    }
}

/// The number that a label is, such as `-1.5e3`, `45.3%` or `$1050`. A comma, which the readers of files replace where
/// its meaning is known, could be a decimal mark or separate thousands: `1,234` is no number.
pub fn number(label: &str) -> Option<f64> {
    Numbers { decimal: None }.number(label)
}

/// The number in a text with a currency sign, a percent sign or thousands separators.
fn signed(text: &str, decimal: Decimal) -> Option<f64> {
    let (text, is_negative) = match text.strip_prefix(['-', '−']) {
        Some(rest) => (rest.trim_start(), true),
        None => (text.strip_prefix('+').unwrap_or(text), false),
    };
    let mut text = text;
    for sign in CURRENCIES {
        text = text.strip_prefix(sign).map_or(text, str::trim_start);
        text = text.strip_suffix(sign).map_or(text, str::trim_end);
    }
    let (text, is_negative) = match text.strip_prefix('-') {
        Some(rest) if !is_negative => (rest, true),
        _ => (text, is_negative),
    };
    let percent = text.strip_suffix('%').map(str::trim_end);
    let (text, is_percent) = (percent.unwrap_or(text), percent.is_some());
    let mut plain = match text.split_once(decimal.mark().0) {
        Some((whole, fraction)) => digits_of_thousands(whole, decimal)? + "." + fraction,
        None => digits_of_thousands(text, decimal)?,
    };
    // An exponent and nothing else may follow the digits.
    let is_plain = |c: char| c.is_ascii_digit() || ".eE+-".contains(c);
    let starts = plain.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if !starts || !plain.chars().all(is_plain) {
        return None;
    }
    // Written as an exponent a percentage is not rounded, as dividing by 100 would.
    let has_exponent = plain.contains(['e', 'E']);
    if is_percent && !has_exponent {
        plain.push_str("e-2");
    }
    let number: f64 = plain.parse().ok()?;
    let number = if is_percent && has_exponent { number / 100.0 } else { number };
    Some(if is_negative { -number } else { number })
}

/// The digits before the decimal mark, without separators of thousands; none where these are not between groups of
/// three.
fn digits_of_thousands(whole: &str, decimal: Decimal) -> Option<String> {
    let separators = [decimal.other().mark().0, '\'', '’', ' ', '\u{a0}', '\u{202f}'];
    let Some(separator) = whole.chars().find(|c| separators.contains(c)) else { return Some(whole.to_owned()) };
    let groups: Vec<&str> = whole.split(separator).collect();
    let are_digits = groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_digit()));
    let (first, others) = groups.split_first()?;
    let has_threes = (1..=3).contains(&first.len()) && others.iter().all(|group| group.len() == 3);
    (are_digits && has_threes && !first.starts_with('0')).then(|| groups.concat())
}

/// True for `1,234` and `12,345`, which are numbers with either decimal mark, and have no other sign.
fn is_ambiguous(text: &str) -> bool {
    let text = text.strip_prefix(['-', '+']).unwrap_or(text);
    text.split_once(',').is_some_and(|(whole, rest)| {
        let are_digits = whole.bytes().chain(rest.bytes()).all(|byte| byte.is_ascii_digit());
        are_digits && rest.len() == 3 && (1..=3).contains(&whole.len()) && !whole.starts_with('0')
    })
}

/// `2024-01-31`, `31.1.2024`, `1/31/24`, `31-Jan-2024`, `Jan 31, 2024`, each alone or with a time behind.
fn is_date(text: &str) -> bool {
    const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let words: Vec<&str> = text.split([' ', 'T', ',']).filter(|word| !word.is_empty()).collect();
    let is_month = |part: &str| {
        part.get(..3).is_some_and(|start| MONTHS.iter().any(|month| start.eq_ignore_ascii_case(month)))
            && part.bytes().all(|byte| byte.is_ascii_alphabetic())
    };
    let is_digits = |part: &str, n: std::ops::RangeInclusive<usize>| {
        n.contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    let are_parts = |parts: &[&str]| match parts {
        [a, b, c] => {
            let is_year_first = is_digits(a, 4..=4) && is_digits(c, 1..=2);
            let is_year_last = is_digits(a, 1..=2) && (is_digits(c, 4..=4) || is_digits(c, 2..=2));
            (is_year_first || is_year_last) && (is_digits(b, 1..=2) || is_month(b))
                || is_month(a) && is_digits(b, 1..=2) && is_digits(c, 4..=4)
        }
        _ => false,
    };
    let Some((first, others)) = words.split_first() else { return false };
    let is_one_word = ['-', '/', '.'].iter().any(|&mark| are_parts(&first.split(mark).collect::<Vec<_>>()));
    is_one_word && others.len() <= 2
        || words.len() >= 3 && (is_month(words[0]) || is_month(words[1])) && are_parts(&words[..3])
}

/// `12:30`, `12:30:59.5`, `3:05 PM`.
fn is_time(text: &str) -> bool {
    let text = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ' || c == '.');
    let parts: Vec<&str> = text.split(':').collect();
    (2..=3).contains(&parts.len())
        && parts.iter().all(|part| part.starts_with(|c: char| c.is_ascii_digit()) && part.parse::<f64>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMA: Numbers = Numbers { decimal: Some(Decimal::Comma) };

    #[test]
    fn numbers_with_signs_have_their_value() {
        for (text, value) in [
            ("1e3", 1000.0),
            ("-0.5", -0.5),
            ("1,234.50", 1234.5),
            ("-1,234,567", -1_234_567.0),
            ("45.3%", 0.453),
            ("7 %", 0.07),
            ("$1,050", 1050.0),
            ("-$5.25", -5.25),
            ("$-5.25", -5.25),
            ("12.50 €", 12.5),
            ("1'234.5", 1234.5),
            ("1 234", 1234.0),
            ("−3.5", -3.5),
        ] {
            assert_eq!(Numbers::USUAL.number(text), Some(value), "{text}");
        }
        for (text, value) in
            [("3,5", 3.5), ("-0,25", -0.25), ("1.234,50", 1234.5), ("1.234", 1234.0), ("7", 7.0), ("1,5e2", 150.0)]
        {
            assert_eq!(COMMA.number(text), Some(value), "{text}");
        }
        for text in ["3,5", "12,34", "0,512", "1,2345", "1,23,456", "1 2", "5 kg", "$", "%", "1e", "--1", "2024-01-05"]
        {
            assert_eq!(Numbers::USUAL.number(text), None, "{text}");
        }
        for text in ["3.5", "1.5e3", "1,2,3", "a"] {
            assert_eq!(COMMA.number(text), None, "{text}");
        }
    }

    #[test]
    fn cells_tell_the_decimal_mark() {
        let of = |cells: &[&str], delimiter| Numbers::of(None, cells.iter().copied(), delimiter);
        assert_eq!(of(&["1.5", "2"], b','), Numbers::USUAL);
        assert_eq!(of(&["1,234.5", "1,234"], b','), Numbers::USUAL);
        assert_eq!(of(&["3,5", "1,234", "1.234,5"], b','), COMMA);
        assert_eq!(of(&["1,234"], b';'), COMMA);
        assert_eq!(of(&["3,5", "1.25"], b';'), Numbers::USUAL);
        let open = of(&["1,234", "7"], b',');
        assert_eq!((open.decimal.is_some(), open.number("1,234"), open.number("7")), (false, None, Some(7.0)));
        assert_eq!((open.lookalike("1,234"), open.number("$1,050")), (Some(Lookalike::Ambiguous), Some(1050.0)));
    }

    #[test]
    fn distinguishes_dates_and_times_from_numbers() {
        let found = |text: &str| Numbers::USUAL.lookalike(text);
        for text in [
            "2024-01-31",
            "31.1.2024",
            "1/31/24",
            "2024/1/3 10:15",
            "2024-01-31T10:15:00Z",
            "31-Jan-2024",
            "Jan 31, 2024",
            "3 Feb 2020",
        ] {
            assert_eq!(found(text), Some(Lookalike::Date), "{text}");
        }
        for text in ["12:30", "12:30:59.5", "3:05 PM"] {
            assert_eq!(found(text), Some(Lookalike::Time), "{text}");
        }
        assert_eq!((found("(12)"), found("(a)")), (Some(Lookalike::InParentheses), None));
        assert_eq!(found("3,5"), Some(Lookalike::OtherDecimal(Decimal::Comma)));
        assert_eq!(COMMA.lookalike("3.5"), Some(Lookalike::OtherDecimal(Decimal::Point)));
        for text in ["red", "may", "1.2.3.4", "a:b", "12-34", "192.168.1.1", "1-2-3"] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
