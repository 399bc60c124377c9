#![no_main]

use libfuzzer_sys::fuzz_target;
use widemargin_fuzz::specs::check;

fuzz_target!(|bytes: &[u8]| check(bytes));
