//! The model file: a safetensors file whose metadata has one entry, `widemargin`, a JSON object with the format
//! version, a checksum, the method and its parameters; the arrays are the tensors. See `docs/model-file.md`.
//!
//! Files are untrusted: the checksum is verified first, and every size is checked against the file's length before
//! memory is allocated.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors, TensorView, View};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::origin::Origin;
use crate::checksum::{PLACEHOLDER, checksum};
use crate::data::Label;
use crate::error::{Error, Result};
use crate::output::OutputFile;
use crate::solve::Report;

/// The version of the format.
pub const FORMAT_VERSION: u32 = 1;

/// The metadata's only key.
const KEY: &str = "widemargin";

/// The fields at the start of every header.
#[derive(Deserialize)]
struct Preamble {
    format_version: u32,
    checksum: Option<String>,
    method: String,
}

/// A header as written, including the fields common to all methods.
#[derive(Serialize)]
struct Written<'a, L, H> {
    format_version: u32,
    checksum: &'a str,
    method: &'a str,
    #[serde(flatten)]
    layout: &'a L,
    #[serde(flatten)]
    head: H,
}

/// The header of a model besides the layout of its arrays.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Head<'a, T: Clone> {
    #[serde(flatten)]
    pub task: Cow<'a, T>,
    pub report: Cow<'a, Report>,
    #[serde(flatten)]
    pub origin: Cow<'a, Origin>,
}

impl<'a, T: Clone> Head<'a, T> {
    pub fn of(task: &'a T, report: &'a Report, origin: &'a Origin) -> Self {
        Head { task: Cow::Borrowed(task), report: Cow::Borrowed(report), origin: Cow::Borrowed(origin) }
    }
}

/// Values in a header by their names.
pub(super) mod by_name {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::error::Error;

    pub fn serialize<T: Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub fn deserialize<'de, T: FromStr<Err = Error>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// Metadata of a model file whose checksum has been verified.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileMetadata {
    /// The format version.
    pub format_version: u32,
    /// The method of the model: `power-mean`, `basis-expansion`, `expansion` or `thin-plate`.
    pub method: String,
}

impl FileMetadata {
    /// Reads the metadata of a model file.
    ///
    /// # Errors
    /// As for loading the model: [`Error::ModelFile`], [`Error::ModelVersion`] or [`Error::Io`].
    pub fn of(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Ok(Reader::of_any(path, &read(path)?)?.metadata)
    }

    /// Reads the metadata from the bytes of a model file.
    ///
    /// # Errors
    /// As for making the model from them: [`Error::ModelFile`] or [`Error::ModelVersion`].
    pub fn of_bytes(bytes: &[u8]) -> Result<Self> {
        Ok(Reader::of_any(Path::new(NO_FILE), bytes)?.metadata)
    }
}

/// Writes a file atomically, as [`OutputFile`] does.
///
/// # Errors
/// [`Error::Output`] for anything but a regular file, [`Error::Io`] naming the failed operation; an existing file is
/// unchanged.
pub fn write_atomically(path: &Path, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
    let wrong = |action| move |source| Error::Io { path: path.to_owned(), action, source };
    let mut file = OutputFile::create(path)?;
    let mut buffer = std::io::BufWriter::new(&mut file);
    write(&mut buffer).and_then(|()| buffer.flush()).map_err(wrong("cannot write"))?;
    drop(buffer);
    file.commit()
}

/// The name in messages of a model that is not in a file.
pub(super) const NO_FILE: &str = "<bytes>";

/// An array of a model: a tensor of its file.
#[derive(Clone, Debug, PartialEq)]
pub struct Array<'a> {
    /// Its name in the file.
    pub name: String,
    /// The size along each axis.
    pub shape: Vec<usize>,
    /// Its numbers, row-major.
    pub numbers: Numbers<'a>,
}

/// The numbers of an array, those of the model itself where it has them as they are in the file.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum Numbers<'a> {
    F32(Cow<'a, [f32]>),
    F64(Cow<'a, [f64]>),
    U8(Cow<'a, [u8]>),
    U32(Cow<'a, [u32]>),
    U64(Cow<'a, [u64]>),
}

/// An array of numbers that are borrowed, or made for the file.
pub(super) fn array<'a, T: Number>(name: &str, shape: Vec<usize>, numbers: impl Into<Cow<'a, [T]>>) -> Array<'a> {
    Array { name: name.to_owned(), shape, numbers: T::numbers(numbers.into()) }
}

impl Array<'_> {
    /// The first number that is none.
    fn non_finite(&self) -> Option<f64> {
        match &self.numbers {
            Numbers::F32(numbers) => numbers.iter().find(|x| !x.is_finite()).map(|&x| f64::from(x)),
            Numbers::F64(numbers) => numbers.iter().find(|x| !x.is_finite()).copied(),
            _ => None,
        }
    }
}

/// Evaluates an expression on the numbers, whatever their type.
macro_rules! each {
    ($any:expr, $numbers:ident => $body:expr) => {
        match $any {
            Numbers::F32($numbers) => $body,
            Numbers::F64($numbers) => $body,
            Numbers::U8($numbers) => $body,
            Numbers::U32($numbers) => $body,
            Numbers::U64($numbers) => $body,
        }
    };
}

impl View for &Array<'_> {
    fn dtype(&self) -> Dtype {
        fn of<T: Number>(_: &[T]) -> Dtype {
            T::DTYPE
        }
        each!(&self.numbers, numbers => of(numbers))
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        each!(&self.numbers, numbers => Number::to_bytes(numbers).into())
    }

    fn data_len(&self) -> usize {
        each!(&self.numbers, numbers => size_of_val::<[_]>(numbers))
    }
}

/// The header of a model as JSON, its checksum still open.
///
/// # Errors
/// [`Error::NotFinite`] for a report whose numbers overflowed; [`Error::Shape`] for names of other features.
pub(super) fn model_header<T: Clone + Serialize>(
    method: &str,
    layout: &impl Serialize,
    n_features: Option<usize>,
    head: Head<'_, T>,
) -> Result<String> {
    head.report.check_finite()?;
    head.origin.check(n_features)?;
    header(method, layout, head)
}

/// The header as JSON, its checksum still open.
pub(super) fn header(method: &str, layout: &impl Serialize, head: impl Serialize) -> Result<String> {
    let header = Written { format_version: FORMAT_VERSION, checksum: PLACEHOLDER, method, layout, head };
    serde_json::to_string(&header)
        .map_err(|error| Error::ModelFile { path: NO_FILE.into(), problem: error.to_string() })
}

/// Refuses numbers whose numbers overflowed in the fit.
///
/// # Errors
/// [`Error::NotFinite`] naming the array.
pub(super) fn check_finite(arrays: &[Array<'_>]) -> Result<()> {
    match arrays.iter().find_map(|array| Some((&array.name, array.non_finite()?))) {
        None => Ok(()),
        Some((name, value)) => Err(Error::NotFinite { what: format!("a number of the model's '{name}'"), value }),
    }
}

/// A header and the arrays as the bytes of a model file.
pub(super) fn to_bytes(header: String, arrays: &[Array<'_>]) -> Result<Vec<u8>> {
    check_finite(arrays)?;
    let views = arrays.iter().map(|array| (array.name.as_str(), array)).collect();
    sealed(header, views).map_err(|problem| Error::ModelFile { path: NO_FILE.into(), problem })
}

/// The bytes of a file with this header, whose checksum is the placeholder, and with these tensors.
fn sealed<V: View>(header: String, tensors: Vec<(&str, V)>) -> Result<Vec<u8>, String> {
    let metadata = HashMap::from([(KEY.to_owned(), header)]);
    let mut bytes = safetensors::serialize(tensors, Some(metadata)).map_err(|error| error.to_string())?;
    let at = position(&bytes, PLACEHOLDER).ok_or("its header has no room for a checksum")?;
    let sum = checksum(&[&bytes]);
    bytes[at..at + sum.len()].copy_from_slice(sum.as_bytes());
    Ok(bytes)
}

/// The checksum that a file should state: that of its bytes with the placeholder in place of the stated one.
fn expected_checksum(bytes: &[u8], stated: &str) -> Option<String> {
    if stated.len() != PLACEHOLDER.len() {
        return None;
    }
    let at = position(bytes, stated)?;
    Some(checksum(&[&bytes[..at], PLACEHOLDER.as_bytes(), &bytes[at + stated.len()..]]))
}

/// The position of the first occurrence of a text.
fn position(bytes: &[u8], text: &str) -> Option<usize> {
    bytes.windows(text.len()).position(|window| window == text.as_bytes())
}

/// Adds a tensor of application-specific bytes to a model file.
///
/// # Errors
/// [`Error::ModelFile`] for bytes that are not a model file, or already have such a tensor.
pub fn with_payload(bytes: &[u8], name: &str, payload: &[u8]) -> Result<Vec<u8>> {
    let reader = Reader::of_any(Path::new(NO_FILE), bytes)?;
    reader.require(reader.tensors.tensor(name).is_err(), format_args!("it has a tensor '{name}'"))?;
    let header = reader.header.replacen(&reader.checksum, PLACEHOLDER, 1);
    let mut tensors: Vec<(&str, TensorView<'_>)> = reader.tensors.iter().collect();
    let view = TensorView::new(Dtype::U8, vec![payload.len()], payload);
    tensors.push((name, view.map_err(|error| reader.wrong(error.to_string()))?));
    sealed(header, tensors).map_err(|problem| reader.wrong(problem))
}

/// The bytes added by [`with_payload`] under this name; `None` if there are none.
///
/// # Errors
/// [`Error::ModelFile`] for bytes that are not a model file; [`Error::ModelVersion`].
pub fn payload(bytes: &[u8], name: &str) -> Result<Option<Vec<u8>>> {
    let reader = Reader::of_any(Path::new(NO_FILE), bytes)?;
    let tensor = reader.tensors.tensor(name).ok().filter(|tensor| tensor.dtype() == Dtype::U8);
    Ok(tensor.map(|tensor| tensor.data().to_vec()))
}

/// Writes the bytes of a model to a file, atomically.
pub(super) fn save(path: &Path, bytes: &[u8]) -> Result<()> {
    write_atomically(path, |out| out.write_all(bytes))
}

/// Reads the bytes of a model file.
pub(super) fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|source| Error::Io { path: path.to_owned(), action: "cannot read", source })
}

/// A model file's bytes, their checksum, format and version already checked.
#[derive(Debug)]
pub struct Reader<'a> {
    /// Where they come from, for messages.
    path: &'a Path,
    tensors: SafeTensors<'a>,
    /// The header's JSON.
    pub(super) header: String,
    checksum: String,
    metadata: FileMetadata,
}

impl<'a> Reader<'a> {
    /// Opens the bytes of a model of `method` from `path`.
    pub fn new(path: &'a Path, bytes: &'a [u8], method: &str) -> Result<Self> {
        let reader = Reader::of_any(path, bytes)?;
        let found = &reader.metadata.method;
        reader.require(found == method, format_args!("it holds a model of '{found}', expected '{method}'"))?;
        Ok(reader)
    }

    /// Bytes from nowhere that should hold a model of `method`.
    pub fn of_bytes(bytes: &'a [u8], method: &str) -> Result<Self> {
        Reader::new(Path::new(NO_FILE), bytes, method)
    }

    /// Bytes that should hold a model of any method.
    pub fn of_any(path: &'a Path, bytes: &'a [u8]) -> Result<Self> {
        let wrong = |problem: String| Error::ModelFile { path: path.to_owned(), problem };
        let (_, metadata) = SafeTensors::read_metadata(bytes)
            .map_err(|error| wrong(format!("not a safetensors file, or damaged or cut short ({error})")))?;
        let header = metadata.metadata().as_ref().and_then(|m| m.get(KEY)).cloned();
        let header = header.ok_or_else(|| wrong("a safetensors file, but not of widemargin".into()))?;
        let preamble: Preamble =
            serde_json::from_str(&header).map_err(|error| wrong(format!("its header: {error}")))?;
        let Preamble { format_version, checksum, method } = preamble;
        if format_version > FORMAT_VERSION {
            // How its checksum is computed is unknown, too.
            let (found, known) = (format_version, FORMAT_VERSION);
            return Err(Error::ModelVersion { path: path.to_owned(), found, known });
        }
        let Some(checksum) = checksum else { return Err(wrong("damaged: it has no checksum".into())) };
        let found = expected_checksum(bytes, &checksum).unwrap_or_default();
        if found != checksum {
            return Err(wrong(format!("damaged: it states the checksum '{checksum}', its content has '{found}'")));
        }
        let tensors =
            SafeTensors::deserialize(bytes).map_err(|error| wrong(format!("damaged or cut short ({error})")))?;
        let metadata = FileMetadata { format_version, method };
        Ok(Reader { path, tensors, header, checksum, metadata })
    }

    /// The method of the model.
    pub fn method(&self) -> &str {
        &self.metadata.method
    }

    /// The header, parsed.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_str(&self.header).map_err(|error| self.wrong(format!("its header: {error}")))
    }

    /// The header besides the layout, whose names must be those of this number of features, if it is known.
    pub fn head<T: Clone + DeserializeOwned>(&self, n_features: Option<usize>) -> Result<Head<'static, T>> {
        let head: Head<'static, T> = self.parse()?;
        head.origin.check(n_features).map_err(|error| self.caused(&error))?;
        Ok(head)
    }

    /// The number of two-class problems of these classes, which must be possible.
    pub fn n_problems(&self, classes: &[Label], origin: &Origin) -> Result<usize> {
        match origin.problem(classes.len()) {
            Some(problem) => Err(self.wrong(problem)),
            None => Ok(origin.n_problems(classes.len())),
        }
    }

    /// An error about this file.
    pub fn wrong(&self, problem: String) -> Error {
        Error::ModelFile { path: self.path.to_owned(), problem }
    }

    /// Refuses the file unless this holds.
    pub fn require(&self, holds: bool, problem: impl ToString) -> Result<()> {
        if holds { Ok(()) } else { Err(self.wrong(problem.to_string())) }
    }

    /// An error about this file, which its content caused.
    pub fn caused(&self, error: &Error) -> Error {
        self.wrong(error.to_string())
    }

    /// The error for a file of an unknown method.
    pub fn unknown_method(&self) -> Error {
        self.wrong(format!("it holds a model of '{}', which this version does not know", self.metadata.method))
    }

    /// The size of a tensor along an axis; 0 where it has none.
    pub fn size(&self, name: &str, axis: usize) -> usize {
        self.tensors.tensor(name).ok().and_then(|tensor| tensor.shape().get(axis).copied()).unwrap_or(0)
    }

    /// The numbers of one tensor, which must have exactly this type and shape.
    pub(crate) fn tensor<T: Number>(&self, name: &str, shape: &[usize]) -> Result<Vec<T>> {
        let tensor = self.tensors.tensor(name).map_err(|_| self.wrong(format!("the tensor '{name}' is missing")))?;
        if tensor.dtype() != T::DTYPE || tensor.shape() != shape {
            return Err(self.wrong(format!(
                "the tensor '{name}' is {:?} {:?}, expected {:?} {shape:?}",
                tensor.dtype(),
                tensor.shape(),
                T::DTYPE,
            )));
        }
        let numbers: Vec<T> = tensor.data().chunks_exact(size_of::<T>()).map(T::from_bytes).collect();
        match numbers.iter().position(|number| !number.is_finite()) {
            None => Ok(numbers),
            Some(at) => Err(self.wrong(format!("the tensor '{name}' has a non-finite number at {at}"))),
        }
    }
}

/// A number a tensor may hold, little-endian.
pub(crate) trait Number: Copy + 'static {
    const DTYPE: Dtype;
    fn from_bytes(bytes: &[u8]) -> Self;
    fn is_finite(self) -> bool;
    fn to_bytes(numbers: &[Self]) -> Vec<u8>;
    fn numbers(numbers: Cow<'_, [Self]>) -> Numbers<'_>;
}

macro_rules! number {
    ($t:ty, $kind:ident, $is_finite:expr) => {
        impl Number for $t {
            const DTYPE: Dtype = Dtype::$kind;
            fn from_bytes(bytes: &[u8]) -> Self {
                // The caller splits the bytes into chunks of exactly this size.
                <$t>::from_le_bytes(bytes.try_into().unwrap_or_default())
            }
            fn is_finite(self) -> bool {
                let is_finite: fn($t) -> bool = $is_finite;
                is_finite(self)
            }
            fn to_bytes(numbers: &[Self]) -> Vec<u8> {
                numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
            }
            fn numbers(numbers: Cow<'_, [Self]>) -> Numbers<'_> {
                Numbers::$kind(numbers)
            }
        }
    };
}
number!(f32, F32, f32::is_finite);
number!(f64, F64, f64::is_finite);
number!(u8, U8, |_| true);
number!(u32, U32, |_| true);
number!(u64, U64, |_| true);

/// Writing a model to a file and reading it back, for one that has a `read` of a [`Reader`].
macro_rules! file_methods {
    ($method:expr) => {
        /// The bytes that `save` writes.
        ///
        /// # Errors
        /// [`Error::NotFinite`](crate::Error::NotFinite) for a model with non-finite numbers.
        pub fn to_bytes(&self) -> crate::error::Result<Vec<u8>> {
            crate::model::Model::to_bytes(self)
        }

        /// Writes the model to a file, atomically.
        ///
        /// # Errors
        /// [`Error::Io`](crate::Error::Io) with the failed operation; as for `to_bytes`.
        pub fn save(&self, path: impl AsRef<std::path::Path>) -> crate::error::Result<()> {
            crate::model::file::save(path.as_ref(), &self.to_bytes()?)
        }

        /// Reads a model that `save` wrote.
        ///
        /// # Errors [`Error::ModelFile`](crate::Error::ModelFile) for a file that is truncated, damaged or of another
        /// method, or whose similarity is code of the training program;
        /// [`Error::ModelVersion`](crate::Error::ModelVersion) for a newer format; [`Error::Io`](crate::Error::Io) if
        /// it cannot be read.
        pub fn load(path: impl AsRef<std::path::Path>) -> crate::error::Result<Self> {
            let path = path.as_ref();
            Self::read(&crate::model::file::Reader::new(path, &crate::model::file::read(path)?, $method)?)
        }

        /// A model from the result of `to_bytes`.
        ///
        /// # Errors
        /// As for `load`, with `<bytes>` for the path.
        pub fn from_bytes(bytes: &[u8]) -> crate::error::Result<Self> {
            Self::read(&crate::model::file::Reader::of_bytes(bytes, $method)?)
        }
    };
}
pub(super) use file_methods;
