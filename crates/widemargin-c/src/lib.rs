//! The C interface: loads a model that was saved by any front of Widemargin, and predicts. The header is
//! `include/widemargin.h`, and `examples/c/predict.c` uses most of it.
//!
//! No panic crosses into C: every function catches it and returns a failure. Training is left to Rust, Python and the
//! command line.

mod guard;

use std::ffi::{CStr, CString, c_char, c_int};
use std::{ptr, slice};

use widemargin::data::{AnySamples, DenseView, SamplesView};
use widemargin::model::{AnyModel, Classifier};
use widemargin::monitor::Monitor;

use guard::{guarded, last_error, status};

/// A loaded model: a classifier, a regression model or an outlier detector. An outlier detector has the two classes -1
/// (outliers) and 1 (inliers), and no probabilities.
#[derive(Debug)]
pub struct Model {
    model: AnyModel,
    class_names: Vec<CString>,
    feature_names: Vec<CString>,
}

impl Model {
    fn load(path: &str) -> Result<Model, String> {
        let model = AnyModel::load(path).map_err(message)?;
        let classes: Vec<String> = match &model {
            AnyModel::Classifier(model) => model.classes().iter().map(ToString::to_string).collect(),
            AnyModel::Regressor(_) => Vec::new(),
            AnyModel::OneClass(_) => vec!["-1".into(), "1".into()],
        };
        let features = model.feature_names().unwrap_or_default();
        let (class_names, feature_names) = (names(&classes, "class")?, names(features, "feature")?);
        Ok(Model { model, class_names, feature_names })
    }

    fn n_features(&self) -> usize {
        self.model.n_features().unwrap_or(0)
    }

    fn n_targets(&self) -> usize {
        if let AnyModel::Regressor(model) = &self.model { model.n_outputs() } else { 0 }
    }

    fn n_decision_values(&self) -> usize {
        match &self.model {
            AnyModel::Classifier(model) => model.n_problems(),
            AnyModel::Regressor(_) => 0,
            AnyModel::OneClass(_) => 1,
        }
    }

    /// The classifier, for a function of classifiers alone.
    fn classifier(&self, function: &str) -> Result<&dyn Classifier, String> {
        match &self.model {
            AnyModel::Classifier(model) => Ok(&**model),
            AnyModel::Regressor(_) => Err(format!("{function}: {REGRESSION}")),
            AnyModel::OneClass(_) => Err(format!("{function}: the model is an outlier detector, not a classifier")),
        }
    }

    /// The index of the predicted class of each sample.
    fn predict(&self, samples: &SamplesView<'_>) -> Result<Vec<usize>, String> {
        if let AnyModel::OneClass(model) = &self.model {
            let signs = model.predict(samples, 1, &Monitor::none()).map_err(message)?;
            return Ok(signs.into_iter().map(|sign| usize::from(sign > 0)).collect());
        }
        let classifier = self.classifier("predict")?;
        let predicted = classifier.predict(samples, 1, &Monitor::none()).map_err(message)?;
        let classes = classifier.classes();
        Ok(predicted.into_iter().map(|class| classes.binary_search(class).unwrap_or(0)).collect())
    }

    fn predict_targets(&self, samples: &SamplesView<'_>) -> Result<Vec<f64>, String> {
        let AnyModel::Regressor(model) = &self.model else {
            return Err("predict_targets: the model is not a regression model; call widemargin_predict".into());
        };
        Ok(model.predict(samples, 1, &Monitor::none()).map_err(message)?.values)
    }

    fn decision_function(&self, samples: &SamplesView<'_>) -> Result<Vec<f64>, String> {
        if let AnyModel::OneClass(model) = &self.model {
            return model.decision_function(samples, 1, &Monitor::none()).map_err(message);
        }
        self.classifier("decision_function")?.decision_values(samples, 1, &Monitor::none()).map_err(message)
    }

    fn predict_proba(&self, samples: &SamplesView<'_>) -> Result<Vec<f64>, String> {
        let classifier = self.classifier("predict_proba")?;
        Ok(classifier.predict_proba(samples, 1, &Monitor::none()).map_err(message)?.values)
    }
}

const REGRESSION: &str = "the model is a regression model; call widemargin_predict_targets";

fn names(texts: &[String], what: &str) -> Result<Vec<CString>, String> {
    let names = texts.iter().map(|text| CString::new(text.as_str()));
    names.collect::<Result<_, _>>().map_err(|_| format!("the name of a {what} contains a 0 byte"))
}

fn message(error: widemargin::Error) -> String {
    error.to_string()
}

/// The message of the last call that failed on this thread, in UTF-8; an empty text if none failed. Every thread has its
/// own. The pointer is valid until the thread calls another function of this library, or ends: copy the text to keep it.
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

/// Loads a model of any method from a file; the path is UTF-8. Free it with widemargin_free.
///
/// # Safety
/// `path` is a text that ends with a 0.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn widemargin_load(path: *const c_char) -> *mut Model {
    let loaded = guarded(|| {
        // SAFETY: guaranteed by the caller.
        let path = unsafe { text(path, "path") }?;
        Ok(Box::into_raw(Box::new(Model::load(path)?)))
    });
    loaded.unwrap_or(ptr::null_mut())
}

/// Frees a model; NULL is allowed.
///
/// # Safety
/// `model` is NULL, or was returned by widemargin_load and is not freed yet.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn widemargin_free(model: *mut Model) {
    let freed = guarded(|| {
        if !model.is_null() {
            // SAFETY: guaranteed by the caller: it is a box of `widemargin_load`.
            drop(unsafe { Box::from_raw(model) });
        }
        Ok(())
    });
    // After a failure the memory is leaked.
    let _ = freed;
}

/// The number of classes; 0 for a regression model, and on failure.
///
/// # Safety
/// `model` is NULL or a model.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn widemargin_n_classes(model: *const Model) -> usize {
    // SAFETY: guaranteed by the caller.
    guarded(|| Ok(unsafe { of(model) }?.class_names.len())).unwrap_or(0)
}

/// The number of targets of a regression model; 0 for other models, and on failure.
///
/// # Safety
/// `model` is NULL or a model.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn widemargin_n_targets(model: *const Model) -> usize {
    // SAFETY: guaranteed by the caller.
    guarded(|| Ok(unsafe { of(model) }?.n_targets())).unwrap_or(0)
}

/// The number of features of a model of vectors; 0 for a model of other samples, and on failure.
///
/// # Safety
/// `model` is NULL or a model.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn widemargin_n_features(model: *const Model) -> usize {
    // SAFETY: guaranteed by the caller.
    guarded(|| Ok(unsafe { of(model) }?.n_features())).unwrap_or(0)
}

/// The name of a feature, from 0, in UTF-8; valid until the model is freed. NULL if the features have no names, and on
/// failure.
///
/// # Safety
/// `model` is NULL or a model.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn widemargin_feature_name(model: *const Model, index: usize) -> *const c_char {
    let name = guarded(|| {
        // SAFETY: guaranteed by the caller.
        let names = &unsafe { of(model) }?.feature_names;
        match names.get(index) {
            Some(name) => Ok(name.as_ptr()),
            None if names.is_empty() => Err("the features of the model have no names".into()),
            None => Err(format!("feature {index}: the model has {} features, from 0", names.len())),
        }
    });
    name.unwrap_or(ptr::null())
}

/// The number of decision values per sample: 1 for two classes (positive for the second), otherwise one per class; 0 for a
/// regression model, and on failure.
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
pub unsafe extern "C" fn widemargin_class_name(model: *const Model, index: usize) -> *const c_char {
    let name = guarded(|| {
        // SAFETY: guaranteed by the caller.
        let names = &unsafe { of(model) }?.class_names;
        let name =
            names.get(index).ok_or_else(|| format!("class {index}: the model has {} classes, from 0", names.len()));
        Ok(name?.as_ptr())
    });
    name.unwrap_or(ptr::null())
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
    status(|| unsafe { vectors(model, values, [n_rows, n_columns], CLASSES, classes) })
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
    status(|| unsafe { vectors(model, values, [n_rows, n_columns], DECISION_VALUES, decision_values) })
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
    status(|| unsafe { vectors(model, values, [n_rows, n_columns], PROBABILITIES, probabilities) })
}

/// The predicted targets of each of n_rows vectors by a regression model: n_rows × widemargin_n_targets, row-major.
///
/// # Safety
/// `model` is NULL or a model; `values` holds n_rows × n_columns numbers, and n_rows × widemargin_n_targets may be written
/// to `targets`.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn widemargin_predict_targets(
    model: *const Model,
    values: *const f64,
    n_rows: usize,
    n_columns: usize,
    targets: *mut f64,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    status(|| unsafe { vectors(model, values, [n_rows, n_columns], TARGETS, targets) })
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
    status(|| unsafe { strings(model, texts, n, CLASSES, classes) })
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
    status(|| unsafe { strings(model, texts, n, DECISION_VALUES, decision_values) })
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
    status(|| unsafe { strings(model, texts, n, PROBABILITIES, probabilities) })
}

/// As widemargin_predict_targets, for n texts in UTF-8.
///
/// # Safety
/// `model` is NULL or a model; `texts` holds n texts that end with a 0, and n × widemargin_n_targets numbers may be written
/// to `targets`.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn widemargin_predict_targets_strings(
    model: *const Model,
    texts: *const *const c_char,
    n: usize,
    targets: *mut f64,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    status(|| unsafe { strings(model, texts, n, TARGETS, targets) })
}

/// A method of a model that predicts something of samples, and how many values that is for each sample.
type Method<T> = (fn(&Model, &SamplesView<'_>) -> Result<Vec<T>, String>, fn(&Model) -> usize);

const CLASSES: Method<usize> = (Model::predict, |_| 1);
const DECISION_VALUES: Method<f64> = (Model::decision_function, Model::n_decision_values);
const PROBABILITIES: Method<f64> = (Model::predict_proba, |model| model.class_names.len());
const TARGETS: Method<f64> = (Model::predict_targets, Model::n_targets);

/// Applies a method of the model to vectors, and writes the results.
///
/// # Safety
/// As for `widemargin_predict`.
unsafe fn vectors<T: Copy>(
    model: *const Model,
    values: *const f64,
    [n_rows, n_columns]: [usize; 2],
    (predict, n_values): Method<T>,
    output: *mut T,
) -> Result<(), String> {
    // SAFETY: guaranteed by the caller.
    let model = unsafe { of(model) }?;
    let length = n_rows.checked_mul(n_columns).ok_or("n_rows × n_columns is beyond the range of sizes")?;
    // SAFETY: guaranteed by the caller.
    let values = unsafe { array(values, length, "values") }?;
    let rows = DenseView::new(values, n_rows, n_columns).map_err(message)?;
    let found = predict(model, &SamplesView::Rows(rows.into()))?;
    // SAFETY: guaranteed by the caller.
    unsafe { write(found, n_rows * n_values(model), output) }
}

/// Applies a method of the model to texts, and writes the results.
///
/// # Safety
/// As for `widemargin_predict_strings`.
unsafe fn strings<T: Copy>(
    model: *const Model,
    texts: *const *const c_char,
    n: usize,
    (predict, n_values): Method<T>,
    output: *mut T,
) -> Result<(), String> {
    // SAFETY: guaranteed by the caller.
    let (model, texts) = unsafe { (of(model)?, array(texts, n, "texts")?) };
    // SAFETY: guaranteed by the caller, of each.
    let read = |(i, one): (usize, &*const c_char)| unsafe { text(*one, &format!("texts[{i}]")) }.map(str::to_owned);
    let texts = texts.iter().enumerate().map(read).collect::<Result<_, _>>()?;
    let found = predict(model, &SamplesView::Other(&AnySamples::Strings(texts)))?;
    // SAFETY: guaranteed by the caller.
    unsafe { write(found, n * n_values(model), output) }
}

/// The model behind a pointer.
///
/// # Safety
/// `model` is NULL, or was returned by `widemargin_load` and is not freed during `'a`.
unsafe fn of<'a>(model: *const Model) -> Result<&'a Model, String> {
    // SAFETY: guaranteed by the caller; models are immutable, so that shared references are sound.
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

/// Writes results of the documented length.
///
/// # Safety
/// `length` values may be written to `output` if it is not NULL.
unsafe fn write<T: Copy>(results: Vec<T>, length: usize, output: *mut T) -> Result<(), String> {
    if results.len() != length {
        return Err(format!("{} values were computed, expected {length}", results.len()));
    }
    if length > 0 && (output.is_null() || !output.is_aligned()) {
        return Err("the array for the results is NULL or misaligned".into());
    }
    // SAFETY: the caller guarantees the space, and a vector of this call overlaps nothing of the caller's.
    unsafe { ptr::copy_nonoverlapping(results.as_ptr(), output, length) };
    Ok(())
}
