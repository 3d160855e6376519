//! Runs a loop compiled for the widest vectors this machine has.
//!
//! The crate is built for any x86-64 (or other) machine; the few loops that matter are compiled
//! three times from one body and chosen at run time.

/// Defines `fn name(args)` from one body, compiled for AVX-512, for AVX2 and for the baseline.
macro_rules! vectorised {
    ($(#[$meta:meta])* $vis:vis fn $name:ident $(<$(const $c:ident : $ct:ty),* $(; $($t:ident : $bound:path),*)?>)? ($($arg:ident : $ty:ty),* $(,)?) $body:block) => {
        $(#[$meta])*
        $vis fn $name $(<$($($t: $bound,)*)? $(const $c: $ct),*>)? ($($arg: $ty),*) {
            #[inline(always)]
            fn body $(<$($($t: $bound,)*)? $(const $c: $ct),*>)? ($($arg: $ty),*) $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512dq,avx512vl,fma")]
                fn wide $(<$($($t: $bound,)*)? $(const $c: $ct),*>)? ($($arg: $ty),*) {
                    body $(::<$($($t,)*)? $($c),*>)? ($($arg),*)
                }
                #[target_feature(enable = "avx2,fma")]
                fn middle $(<$($($t: $bound,)*)? $(const $c: $ct),*>)? ($($arg: $ty),*) {
                    body $(::<$($($t,)*)? $($c),*>)? ($($arg),*)
                }
                if std::is_x86_feature_detected!("avx512f")
                    && std::is_x86_feature_detected!("avx512dq")
                    && std::is_x86_feature_detected!("avx512vl")
                {
                    // SAFETY: the features were just detected (fma comes with avx512f).
                    return unsafe { wide $(::<$($($t,)*)? $($c),*>)? ($($arg),*) };
                }
                if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
                    // SAFETY: the features were just detected.
                    return unsafe { middle $(::<$($($t,)*)? $($c),*>)? ($($arg),*) };
                }
            }
            body $(::<$($($t,)*)? $($c),*>)? ($($arg),*)
        }
    };
}

pub(crate) use vectorised;
