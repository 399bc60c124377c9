//! Samples of every kind in files of every format, made by rules so simple that any classifier must find them.

use std::fmt::Write as _;

use crate::Folder;

/// The labels of rows made by the generators below.
pub fn labels(n: usize) -> Vec<&'static str> {
    (0..n).map(|row| ["low", "high"][row % 2]).collect()
}

/// Numbers by chance, the same in every run.
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Chance {
        Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }

    /// From 0 to 1.
    pub fn uniform(&mut self) -> f64 {
        self.below(1 << 24) as f64 / f64::from(1 << 24)
    }
}

/// Columns in this order: numbers, the color and the size tell the class, which `kind` names and `y` numbers; every ninth size
/// is missing.
pub fn table(seed: u64, n: usize, order: &[&str]) -> String {
    let mut chance = Chance::new(seed);
    let mut text = order.join(",") + "\n";
    for (row, label) in labels(n).into_iter().enumerate() {
        let high = u64::from(label == "high");
        let mut below = |n: u64| chance.below(n);
        let (width, height, weight) =
            (1 + below(60) + 40 * high, 100 - below(60) + 40 * high, 340 + below(60) - 40 * high);
        // But for one in five.
        let colors = if (high == 1) != (below(5) == 0) { ["red", "amber"] } else { ["blue", "green"] };
        let (color, size, known) = (colors[below(2) as usize], below(50) + 20 * high, ["yes", "no"][below(2) as usize]);
        let cell = |name: &&str| match *name {
            "width" | "a" => width.to_string(),
            "height" => height.to_string(),
            "b" => (140 - height).to_string(),
            "weight" => weight.to_string(),
            "color" => color.to_owned(),
            "size" if row % 9 == 4 => String::new(),
            "size" => size.to_string(),
            "known" => known.to_owned(),
            "who" => format!("n{row}"),
            "times" => (1 + row % 3).to_string(),
            "house" => format!("h{}", row / 2),
            "junk" => format!("j{}", row % 7),
            "age" => "7".to_owned(),
            "y" => high.to_string(),
            _ => label.to_owned(),
        };
        writeln!(text, "{}", order.iter().map(cell).collect::<Vec<_>>().join(",")).unwrap();
    }
    text
}

/// The same without a header.
pub fn rows(seed: u64, n: usize, order: &[&str]) -> String {
    table(seed, n, order).split_once('\n').unwrap().1.to_owned()
}

/// A disc and a ring around it, as CSV: no line separates them.
pub fn rings(seed: u64, n: usize, labeled: bool) -> String {
    let mut chance = Chance::new(seed);
    let mut text = String::from(if labeled { "x,y,label\n" } else { "x,y\n" });
    for label in labels(n) {
        let radius = (if label == "low" { 1.0 } else { 3.0 }) + chance.below(100) as f64 / 200.0;
        let angle = chance.below(628) as f64 / 100.0;
        write!(text, "{:.3},{:.3}", radius * angle.cos(), radius * angle.sin()).unwrap();
        text += &if labeled { format!(",{label}\n") } else { "\n".into() };
    }
    text
}

/// Strings of the letters of two alphabets that have a letter in common.
pub fn strings(seed: u64, n: usize, length: u64, labeled: bool) -> String {
    let mut chance = Chance::new(seed);
    let mut text = String::new();
    for label in labels(n) {
        let alphabet: &[u8] = if label == "low" { b"ACDE" } else { b"EFGH" };
        if labeled {
            text += &format!("{label}\t");
        }
        let letters = (0..length + chance.below(5)).map(|_| char::from(alphabet[chance.below(4) as usize]));
        text.extend(letters);
        text.push('\n');
    }
    text
}

/// A slow or a quick wave that begins anywhere.
fn wave(label: &str, length: usize, chance: &mut Chance) -> Vec<String> {
    let (speed, start) = (if label == "low" { 0.2 } else { 0.8 }, chance.below(30) as f64 / 10.0);
    (0..length).map(|time| format!("{:.3}", (start + speed * time as f64).sin())).collect()
}

/// Waves as the UCR archive has them.
pub fn ucr(seed: u64, n: usize, labeled: bool) -> String {
    let mut chance = Chance::new(seed);
    let line = |label: &str| {
        let values = wave(label, 24, &mut chance).join("\t");
        if labeled { format!("{label}\t{values}\n") } else { format!("{values}\n") }
    };
    labels(n).into_iter().map(line).collect()
}

/// Waves of two channels and of lengths that differ, with a header.
pub fn ts(seed: u64, n: usize) -> String {
    let mut chance = Chance::new(seed);
    let mut text =
        "@problemName waves\n@univariate false\n@dimensions 2\n@classLabel true low high\n@data\n".to_owned();
    for label in labels(n) {
        let length = 18 + chance.below(10) as usize;
        let (one, other) = (wave(label, length, &mut chance), wave(label, length, &mut chance));
        writeln!(text, "{}:{}:{label}", one.join(","), other.join(",")).unwrap();
    }
    text
}

/// Gray pixels of horizontal or vertical stripes.
fn stripes(label: &str, side: usize, chance: &mut Chance) -> Vec<u8> {
    let shift = chance.below(4) as usize;
    let pixel = |at: usize| {
        let along = if label == "low" { at % side } else { at / side };
        if (along + shift) % 4 < 2 { 40 } else { 200 }
    };
    (0..side * side).map(|at| pixel(at) + chance.below(20) as u8).collect()
}

/// Writes `name/low/*.png` and `name/high/*.png`, or the same images straight into `name`; their labels as they are
/// read, by their paths.
pub fn image_folder(folder: &Folder, name: &str, seed: u64, n: usize, side: usize, labeled: bool) -> Vec<&'static str> {
    let mut chance = Chance::new(seed);
    let mut paths = Vec::new();
    for (row, label) in labels(n).into_iter().enumerate() {
        let path = if labeled { format!("{name}/{label}/{row:03}.png") } else { format!("{name}/{row:03}.png") };
        std::fs::create_dir_all(folder.path(&path).parent().unwrap()).unwrap();
        folder.write(&path, png(&stripes(label, side, &mut chance), side));
        paths.push((path, label));
    }
    paths.sort();
    paths.into_iter().map(|(_, label)| label).collect()
}

/// A gray image as a PNG that is not compressed.
fn png(pixels: &[u8], side: usize) -> Vec<u8> {
    // Each row begins with how it is filtered: not at all.
    let rows: Vec<u8> = pixels.chunks(side).flat_map(|row| [&[0], row].concat()).collect();
    let length = rows.len() as u16;
    let mut data = vec![0x78, 0x01, 1];
    data.extend(length.to_le_bytes());
    data.extend((!length).to_le_bytes());
    data.extend(&rows);
    let (a, b) = rows.iter().fold((1u32, 0u32), |(a, b), &byte| {
        let a = (a + u32::from(byte)) % 65521;
        (a, (b + a) % 65521)
    });
    data.extend((b << 16 | a).to_be_bytes());
    let size = (side as u32).to_be_bytes();
    let header = [&size[..], &size[..], &[8, 0, 0, 0, 0]].concat();
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, data) in [(b"IHDR", header), (b"IDAT", data), (b"IEND", Vec::new())] {
        bytes.extend((data.len() as u32).to_be_bytes());
        let named = [&kind[..], &data].concat();
        let sum = named.iter().fold(u32::MAX, |sum, &byte| {
            (0..8).fold(sum ^ u32::from(byte), |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 })
        });
        bytes.extend(named);
        bytes.extend((!sum).to_be_bytes());
    }
    bytes
}
