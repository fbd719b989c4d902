//! The frame of every page: its head, its parts in order, and what it may do.
//!
//! A page's own script is allowed by its hash and nothing else is: whatever a name in the data pretends to be, no browser runs it,
//! and no browser asks for anything from elsewhere.

use crate::html::escape;
use crate::words;
use kernsift::error::bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
/// The SHA-256 of what stands between the script's tags, as browsers check it. A test of the package computes it anew.
const SCRIPT_HASH: &str = include_str!("script.sha256");

/// What was asked of what, and what it took: the same for every page.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// What the user calls the data.
    pub data: String,
    /// The target's name, if it has one.
    #[serde(default)]
    pub target: Option<String>,
    /// What was done about empty cells, if there are any.
    #[serde(default)]
    pub empty_cells: Option<String>,
    /// What was done to columns before they were looked at.
    pub scaling: String,
    /// The method's name.
    pub method: String,
    /// All that it was set to.
    pub settings: Value,
    /// Where all randomness starts, if that is a number.
    #[serde(default)]
    pub seed: Option<u64>,
    /// What it took.
    #[serde(default)]
    pub seconds: Option<f64>,
    /// The most memory that it held.
    #[serde(default)]
    pub peak_bytes: Option<u64>,
    /// The command or the code that does it again.
    pub again: String,
}

/// A page in the making.
pub struct Page {
    html: String,
}

impl Page {
    /// A page with its heading and the answer in a sentence, which is HTML.
    pub fn new(title: &str, lede: &str) -> Self {
        let title = escape(title);
        // The policy comes first, before anything that it could be about.
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

    /// Facts with their names, as text.
    pub fn facts(&mut self, facts: &[(&str, String)]) {
        let rows: String = facts
            .iter()
            .map(|(name, value)| format!("<div><dt>{name}</dt><dd>{}</dd></div>\n", escape(value)))
            .collect();
        self.html += &format!("<dl class=\"facts\">\n{rows}</dl>\n");
    }

    /// A part with a heading; its content is HTML.
    pub fn section(&mut self, id: &str, title: &str, content: &str) {
        self.html += &format!(
            "<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{title}</h2>\n{content}</section>\n"
        );
    }

    /// Settings, each under its name, behind a line that opens them.
    pub fn settings<'a>(&mut self, settings: impl Iterator<Item = (&'a str, String)>) {
        let rows: String = settings
            .map(|(name, json)| format!("<dt>{}</dt><dd><code>{}</code></dd>\n", escape(name), escape(&json)))
            .collect();
        if !rows.is_empty() {
            self.html += &format!(
                "<details><summary>All settings</summary>\n<dl class=\"settings\">\n{rows}</dl>\n</details>\n"
            );
        }
    }

    /// How to do it again.
    pub fn again(&mut self, command: &str) {
        if !command.is_empty() {
            let command = format!("<pre class=\"again\"><code>{}</code></pre>\n", lines(command));
            self.section("again", "Do it again", &command);
        }
    }

    /// The whole page; the footer is text.
    pub fn finish(self, footer: &str) -> String {
        let footer =
            if footer.is_empty() { String::new() } else { format!("<footer>{}</footer>\n", escape(footer)) };
        // Read as XML the script is text, read as a page its first and last line are comments.
        format!("{}{footer}</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n", self.html)
    }
}

/// Text with its own line ends.
fn lines(text: &str) -> String {
    text.lines().map(escape).collect::<Vec<_>>().join("\n")
}

impl Asked {
    /// The facts that every page of a method has: data, target, what was done to columns, what it took.
    pub fn facts(&self, rows: usize, columns: usize, target: String) -> Vec<(&'static str, String)> {
        let mut facts = vec![
            (
                "Data",
                format!(
                    "{}: {}, {}",
                    self.data,
                    words::counted(rows, "row"),
                    words::counted(columns, "column")
                ),
            ),
            (
                "Target",
                match &self.target {
                    Some(name) => format!("{name}: {target}"),
                    None => target,
                },
            ),
            ("Empty cells", self.empty_cells.clone().unwrap_or_else(|| "none".into())),
            ("Scaling", self.scaling.clone()),
            ("Method", self.method.clone()),
        ];
        facts.extend(self.seed.map(|seed| ("Seed", seed.to_string())));
        let memory =
            self.peak_bytes.map(|peak| format!("at most {} of memory beside the table", bytes(peak)));
        let time = self.seconds.map(|s| format!("{} s", words::seconds(s)));
        let took: Vec<String> = [time, memory].into_iter().flatten().collect();
        if !took.is_empty() {
            facts.push(("Took", took.join(", ")));
        }
        facts
    }

    /// Puts settings, the command and the footer under a page.
    pub fn finish(&self, mut page: Page) -> String {
        page.again(&self.again);
        page.settings([(self.method.as_str(), self.settings.to_string())].into_iter());
        page.finish(&format!("kernsift {}", env!("CARGO_PKG_VERSION")))
    }
}
