//! Code that is the same for every type: names of variants, parameters set one at a time, fields that are read.

/// Writes and parses values by their names, as on the command line and in model files. Of two names of a value the
/// first is written; a value without a name is written as "explicit". A name may be refused with an error of its own. With
/// `all` there is a list of the values, with this documentation.
#[macro_export]
#[doc(hidden)]
macro_rules! named {
    ($what:literal: $type:ty, all $about:literal $table:tt) => {
        $crate::macros::named!($what: $type $table);

        impl $type {
            #[doc = $about]
            pub const ALL: [Self; Self::NAMES.len()] = $crate::macros::named!(@values $table);
        }
    };
    (@values { $($name:literal = $value:expr),+ $(,)? }) => { [$($value),+] };
    ($what:literal: $type:ty { $($name:literal = $value:expr),+ $(,)? } $(, $refused:literal => $error:expr)?) => {
        impl $type {
            const NAMES: &'static [(&'static str, Self)] = &[$(($name, $value)),+];
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(Self::NAMES.iter().find(|(_, known)| known == self).map_or("explicit", |(name, _)| name))
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::error::Error;

            fn from_str(text: &str) -> $crate::error::Result<Self> {
                $(if text == $refused {
                    return Err($error);
                })?
                let known = Self::NAMES.iter().find(|(name, _)| *name == text).map(|(_, value)| value.clone());
                let names = || Self::NAMES.iter().map(|(name, _)| *name);
                known.ok_or_else(|| $crate::error::Error::unknown($what, text, names()))
            }
        }
    };
}

/// Methods that return the parameters with one of them set.
#[macro_export]
#[doc(hidden)]
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident: $type:ty $(=> $($field:ident).+ = $value:expr)?;)+) => {$(
        $(#[$doc])*
        pub fn $name(mut self, $name: $type) -> Self {
            $crate::macros::set!(self, $name $(=> $($field).+ = $value)?);
            self
        }
    )+};
}

/// Sets a field to the parameter of its name, or by an expression.
#[macro_export]
#[doc(hidden)]
macro_rules! set {
    ($params:ident, $name:ident) => {
        $params.$name = $name
    };
    ($params:ident, $name:ident => $($field:ident).+ = $value:expr) => {
        $params.$($field).+ = $value
    };
}

/// Methods that return a field, or one of the field `$owner`: a reference to it, or the value of one that is `copy`.
#[macro_export]
#[doc(hidden)]
macro_rules! getters {
    ($($owner:ident =>)?) => {};
    ($($owner:ident =>)? $(#[$doc:meta])+ hidden $($rest:tt)+) => {
        $crate::macros::getters! { $($owner =>)? $(#[$doc])+ #[doc(hidden)] $($rest)+ }
    };
    ($($owner:ident =>)? $(#[$doc:meta])+ copy $name:ident: $type:ty; $($rest:tt)*) => {
        $(#[$doc])+
        pub fn $name(&self) -> $type {
            self.$($owner.)?$name
        }
        $crate::macros::getters! { $($owner =>)? $($rest)* }
    };
    ($($owner:ident =>)? $(#[$doc:meta])+ $name:ident: &$type:ty; $($rest:tt)*) => {
        $(#[$doc])+
        pub fn $name(&self) -> &$type {
            &self.$($owner.)?$name
        }
        $crate::macros::getters! { $($owner =>)? $($rest)* }
    };
}

/// The spec of a similarity that stores its step, and that it is symmetric.
#[macro_export]
#[doc(hidden)]
macro_rules! symmetric_step {
    () => {
        fn spec(&self) -> String {
            self.step.to_string()
        }

        fn is_symmetric(&self, _part: usize) -> bool {
            true
        }
    };
}

pub use {getters, named, set, setters, symmetric_step};
