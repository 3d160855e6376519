//! What groups are held against: what they would have alone, seen and unseen, and what random groups of
//! their size pay. All of it is made of standard NMF (`search`) of some of the rows.

mod alone;
mod chance;
mod draws;
mod fitter;
mod held_out;
mod scatter;
#[cfg(test)]
mod tests;

pub(crate) use alone::baselines_within;
pub use alone::{baselines_of_rows, estimate_baselines};
pub(crate) use chance::chance_within;
pub use chance::{chance_bands, chance_losses};
pub(crate) use draws::{Baselines, Draws, Own};
pub(crate) use fitter::{Fitter, standard};
pub use held_out::{HeldOut, HeldOutGroup, held_out, is_small};
pub(crate) use held_out::{count as held_out_count, watched as held_out_watched};
pub(crate) use scatter::{Alike, Scatter, nine_of_ten};
