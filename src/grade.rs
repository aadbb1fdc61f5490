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

/// What verdicts come to, each with its effective severity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// Points reached: a pass is one, a part half of one.
    pub points: f64,
    /// Checks that could be judged; advisory ones do not count.
    pub scored: u32,
    /// The letter; `None` when nothing was scored.
    pub letter: Option<char>,
    /// Whether a critical fail lowered it.
    pub capped: bool,
}

/// Scores verdicts: pass 1, part 0.5, fail 0 over those that count and could be judged; a critical fail caps at D.
pub fn score(verdicts: impl IntoIterator<Item = (Severity, Verdict)>) -> Score {
    let (mut points, mut scored, mut critical) = (0.0, 0, false);
    for (severity, verdict) in verdicts.into_iter().filter(|(severity, _)| *severity != Severity::Advisory) {
        points += match verdict {
            Verdict::Pass => 1.0,
            Verdict::Part => 0.5,
            Verdict::Fail => 0.0,
            Verdict::Inconclusive | Verdict::Na => continue,
        };
        scored += 1;
        critical |= severity == Severity::Critical && verdict == Verdict::Fail;
    }
    let reached = (scored > 0).then(|| letter(points, scored));
    // Letters sort from good to bad, so the later one is the worse one.
    let letter = reached.map(|reached| if critical { reached.max('D') } else { reached });
    Score { points, scored, letter, capped: letter != reached }
}

/// Grades one pack by the score of its checks that are switched on.
pub fn grade(pack: &JudgedPack) -> Grade {
    let scoring: Vec<_> =
        pack.checks.iter().filter(|check| check.enabled && check.severity != Severity::Advisory).collect();
    let with = |verdict: Verdict| scoring.iter().filter(move |check| check.judgement.verdict == verdict);
    let Score { points, scored, letter, capped } =
        score(scoring.iter().map(|check| (check.severity, check.judgement.verdict)));
    let inconclusive = with(Verdict::Inconclusive).count() > 0;
    let provisional = letter.is_some() && with(Verdict::Inconclusive).any(|check| check.severity == Severity::Critical);
    let status = match letter {
        Some(_) => PackStatus::Graded,
        None if inconclusive => PackStatus::Inconclusive,
        None => PackStatus::Na,
    };
    let critical = with(Verdict::Fail).filter(|check| capped && check.severity == Severity::Critical);
    let capped = critical.map(|check| check.check.id.to_owned()).collect();
    Grade { status, letter, provisional, capped, points, scored, total: scoring.len() as u32 }
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
