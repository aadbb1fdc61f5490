//! Verdicts → letters. Pure.

use crate::{
    judge::JudgedPack,
    model::{PackStatus, Severity, Verdict},
};

/// What a pack's verdicts come to.
#[derive(Debug, Clone, PartialEq)]
pub struct Grade {
    /// Whether it has a letter, and why not.
    pub status: PackStatus,
    /// A to F.
    pub letter: Option<char>,
    /// A critical check was inconclusive.
    pub provisional: bool,
    /// The critical fails, when they lowered the letter.
    pub capped: Vec<String>,
    /// Points reached.
    pub points: f64,
    /// Checks scored.
    pub scored: u32,
    /// Checks that count when they can be judged.
    pub total: u32,
}

/// The letter of a share of points, uncapped.
fn letter(points: f64, scored: u32) -> char {
    let percent = points * 100.0 / f64::from(scored);
    match percent {
        percent if percent >= 90.0 => 'A',
        percent if percent >= 75.0 => 'B',
        percent if percent >= 60.0 => 'C',
        percent if percent >= 45.0 => 'D',
        _ => 'F',
    }
}

/// Grades one pack: pass 1, part 0.5, fail 0 over the scored checks that could be judged; a critical fail caps at D.
pub fn grade(pack: &JudgedPack) -> Grade {
    let scoring: Vec<_> =
        pack.checks.iter().filter(|check| check.enabled && check.severity != Severity::Advisory).collect();
    let with = |verdict: Verdict| scoring.iter().filter(move |check| check.judgement.verdict == verdict);
    let points = with(Verdict::Pass).count() as f64 + 0.5 * with(Verdict::Part).count() as f64;
    let scored = (with(Verdict::Pass).count() + with(Verdict::Part).count() + with(Verdict::Fail).count()) as u32;
    let provisional = with(Verdict::Inconclusive).any(|check| check.severity == Severity::Critical);
    let total = scoring.len() as u32;
    if scored == 0 {
        let status = if with(Verdict::Inconclusive).count() > 0 { PackStatus::Inconclusive } else { PackStatus::Na };
        return Grade { status, letter: None, provisional: false, capped: Vec::new(), points: 0.0, scored, total };
    }
    let reached = letter(points, scored);
    let critical: Vec<String> = with(Verdict::Fail)
        .filter(|check| check.severity == Severity::Critical)
        .map(|check| check.check.id.to_owned())
        .collect();
    // Letters sort from good to bad, so the later one is the worse one.
    let capped = if critical.is_empty() { reached } else { reached.max('D') };
    Grade {
        status: PackStatus::Graded,
        letter: Some(capped),
        provisional,
        capped: if capped == reached { Vec::new() } else { critical },
        points,
        scored,
        total,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{judge::Judged, model::Judgement, packs};

    fn pack(verdicts: [Verdict; 4]) -> JudgedPack {
        let pack = packs::pack("core").unwrap();
        let checks = pack.checks.iter().zip(verdicts).map(|(check, verdict)| Judged {
            check,
            severity: check.severity,
            enabled: true,
            judgement: Judgement::bare(verdict, ""),
        });
        JudgedPack { pack, checks: checks.collect() }
    }

    use Verdict::{Fail, Inconclusive, Na, Part, Pass};

    #[test]
    fn four_passes_are_an_a() {
        let grade = grade(&pack([Pass; 4]));
        assert_eq!((grade.letter, grade.points, grade.scored, grade.total), (Some('A'), 4.0, 4, 4));
    }

    #[test]
    fn a_critical_fail_caps_at_d_and_says_so() {
        let grade = grade(&pack([Pass, Fail, Pass, Pass]));
        assert_eq!((grade.letter, grade.capped), (Some('D'), vec!["tool-poisoning".to_owned()]));
    }

    #[test]
    fn a_critical_fail_below_d_caps_nothing() {
        let grade = grade(&pack([Fail, Fail, Fail, Fail]));
        assert_eq!((grade.letter, grade.capped.len()), (Some('F'), 0));
    }

    #[test]
    fn an_uncritical_fail_lowers_without_a_cap() {
        assert_eq!(grade(&pack([Fail, Pass, Pass, Pass])).letter, Some('B'));
    }

    #[test]
    fn half_a_point_of_one_is_a_d() {
        let grade = grade(&pack([Part, Na, Na, Na]));
        assert_eq!((grade.letter, grade.scored, grade.total), (Some('D'), 1, 4));
    }

    #[test]
    fn a_critical_inconclusive_makes_the_letter_provisional() {
        let grade = grade(&pack([Pass, Inconclusive, Pass, Pass]));
        assert_eq!((grade.letter, grade.provisional), (Some('A'), true));
    }

    #[test]
    fn nothing_scored_is_no_letter() {
        assert_eq!(grade(&pack([Inconclusive; 4])).status, PackStatus::Inconclusive);
        assert_eq!(grade(&pack([Na; 4])).status, PackStatus::Na);
    }
}
