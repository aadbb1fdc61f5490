//! GitLab's API: the baseline of the default branch, and the note on a merge request.

mod api;
mod baseline;
mod note;
mod package;

pub use baseline::{REPORT_FILE, baseline};
pub use note::publish;

/// What a job can identify itself with. Each has a header of its own: a personal token sent as a job token is refused.
#[derive(Clone, Copy, Default)]
pub struct Tokens<'a> {
    /// `CI_JOB_TOKEN`: reads artifacts of its own project, reads and writes packages; cannot write notes.
    pub job: Option<&'a str>,
    /// A personal, project or group access token, the one that [`super::Context::token_variable`] names.
    pub personal: Option<&'a str>,
}

impl std::fmt::Debug for Tokens<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (job, personal) = (self.job.is_some(), self.personal.is_some());
        f.debug_struct("Tokens").field("job", &job).field("personal", &personal).finish()
    }
}

#[cfg(test)]
mod tests;
