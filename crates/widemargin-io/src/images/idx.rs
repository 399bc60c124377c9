//! IDX, the format of MNIST: `…-images-idx3-ubyte`, with labels in `…-labels-idx1-ubyte` in the same folder.
//!
//! Two zero bytes, the element type (8: one byte each), the number of dimensions, their sizes (four bytes, big-endian),
//! then the elements. The name of the label file is derived by replacing `images` and `idx3` with `labels` and `idx1`,
//! with or without `.gz`; if there is no such file there are no labels.

use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use widemargin::data::{Label, Labels};

use super::{NO_COLUMNS, collection, problem, read_up_to};
use crate::error::{IoError, Result};
use crate::input::{Input, open};
use crate::options::ReadOptions;
use crate::reader::SampleReader;
use crate::sample_problem::ImageProblem;
use crate::table::Table;

/// Reads consecutive images.
#[derive(Debug)]
pub(crate) struct Reader {
    images: Stream,
    labels: Option<Stream>,
    height: usize,
    width: usize,
}

/// A file, positioned after its header.
#[derive(Debug)]
struct Stream {
    input: BufReader<Input>,
    file: PathBuf,
    sizes: Vec<u32>,
    /// Remaining records.
    left: usize,
    record: usize,
}

/// No photograph is wider, and a malicious header must not cause huge allocations.
const MAX_SIDE: u32 = 1 << 16;

impl Stream {
    fn open(path: &Path, dimensions: usize, expected: &'static str) -> Result<Stream> {
        let input = open(path)?;
        let (file, length) = (input.file.clone(), input.length);
        let mut input = BufReader::with_capacity(1 << 18, input);
        let mut header = vec![0; 4 + 4 * dimensions];
        let held = read_up_to(&mut input, &mut header).map_err(IoError::reading(&file))?;
        let wrong = |found: String| Err(problem(&file, ImageProblem::Header { found, expected }));
        if held < header.len() {
            return wrong(format!("{held} bytes are no header"));
        }
        if header[..3] != [0, 0, 8] || usize::from(header[3]) != dimensions {
            return wrong(format!("it begins with the bytes {:?}", &header[..4]));
        }
        let size = |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let sizes: Vec<u32> = (1..=dimensions).map(|dimension| size(4 * dimension)).collect();
        if sizes[1..].iter().any(|side| *side == 0 || *side > MAX_SIDE) {
            return wrong(format!("its sizes are {sizes:?}"));
        }
        let stream = Stream { input, file, left: sizes[0] as usize, record: 0, sizes };
        let claimed = (stream.left as u64).saturating_mul(stream.size() as u64).saturating_add(header.len() as u64);
        // The length of compressed and piped files is known only at the end.
        match length {
            Some(held) if held < claimed => {
                let (of_records, size) = ((held - header.len() as u64) as usize, stream.size());
                Err(stream.truncated(of_records / size, of_records % size))
            }
            Some(held) if held > claimed => Err(problem(&stream.file, ImageProblem::Trailing)),
            _ => Ok(stream),
        }
    }

    fn size(&self) -> usize {
        self.sizes[1..].iter().map(|&side| side as usize).product()
    }

    fn truncated(&self, record: usize, held: usize) -> IoError {
        problem(&self.file, ImageProblem::Truncated { format: "IDX", record, size: self.size(), held })
    }

    /// Appends up to `n` records and returns their number.
    fn read(&mut self, n: usize, bytes: &mut Vec<u8>) -> Result<usize> {
        let (n, size) = (n.min(self.left), self.size());
        for done in 0..n {
            let start = bytes.len();
            // Grows with the data present, not with the size claimed by the header.
            bytes.resize(start + size, 0);
            let held = read_up_to(&mut self.input, &mut bytes[start..]).map_err(IoError::reading(&self.file))?;
            if held < size {
                return Err(self.truncated(self.record + done, held));
            }
        }
        self.record += n;
        self.left -= n;
        if self.left == 0 && self.input.read(&mut [0]).map_err(IoError::reading(&self.file))? > 0 {
            return Err(problem(&self.file, ImageProblem::Trailing));
        }
        Ok(n)
    }
}

impl Reader {
    pub fn new(path: &Path, options: &ReadOptions) -> Result<Reader> {
        let wanted = options.wants_labels(path, NO_COLUMNS)?;
        let images = Stream::open(path, 3, "images of one byte a pixel")?;
        let beside = labels_beside(path).filter(|_| wanted);
        let labels = beside.map(|labels| Stream::open(&labels, 1, "labels of one byte")).transpose()?;
        if let Some(labels) = labels.as_ref().filter(|labels| labels.left != images.left) {
            let count = ImageProblem::Count { labels: labels.left as u64, images: images.left as u64 };
            return Err(problem(&labels.file, count));
        }
        let (height, width) = (images.sizes[1] as usize, images.sizes[2] as usize);
        Ok(Reader { images, labels, height, width })
    }
}

impl SampleReader for Reader {
    fn next_into(&mut self, bytes: usize, table: &mut Table) -> Result<bool> {
        let (mut pixels, mut labels) = (Vec::new(), Vec::new());
        let n = self.images.read((bytes / self.images.size()).max(1), &mut pixels)?;
        if n == 0 {
            return Ok(false);
        }
        let labels = match &mut self.labels {
            Some(stream) => {
                stream.read(n, &mut labels)?;
                Some(Labels::new(labels.iter().map(|&label| Label::Integer(label.into()))))
            }
            None => None,
        };
        *table = collection(&self.images.file, pixels, (self.height, self.width, 1), labels, None)?;
        Ok(true)
    }
}

/// The label file, if it exists.
pub(crate) fn labels_beside(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let other = name.replace("images", "labels").replace("idx3", "idx1");
    let (plain, packed) = (other.trim_end_matches(".gz").to_owned(), format!("{}.gz", other.trim_end_matches(".gz")));
    let candidates = [other.clone(), plain, packed].map(|name| path.with_file_name(name));
    candidates.into_iter().find(|candidate| other != name && candidate.is_file())
}
