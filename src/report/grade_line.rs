//! The grades of one run on one line, for the console when the report goes elsewhere.

use super::{
    result::{PackStatus, RunResult, Status},
    wording,
};
use crate::text::{excerpt, terminal};

/// `core A (hygiene only) · db D capped: critical fail: mutating-sql`: every pack with a letter or an inconclusive result,
/// or why there is none. Safe for a terminal and a CI log; does not name the server.
pub fn grade_line(run: &RunResult) -> String {
    let mut parts: Vec<String> = Vec::new();
    for (id, pack) in &run.packs.0 {
        let id = excerpt(id, wording::NAME);
        let Some(letter) = wording::letter(pack) else {
            if pack.status == PackStatus::Inconclusive {
                parts.push(format!("{id} inconclusive"));
            }
            continue;
        };
        let mut part = format!("{id} {letter}");
        if id == "core" && run.coverage.label == wording::HYGIENE_ONLY {
            part.push_str(" (hygiene only)");
        }
        if pack.candidate {
            part.push_str(" (candidate pack)");
        }
        for remark in wording::criticals(pack) {
            part.push_str(&format!(" {remark}"));
        }
        parts.push(part);
    }
    let mut line = parts.join(" · ");
    if run.status != Status::Graded {
        let ending = wording::ending(run).unwrap_or_default();
        let ending = if run.status == Status::NothingGraded { "nothing graded".to_owned() } else { ending };
        line = if line.is_empty() { ending } else { format!("{line} · {ending}") };
    }
    terminal::line(&line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::Verdict,
        report::{result::PackResult, sample},
    };

    fn pack(run: &mut RunResult, number: usize) -> &mut PackResult {
        &mut run.packs.0[number].1
    }

    #[test]
    fn a_core_only_run_says_hygiene_only() {
        assert_eq!(grade_line(&sample::clean()), "core A (hygiene only)");
    }

    #[test]
    fn a_cap_and_its_check_are_named() {
        assert_eq!(
            grade_line(&sample::graded()),
            "core A* · db D capped: critical fail: mutating-sql · fs inconclusive · scope A (candidate pack)"
        );
    }

    #[test]
    fn a_critical_fail_below_the_cap_and_a_critical_part_are_named() {
        let mut run = sample::graded();
        pack(&mut run, 1).capped.clear();
        pack(&mut run, 1).grade = Some('F');
        assert!(grade_line(&run).contains("db F critical fail: mutating-sql ·"));
        pack(&mut run, 1).checks[0].verdict = Verdict::Part;
        assert!(grade_line(&run).contains("db F critical part: mutating-sql ·"));
    }

    #[test]
    fn a_run_without_letters_says_why() {
        assert_eq!(grade_line(&sample::nothing_graded()), "core inconclusive · nothing graded");
        assert!(grade_line(&sample::failed()).starts_with("FAILED: "));
    }
}
