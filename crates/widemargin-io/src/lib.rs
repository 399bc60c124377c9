//! Files to views and back.
