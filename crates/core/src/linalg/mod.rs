//! Dense linear algebra. The only module that uses faer.
//!
//! Results are bitwise identical for any number of threads: large products are split into blocks of a fixed size, and each
//! block is computed by one thread.

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
pub use product::{add_product, multiply, product_into, product_single};
