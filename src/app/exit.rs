//! The exit codes: one enum, the same for every command and every report format.

/// How a process ends. The order is from best to worst: with several servers the worst one counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Exit {
    /// 0: every graded pack met the gate, or the command did what it was asked to do.
    Ok,
    /// 1: a graded pack is below the gate, an inconclusive one counts as failing, there is a regression against the baseline,
    /// or the surface changed where that counts.
    BelowGate,
    /// The code that `output.exit_policy.critical_fail` names, after a critical check failed.
    CriticalFail(u8),
    /// 3: no pack was graded.
    NothingGraded,
    /// 2: a mistake in the flags or in the configuration.
    Usage,
    /// 4: the server could not be started or lost, or the harness itself failed.
    Failure,
    /// 129: stopped by SIGHUP.
    HungUp,
    /// 130: stopped by SIGINT (Ctrl-C).
    Interrupted,
    /// 143: stopped by SIGTERM.
    Terminated,
}

impl Exit {
    /// The fixed codes in numeric order, for help texts and docs.
    pub const FIXED: [Self; 8] = [
        Self::Ok,
        Self::BelowGate,
        Self::Usage,
        Self::NothingGraded,
        Self::Failure,
        Self::HungUp,
        Self::Interrupted,
        Self::Terminated,
    ];

    /// The number the process ends with.
    pub fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::BelowGate => 1,
            Self::Usage => 2,
            Self::NothingGraded => 3,
            Self::Failure => 4,
            Self::HungUp => 129,
            Self::Interrupted => 130,
            Self::Terminated => 143,
            Self::CriticalFail(code) => code,
        }
    }

    /// What it means, one sentence without the final stop.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Ok => "every graded pack met the gate; also a grade below it under --soft-fail",
            Self::BelowGate => {
                "a graded pack is below --fail-under, an inconclusive one counts as failing, or something got worse than --baseline or could not be compared with it"
            }
            Self::Usage => "a mistake in the flags or in the configuration",
            Self::NothingGraded => "no pack was graded; the report says why",
            Self::Failure => {
                "the server could not be started, sealmark itself failed, or something was not published that had to be (--require-publish)"
            }
            Self::HungUp => "stopped by SIGHUP, after cleaning up",
            Self::Interrupted => "stopped by SIGINT (Ctrl-C), after cleaning up",
            Self::Terminated => "stopped by SIGTERM, after cleaning up",
            Self::CriticalFail(_) => "a critical check failed and output.exit_policy.critical_fail names this code",
        }
    }

    /// The worse of two.
    pub fn worst(self, other: Self) -> Self {
        self.max(other)
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_in_numeric_order_and_distinct() {
        let codes: Vec<_> = Exit::FIXED.iter().map(|exit| exit.code()).collect();
        assert_eq!(codes, [0, 1, 2, 3, 4, 129, 130, 143]);
    }

    #[test]
    fn a_failed_server_is_worse_than_a_missed_gate_and_a_signal_is_worst() {
        assert_eq!(Exit::BelowGate.worst(Exit::Failure), Exit::Failure);
        assert_eq!(Exit::NothingGraded.worst(Exit::BelowGate), Exit::NothingGraded);
        assert_eq!(Exit::Interrupted.worst(Exit::Failure), Exit::Interrupted);
        assert_eq!(Exit::Ok.worst(Exit::CriticalFail(7)).code(), 7);
    }
}
