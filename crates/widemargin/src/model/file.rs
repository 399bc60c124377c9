//! The model file: a safetensors file whose metadata has one entry, `widemargin`, a JSON object with the format
//! version, a checksum, the method and its parameters; the arrays are the tensors. See `docs/model-file.md`.
//!
//! Files are untrusted: the checksum is verified first, and every size is checked against the file's length before
//! memory is allocated.

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::checksum::{PLACEHOLDER, checksum};
use crate::error::{Error, Result};
use crate::output::OutputFile;

/// The newest supported version of the format, which is also the one written.
pub const FORMAT_VERSION: u32 = 2;

/// The first version of the format with a checksum.
const CHECKSUMS_SINCE: u32 = 2;

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
struct Written<'a, H> {
    format_version: u32,
    checksum: &'a str,
    #[serde(flatten)]
    header: &'a H,
}

/// Facts about a model file whose checksum has been verified.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileFacts {
    /// The format version; files have a checksum since version 2.
    pub format_version: u32,
    /// The method of the model: `power-mean`, `basis-expansion`, `expansion` or `thin-plate`.
    pub method: String,
}

impl FileFacts {
    /// Reads the facts of a model file.
    ///
    /// # Errors
    /// As for loading the model: [`Error::ModelFile`], [`Error::ModelVersion`] or [`Error::Io`].
    pub fn of(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Ok(Reader::of_any(path, &read(path)?)?.facts)
    }

    /// Reads the facts from the bytes of a model file.
    ///
    /// # Errors
    /// As for making the model from them: [`Error::ModelFile`] or [`Error::ModelVersion`].
    pub fn of_bytes(bytes: &[u8]) -> Result<Self> {
        Ok(Reader::of_any(Path::new(NO_FILE), bytes)?.facts)
    }

    /// A warning for users who load the model, if there is one: that damage would go undetected.
    pub fn remark(&self) -> Option<String> {
        let version = self.format_version;
        (version < CHECKSUMS_SINCE).then(|| {
            format!(
                "a model file of format {version} carries no checksum, so that damage to it may go unnoticed: save the \
                 model again to give it one"
            )
        })
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

/// A tensor to be written: name, type, shape, bytes.
pub(super) type Tensor = (String, Dtype, Vec<usize>, Vec<u8>);

/// A tensor of numbers.
pub(super) fn tensor<T: Number>(name: &str, shape: Vec<usize>, numbers: &[T]) -> Tensor {
    (name.to_owned(), T::DTYPE, shape, T::to_bytes(numbers))
}

/// Serialises a header and its tensors to the bytes of a model file.
pub(super) fn to_bytes(header: &impl Serialize, tensors: &[Tensor]) -> Result<Vec<u8>> {
    let invalid = |problem: String| Error::ModelFile { path: NO_FILE.into(), problem };
    if let Some((name, value)) = tensors.iter().find_map(|tensor| Some((&tensor.0, non_finite(tensor)?))) {
        return Err(Error::NotFinite { what: format!("a number of the model's '{name}'"), value });
    }
    let header = Written { format_version: FORMAT_VERSION, checksum: PLACEHOLDER, header };
    let header = serde_json::to_string(&header).map_err(|error| invalid(error.to_string()))?;
    let mut views = Vec::with_capacity(tensors.len());
    for (name, dtype, shape, bytes) in tensors {
        let view = TensorView::new(*dtype, shape.clone(), bytes).map_err(|error| invalid(error.to_string()))?;
        views.push((name.as_str(), view));
    }
    sealed(header, views).map_err(invalid)
}

/// The first non-finite number of a tensor.
fn non_finite((_, dtype, _, bytes): &Tensor) -> Option<f64> {
    match dtype {
        Dtype::F32 => {
            bytes.as_chunks().0.iter().map(|word| f32::from_le_bytes(*word)).find(|x| !x.is_finite()).map(f64::from)
        }
        Dtype::F64 => bytes.as_chunks().0.iter().map(|word| f64::from_le_bytes(*word)).find(|x| !x.is_finite()),
        _ => None,
    }
}

/// Serialises a header, whose checksum is the placeholder, and its tensors.
fn sealed(header: String, tensors: Vec<(&str, TensorView<'_>)>) -> Result<Vec<u8>, String> {
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
/// [`Error::ModelFile`] for bytes that are not a model file of the newest format, or already have such a tensor.
pub fn with_payload(bytes: &[u8], name: &str, payload: &[u8]) -> Result<Vec<u8>> {
    let reader = Reader::of_any(Path::new(NO_FILE), bytes)?;
    let Some(sum) = &reader.checksum else {
        return Err(reader.wrong(format!("nothing can be added to a file of format {}", reader.facts.format_version)));
    };
    if reader.tensors.tensor(name).is_ok() {
        return Err(reader.wrong(format!("it has a tensor '{name}'")));
    }
    let header = reader.header.replacen(sum.as_str(), PLACEHOLDER, 1);
    let mut tensors: Vec<(&str, TensorView<'_>)> = reader.tensors.iter().collect();
    let view = TensorView::new(Dtype::U8, vec![payload.len()], payload);
    tensors.push((name, view.map_err(|error| reader.wrong(error.to_string()))?));
    sealed(header, tensors).map_err(|problem| reader.wrong(problem))
}

/// The bytes added by [`with_payload`] under this name.
///
/// # Errors
/// [`Error::ModelFile`] if there are none; [`Error::ModelVersion`].
pub fn payload(bytes: &[u8], name: &str) -> Result<Vec<u8>> {
    let reader = Reader::of_any(Path::new(NO_FILE), bytes)?;
    let tensor = reader.tensors.tensor(name).ok().filter(|tensor| tensor.dtype() == Dtype::U8);
    tensor.map(|tensor| tensor.data().to_vec()).ok_or_else(|| reader.wrong(format!("the tensor '{name}' is missing")))
}

/// Writes the bytes of a model to a file, atomically.
pub(super) fn save(path: &Path, bytes: &[u8]) -> Result<()> {
    write_atomically(path, |out| out.write_all(bytes))
}

/// Reads the bytes of a model file.
pub(super) fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|source| Error::Io { path: path.to_owned(), action: "cannot read", source })
}

/// The method of the model in a file, from its header.
///
/// # Errors
/// As for loading the model: [`Error::ModelFile`], [`Error::ModelVersion`] or [`Error::Io`].
pub fn method_of(path: impl AsRef<Path>) -> Result<String> {
    Ok(FileFacts::of(path)?.method)
}

/// The method of the model in the bytes of a model file, from its header.
///
/// # Errors
/// As for making the model from them: [`Error::ModelFile`] or [`Error::ModelVersion`].
pub fn method_of_bytes(bytes: &[u8]) -> Result<String> {
    Ok(FileFacts::of_bytes(bytes)?.method)
}

/// The bytes of a model file whose checksum and format version have been verified.
pub(super) struct Reader<'a> {
    /// Their origin, for messages.
    path: &'a Path,
    tensors: SafeTensors<'a>,
    header: String,
    checksum: Option<String>,
    facts: FileFacts,
}

impl<'a> Reader<'a> {
    /// Opens the bytes of a model of `method` from `path`.
    pub fn new(path: &'a Path, bytes: &'a [u8], method: &str) -> Result<Self> {
        let reader = Reader::of_any(path, bytes)?;
        if reader.facts.method != method {
            return Err(reader.wrong(format!("it holds a model of '{}', expected '{method}'", reader.facts.method)));
        }
        Ok(reader)
    }

    /// Opens the bytes of a model of any method.
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
        match &checksum {
            Some(stated) => {
                let found = expected_checksum(bytes, stated).unwrap_or_default();
                if found != *stated {
                    return Err(wrong(format!(
                        "damaged: it states the checksum '{stated}', its content has '{found}'"
                    )));
                }
            }
            None if format_version >= CHECKSUMS_SINCE => {
                return Err(wrong(format!("damaged: it is of format {format_version} and has no checksum")));
            }
            None => {}
        }
        let tensors =
            SafeTensors::deserialize(bytes).map_err(|error| wrong(format!("damaged or cut short ({error})")))?;
        let facts = FileFacts { format_version, method };
        Ok(Reader { path, tensors, header, checksum, facts })
    }

    /// The method of the model.
    pub fn method(&self) -> &str {
        &self.facts.method
    }

    /// The header's JSON.
    pub fn into_header(self) -> String {
        self.header
    }

    /// The header, parsed.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_str(&self.header).map_err(|error| self.wrong(format!("its header: {error}")))
    }

    /// An error about this file.
    pub fn wrong(&self, problem: String) -> Error {
        Error::ModelFile { path: self.path.to_owned(), problem }
    }

    /// The numbers of one tensor, which must have exactly this type and shape.
    pub fn tensor<T: Number>(&self, name: &str, shape: &[usize]) -> Result<Vec<T>> {
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

/// An element type of tensors, little-endian.
pub(super) trait Number: Copy {
    const DTYPE: Dtype;
    fn from_bytes(bytes: &[u8]) -> Self;
    fn is_finite(self) -> bool;
    fn to_bytes(numbers: &[Self]) -> Vec<u8>;
}

macro_rules! number {
    ($t:ty, $dtype:expr, $is_finite:expr) => {
        impl Number for $t {
            const DTYPE: Dtype = $dtype;
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
        }
    };
}
number!(f32, Dtype::F32, f32::is_finite);
number!(f64, Dtype::F64, f64::is_finite);
number!(u8, Dtype::U8, |_| true);
number!(u32, Dtype::U32, |_| true);
number!(u64, Dtype::U64, |_| true);
