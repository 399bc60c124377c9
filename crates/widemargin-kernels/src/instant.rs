//! The clock of time limits and reports: that of the standard library, or one that the program provides where there is
//! none.

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub use std::time::Instant;

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub(crate) use provided::Instant;
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub use provided::set_clock;

// Compiled everywhere for its test.
#[cfg(any(test, all(target_family = "wasm", target_os = "unknown")))]
mod provided {
    use std::ops::{Add, Sub};
    use std::sync::OnceLock;
    use std::time::Duration;

    static CLOCK: OnceLock<fn() -> f64> = OnceLock::new();

    /// Provides the clock, which WebAssembly has none of its own (`wasm32-unknown-unknown`): seconds since any moment
    /// that stays the same, such as `performance.now()` of a browser, divided by 1000. Without one, no time passes:
    /// time limits are not noticed and reports show zero seconds. Only the first call counts.
    pub fn set_clock(seconds: fn() -> f64) {
        let _ = CLOCK.set(seconds);
    }

    /// A moment, with the methods of [`std::time::Instant`] that are used.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub(crate) struct Instant(Duration);

    impl Instant {
        pub fn now() -> Self {
            let seconds = CLOCK.get().map_or(0.0, |clock| clock());
            Instant(Duration::try_from_secs_f64(seconds).unwrap_or_default())
        }

        pub fn elapsed(self) -> Duration {
            Self::now().saturating_duration_since(self)
        }

        pub fn saturating_duration_since(self, earlier: Self) -> Duration {
            self.0.saturating_sub(earlier.0)
        }

        pub fn checked_add(self, time: Duration) -> Option<Self> {
            self.0.checked_add(time).map(Instant)
        }
    }

    impl Add<Duration> for Instant {
        type Output = Self;

        fn add(self, time: Duration) -> Self {
            Instant(self.0.saturating_add(time))
        }
    }

    impl Sub<Duration> for Instant {
        type Output = Self;

        fn sub(self, time: Duration) -> Self {
            Instant(self.0.saturating_sub(time))
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn no_time_passes_until_a_clock_is_provided() {
            assert_eq!(Instant::now().elapsed(), Duration::ZERO);
            set_clock(|| 2.5);
            set_clock(|| 7.0);
            let now = Instant::now();
            assert_eq!(now, Instant(Duration::from_millis(2500)));
            assert_eq!((now + Duration::from_secs(1)).saturating_duration_since(now), Duration::from_secs(1));
            assert_eq!(now.saturating_duration_since(now + Duration::from_secs(1)), Duration::ZERO);
            assert_eq!((now - Duration::from_secs(1)).elapsed(), Duration::from_secs(1));
            assert!(now.checked_add(Duration::MAX).is_none());
        }
    }
}
