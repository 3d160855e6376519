//! Whose groups, whose weight, how strongly: the laws that tie these choices to what the paper does.

mod fairness;
mod leximin;
mod overlap;
mod weights;
