//! The badge: which message a run may show, and the flat SVG that shows it. Nothing a server wrote reaches it.

use super::{
    options::ReportError,
    result::{Badge, PackStatus, RunResult, Status},
};
use crate::{config::settings::Format, packs::METHODOLOGY, text::xml};

/// What a run may show on a badge, from its status, standing and letters.
///
/// Letters only for a standard, finished run with at least one graded pack beyond core and no provisional letter.
pub fn assess(run: &RunResult) -> Badge {
    let graded: Vec<_> =
        run.packs.0.iter().filter(|(_, pack)| pack.status == PackStatus::Graded && pack.grade.is_some()).collect();
    let standard: Vec<_> = graded.iter().filter(|(_, pack)| !pack.candidate).collect();
    let refuse = |message: &str, reason: &str| Badge {
        eligible: false,
        reason: reason.to_owned(),
        message: format!("no badge: {message}"),
    };
    match run.status {
        Status::Failed => return refuse("server failed", "the server could not be graded"),
        Status::Interrupted => return refuse("not eligible", "the run was interrupted"),
        Status::Graded | Status::NothingGraded => {}
    }
    if graded.is_empty() {
        return refuse("nothing graded", "no pack has a letter");
    }
    if !run.config.standard {
        return refuse("custom run", "custom run: it is not the published methodology");
    }
    if standard.iter().all(|(id, _)| id == "core") {
        return refuse("core only", "core-only run: no capability pack was graded");
    }
    if graded.iter().any(|(_, pack)| pack.provisional) {
        return refuse("provisional", "provisional: a critical check was inconclusive");
    }
    let letters: Vec<String> = (standard.iter())
        .filter(|(id, _)| is_pack_id(id))
        .filter_map(|(id, pack)| Some(format!("{id} {}", pack.grade.filter(|letter| matches!(letter, 'A'..='F'))?)))
        .collect();
    let message = format!("{} · self-reported", letters.join(" · "));
    Badge { eligible: true, reason: "standard run".to_owned(), message }
}

/// A report may come from anywhere: only what looks like one of our ids is shown.
fn is_pack_id(id: &str) -> bool {
    (1..=32).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

/// What both badge formats show.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Face {
    pub label: String,
    pub message: String,
    /// A colour's name as shields.io knows it.
    pub color: &'static str,
}

/// The face of the one run. What its report says of its own eligibility can take a badge away, not give one.
pub(super) fn face(format: Format, runs: &[RunResult]) -> Result<Face, ReportError> {
    let run = match runs {
        [run] => run,
        [] => return Err(ReportError::NoServer { format }),
        several => return Err(ReportError::SeveralServers { format, servers: several.len() }),
    };
    let label = format!("sealmark {METHODOLOGY}");
    let badge = assess(run);
    if badge.eligible && !run.badge.eligible {
        return Ok(Face { label, message: "no badge: not eligible".to_owned(), color: "lightgrey" });
    }
    let worst = run.packs.0.iter().filter(|(_, pack)| !pack.candidate).filter_map(|(_, pack)| pack.grade).max();
    let color = match worst.filter(|_| badge.eligible) {
        None => "lightgrey",
        Some('A') => "brightgreen",
        Some('B') => "green",
        Some('C') => "yellow",
        Some('D') => "orange",
        Some(_) => "red",
    };
    Ok(Face { label, message: badge.message, color })
}

/// The flat SVG of one run.
pub(super) fn render(runs: &[RunResult]) -> Result<Vec<u8>, ReportError> {
    Ok(svg(&face(Format::Badge, runs)?).into_bytes())
}

fn svg(face: &Face) -> String {
    let (label, message) = (xml::text(&face.label), xml::text(&face.message));
    let color = match face.color {
        "brightgreen" => "#4c1",
        "green" => "#97ca00",
        "yellow" => "#dfb317",
        "orange" => "#fe7d37",
        "red" => "#e05d44",
        _ => "#9f9f9f",
    };
    let (label_width, message_width) = (width(&face.label), width(&face.message));
    // Five pixels beside each text, as flat badges have.
    let (left, right) = (label_width + 10, message_width + 10);
    let total = left + right;
    // Text is laid out in tenths of a pixel.
    let (label_middle, message_middle) = (left * 5 + 10, left * 10 + right * 5 - 10);
    let (label_length, message_length) = (label_width * 10, message_width * 10);
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{total}" height="20" role="img" aria-label="{label}: {message}">
<title>{label}: {message}</title>
<linearGradient id="s" x2="0" y2="100%"><stop offset="0" stop-color="#bbb" stop-opacity=".1"/><stop offset="1" stop-opacity=".1"/></linearGradient>
<clipPath id="r"><rect width="{total}" height="20" rx="3" fill="#fff"/></clipPath>
<g clip-path="url(#r)"><rect width="{left}" height="20" fill="#555"/><rect x="{left}" width="{right}" height="20" fill="{color}"/><rect width="{total}" height="20" fill="url(#s)"/></g>
<g fill="#fff" text-anchor="middle" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" text-rendering="geometricPrecision" font-size="110">
<text aria-hidden="true" x="{label_middle}" y="150" fill="#010101" fill-opacity=".3" transform="scale(.1)" textLength="{label_length}">{label}</text>
<text x="{label_middle}" y="140" transform="scale(.1)" textLength="{label_length}">{label}</text>
<text aria-hidden="true" x="{message_middle}" y="150" fill="#010101" fill-opacity=".3" transform="scale(.1)" textLength="{message_length}">{message}</text>
<text x="{message_middle}" y="140" transform="scale(.1)" textLength="{message_length}">{message}</text>
</g>
</svg>
"##
    )
}

/// Advance widths of Verdana at 11 px, in hundredths of a pixel, from the blank to the tilde.
const VERDANA: [u16; 95] = [
    387, 433, 505, 900, 699, 1184, 799, 295, 500, 500, 699, 900, 400, 500, 400, 500, 699, 699, 699, 699, 699, 699, 699,
    699, 699, 699, 500, 500, 900, 900, 900, 600, 1100, 752, 754, 768, 848, 696, 632, 853, 827, 463, 500, 762, 612, 927,
    823, 866, 663, 866, 765, 752, 678, 805, 752, 1088, 754, 677, 754, 500, 500, 500, 900, 699, 699, 661, 685, 573, 685,
    655, 387, 685, 696, 302, 379, 651, 302, 1070, 696, 668, 685, 685, 469, 573, 433, 696, 651, 900, 651, 651, 578, 698,
    500, 698, 900,
];

/// A text's width in whole pixels, made odd so that both halves meet on a pixel.
fn width(text: &str) -> u32 {
    let hundredths: u32 = (text.chars())
        .map(|c| match c {
            ' '..='~' => u32::from(VERDANA[c as usize - 0x20]),
            '·' => 400,
            _ => 1100,
        })
        .sum();
    (hundredths / 100) | 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    fn capability() -> RunResult {
        let mut run = sample::graded();
        run.config.standard = true;
        run.packs.0[0].1.provisional = false;
        run.badge = assess(&run);
        run
    }

    fn message(run: &RunResult) -> String {
        face(Format::Badge, std::slice::from_ref(run)).expect("one run").message
    }

    #[test]
    fn letters_stand_in_pack_order_without_candidates() {
        let run = capability();
        assert!(run.badge.eligible);
        assert_eq!(message(&run), "core A · db D · self-reported");
        assert_eq!(face(Format::Badge, &[run]).expect("one run").color, "orange");
    }

    #[test]
    fn every_other_run_says_why_it_has_none() {
        assert_eq!(message(&sample::clean()), "no badge: core only");
        assert_eq!(message(&sample::graded()), "no badge: custom run");
        assert_eq!(message(&sample::failed()), "no badge: server failed");
        assert_eq!(message(&sample::nothing_graded()), "no badge: nothing graded");
        assert_eq!(message(&sample::interrupted()), "no badge: not eligible");
        let mut run = capability();
        run.packs.0[0].1.provisional = true;
        assert_eq!(message(&run), "no badge: provisional");
        let mut run = capability();
        run.badge.eligible = false;
        assert_eq!(message(&run), "no badge: not eligible");
        let mut run = sample::clean();
        run.badge.eligible = true;
        assert_eq!(message(&run), "no badge: core only", "a report cannot give itself a badge");
    }

    #[test]
    fn several_servers_are_refused() {
        let error = face(Format::Shields, &[sample::clean(), sample::clean()]).expect_err("two");
        assert_eq!(error.to_string(), "the shields format shows one server, and this run has 2");
        assert_eq!(error.hint(), Some("choose one with --server <name>"));
        assert!(face(Format::Badge, &[]).is_err());
    }

    #[test]
    fn only_pack_ids_and_letters_are_shown() {
        let mut run = capability();
        run.packs.0[1].0 = "<script>".to_owned();
        run.badge = assess(&run);
        assert_eq!(message(&run), "core A · self-reported");
    }

    #[test]
    fn widths_are_those_of_the_typeface() {
        // The textLength that badge-maker 6.0.0 gives the same texts.
        assert_eq!(width("sealmark 0.3-draft"), 103);
        assert_eq!(width("core A · self-reported"), 119);
        assert_eq!(width("core A · db D · fs B · git C · self-reported"), 227);
    }

    #[test]
    fn the_svg_is_stable() {
        insta::assert_snapshot!(String::from_utf8(render(&[capability()]).expect("one run")).expect("UTF-8"));
    }
}
