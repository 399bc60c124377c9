//! Coded rows that are read in chunks and stored in pieces, with one codebook for all.
//!
//! A piece stores some rows in reading order, in 32-bit words: `n` row numbers, `n` lengths, then all entries as words of
//! 16-bit feature and code (two words if there are more features). A block consists of pieces; when it is read, its rows
//! are shuffled, since coordinate descent needs a random order (labels may be sorted).

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::coded_rows::{CodedRows, Entries, Entry, Narrow, Wide, on_entries};
use super::value_counts::BOOK_LIMIT;
use super::{ValueCodes, ValueCounts};
use crate::error::{Error, Result};

/// Low bits of an f32 dropped by [`BookMaker::rounded`]: 12 significant bits remain.
const DROPPED: u32 = 12;

/// Assigns one code per value over the rows of all chunks, in reading order.
pub(crate) struct BookMaker {
    codes: Codes,
    book: ValueCounts,
}

enum Codes {
    /// All distinct values, up to [`BOOK_LIMIT`].
    Distinct(ValueCodes),
    /// Values rounded to 12 significant bits, the largest [`BOOK_LIMIT`] of them: 32 octaves. Code 0 is the value with
    /// these bits, without those dropped.
    RoundedFrom(u32),
}

impl BookMaker {
    /// A codebook of exact values.
    pub fn distinct() -> Self {
        BookMaker { codes: Codes::Distinct(ValueCodes::new()), book: ValueCounts::default() }
    }

    /// A codebook of rounded values up to `largest`, for data with too many distinct values. A value changes by at most
    /// 1 part in 4096; one below 2⁻³¹ of the largest is raised to that.
    pub fn rounded(largest: f32) -> Self {
        let first = (upper_bits(largest) + 1).saturating_sub(BOOK_LIMIT as u32).max(1);
        let values = (0..BOOK_LIMIT as u32).map(|code| f32::from_bits((first + code) << DROPPED)).collect();
        let book = ValueCounts { values, counts: vec![0.0; BOOK_LIMIT], rounded: true };
        BookMaker { codes: Codes::RoundedFrom(first), book }
    }

    /// Maps each code of a chunk's own codebook to a code here; `None` if there are more values than a codebook holds.
    pub fn merge(&mut self, chunk: &CodedRows) -> Option<Vec<u32>> {
        let BookMaker { codes, book } = self;
        let code = |(&value, count): (&f32, &f64)| {
            let code = match codes {
                Codes::Distinct(codes) => codes.get(value).or_else(|| {
                    book.values.push(value);
                    book.counts.push(0.0);
                    (codes.len() < BOOK_LIMIT).then(|| codes.insert(value))
                })?,
                Codes::RoundedFrom(first) => upper_bits(value).saturating_sub(*first).min(BOOK_LIMIT as u32 - 1),
            };
            book.counts[code as usize] += count;
            Some(code)
        };
        chunk.book().iter().zip(chunk.counts()).map(code).collect()
    }

    /// The codebook of all chunks.
    pub fn finish(self) -> ValueCounts {
        self.book
    }
}

/// The upper bits of a value above 0, rounded but not to infinity; as integers they are ordered like the values.
fn upper_bits(value: f32) -> u32 {
    ((value.to_bits() + (1 << (DROPPED - 1))) >> DROPPED).min(f32::MAX.to_bits() >> DROPPED)
}

/// Whether rows with this number of features use the wide form.
fn is_wide(n_features: usize) -> bool {
    n_features > 1 << 16
}

/// Bytes per entry for this number of features.
pub(crate) fn entry_bytes(n_features: usize) -> usize {
    if is_wide(n_features) { 8 } else { 4 }
}

/// Bytes of a word.
const WORD: usize = size_of::<u32>();

/// Words per row in addition to its entries: its number and its length.
const ROW_WORDS: usize = 2;

/// Bytes per row in addition to its entries.
pub(crate) const ROW_BYTES: usize = ROW_WORDS * WORD;

/// A sequence of rows in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub n_rows: usize,
    pub n_words: usize,
}

impl Piece {
    /// Number of entries of rows with this number of features.
    pub fn n_entries(self, n_features: usize) -> usize {
        (self.n_words - self.n_rows * ROW_WORDS) * WORD / entry_bytes(n_features)
    }
}

/// Rows buffered until they are written to their block.
#[derive(Debug)]
pub(crate) struct PieceBuffer {
    n_features: usize,
    numbers: Vec<u32>,
    lengths: Vec<u32>,
    entries: Vec<u32>,
}

impl PieceBuffer {
    /// An empty piece of rows with this number of features; a chunk may have fewer.
    pub fn new(n_features: usize) -> Self {
        PieceBuffer { n_features, numbers: Vec::new(), lengths: Vec::new(), entries: Vec::new() }
    }

    /// Bytes of the piece so far.
    pub fn n_bytes(&self) -> usize {
        self.numbers.len() * ROW_BYTES + self.entries.len() * WORD
    }

    /// Adds row `at` of a chunk, which is row `number` overall; `codes` is the result of [`BookMaker::merge`] for the
    /// chunk.
    pub fn push(&mut self, number: u32, chunk: &CodedRows, at: usize, codes: &[u32]) {
        let range = chunk.indptr()[at]..chunk.indptr()[at + 1];
        self.numbers.push(number);
        self.lengths.push(range.len() as u32);
        on_entries!(chunk.entries(), entries => self.push_entries(&entries[range], codes));
    }

    fn push_entries<E: Entry>(&mut self, row: &[E], codes: &[u32]) {
        let pairs = row.iter().map(|entry| (entry.feature() as u32, codes[entry.code()]));
        if is_wide(self.n_features) {
            self.entries.extend(pairs.flat_map(|(feature, code)| [feature, code]));
        } else {
            self.entries.extend(pairs.map(|(feature, code)| feature << 16 | code));
        }
    }

    /// Takes the piece and its words, leaving the buffer empty.
    pub fn take(&mut self) -> (Piece, Vec<u32>) {
        let words = [&self.numbers[..], &self.lengths, &self.entries].concat();
        let piece = Piece { n_rows: self.numbers.len(), n_words: words.len() };
        self.numbers.clear();
        self.lengths.clear();
        self.entries.clear();
        (piece, words)
    }
}

/// Rows of some pieces in random order.
pub(crate) struct Gathered {
    pub rows: CodedRows,
    /// The overall number of each row.
    pub numbers: Vec<u32>,
    /// The new position of each row of the pieces, one piece after the other.
    pub places: Vec<u32>,
}

/// The rows of some pieces in a random order determined by the seed. `read(p, range)` returns a range of the words of
/// piece `p`. The entries are stored in the memory of `spare`, with a capacity of `most` entries: allocating and
/// freeing memory for each block would take more than two blocks.
///
/// # Errors
/// Errors of `read`; [`Error::Shape`] for corrupt words.
pub(crate) fn gather<'a>(
    pieces: &[Piece],
    read: impl Fn(usize, Range<usize>) -> Result<Cow<'a, [u32]>>,
    book: Arc<ValueCounts>,
    n_features: usize,
    seed: u64,
    spare: Option<Entries>,
    most: usize,
) -> Result<Gathered> {
    let n_rows: usize = pieces.iter().map(|piece| piece.n_rows).sum();
    let mut places: Vec<u32> = (0..n_rows as u32).collect();
    places.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));

    let (mut numbers, mut indptr) = (vec![0; n_rows], vec![0usize; n_rows + 1]);
    let mut at = 0;
    for (p, piece) in pieces.iter().enumerate() {
        let words = read(p, 0..piece.n_rows * ROW_WORDS)?;
        for (number, length) in words[..piece.n_rows].iter().zip(&words[piece.n_rows..]) {
            let place = places[at] as usize;
            numbers[place] = *number;
            indptr[place + 1] = *length as usize;
            at += 1;
        }
    }
    for place in 0..n_rows {
        indptr[place + 1] += indptr[place];
    }
    let said: usize = pieces.iter().map(|piece| piece.n_entries(n_features)).sum();
    if indptr[n_rows] != said {
        return Err(Error::shape(
            "rows read back from scratch",
            format!("{} entries", indptr[n_rows]),
            format!("the {said} that were written"),
        ));
    }

    let narrow = |&[word]: &[u32; 1]| Narrow(word);
    let wide = |&[feature, code]: &[u32; 2]| Wide { feature, code };
    let entries = if is_wide(n_features) {
        let spare = if let Some(Entries::Wide(spare)) = spare { spare } else { Vec::new() };
        Entries::Wide(spread(pieces, read, &places, &indptr, (spare, most), wide)?)
    } else {
        let spare = if let Some(Entries::Narrow(spare)) = spare { spare } else { Vec::new() };
        Entries::Narrow(spread(pieces, read, &places, &indptr, (spare, most), narrow)?)
    };
    Ok(Gathered { rows: CodedRows::of_parts(indptr, entries, book, n_features)?, numbers, places })
}

/// The entries of all pieces, each row at its position, in the memory of others and with room for `most`.
fn spread<'a, E: Entry, const WORDS: usize>(
    pieces: &[Piece],
    read: impl Fn(usize, Range<usize>) -> Result<Cow<'a, [u32]>>,
    places: &[u32],
    indptr: &[usize],
    (mut entries, most): (Vec<E>, usize),
    entry: impl Fn(&[u32; WORDS]) -> E,
) -> Result<Vec<E>> {
    let n = indptr[indptr.len() - 1];
    entries.clear();
    entries.reserve_exact(most.max(n));
    entries.resize(n, entry(&[0; WORDS]));
    let mut places = places.iter();
    for (p, piece) in pieces.iter().enumerate() {
        let words = read(p, piece.n_rows * ROW_WORDS..piece.n_words)?;
        let mut from = words.as_chunks::<WORDS>().0.iter();
        for &place in places.by_ref().take(piece.n_rows) {
            let to = &mut entries[indptr[place as usize]..indptr[place as usize + 1]];
            to.iter_mut().zip(from.by_ref()).for_each(|(to, from)| *to = entry(from));
        }
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{CsrView, DenseView};

    fn decoded(rows: &CodedRows) -> Vec<Vec<(usize, f32)>> {
        fn pairs<E: Entry>(rows: &CodedRows, entries: &[E]) -> Vec<Vec<(usize, f32)>> {
            let pair = |e: &E| (e.feature(), rows.book()[e.code()]);
            rows.indptr().windows(2).map(|w| entries[w[0]..w[1]].iter().map(pair).collect()).collect()
        }
        match rows.entries() {
            Entries::Narrow(entries) => pairs(rows, entries),
            Entries::Wide(entries) => pairs(rows, entries),
        }
    }

    /// Chunks of one row each through two pieces and back.
    fn round_trip(chunks: &[CodedRows], mut maker: BookMaker) -> (CodedRows, Vec<u32>) {
        let n_features = chunks[0].n_features();
        let (mut buffer, mut pieces) = (PieceBuffer::new(n_features), Vec::new());
        for (number, chunk) in chunks.iter().enumerate() {
            let codes = maker.merge(chunk).unwrap();
            buffer.push(number as u32, chunk, 0, &codes);
            if number == chunks.len() / 2 || number + 1 == chunks.len() {
                pieces.push(buffer.take());
            }
        }
        let of: Vec<Piece> = pieces.iter().map(|(piece, _)| *piece).collect();
        assert!(pieces.iter().all(|(piece, words)| piece.n_words == words.len()));
        let read = |p: usize, range: Range<usize>| Ok(Cow::Borrowed(&pieces[p].1[range]));
        let spare = Some(Entries::Wide(vec![Wide { feature: 5, code: 5 }; 3]));
        let gathered = gather(&of, read, Arc::new(maker.finish()), n_features, 3, spare, 0).unwrap();
        let at = |row: &u32| gathered.numbers[*row as usize];
        assert!(gathered.places.iter().map(at).eq(0..chunks.len() as u32));
        (gathered.rows, gathered.numbers)
    }

    #[test]
    fn rows_come_back_in_another_order() {
        for n_cols in [7, 70_000] {
            let chunk = |i: usize| {
                let (columns, values) = ([1, 2, n_cols as u32 - 1], [1.0, i as f64, 0.5]);
                let view = CsrView::new(&[0, 3], &columns, &values, n_cols).unwrap();
                CodedRows::new(&view, &[0], &[2.0], None).unwrap()
            };
            let chunks: Vec<CodedRows> = (0..20).map(chunk).collect();
            let (rows, numbers) = round_trip(&chunks, BookMaker::distinct());
            assert_eq!(matches!(rows.entries(), Entries::Wide(_)), n_cols > 1 << 16);
            assert!(!numbers.is_sorted());
            for (row, &number) in decoded(&rows).iter().zip(&numbers) {
                assert_eq!(row, &decoded(&chunks[number as usize])[0]);
            }
            let mut all = numbers;
            all.sort_unstable();
            assert_eq!(all, (0..20).collect::<Vec<u32>>());
            // 1 in every row and as one of the counts; row 0 has no second value.
            assert_eq!((rows.book()[0], rows.counts()[0]), (1.0, 42.0));
        }
    }

    #[test]
    fn too_many_values_are_rounded_to_twelve_bits() {
        let n = BOOK_LIMIT + 1;
        let values: Vec<f64> = (0..n).map(|i| f64::from(1.0f32 / (1.0 + i as f32))).collect();
        let view = DenseView::new(&values, 1, n).unwrap();
        let chunk = CodedRows::new(&view, &[0], &[1.0], None).unwrap();
        assert_eq!(BookMaker::distinct().merge(&chunk), None);
        let (rows, _) = round_trip(&[chunk], BookMaker::rounded(1.0));
        assert_eq!(rows.book()[BOOK_LIMIT - 1], 1.0);
        assert_eq!(rows.counts().iter().sum::<f64>(), n as f64);
        for (&(column, rounded), &value) in decoded(&rows)[0].iter().zip(&values) {
            assert!((f64::from(rounded) / value - 1.0).abs() <= 1.0 / 4096.0, "{column}: {rounded} {value}");
        }
    }

    #[test]
    fn the_ends_of_the_rounded_range() {
        for largest in [f32::MAX, 1.0, 1e-30, f32::from_bits(1)] {
            let values = [f64::from(largest), 1e-45];
            let view = DenseView::new(&values, 1, 2).unwrap();
            let chunk = CodedRows::new(&view, &[0], &[1.0], None).unwrap();
            let (rows, _) = round_trip(&[chunk], BookMaker::rounded(largest));
            assert!(rows.book().iter().all(|value| *value > 0.0), "{largest}");
            let back = decoded(&rows)[0][0].1;
            assert!(back.is_finite() && back >= largest * (1.0 - 1.0 / 2048.0), "{largest} {back}");
        }
    }
}
