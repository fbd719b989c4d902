//! Scatter plot of rows.

use crate::html::escape;
use crate::plot::{Axis, Colors, grid};
use crate::text::{number, percent};
use kernsift::basis::Plane;
use kernsift::data::Target;

const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 560.0;

/// Maximum number of points.
pub const MAX_POINTS: usize = 1000;

/// A scatter plot of rows, colored by target. `row_number` gives the row number that the user knows.
pub fn scatter(plane: &Plane, target: &Target, row_number: impl Fn(usize) -> usize) -> String {
    let column = |at: usize| plane.points.column(at).to_vec();
    let (x, y) = (column(0), column(1));
    let x_axis = Axis::new(x.iter().copied(), 66.0, WIDTH - 20.0).with_margin();
    let y_axis = Axis::new(y.iter().copied(), HEIGHT - 52.0, 16.0).with_margin();
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH:.0} {HEIGHT:.0}\" role=\"img\" aria-label=\"Rows on their first two principal components\">\n"
    );
    let label =
        |nth: &str, explained: f64| format!("{nth} component, {} % of the variance", percent(explained));
    svg +=
        &grid(&x_axis, &y_axis, (&label("First", plane.explained[0]), &label("Second", plane.explained[1])));
    let colors = Colors::of(target);
    svg += "<g class=\"dots\">\n";
    for (at, &row) in plane.rows.iter().enumerate() {
        let circle = format!("cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\"", x_axis.at(x[at]), y_axis.at(y[at]));
        let row_name = format!("row {}", row_number(row));
        svg += &match &colors {
            Colors::Groups(groups, _) => {
                let class = class_of(target, row);
                format!(
                    "<circle class=\"c{}\" {circle}><title>{row_name}: {}</title></circle>\n",
                    groups[row],
                    escape(class)
                )
            }
            Colors::Ranks(ranks, values) => format!(
                "<circle class=\"ranked\" style=\"--s:{:.0}\" {circle}><title>{row_name}: {}</title></circle>\n",
                ranks[row],
                number(values[row])
            ),
            Colors::None => format!("<circle class=\"c0\" {circle}><title>{row_name}</title></circle>\n"),
        };
    }
    format!("{svg}</g>\n</svg>\n{}", colors.legend())
}

fn class_of(target: &Target, row: usize) -> &str {
    match target {
        Target::Classes(classes) => &classes.names[classes.codes[row]],
        _ => "",
    }
}
