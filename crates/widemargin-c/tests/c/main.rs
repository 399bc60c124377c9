//! The C interface, as C programs use it. One program for all tests: linking each separately takes minutes.

mod c_program;
mod header;
mod misuse;
