//! The two number types data may have. Statistics and the driver are f64 always.

mod sealed {
    /// Other types cannot be numbers: the kernels are written for these two.
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// f32 or f64: what the kernels need of the type of the data and of the representation.
pub trait Number:
    Copy + Default + Send + Sync + std::fmt::Debug + bytemuck::Pod + sealed::Sealed + 'static
{
    /// Name in files and parameters: `f32` or `f64`.
    const NAME: &'static str;
    /// Whether it is f32.
    const SINGLE: bool;
    /// Smallest relative squared error that the statistics can be trusted with; below it the
    /// residual is computed directly. Products of f32 panels carry about 1e-7 of ‖X‖², f64
    /// about 1e-15 with some growth over many rows.
    const TRUSTED_SQUARED_ERROR: f64;
    /// Half the distance from 1 to the next number.
    #[doc(hidden)]
    const ROUNDING: f64;
    /// The number as f64, exact.
    fn to_f64(self) -> f64;
    /// The nearest number of this type.
    fn from_f64(value: f64) -> Self;
    /// One.
    const ONE: Self;
    /// self·b + c, fused where the processor can.
    #[doc(hidden)]
    fn times_plus<const FMA: bool>(self, b: Self, c: Self) -> Self;
    /// self + b.
    #[doc(hidden)]
    fn plus(self, b: Self) -> Self;
}

impl Number for f64 {
    const NAME: &'static str = "f64";
    const SINGLE: bool = false;
    const TRUSTED_SQUARED_ERROR: f64 = 1e-7;
    const ROUNDING: f64 = f64::EPSILON / 2.0;
    const ONE: Self = 1.0;
    #[inline(always)]
    fn times_plus<const FMA: bool>(self, b: Self, c: Self) -> Self {
        if FMA { self.mul_add(b, c) } else { self * b + c }
    }
    #[inline(always)]
    fn plus(self, b: Self) -> Self {
        self + b
    }
    fn to_f64(self) -> f64 {
        self
    }
    fn from_f64(value: f64) -> Self {
        value
    }
}

impl Number for f32 {
    const NAME: &'static str = "f32";
    const SINGLE: bool = true;
    const TRUSTED_SQUARED_ERROR: f64 = 1e-3;
    const ROUNDING: f64 = f32::EPSILON as f64 / 2.0;
    const ONE: Self = 1.0;
    #[inline(always)]
    fn times_plus<const FMA: bool>(self, b: Self, c: Self) -> Self {
        if FMA { self.mul_add(b, c) } else { self * b + c }
    }
    #[inline(always)]
    fn plus(self, b: Self) -> Self {
        self + b
    }
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    fn from_f64(value: f64) -> Self {
        value as f32
    }
}
