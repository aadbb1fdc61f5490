//! A request under way and how waiting for its reply ends.

use std::future::pending as never;

use serde_json::Value;
use tokio::sync::oneshot;

use crate::model::{ActId, EventRef};

/// A reply as it was recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The `Received` event.
    pub at: EventRef,
    /// The whole message, when it could be parsed.
    pub value: Option<Value>,
}

/// How waiting for a reply ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// A reply came: its outcome stands in the record.
    Reply(Reply),
    /// Nothing came within the bound.
    TimedOut,
    /// Nothing can come any more.
    Closed,
    /// The request could not be sent.
    NotSent,
}

impl Answer {
    /// The reply, when there is one.
    pub fn reply(&self) -> Option<&Reply> {
        match self {
            Self::Reply(reply) => Some(reply),
            _ => None,
        }
    }
}

/// A request whose reply has not been awaited yet.
#[derive(Debug)]
pub struct Pending {
    pub(super) act: ActId,
    pub(super) key: Option<String>,
    pub(super) reply: Option<oneshot::Receiver<Reply>>,
    pub(super) sent: bool,
}

impl Pending {
    /// The act it belongs to.
    pub(super) fn act(&self) -> ActId {
        self.act
    }

    /// Its place in the inbox, when it has one.
    pub(super) fn key(&self) -> Option<String> {
        self.key.clone()
    }

    /// What has come so far: the reply, or that none can come.
    pub(super) fn ready(&mut self) -> Option<Option<Reply>> {
        match self.reply.as_mut()?.try_recv() {
            Ok(reply) => Some(Some(reply)),
            Err(oneshot::error::TryRecvError::Closed) => Some(None),
            Err(oneshot::error::TryRecvError::Empty) => None,
        }
    }

    /// Its reply as soon as it is there; none when none can come. Never returns for a frame that is not answered.
    /// To be called until it returns once.
    pub(super) async fn arrived(&mut self) -> Option<Reply> {
        match &mut self.reply {
            Some(reply) => {
                let reply = reply.await.ok();
                self.reply = None;
                reply
            }
            None if self.sent => never().await,
            None => None,
        }
    }
}
