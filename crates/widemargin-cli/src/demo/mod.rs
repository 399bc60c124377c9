//! What the demo needs: the data in the binary, and a linear SVM to stand beside.

pub mod digits;
pub mod linear_svm;
