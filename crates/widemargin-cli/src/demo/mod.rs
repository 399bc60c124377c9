//! What the demo needs: the data in the binary, and a linear SVM to compare with.

pub mod digits;
pub mod linear_svm;
