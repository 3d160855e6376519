//! The kernels: products, panels, tiles and vectors. Nothing here knows of groups or of factors.
//!
//! This file runs a loop compiled for the widest vectors that the machine has. The crate is built for any x86-64 (or other) machine; the few loops that matter are compiled
//! three times from one body and chosen at run time.

// Loops over lanes read like the formulas only with indices.
#![allow(clippy::needless_range_loop)]

use crate::number::Number;

pub(crate) mod buffer;
pub(crate) mod eigen;
pub(crate) mod panel;
pub(crate) mod products;
pub(crate) mod tiles;

/// Numbers of a vector: the f64 lanes of one AVX-512 register (two of AVX2).
pub(crate) const LANES: usize = 8;

/// Features of a row that are summed in f32 before the sum goes on in f64: along 20,000 of them a sum in
/// f32 alone is good to 6e-6 only.
pub(crate) const LONGEST_SUM: usize = 512;

/// `r` rounded up to whole vectors.
pub(crate) fn padded(r: usize) -> usize {
    r.next_multiple_of(LANES)
}

/// a·b + c, fused where the processor can.
#[inline(always)]
pub(crate) fn fused<const FMA: bool>(a: f64, b: f64, c: f64) -> f64 {
    a.times_plus::<FMA>(b, c)
}

/// One vector. LLVM makes one instruction of a loop over the lanes where vectors are taken and given by value.
#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
pub(crate) struct Pack(pub [f64; LANES]);

impl Pack {
    pub const ZERO: Self = Self([0.0; LANES]);

    /// V vectors from the start of `values`.
    #[inline(always)]
    pub fn load<const V: usize>(values: &[f64]) -> [Self; V] {
        let values = &values[..V * LANES];
        let mut packs = [Self::ZERO; V];
        for v in 0..V {
            packs[v].0.copy_from_slice(&values[v * LANES..(v + 1) * LANES]);
        }
        packs
    }

    /// The same number in every lane.
    #[inline(always)]
    pub fn all(value: f64) -> Self {
        Self([value; LANES])
    }

    /// What `op` makes of two vectors, lane by lane.
    #[inline(always)]
    pub fn zip(self, other: Self, op: impl Fn(f64, f64) -> f64) -> Self {
        let mut out = self;
        for l in 0..LANES {
            out.0[l] = op(self.0[l], other.0[l]);
        }
        out
    }

    /// self + a·b.
    #[inline(always)]
    pub fn add_product<const FMA: bool>(self, a: Self, b: Self) -> Self {
        let mut out = self;
        for l in 0..LANES {
            out.0[l] = fused::<FMA>(a.0[l], b.0[l], self.0[l]);
        }
        out
    }

    /// self − a·b.
    #[inline(always)]
    pub fn sub_product<const FMA: bool>(self, a: Self, b: Self) -> Self {
        let mut out = self;
        for l in 0..LANES {
            out.0[l] = fused::<FMA>(-a.0[l], b.0[l], self.0[l]);
        }
        out
    }

    #[inline(always)]
    pub fn max(self, other: Self) -> Self {
        self.zip(other, |a, b| if a > b { a } else { b })
    }

    #[inline(always)]
    pub fn min(self, other: Self) -> Self {
        self.zip(other, |a, b| if a < b { a } else { b })
    }
}

/// The sums after their loop. Without it the compiler, which cannot keep in registers what a
/// later loop reads by index, stores every sum in every step as well.
#[inline(always)]
pub(crate) fn settled<S>(sums: S) -> S {
    std::hint::black_box(sums)
}

/// Which of the three bodies runs.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) enum Level {
    Base,
    Middle,
    Wide,
}

/// The best level of this machine (in tests: or the one that is asked for, if that is lower).
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn level() -> Level {
    let detected = if std::is_x86_feature_detected!("avx512f")
        && std::is_x86_feature_detected!("avx512dq")
        && std::is_x86_feature_detected!("avx512vl")
        && std::is_x86_feature_detected!("fma")
    {
        Level::Wide
    } else if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
        Level::Middle
    } else {
        Level::Base
    };
    #[cfg(test)]
    let detected = {
        let limit = tests::LIMIT.get();
        if limit < detected { limit } else { detected }
    };
    detected
}

/// Defines `fn name(args)` from one body, compiled for AVX-512, for AVX2 and for the baseline.
/// The body sees the constants `FMA`, whether [`fused`] is one instruction, and `WIDE`, whether there
/// are 32 registers of 64 bytes (else the equivalent of 8 or fewer).
macro_rules! vectorised {
    ($(#[$meta:meta])* $vis:vis fn $name:ident $(<$(const $c:ident : $ct:ty),* $(; $($t:ident : $bound:path),*)?>)? ($($arg:ident : $ty:ty),* $(,)?) $body:block) => {
        $(#[$meta])*
        #[allow(clippy::too_many_arguments)]
        $vis fn $name $(<$($($t: $bound,)*)? $(const $c: $ct),*>)? ($($arg: $ty),*) {
            // Loops over lanes read like the formulas only with indices.
            #[inline(always)]
            #[allow(clippy::too_many_arguments, clippy::needless_range_loop)]
            fn body <$($($($t: $bound,)*)? $(const $c: $ct,)*)? const FMA: bool, const WIDE: bool> ($($arg: $ty),*) $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512dq,avx512vl,fma")]
                #[allow(clippy::too_many_arguments)]
                fn wide $(<$($($t: $bound,)*)? $(const $c: $ct),*>)? ($($arg: $ty),*) {
                    body ::<$($($($t,)*)? $($c,)*)? true, true> ($($arg),*)
                }
                #[target_feature(enable = "avx2,fma")]
                #[allow(clippy::too_many_arguments)]
                fn middle $(<$($($t: $bound,)*)? $(const $c: $ct),*>)? ($($arg: $ty),*) {
                    body ::<$($($($t,)*)? $($c,)*)? true, false> ($($arg),*)
                }
                match $crate::kernel::level() {
                    // SAFETY: `level` found every one of the features.
                    $crate::kernel::Level::Wide => return unsafe { wide $(::<$($($t,)*)? $($c),*>)? ($($arg),*) },
                    // SAFETY: as above.
                    $crate::kernel::Level::Middle => return unsafe { middle $(::<$($($t,)*)? $($c),*>)? ($($arg),*) },
                    $crate::kernel::Level::Base => {}
                }
            }
            body ::<$($($($t,)*)? $($c,)*)? { cfg!(target_arch = "aarch64") }, false> ($($arg),*)
        }
    };
}

/// Calls `function::<types.., V>(args)` with the number of vectors V of a row as a constant, so
/// that the compiler keeps the row in registers.
macro_rules! for_width {
    ($vectors:expr, $function:ident [$($t:ty),*], $($arg:expr),* $(,)?) => {
        match $vectors {
            1 => $function::<$($t,)* 1>($($arg),*),
            2 => $function::<$($t,)* 2>($($arg),*),
            3 => $function::<$($t,)* 3>($($arg),*),
            _ => $function::<$($t,)* 4>($($arg),*),
        }
    };
}

pub(crate) use {for_width, vectorised};

#[cfg(test)]
pub(crate) mod tests {
    use super::Level;
    use std::cell::Cell;

    thread_local! {
        pub static LIMIT: Cell<Level> = const { Cell::new(Level::Wide) };
    }

    /// The names of `pattern`, each up to the next quote.
    fn features<'a>(source: &'a str, pattern: &str) -> Vec<&'a str> {
        let found = source.split(pattern).skip(1).filter_map(|rest| rest.split('"').next());
        found.flat_map(|names| names.split(',')).collect()
    }

    /// A hypervisor may hide any feature by itself.
    #[test]
    fn every_feature_that_is_used_is_looked_for() {
        let kernel = include_str!("kernel.rs").split("#[cfg(test)]\npub(crate) mod tests").next();
        for source in [kernel.unwrap_or_default(), include_str!("update/nnls.rs")] {
            let enabled = source.split("#[target_feature(").skip(1);
            let enabled: Vec<Vec<&str>> = enabled
                .map(|rest| features(rest.split(')').next().unwrap_or_default(), "enable = \""))
                .collect();
            let tests = source.split("if std::is_x86_feature_detected!(\"").skip(1);
            let tests: Vec<Vec<&str>> = tests
                .map(|rest| {
                    let condition = rest.split('{').next().unwrap_or_default();
                    let more = features(condition, "is_x86_feature_detected!(\"");
                    condition.split('"').next().into_iter().chain(more).collect()
                })
                .collect();
            assert_eq!(enabled.len(), 2, "a wide and a middle body");
            assert_eq!(enabled, tests);
        }
    }

    /// Runs `check` with each body that this machine can run; on this thread only.
    pub fn at_every_level(check: impl Fn()) {
        for level in [Level::Base, Level::Middle, Level::Wide] {
            LIMIT.set(level);
            check();
        }
    }
}
