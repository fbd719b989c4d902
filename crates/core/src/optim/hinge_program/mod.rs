//! A linear program of many margin constraints and few weights, solved by an interior-point method.
//!
//! $$\min_{\alpha, s, e} \frac1T \sum_t e_t + c^\top \alpha + \rho \sum_g s_g \quad\text{s.t.}\quad D \alpha + e \ge 1,\ e \ge 0,
//! |\alpha_p| \le s_{g(p)},\ C \alpha \ge 0$$
//!
//! A row of $D$ is a constraint with margin 1 that may be violated at a cost, a row of $C$ a cut that must be satisfied. A weight
//! may also be constrained to $0 \le \alpha_p \le s_g$, or to $\alpha_p \ge 0$ outside any group.
//!
//! Steps: Mehrotra's predictor and corrector. The variables $e$ and $s$ have diagonal blocks in the Newton equations and are
//! eliminated, which leaves a dense system of the size of $\alpha$: $O((T + m) k^2 + k^3)$ per iteration and about twenty
//! iterations. After each step the weights give an upper bound, the objective with the smallest feasible $e_t$ and $s_g$. The dual
//! values, moved towards a dual feasible point until they are feasible, give a lower bound. The search stops when the two are
//! close. If it stalls before, the dual values are projected to the dual equations, which removes rounding errors of the steps.
//!
//! Reference: Mehrotra, *On the implementation of a primal-dual interior point method*, SIAM J. Optim. 2, 1992.

mod constraints;
mod interior;
mod normal;
mod program;
#[cfg(test)]
mod tests;

pub use program::{Ending, HingeProgram, HingeSolution, WeightBound};
