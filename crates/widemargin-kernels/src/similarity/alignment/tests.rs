use super::*;
use crate::similarity::definitions::strings::best_score;
use crate::similarity::sequence_tests::{agrees, chunks_change_nothing, of};
use crate::similarity::{Spec, pairwise};
use proptest::prelude::*;

fn brute(mode: Mode, x: &str, y: &str, pair: impl Fn(char, char) -> i64, gap: impl Fn(usize) -> i64) -> i64 {
    let characters = |s: &str| s.chars().collect::<Vec<char>>();
    best_score(&mode.to_string(), &characters(x), &characters(y), pair, gap)
}

fn pair_of(matrix: &Matrix) -> impl Fn(char, char) -> i64 {
    let code = |letter: char| matrix.code(letter).unwrap();
    move |x, y| matrix.score(code(x), code(y)).into()
}

fn any_mode() -> impl Strategy<Value = Mode> {
    prop::sample::select(vec![Mode::Local, Mode::Global, Mode::Semiglobal])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn agrees_with_the_definition(
        words in prop::collection::vec("[ACGé]{0,14}", 2..22), mode in any_mode(), open in -4i64..=0, same in 1i64..4,
    ) {
        let extend = (open + 1).min(0);
        let parameters = format!("mode={mode},match={same},mismatch=-2,open={open},extend={extend}");
        let score = |x: &str, y: &str| {
            let pair = |x, y| if x == y { same } else { -2 };
            brute(mode, x, y, pair, |k| open + extend * (k as i64 - 1)) as f64
        };
        let plain = of(&format!("align:{parameters},normalize=false"), Alignment::from_step);
        agrees(&plain, &words, &words, |x, y| score(x, y));
        let normal = of(&format!("align:{parameters}"), Alignment::from_step);
        agrees(&normal, &words, &words, |x, y| match score(x, x) * score(y, y) {
            0.0 => f64::from(x == y),
            size => score(x, y) / size.sqrt(),
        });
        let block = chunks_change_nothing(&normal, &words, &words);
        let n = words.len();
        for i in 0..n {
            prop_assert_eq!(block[i * n + i], 1.0);
            for j in 0..n {
                prop_assert_eq!(block[i * n + j], block[j * n + i]);
                prop_assert!(mode == Mode::Global || (0.0..=1.0).contains(&block[i * n + j]));
            }
        }
    }

    #[test]
    fn residues_agree_with_the_definition(
        words in prop::collection::vec("[ARNDCQEGHILKMFPSTWYVBZX]{1,18}", 2..20), mode in any_mode(), matrix in 0..4usize,
    ) {
        let matrix = &matrices::MATRICES[matrix];
        let (name, residues) = (matrix.name, pair_of(matrix));
        let s = of(&format!("align:matrix={name},normalize=false,mode={mode}"), Alignment::from_step);
        let score = |x: &str, y: &str| brute(mode, x, y, &residues, |k| -11 - (k as i64 - 1)) as f64;
        agrees(&s, &words, &words, |x, y| score(x, y));
        let s = of(&format!("align:matrix={name},mode={mode}"), Alignment::from_step);
        agrees(&s, &words, &words, |x, y| match (score(x, x) * score(y, y)).sqrt() {
            size if size > 0.0 => score(x, y) / size,
            _ => f64::from(x == y),
        });
        chunks_change_nothing(&s, &words, &words);
    }
}

#[test]
fn unknown_letters_count_as_any() {
    for (matrix, unusual, any) in [("blosum62", "U*-oj.", "XXXXXX"), ("nuc44", "X*-i.", "NNNNN")] {
        let s = of(&format!("align:matrix={matrix},mode=global"), Alignment::from_step);
        let words = |middle: &str| vec![format!("ACG{middle}TCA")];
        let known = vec!["ACGTTCA".to_owned(), "GATTACA".to_owned()];
        assert_eq!(pairwise(&s, &known, &words(unusual)).unwrap(), pairwise(&s, &known, &words(any)).unwrap());
        assert_eq!(pairwise(&s, &words(unusual), &known).unwrap(), pairwise(&s, &words(any), &known).unwrap());
    }
}

#[test]
fn every_instruction_set_agrees() {
    let words = ["HEAGAWGHEE", "PAWHEAE", "", "WWWWWWWWWWWWWWWWWWWWWWWW", "heagawghee"].map(str::to_owned);
    let s = of("align:matrix=blosum62", Alignment::from_step);
    let codes = s.encode(false, &words, &mut UnitCodes::default()).unwrap();
    let strings: Vec<&[i32]> = codes.iter().map(Vec::as_slice).collect();
    let equal = Scores::Equal { same: 2, other: -1 };
    let modes = [Mode::Local, Mode::Global, Mode::Semiglobal];
    for (scores, mode) in [s.scores, equal].into_iter().flat_map(|scores| modes.map(|mode| (scores, mode))) {
        let of = |isa: Isa| -> Vec<Vec<i32>> {
            let groups: Vec<Group> = strings.chunks(isa.lanes()).map(|some| Group::new(isa, &scores, some)).collect();
            let mut work = Work::default();
            let mut scores = |group: &Group, x| group.scores(isa, mode, s.gaps, x, &mut work).to_vec();
            strings.iter().map(|x| groups.iter().flat_map(|group| scores(group, x)).collect()).collect()
        };
        let all: Vec<_> = Isa::available().into_iter().map(of).collect();
        assert!(all.iter().all(|scores| *scores == all[0]));
        // Small letters are the same residues.
        assert_eq!(all[0][0], all[0][4]);
    }
}

#[test]
fn worked_examples() {
    let score = |spec: &str, x: &str, y: &str| {
        pairwise(&of(spec, Alignment::from_step), &vec![x.to_owned()], &vec![y.to_owned()]).unwrap()[0]
    };
    // GGTTGACTA and TGTTACGG: the usual lecture example of local alignment, 3 / −3 / gaps −2 each.
    let lecture = "align:match=3,mismatch=-3,open=-2,extend=-2,normalize=false";
    assert_eq!(score(lecture, "GGTTGACTA", "TGTTACGG"), 13.0);
    // GCATGCG and GATTACA: the usual one of global alignment, 1 / −1 / gaps −1.
    let lecture = "align:mode=global,match=1,mismatch=-1,open=-1,extend=-1,normalize=false";
    assert_eq!(score(lecture, "GCATGCG", "GATTACA"), 0.0);
    // The end of one is the start of the other: four matches, the ends free.
    let overlap = "align:mode=semiglobal,match=1,mismatch=-1,open=-1,extend=-1,normalize=false";
    assert_eq!(score(overlap, "AAAACGTC", "CGTCGGGG"), 4.0);
    // A read within a longer one, with a gap of its own: 6 matches, one gap.
    assert_eq!(score(overlap, "TTTACGGTATTT", "ACGTA"), 4.0);
    assert_eq!(score("align:matrix=nuc44,normalize=false", "ACGU", "acgt"), 20.0);
    // W with W, and with Y, of two matrices.
    assert_eq!(score("align:matrix=pam250,normalize=false", "W", "W"), 17.0);
    assert_eq!(score("align:mode=global,matrix=blosum45,normalize=false", "W", "Y"), 3.0);
}

#[test]
fn rejects_wrong_parameters() {
    for (wrong, word) in [
        ("align:mode=semi", "one of local, global, semiglobal"),
        ("align:matrix=pam30", "one of blosum45, blosum62, blosum80, pam250, nuc44"),
        ("align:matrix=blosum62,match=3", "it is not known where matrix=blosum62 scores pairs"),
        ("align:mismatch=1", "-1000 to 0"),
        ("align:match=0", "1 to 1000"),
        ("align:open=-1,extend=-2", "from open = -1 to 0"),
        ("local", "here it is align"),
    ] {
        let spec: Spec = wrong.parse().unwrap();
        let message = Alignment::from_step(&spec.steps[0]).unwrap_err().to_string();
        assert!(message.contains(word), "{message}");
    }
    let s = of("align:matrix=blosum62", Alignment::from_step);
    let message = pairwise(&s, &vec!["ACD".into()], &vec!["A".into(), "AC D".into()]).unwrap_err().to_string();
    assert!(message.contains("sample 1 (from 0) has ' ', which is not a letter of blosum62"), "{message}");
    let s = of("align:matrix=nuc44", Alignment::from_step);
    let message = pairwise(&s, &vec!["ACD".into()], &vec!["ACE".into()]).unwrap_err().to_string();
    assert!(message.contains("'E', which is not a letter of nuc44: ATGC"), "{message}");
}

#[test]
fn no_two_residues_score_more_than_each_with_itself() {
    for matrix in matrices::MATRICES.iter() {
        let codes = 0..matrix.letters.len() as i32;
        assert_eq!(codes.len(), if matrix.name == "nuc44" { 15 } else { 23 });
        for (x, y) in codes.clone().flat_map(|x| codes.clone().map(move |y| (x, y))) {
            let score = |x, y| i32::from(matrix.score(x, y));
            assert_eq!(score(x, y), score(y, x), "{}: {x} {y}", matrix.name);
            assert!(2 * score(x, y) <= score(x, x) + score(y, y), "{}: {x} {y}", matrix.name);
        }
    }
}
