//! Structs of options: outside the library they are never written whole, so that they may get more fields.

/// Gives a struct of options `with`.
#[doc(hidden)]
#[macro_export]
macro_rules! changeable {
    ($options:ty) => {
        impl $options {
            /// The same with some of it changed.
            #[must_use]
            pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
                change(&mut self);
                self
            }
        }
    };
}
