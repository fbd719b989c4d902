//! Rows as dots in a plane.

use crate::html::escape;
use crate::plot::{Axis, Colours, grid};
use crate::words::{number, percent};
use kernsift::basis::Plane;
use kernsift::data::Target;

const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 560.0;

/// Rows that are drawn at most.
pub const DOTS: usize = 1000;

/// A map of rows, coloured by their target. `numbers` are the rows as the user counts them.
pub fn scatter(plane: &Plane, target: &Target, numbers: impl Fn(usize) -> usize) -> String {
    let column = |at: usize| plane.points.column(at).to_vec();
    let (x, y) = (column(0), column(1));
    let across = Axis::new(x.iter().copied(), 66.0, WIDTH - 20.0).with_room();
    let up = Axis::new(y.iter().copied(), HEIGHT - 52.0, 16.0).with_room();
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH:.0} {HEIGHT:.0}\" role=\"img\" aria-label=\"Rows in the two directions in which they vary most\">\n"
    );
    let name = |which: &str, share: f64| format!("{which} direction, {} % of the variance", percent(share));
    svg += &grid(&across, &up, (&name("First", plane.shares[0]), &name("Second", plane.shares[1])));
    let colours = Colours::of(target);
    svg += "<g class=\"dots\">\n";
    for (at, &row) in plane.rows.iter().enumerate() {
        let place = format!("cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\"", across.at(x[at]), up.at(y[at]));
        let row_name = format!("row {}", numbers(row));
        svg += &match &colours {
            Colours::Groups(groups, _) => {
                let class = class_of(target, row);
                format!(
                    "<circle class=\"c{}\" {place}><title>{row_name}: {}</title></circle>\n",
                    groups[row],
                    escape(class)
                )
            }
            Colours::Ranks(ranks, values) => format!(
                "<circle class=\"ranked\" style=\"--s:{:.0}\" {place}><title>{row_name}: {}</title></circle>\n",
                ranks[row],
                number(values[row])
            ),
            Colours::None => format!("<circle class=\"c0\" {place}><title>{row_name}</title></circle>\n"),
        };
    }
    format!("{svg}</g>\n</svg>\n{}", colours.legend())
}

fn class_of(target: &Target, row: usize) -> &str {
    match target {
        Target::Classes(classes) => &classes.names[classes.codes[row]],
        _ => "",
    }
}
