//! Functions for JavaScript. The page writes a request into the input buffer, calls a function, and reads the output
//! buffer: `widemargin_input(length)`, then `widemargin_fit()` and so on, then `widemargin_output()` and
//! `widemargin_output_length()`. A function returns 0 if it succeeded; otherwise the output is the error message.
//! WebAssembly has one thread, and so has this state.

use std::cell::RefCell;

use serde::Serialize;

use crate::playground::{self, Fitted, Request};
use crate::table;

#[derive(Default)]
struct State {
    input: Vec<u8>,
    output: Vec<u8>,
    fitted: Option<Fitted>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Runs a function on the state; its result is the output.
fn respond(call: impl FnOnce(&mut State) -> Result<Vec<u8>, String>) -> u32 {
    STATE.with_borrow_mut(|state| {
        let result = call(state);
        let status = u32::from(result.is_err());
        state.output = result.unwrap_or_else(String::into_bytes);
        status
    })
}

fn json(value: &impl Serialize) -> Result<Vec<u8>, String> {
    serde_json::to_vec(value).map_err(|problem| problem.to_string())
}

/// The address for an input of a length in bytes.
// SAFETY: no other function has the name.
#[unsafe(no_mangle)]
pub extern "C" fn widemargin_input(length: usize) -> *mut u8 {
    STATE.with_borrow_mut(|state| {
        state.input = vec![0; length];
        state.input.as_mut_ptr()
    })
}

/// The address of the output.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn widemargin_output() -> *const u8 {
    STATE.with_borrow(|state| state.output.as_ptr())
}

/// The length of the output in bytes.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn widemargin_output_length() -> usize {
    STATE.with_borrow(|state| state.output.len())
}

/// Fits a model to the [`Request`] in the input, JSON; the output is its summary, JSON.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn widemargin_fit() -> u32 {
    #[cfg(all(target_family = "wasm", target_os = "unknown"))]
    widemargin::monitor::set_clock(clock::seconds);
    respond(|state| {
        state.fitted = None;
        let request: Request = serde_json::from_slice(&state.input).map_err(|problem| problem.to_string())?;
        let fitted = state.fitted.insert(playground::fit(&request)?);
        json(&fitted.summary)
    })
}

/// Evaluates the model at the points in the input, x and y in turn as 64-bit numbers; the output is
/// [`playground::evaluate`]'s, as 64-bit numbers.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn widemargin_evaluate() -> u32 {
    respond(|state| {
        let fitted = state.fitted.as_ref().ok_or("nothing is fitted yet")?;
        let (numbers, []) = state.input.as_chunks::<8>() else { return Err("64-bit numbers are expected".into()) };
        let points: Vec<f64> = numbers.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
        let values = playground::evaluate(&*fitted.model, &points)?;
        Ok(values.into_iter().flat_map(f64::to_le_bytes).collect())
    })
}

/// The bytes of the model's file.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn widemargin_model() -> u32 {
    respond(|state| {
        let fitted = state.fitted.as_ref().ok_or("nothing is fitted yet")?;
        fitted.model.to_bytes().map_err(|problem| problem.to_string())
    })
}

/// Reads the table in the input, the bytes of a file; the output is a [`table::Table`], JSON.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn widemargin_table() -> u32 {
    respond(|state| json(&table::read(&state.input)?))
}

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
mod clock {
    #[link(wasm_import_module = "host")]
    unsafe extern "C" {
        /// Seconds since the page was loaded. It takes nothing and touches no memory.
        safe fn seconds_now() -> f64;
    }

    pub fn seconds() -> f64 {
        seconds_now()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes, calls and reads, as a page does.
    fn call(input: &[u8], function: extern "C" fn() -> u32) -> Result<Vec<u8>, String> {
        widemargin_input(input.len());
        STATE.with_borrow_mut(|state| state.input.copy_from_slice(input));
        let status = function();
        let output = STATE.with_borrow(|state| state.output.clone());
        assert_eq!(widemargin_output_length(), output.len());
        if status == 0 { Ok(output) } else { Err(String::from_utf8(output).unwrap()) }
    }

    #[test]
    fn fits_evaluates_and_saves() {
        assert_eq!(call(&[], widemargin_evaluate).unwrap_err(), "nothing is fitted yet");
        assert_eq!(call(&[], widemargin_model).unwrap_err(), "nothing is fitted yet");
        let request = br#"{"points": [[0, 0], [1, 0], [0, 1], [4, 4], [5, 4], [4, 5]],
            "labels": ["a", "a", "a", "b", "b", "b"], "method": "thin-plate", "similarity": "distance"}"#;
        let summary = String::from_utf8(call(request, widemargin_fit).unwrap()).unwrap();
        assert!(summary.contains(r#""similarity":"distance""#), "{summary}");
        let points: Vec<u8> = [0.0, 0.0, 5.0, 5.0].into_iter().flat_map(f64::to_le_bytes).collect();
        let values = call(&points, widemargin_evaluate).unwrap();
        let values: Vec<f64> = values.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
        assert!(values.len() == 6 && values[0] < 0.0 && values[1] > 0.0, "{values:?}");
        let model = widemargin::model::from_bytes(&call(&[], widemargin_model).unwrap()).unwrap();
        assert_eq!(playground::evaluate(&*model, &[0.0, 0.0, 5.0, 5.0]).unwrap(), values);
        assert!(call(&points[..15], widemargin_evaluate).unwrap_err().contains("64-bit numbers"));
        assert!(call(b"[]", widemargin_fit).is_err());
        assert!(call(&points, widemargin_evaluate).is_err(), "a failed fit leaves no model");
    }

    #[test]
    fn reads_a_table() {
        assert!(call(b"1,2,a\n3,4,b\n", widemargin_table).is_ok());
        assert!(call(b"nothing", widemargin_table).unwrap_err().contains("three columns"));
    }
}
