//! Dense linear algebra. The only module that names the factorisation crate.
//!
//! Everything here is bit-for-bit the same at any number of threads: large products are cut into
//! blocks of a fixed size, and a block is always computed by one thread in one order.

mod dense;
mod growing;
mod pages;
mod pivoted;
mod product;

pub(crate) use dense::sign_of_largest;
pub use dense::{
    Eigen, cholesky, cholesky_solve, invert_lower, lower_solve, numerical_rank, symmetric_eigen,
    transposed_solve,
};
pub use growing::GrowingFactor;
pub(crate) use pages::{prefer_large_pages, zeros};
pub use pivoted::{Columns, Factor, Pivoting, Rule, Writer, pivoted_cholesky};
pub(crate) use product::product_bytes;
pub use product::{add_product, multiply, product_into};
