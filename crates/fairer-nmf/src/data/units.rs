//! The units that data are seen in: a fit must not depend on the user's.

use super::GroupedData;

impl GroupedData<'_> {
    /// The data times `unit`, so that ‖X‖² = n as it is for features of norm 1, which stay as they
    /// are (`unit` = 1). Everything that fits works on these, so that no constant inside meets the
    /// units of the user: a multiple of X gives the same errors and losses.
    pub(crate) fn in_own_units(&self) -> (Self, f64) {
        // ‖X‖² is positive and normal by validation.
        let unit = own_unit(self.features(), self.squared_norm());
        if self.own_units { (self.clone(), 1.0) } else { (self.times(unit), unit) }
    }

    /// The data times a power of two that brings its largest group near norm 1, and that power:
    /// every product with them is then the same to the last bit, and none leaves the range of f32.
    pub(crate) fn in_range(&self) -> (Self, f64) {
        let largest = self.groups.iter().map(|g| g.squared_norm).fold(0.0, f64::max);
        let unit = power_of_two(1.0 / largest.sqrt());
        (self.times(unit), unit)
    }

    /// The data, times a power of two where it is 16 times smaller or larger than what a fit works
    /// with, as a group with a norm far from the others' is (a denominator of the multiplicative
    /// update would then meet its floor); and that power, else 1.
    pub(crate) fn with_usual_norm(self) -> (Self, f64) {
        let unit = usual_unit(self.features(), self.squared_norm());
        if unit == 1.0 { (self, 1.0) } else { (self.times(unit), unit) }
    }

    fn times(&self, unit: f64) -> Self {
        let mut data = self.clone();
        let scale = data.scale.get_or_insert_with(|| vec![1.0; self.features()]);
        scale.iter_mut().for_each(|s| *s *= unit);
        data.groups.iter_mut().for_each(|g| g.squared_norm *= unit * unit);
        data.whole *= unit * unit;
        data.own_units = true;
        data
    }
}

/// What brings data of n features and this ‖X‖², which is positive, to ‖X‖² = n.
pub(crate) fn own_unit(features: usize, squared_norm: f64) -> f64 {
    (features as f64 / squared_norm).sqrt()
}

/// The power of two of [`GroupedData::with_usual_norm`], or 1.
pub(crate) fn usual_unit(features: usize, squared_norm: f64) -> f64 {
    let unit = power_of_two(own_unit(features, squared_norm));
    if (0.0625..=16.0).contains(&unit) { 1.0 } else { unit }
}

/// The power of two next below a positive number.
pub(crate) fn power_of_two(value: f64) -> f64 {
    value.log2().floor().exp2()
}
