//! Whether a report agrees with itself: one from disk may say of its verdicts whatever it likes.

use super::result::{PackResult, RunResult, Status};
use crate::{
    grade::{Score, score},
    model::{Severity, Verdict},
    packs::{self, METHODOLOGY},
    text::excerpt,
};

/// What a run says against itself, as the second half of a sentence.
pub fn contradiction(run: &RunResult) -> Option<String> {
    // What another methodology scores, and how, is not known here.
    let ours = run.sealmark.methodology == METHODOLOGY;
    let of_pack = |(id, pack): &(String, PackResult)| {
        let wrong = if ours { against_its_checks(pack) } else { against_itself(pack) };
        wrong.map(|wrong| format!("pack {}: {wrong}", excerpt(id, 60)))
    };
    run.packs.0.iter().find_map(of_pack).or_else(|| {
        let standard =
            packs::ALL.iter().find(|pack| !pack.candidate && !run.packs.0.iter().any(|(id, _)| id == pack.id));
        let missing = standard.filter(|_| ours && run.config.standard && run.status == Status::Graded)?;
        Some(format!("its configuration is the standard one, and the pack {} is not in it", missing.id))
    })
}

/// Verdicts decide what a pack comes to.
fn against_its_checks(pack: &PackResult) -> Option<String> {
    let Score { points, scored, letter, .. } = score(pack.checks.iter().map(|check| (check.severity, check.verdict)));
    let said = |letter: Option<char>| letter.map_or_else(|| "no letter".to_owned(), String::from);
    let agrees = (pack.points, pack.scored, pack.grade) == (points, scored, letter);
    (!agrees).then(|| {
        format!(
            "it says {} with {} of {} points, and its checks come to {} with {points} of {scored}",
            said(pack.grade),
            pack.points,
            pack.scored,
            said(letter)
        )
    })
}

/// What holds in every methodology.
fn against_itself(pack: &PackResult) -> Option<String> {
    let failed = |check: &&super::result::CheckResult| {
        check.verdict == Verdict::Fail && (check.critical || check.severity == Severity::Critical)
    };
    match pack.grade {
        Some(letter) if pack.scored == 0 => Some(format!("it says {letter}, and nothing was scored")),
        Some(letter) if letter < 'D' && pack.checks.iter().any(|check| failed(&check)) => {
            Some(format!("it says {letter}, and a critical check failed"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    fn of(change: impl Fn(&mut RunResult)) -> Option<String> {
        let mut run = sample::clean();
        change(&mut run);
        contradiction(&run)
    }

    fn core(run: &mut RunResult) -> &mut PackResult {
        &mut run.packs.0[0].1
    }

    #[test]
    fn what_we_write_agrees_with_itself() {
        for run in sample::all() {
            assert_eq!(contradiction(&run), None, "{run:?}");
        }
    }

    #[test]
    fn a_letter_that_its_checks_do_not_come_to_is_found() {
        let failed = of(|run| core(run).checks[1].verdict = Verdict::Fail);
        assert_eq!(
            failed.as_deref(),
            Some("pack core: it says A with 4 of 4 points, and its checks come to D with 3 of 4")
        );
        assert!(of(|run| core(run).scored = 0).is_some());
        assert!(of(|run| core(run).grade = Some('B')).is_some());
        assert!(of(|run| core(run).checks.clear()).is_some());
        assert!(of(|run| (core(run).points, core(run).grade) = (3.5, Some('B'))).is_some());
        let wrong = of(|run| run.packs.0[0].0 = "other".to_owned());
        assert!(wrong.is_some_and(|wrong| wrong.contains("the pack core is not in it")));
        assert_eq!(of(|run| (run.packs.0[0].0, run.config.standard) = ("other".to_owned(), false)), None);
    }

    #[test]
    fn of_another_methodology_only_what_always_holds_is_asked() {
        let other = |change: fn(&mut PackResult)| {
            of(|run| {
                run.sealmark.methodology = "9".to_owned();
                change(core(run));
            })
        };
        assert_eq!(other(|pack| pack.grade = Some('B')), None);
        assert_eq!(other(|pack| pack.checks[0].verdict = Verdict::Fail), None);
        assert!(other(|pack| pack.checks[1].verdict = Verdict::Fail).is_some_and(|wrong| wrong.contains("critical")));
        assert!(other(|pack| pack.scored = 0).is_some_and(|wrong| wrong.contains("nothing was scored")));
        assert_eq!(other(|pack| (pack.checks[1].verdict, pack.grade) = (Verdict::Fail, Some('F'))), None);
    }
}
