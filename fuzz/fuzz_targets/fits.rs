#![no_main]

use libfuzzer_sys::fuzz_target;
use widemargin_fuzz::fits::check;

fuzz_target!(|bytes: &[u8]| check(bytes));
