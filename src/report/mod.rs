//! The frozen result of a run and one pure renderer per format.

pub mod badge;
pub mod build;
mod codequality;
mod findings;
mod grade_line;
mod json;
mod junit;
mod layout;
mod markdown;
mod options;
pub mod places;
mod quote;
pub mod result;
#[cfg(test)]
pub(crate) mod sample;
mod sarif;
mod sarif_rules;
mod sast;
mod schema;
mod shields;
mod sound;
mod summary;
mod surface;
mod template;
mod text;
pub mod wording;

use crate::{config::settings::Format, text::terminal};

pub use grade_line::grade_line;
pub use json::{bytes as json_bytes, line as json_line, line_from as json_line_from, several as json_of_lines};
pub use options::{GateFacts, RenderOptions, ReportError};
pub use places::{Place, Places};
pub use quote::Quote;
pub use result::RunResult;
pub use schema::schema;
pub use sound::contradiction;
pub use surface::{ServerSurface, canonical, text_facts};
pub use template::check_template;

/// Renders one or several runs. Pure: the same runs and options give the same bytes.
///
/// A template applies to `text` and `markdown` only. `badge` and `shields` refuse several servers.
pub fn render(format: Format, runs: &[RunResult], options: &RenderOptions) -> Result<Vec<u8>, ReportError> {
    let text = match (format, &options.template) {
        (Format::Text | Format::Markdown, Some((name, source))) => template::render(format, runs, name, source)?,
        (Format::Text, None) => text::render(runs, options),
        (Format::Markdown, None) => markdown::render(runs, options),
        (Format::Summary, _) => summary::render(runs, options),
        (Format::Json, _) => return json::render(runs),
        (Format::Junit, _) => return junit::render(runs),
        (Format::Sarif, _) => return sarif::render(runs, options),
        (Format::Codequality, _) => return codequality::render(runs, options),
        (Format::Sast, _) => return sast::render(runs, options),
        (Format::Badge, _) => return badge::render(runs),
        (Format::Shields, _) => return shields::render(runs),
    };
    Ok(terminal::guard(text).into_bytes())
}

#[cfg(test)]
mod tests;
