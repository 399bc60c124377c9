//! The model file: a safetensors file whose metadata has one entry, `widemargin`, a JSON object with the
//! format version, the method and its parameters; the arrays are the tensors. `docs/model-file.md` describes it.
//!
//! A file comes from anywhere: every size is checked against the file's own length before memory is taken.

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};

/// The newest version of the format that this library writes and reads.
pub const FORMAT_VERSION: u32 = 1;

/// The metadata's only key.
const KEY: &str = "widemargin";

#[derive(serde::Deserialize)]
struct Preamble {
    format_version: u32,
    method: String,
}

/// Writes a file whole or not at all: into a temporary file beside it, which then takes its name.
///
/// # Errors
/// [`Error::Io`] saying what could not be done; the old file, if there was one, is as it was.
pub fn write_atomically(path: &Path, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
    let wrong = |action| move |source| Error::Io { path: path.to_owned(), action, source };
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // What any new file gets (less the user's mask), not the private mode of a temporary one.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder).map_err(wrong("cannot create a file in that folder"))?;
    let mut buffer = std::io::BufWriter::new(file.as_file_mut());
    write(&mut buffer).and_then(|()| buffer.flush()).map_err(wrong("cannot write"))?;
    drop(buffer);
    file.as_file().sync_all().map_err(wrong("cannot write"))?;
    file.persist(path).map_err(|error| wrong("cannot put the new file in place")(error.error))?;
    Ok(())
}

/// What messages call a model that is in no file.
pub(super) const NO_FILE: &str = "<bytes>";

/// A tensor to be written: name, type, shape, bytes.
pub(super) type Tensor = (String, Dtype, Vec<usize>, Vec<u8>);

/// A tensor of numbers.
pub(super) fn tensor<T: Number>(name: &str, shape: Vec<usize>, numbers: &[T]) -> Tensor {
    (name.to_owned(), T::DTYPE, shape, T::to_bytes(numbers))
}

/// A header and its tensors as the bytes of a model file.
pub(super) fn to_bytes(header: &impl Serialize, tensors: &[Tensor]) -> Result<Vec<u8>> {
    let invalid = |problem: String| Error::ModelFile { path: NO_FILE.into(), problem };
    let header = serde_json::to_string(header).map_err(|error| invalid(error.to_string()))?;
    let metadata = HashMap::from([(KEY.to_owned(), header)]);
    let mut views = Vec::with_capacity(tensors.len());
    for (name, dtype, shape, bytes) in tensors {
        let view = TensorView::new(*dtype, shape.clone(), bytes).map_err(|error| invalid(error.to_string()))?;
        views.push((name, view));
    }
    safetensors::serialize(views, Some(metadata)).map_err(|error| invalid(error.to_string()))
}

/// Writes the bytes of a model to a file, whole or not at all.
pub(super) fn save(path: &Path, bytes: &[u8]) -> Result<()> {
    write_atomically(path, |out| out.write_all(bytes))
}

/// The bytes of a model file.
pub(super) fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|source| Error::Io { path: path.to_owned(), action: "cannot read", source })
}

/// The method of the model in a file, as its header names it.
///
/// # Errors
/// [`Error::ModelFile`], [`Error::ModelVersion`] or [`Error::Io`], as for loading the model.
pub fn method_of(path: impl AsRef<Path>) -> Result<String> {
    let path = path.as_ref();
    Ok(Reader::of_any(path, &read(path)?)?.parse::<Preamble>()?.method)
}

/// The method of the model in the bytes of a model file, as its header names it.
///
/// # Errors
/// [`Error::ModelFile`] or [`Error::ModelVersion`], as for making the model from them.
pub fn method_of_bytes(bytes: &[u8]) -> Result<String> {
    Ok(Reader::of_any(Path::new(NO_FILE), bytes)?.parse::<Preamble>()?.method)
}

/// A model file's bytes, its format and version already checked.
pub(super) struct Reader<'a> {
    /// Where they come from, for messages.
    path: &'a Path,
    bytes: &'a [u8],
    header: String,
}

impl<'a> Reader<'a> {
    /// Bytes that should hold a model of `method`; they come from `path`.
    pub fn new(path: &'a Path, bytes: &'a [u8], method: &str) -> Result<Self> {
        let reader = Reader::of_any(path, bytes)?;
        let preamble: Preamble = reader.parse()?;
        if preamble.method != method {
            return Err(reader.wrong(format!("it holds a model of '{}', expected '{method}'", preamble.method)));
        }
        Ok(reader)
    }

    /// Bytes that should hold a model of any method.
    fn of_any(path: &'a Path, bytes: &'a [u8]) -> Result<Self> {
        let mut reader = Reader { path, bytes, header: String::new() };
        let (_, metadata) = SafeTensors::read_metadata(bytes)
            .map_err(|error| reader.wrong(format!("not a safetensors file, or cut short ({error})")))?;
        let header = metadata.metadata().as_ref().and_then(|m| m.get(KEY)).cloned();
        reader.header = header.ok_or_else(|| reader.wrong("a safetensors file, but not of widemargin".into()))?;
        let preamble: Preamble = reader.parse()?;
        if preamble.format_version > FORMAT_VERSION {
            let (found, known) = (preamble.format_version, FORMAT_VERSION);
            return Err(Error::ModelVersion { path: path.to_owned(), found, known });
        }
        Ok(reader)
    }

    /// The header as a type.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_str(&self.header).map_err(|error| self.wrong(format!("its header: {error}")))
    }

    /// An error about this file.
    pub fn wrong(&self, problem: String) -> Error {
        Error::ModelFile { path: self.path.to_owned(), problem }
    }

    /// The numbers of one tensor, which must have exactly this type and shape.
    pub fn tensor<T: Number>(&self, name: &str, shape: &[usize]) -> Result<Vec<T>> {
        let tensors = SafeTensors::deserialize(self.bytes)
            .map_err(|error| self.wrong(format!("damaged or cut short ({error})")))?;
        let tensor = tensors.tensor(name).map_err(|_| self.wrong(format!("the tensor '{name}' is missing")))?;
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
                // The caller cuts pieces of exactly this size.
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
