//! Misuse that can be detected is a failure with a message.

use std::ffi::{CStr, CString};
use std::ptr;

use widemargin::data::{DenseView, Targets};
use widemargin::model::ThinPlateRegressorParams;
use widemargin::similarity::ConditionalKernel;
use widemargin_c::*;

fn error() -> String {
    // SAFETY: a text of the library that is valid until the next call on this thread.
    unsafe { CStr::from_ptr(widemargin_error()) }.to_str().unwrap().to_owned()
}

#[test]
fn null_pointers_and_missing_files_are_failures_with_a_message() {
    assert_eq!(error(), "");
    let path = CString::new("/nowhere/a.model").unwrap();
    let mut class = 7_usize;
    // SAFETY: NULL is allowed everywhere; the path ends with a 0, and the class may be written.
    unsafe {
        assert!(widemargin_load(path.as_ptr()).is_null());
        assert!(error().contains("/nowhere/a.model"), "{}", error());
        assert!(widemargin_load(ptr::null()).is_null());
        assert_eq!(error(), "path is NULL: a text is expected");
        assert!(widemargin_load(c"\xff".as_ptr()).is_null());
        assert_eq!(error(), "path is not UTF-8");
        assert_eq!(widemargin_n_classes(ptr::null()), 0);
        assert!(error().starts_with("the model is NULL"), "{}", error());
        assert_eq!(widemargin_predict(ptr::null(), [1.0].as_ptr(), 1, 1, &raw mut class), -1);
        assert!(widemargin_class_name(ptr::null(), 0).is_null());
        assert!(widemargin_feature_name(ptr::null(), 0).is_null());
        assert_eq!(widemargin_predict_targets(ptr::null(), [1.0].as_ptr(), 1, 1, ptr::null_mut()), -1);
        widemargin_free(ptr::null_mut());
        assert!(!CStr::from_ptr(widemargin_version()).is_empty());
    }
    assert_eq!(class, 7);
}

#[test]
fn each_thread_has_its_own_message() {
    // SAFETY: NULL is allowed.
    assert!(unsafe { widemargin_load(ptr::null()) }.is_null());
    let pointer = widemargin_error();
    let other = std::thread::spawn(|| {
        let before = error();
        // SAFETY: NULL is allowed.
        assert_eq!(unsafe { widemargin_n_features(ptr::null()) }, 0);
        (before, error())
    });
    assert_eq!(other.join().unwrap(), (String::new(), "the model is NULL: was it loaded?".to_owned()));
    // SAFETY: no other call on this thread since.
    assert_eq!(unsafe { CStr::from_ptr(pointer) }.to_str().unwrap(), "path is NULL: a text is expected");
}

#[test]
fn functions_of_another_kind_of_model_say_which_to_call() {
    let folder = tempfile::tempdir().unwrap();
    let values = [0.0, 1.0, 2.0, 4.0, 7.0, 8.0];
    let targets = Targets::single(values.to_vec()).unwrap();
    let rows = DenseView::new(&values, 6, 1).unwrap();
    let model = ThinPlateRegressorParams::new(ConditionalKernel::Distance).threads(1).fit(&rows, &targets).unwrap();
    let file = folder.path().join("regression.model");
    model.save(&file).unwrap();
    let path = CString::new(file.to_str().unwrap()).unwrap();
    let (mut class, mut target, mut value) = (7_usize, 0.0, 9.0);
    // SAFETY: the model is loaded, and each array has one element.
    unsafe {
        let model = widemargin_load(path.as_ptr());
        let sample = [3.0];
        assert_eq!(widemargin_predict(model, sample.as_ptr(), 1, 1, &raw mut class), -1);
        assert_eq!(error(), "predict: the model is a regression model; call widemargin_predict_targets");
        assert_eq!(widemargin_decision_function(model, sample.as_ptr(), 1, 1, &raw mut value), -1);
        assert_eq!((widemargin_n_classes(model), widemargin_n_decision_values(model)), (0, 0));
        assert_eq!((widemargin_n_targets(model), widemargin_n_features(model)), (1, 1));
        assert_eq!(widemargin_predict_targets(model, sample.as_ptr(), 1, 1, &raw mut target), 0);
        assert!(widemargin_feature_name(model, 0).is_null());
        assert_eq!(error(), "the features of the model have no names");
        widemargin_free(model);
    }
    assert_eq!((class, value), (7, 9.0));
    assert!((target - 3.0).abs() < 0.5, "{target}");
}
