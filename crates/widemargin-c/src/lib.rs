//! The C interface: a model that was saved by any front of Widemargin is loaded, and predicts. The header is
//! `include/widemargin.h`, and `examples/c/predict.c` uses all of it.
//!
//! No panic crosses into C: every function catches it and returns a failure. Panics are bugs; what can be wrong is an
//! error with a message. Training is left to Rust, Python and the command line.

mod guard;

use std::ffi::{CStr, CString, c_char, c_int};
use std::slice;

use widemargin::data::{AnySamples, DenseView, SamplesView};
use widemargin::model::Classifier;
use widemargin::monitor::Monitor;

use guard::{guarded, last_error, pointer, status};

/// A loaded model.
#[derive(Debug)]
pub struct Model {
    classifier: Box<dyn Classifier>,
    class_names: Vec<CString>,
}

impl Model {
    fn n_decision_values(&self) -> usize {
        if self.class_names.len() == 2 { 1 } else { self.class_names.len() }
    }

    /// The index of the predicted class of each sample.
    fn predict(&self, samples: &SamplesView<'_>) -> Result<Vec<usize>, String> {
        let predicted = self.classifier.predict(samples, 1, &Monitor::none()).map_err(said)?;
        let classes = self.classifier.classes();
        Ok(predicted.into_iter().map(|class| classes.binary_search(class).unwrap_or(0)).collect())
    }

    fn decision_function(&self, samples: &SamplesView<'_>) -> Result<Vec<f64>, String> {
        self.classifier.decision_values(samples, 1, &Monitor::none()).map_err(said)
    }

    fn predict_proba(&self, samples: &SamplesView<'_>) -> Result<Vec<f64>, String> {
        Ok(self.classifier.predict_proba(samples, 1, &Monitor::none()).map_err(said)?.values)
    }
}

fn said(error: widemargin::Error) -> String {
    error.to_string()
}

/// What went wrong in the last call that failed on this thread, in UTF-8; an empty text if none did. It is valid until
/// the next failure on this thread.
// SAFETY: no other function of a program has this name, nor those below.
#[unsafe(no_mangle)]
pub extern "C" fn widemargin_error() -> *const c_char {
    last_error()
}

/// The version of the library.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn widemargin_version() -> *const c_char {
    const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    };
    VERSION.as_ptr()
}

/// Loads a model from a file; the path is UTF-8. It must be freed with widemargin_free.
///
/// # Safety
/// `path` is a text that ends with a 0.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn widemargin_load(path: *const c_char) -> *mut Model {
    let loaded = guarded(|| {
        // SAFETY: guaranteed by the caller.
        let path = unsafe { text(path, "path") }?;
        let classifier = widemargin::model::load(path).map_err(said)?;
        let names = classifier.classes().iter().map(|class| CString::new(class.to_string()));
        let class_names =
            names.collect::<Result<_, _>>().map_err(|_| "a class has a name with a 0 in it".to_owned())?;
        Ok(Box::into_raw(Box::new(Model { classifier, class_names })))
    });
    loaded.unwrap_or(std::ptr::null_mut())
}

/// Frees a model; NULL is allowed.
///
/// # Safety
/// `model` is NULL, or of widemargin_load and not yet freed.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn widemargin_free(model: *mut Model) {
    let freed = guarded(|| {
        if !model.is_null() {
            // SAFETY: guaranteed by the caller: it is a box that was let go by `widemargin_load`.
            drop(unsafe { Box::from_raw(model) });
        }
        Ok(())
    });
    // What a failure to free leaves is the memory.
    let _ = freed;
}

/// The number of classes; 0 on failure.
///
/// # Safety
/// `model` is NULL or a model.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn widemargin_n_classes(model: *const Model) -> usize {
    // SAFETY: guaranteed by the caller.
    guarded(|| Ok(unsafe { of(model) }?.class_names.len())).unwrap_or(0)
}

/// The number of features of the vectors that the model takes; 0 for a model of other samples, and on failure.
///
/// # Safety
/// `model` is NULL or a model.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn widemargin_n_features(model: *const Model) -> usize {
    // SAFETY: guaranteed by the caller.
    guarded(|| Ok(unsafe { of(model) }?.classifier.n_features().unwrap_or(0))).unwrap_or(0)
}

/// The number of decision values of a sample: 1 for two classes (above 0 votes for the second), else one a class; 0 on
/// failure.
///
/// # Safety
/// `model` is NULL or a model.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn widemargin_n_decision_values(model: *const Model) -> usize {
    // SAFETY: guaranteed by the caller.
    guarded(|| Ok(unsafe { of(model) }?.n_decision_values())).unwrap_or(0)
}

/// The name of a class, from 0, in UTF-8; valid until the model is freed.
///
/// # Safety
/// `model` is NULL or a model.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn widemargin_class_name(model: *const Model, at: usize) -> *const c_char {
    pointer(|| {
        // SAFETY: guaranteed by the caller.
        let names = &unsafe { of(model) }?.class_names;
        let name = names.get(at).ok_or_else(|| format!("class {at}: the model has {} classes, from 0", names.len()))?;
        Ok(name.as_ptr())
    })
}

/// The predicted class of each of n_rows vectors, row-major, as its index into `classes`.
///
/// # Safety
/// `model` is NULL or a model; `values` holds n_rows × n_columns numbers, and n_rows may be written to `classes`.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn widemargin_predict(
    model: *const Model,
    values: *const f64,
    n_rows: usize,
    n_columns: usize,
    classes: *mut usize,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    status(|| unsafe { write(vectors(model, values, n_rows, n_columns, Model::predict)?, n_rows, classes) })
}

/// The decision values of each of n_rows vectors: n_rows × widemargin_n_decision_values, row-major.
///
/// # Safety
/// `model` is NULL or a model; `values` holds n_rows × n_columns numbers, and n_rows × widemargin_n_decision_values may be
/// written to `decision_values`.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn widemargin_decision_function(
    model: *const Model,
    values: *const f64,
    n_rows: usize,
    n_columns: usize,
    decision_values: *mut f64,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    status(|| unsafe {
        let found = vectors(model, values, n_rows, n_columns, Model::decision_function)?;
        write(found, n_rows * of(model)?.n_decision_values(), decision_values)
    })
}

/// The probability of each class of each of n_rows vectors: n_rows × widemargin_n_classes, row-major.
///
/// # Safety
/// `model` is NULL or a model; `values` holds n_rows × n_columns numbers, and n_rows × widemargin_n_classes may be written
/// to `probabilities`.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn widemargin_predict_proba(
    model: *const Model,
    values: *const f64,
    n_rows: usize,
    n_columns: usize,
    probabilities: *mut f64,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    status(|| unsafe {
        let found = vectors(model, values, n_rows, n_columns, Model::predict_proba)?;
        write(found, n_rows * of(model)?.class_names.len(), probabilities)
    })
}

/// As widemargin_predict, for n texts in UTF-8.
///
/// # Safety
/// `model` is NULL or a model; `texts` holds n texts that end with a 0, and n numbers may be written to `classes`.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn widemargin_predict_strings(
    model: *const Model,
    texts: *const *const c_char,
    n: usize,
    classes: *mut usize,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    status(|| unsafe { write(strings(model, texts, n, Model::predict)?, n, classes) })
}

/// As widemargin_decision_function, for n texts in UTF-8.
///
/// # Safety
/// `model` is NULL or a model; `texts` holds n texts that end with a 0, and n × widemargin_n_decision_values numbers may be
/// written to `decision_values`.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn widemargin_decision_function_strings(
    model: *const Model,
    texts: *const *const c_char,
    n: usize,
    decision_values: *mut f64,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    status(|| unsafe {
        let found = strings(model, texts, n, Model::decision_function)?;
        write(found, n * of(model)?.n_decision_values(), decision_values)
    })
}

/// As widemargin_predict_proba, for n texts in UTF-8.
///
/// # Safety
/// `model` is NULL or a model; `texts` holds n texts that end with a 0, and n × widemargin_n_classes numbers may be written
/// to `probabilities`.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn widemargin_predict_proba_strings(
    model: *const Model,
    texts: *const *const c_char,
    n: usize,
    probabilities: *mut f64,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    status(|| unsafe {
        let found = strings(model, texts, n, Model::predict_proba)?;
        write(found, n * of(model)?.class_names.len(), probabilities)
    })
}

/// What a model says of vectors.
///
/// # Safety
/// As for `widemargin_predict`.
unsafe fn vectors<T>(
    model: *const Model,
    values: *const f64,
    n_rows: usize,
    n_columns: usize,
    ask: fn(&Model, &SamplesView<'_>) -> Result<Vec<T>, String>,
) -> Result<Vec<T>, String> {
    // SAFETY: guaranteed by the caller.
    let model = unsafe { of(model) }?;
    let length = n_rows.checked_mul(n_columns).ok_or("n_rows × n_columns is beyond the range of sizes")?;
    // SAFETY: guaranteed by the caller.
    let values = unsafe { array(values, length, "values") }?;
    let rows = DenseView::new(values, n_rows, n_columns).map_err(said)?;
    ask(model, &SamplesView::Rows(rows.into()))
}

/// What a model says of texts.
///
/// # Safety
/// As for `widemargin_predict_strings`.
unsafe fn strings<T>(
    model: *const Model,
    texts: *const *const c_char,
    n: usize,
    ask: fn(&Model, &SamplesView<'_>) -> Result<Vec<T>, String>,
) -> Result<Vec<T>, String> {
    // SAFETY: guaranteed by the caller.
    let (model, texts) = unsafe { (of(model)?, array(texts, n, "texts")?) };
    // SAFETY: guaranteed by the caller, of each.
    let read = |(at, one): (usize, &*const c_char)| unsafe { text(*one, &format!("texts[{at}]")) }.map(str::to_owned);
    let texts = texts.iter().enumerate().map(read).collect::<Result<_, _>>()?;
    ask(model, &SamplesView::Other(&AnySamples::Strings(texts)))
}

/// The model behind a pointer.
///
/// # Safety
/// `model` is NULL, or of `widemargin_load` and not freed during `'a`.
unsafe fn of<'a>(model: *const Model) -> Result<&'a Model, String> {
    // SAFETY: guaranteed by the caller; a model never changes, so that shared references are sound.
    unsafe { model.as_ref() }.ok_or_else(|| "the model is NULL: was it loaded?".into())
}

/// The text behind a pointer.
///
/// # Safety
/// `pointer` is NULL, or a text that ends with a 0 and does not change during `'a`.
unsafe fn text<'a>(pointer: *const c_char, name: &str) -> Result<&'a str, String> {
    if pointer.is_null() {
        return Err(format!("{name} is NULL: a text is expected"));
    }
    // SAFETY: not NULL, and the rest is guaranteed by the caller.
    unsafe { CStr::from_ptr(pointer) }.to_str().map_err(|_| format!("{name} is not UTF-8"))
}

/// The array behind a pointer.
///
/// # Safety
/// `pointer` is NULL or holds `length` values that do not change during `'a`.
unsafe fn array<'a, T>(pointer: *const T, length: usize, name: &str) -> Result<&'a [T], String> {
    if length == 0 {
        return Ok(&[]);
    }
    if pointer.is_null() || !pointer.is_aligned() {
        return Err(format!("{name} is NULL or misaligned: an array is expected"));
    }
    if length.checked_mul(size_of::<T>()).is_none_or(|bytes| bytes > isize::MAX as usize) {
        return Err(format!("{name} has {length} values: more than memory can hold"));
    }
    // SAFETY: not NULL, aligned and within the address space; the rest is guaranteed by the caller.
    Ok(unsafe { slice::from_raw_parts(pointer, length) })
}

/// Writes an answer of a length that the caller was promised.
///
/// # Safety
/// `length` values may be written to `to` if it is not NULL.
unsafe fn write<T: Copy>(answer: Vec<T>, length: usize, to: *mut T) -> Result<(), String> {
    if answer.len() != length {
        return Err(format!("{} values were found where {length} are expected", answer.len()));
    }
    if length > 0 && (to.is_null() || !to.is_aligned()) {
        return Err("the array for the answer is NULL or misaligned".into());
    }
    // SAFETY: the caller guarantees the room, and a vector of this call overlaps nothing of the caller's.
    unsafe { std::ptr::copy_nonoverlapping(answer.as_ptr(), to, length) };
    Ok(())
}
