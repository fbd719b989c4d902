//! The frame of every report.
//!
//! The content security policy allows only the script with the given hash: no browser runs scripts in names from the data, and
//! none loads anything from elsewhere.

use crate::html::escape;
use crate::text;
use kernsift::data::{Account, Action};
use kernsift::error::bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
/// SHA-256 of the contents of the script element. A test of the Python package recomputes it.
const SCRIPT_HASH: &str = include_str!("script.sha256");

/// Information about a run that every report shows.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunInfo {
    /// Name of the data.
    pub data: String,
    /// Name of the target, if any.
    #[serde(default)]
    pub target: Option<String>,
    /// What is in the table and what was done with it, if the data came from a table.
    #[serde(default)]
    pub account: Option<Account>,
    /// Number of missing values and how they were handled, if any. The account has its own text.
    #[serde(default)]
    pub missing_values: Option<String>,
    /// How features were scaled.
    pub scaling: String,
    /// Name of the method.
    pub method: String,
    /// Parameters of the method.
    pub settings: Value,
    /// Random seed, if it is a number.
    #[serde(default)]
    pub seed: Option<u64>,
    /// Duration.
    #[serde(default)]
    pub seconds: Option<f64>,
    /// Peak memory.
    #[serde(default)]
    pub peak_bytes: Option<u64>,
    /// The command or code that reproduces the result.
    pub command: String,
}

/// A report under construction.
pub struct Page {
    html: String,
}

impl Page {
    /// Starts a page. The lede, a one-sentence summary, is HTML.
    pub fn new(title: &str, lede: &str) -> Self {
        let title = escape(title);
        // The policy must precede everything that it restricts.
        Self {
            html: format!(
                "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
                 <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
                 script-src 'sha256-{}'; base-uri 'none'; form-action 'none'\"/>\n\
                 <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
                 <meta name=\"color-scheme\" content=\"light dark\"/>\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n\
                 <body>\n<main>\n<header>\n<h1>{title}</h1>\n<p class=\"lede\">{lede}</p>\n</header>\n",
                SCRIPT_HASH.trim()
            ),
        }
    }

    /// A list of facts, as plain text.
    pub fn facts(&mut self, facts: &[(&str, String)]) {
        let rows: String = facts
            .iter()
            .map(|(name, value)| format!("<div><dt>{name}</dt><dd>{}</dd></div>\n", escape(value)))
            .collect();
        self.html += &format!("<dl class=\"facts\">\n{rows}</dl>\n");
    }

    /// Adds HTML.
    pub fn html(&mut self, html: &str) {
        self.html += html;
    }

    /// A section with a heading; its content is HTML.
    pub fn section(&mut self, id: &str, title: &str, content: &str) {
        self.html += &format!(
            "<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{title}</h2>\n{content}</section>\n"
        );
    }

    /// Settings by method, collapsed.
    pub fn settings<'a>(&mut self, settings: impl Iterator<Item = (&'a str, String)>) {
        let rows: String = settings
            .map(|(name, json)| format!("<dt>{}</dt><dd><code>{}</code></dd>\n", escape(name), escape(&json)))
            .collect();
        if !rows.is_empty() {
            self.html += &format!(
                "<details><summary>All parameters</summary>\n<dl class=\"settings\">\n{rows}</dl>\n</details>\n"
            );
        }
    }

    /// The command or code that reproduces the result.
    pub fn command(&mut self, command: &str) {
        if !command.is_empty() {
            let command = format!("<pre class=\"command\"><code>{}</code></pre>\n", lines(command));
            self.section("reproduce", "Reproduce this result", &command);
        }
    }

    /// The finished page; the footer is plain text.
    pub fn finish(self, footer: &str) -> String {
        let footer =
            if footer.is_empty() { String::new() } else { format!("<footer>{}</footer>\n", escape(footer)) };
        // In XML the script is a CDATA section; in HTML its first and last lines are comments.
        format!("{}{footer}</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n", self.html)
    }
}

/// Escaped text with its line breaks.
fn lines(text: &str) -> String {
    text.lines().map(escape).collect::<Vec<_>>().join("\n")
}

impl RunInfo {
    /// The facts that every report of a method shows, without those of the account.
    pub fn facts(&self, rows: usize, columns: usize, target: String) -> Vec<(&'static str, String)> {
        let mut facts = vec![];
        if self.account.is_none() {
            let (rows, columns) = (text::counted(rows, "row"), text::counted(columns, "column"));
            facts.push(("Data", format!("{}: {rows}, {columns}", self.data)));
            facts.push(("Missing values", self.missing_values.clone().unwrap_or_else(|| "none".into())));
        }
        // The target of a data frame is not a column of it.
        if self.account.as_ref().is_none_or(|account| account.with_action(Action::Target).next().is_none()) {
            let target = match &self.target {
                Some(name) => format!("{name}: {target}"),
                None => target,
            };
            facts.push(("Target", target));
        }
        facts.push(("Scaling", self.scaling.clone()));
        facts.push(("Method", self.method.clone()));
        facts.extend(self.seed.map(|seed| ("Seed", seed.to_string())));
        facts.extend(self.seconds.map(|s| ("Time", format!("{} s", text::seconds(s)))));
        facts.extend(
            self.peak_bytes.map(|peak| ("Peak memory", format!("{} in addition to the data", bytes(peak)))),
        );
        facts
    }

    /// Adds the command, the parameters and the footer.
    pub fn finish(&self, mut page: Page) -> String {
        page.command(&self.command);
        page.settings([(self.method.as_str(), self.settings.to_string())].into_iter());
        page.finish(&format!("kernsift {}", env!("CARGO_PKG_VERSION")))
    }
}
