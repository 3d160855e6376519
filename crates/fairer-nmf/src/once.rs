//! Functions of data that are compiled here, once for f32 and once for f64, and not again in every crate that
//! calls them: a fit is much of the compiler's work, and whoever compiles it with less effort would have it slow.

/// `once! { /// docs \n pub fn name(data, arg: Type) -> Out = body; }`: a function of `&GroupedData<'_, T>` and its arguments (which
/// are copied) that calls `body`. `Of<T>` in the place of `Out` stands for `Result<Of<T>>`.
macro_rules! once {
    ($(#[$doc:meta])* $vis:vis fn $name:ident($data:ident $(, $arg:ident: $type:ty)* $(,)?) -> $of:ident<T> = $body:path;) => {
        $(#[$doc])*
        $vis fn $name<T: $crate::data::Typed>(
            $data: &$crate::GroupedData<'_, T> $(, $arg: $type)*
        ) -> $crate::Result<$of<T>> {
            fn single($data: &$crate::GroupedData<'_, f32> $(, $arg: $type)*) -> Box<dyn std::any::Any> {
                Box::new($body($data $(, $arg)*))
            }
            fn double($data: &$crate::GroupedData<'_, f64> $(, $arg: $type)*) -> Box<dyn std::any::Any> {
                Box::new($body($data $(, $arg)*))
            }
            let found = T::either($data, |data| single(data $(, $arg)*), |data| double(data $(, $arg)*));
            *found.downcast::<$crate::Result<$of<T>>>().expect("each gives what is of its own type")
        }
    };
    ($(#[$doc:meta])* $vis:vis fn $name:ident($data:ident $(, $arg:ident: $type:ty)* $(,)?) -> $out:ty = $body:path;) => {
        $(#[$doc])*
        $vis fn $name<T: $crate::data::Typed>(
            $data: &$crate::GroupedData<'_, T> $(, $arg: $type)*
        ) -> $out {
            fn single($data: &$crate::GroupedData<'_, f32> $(, $arg: $type)*) -> $out {
                $body($data $(, $arg)*)
            }
            fn double($data: &$crate::GroupedData<'_, f64> $(, $arg: $type)*) -> $out {
                $body($data $(, $arg)*)
            }
            T::either($data, |data| single(data $(, $arg)*), |data| double(data $(, $arg)*))
        }
    };
}
pub(crate) use once;
